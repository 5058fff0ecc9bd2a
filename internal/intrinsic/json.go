package intrinsic

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// stringToJSON reads a JSON text: null if it is empty. Of members of one name
// the last counts.
func stringToJSON(e *evaluation) (any, error) {
	text, err := e.text(0)
	if err != nil {
		return nil, err
	}
	if strings.Trim(text, " \t\r\n") == "" {
		return nil, nil
	}
	// A Decoder alone would not look at what follows the value.
	err = json.Unmarshal([]byte(text), new(json.RawMessage))
	var value any
	if err == nil {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		err = decoder.Decode(&value)
	}
	if err != nil {
		// After "caused by" AWS gives the reason of its parser.
		return nil, e.fail(fmt.Sprintf("Cannot convert String to Json in %s, caused by: %v", e.function, err),
			fmt.Sprintf("expected JSON as argument 1, found %s: %v", shorten(jsonText(text)), err))
	}
	return value, nil
}

func jsonToString(e *evaluation) (any, error) { return jsonText(e.arguments[0]), nil }

// jsonMerge merges the members of two objects, those of the second winning. It
// merges at the top only: the third argument must not be true.
func jsonMerge(e *evaluation) (any, error) {
	merged := map[string]any{}
	for i, argument := range e.arguments[:2] {
		object, ok := argument.(map[string]any)
		if !ok {
			return nil, e.invalid(i, "an object")
		}
		maps.Copy(merged, object)
	}
	if e.arguments[2] == true {
		return nil, e.invalid(2, "false")
	}
	return merged, nil
}

// equal compares values, numbers by what they are worth.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && worth(a) == worth(b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	default: // comparable with any type
		return a == b
	}
}

// canonical is the same text for equal values.
func canonical(value any) string { return jsonText(normal(value)) }

// normal writes the numbers of a value in one way.
func normal(value any) any {
	switch v := value.(type) {
	case json.Number:
		return json.Number(worth(v))
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = normal(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = normal(member)
		}
		return out
	default:
		return value
	}
}

// worth writes a number in one way: equal numbers are equal texts. It keeps the
// text of one that is beyond a float64.
func worth(n json.Number) string {
	if i, err := n.Int64(); err == nil {
		return strconv.FormatInt(i, 10)
	}
	f, err := n.Float64()
	switch {
	case err != nil:
		return string(n)
	case f == math.Trunc(f) && math.Abs(f) < math.MaxInt64:
		return strconv.FormatInt(int64(f), 10)
	default:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
}
