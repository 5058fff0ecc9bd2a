package fix

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// beginAs gives variables what the states before the loop set them to, where the definition has the value or
// it follows from the time alone: a drawn count may be the last, a drawn list of delays too short, and a drawn
// deadline be over.
func (l *loop) beginAs(variables object) {
	for _, assign := range l.assignsBefore() {
		for _, m := range assign.Members {
			if value := beginning(m); value != nil {
				variables[variableOf(m)] = value
			}
		}
	}
}

// typeEntries types the data and the variables that the loop begins with, for each way to it.
func (l *loop) typeEntries(o Options) error {
	types, err := typecheck.New(l.machine, typecheck.Options{Models: o.Models})
	if err != nil {
		return err
	}
	first := l.begins()
	for _, s := range l.flow.States {
		if l.inside[s.Name] {
			continue
		}
		for _, way := range types.Step(s, types.Input(s), types.Result(s)) {
			if way.To == first.Name {
				l.known = append(l.known, way.Env)
			}
		}
	}
	if l.known == nil || l.flow.StartAt == first.Name {
		l.known = append(l.known, types.Entry(l.flow))
	}
	return nil
}

// beginsAsNumber tells whether each way to the loop gives a value that is one number.
func (l *loop) beginsAsNumber(value func(typecheck.Env) typecheck.Value) bool {
	return !slices.ContainsFunc(l.known, func(env typecheck.Env) bool {
		constant, _ := value(env).Constant()
		_, isNumber := constant.(json.Number)
		return !isNumber
	})
}

// inputMember finds a member of data, such as "count.polls".
func inputMember(names []string) func(typecheck.Env) typecheck.Value {
	return func(env typecheck.Env) typecheck.Value {
		value := env.Input
		for _, name := range names {
			value = value.Member(name)
		}
		return value
	}
}

// settle puts what is known of a value into one that was drawn for it.
func settle(drawn any, v typecheck.Value) any {
	if members, ok := drawn.(object); ok {
		for name, member := range members {
			members[name] = settle(member, v.Member(name))
		}
		return drawn
	}
	if value, ok := v.Constant(); ok {
		return value
	}
	return drawn
}

// beginning is the value that an Assign gives a variable, as a state in JSONata writes it; nil
// if it is neither a literal nor computed from the time alone.
func beginning(m jsontree.Member) any {
	if m.Name == variableOf(m) && isLiteral(m.Value) {
		var value any
		if json.Unmarshal(m.Value.Raw(), &value) == nil {
			return value
		}
	}
	text := m.Value.Text
	if path, ok := strings.CutPrefix(text, "$$."); ok && m.Name != variableOf(m) {
		text = expression("$states.context." + path)
	}
	if inner, ok := unwrap(text); ok && lint.ReadsTime(inner) && !strings.Contains(clockNames().ReplaceAllString(inner, ""), "$") {
		return text
	}
	return nil
}

// isLiteral tells whether no part of a value is computed in either query language.
func isLiteral(n *jsontree.Node) bool {
	_, computed := unwrap(n.Text)
	return !computed && !slices.ContainsFunc(n.Items, func(item *jsontree.Node) bool { return !isLiteral(item) }) &&
		!slices.ContainsFunc(n.Members, func(m jsontree.Member) bool { return m.Name != variableOf(m) || !isLiteral(m.Value) })
}

// clockNames are all names of an expression that follows from the time alone.
var clockNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:millis|now|toMillis|fromMillis|number|string|floor|ceil|round)\(` +
		`|\$states\.context\.(?:State\.EnteredTime|Execution\.StartTime)\b`)
})

// assignsBefore are the Assigns on the ways to the loop: of states, of rules and of catchers.
func (l *loop) assignsBefore() []*jsontree.Node {
	var all []*jsontree.Node
	for s := range l.machine.All {
		if !l.isBefore(s) {
			continue
		}
		node := l.node(s)
		for _, n := range partsThatAssign(node) {
			if assign := n.Get("Assign"); assign != nil && (n == node || l.leadsHere(s, n.Get("Next"))) {
				all = append(all, assign)
			}
		}
	}
	return all
}

// partsThatAssign are the parts of a state that may have an Assign: itself, its rules and its catchers.
func partsThatAssign(state *jsontree.Node) []*jsontree.Node {
	all := []*jsontree.Node{state}
	for _, field := range []string{"Choices", "Catch"} {
		if list := state.Get(field); list != nil {
			all = append(all, list.Items...)
		}
	}
	return all
}

// leadsHere tells whether the target of a way from a state is the loop, or leads to it.
func (l *loop) leadsHere(from *asl.State, target *jsontree.Node) bool {
	if target == nil {
		return false
	}
	for _, f := range l.findFlows() {
		if f.State(from.Name) == from {
			to := f.State(target.Text)
			return to != nil && (l.inside[to.Name] || f.Holder(l.poll) == to || l.isBefore(to))
		}
	}
	return false
}

// isBefore tells whether a state leads to the loop, from its flow or from one around it.
func (l *loop) isBefore(s *asl.State) bool {
	if l.staysIn(s.Name) {
		return false
	}
	for _, f := range l.findFlows() {
		to := f.Holder(l.poll)
		if f == l.flow {
			to = l.begins()
		}
		if f.State(s.Name) == s && f.Leads(s, to) {
			return true
		}
	}
	return false
}
