package jsonpath

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// comparison is "left operator right".
type comparison struct {
	operator    string
	left, right operand
}

// holds compares. A side without a value differs from everything, and fits no
// other operator.
func (c *comparison) holds(e *evaluation, current any) bool {
	left, leftOK := c.left.value(e, current)
	right, rightOK := c.right.value(e, current)
	if !e.visit(1 + textCost(left) + textCost(right)) {
		return false
	}
	negative := c.operator == "!=" || c.operator == "!==" || c.operator == "nin"
	if !leftOK || !rightOK {
		return negative
	}
	switch c.operator {
	case "==", "!=":
		return e.equal(left, right) != negative
	case "===", "!==":
		return e.same(left, right) != negative
	case "<", "<=", ">", ">=":
		return inOrder(c.operator, left, right)
	case "=~":
		return e.matches(right.(*regexp.Regexp), left)
	case "contains":
		return e.contains(left, right)
	case "size":
		return float64(size(left)) == float(right.(json.Number))
	case "empty":
		n := size(left)
		return n >= 0 && (n == 0) == right
	default:
		return e.holdsList(c.operator, left, right) != negative
	}
}

// textCost is the work that the length of a text adds to a comparison, in
// visits.
func textCost(value any) int {
	const bytesPerVisit = 64
	switch value := value.(type) {
	case string:
		return len(value) / bytesPerVisit
	case json.Number:
		return len(value) / bytesPerVisit
	default:
		return 0
	}
}

// holdsList applies the operators that have a list to the right.
func (e *evaluation) holdsList(operator string, left, right any) bool {
	list, ok := right.([]any)
	if !ok {
		return false
	}
	if operator == "in" || operator == "nin" {
		return e.in(left, list)
	}
	values, ok := left.([]any)
	if !ok {
		return false
	}
	isIn := func(value any) bool { return e.in(value, list) }
	switch operator {
	case "subsetof":
		return !slices.ContainsFunc(values, func(value any) bool { return !isIn(value) })
	case "anyof":
		return slices.ContainsFunc(values, isIn)
	case "noneof":
		return !slices.ContainsFunc(values, isIn)
	default: // all
		return !slices.ContainsFunc(list, func(value any) bool { return !e.in(value, values) })
	}
}

func (e *evaluation) in(value any, list []any) bool {
	return slices.ContainsFunc(list, func(element any) bool { return e.equal(value, element) })
}

func (e *evaluation) contains(left, right any) bool {
	switch left := left.(type) {
	case string:
		part, ok := right.(string)
		return ok && strings.Contains(left, part)
	case []any:
		return e.in(right, left)
	default:
		return false
	}
}

// matches tells whether the expression fits the whole of a scalar, or of one
// in an array.
func (e *evaluation) matches(expression *regexp.Regexp, value any) bool {
	if list, ok := value.([]any); ok {
		return slices.ContainsFunc(list, func(element any) bool {
			text, ok := scalarText(element)
			return ok && e.visit(1+textCost(text)) && expression.MatchString(text)
		})
	}
	text, ok := scalarText(value)
	return ok && expression.MatchString(text)
}

// scalarText is what a regular expression sees of a value; ok is false of null
// and of what is not a scalar.
func scalarText(value any) (text string, ok bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	default:
		return "", false
	}
}

// size is the length of a string in characters, or the number of an array's
// elements or an object's members; -1 of any other value.
func size(value any) int {
	switch value := value.(type) {
	case string:
		return utf8.RuneCountInString(value)
	case []any:
		return len(value)
	case map[string]any:
		return len(value)
	default:
		return -1
	}
}

// equal is "==": beside a number, a string that has the text of one is taken
// for a number; beside a string, a number is taken for its text.
func (e *evaluation) equal(left, right any) bool {
	switch left := left.(type) {
	case json.Number:
		if text, ok := right.(string); ok && isNumber(text) {
			return compareNumbers(left, json.Number(text)) == 0
		}
	case string:
		if number, ok := right.(json.Number); ok {
			return left == number.String()
		}
	}
	return e.same(left, right)
}

// same is the equality of two JSON values of one type.
func (e *evaluation) same(left, right any) bool {
	if !e.visit(1) {
		return false
	}
	switch left := left.(type) {
	case json.Number:
		number, ok := right.(json.Number)
		return ok && compareNumbers(left, number) == 0
	case []any:
		list, ok := right.([]any)
		return ok && slices.EqualFunc(left, list, e.same)
	case map[string]any:
		object, ok := right.(map[string]any)
		if !ok || len(left) != len(object) {
			return false
		}
		// In order, so that a limit is met in the same place each time.
		return !slices.ContainsFunc(slices.Sorted(maps.Keys(left)), func(name string) bool {
			value, ok := object[name]
			return !ok || !e.same(left[name], value)
		})
	case string, bool, nil: // comparable with any type
		return left == right
	default:
		return false
	}
}

// inOrder tells whether the operator holds between two numbers or two strings;
// a number beside a string is taken for its text. It holds for nothing else.
func inOrder(operator string, left, right any) bool {
	a, isNumberA := left.(json.Number)
	b, isNumberB := right.(json.Number)
	if isNumberA && isNumberB {
		return holdsOrder(operator, compareNumbers(a, b))
	}
	_, isTextA := left.(string)
	_, isTextB := right.(string)
	if !isNumberA && !isTextA || !isNumberB && !isTextB {
		return false
	}
	textA, _ := scalarText(left)
	textB, _ := scalarText(right)
	return holdsOrder(operator, cmp.Compare(textA, textB))
}

func holdsOrder(operator string, order int) bool {
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func compareNumbers(left, right json.Number) int {
	a, errA := left.Int64()
	b, errB := right.Int64()
	if errA == nil && errB == nil {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(float(left), float(right))
}

// float is the nearest float64, which is infinite beyond its range.
func float(n json.Number) float64 {
	f, _ := n.Float64()
	return f
}
