package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Lateness is how long after the end of a job a waiter notices it.
type Lateness struct {
	Job  time.Duration // how long the job runs
	Mean time.Duration
	P95  time.Duration // in 19 of 20 waits it is no more
	// Calls is how many calls a wait takes on average.
	Calls float64
}

// MarshalJSON writes seconds.
func (l Lateness) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Job   float64 `json:"jobSeconds"`
		Mean  float64 `json:"meanSeconds"`
		P95   float64 `json:"p95Seconds"`
		Calls float64 `json:"calls"`
	}{l.Job.Seconds(), l.Mean.Seconds(), l.P95.Seconds(), math.Round(l.Calls*10) / 10})
}

// tail is the share of waits that P95 is about.
const tail = 0.95

// longest is the longest time that is looked at.
const longest = 7 * 24 * time.Hour

// LatenessOf works out the lateness that the waiter's SmithyExact schedule has with
// a job of that length, of a second at least. It draws nothing: it adds up the
// chances of all draws, which it takes as whole seconds, all equally likely. The
// deadline is left out. With a fixed delay, whose calls come at known times, the job
// ends anywhere between two of them. A job or a delay of more than a week counts as
// one of a week.
func LatenessOf(waiter *pollcore.Waiter, job time.Duration) Lateness {
	s := pollcore.NewSmithySchedule(waiter, math.MaxInt64)
	if s.Min >= s.Max { // the calls are all as far apart
		return Lateness{Job: job, Mean: s.Max / 2, P95: time.Duration(float64(s.Max) * tail), Calls: 1.5 + float64(job)/float64(s.Max)}
	}
	s.Min, s.Max = min(s.Min, longest), min(s.Max, longest)
	w := &wait{schedule: s, end: max(1, int(min(job, longest)/time.Second))}
	w.run()
	return w.lateness(job)
}

// wait has the chances of a poll loop.
type wait struct {
	schedule pollcore.Schedule
	end      int
	// late is the chance of each lateness in seconds.
	late  []float64
	calls float64
}

// bounds are those of the draw after so many calls, in seconds, and whether they
// stay so.
func (w *wait) bounds(attempts int) (lo, hi int, steady bool) {
	after := func(attempts int) (from, to time.Duration) {
		return w.schedule.Bounds(pollcore.Progress{Attempts: attempts})
	}
	from, to := after(attempts)
	_, next := after(attempts + 1)
	return int(from / time.Second), int(to / time.Second), next == to
}

func (w *wait) run() {
	w.late = make([]float64, int(w.schedule.Max/time.Second)+1)
	// at is the chance that call number n is made in each second.
	at := make([]float64, w.end)
	at[0], w.calls = 1, 1
	for n := 1; ; n++ {
		lo, hi, steady := w.bounds(n)
		if at = w.spread(at, lo, hi, steady); steady {
			return
		}
	}
}

// spread returns the chances of the calls that follow those in at. If steady,
// the calls that follow are followed in the same way, and the result has them
// all: a call in a second may then be of any number.
func (w *wait) spread(at []float64, lo, hi int, steady bool) []float64 {
	share := 1 / float64(hi-lo+1)
	sums := make([]float64, w.end+1) // of the chances before a second
	chance := func(second int) float64 {
		from, to := max(second-hi, 0), min(second-lo, w.end-1)
		if from > to {
			return 0
		}
		p := (sums[to+1] - sums[from]) * share
		w.calls += p
		return p
	}
	after := make([]float64, w.end)
	if !steady {
		for t, p := range at {
			sums[t+1] = sums[t] + p
		}
	}
	for t := range w.end {
		after[t] = chance(t)
		if steady {
			sums[t+1] = sums[t] + at[t] + after[t]
		}
	}
	for late := range w.late {
		w.late[late] += chance(w.end + late)
	}
	return after
}

func (w *wait) lateness(job time.Duration) Lateness {
	l := Lateness{Job: job, Calls: w.calls}
	var mean, sum float64
	found := false
	for late, p := range w.late {
		mean += p * float64(late)
		if sum += p; sum >= tail && !found {
			l.P95, found = time.Duration(late)*time.Second, true
		}
	}
	l.Mean = time.Duration(math.Round(mean)) * time.Second
	return l
}

// late reports a maxDelay above the specification's default, with which the end of
// a job is noticed late by what follows the specification.
func (c *checker) late() {
	if c.waiter.MaxDelay <= pollcore.DefaultMaxDelay || c.waiter.MinDelay > c.waiter.MaxDelay || c.waiter.MinDelay < 0 {
		return
	}
	job := cmp.Or(c.options.Job, DefaultJob)
	l := LatenessOf(c.waiter, job)
	f := c.report(Late, diag.Warning, "/maxDelay", fmt.Sprintf(
		"delays grow to %d seconds: the end of a job of %s is noticed %s late on average, and %s in one of 20 waits; "+
			"lower maxDelay to %d (how long to wait in all is not part of a waiter)",
		c.waiter.MaxDelay, short(job), short(l.Mean), short(l.P95), pollcore.DefaultMaxDelay))
	f.Lateness = &l
}

// short is a duration without what is zero: "1h", "20m39s".
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero); n > 0 && text[n:] == zero {
			text = text[:n+1]
		}
	}
	return text
}
