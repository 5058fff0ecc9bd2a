package sim_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// redrive runs a definition twice: once, and again where it failed.
func redrive(t *testing.T, definition, input string, h sim.Handler) (first sim.Result, second *sim.Result) {
	t.Helper()
	o := sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart()), Handlers: map[string]sim.Handler{describe: h, function: h}}
	m := parse(t, definition)
	r, err := sim.Run(t.Context(), m, []byte(input), o)
	require.NoError(t, err)
	first = *r
	second, err = sim.Redrive(t.Context(), m, r, o)
	require.NoError(t, err)
	return first, second
}

// The state that failed runs again, with the input it had, and those before
// do not.
func TestRedrive(t *testing.T) {
	t.Parallel()
	var calls []sim.Call
	h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		calls = append(calls, call)
		if call.State == "B" && len(calls) < 4 {
			return sim.Reply{}, &sim.TaskError{Name: "E", Latency: time.Second}
		}
		return sim.Reply{Output: call.State}, nil
	}
	first, r := redrive(t, `{"TimeoutSeconds": 6, "StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "ResultPath": "$.a", "Next": "W"}, "W": {"Type": "Wait", "Seconds": 2, "Next": "B"},
		"B": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "ResultPath": "$.b", "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 1}], "End": true}}}`, `{}`, h)
	require.Equal(t, sim.StatusFailed, first.Status)
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	require.JSONEq(t, `{"a":"A","b":"B"}`, string(r.Output))
	var states []string
	for _, call := range calls {
		states = append(states, call.State)
	}
	require.Equal(t, []string{"A", "B", "B", "B"}, states)
	require.Zero(t, calls[3].RetryCount, "retries count anew")
	execution := calls[3].Context["Execution"].(map[string]any)
	require.Equal(t, "1", string(jsonNumber(t, execution["RedriveCount"])))
	require.Equal(t, "2026-01-01T00:00:05.000Z", execution["RedriveTime"])
	require.NotContains(t, calls[0].Context["Execution"], "RedriveTime")
	entered := func(call sim.Call) any { return call.Context["State"].(map[string]any)["EnteredTime"] }
	require.Equal(t, "2026-01-01T00:00:02.000Z", entered(calls[1]))
	require.Equal(t, entered(calls[1]), entered(calls[3]), "as AWS has it")
	require.Equal(t, first.Transitions+2, r.Transitions, "the redrive and the state")
	require.Equal(t, []string{
		"ExecutionFailed", "ExecutionRedriven", "TaskStateEntered", "TaskScheduled", "TaskStarted", "TaskSucceeded", "TaskStateExited", "ExecutionSucceeded",
	}, types(r)[len(first.Events)-1:])
}

func TestRedriveFailFailsAgain(t *testing.T) {
	t.Parallel()
	_, r := redrive(t, `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "F"}, "F": {"Type": "Fail", "Error": "E", "Cause": "c"}}}`, `{}`, nil)
	require.Equal(t, []any{sim.StatusFailed, "E", "c"}, []any{r.Status, r.Error, r.Cause})
	require.Equal(t, []string{"FailStateEntered", "ExecutionFailed", "ExecutionRedriven", "FailStateEntered", "ExecutionFailed"}, types(r)[3:])
}

// Only what did not succeed runs again, and a new time limit holds.
func TestRedriveInside(t *testing.T) {
	t.Parallel()
	for name, definition := range map[string]string{"inline": mapOver(``), "distributed": distributed("STANDARD", ``)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := map[int]int{}
			h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
				i := call.Iterations[0]
				calls[i]++
				switch {
				case i == 1 && calls[i] == 1:
					return sim.Reply{}, &sim.TaskError{Name: "E", Latency: 2 * time.Second}
				case i == 2:
					return sim.Reply{Output: i, Latency: 3 * time.Second}, nil
				}
				return sim.Reply{Output: i}, nil
			}
			first, r := redrive(t, definition, `[0, 1, 2]`, h)
			require.Equal(t, sim.StatusFailed, first.Status)
			require.Equal(t, 2*time.Second, first.Duration())
			require.Equal(t, `[0,1,2]`, string(r.Output), r.Cause)
			require.Equal(t, map[int]int{0: 1, 1: 2, 2: 2}, calls, "0 had succeeded, 1 failed and 2 was aborted")
			require.Equal(t, 5*time.Second, r.Duration())
		})
	}
	timedOut, r := redrive(t, `{"TimeoutSeconds": 10, "StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 6, "Next": "X"}, "X": {"Type": "Wait", "Seconds": 6, "End": true}}}`, `{}`, nil)
	require.Equal(t, sim.StatusTimedOut, timedOut.Status)
	require.Equal(t, sim.StatusSucceeded, r.Status)
	require.Equal(t, 16*time.Second, r.Duration())
}

// An iteration that had just left an inner Map goes on with the next state.
func TestRedriveBetweenStates(t *testing.T) {
	t.Parallel()
	h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		execution := call.Context["Execution"].(map[string]any)
		if call.Iterations[0] == 1 && execution["RedriveCount"] == json.Number("0") {
			return sim.Reply{}, &sim.TaskError{Name: "E"}
		}
		return sim.Reply{Output: "done"}, nil
	}
	first, r := redrive(t, `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "In", "States": {
		"In": {"Type": "Map", "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "End": true}}}, "Next": "After"},
		"After": {"Type": "Pass", "End": true}}}}}}`, `[[1], [2]]`, h)
	require.Equal(t, sim.StatusFailed, first.Status)
	require.NotContains(t, types(&first), "PassStateEntered", "the other iteration stands before After")
	require.Equal(t, `[["done"],["done"]]`, string(r.Output), r.Cause)
	wellFormed(t, r)
}

// A child execution of type Express starts anew; one whose history is full
// fails for good, and the others are not started for a Map that has failed.
func TestRedriveChildren(t *testing.T) {
	t.Parallel()
	children := func(executionType string) string {
		return `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "` + executionType + `"},
			"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "ResultPath": null, "Next": "B"}, "B": {"Type": "Task", "Resource": "` + function + `", "End": true}}}}}}`
	}
	for executionType, want := range map[string]map[string]int{"STANDARD": {"A": 1, "B": 2}, "EXPRESS": {"A": 2, "B": 2}} {
		calls := map[string]int{}
		var executions []any // of B
		h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if call.State == "B" {
				executions = append(executions, call.Context["Execution"].(map[string]any)["Id"])
			}
			if calls[call.State]++; call.State == "B" && calls["B"] == 1 {
				return sim.Reply{}, &sim.TaskError{Name: "E"}
			}
			return sim.Reply{Output: call.Arguments}, nil
		}
		first, r := redrive(t, children(executionType), `[7]`, h)
		require.Equal(t, "States.ExceedToleratedFailureThreshold", first.Error)
		require.Equal(t, `[7]`, string(r.Output), r.Cause)
		require.Equal(t, want, calls, executionType)
		require.Equal(t, executionType == "STANDARD", executions[0] == executions[1], "AWS starts a new execution in the place of an Express one")
		require.Equal(t, executions[1], r.MapRuns[0].Executions[0].ExecutionARN)
		redriven := r.Events[len(first.Events)+1]
		require.Equal(t, sim.MapRunRedriven, redriven.Type)
		require.Equal(t, 1, redriven.Details().RedriveCount)
	}

	full := `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "MaxConcurrency": 1, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "C", "States": {"C": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 0, "Next": "C"}], "Default": "T"}, "T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}}}}}}`
	called := 0
	o := sim.Options{MaxEvents: 40, Clock: sim.NewVirtualClock(sim.DefaultStart()), Handlers: map[string]sim.Handler{
		describe: func(context.Context, sim.Call) (sim.Reply, error) { called++; return sim.Reply{}, nil },
	}}
	m := parse(t, full)
	r, err := sim.Run(t.Context(), m, []byte(`[0, 1]`), o)
	require.NoError(t, err)
	r, err = sim.Redrive(t.Context(), m, r, o)
	require.NoError(t, err)
	require.Equal(t, "States.ExceedToleratedFailureThreshold", r.Error)
	require.Zero(t, called)
	require.Len(t, r.MapRuns[0].Executions[0].Events, 40)
}

func TestRedriveRefuses(t *testing.T) {
	t.Parallel()
	failing := parse(t, `{"StartAt": "F", "States": {"F": {"Type": "Fail"}}}`)
	result := func(definition string, o sim.Options) *sim.Result {
		r, err := sim.Run(t.Context(), parse(t, definition), nil, o)
		require.NoError(t, err)
		return r
	}
	failed := func() *sim.Result {
		return result(`{"StartAt": "F", "States": {"F": {"Type": "Fail"}}}`, sim.Options{})
	}
	_, err := sim.Redrive(t.Context(), failing, result(`{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}`, sim.Options{}), sim.Options{})
	require.ErrorIs(t, err, sim.ErrRedriveSucceeded)
	_, err = sim.Redrive(t.Context(), failing, failed(), sim.Options{Express: true})
	require.ErrorIs(t, err, sim.ErrRedriveExpress)
	_, err = sim.Redrive(t.Context(), failing, failed(), sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart().Add(14*24*time.Hour + 1))})
	require.ErrorIs(t, err, sim.ErrRedriveTooLate)
	_, err = sim.Redrive(t.Context(), failing, failed(), sim.Options{MaxEvents: 4})
	require.ErrorIs(t, err, sim.ErrRedriveFull)
}
