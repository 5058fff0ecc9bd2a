package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// t stands in the examples for a *testing.T.
var t = exampleT{}

type exampleT struct{}

func (exampleT) Helper()                           {}
func (exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (exampleT) Context() context.Context          { return context.Background() }

// recorder is a test that can fail without failing.
type recorder struct {
	*testing.T

	failure string
}

// stopped is what Fatalf panics with, since a test that fails does not go on.
type stopped struct{}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	panic(stopped{})
}

// failure is how f fails its test; empty if it does not.
func failure(t *testing.T, f func(t simtest.T)) (text string) {
	t.Helper()
	r := &recorder{T: t}
	defer func() {
		if p := recover(); p != nil {
			require.Equal(t, stopped{}, p)
		}
		text = r.failure
	}()
	f(r)
	return r.failure
}

const machine = `{"TimeoutSeconds": 100, "StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 1}], "Next": "B"},
	"B": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 1, "Next": "C"}], "Default": "D"},
	"C": {"Type": "Wait", "Seconds": 10, "End": true}, "D": {"Type": "Wait", "Seconds": 200, "End": true}}}`

// Every assertion holds for what happened, and fails for anything else, with
// a trace.
func TestRequire(t *testing.T) {
	t.Parallel()
	run := func(t simtest.T) *simtest.Run {
		s := simtest.New(t, machine)
		s.On("A").Fail("E", "once").Return(1)
		return s.Run(nil)
	}
	failing := func(t simtest.T) *simtest.Run {
		s := simtest.New(t, machine)
		s.On("A").Fail("Broken", "the disk is full")
		return s.Run(nil)
	}
	late := func(t simtest.T) *simtest.Run {
		s := simtest.New(t, machine)
		s.On("A").Return(2)
		return s.Run(nil)
	}
	tests := []struct {
		name        string
		run         func(simtest.T) *simtest.Run
		holds, fail func(*simtest.Run)
		message     string
	}{
		{"succeeded", run, func(r *simtest.Run) { r.RequireSucceeded() }, func(r *simtest.Run) { r.RequireFailed("E") }, `ended SUCCEEDED with error ""; want FAILED with error "E"`},
		{"failed", failing, func(r *simtest.Run) { r.RequireFailed("Broken", "disk") }, func(r *simtest.Run) { r.RequireSucceeded() }, `ended FAILED with error "Broken", cause "the disk is full"; want SUCCEEDED`},
		{"error", failing, func(r *simtest.Run) { r.RequireFailed("Broken") }, func(r *simtest.Run) { r.RequireFailed("Other") }, `want FAILED with error "Other"`},
		{"cause", failing, func(r *simtest.Run) { r.RequireFailed("Broken", "full") }, func(r *simtest.Run) { r.RequireFailed("Broken", "empty") }, `want it to contain "empty"`},
		{"timed out", late, func(r *simtest.Run) { r.RequireTimedOut() }, func(r *simtest.Run) { r.RequireSucceeded() }, "ended TIMED_OUT"},
		{"not timed out", run, func(*simtest.Run) {}, func(r *simtest.Run) { r.RequireTimedOut() }, "want TIMED_OUT"},
		{"output", run, func(r *simtest.Run) { r.RequireOutput(1.0) }, func(r *simtest.Run) { r.RequireOutput(`[ 1 ]`) }, "the output is 1; want [1]"},
		{"path", run, func(r *simtest.Run) { r.RequirePath("A", "B", "C") }, func(r *simtest.Run) { r.RequirePath("A", "C") }, "the path is A > B > C\nwant        A > C\nthey part at step 2"},
		{"visits", run, func(r *simtest.Run) { r.RequireVisits("A", 1).RequireVisits("D", 0) }, func(r *simtest.Run) { r.RequireVisits("D", 1) }, `state "D" was entered 0 times; want 1`},
		{"no such state", run, func(*simtest.Run) {}, func(r *simtest.Run) { r.RequireVisits("X", 0) }, `no state "X"`},
		{"attempts", run, func(r *simtest.Run) { r.RequireAttempts("A", 2).RequireAttempts("C", 0) }, func(r *simtest.Run) { r.RequireAttempts("A", 1) }, `was called 2 times; want 1`},
		{"elapsed", run, func(r *simtest.Run) { r.RequireElapsed(11 * time.Second) }, func(r *simtest.Run) { r.RequireElapsed(time.Second) }, "took 11s of virtual time; want 1s"},
		{"elapsed between", run, func(r *simtest.Run) { r.RequireElapsedBetween(10*time.Second, 11*time.Second) }, func(r *simtest.Run) { r.RequireElapsedBetween(0, time.Second) }, "want 0s to 1s"},
		{"transitions", run, func(r *simtest.Run) { r.RequireTransitions(4) }, func(r *simtest.Run) { r.RequireTransitions(5) }, "took 4 transitions; want 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, failure(t, func(t simtest.T) { tt.holds(tt.run(t)) }))
			message := failure(t, func(t simtest.T) { tt.fail(tt.run(t)) })
			require.Contains(t, message, tt.message)
			if tt.name != "no such state" {
				require.Contains(t, message, "ExecutionStarted", "the trace")
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	s := simtest.New(t, machine)
	s.On("A").Return(1).Return(2)
	s.Run(nil)
	recorded := failure(t, func(r simtest.T) {
		s := simtest.New(r, machine)
		s.On("A").Return(1)
		s.Run(nil)
		s.RequireCovered("D")
		s.RequireTransitionsCovered()
	})
	require.Equal(t, "transitions that no run took:\n  B -> D (Default)", recorded)
	require.Equal(t, "states that no run entered: D", failure(t, func(r simtest.T) {
		s := simtest.New(r, machine)
		s.On("A").Return(1)
		s.Run(nil)
		s.RequireCovered()
	}))
	s.Run(nil)
	s.RequireCovered()
	s.RequireTransitionsCovered()
}

func TestSetUpMistakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		f    func(t simtest.T)
		want string
	}{
		"definition":       {func(t simtest.T) { simtest.New(t, `{"StartAt": "A"}`) }, "needs the field \"States\""},
		"file":             {func(t simtest.T) { simtest.File(t, "nowhere.json") }, "nowhere.json"},
		"state":            {func(t simtest.T) { simtest.New(t, machine).On("AA") }, `no state or resource "AA"`},
		"Task without one": {func(t simtest.T) { simtest.New(t, machine).Run(nil) }, `state "A": resource "arn:aws:states:::lambda:invoke" has no handler`},
		"input":            {func(t simtest.T) { simtest.New(t, machine).Run(func() {}) }, "unsupported type"},
		"job":              {func(t simtest.T) { simtest.New(t, machine).Job(&mock.Job{}, "", "A", "") }, "path of its status"},
		"too few answers": {func(t simtest.T) {
			s := simtest.New(t, machine)
			s.On("A").Fail("E", "").Times(1)
			s.Run(nil)
		}, `call 2 of state "A"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, failure(t, tt.f), tt.want)
		})
	}
}
