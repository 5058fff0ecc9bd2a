package intrinsic

import (
	"encoding/json"
	"maps"
	"math/big"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func stringToJSON(e *evaluation) (any, error) {
	text, err := e.text(0)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, nil
	}
	doc, err := jsontree.Parse([]byte(text))
	if err != nil {
		return nil, e.fail("Invalid arguments in %s: the string is no JSON: %s", e.call.function.name, shortened(text))
	}
	return doc.Root.Value(), nil
}

func jsonToString(e *evaluation) (any, error) { return jsonText(e.arguments[0]), nil }

// jsonMerge merges the members of two objects, those of the second winning.
// AWS merges at the top only, and wants to be told so by a third argument.
func jsonMerge(e *evaluation) (any, error) {
	merged := map[string]any{}
	for i, argument := range e.arguments[:2] {
		object, ok := argument.(map[string]any)
		if !ok {
			return nil, e.invalid(i, "an object")
		}
		maps.Copy(merged, object)
	}
	if deep, ok := e.arguments[2].(bool); !ok || deep {
		return nil, e.invalid(2, "false")
	}
	return merged, nil
}

// equal compares values, numbers by what they are worth.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || worth(a) == worth(b))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	default:
		switch b.(type) {
		case json.Number, []any, map[string]any:
			return false
		}
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
// text of one whose exponent is out of all proportion.
func worth(n json.Number) string {
	const digits = 17
	f, err := n.Float64()
	if err != nil {
		return string(n)
	}
	return big.NewFloat(f).Text('g', digits)
}
