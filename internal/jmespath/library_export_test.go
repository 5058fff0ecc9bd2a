package jmespath

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/diag"
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
func regroup(n *node) (_ *node, changed bool) {
	copied := *n
	copied.kids = slices.Clone(n.kids)
	for i, kid := range n.kids {
		var other bool
		copied.kids[i], other = regroup(kid)
		changed = changed || other
	}
	if n.op != opProject {
		return &copied, changed
	}
	own := power[tokStar]
	switch source := n.kids[0]; {
	case source.op == opValues && !starts(source):
		own = power[tokDot]
	case source.op == opFilter:
		own = power[tokFilter]
	}
	var first **node // what the innermost step that is given up is taken on
	for left, binds := operand(copied.kids[1]); left != nil; left, binds = operand(*left) {
		if binds <= own {
			first = left
		}
	}
	if first == nil {
		return &copied, changed
	}
	whole := copied.kids[1]
	copied.kids[1], *first = *first, &copied
	return whole, true
}

// starts reports whether a source has no left side in the text.
func starts(source *node) bool {
	left := source.kids[0]
	return left.op == opCurrent && left.at == source.at
}

// operand is the left side of a step, and how strongly the step binds it; nil
// for what starts an expression.
func operand(n *node) (left **node, binds int) {
	switch n.op {
	case opSub:
		return &n.kids[0], power[tokDot]
	case opIndex:
		return &n.kids[0], power[tokOpen]
	case opProject:
	default:
		return nil, 0
	}
	source := n.kids[0]
	switch {
	case !isSource(source.op):
		return &n.kids[0], power[tokOpen]
	case starts(source):
		return nil, 0
	case source.op == opValues:
		return &source.kids[0], power[tokDot]
	case source.op == opFilter:
		return &source.kids[0], power[tokFilter]
	case source.op == opSlice:
		return &source.kids[0], power[tokOpen]
	default: // opFlatten, which never stands in the right side of a projection
		return nil, 0
	}
}

// Unordered reports whether the expression makes a list of the members of an
// object, which have no order.
func (e *Expr) Unordered() bool {
	return e.root.has(func(n *node) bool {
		return n.op == opValues || n.op == opCall && (n.name == "keys" || n.name == "values")
	})
}

// InSource reports whether an evaluation that fails with err does so in the
// source of a filter, a flattening or a value projection.
func (e *Expr) InSource(err *Error) bool {
	failed := func(n *node) bool {
		return n.op == opCall && !n.fn.total && slices.ContainsFunc(n.kids, func(kid *node) bool {
			place := diag.At([]byte(e.text), kid.at, "", "")
			return place.Line == err.Problems[0].Line && place.Column == err.Problems[0].Column
		})
	}
	return e.root.has(func(n *node) bool {
		return (n.op == opFilter || n.op == opFlatten || n.op == opValues) && n.kids[0].has(failed)
	})
}

// has reports whether a node of the tree is one of those looked for.
func (n *node) has(is func(*node) bool) bool {
	return is(n) || slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.has(is) })
}
