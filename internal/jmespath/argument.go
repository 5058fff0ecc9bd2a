package jmespath

import "strings"

// Argument gives the value for an argument of a call: as Value, but what is
// null in a list or an object that the expression makes is left out.
func (t *Translation) Argument() (string, error) {
	if v := argument(t.tree, path(t.root)); v.known() {
		return v.text, nil
	}
	return t.Value()
}

func argument(n *checked, from term) term {
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
		part := argument(kid, from)
		if !part.known() || n.op == opMultiList && kid.out.kinds&isArray != 0 && kid.op != opMultiList {
			return term{} // JSONata would put the elements of one list into the other
		}
		if parts[i] = part.text; n.op == opMultiHash {
			parts[i] = literal(n.names[i]) + ": " + part.text
		}
	}
	return atom(open + strings.Join(parts, ", ") + shut)
}
