package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// rushes are the loops among states around a Task on which no time passes. A call that changes something, such as one that
// starts the job again, is in none of them: a way through it is no poll.
func rushes(f *asl.Flow, among []*asl.State) []*loop {
	all := loops(f, unchanging(among), func(s *asl.State, way asl.Transition) bool {
		return way.Kind != asl.TransitionCatch && !passesTime(s) && !turnsPage(s, way)
	})
	return slices.DeleteFunc(all, func(l *loop) bool { return l.first(asl.TypeTask) == nil })
}

// unchanging are the states that change nothing outside of the machine.
func unchanging(states []*asl.State) []*asl.State {
	return slices.DeleteFunc(slices.Clone(states), Changes)
}

// Rush returns the Tasks of every turn of the loop without a pause that a state is in; nil if it is in none.
func Rush(f *asl.Flow, around *asl.State) []*asl.State {
	for _, l := range rushes(f, f.States) {
		if l.inside[around.Name] {
			return slices.DeleteFunc(slices.Clone(l.states), func(s *asl.State) bool {
				return s.Task == nil || len(rushes(f, slices.DeleteFunc(slices.Clone(l.states), func(other *asl.State) bool { return other == s }))) > 0
			})
		}
	}
	return nil
}

// pollsAgain tells whether a loop leads a Task to ask again for what it has asked for. One in which
// each Task that polls asks for another job goes through jobs that have ended, and needs no Wait.
func (c *checker) pollsAgain(l *loop) bool {
	known := slices.DeleteFunc(slices.Clone(l.states), func(s *asl.State) bool { return c.operations.of(s) == nil })
	polls := known
	if len(polls) == 0 {
		polls = slices.DeleteFunc(slices.Clone(l.states), func(s *asl.State) bool { return c.askedBy(l, s) == nil })
	}
	if len(polls) == 0 { // or a Choice compares what nobody can follow
		polls = slices.DeleteFunc(slices.Clone(l.states), func(s *asl.State) bool { return s.Task == nil })
	}
	if len(polls) == 0 {
		return true
	}
	return slices.ContainsFunc(polls, func(poll *asl.State) bool {
		cycles, all := l.cycles(poll)
		return !all || slices.ContainsFunc(cycles, func(hops []hop) bool {
			back, again := traceAsked(poll, hops)
			return again || len(known) > 0 && !back.moves || len(known) == 0 && !back.certain
		})
	})
}
