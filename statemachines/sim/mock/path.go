package mock

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxIndex and maxParts keep a path from making a list of any length, or a value
// of any depth.
const (
	maxIndex = 99
	maxParts = 50
)

// path is a place in a JSON value, such as "Tasks[0].LastStatus": strings are
// names of members, ints are indices of items.
type path []any

func parsePath(text string) (path, error) {
	var out path
	for part := range strings.SplitSeq(text, ".") {
		name, indices, _ := strings.Cut(part, "[")
		if name == "" || strings.ContainsAny(name, "]$") {
			return nil, badPath(text)
		}
		out = append(out, name)
		if len(name) == len(part) {
			continue
		}
		for index := range strings.SplitSeq(indices, "[") {
			digits, closed := strings.CutSuffix(index, "]")
			i, err := strconv.ParseUint(digits, 10, 32)
			if !closed || err != nil || i > maxIndex {
				return nil, badPath(text)
			}
			out = append(out, int(i))
		}
	}
	if len(out) > maxParts {
		return nil, fmt.Errorf("a path has %d names and indices; the limit is %d", len(out), maxParts)
	}
	return out, nil
}

func badPath(text string) error {
	return fmt.Errorf("path %q: expected names with dots between them and indices up to %d, such as \"Tasks[0].LastStatus\"", text, maxIndex)
}

// last is the name that the path ends with, or empty if it ends with an index.
func (p path) last() string {
	name, _ := p[len(p)-1].(string)
	return name
}

// get returns what stands at the path, or nil.
func (p path) get(value any) any {
	for _, part := range p {
		switch part := part.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[part]
		case int:
			list, _ := value.([]any)
			if part >= len(list) {
				return nil
			}
			value = list[part]
		}
	}
	return value
}

// hasItems tells whether the items of lists on the way are there.
func (p path) hasItems(value any) bool {
	for i, part := range p {
		if at, ok := part.(int); ok {
			list, _ := p[:i].get(value).([]any)
			if at >= len(list) {
				return false
			}
		}
	}
	return true
}

// set puts what is given at the path, changes the value and returns it. Objects and
// items that are missing are made.
func (p path) set(value, what any) (any, error) {
	if len(p) == 0 {
		return what, nil
	}
	switch part := p[0].(type) {
	case int:
		list, ok := value.([]any)
		if !ok && value != nil {
			return nil, fmt.Errorf("the answer has no list at [%d]", part)
		}
		for len(list) < part {
			list = append(list, map[string]any{})
		}
		if len(list) == part {
			list = append(list, nil)
		}
		item, err := p[1:].set(list[part], what)
		list[part] = item
		return list, err
	default:
		name := part.(string)
		object, ok := value.(map[string]any)
		if !ok && value != nil {
			return nil, fmt.Errorf("the answer has no object around %q", name)
		}
		if object == nil {
			object = map[string]any{}
		}
		member, err := p[1:].set(object[name], what)
		object[name] = member
		return object, err
	}
}

// copyOf is a value as encoding/json decodes it, with numbers as json.Number.
func copyOf(value any) (any, error) {
	if out, ok := copyJSON(value, maxParts); ok {
		return out, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	return out, dec.Decode(&out)
}

// copyJSON copies a value that is as encoding/json decodes it already; ok is false for
// one that may not be, or that is deeper than so many levels.
func copyJSON(value any, levels int) (out any, ok bool) {
	switch v := value.(type) {
	case nil, bool:
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case json.Number:
		ok = v != "" && strings.ContainsRune("-0123456789", rune(v[0])) && strings.ContainsRune("0123456789", rune(v[len(v)-1]))
		return v, ok && json.Valid([]byte(v))
	case []any:
		if levels == 0 {
			return nil, false
		}
		items := make([]any, len(v))
		for i, item := range v {
			if items[i], ok = copyJSON(item, levels-1); !ok {
				return nil, false
			}
		}
		return items, v != nil
	case map[string]any:
		if levels == 0 {
			return nil, false
		}
		members := make(map[string]any, len(v))
		for name, member := range v {
			if members[name], ok = copyJSON(member, levels-1); !ok || !utf8.ValidString(name) {
				return nil, false
			}
		}
		return members, v != nil
	default:
		return nil, false
	}
}
