package compile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/tests/race"
)

// No execution reaches its limit, of each job by some strategies, where the job never
// ends, each call takes all of its minute, and every retry is needed: from the first
// call on, or only when the time is nearly over.
func TestNoExecutionReachesItsLimit(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	runs := map[compile.Strategy]int{}
	entries, taken := 0, 0
	sample := race.OneIn(4, list)
	if race.Enabled { // a sample may have none of the few services whose jobs a .sync Task runs
		sample = append(sample, slices.DeleteFunc(slices.Clone(list), func(l catalog.Listing) bool { return l.Key != "sagemaker" })...)
	}
	for _, s := range sample {
		for _, l := range s.Entries {
			e, err := catalog.Lookup(s.Key, l.Name)
			require.NoError(t, err)
			entries++
			if e.Job == nil && entries%8 != 0 {
				continue
			}
			taken++
			for i, strategy := range compile.Strategies() {
				n := taken + i
				if n%8 != 0 && strategy != compile.SyncTask { // which few entries have
					continue
				}
				o := compile.Options{
					Strategy: strategy, MaxWait: time.Duration(1+n*7%150) * time.Minute, Fit: true, UnmodeledFails: true,
				}
				if strategy == compile.Loop { // which has no clock, and so lasts for days
					o.MaxWait /= 10
				}
				if n/8%3 == 2 && strategy.PollsByRetry() {
					o.Fit, o.Schedule = false, &pollcore.Planned{Delays: seconds(30, 20, 20, 20, 300, 45, 45), Then: 2 * time.Minute}
				}
				if c := compileWhole(t, e, o); c != nil {
					runs[strategy]++
					from := []time.Duration{0, o.MaxWait - 30*time.Second}[n/8%2]
					(&worst{start: sim.DefaultStart(), maxWait: o.MaxWait, from: from}).run(t, c, e)
				}
			}
		}
	}
	for _, strategy := range compile.Strategies() {
		require.GreaterOrEqual(t, runs[strategy], race.Of(5, 1), strategy)
	}
}

// compileWhole returns nil for a strategy that cannot take the entry.
func compileWhole(t *testing.T, e *catalog.Entry, o compile.Options) *compile.Compiled {
	t.Helper()
	call := compile.CallOf(e)
	if o.Strategy.Waits() {
		call.Stop = nil
	}
	c, err := compile.Compile(e.Waiter, call, o)
	if err != nil {
		require.ErrorIs(t, err, compile.ErrNotCompiled)
		return nil
	}
	return c
}

// worst is a service, or the two functions, that fails as often as a machine tries again.
type worst struct {
	start         time.Time
	started       time.Time // by run-job, from which the functions count
	maxWait, from time.Duration
	failures      map[string][]int64 // by state and retrier, in its present visit
}

func (w *worst) run(t *testing.T, c *compile.Compiled, e *catalog.Entry) {
	t.Helper()
	text := strings.ReplaceAll(string(asl.Print(c.Machine)), `"FULL"`, `"NONE"`) // the longest that can be drawn
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	w.failures = map[string][]int64{}
	what := fmt.Sprintf("%s %s, %s from %s", e.FullName(), c.Strategy, w.maxWait, w.from)
	r, err := sim.Run(t.Context(), m, input(t, e), sim.Options{Clock: sim.NewVirtualClock(w.start), MaxEvents: -1, StateHandlers: w.handlers(t, m)})
	require.NoError(t, err, what)
	require.NotEqual(t, sim.StatusTimedOut, r.Status, "%s: reaches %d s", what, m.TimeoutSeconds)
	if e.Job != nil { // a resource may be there from the beginning
		require.Equal(t, "JobPoller.TimedOut", r.Error, "%s: %s", what, r.Cause)
		require.GreaterOrEqual(t, r.Duration(), w.maxWait*3/4, what) // a quarter can be for errors
	}
	if c.Strategy != compile.Loop {
		require.Less(t, time.Duration(m.TimeoutSeconds)*time.Second, 2*w.maxWait+3*time.Hour, what)
	}
}

// handlers returns a handler for each Task, which fails several times before it answers.
func (w *worst) handlers(t *testing.T, m *asl.StateMachine) map[string]sim.Handler {
	t.Helper()
	plan, err := simulate.New(m, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(300 * 24 * time.Hour)}}, Models: models.Load})
	require.NoError(t, err)
	mocks, err := plan.Mocks()
	require.NoError(t, err)
	var simulated sim.Options
	require.NoError(t, mocks.Apply(m, "", &simulated))
	all := map[string]sim.Handler{}
	for s := range m.All {
		if s.Task == nil {
			continue
		}
		answer := simulated.StateHandlers[s.Name]
		if answer == nil {
			answer = simulated.Handlers[s.Task.Resource]
		}
		if strings.Contains(s.Task.Resource, ":lambda:invoke") {
			answer = w.function(s)
		}
		require.NotNil(t, answer, s.Name)
		all[s.Name] = w.failing(s, answer)
	}
	return all
}

// almost is the time of a call that is nearly too long for its Task.
const almost = 59 * time.Second

// standsForPolls tells whether a retrier is of an error that stands for a job that runs.
func standsForPolls(r asl.Retrier) bool {
	name := r.ErrorEquals[0]
	return strings.HasPrefix(name, "JobPoller.Running") || name == "States.QueryEvaluationError"
}

// failing fails until no retrier takes the error.
func (w *worst) failing(s *asl.State, answer sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if call.RetryCount == 0 {
			w.failures[s.Name] = make([]int64, len(s.Retry))
		}
		for i, r := range s.Retry {
			failed := w.failures[s.Name]
			if call.Time.Sub(w.start) >= w.from && failed[i] < r.MaxAttempts && !standsForPolls(r) {
				failed[i]++
				return sim.Reply{}, &sim.TaskError{Name: r.ErrorEquals[0], Latency: almost}
			}
		}
		reply, err := answer(ctx, call)
		if !reply.Never && reply.Submitted == nil {
			reply.Latency = almost
		}
		return reply, err
	}
}

// function is run-job or check-status.
func (w *worst) function(s *asl.State) sim.Handler {
	return func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if s.Name == "RunJob" {
			w.started = call.Time
		}
		if call.TaskToken != "" {
			return sim.Reply{Never: true}, nil
		}
		left := w.started.Add(w.maxWait).Sub(call.Time)
		status := "RUNNING"
		if left <= 0 {
			status = "TIMED_OUT"
		}
		for _, r := range slices.Backward(s.Retry) { // of a schedule, the longest delay
			if left > 0 && standsForPolls(r) {
				return sim.Reply{}, &sim.TaskError{Name: r.ErrorEquals[0], Latency: almost}
			}
		}
		wait := min(left, time.Minute)
		return sim.Reply{Output: values{"Payload": values{"status": status, "waitSeconds": max(0, int(wait/time.Second)), "reason": "it is " + status}}}, nil
	}
}

// input has all members that the first call can have.
func input(t *testing.T, e *catalog.Entry) []byte {
	t.Helper()
	op := e.Operation
	if e.Job != nil {
		op = e.Service.Operations[e.Name]
	}
	members := values{}
	if op.Input != nil {
		for _, m := range op.Input.Members {
			members[javasdk.MemberName(m.Name)] = "x"
		}
	}
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return text
}
