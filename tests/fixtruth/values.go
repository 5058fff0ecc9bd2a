package fixtruth

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// differing are the names of members that differ between two objects, or two lists of them, but for
// what is volatile.
func differing(before, again, after any) []string {
	var names []string
	if list, is := before.([]any); is {
		volatile, _ := again.([]any)
		other, _ := after.([]any)
		for i, item := range list {
			names = append(names, differing(item, at(volatile, i, item), at(other, i, nil))...)
		}
		return names
	}
	b, _ := before.(map[string]any)
	c, _ := again.(map[string]any)
	a, _ := after.(map[string]any)
	for name, value := range b {
		if other, has := a[name]; !has || !sameValue(value, c[name], other) {
			names = append(names, name)
		}
	}
	for name := range a {
		if _, had := b[name]; !had {
			names = append(names, name)
		}
	}
	return names
}

func at[T any](list []T, i int, otherwise T) T {
	if i < len(list) {
		return list[i]
	}
	return otherwise
}

func containsValue(list []any, value any) bool {
	return slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, value) })
}

// sameValue compares JSON values, by their types where before and again differ. Texts of
// JSON are values.
func sameValue(before, again, after any) bool {
	before, again, after = opened(before), opened(again), opened(after)
	if b, is := before.(map[string]any); is {
		a, is := after.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		c, _ := again.(map[string]any)
		for k, v := range b {
			w, has := a[k]
			x, known := c[k]
			if !known {
				x = v
			}
			if !has || !sameValue(v, x, w) {
				return false
			}
		}
		return true
	}
	if b, is := before.([]any); is {
		a, is := after.([]any)
		if !is || len(a) != len(b) {
			return false
		}
		c, _ := again.([]any)
		for i := range b {
			if !sameValue(b[i], at(c, i, b[i]), a[i]) {
				return false
			}
		}
		return true
	}
	if before != again {
		return reflect.TypeOf(before) == reflect.TypeOf(after)
	}
	return reflect.DeepEqual(before, after)
}

// opened is the value of a text of JSON that is an object or an array.
func opened(value any) any {
	text, is := value.(string)
	if !is || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return value
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return value
	}
	return v
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
