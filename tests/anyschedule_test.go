package tests_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// faultDelay is the longest delay before a call is made again after its first fault.
const faultDelay = 2 * time.Second

// drawSchedule draws a schedule of up to 60 delays, some of which repeat.
func drawSchedule(t *rapid.T) pollcore.Planned {
	seconds := func(name string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Second
	}
	p := pollcore.Planned{
		Delays: []time.Duration{seconds("first", 0, 300)}, Then: seconds("then", 1, 400),
		Jitter: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 45}).Draw(t, "jitter")) * time.Second,
	}
	for range rapid.IntRange(0, 12).Draw(t, "stretches") {
		delay := seconds("delay", 1, 200)
		p.Delays = append(p.Delays, slices.Repeat([]time.Duration{delay}, rapid.IntRange(1, 5).Draw(t, "times"))...)
	}
	return p
}

// scheduled is a job that does not end, and the calls that poll it. One call may meet a
// fault, which its state retries, and one may end the execution.
type scheduled struct {
	export

	// fault and end are the numbers of these calls: from 1, and 0 that of run-job; -1 is none.
	fault, end int
	calls      int
	began      time.Time       // of the execution, or of its redrive
	at         []time.Duration // of the polls since then
	// faulted is the place in at of the poll that the fault made late; -1 is none.
	faulted int
}

func (s *scheduled) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	s.at = append(s.at, s.clock.Now().Sub(s.began))
	return s.export.Describe(ctx, ref)
}

// call answers a call of a state with a fault, or ends the execution, if it is its turn.
func (s *scheduled) call(fault string, next sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		number := 0
		if call.State != "RunJob" {
			s.calls++
			number = s.calls
		}
		switch number {
		case s.fault:
			s.fault, s.faulted = -1, len(s.at)
			return sim.Reply{}, &sim.TaskError{Name: fault}
		case s.end:
			s.end = -1
			return sim.Reply{}, &sim.TaskError{Name: "States.Runtime"}
		}
		return next(ctx, call)
	}
}

func (s *scheduled) handlers(t *testing.T) map[string]sim.Handler {
	t.Helper()
	registry, err := jobs.NewRegistry(s)
	require.NoError(t, err)
	collector := localloop.NewCollector(s.clock, 1)
	functions, err := handler.New(handler.Config{
		Store: memstore.New(s.clock.Now), Jobs: registry, Now: s.clock.Now, NoDwell: true, Queue: collector, Tasks: collector,
	})
	require.NoError(t, err)
	collector.Start(functions.Collect)
	t.Cleanup(func() { require.NoError(t, collector.Close()) })
	invoke := s.call("Lambda.ServiceException", sim.LambdaInvoke(localloop.Functions(functions)))
	return map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:dynamodb:describeExport": s.call("DynamoDb.InternalServerErrorException", func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
			output, err := s.Describe(ctx, nil)
			return sim.Reply{Output: output}, err
		}),
		"arn:aws:states:::lambda:invoke": invoke, "arn:aws:states:::lambda:invoke.waitForTaskToken": collector.Handler(invoke),
	}
}

// check compares the polls with a schedule from its call n on. The first poll comes
// between two times, and the last, where the time was over, at the deadline or before.
func (s *scheduled) check(t require.TestingT, p pollcore.Planned, strategy compile.Strategy, n int, least, most time.Duration, over bool) {
	late := func(i int) time.Duration {
		if i == s.faulted {
			return faultDelay
		}
		return 0
	}
	between := append(slices.Clone(p.Delays[1:]), p.Then)
	for i, at := range s.at {
		if i == 0 {
			require.GreaterOrEqual(t, at, least)
			require.LessOrEqual(t, at, most+late(0))
			continue
		}
		delay := at - s.at[i-1]
		what := []any{"poll %d of %v, from call %d; poll %d met a fault", i, s.at, n, s.faulted}
		if strategy == compile.LambdaRetry && s.faulted >= 0 && i > s.faulted && slices.Min(between) <= 2*faultDelay {
			// The function tells by the time which call it was. Among delays that are as
			// short as the fault it takes a neighbour.
			require.LessOrEqual(t, delay, slices.Max(between), what...)
			continue
		}
		if last := over && i == len(s.at)-1; !last {
			require.GreaterOrEqual(t, delay, p.Before(n+i), what...)
		}
		require.LessOrEqual(t, delay, p.Before(n+i)+late(i), what...)
	}
}

// heldUntil is what the states of RetryTask hold of a schedule: the delay in which the max
// wait ends is the last, also behind a redrive, which waits anew.
func heldUntil(maxWait time.Duration, p pollcore.Planned) pollcore.Planned {
	at := p.Before(1)
	for n := 2; n <= len(p.Delays); n++ {
		if at += p.Before(n); at >= maxWait {
			return pollcore.Planned{Delays: p.Delays[:n], Then: p.Before(n)}
		}
	}
	return p
}

// resumeAt is the call of a schedule that a redrive makes first, where call n ended the
// execution.
func resumeAt(strategy compile.Strategy, p pollcore.Planned, n int) int {
	if strategy == compile.LambdaRetry { // its retries begin anew
		return 1
	}
	if strategy == compile.RetryTask { // those of the Task do: it has the calls with the same delay before each
		for n > 2 && p.Before(n-1) == p.Before(n) {
			n--
		}
		if n == 2 { // the delay after the first
			return 1
		}
	}
	return n
}

// followed counts the schedules that machines of a strategy followed.
type followed struct {
	strategy                   compile.Strategy
	entry                      *catalog.Entry
	compiled, faults, redrives int
}

// Whatever the schedule, a machine is refused with the reason, or it is valid, polls when
// its own schedule says, stays within its report and ends before its TimeoutSeconds: a
// fault makes one poll late, by its retry, and a redrive goes on with a poll.
func TestAnySchedule(t *testing.T) {
	t.Parallel()
	entry, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	for _, strategy := range slices.DeleteFunc(compile.Strategies(), compile.Strategy.Waits) {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			f := &followed{strategy: strategy, entry: entry}
			rapid.Check(t, func(rt *rapid.T) { f.follow(t, rt) })
			require.Positive(t, min(f.compiled, f.faults, f.redrives))
		})
	}
}

// follow compiles a schedule and runs the machine.
func (f *followed) follow(t *testing.T, rt *rapid.T) {
	t.Helper()
	planned := drawSchedule(rt)
	maxWait := time.Duration(rapid.IntRange(60, 1800).Draw(rt, "maxWait")) * time.Second
	c, err := compile.Compile(f.entry.Waiter, compile.CallOf(f.entry), compile.Options{Strategy: f.strategy, MaxWait: maxWait, Schedule: &planned})
	if err != nil {
		if planned.Before(1)+planned.Jitter <= maxWait {
			require.ErrorAs(rt, err, new(*compile.NotCompiledError))
			require.ErrorContains(rt, err, "events of the history")
		}
		return
	}
	f.compiled++
	require.Empty(rt, asl.Validate(asl.Print(c.Machine), asl.Standard))
	held := pollcore.Planned{Delays: []time.Duration{planned.Before(1)}, Then: c.Schedule().Max} // of one delay
	if several := c.Schedule().Planned; several != nil {
		held = *several
	}
	if f.strategy == compile.RetryTask {
		held = heldUntil(maxWait, held)
	}

	numbers := rapid.SampledFrom([]int{-1, -1, -1, 0, 0, 1, 2, 3, 5, 8}) // of a call
	clock := sim.NewVirtualClock(sim.DefaultStart())
	s := &scheduled{
		export: export{waiter: f.entry.Waiter, clock: clock, lasts: 10_000 * time.Hour},
		fault:  numbers.Draw(rt, "fault"), end: numbers.Draw(rt, "end"), faulted: -1, began: clock.Now(),
	}
	o := sim.Options{
		Clock: clock, Handlers: s.handlers(t), Seed: rapid.Uint64().Draw(rt, "seed"), Execution: fmt.Sprint("run-", rapid.IntRange(0, 99).Draw(rt, "execution")),
	}
	r, err := sim.Run(t.Context(), c.Machine, []byte(`{"ExportArn": "arn:export"}`), o)
	require.NoError(rt, err)
	first, over := held.Before(1), r.Error != "States.Runtime"
	s.check(rt, held, f.strategy, 1, first, first+planned.Jitter, over)
	if s.faulted >= 0 {
		f.faults++
	}
	if !over {
		f.redrives++
		pause, err := asl.Parse([]byte(`{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 10800, "End": true}}}`))
		require.NoError(rt, err)
		_, err = sim.Run(t.Context(), pause, nil, sim.Options{Clock: clock})
		require.NoError(rt, err)
		n, most := resumeAt(f.strategy, held, len(s.at)+1), first+planned.Jitter
		if s.calls > 0 { // else run-job ended it
			first, most = 0, 0
		}
		s.began, s.at, s.faulted = clock.Now(), nil, -1
		r, err = sim.Redrive(t.Context(), c.Machine, r, o)
		require.NoError(rt, err)
		s.check(rt, held, f.strategy, n, first, most, true)
	}
	require.Equal(rt, "JobPoller.TimedOut", r.Error, r.Cause)
	last := len(s.at) - 1
	require.Less(rt, s.at[last], time.Duration(c.Machine.TimeoutSeconds)*time.Second)
	if last > 0 && (over || f.strategy != compile.Loop) { // which counts its calls, and makes as many again
		require.Less(rt, s.at[last-1], maxWait+planned.Jitter+faultDelay)
	}
	if over || f.strategy == compile.Loop { // others have the time anew, for other delays
		require.LessOrEqual(rt, float64(len(s.at)), c.Report().Worst.Polls)
	}
}
