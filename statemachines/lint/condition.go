package lint

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// test is what a Choice rule looks at.
type test struct {
	status bool // a text, such as the status of a job
	number bool // a number compared by size
	time   bool // a time, or what a clock says
	ends   bool // a text that says that time is up
	// most is the number that it is compared with; 0 if it is not known.
	most int
}

// add joins what parts of a condition look at.
func (t test) add(other test) test {
	return test{
		status: t.status || other.status, number: t.number || other.number, time: t.time || other.time,
		ends: t.ends || other.ends, most: max(t.most, other.most),
	}
}

// timeIsUp is a status that says so.
var timeIsUp = regexp.MustCompile(`(?i)time[d_ -]*out|expired|deadline|exceeded`)

// tested says what a rule looks at.
func tested(r *asl.ChoiceRule) test {
	if r.Expression == nil {
		return testedPath(&r.Condition)
	}
	if r.Expression.Expression == nil {
		return test{}
	}
	return testedExpression(r.Expression.Expression.String())
}

func testedPath(c *asl.Condition) test {
	switch {
	case c.Not != nil:
		return testedPath(c.Not)
	case c.And != nil || c.Or != nil:
		var all test
		for _, inner := range append(append([]*asl.Condition{}, c.And...), c.Or...) {
			all = all.add(testedPath(inner))
		}
		return all
	}
	switch name := string(c.Operator); {
	case strings.HasPrefix(name, "Timestamp"):
		return test{time: true}
	case strings.HasPrefix(name, "Numeric"):
		literal, _ := c.Value.(json.Number)
		most, err := strconv.Atoi(string(literal))
		if err != nil {
			most = 0
		}
		return test{number: true, most: most}
	case strings.HasPrefix(name, "String"):
		text, _ := c.Value.(string)
		return test{status: true, ends: timeIsUp.MatchString(text)}
	default:
		return test{}
	}
}

var (
	clock      = regexp.MustCompile(`\$(millis|now|toMillis|fromMillis)\(|EnteredTime|StartTime`)
	comparison = regexp.MustCompile(`[<>]=?\s*(\d+)?`)
	literal    = regexp.MustCompile(`(=|\bin\b)\s*\[?\s*['"]([^'"]*)['"]|['"]([^'"]*)['"]\s*=`)
)

func testedExpression(text string) test {
	var t test
	t.time = clock.MatchString(text)
	if m := comparison.FindStringSubmatch(text); m != nil {
		t.number = true
		if most, err := strconv.Atoi(m[1]); err == nil {
			t.most = most
		}
	}
	if m := literal.FindStringSubmatch(text); m != nil {
		t.status, t.ends = true, timeIsUp.MatchString(m[2]+m[3])
	}
	return t
}

// counts tells whether a state changes a number: by States.MathAdd, by an
// expression that adds or subtracts, or in a function, of which nothing is
// known.
func counts(s *asl.State) bool {
	if s.Task != nil && (asl.ParseResource(s.Task.Resource).Service == "lambda" || updates(s)) {
		return true
	}
	templates := []*asl.Template{s.Parameters, s.Arguments, s.ResultSelector, s.Assign, s.Output}
	if s.Choice != nil {
		for _, r := range s.Choice.Rules {
			templates = append(templates, r.Assign, r.Output)
		}
	}
	for _, t := range templates {
		if t != nil && countsIn(t) {
			return true
		}
	}
	return false
}

// updates tells whether a Task counts in a table.
func updates(s *asl.State) bool {
	return strings.EqualFold(asl.ParseResource(s.Task.Resource).Action, "updateItem")
}

var sum = regexp.MustCompile(`\$\w[\w.]*\s*[+-]|[+-]\s*\$\w|\$append\(`)

func countsIn(t *asl.Template) bool {
	switch {
	case t.Intrinsic != nil:
		return strings.Contains(t.Intrinsic.String(), "States.MathAdd") || strings.Contains(t.Intrinsic.String(), "States.Array")
	case t.Expression != nil:
		return sum.MatchString(t.Expression.String())
	}
	return slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return countsIn(m.Value) }) || slices.ContainsFunc(t.Array, countsIn)
}
