package jmespath

import (
	"slices"
)

// Paths lists what the expression reads: paths of member names that start at
// the value it is evaluated on, such as ["Table", "Status"]. What the value at
// a path contains may be read too. No path starts with another; a single empty
// path means that the whole value is read. A value that is cut down to these
// paths, with what stands on the way to them, gives the same result.
func (e *Expr) Paths() [][]string {
	r := &reader{}
	r.use(r.walk(e.root, origin{known: true}))
	slices.SortFunc(r.paths, slices.Compare)
	var kept [][]string
	for _, path := range r.paths {
		if len(kept) == 0 || !hasPrefix(path, kept[len(kept)-1]) {
			kept = append(kept, path)
		}
	}
	return kept
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// origin says where a value comes from: a path, or what was already counted as
// read.
type origin struct {
	path  []string
	known bool
}

// reader collects the paths that are read.
type reader struct{ paths [][]string }

// use counts a value as read as a whole.
func (r *reader) use(o origin) {
	if o.known {
		r.paths = append(r.paths, o.path)
	}
}

// walk follows an expression on a value from an origin, and returns the origin
// of the result.
func (r *reader) walk(n *Node, in origin) origin {
	switch n.Op {
	case OpCurrent:
		return in
	case OpField:
		if in.known {
			in.path = append(slices.Clone(in.path), n.Name)
		}
		return in
	case OpSub, OpPipe:
		return r.walk(n.Kids[1], r.walk(n.Kids[0], in))
	case OpIndex, OpSlice, OpFlatten, OpValues:
		r.use(r.walk(n.Kids[0], in))
	case OpProject, OpFilter:
		r.use(r.walk(n.Kids[0], in))
		r.use(r.walk(n.Kids[1], origin{}))
	case OpLiteral:
	default:
		for _, kid := range n.Kids {
			if kid.Op == OpRef { // it reads elements of another argument
				r.use(r.walk(kid, origin{}))
			} else {
				r.use(r.walk(kid, in))
			}
		}
	}
	return origin{}
}

// Names are the members that the expression names, one in the other, if that is
// all that it does: ["Table", "TableStatus"].
func (e *Expr) Names() ([]string, bool) { return memberNames(e.root) }

func memberNames(n *Node) ([]string, bool) {
	switch n.Op {
	case OpField:
		return []string{n.Name}, true
	case OpSub:
		left, ok := memberNames(n.Kids[0])
		right, last := memberNames(n.Kids[1])
		return append(left, right...), ok && last
	default:
		return nil, false
	}
}
