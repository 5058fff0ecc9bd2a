package sim

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runChoice does what a Choice state does.
func (s *strand) runChoice() *failure {
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	for i := range s.state.Choice.Rules {
		rule := &s.state.Choice.Rules[i]
		d := data{input: input, place: "Choices[" + strconv.Itoa(i) + "]/"}
		holds, f := s.applies(rule, d)
		if f != nil {
			return f
		}
		if holds {
			return s.leave(d, input, exit{next: rule.Next, kind: asl.TransitionRule, rule: i, assign: rule.Assign, output: rule.Output})
		}
	}
	if s.state.Choice.Default == "" {
		return s.runtimeFailure("Failed to transition out of the state. The state does not point to a next state.")
	}
	return s.leave(data{input: input}, input, exit{next: s.state.Choice.Default, kind: asl.TransitionDefault, assign: s.state.Assign, output: s.state.Output})
}

// applies tells whether the rule's condition holds.
func (s *strand) applies(rule *asl.ChoiceRule, d data) (bool, *failure) {
	if rule.Expression == nil {
		return s.holds(&rule.Condition, d.input.Value())
	}
	value, f := s.evaluateScalar(rule.Expression, d)
	if f != nil {
		return false, f
	}
	holds, ok := value.(bool)
	if !ok {
		return false, s.typeFailure(rule.Expression, "boolean", value, d)
	}
	return holds, nil
}

// holds evaluates a condition from left to right, no further than needed.
func (s *strand) holds(c *asl.Condition, input any) (bool, *failure) {
	switch {
	case c.Not != nil:
		holds, f := s.holds(c.Not, input)
		return !holds, f
	case c.And != nil:
		for _, inner := range c.And {
			if holds, f := s.holds(inner, input); f != nil || !holds {
				return false, f
			}
		}
		return true, nil
	case c.Or != nil:
		for _, inner := range c.Or {
			if holds, f := s.holds(inner, input); f != nil || holds {
				return holds, f
			}
		}
		return false, nil
	}
	value, err := s.get(c.Variable, input)
	if c.Operator == asl.IsPresent {
		return (err == nil) == c.Value.(bool), nil
	}
	if err != nil {
		return false, s.invalidCondition(c.Variable)
	}
	expected := c.Value
	if c.ValuePath != nil {
		if expected, err = s.get(c.ValuePath, input); err != nil {
			return false, s.invalidCondition(c.ValuePath)
		}
	}
	return compare(c.Operator, value, expected), nil
}

func (s *strand) invalidCondition(path *jsonpath.Path) *failure {
	return s.runtimeFailure("Invalid path '%s': The choice state's condition path references an invalid value.", path)
}

// compare applies an operator. Values of the wrong type do not match.
func compare(op asl.Operator, value, expected any) bool {
	switch op {
	case asl.IsNull:
		return (value == nil) == expected.(bool)
	case asl.IsNumeric:
		_, ok := value.(json.Number)
		return ok == expected.(bool)
	case asl.IsString:
		_, ok := value.(string)
		return ok == expected.(bool)
	case asl.IsBoolean:
		_, ok := value.(bool)
		return ok == expected.(bool)
	case asl.IsTimestamp:
		_, ok := timestamp(value)
		return ok == expected.(bool)
	case asl.BooleanEquals:
		a, ok := value.(bool)
		b, alsoOK := expected.(bool)
		return ok && alsoOK && a == b
	case asl.StringMatches:
		text, ok := value.(string)
		return ok && asl.MatchString(text, expected.(string))
	default:
		relation, ok := order(op, value, expected)
		return ok && fits(op, relation)
	}
}

// fits tells whether the relation of two values is the one the operator is
// about.
func fits(op asl.Operator, relation int) bool {
	switch {
	case strings.HasSuffix(string(op), "LessThanEquals"):
		return relation <= 0
	case strings.HasSuffix(string(op), "GreaterThanEquals"):
		return relation >= 0
	case strings.HasSuffix(string(op), "LessThan"):
		return relation < 0
	case strings.HasSuffix(string(op), "GreaterThan"):
		return relation > 0
	default:
		return relation == 0
	}
}

// order compares two values of the type that the operator is for.
func order(op asl.Operator, value, expected any) (relation int, ok bool) {
	switch {
	case strings.HasPrefix(string(op), "String"):
		a, ok := value.(string)
		b, alsoOK := expected.(string)
		return strings.Compare(a, b), ok && alsoOK
	case strings.HasPrefix(string(op), "Numeric"):
		a, ok := value.(json.Number)
		b, alsoOK := expected.(json.Number)
		return compareNumbers(a, b), ok && alsoOK
	default:
		a, ok := timestamp(value)
		b, alsoOK := timestamp(expected)
		return a.Compare(b), ok && alsoOK
	}
}

// compareNumbers compares integers exactly and other numbers as doubles.
func compareNumbers(a, b json.Number) int {
	x, err := strconv.ParseInt(string(a), 10, 64)
	y, alsoErr := strconv.ParseInt(string(b), 10, 64)
	if err == nil && alsoErr == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(double(a), double(b))
}

func double(n json.Number) float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// timestamp reads an RFC 3339 timestamp from a value of the input or, parsed
// already, from the definition.
func timestamp(value any) (time.Time, bool) {
	switch v := value.(type) {
	case time.Time:
		return v, true
	case string:
		t, err := asl.ParseTimestamp(v)
		return t, err == nil
	default:
		return time.Time{}, false
	}
}
