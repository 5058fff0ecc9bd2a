package fix

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// onlyCounts tells whether a Wait or a Pass changes nothing but variables that the loop alone
// reads, its poll excepted: a new loop has its own bound, and needs none of them.
func (l *loop) onlyCounts(s *asl.State) bool {
	if s.Assign == nil || s.Output != nil || s.Type != asl.TypeWait && (s.Type != asl.TypePass || l.changesData(s)) {
		return false
	}
	read, _ := l.readVariable(s)
	return read == ""
}

// readVariable is a variable that a state sets and that the poll reads, or a state behind the loop, and
// which does; empty for none.
func (l *loop) readVariable(s *asl.State) (name, reader string) {
	return l.readOf(l.assigned(s))
}

// readOf is the first of some variables that the poll reads, or a state behind the loop, and which does; empty for
// none.
func (l *loop) readOf(names []string) (name, reader string) {
	for _, name := range names {
		if slices.Contains(l.poll.Variables(), name) {
			return name, l.poll.Name
		}
		if reader := l.readerOf(name); reader != "" {
			return name, reader
		}
	}
	return "", ""
}

// readerOf is a state behind the loop that reads a variable; empty for none.
func (l *loop) readerOf(name string) string {
	return l.readerBehind(
		func(s *asl.State) bool { return reads(s, name) },
		func(s *asl.State) bool { return slices.Contains(l.assigned(s), name) },
	)
}

// readerBehind is a state that reads something and runs behind the loop, before one sets that anew: as
// for another loop that counts in it, too. It is empty if there is none.
func (l *loop) readerBehind(reads, sets func(*asl.State) bool) string {
	seen := map[string]bool{}
	for left := l.waysOut(); len(left) > 0; {
		s := l.flow.State(left[0])
		left = left[1:]
		if s == nil || seen[s.Name] || l.inside[s.Name] {
			continue
		}
		seen[s.Name] = true
		if reads(s) {
			return s.Name
		}
		if s.Choice == nil && len(s.Catch) == 0 && sets(s) {
			continue // the count begins anew
		}
		for _, way := range s.Transitions() {
			left = append(left, way.To)
		}
	}
	return ""
}

// waysOut are the states that the loop leads to, also by the catchers of its poll.
func (l *loop) waysOut() []string {
	var all []string
	for _, s := range l.flow.States {
		if !l.inside[s.Name] {
			continue
		}
		for _, way := range s.Transitions() {
			all = append(all, way.To)
		}
	}
	return all
}

// reads tells whether a state, or one inside of it, reads a variable.
func reads(s *asl.State, name string) bool {
	if slices.Contains(s.Variables(), name) {
		return true
	}
	for _, f := range s.Flows() {
		for inner := range f.All {
			if slices.Contains(inner.Variables(), name) {
				return true
			}
		}
	}
	return false
}

// countsInPoll tells whether the poll makes a variable of itself that nothing reads but this and
// the Choices of the loop: a new loop needs no such count.
func (l *loop) countsInPoll(name string) bool {
	for _, m := range l.node(l.poll).Members {
		if m.Name != "Assign" {
			if readsVariable(m.Value.Raw(), name) {
				return false
			}
			continue
		}
		for _, set := range m.Value.Members {
			if (variableOf(set) == name) != readsVariable(set.Value.Raw(), name) {
				return false
			}
		}
	}
	return l.readerOf(name) == "" && !slices.ContainsFunc(l.states, func(s *asl.State) bool {
		return s != l.poll && s.Choice == nil && slices.Contains(s.Variables(), name)
	})
}

// readerBeside is a state beside the Choices of the loop that reads a variable, in quotes, one behind the loop
// first: the poll if there is no other.
func (l *loop) readerBeside(name string) string {
	if reader := l.readerOf(name); reader != "" {
		return strconv.Quote(reader)
	}
	for s := range l.machine.All {
		isChoice := l.inside[s.Name] && s.Choice != nil && l.flow.State(s.Name) == s
		if s != l.poll && !isChoice && s.Map == nil && s.Parallel == nil && slices.Contains(s.Variables(), name) {
			return strconv.Quote(s.Name)
		}
	}
	return strconv.Quote(l.poll.Name) + " itself"
}

// variableOf is the variable that a member of an Assign sets.
func variableOf(m jsontree.Member) string { return strings.TrimSuffix(m.Name, ".$") }

// assigned are the variables that a state sets.
func (l *loop) assigned(s *asl.State) []string {
	var names []string
	if n := l.node(s).Get("Assign"); n != nil {
		for _, m := range n.Members {
			names = append(names, variableOf(m))
		}
	}
	return names
}

// changesData tells whether a Pass has a field that makes its output another than its input.
func (l *loop) changesData(s *asl.State) bool {
	fields := []string{"OutputPath", "Output"}
	if s.ResultPath != nil { // else its result is dropped
		fields = append(fields, "Result", "Parameters", "InputPath")
	}
	return slices.ContainsFunc(fields, func(field string) bool { return l.node(s).Get(field) != nil })
}

// behindCount is the first state from one on that is no Pass of the loop.
func (l *loop) behindCount(s *asl.State) *asl.State {
	for s != nil && s.Type == asl.TypePass && l.inside[s.Name] {
		s = l.flow.State(s.Next)
	}
	return s
}

// readsCount tells whether the JSON of a rule reads a variable that the loop counts in, or that its poll counts in, or
// a member of the data that a Pass counts in.
func (l *loop) readsCount(rule []byte) bool {
	return slices.ContainsFunc(l.counted(), func(name string) bool { return readsVariable(rule, name) }) ||
		slices.ContainsFunc(l.countedMembers(), func(path string) bool { return readsMember(rule, path) }) ||
		slices.ContainsFunc(l.assigned(l.poll), func(name string) bool { return readsVariable(rule, name) && l.countsInPoll(name) })
}

// counted are the variables that a Wait or a Pass of the loop sets, or a Choice where it polls on.
func (l *loop) counted() []string {
	var names []string
	for _, s := range l.states {
		switch {
		case s.Type == asl.TypeWait || s.Type == asl.TypePass:
			names = append(names, l.assigned(s)...)
		case s.Choice != nil:
			names = append(names, l.setsOnTheWayBack(s)...)
		}
	}
	return names
}

// setsOnTheWayBack are the variables that a Choice sets where it polls on.
func (l *loop) setsOnTheWayBack(s *asl.State) []string {
	var names []string
	add := func(part *jsontree.Node, next string) {
		if assign := part.Get("Assign"); assign != nil && l.inside[next] {
			for _, m := range assign.Members {
				names = append(names, variableOf(m))
			}
		}
	}
	node := l.node(s)
	add(node, s.Choice.Default)
	for i, rule := range node.Get("Choices").Items {
		add(rule, s.Choice.Rules[i].Next)
	}
	return names
}

// onlyCountsBack tells whether a Choice changes nothing where it polls on but variables that the Choices of the loop
// alone read, and nothing where it leaves the loop.
func (l *loop) onlyCountsBack(s *asl.State) bool {
	names := l.setsOnTheWayBack(s)
	if names == nil || s.Output != nil || s.Assign != nil && !l.inside[s.Choice.Default] {
		return false
	}
	if slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool { return r.Output != nil || r.Assign != nil && !l.inside[r.Next] }) {
		return false
	}
	read, _ := l.readOf(names)
	return read == "" && !slices.ContainsFunc(l.states, func(other *asl.State) bool {
		return other.Choice == nil && slices.ContainsFunc(names, func(name string) bool { return reads(other, name) })
	})
}

// readsVariable tells whether the JSON of a part of a state reads a variable.
func readsVariable(raw []byte, name string) bool {
	for _, found := range variable().FindAllSubmatch(raw, -1) {
		if found[0][0] == '$' && string(found[1]) == name {
			return true
		}
	}
	return false
}
