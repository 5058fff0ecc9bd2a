package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// isBoundNear tells whether a change may be met only where a loop of a Task is left at its
// bound: in the loop, or right behind it.
func (p *pair) isBoundNear(role string) bool {
	if p.whole {
		return true
	}
	for _, s := range []*subject{p.before, p.after} {
		for state := range s.machine.All {
			if !slices.Contains(p.loops[role], state.Name) && state.Name != role {
				continue
			}
			for _, way := range state.Transitions() {
				if p.changed[way.To] {
					return true
				}
			}
			if p.changed[state.Name] {
				return true
			}
		}
	}
	return false
}

// longest are the job that ends one poll before so many are over, and that after which
// another one runs, which a loop around may start.
func (p *pair) longest(never *script, polls int, before *observed) []*script {
	stays, c := never.answers[0], p.callee(never.task)
	if polls < 2 { //nolint:mnd // there is none before
		return nil
	}
	long := &scriptsOf{role: never.task}
	add := func(title string, end ...answer) {
		few := &script{task: never.task, answers: slices.Concat(slices.Repeat([]answer{stays}, min(fewPolls, polls-1)), end)}
		long.add(title, false, slices.Concat(slices.Repeat([]answer{stays}, polls-1), end))
		if before.lap.events > 0 {
			few.lap, long.all[len(long.all)-1].few = before.lap, few
		}
	}
	add(fmt.Sprintf("a job at %q that ends after %d polls", never.task, polls-1))
	for _, a := range c.answers {
		if p.restarts[a.kind] && stays.kind == c.running.kind {
			add(fmt.Sprintf("%s at %q after %d polls, and a second job of 2 polls", nameOf(a.kind), never.task, polls-1), a, stays, stays)
		}
	}
	return long.all
}

// fewPolls are as good as many where the laps of a loop are equal.
const fewPolls = 3

// playBefore runs a script in the first machine, or the same with fewer laps, and counts the
// others.
func (p *pair) playBefore(ctx context.Context, s *script, input []byte) (*observed, error) {
	if s.few != nil {
		few := *s.few
		few.lead = s.lead
		o, err := p.play(ctx, p.before, &few, input, usual)
		if err != nil {
			return nil, err
		}
		more := len(s.answers) - len(few.answers)
		seen := *o
		seen.Polls, seen.asked = seen.Polls+more, seen.asked+more
		seen.events, seen.Lasts = seen.events+more*few.lap.events, seen.Lasts+time.Duration(more)*few.lap.lasts
		if limit := p.before.machine.TimeoutSeconds; seen.events < asl.MaxEvents && (limit == 0 || seen.Lasts < time.Duration(limit)*time.Second) {
			return &seen, nil
		}
	}
	return p.play(ctx, p.before, s, input, usual)
}
