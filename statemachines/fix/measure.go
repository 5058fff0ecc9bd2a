package fix

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Trial compares the loops on a job that ends in a status.
type Trial struct {
	Status string  `json:"status"`
	Before Measure `json:"before"`
	After  Measure `json:"after"`
}

// Measure is what one loop did: the loop alone, without the states around it.
type Measure struct {
	// Exit is the state behind the loop; empty if it polled until the history was
	// full.
	Exit string `json:"exit,omitempty"`
	// Lasts is how long the loop polled, and Late how long after the end of the job
	// it left; 0 if it did not leave.
	Lasts time.Duration `json:"-"`
	Late  time.Duration `json:"-"`
	// Calls and Transitions are how many there were, and USD what the transitions
	// cost in asl.DefaultRegion.
	Calls       int     `json:"calls"`
	Transitions int     `json:"transitions"`
	USD         float64 `json:"costUSD"`
	// Error and Cause are those of an execution that failed in the loop.
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// MarshalJSON writes the members, with times in seconds.
func (m Measure) MarshalJSON() ([]byte, error) {
	type members Measure
	return json.Marshal(struct {
		members

		Seconds     float64 `json:"seconds"`
		LateSeconds float64 `json:"lateSeconds"`
	}{members(m), m.Lasts.Seconds(), m.Late.Seconds()})
}

// defaultRuns is how long the jobs of trials last, where no schedule says when jobs end.
const defaultRuns = 12 * time.Minute

// usualRuns is how long the jobs of trials last: until a planned schedule has no more delays
// to list, for there nearly all jobs have ended.
func (o Options) usualRuns() time.Duration {
	if o.Schedule == nil {
		return defaultRuns
	}
	runs := o.Schedule.Then / 2 //nolint:mnd // between two polls
	for _, delay := range o.Schedule.Delays {
		runs += delay
	}
	if o.MaxWait > 0 && runs > o.MaxWait {
		return defaultRuns
	}
	return runs.Truncate(time.Second)
}

// measure compares the loops on a job that succeeds, and on one for each failure.
func (f *fragment) measure(ctx context.Context, before, after *observed, o Options) ([]Trial, error) {
	runs := cmp.Or(o.JobRuns, o.usualRuns())
	left := func(s seen) time.Duration {
		if f.starter != nil {
			return runs
		}
		return max(0, runs-s.first) // a simulated job that nothing starts begins with its first poll
	}
	old, limited := *before.bench, *before.machine // which its TimeoutSeconds may end
	limited.TimeoutSeconds = f.machine.TimeoutSeconds
	old.machine = &limited
	var all []Trial
	succeeded := false
	for i, s := range before.seen {
		if s.verdict == pollcore.Retry || s.verdict == pollcore.Success && succeeded {
			continue
		}
		succeeded = succeeded || s.verdict == pollcore.Success
		kept, asked, err := f.run(ctx, &old, s.status, left(s), 0, o)
		if err != nil {
			return nil, err
		}
		replaced, askedNow, err := f.run(ctx, after.bench, s.status, left(after.seen[i]), 0, o)
		if err != nil {
			return nil, err
		}
		all = append(all, Trial{
			Status: s.status, Before: f.measureRun(kept, asked.calls, before.exit(kept), runs), After: f.measureRun(replaced, askedNow.calls, after.seen[i].exit, runs),
		})
	}
	return all, nil
}

func (f *fragment) measureRun(r *sim.Result, calls int, exit string, runs time.Duration) Measure {
	m := Measure{
		Exit: exit, Lasts: r.Duration(), Calls: calls, Transitions: r.Transitions, USD: r.CostUSD(), Error: r.Error, Cause: r.Cause,
	}
	if r.Status == sim.StatusTimedOut {
		m.Error = asl.ErrorTimeout
	}
	if exit != "" {
		m.Late = max(0, m.Lasts-runs)
	}
	return m
}
