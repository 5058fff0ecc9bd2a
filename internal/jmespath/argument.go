package jmespath

import (
	"fmt"
	"strings"
)

// Argument gives the value for an argument of a call: as Value, but what is
// null in a list or an object that the expression makes is left out. The
// argument is of the type s, and rename gives the name that a member of the
// owner has in the call.
func (t *Translation) Argument(s *Schema, rename func(owner *Schema, name string) string) (string, error) {
	a := maker{rename: rename}
	if v := a.argument(t.tree, path(t.root), s); v.known() {
		return v.text, nil
	}
	if a.renamed != "" {
		return "", fmt.Errorf("the member %q has another name in the call, which what stands beside it in the expression does not allow", a.renamed)
	}
	return t.Value()
}

// maker makes arguments.
type maker struct {
	rename  func(*Schema, string) string
	renamed string // a member that has another name, empty if none has
}

// name is the name in the call of a member that an expression writes, and the
// type of the member.
func (a *maker) name(owner *Schema, name string) (string, *Schema) {
	if owner == nil || owner.Members[name] == nil {
		if owner != nil {
			return name, owner.Elem
		}
		return name, nil
	}
	renamed := a.rename(owner, name)
	if renamed != name {
		a.renamed = name
	}
	return renamed, owner.Members[name]
}

func (a *maker) argument(n *checked, from term, s *Schema) term {
	open, shut := "[", "]"
	switch n.op {
	case opMultiList:
	case opMultiHash:
		open, shut = "{", "}"
	default:
		v := (readable{}).result(n, from)
		if n.out.flat() && !n.steps() {
			return v.put("[%s]", bindsAll) // a sequence of one element is that element
		}
		return v
	}
	parts := make([]string, len(n.kids))
	for i, kid := range n.kids {
		name, of := "", (*Schema)(nil)
		if n.op == opMultiHash {
			name, of = a.name(s, n.names[i])
		} else if s != nil {
			of = s.Elem
		}
		part := a.argument(kid, from, of)
		if !part.known() || n.op == opMultiList && kid.out.kinds&isArray != 0 && kid.op != opMultiList {
			return term{} // JSONata would put the elements of one list into the other
		}
		if parts[i] = part.text; n.op == opMultiHash {
			parts[i] = literal(name) + ": " + part.text
		}
	}
	return atom(open + strings.Join(parts, ", ") + shut)
}
