package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ManyRounds are rounds of an outer loop that nobody can count.
const ManyRounds = -1

// mostRounds is how many rounds of an outer loop are followed.
const mostRounds = 300

// findRounds says how often an outer loop may come to the loop of a table, as a status leads
// there that ends a job; 0 without an outer loop.
func (c *checker) findRounds(l *loop, r *reading) int {
	if r.status == nil || r.Retries || len(l.states) == len(r.inner.states) {
		return 0
	}
	outer := func(name string) bool { return l.inside[name] && !r.inner.inside[name] }
	leadsOut := func(value string) bool {
		return slices.ContainsFunc(r.routes[value], func(way route) bool { return slices.ContainsFunc(way.path, outer) }) &&
			slices.ContainsFunc(r.takenBy(value), func(way route) bool { return way.failed == nil || way.caught })
	}
	rounds, polling := 0, r.pollingValues()
	r.boundGoesOn = slices.ContainsFunc(polling, leadsOut) // the laps are polls of all rounds
	for _, value := range r.status.values {
		if slices.Contains(polling, value) || !leadsOut(value) {
			continue
		}
		for _, from := range c.entriesOf(l) {
			ran := c.runLaps(lapRun{loop: l, reading: r, value: value}, from, mostRounds)
			if ran.end != lapsLeave {
				return ManyRounds
			}
			rounds = max(rounds, ran.polls)
		}
	}
	if rounds == 1 {
		return 0
	}
	return rounds
}

// setsAnew tells whether an outer loop may set the one operand of a bound for each round of the
// loop of a table.
func setsAnew(l *loop, r *reading, operands []string) bool {
	if len(operands) != 1 {
		return true
	}
	return slices.ContainsFunc(l.states, func(s *asl.State) bool { return !r.inner.inside[s.Name] && mayGive(s, lastName(operands[0])) })
}

// countsAnew tells whether the polls of a loop are counted from the start in each round of an
// outer loop.
func (c *checker) countsAnew(l *loop, r *reading) bool {
	for _, value := range r.pollingValues() {
		for _, s := range l.states {
			if r.inner.inside[s.Name] {
				continue
			}
			for _, way := range c.types.Step(s, c.types.Input(s), c.types.Result(s)) {
				if way.Kind == asl.TransitionCatch || !r.inner.inside[way.To] {
					continue
				}
				ran := c.runLaps(lapRun{loop: r.inner, reading: r, value: value}, entry{l.flow.State(way.To), way.Env}, 2*r.Turn.most())
				if ran.end == lapsLeave && ran.polls > 1 {
					return true
				}
			}
		}
	}
	return false
}
