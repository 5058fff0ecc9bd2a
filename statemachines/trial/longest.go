package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// isInChange tells whether a change is in the loop of a Task.
func (p *pair) isInChange(role string) bool {
	return p.whole || slices.ContainsFunc(append(slices.Clip(p.loops[role]), role), func(name string) bool { return p.changed[name] })
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
		added := long.add(title, false, slices.Concat(slices.Repeat([]answer{stays}, polls-1), end))
		if slices.Contains(p.loops[never.task], before.lap.task) {
			added.few = &script{task: never.task, answers: slices.Concat(slices.Repeat([]answer{stays}, min(fewPolls, polls-1)), end), lap: before.lap}
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
