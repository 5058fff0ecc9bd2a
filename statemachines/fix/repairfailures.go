package fix

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// boundFailures are the edits that end a loop whose calls fail for ever, where a count ends it for
// a job that runs: they count the calls that fail alone. Retries are the events of those in each turn.
func (c *checked) boundFailures(l *lint.Loop, r *repairer, retries int) []candidate {
	running := l.Bound.Running
	if running == nil || running.Kind != lint.ByCount || len(l.Waits) == 0 {
		return nil
	}
	b, room := c.newBound(l), r.all.roomOf(l.Poll.Name)
	to, events := b.caughtTo(), longestLap(l)+retries+choiceEvents
	if to == nil {
		return nil
	}
	b.fail, b.variable = b.newName(l.Poll.Name+" timed out"), b.newVariable("failures")
	base := candidate{
		frame: []trial.Kind{{Task: b.loop.Poll.Name, Sort: trial.Never}}, class: Sure, mended: endsByItself, excuses: pollsOn,
	}
	b.polls = (room.events - running.Events) / events
	switch wait, known := b.waitFrom(to); {
	case r.options.MaxWait > 0 && !known:
		return nil
	case r.options.MaxWait > 0:
		b.polls = max(1, int((r.options.MaxWait+wait-1)/wait))
	case room.events < roomyEvents:
		base.class, base.also = Offered, room.String()
	}
	if b.loop.Flow != &b.machine.Flow {
		base.class = Offered // its Fail ends what runs beside it
	}
	if b.polls < 1 {
		return nil
	}
	base.about = fmt.Sprintf("%s failed calls of %s", thousands(b.polls), b.loop.Bound.Failing)
	return b.bySize(base, r, b.countFailures(to))
}

// caughtTo is the one state of the loop that all its catchers lead to; nil if there are several.
func (b *boundEdit) caughtTo() *asl.State {
	var to *asl.State
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			if !b.inside[s.Name] || !b.inside[way.To] || way.Kind != asl.TransitionCatch {
				continue
			}
			if next := b.loop.Flow.State(way.To); to == nil || to == next {
				to = next
			} else {
				return nil
			}
		}
	}
	return to
}

// waitFrom is how long the loop waits from a state to its poll, if all Waits on the only way there
// say so.
func (b *boundEdit) waitFrom(s *asl.State) (wait time.Duration, known bool) {
	for range b.loop.Flow.States {
		if s == b.loop.Poll {
			return wait, wait > 0
		}
		if s == nil || s.Choice != nil {
			return 0, false
		}
		if s.Wait != nil {
			one, steady := b.loop.Steady[s]
			if !steady {
				return 0, false
			}
			wait += one
		}
		s = b.loop.Flow.State(s.Next)
	}
	return 0, false
}

// countFailures counts in a Choice on the way of the catchers, up to the number of polls.
func (b *boundEdit) countFailures(to *asl.State) []edit.Edit {
	first, next, rule := b.counter(b.polls - 1) // it counts behind the rule
	begin := b.begin(first)
	if begin == nil {
		return nil
	}
	look := b.lookBefore(to, func(to string) []byte {
		return b.newState("Type", "Choice", "Choices", json.RawMessage("["+string(rule)+"]"), "Assign", json.RawMessage(next), "Default", to)
	}, asl.TransitionCatch)
	fail := b.failState(fmt.Sprintf("%s calls of %s failed", thousands(b.polls), b.loop.Bound.Failing))
	return append(append(begin, look...), fail)
}
