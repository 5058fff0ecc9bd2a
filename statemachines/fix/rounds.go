package fix

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// rounds are how often an execution may come to a loop anew, each time with polls of their own:
// 0 if it comes once, and lint.ManyRounds if nobody knows. Around is what turns.
type rounds struct {
	number int
	around string
}

const outerLoop = "the outer loop"

// roundsOf reads the loops, and the retries of a Map or Parallel, that a loop stands in.
func (c *checked) roundsOf(l *lint.Loop) rounds {
	b := &boundEdit{checked: c, loop: l}
	b.findInside()
	r := rounds{number: l.Rounds}
	if r.number > 0 && b.comesBack(func(s *asl.State) bool { return s.Choice == nil }) || r.number == 0 && b.comesBack(nil) {
		r.number = lint.ManyRounds
	}
	if r.number != 0 {
		r.around = outerLoop
	}
	for _, f := range c.flowsAround(l) {
		r = r.within(f, f.Holder(l.Poll))
	}
	return r
}

// flowsAround are the flows outside of that of a loop which share its history, from the inside out.
func (c *checked) flowsAround(l *lint.Loop) []*asl.Flow {
	var flows []*asl.Flow
	for f := &c.machine.Flow; f != l.Flow; {
		holder := f.Holder(l.Poll)
		if holder.Map != nil && holder.Map.Distributed {
			flows = nil
		} else {
			flows = append(flows, f)
		}
		inner := holder.Flows()
		f = inner[slices.IndexFunc(inner, func(inner *asl.Flow) bool { return inner.Holder(l.Poll) != nil })]
	}
	slices.Reverse(flows)
	return flows
}

// within adds the rounds of a state that has the loop inside: its retries, and those of the loop
// that it stands in.
func (r rounds) within(f *asl.Flow, holder *asl.State) rounds {
	attempts := int64(1)
	for _, retrier := range holder.Retry {
		attempts = max(attempts, retrier.MaxAttempts+1)
	}
	switch {
	case r.number == lint.ManyRounds:
	case f.Leads(holder, holder):
		r = rounds{lint.ManyRounds, outerLoop}
	case attempts > usualRounds:
		r = rounds{lint.ManyRounds, fmt.Sprintf("%q", holder.Name)}
	case attempts > 1 && r.number > 1:
		r = rounds{r.number * int(attempts), outerLoop}
	case attempts > 1:
		r = rounds{int(attempts), fmt.Sprintf("%q", holder.Name)}
	}
	return r
}

// comesBack tells whether the loop polls another job, or a way leads out of it and back, through
// no other states than some: a Catch alone where these are given, and any way else.
func (b *boundEdit) comesBack(through func(*asl.State) bool) bool {
	seen := map[string]bool{}
	var queue []string
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			if b.pollsNext(s, way) && through == nil {
				return true
			}
			if b.inside[s.Name] && !b.inside[way.To] && (through == nil || way.Kind == asl.TransitionCatch) {
				queue = append(queue, way.To)
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		s := b.loop.Flow.State(queue[0])
		if b.inside[queue[0]] {
			return true
		}
		if s == nil || seen[s.Name] || through != nil && !through(s) {
			continue
		}
		seen[s.Name] = true
		for _, way := range s.Transitions() {
			queue = append(queue, way.To)
		}
	}
	return false
}

// pollsNext tells whether a way in the loop leads to the poll of another job.
func (b *boundEdit) pollsNext(s *asl.State, way asl.Transition) bool {
	return b.inside[s.Name] && b.inside[way.To] && b.asked.setOn(s, way, b.root)
}

// turns tells whether a way stays in the loop and with the job that it polls.
func (b *boundEdit) turns(s *asl.State, way asl.Transition) bool {
	return b.inside[s.Name] && b.inside[way.To] && !b.asked.setOn(s, way, b.root)
}

// pollsSeveral tells whether the loop asks for another job in each turn: all count together then.
func (b *boundEdit) pollsSeveral() bool {
	return slices.ContainsFunc(b.loop.Flow.States, func(s *asl.State) bool {
		return b.inside[s.Name] && s != b.loop.Poll && b.asked.setBy(s, nodeAt(b.root, s.Position.Pointer))
	})
}
