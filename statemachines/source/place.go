package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Place is where a value of the definition stands in File, in bytes.
type Place struct {
	// Name is where the name of the member begins; -1 of an item and of the root.
	Name int
	// From is the first byte of the value, and To the one after it. Of a value that
	// a function gives, such as Ref, they are those of the function.
	From, To int
	// Literal tells that the value stands there as it is: no function, placeholder
	// or alias gives it.
	Literal bool
}

// Place returns where the value stands that a JSON pointer (RFC 6901) names. A
// definition that functions put together has no places.
func (d *Definition) Place(pointer string) (Place, bool) {
	if d.Text == nil || d.Form == FormComposed {
		return Place{}, false
	}
	document, err := d.Root()
	if err != nil {
		return Place{}, false
	}
	n, v := document, d.root
	name := -1
	for _, step := range splitPointer(pointer) {
		name = -1
		if v != nil {
			if member := v.nameOf(step); member != nil {
				name = d.nameAt(member)
			}
			v = v.child(step)
		} else if i := slices.IndexFunc(n.Members, func(m jsontree.Member) bool { return m.Name == step }); i >= 0 {
			name = d.text.origin(n.Members[i].Offset)
		}
		if n = n.Child(step); n == nil || d.root != nil && v == nil {
			return Place{}, false
		}
	}
	return d.place(name, n, v), true
}

// Places returns the definition's values and, if it is a part of what File says (see
// Writing), where each stands.
func (d *Definition) Places() (*jsontree.Node, map[*jsontree.Node]Place, error) {
	document, err := d.Root()
	if err != nil || d.root == nil {
		return document, nil, err
	}
	places := map[*jsontree.Node]Place{}
	d.addPlaces(places, -1, document, d.root)
	return document, places, nil
}

func (d *Definition) addPlaces(places map[*jsontree.Node]Place, name int, n *jsontree.Node, v *value) {
	places[n] = d.place(name, n, v)
	for i, item := range n.Items {
		d.addPlaces(places, -1, item, v.items[i])
	}
	for i, m := range n.Members {
		d.addPlaces(places, d.nameAt(v.members[i].name), m.Value, v.members[i].value)
	}
}

// nameAt is where the name of a member stands; -1 if another file has it.
func (d *Definition) nameAt(name *value) int {
	if name.in.file != d.text.file {
		return -1
	}
	return name.origin()
}

// place is that of a value: v where the definition is a part of what File says.
func (d *Definition) place(name int, n *jsontree.Node, v *value) Place {
	p := Place{Name: name, Literal: true}
	if v == nil {
		p.From, p.To = d.text.origin(n.Offset), d.text.endOrigin(n.End)
		p.Literal = n.Kind >= jsontree.Array || string(d.text.file.bytes[p.From:p.To]) == string(n.Raw())
		return p
	}
	if v.function != nil && (!v.written || v.in.file != d.text.file) {
		v, p.Literal = v.function, false
	}
	if v.in.file != d.text.file { // another file's
		return Place{Name: name}
	}
	p.From, p.To = v.origin(), v.in.endOrigin(v.end())
	written := strings.TrimSpace(string(v.in.file.bytes[p.From:p.To]))
	p.Literal = p.Literal && (v.parts == nil || v.written) && !strings.HasPrefix(written, "&") && (v.kind != jsontree.String || v.text == n.Text) &&
		(v.kind >= jsontree.Array || !v.hasSubstitute())
	return p
}

// hasSubstitute tells whether a scalar of YAML has a value of the user's in it, which
// was put in before it was read.
func (v *value) hasSubstitute() bool {
	if v.in.isFile() {
		return false
	}
	from, to := v.start, min(v.end(), len(v.in.bytes))
	return string(v.in.bytes[from:to]) != string(v.in.file.bytes[v.in.origin(from):v.in.endOrigin(to)])
}

// Root returns the root of Text, which is parsed once. It is not to be changed.
func (d *Definition) Root() (*jsontree.Node, error) {
	if d.tree == nil {
		document, err := jsontree.Parse(d.Text)
		if err != nil {
			return nil, err
		}
		d.tree = document.Root
	}
	return d.tree, nil
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

// nameOf returns the name of the member, or nil.
func (v *value) nameOf(name string) *value {
	for _, m := range v.members {
		if m.name.text == name {
			return m.name
		}
	}
	return nil
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
	if i := t.find(end - 1); i >= 0 && t.spans[i].file == nil && t.spans[i].end > 0 {
		return t.spans[i].end
	}
	last := t.origin(end - 1)
	after := t.file.bytes[min(last, len(t.file.bytes)):]
	_, size := jsontree.Unescape(string(after[:min(len(after), len(`\u0000`))]))
	return min(last+max(size, 1), len(t.file.bytes))
}
