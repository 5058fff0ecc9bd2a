package fixtruth

import (
	"context"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Keeps tells whether a machine with a new bound still waits for jobs that end with so many polls
// each, in each round of an outer loop and for each of several jobs, as the machine without it
// does. It is false for tried where that does not succeed either.
func (d *Drawn) Keeps(ctx context.Context, after []byte, polls int) (kept, tried bool, err error) {
	s := scenario{answers: d.plan.lasting(polls, d.plan.op.success[0])}
	if d.plan.around == "outer" { // the first one fails, and is started again
		s = scenario{answers: d.plan.lasting(polls, d.plan.op.failure[0]), then: s.answers}
	}
	ends := func(text []byte) (bool, error) {
		m, err := parse(text)
		if err != nil {
			return false, err
		}
		o, err := d.plan.run(ctx, m, d.Input, s, usual)
		return err == nil && o.status == history.StatusSucceeded, err
	}
	if tried, err = ends(d.Text); err != nil || !tried {
		return false, tried, err
	}
	kept, err = ends(after)
	return kept, true, err
}

// lasting are the answers of a job that ends with the last of so many polls.
func (b *blueprint) lasting(polls int, end string) []answer {
	return append(slices.Repeat([]answer{{status: b.op.running[0]}}, polls-1), answer{status: end})
}
