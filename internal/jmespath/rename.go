package jmespath

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Rename returns the expression for data in which the members of structures
// have other names: rename gives the name that a member of the owner has there.
// On such data the new expression reads what this one reads on the old.
//
// Only names of described data change, and names below a nil Type, of which
// nothing else is known; for those the owner is nil. The keys of maps, the
// members of documents, literals and the names that a multi-select hash gives,
// with those that read them, stay as they are.
//
// It is an *[Error], of the code [AmbiguousName], if the names cannot be
// changed without another change: a name that is read both from a structure and
// from what keeps its names, two members that would have one name, a function
// or a comparison that looks at the names themselves. Two things are not
// looked for: the order of the values that a wildcard or values() gives, which
// follows the names here and is open in JMESPath; and to_string() of an object
// below a nil Type.
func (e *Expr) Rename(s *jsontype.Type, rename func(owner *jsontype.Type, name string) string) (*Expr, error) {
	root, _ := e.check(rootShape(s))
	r := &renamer{text: e.text, rename: rename, names: map[int]string{}}
	root.Walk(func(n *Node) {
		switch n.Op {
		case OpField:
			r.field(n)
		case OpCompare:
			r.comparison(n.Offset, n.Order.String(), n.Kids[0].Out, n.Kids[1].Out)
		case OpCall:
			r.call(n)
		default:
		}
	})
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b diag.Problem) int {
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		})
		return nil, &Error{Code: AmbiguousName, Problems: r.problems}
	}
	return Parse(r.write())
}

// renamer finds the new names of an expression.
type renamer struct {
	text     string
	rename   func(*jsontype.Type, string) string
	names    map[int]string // that change, by their offset
	problems diag.Problems
}

func (r *renamer) refuse(at int, format string, args ...any) {
	r.problems = append(r.problems, diag.At([]byte(r.text), at, "", fmt.Sprintf(format, args...)))
}

// write is the text with the new names. All else stands as it was written.
func (r *renamer) write() string {
	var b strings.Builder
	end := 0
	for _, at := range slices.Sorted(maps.Keys(r.names)) {
		b.WriteString(r.text[end:at])
		b.WriteString(identifier(r.names[at]))
		l := lexer{text: r.text, pos: at}
		l.next()
		end = l.pos
	}
	return b.String() + r.text[end:]
}

// identifier is the text of a name, in quotes if it needs them.
func identifier(name string) string {
	plain := name != "" && isName(name[0], true)
	for i := range len(name) {
		plain = plain && isName(name[i], false)
	}
	if plain {
		return name
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(name) // a string always has a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// field finds the new name of a member that is read.
func (r *renamer) field(n *Node) {
	name := n.Name
	var names, from []string
	add := func(name, owner string) {
		if !slices.Contains(names, name) {
			names, from = append(names, name), append(from, owner)
		}
	}
	if n.In.provenance().made || n.In.provenance().lost {
		add(name, "an object made here")
	}
	if n.In.provenance().lost {
		add(r.rename(nil, name), "a structure")
	}
	for _, p := range n.In.provenance().places {
		switch {
		case p.typ == nil:
			add(r.rename(nil, name), "the data")
		case p.typ.IsStruct():
			add(r.member(n, p.typ), owner(p.typ, "a structure"))
		case p.typ.IsMap():
			add(name, owner(p.typ, "a map"))
		case p.kind() == jsontype.Unknown:
			add(name, owner(p.typ, "a document"))
		}
	}
	if len(names) == 0 { // what it is read from has no members, so any name does
		add(r.rename(nil, name), "")
	}
	switch {
	case len(names) > 1:
		r.refuse(n.Offset, "%q has no one new name: in %s it is %q, and in %s it is %q", name, from[0], names[0], from[1], names[1])
	case names[0] != name:
		if !utf8.ValidString(names[0]) {
			r.refuse(n.Offset, "the new name of %q must be UTF-8, got %q", name, names[0])
		}
		r.names[n.Offset] = names[0]
	}
}

// owner names a type in a message.
func owner(s *jsontype.Type, unnamed string) string {
	if s.Name == "" {
		return unnamed
	}
	return s.Name
}

// member is the new name of a structure's member, which no other may get.
func (r *renamer) member(n *Node, s *jsontype.Type) string {
	name := r.rename(s, n.Name)
	for _, other := range slices.Sorted(maps.Keys(s.Members)) {
		if other != n.Name && s.Members[n.Name] != nil && r.rename(s, other) == name {
			r.refuse(n.Offset, "%q and %q of %s would both be %q", n.Name, other, owner(s, "a structure"), name)
		}
	}
	return name
}

// call refuses functions that look at names.
func (r *renamer) call(n *Node) {
	arg := func(i int) *Shape { return n.Kids[i].Out }
	switch n.Name {
	case "keys":
		if r.changes(arg(0), names{top: true, open: true}) {
			r.refuse(n.Offset, "keys() would give other names, since those of %s change", arg(0))
		}
	case "to_string":
		if r.changes(arg(0), names{}) {
			r.refuse(n.Offset, "to_string() would give other names, since those in %s change", arg(0))
		}
	case "contains":
		r.comparison(n.Offset, "contains()", arg(0).Element(), arg(1))
	case "merge":
		var changes, keeps bool
		for i := range n.Kids {
			changes = changes || r.changes(arg(i), names{top: true, open: true})
			keeps = keeps || keepsNames(arg(i), names{top: true})
		}
		if changes && keeps {
			r.refuse(n.Offset, "merge() would join other members, since the names of some arguments change and those of others do not")
		}
	}
}

// comparison refuses to compare objects of which one gets other names and one
// does not.
func (r *renamer) comparison(at int, what string, a, b *Shape) {
	if a.Kinds&b.Kinds&(IsObject|IsArray) == 0 || a.typ != nil && b.typ != nil && a.typ.Equal(b.typ) {
		return
	}
	if all := (names{open: true}); r.changes(a, all) && keepsNames(b, all) || r.changes(b, all) && keepsNames(a, all) {
		r.refuse(at, "%s would compare other names: those of one side change, and those of the other do not", what)
	}
}

// names says which names to look for in a shape.
type names struct {
	top  bool // those of the object itself, not those of objects in it
	open bool // those of what is not described, if it is an object
}

// changes reports whether names of the values change.
func (r *renamer) changes(s *Shape, which names) bool {
	return which.in(s, func(s *Shape) bool { return s.provenance().lost && which.open }, func(s *jsontype.Type) bool {
		if s == nil {
			return which.open
		}
		return s.IsStruct() && slices.ContainsFunc(slices.Sorted(maps.Keys(s.Members)), func(name string) bool { return r.rename(s, name) != name })
	})
}

// keepsNames reports whether the values have names that do not change.
func keepsNames(s *Shape, which names) bool {
	made := func(s *Shape) bool {
		return s.provenance().lost || s.provenance().made && (s.Members == nil || len(s.Members) > 0)
	}
	return which.in(s, made, func(s *jsontype.Type) bool { return s != nil && (s.IsMap() || s.Kind >= jsontype.Unknown) })
}

// in reports whether a shape in the values is such a one, or a type is.
func (which names) in(s *Shape, is func(*Shape) bool, has func(*jsontype.Type) bool) bool {
	return (&search{which.top, is, has, map[*Shape]bool{}, map[*jsontype.Type]bool{}}).shape(s)
}

// search looks for a shape or a type in others, at each once: they can share
// parts, and types can contain themselves.
type search struct {
	top    bool
	is     func(*Shape) bool
	has    func(*jsontype.Type) bool
	shapes map[*Shape]bool
	types  map[*jsontype.Type]bool
}

func (f *search) shape(s *Shape) bool {
	if s == nil || f.shapes[s] || s.Kinds&(IsObject|IsArray) == 0 {
		return false
	}
	f.shapes[s] = true
	if f.is(s) || slices.ContainsFunc(s.provenance().places, func(p *place) bool { return f.typ(p.typ) }) {
		return true
	}
	if f.top {
		return false
	}
	for _, m := range s.Members {
		if f.shape(m) {
			return true
		}
	}
	return f.shape(s.Elem)
}

func (f *search) typ(s *jsontype.Type) bool {
	if f.types[s] {
		return false
	}
	if f.types[s] = true; f.has(s) {
		return true
	}
	if s == nil || f.top {
		return false
	}
	switch s.Kind {
	case jsontype.Array:
		return f.typ(s.Elem)
	case jsontype.Object:
		if s.IsMap() {
			return f.typ(s.Elem)
		}
		for _, m := range s.Members {
			if f.typ(m) {
				return true
			}
		}
	default:
	}
	return false
}
