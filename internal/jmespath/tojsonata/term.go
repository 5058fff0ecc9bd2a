package tojsonata

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// term is a text of JSONata and how strongly its outermost operator binds.
// The zero value stands for what cannot be written.
type term struct {
	text  string
	binds int
	maybe bool   // a condition that can be nothing instead of false
	parts []term // the conditions that "and" or "or" joins
	inner *term  // the condition of which this is the opposite
}

// How strongly operators of JSONata bind.
const (
	bindsCondition = 20 // ? and :
	bindsOr        = 25
	bindsAnd       = 30
	bindsCompare   = 40 // and "in"
	bindsProduct   = 60
	bindsPath      = 75
	bindsAll       = 100
)

// always and never are the conditions that hold for all values and for none.
var (
	always = atom("true")
	never  = atom("false")
)

// atom is a text that no operator can break up.
func atom(text string) term { return term{text: text, binds: bindsAll} }

func path(text string) term { return term{text: text, binds: bindsPath} }

func (t term) isKnown() bool { return t.text != "" }

func (t term) is(other term) bool { return t.text == other.text }

// in writes the text as an operand of an operator that binds so strongly.
func (t term) in(binds int) string {
	if t.binds <= binds {
		return "(" + t.text + ")"
	}
	return t.text
}

// put puts the text into another.
func (t term) put(format string, binds int) term {
	if !t.isKnown() {
		return t
	}
	return term{text: fmt.Sprintf(format, t.text), binds: binds}
}

// nesting bounds how deep the evaluations of the text nest: what is between
// brackets stands in a call, a block or a filter and in operators of three
// strengths, and each "and" and "or" adds one to what is on its left.
func (t term) nesting() int {
	type level struct{ within, connectives int }
	depth := func(l level) int { return l.within + 4 + l.connectives }
	open, quote := []level{{}}, byte(0)
	for i := 0; i < len(t.text); i++ {
		last := len(open) - 1
		switch c := t.text[i]; {
		case quote != 0 && quote != '`' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			open = append(open, level{})
		case c == ')' || c == ']' || c == '}':
			open[last-1].within = max(open[last-1].within, depth(open[last]))
			open = open[:last]
		case strings.HasPrefix(t.text[i:], " and ") || strings.HasPrefix(t.text[i:], " or "):
			open[last].connectives++
		}
	}
	return depth(open[0])
}

// join joins conditions by an operator, each once, and without those that are
// neutral to it.
func join(operator string, binds int, neutral term, conditions []term) term {
	all := term{binds: binds}
	for _, c := range conditions {
		parts := []term{c}
		if c.binds == binds {
			parts = c.parts
		}
		for _, part := range parts {
			switch {
			case !part.isKnown():
				return term{}
			case !part.is(neutral) && !slices.ContainsFunc(all.parts, part.is):
				all.parts = append(all.parts, part)
			}
		}
	}
	switch len(all.parts) {
	case 0:
		return neutral
	case 1:
		return all.parts[0]
	}
	texts := make([]string, len(all.parts))
	for i, part := range all.parts {
		texts[i] = part.in(binds)
	}
	all.text = strings.Join(texts, operator)
	return all
}

func and(conditions ...term) term { return join(" and ", bindsAnd, always, conditions) }

func or(conditions ...term) term { return join(" or ", bindsOr, never, conditions) }

// not is true where the condition is not.
func not(c term) term {
	switch {
	case c.inner != nil:
		return *c.inner
	case c.maybe:
		return c.put("(%s ? false : true)", bindsAll)
	default:
		opposite := c.put("$not(%s)", bindsAll)
		opposite.inner = &c
		return opposite
	}
}

// sure makes a condition that can be nothing one that is true or false.
func sure(c term) term {
	if c.maybe {
		return operation(c, "=", always)
	}
	return c
}

// exists is the condition that there is a value.
func exists(v term) term { return v.put("$exists(%s)", bindsAll) }

// onlyIf is a value where a condition holds, and else nothing.
func onlyIf(condition, value term) term {
	switch {
	case !condition.isKnown() || !value.isKnown():
		return term{}
	case condition.is(always):
		return value
	default:
		return term{text: condition.in(bindsCondition) + " ? " + value.text, binds: bindsCondition}
	}
}

// operation is an operation on two operands that binds as comparisons do.
func operation(left term, operator string, right term) term {
	if !left.isKnown() || !right.isKnown() {
		return term{}
	}
	return term{text: left.in(bindsCompare) + " " + operator + " " + right.in(bindsCompare), binds: bindsCompare}
}

// plainName is a name that a path takes without quotes, unless it is one of
// the operators and values that are words.
var (
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reserved  = map[string]bool{"and": true, "or": true, "in": true, "true": true, "false": true, "null": true, "function": true}
)

// inherited are the members that every object of JavaScript has, so that the
// reference engine finds a function where an object has no such member.
var inherited = map[string]bool{
	"__defineGetter__": true, "__defineSetter__": true, "__lookupGetter__": true, "__lookupSetter__": true, "__proto__": true,
	"constructor": true, "hasOwnProperty": true, "isPrototypeOf": true, "propertyIsEnumerable": true,
	"toLocaleString": true, "toString": true, "valueOf": true,
}

// step follows a path to a member. No quotes help a name with a back-quote, and
// none hide from Step Functions what ends an expression there.
func step(from term, name string) term {
	switch {
	case !from.isKnown() || name == "" || inherited[name] || strings.Contains(name, "`") || strings.Contains(name, "%}"):
		return term{}
	case !plainName.MatchString(name) || reserved[name]:
		name = "`" + name + "`"
	}
	if from.text == "$" {
		return path(name)
	}
	return path(from.in(bindsPath-1) + "." + name)
}

// literal writes a JSON value as JSONata.
func literal(v any) string {
	if s, ok := v.(string); ok {
		return Quote(s)
	}
	return encode(v)
}

// Quote writes a string of JSONata: in single quotes, so that the JSON
// around the expression need not escape them, unless the string has a single
// quote, for which JSONata has no escape, or anything that needs one.
func Quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '\'' || r == '\\' || r == '\u2028' || r == '\u2029' }) || strings.Contains(s, "%}") {
		return encode(s)
	}
	return "'" + s + "'"
}

// encode writes a JSON value as JSON, which is JSONata. The end of an expression
// of Step Functions, "%}", is kept out of strings.
func encode(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // it was read from JSON
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "%}", `\u0025}`)
}
