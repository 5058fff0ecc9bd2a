package conformance_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
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
// polls each job as often, sees its end as late, and takes as many transitions and events
// as its schedule says, and the schedule needs the calls and has the lateness that plan
// prints. One more is the strategy that takes no schedule.
var plannedSuites = []suite{{
	name: "planned", cases: len(plannedDurations)*len(plannedMethods)*(len(strategies)+1) + 1, run: runPlanned,
}}

func runPlanned(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	var mu sync.Mutex
	tell := func(what, problem string) {
		mu.Lock()
		defer mu.Unlock()
		r.total++
		if problem != "" {
			r.failures[what] = problem
		}
	}
	export, query := find(t, "ExportTableToPointInTime"), find(t, "StartQueryExecution")
	t.Run("planned", func(t *testing.T) {
		for _, durations := range plannedDurations {
			t.Run(durations, func(t *testing.T) {
				t.Parallel()
				d, err := plan.Parse(durations)
				require.NoError(t, err)
				for _, method := range plannedMethods {
					planned, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{Method: method})
					require.NoError(t, err)
					what := fmt.Sprintf("%s, method %q as ", durations, planned.Method)
					o := compile.Options{MaxWait: d.Quantile(0.999).Truncate(time.Second) + time.Hour, Schedule: &planned.Schedule}
					for _, s := range strategies {
						tell(what+string(s.name), followPlan(t, newPolled(t, export, s, o), d))
					}
					tell(what+string(compile.LambdaEvents), followPlan(t, newCollected(t, query, o), d))
				}
			})
		}
		t.Run(string(compile.SyncTask), func(t *testing.T) {
			t.Parallel()
			tell(string(compile.SyncTask), pollOnce(t, find(t, "CreateTrainingJob")))
		})
	})
	r.notes = append(r.notes, fmt.Sprintf("%d jobs each; calls within %g %% and lateness within %g %% of plan's", polledJobs, 100*callsRange, 100*latenessRange))
	return r
}

func find(t *testing.T, name string) *catalog.Entry {
	t.Helper()
	all := entries(t)
	return all[slices.IndexFunc(all, func(e *catalog.Entry) bool { return e.Name == name })]
}

// plannedMachine starts a job and polls it.
type plannedMachine struct {
	*machine

	// of runs it for a job that ends at a time.
	of func(end time.Duration) *run
}

// newPolled is a machine that polls by itself.
func newPolled(t *testing.T, entry *catalog.Entry, s strategy, o compile.Options) plannedMachine {
	t.Helper()
	m, err := newMachine(entry, s, o, true, whole)
	require.NoError(t, err)
	q := jobThatEnds(t, entry)
	return plannedMachine{m, func(end time.Duration) *run {
		q.End = end
		return m.run(t, q, whole, *seed)
	}}
}

// newCollected is a machine whose job the collector polls, by the schedule in its record:
// AWS sends an event of the end, but it is not delivered.
func newCollected(t *testing.T, entry *catalog.Entry, o compile.Options) plannedMachine {
	t.Helper()
	require.NotNil(t, entry.Job.Event)
	m := &machine{
		entry: entry, strategy: strategy{name: compile.LambdaEvents, lambda: true}, options: o,
		call: compile.CallOf(entry), compiled: map[bool]*compile.Compiled{},
	}
	_, err := m.compile(whole)
	require.NoError(t, err)
	service := &signaledService{entry: entry}
	driver, err := awsjob.NewDriver(service.config(), catalog.AWS(), compile.CallOf(entry).Job)
	require.NoError(t, err)
	sequencer, err := responses.NewSequencer(entry, *seed)
	require.NoError(t, err)
	return plannedMachine{m, func(end time.Duration) *run {
		q := jobThatEnds(t, entry)
		c := &collected{machine: m, service: service, driver: driver, draw: drawFor("planned"), form: whole, quiet: true}
		c.job, err = newSignaledJob(entry, 0, &player{Sequence: q})
		require.NoError(t, err)
		require.NoError(t, c.job.ask(nil))
		require.NoError(t, c.job.fit(sequencer, q))
		q.End = end
		return c.run(t)
	}}
}

// followPlan says where a machine does not what its schedule says.
func followPlan(t *testing.T, m plannedMachine, d plan.Distribution) string {
	t.Helper()
	schedule, name := m.compiled[true].Schedule(), m.strategy.name
	held, _ := name.Hold(*m.options.Schedule)
	steps, phases := name.Steps(held.Before(1) > 0), name.PhaseEnds(held)
	for n := range polledJobs {
		end := d.Quantile((float64(n) + 0.5) / polledJobs)
		r := m.of(end)
		if r.status != pollcore.Succeeded {
			return fmt.Sprintf("a job of %s is %s: %s", end, r.status, r.reason)
		}
		calls, at, _ := seeEnd(schedule, end)
		if r.attempts != calls || r.elapsed != at {
			return fmt.Sprintf("a job of %s is polled %d times and seen at %s, want %d and %s", end, r.attempts, r.elapsed, calls, at)
		}
		transitions, events := calls*steps.Transitions+steps.Besides.Transitions, calls*steps.Events+steps.Besides.Events
		for _, ends := range phases {
			if end > ends {
				transitions, events = transitions+steps.Phase.Transitions, events+steps.Phase.Events
			}
		}
		if r.result.Transitions != transitions || len(r.result.Events) != events {
			return fmt.Sprintf("a job of %s takes %d transitions and %d events, want %d and %d", end, r.result.Transitions, len(r.result.Events), transitions, events)
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
	cost := plan.MeasurePlanned(d, held) // as the command does
	if math.Abs(calls-cost.Calls) > callsRange*cost.Calls || math.Abs(late-cost.Mean.Seconds()) > latenessRange*cost.Mean.Seconds() {
		return fmt.Sprintf("%.2f calls and %.1f s late, but plan says %.2f and %.1f", calls, late, cost.Calls, cost.Mean.Seconds())
	}
	return ""
}

// pollOnce says where a machine does not make the one call that plan counts, or takes a
// schedule.
func pollOnce(t *testing.T, entry *catalog.Entry) string {
	t.Helper()
	o := compile.Options{Strategy: compile.SyncTask, MaxWait: 2 * time.Hour, Schedule: &pollcore.Planned{Delays: []time.Duration{0}, Then: time.Minute}}
	if _, err := compile.Compile(entry.Waiter, compile.CallOf(entry), o); !isRefused(err) || !strings.Contains(err.Error(), "leave the schedule out") {
		return fmt.Sprintf("a schedule is not refused: %v", err)
	}
	o.Schedule = nil
	m := &syncMachine{machine: machine{
		entry: entry, strategy: strategy{name: compile.SyncTask}, options: o, call: compile.CallOf(entry), compiled: map[bool]*compile.Compiled{}, starts: true,
	}, form: whole}
	q := jobThatEnds(t, entry)
	q.End = time.Hour
	m.ends = q.End
	r := m.run(t, q, *seed)
	if r.status != pollcore.Succeeded || r.attempts != 1 || r.elapsed != q.End {
		return fmt.Sprintf("a job of %s is %s after %d polls and %s", q.End, r.status, r.attempts, r.elapsed)
	}
	steps := compile.SyncTask.Steps(false)
	transitions, events := steps.Transitions+steps.Besides.Transitions, steps.Events+steps.Besides.Events
	if r.result.Transitions != transitions || len(r.result.Events) != events {
		return fmt.Sprintf("it takes %d transitions and %d events, want %d and %d", r.result.Transitions, len(r.result.Events), transitions, events)
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

// jobThatEnds is a sequence of answers of which the last is a success.
func jobThatEnds(t *testing.T, entry *catalog.Entry) *responses.Sequence {
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
	t.Fatal("no sequence of the job ends in success")
	return nil
}
