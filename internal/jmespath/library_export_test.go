package jmespath

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// AsLibrary is the expression as the community library, jmespath.py and
// go-jmespath group it, and whether that is another way than ours. Behind a
// dot, "*" projects with the power of the dot there, so that "a.*.b.c" is
// "(a.*.b).c". Smithy's parser and ours give it the power of a "*" that starts
// an expression (software.amazon.smithy.jmespath.Parser: parseWildcardObject
// calls parseProjectionRhs with STAR.lbp for both).
func (e *Expr) AsLibrary() (*Expr, bool) {
	root, changed := regroup(e.root)
	return &Expr{text: e.text, root: root}, changed
}

// regroup copies a tree. A projection gives up the steps of its right side
// from the first that binds no more strongly than it does.
func regroup(n *Node) (_ *Node, changed bool) {
	copied := *n
	copied.Kids = slices.Clone(n.Kids)
	for i, kid := range n.Kids {
		var other bool
		copied.Kids[i], other = regroup(kid)
		changed = changed || other
	}
	if n.Op != OpProject {
		return &copied, changed
	}
	own := power[tokStar]
	switch source := n.Kids[0]; {
	case source.Op == OpValues && !starts(source):
		own = power[tokDot]
	case source.Op == OpFilter:
		own = power[tokFilter]
	}
	var first **Node // what the innermost step that is given up is taken on
	for left, binds := operand(copied.Kids[1]); left != nil; left, binds = operand(*left) {
		if binds <= own {
			first = left
		}
	}
	if first == nil {
		return &copied, changed
	}
	whole := copied.Kids[1]
	copied.Kids[1], *first = *first, &copied
	return whole, true
}

// starts reports whether a source has no left side in the text.
func starts(source *Node) bool {
	left := source.Kids[0]
	return left.Op == OpCurrent && left.Offset == source.Offset
}

// operand is the left side of a step, and how strongly the step binds it; nil
// for what starts an expression.
func operand(n *Node) (left **Node, binds int) {
	switch n.Op {
	case OpSub:
		return &n.Kids[0], power[tokDot]
	case OpIndex:
		return &n.Kids[0], power[tokOpen]
	case OpProject:
	default:
		return nil, 0
	}
	source := n.Kids[0]
	switch {
	case !isSource(source.Op):
		return &n.Kids[0], power[tokOpen]
	case starts(source):
		return nil, 0
	case source.Op == OpValues:
		return &source.Kids[0], power[tokDot]
	case source.Op == OpFilter:
		return &source.Kids[0], power[tokFilter]
	case source.Op == OpSlice:
		return &source.Kids[0], power[tokOpen]
	default: // opFlatten, which never stands in the right side of a projection
		return nil, 0
	}
}

// Unordered reports whether the expression makes a list of the members of an
// object, which have no order.
func (e *Expr) Unordered() bool {
	return e.root.has(func(n *Node) bool {
		return n.Op == OpValues || n.Op == OpCall && (n.Name == "keys" || n.Name == "values")
	})
}

// InSource reports whether an evaluation that fails with err does so in the
// source of a filter, a flattening or a value projection.
func (e *Expr) InSource(err *Error) bool {
	failed := func(n *Node) bool {
		return n.Op == OpCall && !n.fn.total && slices.ContainsFunc(n.Kids, func(kid *Node) bool {
			place := diag.At([]byte(e.text), kid.Offset, "", "")
			return place.Line == err.Problems[0].Line && place.Column == err.Problems[0].Column
		})
	}
	return e.root.has(func(n *Node) bool {
		return (n.Op == OpFilter || n.Op == OpFlatten || n.Op == OpValues) && n.Kids[0].has(failed)
	})
}

// has reports whether a node of the tree is one of those looked for.
func (n *Node) has(is func(*Node) bool) bool {
	return is(n) || slices.ContainsFunc(n.Kids, func(kid *Node) bool { return kid.has(is) })
}
