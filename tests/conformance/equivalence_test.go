package conformance_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/responses"
)

var sequences = flag.Int("sequences", 1, "the number of sequences for each entry and strategy in the suites equivalence and signals")

var equivalenceSuites = []suite{
	{name: "equivalence", cases: 3099, times: sequences, run: runEquivalence},
}

// schedules are the options with which entries are compiled, in turn.
var schedules = []func(w *pollcore.Waiter) compile.Options{
	// The waiter's own delays.
	func(w *pollcore.Waiter) compile.Options {
		return compile.Options{MaxWait: 20 * pollcore.NewSchedule(w, time.Hour).Max}
	},
	// A fixed delay.
	func(*pollcore.Waiter) compile.Options {
		return compile.Options{MaxWait: 10 * time.Minute, MinDelay: 10 * time.Second, MaxDelay: 10 * time.Second}
	},
	// Delays that grow, a time that they do not divide, and a wait before the first call.
	func(*pollcore.Waiter) compile.Options {
		return compile.Options{
			MaxWait: 301 * time.Second, MinDelay: 2 * time.Second, MaxDelay: 30 * time.Second, InitialDelay: 20 * time.Second,
		}
	},
	// A schedule as data.
	func(*pollcore.Waiter) compile.Options {
		return compile.Options{MaxWait: 307 * time.Second, Schedule: &pollcore.Planned{
			Delays: []time.Duration{20 * time.Second, 3 * time.Second, 3 * time.Second, 12 * time.Second, 5 * time.Second}, Then: 25 * time.Second,
		}}
	},
	// One whose first delay is drawn.
	func(*pollcore.Waiter) compile.Options {
		return compile.Options{MaxWait: 307 * time.Second, Schedule: &pollcore.Planned{
			Delays: []time.Duration{0, 8 * time.Second, 30 * time.Second}, Then: 11 * time.Second, Jitter: 40 * time.Second,
		}}
	},
}

// strategy is a row of the table: what is promised of a strategy besides the
// status, the acceptor, the reason and the output, which are those of
// [pollcore.Wait].
type strategy struct {
	name compile.Strategy
	// delays makes a wait by pollcore draw what a run of the machine did, so that
	// it makes as many calls in the same time, but for what is rounded up to
	// whole seconds and for calls that are repeated in place.
	delays func(r *run) pollcore.WaitOption
	// lambda tells that the Lambda functions judge. A fault that outlasts their
	// budget is their own error then, ServiceUnavailable.
	lambda bool
	// overruns tells that the last delay is not cut to end at the deadline.
	overruns bool
	// counts tells that calls repeated in place count as attempts.
	counts bool
	// early tells that a waiter which retries errors has a quarter of the time
	// for them alone, and times out after the other three.
	early bool
}

// drawn has the delays of the machine, which are whole seconds. What a schedule
// does not allow is brought inside its bounds, and shows.
func drawn(r *run) pollcore.WaitOption {
	n := 0
	return pollcore.Jitter(func(lo, hi time.Duration) time.Duration {
		if n++; n > len(r.delays) {
			return lo
		}
		return min(max(lo.Round(time.Second), r.delays[n-1]), hi.Round(time.Second))
	})
}

// undrawn has the delays in the middle, as a Retry block without jitter.
func undrawn(*run) pollcore.WaitOption {
	return pollcore.Jitter(func(lo, hi time.Duration) time.Duration { return (lo + hi) / 2 })
}

// LambdaEvents and SyncTask are not among them: suite signals has them run.
var strategies = []strategy{
	{name: compile.LambdaLoop, delays: drawn, lambda: true},
	{name: compile.LambdaRetry, delays: undrawn, lambda: true, overruns: true, counts: true},
	{name: compile.Loop, delays: func(r *run) pollcore.WaitOption { return pollcore.Every(r.low) }, overruns: true},
	{name: compile.Variables, delays: drawn},
	{name: compile.RetryTask, delays: undrawn, overruns: true, counts: true, early: true},
}

// runEquivalence has pollcore.Wait and the machines that its waiter is compiled
// to meet the same answers of the service, and compares what comes of it.
func runEquivalence(t *testing.T, _ string) result {
	t.Helper()
	r := &equivalence{result: result{failures: map[string]string{}}, verdicts: map[string]int{}, forms: map[string]int{}, varied: map[compile.Strategy]int{}}
	all := append(entries(t), handwritten(t)...)
	shards := runtime.GOMAXPROCS(0)
	t.Run("equivalence", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < len(all); i += shards {
					r.entry(t, all[i])
				}
			})
		}
	})
	for _, s := range strategies {
		require.Positive(t, r.varied[s.name], "%s has several delays of a schedule", s.name)
	}
	r.notes = append(r.notes, fmt.Sprintf("seed %d, %d sequences each: verdicts of pollcore.Wait %v, runs %v", *seed, *sequences, r.verdicts, r.forms))
	return r.result
}

// handwritten are waiters with what no waiter of the catalogue has.
func handwritten(t *testing.T) []*catalog.Entry {
	t.Helper()
	export, task := pollcore.Output("ExportDescription.ExportStatus"), pollcore.Output("services[].status")
	var all []*catalog.Entry
	for _, h := range []struct {
		service, operation string
		waiter             *pollcore.Waiter
	}{
		{"dynamodb", "DescribeExport", pollcore.MustNew("InputAndOutput",
			pollcore.Fail(pollcore.InputOutput("input.ExportArn != output.ExportDescription.ExportArn").IsTrue()),
			pollcore.Succeed(export.Is("COMPLETED")), pollcore.Fail(export.Is("FAILED")))},
		{"dynamodb", "DescribeExport", pollcore.MustNew("AnyResponse",
			pollcore.Again(export.Is("IN_PROGRESS")), pollcore.Again(pollcore.ErrorType("ExportNotFoundException")),
			pollcore.Succeed(pollcore.AnyResponse()))},
		{"ecs", "DescribeServices", pollcore.MustNew("MessageOfMany",
			pollcore.FailWithMessage(task.Any("INACTIVE"), "services[].deployments[].rolloutStateReason"), pollcore.Succeed(task.All("ACTIVE")))},
		{"ecs", "DescribeServices", pollcore.MustNew("Times",
			pollcore.Succeed(pollcore.Output("length(services[?createdAt > `1700500000`]) > `0`").IsTrue()), pollcore.Fail(task.Any("INACTIVE")))},
		{"dynamodb", "DescribeExport", pollcore.MustNew("AnyErrorEnds",
			pollcore.Fail(pollcore.ErrorType("LimitExceededException")), pollcore.Succeed(pollcore.AnyError()),
			pollcore.Fail(export.Is("FAILED")))},
		{"dynamodb", "DescribeExport", pollcore.MustNew("AnyErrorGoesOn",
			pollcore.Fail(pollcore.ErrorType("ExportNotFoundException")), pollcore.Succeed(export.Is("COMPLETED")),
			pollcore.Again(pollcore.AnyError()))},
	} {
		service, err := catalog.AWS().Service(h.service)
		require.NoError(t, err)
		require.Contains(t, service.Operations, h.operation)
		all = append(all, &catalog.Entry{
			Name: h.waiter.Name, Kind: catalog.AWSWaiter, Service: service, Operation: service.Operations[h.operation], Waiter: h.waiter,
		})
	}
	return all
}

// equivalence is the suite under way.
type equivalence struct {
	result

	mu       sync.Mutex
	verdicts map[string]int
	forms    map[string]int
	varied   map[compile.Strategy]int // runs with several delays of a schedule
}

// entry compares all strategies that take an entry.
func (e *equivalence) entry(t *testing.T, entry *catalog.Entry) {
	t.Helper()
	name := entry.Service.Key + " " + entry.Name
	sequencer, err := responses.NewSequencer(entry, *seed)
	require.NoError(t, err, name)
	check, err := pollcore.Compile[any, any](entry.Waiter)
	require.NoError(t, err, name)
	turn := int(drawFor(name).Uint32N(uint32(len(schedules))))
	for i := range schedules {
		o := schedules[(i+turn)%len(schedules)](entry.Waiter)
		machines := map[bool][]*machine{}
		for n := i; n < *sequences; n += len(schedules) {
			// What is run is drawn, so that all meets all.
			draw := drawFor(fmt.Sprintf("%s, sequence %d", name, n))
			starts := entry.Job != nil && draw.IntN(2) == 0
			forms := map[compile.Strategy]form{}
			for _, s := range strategies {
				all := s.forms()
				forms[s.name] = all[draw.IntN(len(all))]
			}
			pollers, ok := machines[starts]
			if !ok {
				pollers = compiledBy(t, entry, o, starts, forms)
				machines[starts] = pollers
			}
			q, err := sequencer.Make(n, *seed, o.MaxWait)
			require.NoError(t, err, name)
			runs := make([]*run, len(pollers))
			for k, m := range pollers {
				runs[k] = m.run(t, q, forms[m.strategy.name], *seed+uint64(n))
			}
			synctest.Test(t, func(t *testing.T) {
				w := &wait{check: check, sequence: q, options: o}
				e.compare(t, name, w, pollers, runs)
			})
		}
	}
}

// drawFor draws for a purpose, with the seed.
func drawFor(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(*seed, h.Sum64()))
}

// compiledBy are the machines of the strategies that take an entry, each compiled
// to the form that is run first.
func compiledBy(t *testing.T, entry *catalog.Entry, o compile.Options, starts bool, forms map[compile.Strategy]form) []*machine {
	t.Helper()
	var all []*machine
	for _, s := range strategies {
		m, err := newMachine(entry, s, o, starts, forms[s.name])
		if isRefused(err) {
			continue
		}
		require.NoError(t, err, entry.Name)
		all = append(all, m)
	}
	return all
}

// compare adds what comes of a sequence.
func (e *equivalence) compare(t *testing.T, name string, w *wait, pollers []*machine, runs []*run) {
	t.Helper()
	own := w.run(t)
	e.mu.Lock()
	e.verdicts[string(own.status)]++
	e.mu.Unlock()
	for k, m := range pollers {
		problems := slices.Concat(wrong(w, own), m.differences(t, w, own, runs[k]))
		e.mu.Lock()
		e.total++
		e.forms[string(runs[k].form)]++
		if m.starts {
			e.forms["started and stopped"]++
		}
		if m.options.Schedule != nil && len(slices.Compact(slices.Clone(runs[k].delays))) > 1 {
			e.varied[m.strategy.name]++
		}
		if len(problems) > 0 {
			e.failures[fmt.Sprintf("%s as %s, %s: %s", name, m.strategy.name, runs[k].form, w.sequence.Name)] = strings.Join(problems, "; ")
		}
		e.mu.Unlock()
	}
}

// wrong says where pollcore.Wait is not what the second implementation wants of
// the sequence.
func wrong(w *wait, own *run) []string {
	q := w.sequence
	want := map[pollcore.Verdict]pollcore.Status{
		pollcore.Success: pollcore.Succeeded, pollcore.Failure: pollcore.Failed, pollcore.Retry: pollcore.TimedOut,
	}[q.Want.State]
	if q.Timed && q.End > w.options.MaxWait {
		want = pollcore.TimedOut
	}
	var problems []string
	if own.status != want {
		problems = append(problems, fmt.Sprintf("pollcore.Wait says %s, want %s", own.status, want))
	}
	if want != pollcore.TimedOut && own.acceptor != q.Want.Acceptor {
		problems = append(problems, fmt.Sprintf("pollcore.Wait says acceptor %d, want %d", own.acceptor, q.Want.Acceptor))
	}
	return problems
}
