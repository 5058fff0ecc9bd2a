package source

import (
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Range returns the bytes of File in which the value stands that a JSON pointer
// (RFC 6901) names. A definition that functions put together has no such bytes.
func (d *Definition) Range(pointer string) (from, to int, ok bool) {
	switch {
	case d.Text == nil || d.Form == FormComposed:
		return 0, 0, false
	case d.root != nil:
		v := d.root
		for _, step := range splitPointer(pointer) {
			if v = v.child(step); v == nil {
				return 0, 0, false
			}
		}
		return v.origin(), v.in.endOrigin(v.end()), v.parts == nil
	}
	document, err := jsontree.Parse(d.Text)
	if err != nil {
		return 0, 0, false
	}
	n := document.Root
	for _, step := range splitPointer(pointer) {
		if n = n.Child(step); n == nil {
			return 0, 0, false
		}
	}
	return d.text.origin(n.Offset), d.text.endOrigin(n.End), true
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

func splitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range parts {
		parts[i] = pointerUnescapes.Replace(parts[i])
	}
	return parts
}

// child returns the member of that name or the item of that index, or nil.
func (v *value) child(step string) *value {
	if v.kind == jsontree.Array {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.items) {
			return v.items[i]
		}
	}
	return v.get(step)
}

// endOrigin returns the byte of the file after a part of the text that ends at
// end.
func (t *text) endOrigin(end int) int {
	if end == 0 {
		return t.origin(0)
	}
	last := t.origin(end - 1)
	after := t.file.bytes[min(last, len(t.file.bytes)):]
	_, size := jsontree.Unescape(string(after[:min(len(after), len(`\u0000`))]))
	return min(last+max(size, 1), len(t.file.bytes))
}
