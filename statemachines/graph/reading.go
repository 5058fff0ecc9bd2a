package graph

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// heading says what type a state is and what it works on.
func heading(s *asl.State) string {
	text := string(s.Type)
	if s.Map != nil && s.Map.Distributed {
		text = "Distributed Map"
	}
	if detail := detail(s); detail != "" {
		text += " · " + detail
	}
	return text
}

func detail(s *asl.State) string {
	switch {
	case s.Task != nil:
		return resource(s.Task.Resource)
	case s.Wait != nil && s.Wait.Seconds != nil:
		if s.Wait.Seconds.Literal != nil {
			return scalar(s.Wait.Seconds) + " s"
		}
		return scalar(s.Wait.Seconds)
	case s.Wait != nil:
		return "until " + scalar(s.Wait.Timestamp)
	case s.Fail != nil:
		return scalar(s.Fail.Error)
	case s.Map != nil:
		return items(s.Map)
	default:
		return ""
	}
}

// resource is the part of a Task's ARN that tells what it calls.
func resource(arn string) string {
	const kind = 5
	parts := strings.SplitN(arn, ":", kind+1)
	if len(parts) <= kind {
		return arn
	}
	return strings.TrimPrefix(strings.TrimPrefix(parts[kind], "aws-sdk:"), "function:")
}

func items(m *asl.Map) string {
	text := "for each item"
	switch {
	case m.ItemReader != nil:
		text += " of " + resource(m.ItemReader.Resource)
	case m.ItemsPath != nil && m.ItemsPath.String() != "$":
		text = "for each of " + m.ItemsPath.String()
	}
	if limit := scalar(m.MaxConcurrency); limit != "" && limit != "0" {
		text += ", " + limit + " at a time"
	}
	return text
}

// scalar is a value as a reader would say it; empty if there is none.
func scalar(s *asl.Scalar) string {
	switch {
	case s == nil:
		return ""
	case s.Path != nil:
		return s.Path.String()
	case s.Expression != nil:
		return s.Expression.String()
	case s.Intrinsic != nil:
		return s.Intrinsic.String()
	default:
		return literal(s.Literal)
	}
}

func literal(value any) string {
	switch value := value.(type) {
	case nil:
		return "a value set at deployment"
	case time.Time:
		return value.Format(time.RFC3339)
	case json.Number:
		return value.String()
	default:
		return fmt.Sprint(value)
	}
}

// reading says when a transition is taken, in short and in full; nothing for
// Next.
func reading(s *asl.State, t asl.Transition) (short, long string) {
	switch t.Kind {
	case asl.TransitionRule:
		rule := &s.Choice.Rules[t.Rule]
		if rule.Expression != nil {
			text := strings.Join(strings.Fields(scalar(rule.Expression)), " ")
			return inputPath().ReplaceAllString(text, "$1"), text
		}
		return speech{short: true}.condition(&rule.Condition, false), speech{}.condition(&rule.Condition, false)
	case asl.TransitionDefault:
		return "otherwise", "otherwise"
	case asl.TransitionCatch:
		errors := s.Catch[t.Rule].ErrorEquals
		if slices.Equal(errors, []string{asl.ErrorAll}) {
			return "any error", "any error (States.ALL)"
		}
		return strings.Join(errors, ", "), strings.Join(errors, ", ")
	default:
		return "", ""
	}
}

// inputPath is a value of the input in JSONata; its group is the last member.
var inputPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$states\.input\.(?:\w+\.)*(\w+)`) })

// speech is how conditions are read: in short, values of the input are named by
// the last member of their path, and what goes without saying is left out.
type speech struct{ short bool }

func (p speech) name(path string) string {
	if p.short {
		return lastName(path)
	}
	return path
}

// lastName names a value by the last member in its path, if that is plain.
func lastName(path string) string {
	if strings.ContainsAny(path, "[]()*?@ ") || strings.Contains(path, "..") {
		return path
	}
	if i := strings.LastIndexByte(path, '.'); i >= 0 && i+1 < len(path) {
		return path[i+1:]
	}
	return path
}

// condition reads a condition; inner tells that it stands in another one.
func (p speech) condition(c *asl.Condition, inner bool) string {
	var text string
	switch {
	case c.And != nil:
		parts := c.And
		if short := withoutGuards(parts); p.short && len(short) > 0 {
			parts = short
		}
		if text = p.conditions(parts, " and "); len(parts) == 1 {
			return text
		}
	case c.Or != nil:
		text = p.conditions(c.Or, " or ")
	case c.Not != nil:
		return "not " + p.condition(c.Not, true)
	default:
		return p.comparison(c)
	}
	if inner {
		text = "(" + text + ")"
	}
	return text
}

func (p speech) conditions(list []*asl.Condition, word string) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, p.condition(c, len(list) > 1))
	}
	return strings.Join(parts, word)
}

// withoutGuards leaves out the tests of a conjunction that only make another
// comparison of the same value safe.
func withoutGuards(list []*asl.Condition) []*asl.Condition {
	compared := map[string]bool{}
	for _, c := range list {
		if c.Variable != nil && !isTest(c.Operator) {
			compared[c.Variable.String()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(c *asl.Condition) bool {
		return c.Variable != nil && isTest(c.Operator) && c.Value == true && compared[c.Variable.String()]
	})
}

func isTest(o asl.Operator) bool { return strings.HasPrefix(string(o), "Is") }

// tests are the readings of the operators that test the kind of a value.
var tests = map[asl.Operator]string{
	asl.IsNull: "null", asl.IsPresent: "present", asl.IsNumeric: "a number",
	asl.IsString: "a string", asl.IsBoolean: "a boolean", asl.IsTimestamp: "a timestamp",
}

// comparators are the signs for the ends of the names of operators, longest
// first.
var comparators = []struct{ end, sign string }{
	{"LessThanEquals", "≤"},
	{"GreaterThanEquals", "≥"},
	{"LessThan", "<"},
	{"GreaterThan", ">"},
	{"Equals", "="},
	{"Matches", "matches"},
}

func (p speech) comparison(c *asl.Condition) string {
	variable := "a value set at deployment"
	if c.Variable != nil {
		variable = p.name(c.Variable.String())
	}
	if word, ok := tests[c.Operator]; ok {
		if c.Value == false {
			return variable + " is not " + word
		}
		return variable + " is " + word
	}
	sign := string(c.Operator)
	for _, comparator := range comparators {
		if strings.HasSuffix(sign, comparator.end) {
			sign = comparator.sign
			break
		}
	}
	value := literal(c.Value)
	switch text := c.Value.(type) {
	case string:
		value = strconv.Quote(text)
	case bool:
		switch {
		case c.Operator != asl.BooleanEquals:
		case text:
			return variable
		default:
			return "not " + variable
		}
	}
	if c.ValuePath != nil {
		value = p.name(c.ValuePath.String())
	}
	return variable + " " + sign + " " + value
}
