package asl

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// flow reads StartAt and States and checks the graph.
func (p *parser) flow(o *object, f *Flow) {
	outer, around := p.references, p.reading
	defer func() { p.references, p.reading = outer, around }()
	p.references, p.reading = nil, f
	f.StartAt, f.index = o.target("StartAt", true), map[string]*State{}
	o.require("States")
	if n := o.get("States"); n != nil && p.leaveHollow(n, "the states") {
		return
	}
	n := o.ofKind("States", jsontree.Object)
	if n == nil {
		return
	}
	if len(n.Members) == 0 {
		p.add(n.Problem("\"States\" must hold at least one state"))
	}
	for _, m := range n.Members {
		// Of empty names nothing is on record. An empty Next is none here.
		if length := utf8.RuneCountInString(m.Name); length == 0 || length > MaxNameLength {
			p.add(n.MemberProblem(m, "a state name has 1 to %d characters, found %d", MaxNameLength, length))
		}
		if p.names[m.Name] {
			p.add(n.MemberProblem(m, "another state has the name %q too; state names must be unique in the whole state machine", m.Name))
		}
		p.names[m.Name] = true
		s := p.readState(m)
		f.States = append(f.States, s)
		f.index[s.Name] = s
	}
	targets := p.checkTargets(f)
	if p.alone || slices.ContainsFunc(f.States, func(s *State) bool { return s.Type == "" }) {
		return
	}
	if targets && !f.Open {
		p.checkGraph(f, n)
	}
	if f.Open || len(f.States) == 0 || slices.ContainsFunc(f.States, (*State).ends) {
		return
	}
	if f == &p.machine.Flow {
		p.endless = true
		p.add(o.node.Problem("no state ends the state machine: give one \"End\": true, or add a Succeed or Fail state"))
	} else {
		p.warn(n.Problem("no state after %q ends the execution: only an error or a timeout can; give one \"End\": true, or add a Succeed or Fail state", f.StartAt))
	}
}

// checkTargets tells whether all targets are known.
func (p *parser) checkTargets(f *Flow) bool {
	known, names := true, []string(nil)
	for _, n := range p.references {
		if f.index[n.Text] != nil || p.alone && f == &p.machine.Flow {
			continue
		}
		known = false
		if p.placeholder(n, true) {
			f.Open = true
			continue
		}
		if names == nil {
			names = slices.Sorted(maps.Keys(f.index))
		}
		p.add(n.Problem("there is no state %q", n.Text).Suggest(n.Text, names...))
	}
	return known
}

// checkGraph notes the states that no edge leads to.
func (p *parser) checkGraph(f *Flow, states *jsontree.Node) {
	start := f.State(f.StartAt)
	if start == nil {
		return
	}
	reached := map[*State]bool{start: true}
	for queue := []*State{start}; len(queue) > 0; queue = queue[1:] {
		for _, t := range queue[0].Transitions() {
			if s := f.State(t.To); s != nil && !reached[s] {
				reached[s] = true
				queue = append(queue, s)
			}
		}
	}
	for i, s := range f.States {
		if !reached[s] {
			p.unreachable = append(p.unreachable, states.MemberProblem(states.Members[i], "state %q cannot be reached from %q", s.Name, f.StartAt))
		}
	}
}

// ends tells whether the flow can end in the state.
func (s *State) ends() bool { return s.End || s.Type == TypeSucceed || s.Type == TypeFail }
