package fix

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// onlyCounts tells whether a Wait or a Pass changes nothing but variables that the loop alone
// reads, its poll excepted: a new loop has its own bound, and needs none of them.
func (l *loop) onlyCounts(s *asl.State) bool {
	if s.Assign == nil || s.Output != nil || s.Type != asl.TypeWait && (s.Type != asl.TypePass || l.changesData(s)) {
		return false
	}
	return !slices.ContainsFunc(l.assigned(s), func(name string) bool {
		for other := range l.machine.All {
			if (!l.inside[other.Name] || other == l.poll) && slices.Contains(other.Variables(), name) {
				return true
			}
		}
		return false
	})
}

// assigned are the variables that a state sets.
func (l *loop) assigned(s *asl.State) []string {
	var names []string
	if n := l.node(s).Get("Assign"); n != nil {
		for _, m := range n.Members {
			names = append(names, strings.TrimSuffix(m.Name, ".$"))
		}
	}
	return names
}

// changesData tells whether a Pass has a field that makes its output another than its input.
func (l *loop) changesData(s *asl.State) bool {
	return slices.ContainsFunc([]string{"Result", "Parameters", "InputPath", "OutputPath", "Output"}, func(field string) bool {
		return l.node(s).Get(field) != nil
	})
}

// behindCount is the first state from one on that is no Pass of the loop.
func (l *loop) behindCount(s *asl.State) *asl.State {
	for s != nil && s.Type == asl.TypePass && l.inside[s.Name] {
		s = l.flow.State(s.Next)
	}
	return s
}

// startCounts gives the variables that the loop sets the numbers that the states before it give
// them: a drawn one may be the last.
func (l *loop) startCounts(variables object) {
	counted := l.assignedBy(asl.TypeWait, asl.TypePass, asl.TypeTask)
	for s := range l.machine.All {
		assign := l.node(s).Get("Assign")
		if assign == nil || !l.isBefore(s) {
			continue
		}
		for _, m := range assign.Members {
			var first *float64
			if slices.Contains(counted, m.Name) && json.Unmarshal(m.Value.Raw(), &first) == nil && first != nil {
				variables[m.Name] = *first
			}
		}
	}
}

// isBefore tells whether a state leads to the loop, from its flow or from one around it.
func (l *loop) isBefore(s *asl.State) bool {
	if l.inside[s.Name] {
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

// readsCount tells whether the JSON of a rule reads a variable that a Wait or a Pass of the loop
// sets.
func (l *loop) readsCount(rule []byte) bool {
	return slices.ContainsFunc(l.assignedBy(asl.TypeWait, asl.TypePass), func(name string) bool { return readsVariable(rule, name) })
}

// assignedBy are the variables that states of some types set in the loop.
func (l *loop) assignedBy(types ...asl.Type) []string {
	var names []string
	for _, s := range l.states {
		if slices.Contains(types, s.Type) {
			names = append(names, l.assigned(s)...)
		}
	}
	return names
}
