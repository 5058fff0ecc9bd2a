package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// sayLost says why a count that a Choice of a loop compares never grows from turn to turn, though the loop adds to it; empty
// if that is not so.
func (b *bounds) sayLost(open *loop) (idle, advice string) {
	for _, choice := range open.states {
		for _, way := range choice.Transitions() {
			if way.Kind != asl.TransitionRule || choice.Choice == nil || !b.limits[choice][way] {
				continue
			}
			for _, o := range operandsOfRule(&choice.Choice.Rules[way.Rule]) {
				if !b.counters[lastName(o.String())] {
					continue
				}
				if idle, advice = open.sayCountLost(choice, o); idle != "" {
					return idle, advice
				}
			}
		}
	}
	return "", ""
}

// sayCountLost says which state of a loop loses what a Choice compares; empty if none does.
func (l *loop) sayCountLost(choice *asl.State, count operand) (idle, advice string) {
	name := count.String()
	if choice.QueryLanguage == asl.JSONata {
		name = count.inJSONata()
	}
	if s := l.findSetter(count); s != nil {
		return fmt.Sprintf("%q sets %s anew in each turn", s.Name, name), "set it in front of the loop alone"
	}
	if s := l.findDefaultAdder(count); s != nil {
		return fmt.Sprintf("the \"Assign\" of %q sets %s only with its Default, which leaves the loop", s.Name, name),
			"count in the \"Assign\" of each rule that polls on, or of another state of the loop"
	}
	return "", ""
}

// findSetter finds a state that each turn comes to, and that gives a constant to an operand on each way in the
// loop; nil if there is none.
func (l *loop) findSetter(o operand) *asl.State {
	for _, s := range l.states {
		sets := slices.DeleteFunc(l.hopsOf(s), func(h hop) bool {
			f := h.origin(o)
			return len(f.operands) > 0 || f.call || strings.Contains(f.text, "error") || strings.Contains(f.text, "result of ")
		})
		without := func(from *asl.State, way asl.Transition) bool { return from != s && l.taken(from, way) }
		if len(sets) > 0 && len(sets) == len(l.hopsOf(s)) && len(loops(l.flow, l.states, without)) == 0 {
			return s
		}
	}
	return nil
}

// findDefaultAdder finds the Choice whose Default leaves the loop, and alone has what adds to an operand; nil if there
// is none, or if another state gives it a value.
func (l *loop) findDefaultAdder(o operand) *asl.State {
	var adder *asl.State
	for _, s := range l.states {
		if slices.ContainsFunc(l.hopsOf(s), func(h hop) bool { f := h.origin(o); return !f.copies || f.operands[0].String() != o.String() }) {
			return nil
		}
		if s.Choice != nil && s.Choice.Default != "" && !l.inside[s.Choice.Default] && memberOf(s.Assign, o.variable) != nil {
			adder = s
		}
	}
	return adder
}

// hopsOf are the ways of a state that stay in the loop.
func (l *loop) hopsOf(s *asl.State) []hop {
	var all []hop
	for _, way := range s.Transitions() {
		if l.inside[way.To] && l.taken(s, way) {
			all = append(all, hop{s, way})
		}
	}
	return all
}
