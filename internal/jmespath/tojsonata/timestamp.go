package tojsonata

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// A timestamp is a number in JMESPath, and a string in a result of Step
// Functions. A translation makes it a number where a member is read that is
// described as one, or as a list of them.

// isTime reports whether the value is described as a timestamp.
func isTime(s *jmespath.Shape) bool {
	declared := s.Type()
	return declared != nil && declared.Timestamp
}

// holdsTime reports whether the value, or what it contains, is described as a
// timestamp.
func holdsTime(s *jmespath.Shape) bool {
	if declared := s.Type(); declared != nil {
		return typeHoldsTime(declared, map[*jsontype.Type]bool{})
	}
	if s.Elem != nil && holdsTime(s.Elem) {
		return true
	}
	for _, m := range s.Members {
		if holdsTime(m) {
			return true
		}
	}
	return false
}

func typeHoldsTime(s *jsontype.Type, seen map[*jsontype.Type]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	if s.Timestamp || typeHoldsTime(s.Elem, seen) {
		return true
	}
	for _, m := range s.Members {
		if typeHoldsTime(m, seen) {
			return true
		}
	}
	return false
}

// mayHideTime reports whether what the value contains is no more known to be
// timestamps, although it may be.
func mayHideTime(s *jmespath.Shape) bool {
	return s.Mixed && s.Kinds&(jmespath.IsArray|jmespath.IsObject) != 0 || s.Elem != nil && mayHideTime(s.Elem)
}

// findTextTime finds a node that takes timestamps as they are in the data, or
// nil.
func findTextTime(n *jmespath.Node) *jmespath.Node {
	if root := n.In; isTime(root) || root.Kinds&jmespath.IsArray != 0 && (isTime(root.Element()) || isGrid(root) && holdsTime(root)) {
		return n
	}
	var found *jmespath.Node
	n.Walk(func(n *jmespath.Node) {
		if found == nil && takesTextTime(n) {
			found = n
		}
	})
	return found
}

// isGrid reports whether the value may be an array of arrays.
func isGrid(s *jmespath.Shape) bool {
	return s.Kinds&jmespath.IsArray != 0 && s.Element().Kinds&jmespath.IsArray != 0
}

func takesTextTime(n *jmespath.Node) bool {
	timed := func(kid *jmespath.Node) bool { return holdsTime(kid.Out) }
	switch n.Op {
	case jmespath.OpField: // arrays of arrays of them
		return isGrid(n.Out) && holdsTime(n.Out)
	case jmespath.OpValues: // a map of them, or a structure with some
		values := n.Out.Element()
		return holdsTime(n.Kids[0].Out) && (isTime(values) || values.Kinds&jmespath.IsArray != 0 && holdsTime(values) || mayHideTime(values))
	case jmespath.OpCompare:
		compound := n.Kids[0].Out.Kinds & n.Kids[1].Out.Kinds & (jmespath.IsArray | jmespath.IsObject)
		return compound != 0 && (n.Order == jmespath.Equal || n.Order == jmespath.NotEqual) && slices.ContainsFunc(n.Kids, timed)
	case jmespath.OpCall:
		if n.Name == "values" || n.Name == "contains" || n.Name == "merge" {
			return slices.ContainsFunc(n.Kids, timed)
		}
		return mayHideTime(n.Out) && slices.ContainsFunc(n.Kids, timed)
	case jmespath.OpOr, jmespath.OpAnd, jmespath.OpMultiList:
		return mayHideTime(n.Out) && slices.ContainsFunc(n.Kids, timed)
	default:
		return false
	}
}
