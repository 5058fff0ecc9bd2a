package typecheck

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// maxProblems is how many problems of arguments are told.
const maxProblems = 20

// CheckArguments says, in the words of AWS, why Step Functions does not start a
// Task with the arguments: members that the API does not have, and values of
// another type. It leaves to the service what the service itself checks: values
// that are missing or null, enums and limits. Numbers are json.Number.
//
// Text is taken for a number and a boolean, and the DynamoDB integration takes
// it for an attribute: AWS's samples have both.
//
// The texts are AWS's for text in the place of another type and for members
// that are not known; of the other types none is on record.
func (a *API) CheckArguments(arguments any) []string {
	c := argumentCheck{api: a}
	switch object, ok := arguments.(map[string]any); {
	case a.takesNothing && ok && len(object) > 0:
		for _, name := range slices.Sorted(maps.Keys(object)) {
			c.unknown(nil, name)
		}
	case a.Input != nil && ok: // else no operation is known, or the service refuses it
		c.members(object, a.Input)
	}
	return c.problems
}

type argumentCheck struct {
	api      *API
	problems []string
}

func (c *argumentCheck) report(format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

func (c *argumentCheck) unknown(s *catalog.Shape, name string) {
	hint := ""
	if s != nil {
		if near := similar(s, name); near != "" {
			hint = fmt.Sprintf(". Did you mean '%s'?", near)
		}
	}
	c.report("The field \"%s\" is not supported by Step Functions%s", name, hint)
}

func (c *argumentCheck) members(object map[string]any, s *catalog.Shape) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if m := c.api.spelling.member(s, name); m == nil {
			c.unknown(s, name)
		} else if !slices.Contains(c.api.spelling.open, name) {
			c.value(name, object[name], m.Shape)
		}
	}
}

// value checks the value of the member of that name.
func (c *argumentCheck) value(name string, value any, s *catalog.Shape) {
	if value == nil {
		return
	}
	kind, given := kindOf(s), kindOfValue(value)
	switch {
	case kind == anything, kind == given:
	case given == text && (kind == number || kind == boolean):
	case given == text && !c.api.spelling.sdk && s.Name == "AttributeValue":
		return
	default:
		c.report("The value for the field '%s' must be %s", name, argumentKinds[kind])
		return
	}
	switch s.Type {
	case catalog.Structure, catalog.Union:
		c.members(value.(map[string]any), s)
	case catalog.List:
		for _, item := range value.([]any) {
			c.value(name, item, s.Element.Shape)
		}
	case catalog.Map:
		object := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			c.value(key, object[key], s.Element.Shape)
		}
	default: // has no parts
	}
}

// kind is a type of JSON.
type kind int

const (
	anything kind = iota
	text
	number
	boolean
	array
	object
)

var argumentKinds = map[kind]string{
	text: "a STRING", number: "a NUMBER", boolean: "a BOOLEAN", array: "an ARRAY", object: "an OBJECT",
}

// kindOf is what a value of a shape is in arguments. A blob may be given as any
// JSON value, and a timestamp as text or a number.
func kindOf(s *catalog.Shape) kind {
	switch s.Type {
	case catalog.Structure, catalog.Union, catalog.Map:
		return object
	case catalog.List:
		return array
	case catalog.String:
		return text
	case catalog.Boolean:
		return boolean
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return number
	default:
		return anything
	}
}

func kindOfValue(value any) kind {
	switch value.(type) {
	case string:
		return text
	case bool:
		return boolean
	case []any:
		return array
	case map[string]any:
		return object
	default:
		return number // json.Number, or an integer of the runner's own
	}
}
