package fix

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
)

// findInside finds the states of the loop: those of its turn, and those on other ways back.
// One that starts the job anew is none, nor one behind which the loop polls another job.
func (b *boundEdit) findInside() {
	b.inside = map[string]bool{}
	for _, name := range b.loop.Turn.States {
		b.inside[name] = true
	}
	if b.loop.Poll == nil {
		return
	}
	b.asked = b.askedBy(b.loop.Poll)
	if slices.Contains(b.loop.States, b.loop.Start) {
		return
	}
	for _, s := range b.loop.States {
		if s == b.loop.Poll || !b.asked.setBehind(s, b.root) {
			b.inside[s.Name] = true
		}
	}
}

// turnsWithout tells whether some way around the loop does not go through a state.
func (b *boundEdit) turnsWithout(name string) bool {
	left := slices.DeleteFunc(slices.Clone(b.loop.Flow.States), func(s *asl.State) bool { return !b.inside[s.Name] || s.Name == name })
	for n := -1; n != len(left); {
		n = len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(s *asl.State) bool {
			return !slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool {
				return b.turns(s, way) && slices.Contains(left, b.loop.Flow.State(way.To))
			})
		})
	}
	return len(left) > 0
}

// judges tells whether each way around the loop goes through a Choice, and on to one state.
func (b *boundEdit) judges(s *asl.State) bool {
	to := map[string]bool{}
	for _, way := range s.Transitions() {
		if b.turns(s, way) {
			to[way.To] = true
		}
	}
	return len(to) == 1 && !b.turnsWithout(s.Name)
}

// goesOnByRule tells whether a rule of a Choice stays in the loop.
func (b *boundEdit) goesOnByRule(s *asl.State) bool {
	return slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return way.Kind == asl.TransitionRule && b.turns(s, way) })
}

// takesRule tells whether a Choice can end the loop by a rule behind all others.
func (b *boundEdit) takesRule(s *asl.State) bool {
	return s.QueryLanguage == b.language && b.judges(s) && !b.goesOnByRule(s)
}

// countInFront counts in a Choice in front of a state that each way around goes through.
func (b *boundEdit) countInFront() []edit.Edit {
	s := b.meeting()
	if s == nil {
		return nil
	}
	most := b.polls - 1 // it counts behind the rule
	if s == b.loop.Poll && !b.isEntered(s) {
		most = b.polls // it stands in front of the first poll, too
	}
	first, next, rule := b.counter(most)
	begin := b.begin(first)
	if begin == nil {
		return nil
	}
	look := b.lookBefore(s, func(to string) []byte {
		return b.newState("Type", "Choice", "Choices", json.RawMessage("["+string(rule)+"]"), "Assign", json.RawMessage(next), "Default", to)
	})
	return slices.Concat(begin, look, []edit.Edit{b.failAfterPolls()})
}

// meeting is a state that each way around the loop goes through: a Wait, or else the poll.
func (b *boundEdit) meeting() *asl.State {
	for _, s := range append(slices.Clone(b.loop.Waits), b.loop.Poll) {
		if !b.turnsWithout(s.Name) {
			return s
		}
	}
	return nil
}

// isEntered tells whether the loop begins at a state, for its first job or for another.
func (b *boundEdit) isEntered(to *asl.State) bool {
	return b.loop.Flow.StartAt == to.Name || slices.ContainsFunc(b.loop.Flow.States, func(s *asl.State) bool {
		return slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return way.To == to.Name && !b.turns(s, way) })
	})
}

// isWaitFirst tells whether each way into the loop comes to the Wait before the poll.
func (b *boundEdit) isWaitFirst() bool {
	return !slices.ContainsFunc(b.loop.Flow.States, func(s *asl.State) bool { return b.inside[s.Name] && b.isEntered(s) && b.comesToPoll(s) })
}

// beginsBoth tells whether some ways into the loop come to the Wait first, and others to the poll.
func (b *boundEdit) beginsBoth() bool {
	return !b.isWaitFirst() && slices.ContainsFunc(b.loop.Flow.States, func(s *asl.State) bool {
		return b.inside[s.Name] && b.isEntered(s) && !b.comesToPoll(s)
	})
}

// comesToPoll tells whether a state of the loop may lead to the poll without the Wait.
func (b *boundEdit) comesToPoll(from *asl.State) bool {
	seen := map[*asl.State]bool{b.loop.Waits[0]: true}
	for queue := []*asl.State{from}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if s == b.loop.Poll {
			return true
		}
		if s == nil || !b.inside[s.Name] || seen[s] {
			continue
		}
		seen[s] = true
		for _, way := range s.Transitions() {
			queue = append(queue, b.loop.Flow.State(way.To))
		}
	}
	return false
}

// lookBefore leads the ways from inside of the loop to a state through a Choice: those of a kind
// if it is given, or all.
func (b *boundEdit) lookBefore(to *asl.State, choice func(to string) []byte, kinds ...asl.TransitionKind) []edit.Edit {
	again := b.newName(b.loop.Poll.Name + " again?")
	var edits []edit.Edit
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			if b.turns(s, way) && way.To == to.Name && (len(kinds) == 0 || slices.Contains(kinds, way.Kind)) {
				edits = append(edits, edit.Edit{Op: edit.Replace, At: targetPointer(s, way), Value: jsonOf(again)})
			}
		}
	}
	return append(edits, edit.Edit{Op: edit.Before, At: to.Position.Pointer, Name: again, Value: choice(to.Name)})
}

// targetPointer is where a state names the one that a transition leads to.
func targetPointer(s *asl.State, way asl.Transition) string {
	at := s.Position.Pointer
	switch way.Kind {
	case asl.TransitionCatch:
		return fmt.Sprintf("%s/Catch/%d/Next", at, way.Rule)
	case asl.TransitionRule:
		return fmt.Sprintf("%s/Choices/%d/Next", at, way.Rule)
	case asl.TransitionDefault:
		return at + "/Default"
	default:
		return at + "/Next"
	}
}
