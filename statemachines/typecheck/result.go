package typecheck

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// CheckResult refuses, in the words of AWS's TestState, a mocked result that
// the API cannot give: values of another type, outside an enum or beyond a
// limit; and where all is set, results that lack a required member. Members
// that the API does not have are let through, as AWS does. Numbers are
// json.Number.
func (a *API) CheckResult(result any, all bool) error {
	if a.Output == nil || result == nil {
		return nil
	}
	members, ok := result.(map[string]any)
	if !ok {
		return fmt.Errorf("Mocked result must be %s.", resultKinds[object]) //nolint:staticcheck,revive // AWS's words
	}
	c := resultCheck{api: a, all: all}
	if err := c.members(members, a.Output); err != nil {
		return fmt.Errorf("Mock result schema validation error: %w", err) //nolint:staticcheck // AWS's words
	}
	return nil
}

type resultCheck struct {
	api *API
	all bool // required members too
}

func (c *resultCheck) members(given map[string]any, s *catalog.Shape) error {
	for i := range s.Members {
		m := &s.Members[i]
		if name := javasdk.MemberName(m.Name); c.all && m.Required && !c.has(given, s, m) {
			return fmt.Errorf("Required field '%s' is missing", name) //nolint:staticcheck // AWS's words
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		m := c.api.spelling.member(s, name)
		if m == nil || slices.Contains(c.api.spelling.parsed, name) {
			continue
		}
		if err := c.value(name, given[name], m.Shape); err != nil {
			return err
		}
	}
	return nil
}

// has tells whether the member is given, by a name that it may have.
func (c *resultCheck) has(given map[string]any, s *catalog.Shape, m *catalog.Member) bool {
	for name := range given {
		if c.api.spelling.member(s, name) == m {
			return true
		}
	}
	return false
}

// resultKinds are the types of JSON as AWS names them in refusals of mocks.
var resultKinds = map[kind]string{
	text: "a string", number: "a number", boolean: "a boolean", array: "an array", object: "an object",
}

// kindOfResult is what a value of a shape is in results, where Step Functions
// writes blobs and timestamps as text.
func kindOfResult(s *catalog.Shape) kind {
	if s.Type == catalog.Blob || s.Type == catalog.Timestamp {
		return text
	}
	return kindOf(s)
}

func (c *resultCheck) value(name string, value any, s *catalog.Shape) error {
	if value == nil {
		return nil
	}
	wanted := kindOfResult(s)
	if wanted != anything && wanted != kindOfValue(value) {
		return fmt.Errorf("Field '%s' must be %s", name, resultKinds[wanted]) //nolint:staticcheck // AWS's words
	}
	if err := checkLimits(name, value, s); err != nil {
		return err
	}
	switch s.Type {
	case catalog.Structure, catalog.Union:
		return c.members(value.(map[string]any), s)
	case catalog.List:
		for _, item := range value.([]any) {
			if err := c.value(name, item, s.Element.Shape); err != nil {
				return err
			}
		}
	case catalog.Map:
		given := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(given)) {
			if err := c.value(key, given[key], s.Element.Shape); err != nil {
				return err
			}
		}
	default: // has no parts
	}
	return nil
}

// checkLimits refuses a value outside of the enum or the bounds of its shape.
func checkLimits(name string, value any, s *catalog.Shape) error {
	below, above := "is smaller than the minimum length", "exceeds the maximum length"
	var size float64
	switch v := value.(type) {
	case string:
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			return fmt.Errorf("Field '%s' is not an expected value", name) //nolint:staticcheck // AWS's words
		}
		size = length(v, s)
	case []any:
		size = float64(len(v))
	case map[string]any:
		size = float64(len(v))
	case json.Number:
		below, above = "is less than the minimum value", "exceeds the maximum value"
		size, _ = v.Float64() // infinite if it is too large
	default:
		return nil
	}
	if least, ok := bound(s.Min); ok && size < least {
		return fmt.Errorf("Field '%s' %s", name, below) //nolint:staticcheck // AWS's words
	}
	if most, ok := bound(s.Max); ok && size > most {
		return fmt.Errorf("Field '%s' %s", name, above) //nolint:staticcheck // AWS's words
	}
	return nil
}

// length is that of a text in characters, or of what a blob holds in bytes.
func length(text string, s *catalog.Shape) float64 {
	if s.Type == catalog.Blob {
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			return float64(len(data))
		}
	}
	return float64(utf8.RuneCountInString(text))
}

// bound reads a bound of a shape.
func bound(n json.Number) (float64, bool) {
	value, err := strconv.ParseFloat(string(n), 64)
	return value, err == nil
}
