package asl

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// reservedVariable is the variable that JSONata expressions read the state's
// data from.
const reservedVariable = "states"

// scope holds the variables of a flow. Those of the flow around it can be read
// in it, unless it is isolated, but not written.
type scope struct {
	outer    *scope
	isolated bool
	inner    []*scope
	assigned map[string]bool
	writes   []variableUse
	reads    []variableUse
}

// variableUse is a place where a variable is written or read.
type variableUse struct {
	name   string
	node   *jsontree.Node
	member *jsontree.Member // of the object node, for a write
	offset int              // in the text of the node, for a read
}

func newScope(outer *scope) *scope {
	s := &scope{outer: outer, assigned: map[string]bool{}}
	if outer != nil {
		outer.inner = append(outer.inner, s)
	}
	return s
}

// define keeps a variable that a member of Assign sets.
func (p *parser) define(n *jsontree.Node, m jsontree.Member, name string) {
	switch {
	case name == reservedVariable:
		p.add(n.MemberProblem(m, "the name \"states\" is reserved: \"$states\" holds the state's input and result"))
		return
	case !isVariableName(name):
		p.add(n.MemberProblem(m, "%q is not the name of a variable: it must start with a letter, followed by letters, digits and \"_\", "+
			"at most %d characters", name, MaxNameLength))
		return
	}
	p.scope.assigned[name] = true
	p.scope.writes = append(p.scope.writes, variableUse{name: name, node: n, member: &m})
}

// isVariableName tells whether a name is an identifier of Unicode's annex 31, as
// the specification of the language has it.
func isVariableName(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > MaxNameLength {
		return false
	}
	for i, r := range name {
		if !unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) &&
			(i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return true
}

// use keeps a variable that the value reads; an empty name is none.
func (p *parser) use(n *jsontree.Node, name string) {
	if name != "" {
		p.keep(variableUse{name: name, node: n})
	}
}

func (p *parser) keep(u variableUse) {
	p.scope.reads = append(p.scope.reads, u)
	if p.state != nil {
		p.state.variables[u.name] = true
	}
}

// useIn keeps a variable that an expression reads at an offset of the text.
func (p *parser) useIn(n *jsontree.Node, r jsonata.Reference, offset int) {
	if r.Name != reservedVariable {
		p.keep(variableUse{name: r.Name, node: n, offset: offset})
		return
	}
	there := []string{"input", "context"}
	if p.extra != "" {
		there = append(there, p.extra)
	}
	if len(r.Path) == 0 || slices.Contains(there, r.Path[0]) {
		return
	}
	problem := p.within(n, offset, "\"$states.%s\" has no value here; use one of $states.%s", r.Path[0], strings.Join(there, ", $states."))
	if elsewhere := []string{"result", "errorOutput"}; !slices.Contains(elsewhere, r.Path[0]) {
		problem.Severity = diag.Warning // AWS's answer to another member is not known
	}
	p.add(problem.Suggest(r.Path[0], there...))
}

// checkVariables reports variables that nothing assigns, and those that an
// inner flow assigns though they are the outer one's. AWS takes a definition
// that reads an unknown variable, and fails when it gets there.
func (p *parser) checkVariables(s *scope) {
	visible := map[string]bool{}
	for at := s; at != nil; at = at.outer {
		maps.Copy(visible, at.assigned)
		if at.isolated {
			break
		}
	}
	names := slices.Sorted(maps.Keys(visible))
	for _, r := range s.reads {
		if visible[r.name] {
			continue
		}
		problem := p.within(r.node, r.offset, "no state assigns the variable %q, here or in an outer flow", "$"+r.name)
		if len(p.problems) <= diag.MaxShown {
			problem = problem.Suggest(r.name, names...)
		}
		p.warn(problem)
	}
	for _, w := range s.writes {
		if s.outer != nil && !s.isolated && s.outer.sees(w.name) {
			p.add(w.node.MemberProblem(*w.member, "an outer flow has the variable %q, which is read-only here; use another name", w.name))
		}
	}
	for _, inner := range s.inner {
		p.checkVariables(inner)
	}
}

// sees tells whether a variable is assigned in the scope or around it.
func (s *scope) sees(name string) bool {
	for at := s; at != nil; at = at.outer {
		if at.assigned[name] {
			return true
		}
		if at.isolated {
			return false
		}
	}
	return false
}
