package jmespath

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Reading is what an expression reads of a value and what it gives.
type Reading struct {
	// Type is the static type of the result.
	Type *jsontype.Type
	// Findings are what is wrong, in the order of the text; see [Expr.Compile].
	Findings diag.Problems
	// Members are the members that the expression names, in the order of the
	// text. Not among them are members of objects that the expression makes
	// itself, those that a wildcard or a function takes without naming them,
	// and names that a structure does not have. A name that is read from the
	// values of more than 64 places is listed for the first 64.
	Members []Member
}

// Member is a member that an expression names.
type Member struct {
	// Path leads to the member from the value that the expression is evaluated
	// on. A step is a name, "[]" for all elements of an array or "*" for all
	// values of a map. It does not say which elements a filter leaves.
	Path []string
	// Owner describes the object that has the member, or is nil.
	Owner *jsontype.Type
	// Type describes the member, or is nil below a nil Type.
	Type *jsontype.Type
	// Offset is the byte offset of the name in the expression.
	Offset int
}

// String is the path, such as "Services[].Deployments.*.Status".
func (m Member) String() string {
	var b strings.Builder
	for i, step := range m.Path {
		if i > 0 && step != eachElement {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// Check checks the expression on a described value, as [Expr.Compile] does on
// a Go type, and says what it reads. Names must be spelled exactly as in the
// type.
func (e *Expr) Check(s *jsontype.Type) Reading {
	root, findings := e.check(rootShape(s))
	r := Reading{Type: root.Out.result(), Findings: findings}
	root.Walk(func(n *Node) {
		if n.Op != OpField {
			return
		}
		for _, p := range n.In.provenance().places {
			for _, member := range p.member(n.Name) {
				r.Members = append(r.Members, Member{Path: member.path(), Owner: p.typ, Type: member.typ, Offset: n.Offset})
			}
		}
	})
	slices.SortStableFunc(r.Members, func(a, b Member) int { return a.Offset - b.Offset })
	return r
}
