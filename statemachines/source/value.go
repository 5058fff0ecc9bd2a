package source

import (
	"bytes"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// value is a value of JSON or YAML, and where it stands.
type value struct {
	kind    jsontree.Kind
	tag     string // of YAML's own kind, such as "!Sub"
	text    string // String: decoded; Number: a JSON literal; Bool: "true" or "false"
	items   []*value
	members []member

	in    *text
	start int // byte of in
	after int // after its last byte; 0: see end
	spelt spelling
	parts *text // of a string that was put together
	// written tells that a value of Terraform's stands in its file as it is, also with parts
	// or where a reference gives it.
	written bool
	// function is the value that gives this one, which stands in it; nil for none.
	function *value
	open     bool // a placeholder alone stands for it
	nested   bool // whether a collection of YAML stands in brackets
}

// member is a name, which is a string, and its value.
type member struct{ name, value *value }

// spelling is how a string stands in its text.
type spelling uint8

const (
	jsonString spelling = iota
	plainScalar
	singleQuoted
	doubleQuoted
	blockScalar
)

// get returns the value of a member, or nil.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.name.text == name {
			return m.value
		}
	}
	return nil
}

// textOf returns the text of a member, if it stands there as it is.
func (v *value) textOf(name string) (string, bool) {
	return v.get(name).literal()
}

// literal returns the text of a string, number or boolean that stands there as
// it is.
func (v *value) literal() (string, bool) {
	if v == nil || v.tag != "" || v.kind == jsontree.Null || v.kind >= jsontree.Array {
		return "", false
	}
	return v.text, true
}

// origin is the byte of the file where the value starts.
func (v *value) origin() int { return v.in.origin(v.start) }

// chars returns the characters of a string with their places.
func (v *value) chars() *text {
	switch {
	case v.parts != nil:
		return v.parts
	case v.kind != jsontree.String:
		var w writer
		w.put(v.text, v.origin())
		return w.text(v.in.file)
	case v.spelt == jsonString:
		decoded, _ := unquoteJSON(v.in, v.start, v.text)
		return decoded
	default:
		decoded, _ := unfoldYAML(v.in, v.start, v.spelt, v.text)
		return decoded
	}
}

// end returns the byte of v.in after the value.
func (v *value) end() int {
	if v.after == 0 {
		v.after = v.findEnd()
	}
	return v.after
}

func (v *value) findEnd() int {
	if v.kind < jsontree.Array && v.spelt == jsonString && v.kind == jsontree.String {
		_, end := unquoteJSON(v.in, v.start, v.text)
		return end
	}
	if v.kind < jsontree.Array {
		written := v.text
		if v.spelt == plainScalar && v.kind != jsontree.String {
			return plainEnd(v.in.bytes, v.start)
		}
		_, end := unfoldYAML(v.in, v.start, v.spelt, written)
		return end
	}
	end := v.start
	for _, item := range v.items {
		if item.in == v.in && item.start >= v.start {
			end = max(end, item.end())
		}
	}
	for _, m := range v.members {
		for _, part := range []*value{m.name, m.value} {
			if part.in == v.in && part.start >= v.start {
				end = max(end, part.end())
			}
		}
	}
	if v.nested {
		return closingBracket(v.in.bytes, v.start, end)
	}
	return end
}

// closingBracket returns the byte after the bracket that closes a collection of
// YAML, whose last item ends at from.
func closingBracket(text []byte, start, from int) int {
	if from == start { // empty: properties may stand before the bracket
		for from < len(text) && text[from] != '[' && text[from] != '{' {
			from++
		}
		from++
	}
	for from < len(text) && text[from] != ']' && text[from] != '}' {
		if text[from] == '#' {
			for from < len(text) && text[from] != '\n' {
				from++
			}
			continue
		}
		from++
	}
	return min(from+1, len(text))
}

// plainEnd returns the byte after a plain scalar of one word.
func plainEnd(text []byte, start int) int {
	start = skipProperties(text, start)
	if i := bytes.IndexAny(text[start:], " \t\r\n,]}"); i >= 0 {
		return start + i
	}
	return len(text)
}
