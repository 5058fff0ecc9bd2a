package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// test is what a Choice rule looks at.
type test struct {
	all, any []*test // the parts of "and" and of "or"

	status   bool     // a text, such as the status of a job
	number   bool     // a number compared by size
	equal    bool     // a value compared for equality
	flag     bool     // true or false
	time     bool     // a time, or what a clock says
	exists   bool     // whether there is a value
	presence bool     // whether an item of a list is there
	holds    bool     // presence: it holds where the item is there
	names    []string // what is compared, without the names around it
	items    []string // lists among the names that it reads by single items alone
}

// has tells whether something holds of the test or a part of it.
func (t *test) has(what func(*test) bool) bool {
	for _, part := range append(append([]*test{}, t.all...), t.any...) {
		if part.has(what) {
			return true
		}
	}
	return what(t)
}

func (t *test) looksAtStatus() bool { return t.has(func(t *test) bool { return t.status }) }

// readRule says what a rule looks at.
func readRule(r *asl.ChoiceRule) *test {
	if r.Expression == nil {
		return readCondition(&r.Condition)
	}
	if r.Expression.Expression == nil {
		return &test{}
	}
	t, whole := readExpression(r.Expression.Expression.String()), r.Expression.Expression.Part()
	t.items = itemsRead(&whole)
	t.presence, t.holds = presenceIn(&whole)
	return t
}

// presenceIn tells whether an expression asks only whether an item of a list is there, and whether it holds then.
func presenceIn(p *jsonata.Part) (asks, holds bool) {
	switch {
	case p.Kind != jsonata.PartCall || len(p.Parts) != 1:
		return false, false
	case p.Text == "exists":
		return true, true
	case p.Text == "not":
		asks, holds = presenceIn(&p.Parts[0])
		return asks, !holds
	default:
		return false, false
	}
}

// itemsRead are the lists that an expression reads by single items alone, such as $seen[-1].
func itemsRead(p *jsonata.Part) []string {
	var items, all []string
	var read func(p *jsonata.Part, within bool)
	read = func(p *jsonata.Part, within bool) {
		counted := p.Kind == jsonata.PartCall && slices.Contains([]string{"count", "exists", "boolean"}, p.Text)
		if within = within || len(p.Filters) > 0; p.Kind == jsonata.PartVariable || p.Kind == jsonata.PartName {
			if items = append(items, p.Text); !within {
				all = append(all, p.Text)
			}
		}
		for _, part := range slices.Concat(p.Parts, p.Filters) {
			if counted {
				part.Filters = nil // the number of items that they leave, or whether there is one
			}
			read(&part, within)
		}
	}
	read(p, false)
	return slices.DeleteFunc(items, func(name string) bool { return slices.Contains(all, name) })
}

func readCondition(c *asl.Condition) *test {
	switch {
	case c.Not != nil:
		t := readCondition(c.Not)
		t.negate()
		return t
	case c.And != nil:
		return &test{all: readConditions(c.And)}
	case c.Or != nil:
		return &test{any: readConditions(c.Or)}
	}
	t := &test{}
	for _, path := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		if path != nil {
			t.names = append(t.names, lastName(path.String()))
		}
	}
	switch name := string(c.Operator); {
	case strings.HasPrefix(name, "Timestamp"):
		t.time = true
	case strings.HasPrefix(name, "Numeric"):
		t.number, t.equal = c.Operator != asl.NumericEquals, c.Operator == asl.NumericEquals
	case strings.HasPrefix(name, "String"):
		t.status = true
	case c.Operator == asl.BooleanEquals:
		t.flag = true
	case c.Operator == asl.IsPresent:
		t.exists = strings.HasSuffix(c.Variable.String(), "]") // an item of a list
		t.presence, t.holds = t.exists, c.Value == true
	}
	return t
}

// negate makes the test that of what does not hold.
func (t *test) negate() {
	t.all, t.any, t.holds = t.any, t.all, !t.holds
	for _, part := range slices.Concat(t.all, t.any) {
		part.negate()
	}
}

func readConditions(conditions []*asl.Condition) []*test {
	var out []*test
	for _, c := range conditions {
		out = append(out, readCondition(c))
	}
	return out
}

// hasOpenRule tells whether a placeholder stands in a rule of a Choice for a text, or for
// all that it looks at: the rule may then take any status.
func hasOpenRule(s *asl.State) bool {
	return s.Choice != nil && slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool {
		if r.Expression != nil {
			return r.Expression.Expression == nil && r.Expression.Literal == nil
		}
		return isOpen(&r.Condition)
	})
}

func isOpen(c *asl.Condition) bool {
	switch {
	case c.Not != nil:
		return isOpen(c.Not)
	case c.Operator == "":
		return slices.ContainsFunc(slices.Concat(c.And, c.Or), isOpen)
	case asl.IsPlaceholder(c.Variable) || asl.IsPlaceholder(c.ValuePath):
		return true
	default:
		return c.Value == nil && c.ValuePath == nil && !strings.HasPrefix(string(c.Operator), "Numeric")
	}
}

var (
	quoted     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'|"[^"]*"`) })
	comparison = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[<>]|!?=`) })
	// whole is a regular expression that spells whole texts, one by one: without characters
	// that stand for many.
	whole = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/(\^[\w()?:|\[\] -]+\$)/(i?)`) })
	// asksIfThere is a function that tells whether there is a value.
	asksIfThere = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:exists|boolean)\(`) })
	size        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[<>]`) })
	called      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\w+\s*\(`) })
	name        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*`) })
	clock       = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$(millis|now|toMillis|fromMillis)\(|EnteredTime|StartTime`)
	})
	literal = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:=|\bin\b)\s*\[?\s*(?:'[^']*'|"[^"]*")|(?:'[^']*'|"[^"]*")\s*=`)
	})
)

func readExpression(text string) *test {
	bare := quoted().ReplaceAllString(text, "''")
	t := &test{
		time:   clock().MatchString(bare),
		number: size().MatchString(bare),
		equal:  comparison().MatchString(bare),
		names:  name().FindAllString(called().ReplaceAllString(bare, "("), -1),
	}
	t.flag, t.exists = !t.equal, asksIfThere().MatchString(bare)
	t.status = literal().MatchString(text)
	return t
}

// lastName returns the last name in a path: what it leads to.
func lastName(path string) string {
	names := name().FindAllString(path, -1)
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// nameValues adds the texts that the rules of a Choice name.
func nameValues(s *asl.State, named map[string]bool) {
	nameQuoted(expressionsOf(s), named)
	for i := range s.Choice.Rules {
		if s.Choice.Rules[i].Expression == nil {
			nameConditions(&s.Choice.Rules[i].Condition, named)
		}
	}
}

// nameQuoted adds the texts between quotes in others.
func nameQuoted(texts []string, named map[string]bool) {
	for _, text := range texts {
		for _, word := range quoted().FindAllString(text, -1) {
			named[word[1:len(word)-1]] = true
		}
	}
}

// nameByPattern adds the values of a status that a regular expression of some expressions spells from
// end to end, as /^(Partially)?Completed$/ does.
func nameByPattern(expressions, values []string, named map[string]bool) {
	for _, e := range expressions {
		for _, m := range whole().FindAllStringSubmatch(e, -1) {
			flags := ""
			if m[2] != "" {
				flags = "(?i)"
			}
			pattern, err := regexp.Compile(flags + m[1])
			if err != nil {
				continue
			}
			for _, value := range values {
				named[value] = named[value] || pattern.MatchString(value)
			}
		}
	}
}

// expressionsOf are the expressions of the rules of a Choice.
func expressionsOf(s *asl.State) []string {
	var all []string
	for i := range s.Choice.Rules {
		if e := s.Choice.Rules[i].Expression; e != nil && e.Expression != nil {
			all = append(all, e.Expression.String())
		}
	}
	return all
}

func nameConditions(c *asl.Condition, named map[string]bool) {
	if text, ok := c.Value.(string); ok {
		named[text] = true
	}
	if c.Not != nil {
		nameConditions(c.Not, named)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		nameConditions(part, named)
	}
}
