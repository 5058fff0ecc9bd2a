package fix

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Trial compares the loops on jobs that end in a status.
type Trial struct {
	Status string  `json:"status"`
	Before Measure `json:"before"`
	After  Measure `json:"after"`
}

// Measure is what one loop did, in the mean over the jobs: the loop alone, without the
// states around it.
type Measure struct {
	// Exit is the state behind the loop; empty if it polled until the history was
	// full.
	Exit string `json:"exit,omitempty"`
	// Lasts is how long the loop polled, and Late how long after the end of the job
	// it left; 0 if it did not leave.
	Lasts time.Duration `json:"-"`
	Late  time.Duration `json:"-"`
	// Calls and Transitions are how many there were, and USD what the transitions
	// cost in asl.DefaultRegion; 0 in an Express workflow, which is billed by its time.
	Calls       float64 `json:"calls"`
	Transitions float64 `json:"transitions"`
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

// The jobs of trials last from shortestJob to longestJob, on a logarithmic scale, where no
// schedule says when jobs end. A loop would look punctual, or late, on one length alone.
const (
	shortestJob, longestJob = time.Minute, time.Hour
	jobLengths              = 7
)

// spread are how long the jobs of trials last, the shortest first. They are seen within
// half of the time that both loops have. A planned schedule says when jobs end: until it has
// no more delays to list.
func (f *fragment) spread(o Options) []time.Duration {
	if o.JobRuns > 0 {
		return []time.Duration{o.JobRuns}
	}
	most := f.maxWait
	if f.bound.After > 0 {
		most = min(most, f.bound.After)
	}
	to := min(longestJob, most/2)                    //nolint:mnd // a loop that gives up is late by its own rule
	from := max(time.Second, min(shortestJob, to/8)) //nolint:mnd // still a spread
	if s := o.Schedule; s != nil {
		ends := s.Then
		for _, delay := range s.Delays {
			ends += delay
		}
		if ends <= most {
			from = max(time.Second, s.Before(1))
			to = max(from, ends)
		}
	}
	all := make([]time.Duration, jobLengths)
	for i := range all {
		share := (float64(i) + 0.5) / jobLengths
		all[i] = time.Duration(float64(from) * math.Pow(float64(to)/float64(from), share)).Round(time.Millisecond)
	}
	return all
}

// measure compares the loops on jobs that succeed, and on some for each failure: the means
// over jobs of all lengths, up to the first with which a loop leads elsewhere. It
// returns these lengths, too.
func (f *fragment) measure(ctx context.Context, before, after *observed, o Options) (all []Trial, jobs []time.Duration, err error) {
	kept, limited := *before.bench, *before.machine // which its TimeoutSeconds may end
	limited.TimeoutSeconds = f.machine.TimeoutSeconds
	if f.bound.Kind == lint.ByBranch && f.bound.After > 0 {
		limited.TimeoutSeconds = int64(f.bound.After.Seconds())
	}
	kept.machine = &limited
	old := &observed{&kept, before.seen}
	for _, runs := range f.spread(o) {
		trials, err := f.measureJob(ctx, old, after, all, runs, o)
		if err != nil {
			return nil, nil, err
		}
		if jobs != nil && !slices.EqualFunc(all, trials, func(a, b Trial) bool { return a.Before.Exit == b.Before.Exit && a.After.Exit == b.After.Exit }) {
			break
		}
		jobs = append(jobs, runs)
		if all == nil {
			all = trials
			continue
		}
		for i := range all {
			all[i].Before = all[i].Before.mean(trials[i].Before, len(jobs))
			all[i].After = all[i].After.mean(trials[i].After, len(jobs))
		}
	}
	return all, jobs, nil
}

// measureJob compares the loops on jobs of one length. The trials of shorter jobs tell which
// statuses the old loop polls on with: whenever the job ends.
func (f *fragment) measureJob(ctx context.Context, old, after *observed, shorter []Trial, runs time.Duration, o Options) ([]Trial, error) {
	left := func(s seen) time.Duration {
		if f.starter != nil {
			return runs
		}
		return max(0, runs-s.first) // a simulated job that nothing starts begins with its first poll
	}
	var all []Trial
	var measured []int
	succeeded := false
	for i, s := range old.seen {
		if s.verdict == pollcore.Retry || s.verdict == pollcore.Success && succeeded {
			continue
		}
		succeeded = succeeded || s.verdict == pollcore.Success
		if like := slices.IndexFunc(measured, func(n int) bool {
			return old.seen[n].leadsAs(&old.seen[i]) && after.seen[n].leadsAs(&after.seen[i])
		}); like >= 0 {
			t := all[like]
			t.Status = s.status
			all, measured = append(all, t), append(measured, i)
			continue
		}
		t := Trial{Status: s.status}
		if n := len(all); n < len(shorter) && shorter[n].Before.Exit == "" {
			t.Before = shorter[n].Before
		} else {
			kept, asked, err := f.run(ctx, old.bench, s.status, left(s), 0, o)
			if err != nil {
				return nil, err
			}
			t.Before = f.measureRun(kept, asked.calls, old.exit(kept), runs)
		}
		replaced, asked, err := f.run(ctx, after.bench, s.status, left(after.seen[i]), 0, o)
		if err != nil {
			return nil, err
		}
		t.After = f.measureRun(replaced, asked.calls, cmp.Or(after.exit(replaced), f.failIn(replaced.Visits)), runs)
		all, measured = append(all, t), append(measured, i)
	}
	return all, nil
}

// leadsAs tells whether the loop was seen to do with two statuses the same.
func (s *seen) leadsAs(o *seen) bool {
	return s.exit != "" && s.exit == o.exit && s.err == "" && o.err == "" && maps.Equal(s.visits, o.visits)
}

// mean is that of n jobs, from that of all but the last.
func (m Measure) mean(last Measure, n int) Measure {
	step := func(mean, last float64) float64 { return mean + (last-mean)/float64(n) }
	m.Lasts = time.Duration(step(float64(m.Lasts), float64(last.Lasts)))
	m.Late = time.Duration(step(float64(m.Late), float64(last.Late)))
	m.Calls, m.Transitions = step(m.Calls, last.Calls), step(m.Transitions, last.Transitions)
	m.USD = step(m.USD, last.USD)
	return m
}

// errorBeside is the error of the branch that ends the old loop; empty if its Fail states compute it, or have
// several.
func (f *fragment) errorBeside() string {
	var all []string
	for s := range f.machine.All {
		if s.Fail == nil || !slices.Contains(f.bound.At, s.Name) {
			continue
		}
		literal := ""
		if s.Fail.Error != nil {
			literal, _ = s.Fail.Error.Literal.(string)
		}
		all = append(all, literal)
	}
	if len(slices.Compact(all)) != 1 {
		return ""
	}
	return all[0]
}

func (f *fragment) measureRun(r *sim.Result, calls int, exit string, runs time.Duration) Measure {
	m := Measure{
		Exit: exit, Lasts: r.Duration(), Calls: float64(calls), Transitions: float64(r.Transitions), USD: r.CostUSD(), Error: r.Error, Cause: r.Cause,
	}
	if r.Status == sim.StatusTimedOut {
		m.Error = asl.ErrorTimeout
		if f.bound.Kind == lint.ByBranch {
			m.Exit, m.Error = f.bound.Route, f.errorBeside()
		}
	}
	if f.express { // which are billed by their time
		m.USD = 0
	}
	if m.Exit != "" {
		m.Late = max(0, m.Lasts-runs)
	}
	return m
}
