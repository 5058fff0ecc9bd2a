package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// alternatives are lists of texts. Those of one list are compared with the same value and lead the same way.
type alternatives struct {
	lists [][]string
}

// byKey joins the words of the same key, in the order of their first.
type byKey struct {
	keys  []string
	words map[string][]string
}

func (b *byKey) add(key string, words ...string) {
	if b.words == nil {
		b.words = map[string][]string{}
	}
	if b.words[key] == nil {
		b.keys = append(b.keys, key)
	}
	b.words[key] = append(b.words[key], words...)
}

// addAll adds the lists of all keys, and returns the key if there is one alone.
func (a *alternatives) addAll(b *byKey) string {
	for _, key := range b.keys {
		a.lists = append(a.lists, b.words[key])
	}
	if len(b.keys) == 1 {
		return b.keys[0]
	}
	return ""
}

// condition adds the texts of a condition in JSONPath. It returns the value that is compared, if the condition is for
// some texts of it and for nothing else.
func (a *alternatives) condition(c *asl.Condition) string {
	var same byKey
	parts, negated := []*asl.Condition{c}, false
	switch {
	case len(c.Or) > 0:
		parts = c.Or
	case len(c.And) > 0:
		parts, negated = c.And, true
	}
	whole := !negated
	for _, part := range parts {
		leaf := part
		if negated && part.Not != nil {
			leaf = part.Not
		}
		text, isText := leaf.Value.(string)
		switch {
		case isText && leaf.Variable != nil && (leaf != part) == negated:
			same.add(leaf.Variable.String(), text)
		case isText:
			a.lists = append(a.lists, []string{text})
			whole = false
		case part != c || part.Not != nil:
			if part.Not != nil {
				part = part.Not
			}
			a.condition(part)
			whole = false
		default:
			whole = false
		}
	}
	if key := a.addAll(&same); whole {
		return key
	}
	return ""
}

// expression adds the texts of a part of an expression. It returns the value that is compared, if the part is for
// some texts of it and for nothing else.
func (a *alternatives) expression(p *jsonata.Part) string {
	text, isText := p.Value.(string)
	switch {
	case p.Kind == jsonata.PartBinary && (p.Text == "or" || p.Text == "="):
		return a.chain(p, "or", "=")
	case p.Kind == jsonata.PartBinary && (p.Text == "and" || p.Text == "!="):
		a.chain(p, "and", "!=")
		return ""
	case p.Kind == jsonata.PartBlock && len(p.Parts) == 1 && len(p.Filters) == 0:
		return a.expression(&p.Parts[0])
	case p.Kind == jsonata.PartBinary && p.Text == "in" && p.Parts[1].Kind == jsonata.PartArray && isTexts(&p.Parts[1]):
		a.expression(&p.Parts[1])
		return keyOf(&p.Parts[0])
	case p.Kind == jsonata.PartArray && isTexts(p):
		a.lists = append(a.lists, wordsOf(p))
	case p.Kind == jsonata.PartObject:
		a.table(p)
	case p.Kind == jsonata.PartRegex:
		a.lists = append(a.lists, tokensOf(p.Text))
	case isText:
		a.lists = append(a.lists, tokensOf(text))
	default:
		for _, part := range slices.Concat(p.Parts, p.Filters) {
			a.expression(&part)
		}
		if p.Lambda != nil {
			a.expression(&p.Lambda.Body)
		}
	}
	return ""
}

// chain adds the comparisons that an operator joins.
func (a *alternatives) chain(p *jsonata.Part, join, compare string) string {
	var same byKey
	whole := true
	var walk func(p *jsonata.Part)
	walk = func(p *jsonata.Part) {
		switch {
		case p.Kind == jsonata.PartBlock && len(p.Parts) == 1 && len(p.Filters) == 0:
			walk(&p.Parts[0])
			return
		case p.Kind == jsonata.PartBinary && p.Text == join:
			walk(&p.Parts[0])
			walk(&p.Parts[1])
			return
		case p.Kind == jsonata.PartBinary && p.Text == compare:
			for i := range p.Parts {
				if text, isText := p.Parts[i].Value.(string); isText {
					same.add(keyOf(&p.Parts[1-i]), text)
					a.expression(&p.Parts[1-i]) // may have a table
					return
				}
			}
		case p.Kind == jsonata.PartBinary && compare == "=" && p.Text == "in" && isTexts(&p.Parts[1]):
			same.add(keyOf(&p.Parts[0]), wordsOf(&p.Parts[1])...)
			return
		}
		whole = false
		if p.Kind != jsonata.PartBinary || p.Text != "=" && p.Text != "!=" {
			a.expression(p)
			return
		}
		for i := range p.Parts {
			a.expression(&p.Parts[i])
		}
	}
	walk(p)
	if key := a.addAll(&same); whole {
		return key
	}
	return ""
}

// table adds the names of an object that have the same text or number.
func (a *alternatives) table(p *jsonata.Part) {
	var same byKey
	for i := 0; i+1 < len(p.Parts); i += 2 {
		name, isText := p.Parts[i].Value.(string)
		if isText && p.Parts[i+1].Kind == jsonata.PartLiteral {
			same.add(fmt.Sprintf("%T %[1]v", p.Parts[i+1].Value), name)
			continue
		}
		a.expression(&p.Parts[i])
		a.expression(&p.Parts[i+1])
	}
	a.addAll(&same)
}

// template adds the texts in the expressions of a template.
func (a *alternatives) template(t *asl.Template) {
	if t == nil {
		return
	}
	if t.Expression != nil {
		whole := t.Expression.Part()
		a.expression(&whole)
	}
	for _, m := range t.Object {
		a.template(m.Value)
	}
	for _, item := range t.Array {
		a.template(item)
	}
}

// keyOf tells what is compared.
func keyOf(p *jsonata.Part) string {
	return fmt.Sprint(p.Kind, p.Text, operandsOf(p), wordsOf(p))
}

// tokensOf are the words in a text, such as a list for $split or the alternatives of a pattern.
func tokensOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' })
}
