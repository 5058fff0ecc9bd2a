package typecheck

import (
	"encoding/json"
	"slices"
)

// Contains tells whether a JSON value, with numbers as json.Number, is one that the
// Value may be.
func (v Value) Contains(value any) bool { //nolint:gocognit // a case a type
	if v.set == nil {
		return true
	}
	s := v.set
	switch x := value.(type) {
	case nil:
		return s.kinds&null != 0
	case bool:
		want := isFalse
		if x {
			want = isTrue
		}
		return s.kinds&booleans != 0 && s.truth&want != 0
	case json.Number:
		f, err := x.Float64()
		if s.kinds&numbers == 0 || err != nil {
			return false
		}
		return s.number == nil || slices.Contains(s.number, f)
	case string:
		return v.words().may(x)
	case []any:
		if s.kinds&arrays == 0 {
			return false
		}
		for i, item := range x {
			if !s.array.get(i).Contains(item) {
				return false
			}
		}
		return s.array.get(len(x)).may(missing)
	case map[string]any:
		if s.kinds&objects == 0 {
			return false
		}
		if s.object == nil {
			return true
		}
		for name, member := range x {
			if !s.object.get(name).Contains(member) {
				return false
			}
		}
		for _, name := range s.object.fieldNames() {
			if _, there := x[name]; !there && !s.object.get(name).may(missing) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// KnowsParts tells whether something is known of the members or elements.
func (v Value) KnowsParts() bool { return v.record() != nil || v.list() != nil }

// Dump is the value for the messages of tests.
func (v Value) Dump() string { return v.dump(0) }

func (v Value) dump(depth int) string {
	text := v.String()
	if w := v.words(); v.set != nil && !w.any && w.list() != nil {
		b, _ := json.Marshal(w.list())
		text += string(b)
	}
	if r := v.record(); r != nil && depth < 6 {
		text += "{"
		for _, f := range r.fields {
			text += f.name + ": " + f.value.dump(depth+1) + ", "
		}
		if r.shape != nil {
			text += r.shape.Name
		} else {
			text += "*: " + r.rest.String()
		}
		text += "}"
	}
	if l := v.list(); l != nil && depth < 6 {
		text += "["
		for _, item := range l.items {
			text += item.dump(depth+1) + ", "
		}
		text += "*: " + l.others().dump(depth+1) + "]"
	}
	return text
}
