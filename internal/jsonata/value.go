package jsonata

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/recolabs/gnata"
)

// engineInput gives a JSON value to the engine as it is, as long as the
// expression cannot see two differences: the engine takes a null for undefined
// when it comes from an array or a function, and writes a number as it is in
// the input, where JavaScript writes 1 for 1.0.
func (e *Expression) engineInput(v any) any {
	if v == nil {
		return engineNull
	}
	if e.plain {
		return v
	}
	out, _ := engineValueOf(v)
	if e.transforms {
		out = deepCopy(out)
	}
	return out
}

// deepCopy is for an expression that transforms: the pattern of a transform may
// name a variable, which is then changed in place.
func deepCopy(v any) any {
	switch v := v.(type) {
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = deepCopy(item)
		}
		return items
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			members[name] = deepCopy(member)
		}
		return members
	}
	return v
}

// engineValueOf gives a value without nulls and numbers as the engine
// misunderstands them. It copies what it changes, and says whether it did.
func engineValueOf(v any) (out any, changed bool) {
	switch v := v.(type) {
	case nil:
		return engineNull, true
	case json.Number:
		if isInteger(string(v)) {
			return v, false
		}
		f, err := v.Float64()
		return f, err == nil
	case []any:
		return mapItems(v, engineValueOf)
	case map[string]any:
		return mapMembers(v, engineValueOf)
	}
	return v, false
}

func mapItems(items []any, change func(any) (any, bool)) (any, bool) {
	changed := false
	for i, item := range items {
		if item, ok := change(item); ok {
			if !changed {
				items, changed = slices.Clone(items), true
			}
			items[i] = item
		}
	}
	return items, changed
}

func mapMembers(members map[string]any, change func(any) (any, bool)) (any, bool) {
	var copied map[string]any
	for name, member := range members {
		if member, ok := change(member); ok {
			if copied == nil {
				copied = maps.Clone(members)
			}
			copied[name] = member
		}
	}
	if copied == nil {
		return members, false
	}
	return copied, true
}

// isInteger says that a number is an integer as JavaScript writes it, of 64
// bits: Step Functions keeps these exactly.
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) > 18 {
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return s != "-0"
}

// orderedObject is the engine's type of an object that it made.
type orderedObject interface {
	Len() int
	Range(do func(name string, value any) bool)
}

// output makes a result of the engine a JSON value.
type output struct {
	regex bool
	bytes int
	err   error
}

func (e *Expression) result(result any) (any, error) {
	o := output{regex: e.regex}
	value, _ := o.value(result)
	if o.err != nil {
		return nil, o.err
	}
	return value, nil
}

func (o *output) count(bytes int) {
	if o.bytes += bytes; o.bytes > memoryLimit && o.err == nil {
		o.err = errMemory
	}
}

// value copies what it changes, and says whether it did.
func (o *output) value(v any) (any, bool) {
	if o.err != nil {
		return nil, false
	}
	switch v := v.(type) {
	case nil, bool:
		return v, false
	case string:
		o.count(len(v))
		valid := validText(v)
		return valid, valid != v
	case float64:
		o.count(8)
		return jsonNumber(v), true
	case json.Number:
		o.count(8)
		if isInteger(string(v)) {
			return v, false
		}
		f, err := v.Float64()
		if err != nil { // too large for a float: infinite
			return jsonNumber(f), true
		}
		n := jsonNumber(f)
		return n, n != v
	case []any:
		return mapItems(v, o.value)
	case map[string]any:
		if o.regex && isRegex(v) {
			o.refuse("a regular expression")
		}
		return mapMembers(v, o.value)
	case orderedObject:
		members := make(map[string]any, v.Len())
		v.Range(func(name string, member any) bool {
			o.count(len(name))
			members[validText(name)], _ = o.value(member)
			return o.err == nil
		})
		return members, true
	}
	switch normal := gnata.NormalizeValue(v).(type) {
	case nil:
		return nil, true
	case bool, string, float64, json.Number, []any, map[string]any:
		out, _ := o.value(normal)
		return out, true
	}
	o.refuse("a function")
	return nil, false
}

// validText is for what $base64decode and the like make: JSON has no text that
// is not Unicode.
func validText(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func (o *output) refuse(what string) {
	if o.err == nil {
		o.err = &Error{Message: "the expression returned " + what + ", which is no JSON value"}
	}
}

// isRegex says that an object is what the engine makes of a regular expression.
func isRegex(members map[string]any) bool {
	_, pattern := members["pattern"].(string)
	_, flags := members["flags"].(string)
	return pattern && flags && len(members) == 2
}

// jsonNumber writes a number as JavaScript does. JSON has no infinity: Step
// Functions writes the word as a string.
func jsonNumber(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return json.Number("0")
	}
	if magnitude := math.Abs(f); magnitude < 1e-6 || magnitude >= 1e21 {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		return json.Number(mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0"))
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}
