package conformance_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// plannedDurations are the lengths of jobs that schedules are planned for.
var plannedDurations = []string{
	"uniform(15m, 30m)", "lognormal(15m, 0.25)", "weibull(22m, 3)", "lognormal(15m, 0.5)", "lognormal(10m, 1)",
	"exponential(20m)", "weibull(16m, 0.7)", "lognormal(5m, 1.5)", "mix(80% lognormal(1m, 0.1), 20% lognormal(1h, 0.1))",
}

// plannedMethods are how they are planned; with the first, plan chooses.
var plannedMethods = []plan.Method{"", plan.Hazard}

// A machine polls so many jobs. The means over many more, by its schedule, are so near
// to those that plan prints.
const (
	polledJobs    = 40
	countedJobs   = 20_000
	callsRange    = 0.01
	latenessRange = 0.02
)

// A case is a machine by one strategy with a schedule that was planned. It passes if it
// polls each job as often, and sees its end as late, as its schedule says, and the
// schedule needs the calls and has the lateness that plan prints.
var plannedSuites = []suite{{
	name: "planned", cases: len(plannedDurations) * len(plannedMethods) * len(strategies), run: runPlanned,
}}

func runPlanned(t *testing.T, _ string) result {
	t.Helper()
	all := entries(t)
	entry := all[slices.IndexFunc(all, func(e *catalog.Entry) bool { return e.Name == "ExportTableToPointInTime" })]
	r := result{failures: map[string]string{}}
	var mu sync.Mutex
	t.Run("planned", func(t *testing.T) {
		for _, durations := range plannedDurations {
			t.Run(durations, func(t *testing.T) {
				t.Parallel()
				d, err := plan.Parse(durations)
				require.NoError(t, err)
				for _, method := range plannedMethods {
					planned, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{Method: method})
					require.NoError(t, err)
					for _, s := range strategies {
						problem := followPlan(t, entry, s, d, planned.Schedule)
						mu.Lock()
						r.total++
						if problem != "" {
							r.failures[fmt.Sprintf("%s, method %q as %s", durations, planned.Method, s.name)] = problem
						}
						mu.Unlock()
					}
				}
			})
		}
	})
	r.notes = append(r.notes, fmt.Sprintf("%d jobs each; calls within %g %% and lateness within %g %% of plan's", polledJobs, 100*callsRange, 100*latenessRange))
	return r
}

// followPlan says where a machine does not what its schedule says.
func followPlan(t *testing.T, entry *catalog.Entry, s strategy, d plan.Distribution, planned pollcore.Planned) string {
	t.Helper()
	o := compile.Options{MaxWait: d.Quantile(0.999).Truncate(time.Second) + time.Hour, Schedule: &planned}
	m, err := newMachine(entry, s, o, false, whole)
	if err != nil {
		return err.Error()
	}
	schedule := m.compiled[true].Schedule()
	q := exportThatEnds(t, entry)
	for n := range polledJobs {
		q.End = d.Quantile((float64(n) + 0.5) / polledJobs)
		r := m.run(t, q, whole, *seed)
		if r.status != pollcore.Succeeded {
			return fmt.Sprintf("a job of %s is %s: %s", q.End, r.status, r.reason)
		}
		if calls, at, _ := seeEnd(schedule, q.End); r.attempts != calls || r.elapsed != at {
			return fmt.Sprintf("a job of %s is polled %d times and seen at %s, want %d and %s", q.End, r.attempts, r.elapsed, calls, at)
		}
	}
	var calls, late, seen float64
	for n := range countedJobs {
		end := d.Quantile((float64(n) + 0.5) / countedJobs)
		polls, at, sees := seeEnd(schedule, end)
		calls += float64(polls) / countedJobs
		if sees {
			late += (at - end).Seconds()
			seen++
		}
	}
	late /= seen
	cost := plan.Measure(d, schedule)
	if math.Abs(calls-cost.Calls) > callsRange*cost.Calls || math.Abs(late-cost.Mean.Seconds()) > latenessRange*cost.Mean.Seconds() {
		return fmt.Sprintf("%.2f calls and %.1f s late, but plan says %.2f and %.1f", calls, late, cost.Calls, cost.Mean.Seconds())
	}
	return ""
}

// seeEnd polls by a schedule until it sees that a job has ended, if it does.
func seeEnd(s pollcore.Schedule, end time.Duration) (calls int, at time.Duration, sees bool) {
	at = s.First()
	for calls = 1; at < end; calls++ {
		next := s.Next(pollcore.Retry, pollcore.Progress{Attempts: calls, Elapsed: at})
		if next.Status != pollcore.Running {
			return calls, at, false
		}
		at += next.Delay
	}
	return calls, at, true
}

// exportThatEnds is a sequence of answers of which the last is a success.
func exportThatEnds(t *testing.T, entry *catalog.Entry) *responses.Sequence {
	t.Helper()
	sequencer, err := responses.NewSequencer(entry, *seed)
	require.NoError(t, err)
	for n := range 1000 {
		q, err := sequencer.Make(n, *seed, time.Hour)
		require.NoError(t, err)
		plain := q.Timed && len(q.Answers) > 1 && q.Faults() == 0
		for _, a := range q.Answers {
			plain = plain && a.Err == nil
		}
		if plain && q.Want.State == pollcore.Success {
			q.Latency = 0
			return q
		}
	}
	t.Fatal("no sequence of the export ends in success")
	return nil
}
