package tojsonata

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Argument gives the value for an argument of a call: nothing if it is null or
// an error, and an array always as an array. Where the expression is itself a
// list or an object that it makes, [a, b] or {x: a, y: b}, what is null in that
// and in those of which it is made is left out, since no member of a call's
// arguments may be null. Members of these objects are those of the type s, and
// rename gives the name that a member of the owner has in the call; with a nil s
// names are as they stand.
func (t *Translation) Argument(s *jsontype.Type, rename func(owner *jsontype.Type, name string) string) (string, error) {
	m := maker{rename}
	if v := m.argument(t.tree, path(t.root), s); t.take(v) {
		return v.text, nil
	}
	write := func(x *exact, n *jmespath.Node, in string) string { return m.exact(x, n, in, s) }
	return t.exact(write, "($v := ", "; $v != null ? $v)")
}

// maker makes arguments.
type maker struct {
	rename func(owner *jsontype.Type, name string) string
}

// part is the name in the call of a part of what a node makes, empty in a list,
// and the type of the part.
func (m maker) part(n *jmespath.Node, i int, s *jsontype.Type) (name string, of *jsontype.Type) {
	if s != nil {
		of = s.Elem
	}
	if n.Op == jmespath.OpMultiList {
		return "", of
	}
	if name = n.Names[i]; s != nil && s.Members[name] != nil {
		return m.rename(s, name), s.Members[name]
	}
	return name, of
}

func (m maker) argument(n *jmespath.Node, from term, s *jsontype.Type) term {
	return onlyIf((readable{}).sound(n, from), m.whole(n, from, s))
}

// whole writes a value in the readable form, but an array as an array.
func (m maker) whole(n *jmespath.Node, from term, s *jsontype.Type) term {
	r := readable{}
	switch {
	case n.Op == jmespath.OpMultiList || n.Op == jmespath.OpMultiHash:
		return m.writeParts(n, from, s)
	case n.Out.Only(scalars | jmespath.IsObject), isFlat(n.Out) && isMemberPath(n):
		return r.value(n, from)
	case isFlat(n.Out):
		return onlyIf(r.present(n, from), r.value(n, from).put("[%s]", bindsAll))
	default:
		return term{}
	}
}

// writeParts writes a list or an object of what is not null. A list takes no lists
// but those that are made in it: JSONata puts the elements of others into it.
// Of parts of one name the last counts.
func (m maker) writeParts(n *jmespath.Node, from term, s *jsontype.Type) term {
	var names, parts []string
	for i, kid := range n.Kids {
		name, of := m.part(n, i, s)
		part := m.whole(kid, from, of)
		isList := n.Op == jmespath.OpMultiList
		switch at := slices.Index(names, name); {
		case !part.isKnown(), name == "__proto__", isList && kid.Op != jmespath.OpMultiList && kid.Out.Kinds&jmespath.IsArray != 0:
			return term{}
		case isList:
			parts = append(parts, part.text)
		case at >= 0:
			parts[at] = literal(name) + ": " + part.text
		default:
			names, parts = append(names, name), append(parts, literal(name)+": "+part.text)
		}
	}
	text := strings.Join(parts, ", ")
	if n.Op == jmespath.OpMultiList {
		return atom("[" + text + "]")
	}
	return atom("{" + text + "}")
}

// exact writes the value in the exact form.
func (m maker) exact(x *exact, n *jmespath.Node, in string, s *jsontype.Type) string {
	part := func(i int) (name, value string) {
		name, of := m.part(n, i, s)
		return name, m.exact(x, n.Kids[i], in, of)
	}
	switch n.Op {
	case jmespath.OpMultiList:
		return x.call("project", x.multiSelect(n, in, part), "function($v){ $v }")
	case jmespath.OpMultiHash:
		return x.call("filled", x.multiSelect(n, in, part))
	default:
		return x.value(n, in)
	}
}
