package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// takes is a handler that returns its arguments after as many seconds as they
// say.
func takes(t testing.TB) sim.Handler {
	t.Helper()
	return func(_ context.Context, call sim.Call) (sim.Reply, error) {
		seconds, err := call.Arguments.(json.Number).Int64()
		require.NoError(t, err)
		return sim.Reply{Output: call.Arguments, Latency: time.Duration(seconds) * time.Second}, nil
	}
}

// mapOver is a machine with the inline Map M, whose further fields are given,
// over a Task that has the item.
func mapOver(fields string) string {
	return `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "T", "States": {
		"T": {"Type": "Task", "Resource": "` + function + `", "End": true}}}` + fields + `}}}`
}

func TestMapConcurrency(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, fields, input string
		want                time.Duration
		output              string
	}{
		{"one at a time", `, "MaxConcurrency": 1`, `[3, 1, 2]`, 6 * time.Second, `[3,1,2]`},
		{"two at a time", `, "MaxConcurrency": 2`, `[3, 1, 2]`, 3 * time.Second, `[3,1,2]`},
		{"as many as there are", ``, `[3, 1, 2]`, 3 * time.Second, `[3,1,2]`},
		{"40 at a time is the most of an inline Map", ``, "[" + strings.Repeat("1, ", 40) + "1]", 2 * time.Second, "[" + strings.Repeat("1,", 40) + "1]"},
		{"none", ``, `[]`, 0, `[]`},
		{"by path", `, "ItemsPath": "$.items", "MaxConcurrencyPath": "$.n"`, `{"items": [1, 1], "n": 1}`, 2 * time.Second, `[1,1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, mapOver(tt.fields), tt.input, takes(t), sim.Options{})
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.Equal(t, tt.want, r.Duration())
			require.Equal(t, tt.output, string(r.Output), "outputs are in the order of the items")
		})
	}
}

func TestMapItems(t *testing.T) {
	t.Parallel()
	r := run(t, mapOver(`, "ItemsPath": "$.items", "ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "all.$": "$.n"},
		"ResultSelector": {"first.$": "$[0].v"}, "ResultPath": "$.r"`), `{"items": ["a", "b"], "n": 2}`,
		func(_ context.Context, call sim.Call) (sim.Reply, error) {
			require.Equal(t, call.Arguments.(map[string]any)["i"], json.Number(fmt.Sprint(call.Iterations[0])))
			return sim.Reply{Output: call.Arguments}, nil
		}, sim.Options{})
	require.JSONEq(t, `{"items": ["a", "b"], "n": 2, "r": {"first": "a"}}`, string(r.Output), r.Cause)

	r = run(t, mapOver(`, "ItemsPath": "$.items"`), `{"items": {"a": 1}}`, takes(t), sim.Options{})
	require.Equal(t, "States.Runtime", r.Error)
}

// The iteration that fails ends the others, and the whole can be retried and
// caught.
func TestMapFailure(t *testing.T) {
	t.Parallel()
	slow := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if call.Iterations[0] == 1 {
			return sim.Reply{}, &sim.TaskError{Name: "Bad", Cause: "item 1", Latency: time.Second}
		}
		return sim.Reply{Output: 1, Latency: time.Hour}, nil
	}
	retry := `, "Retry": [{"ErrorEquals": ["Bad"], "MaxAttempts": 1, "IntervalSeconds": 5}]`
	r := run(t, mapOver(retry), `[0, 1]`, slow, sim.Options{})
	require.Equal(t, sim.StatusFailed, r.Status)
	require.Equal(t, []string{"Bad", "item 1"}, []string{r.Error, r.Cause})
	require.Equal(t, 7*time.Second, r.Duration())
	require.Equal(t, 1+2+1+2, r.Transitions, "the Map, two Tasks, a retry, two Tasks")
	attempt := []string{
		"MapStateStarted", "MapIterationStarted", "MapIterationStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted",
		"TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted", "LambdaFunctionFailed", "MapIterationFailed", "TaskStateAborted", "MapIterationAborted", "TaskStateAborted",
	}
	want := append([]string{"ExecutionStarted", "MapStateEntered"}, attempt...)
	want = append(append(want, attempt...), "MapStateFailed", "ExecutionFailed")
	require.Equal(t, want, types(r))

	caught := `{"StartAt": "M", "States": {"M": {"Type": "Map", "Next": "Z", "ItemProcessor": {"StartAt": "T", "States": {
		"T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}}},
		"Catch": [{"ErrorEquals": ["Bad"], "ResultPath": "$[0]", "Next": "Z"}]}, "Z": {"Type": "Succeed"}}}`
	r = run(t, caught, `[0, 1]`, slow, sim.Options{})
	require.JSONEq(t, `[{"Error": "Bad", "Cause": "item 1"}, 1]`, string(r.Output))
	require.Equal(t, map[sim.Edge]int{{From: "M", To: "Z", Kind: 3}: 1, {From: "Z"}: 1}, r.Edges)
}

func TestParallel(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Parameters": {"n.$": "$.n"}, "ResultPath": "$.r", "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3, "Next": "A2"}, "A2": {"Type": "Pass", "Result": "a", "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Wait", "SecondsPath": "$.n", "End": true}}}]%s}}}`
	r := run(t, fmt.Sprintf(definition, ""), `{"n": 2}`, nil, sim.Options{})
	require.JSONEq(t, `{"n": 2, "r": ["a", {"n": 2}]}`, string(r.Output))
	require.Equal(t, 3*time.Second, r.Duration())
	require.Equal(t, 4, r.Transitions)
	require.Equal(t, []string{
		"ExecutionStarted", "ParallelStateEntered", "ParallelStateStarted", "WaitStateEntered", "WaitStateEntered", "WaitStateExited",
		"WaitStateExited", "PassStateEntered", "PassStateExited", "ParallelStateSucceeded", "ParallelStateExited", "ExecutionSucceeded",
	}, types(r))

	r = run(t, fmt.Sprintf(definition, ""), `{"n": "x"}`, nil, sim.Options{})
	require.Equal(t, "States.Runtime", r.Error)
	require.Equal(t, sim.DefaultStart(), r.Stop, "the other branch does not hold it up")
	require.Contains(t, types(r), "WaitStateAborted")
}

// States.Runtime in a branch is out of reach of Catch.
func TestRuntimeErrorInBranch(t *testing.T) {
	t.Parallel()
	r := run(t, `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "Next": "Z", "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Pass", "InputPath": "$.no", "End": true}}}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], "Retry": [{"ErrorEquals": ["States.ALL"]}]}, "Z": {"Type": "Succeed"}}}`, `{}`, nil, sim.Options{})
	require.Equal(t, "States.Runtime", r.Error)
	require.Zero(t, r.Duration())
}

// What runs at the same time is written down in the same order every time.
func TestHistoryIsRepeatable(t *testing.T) {
	t.Parallel()
	definition := `{"QueryLanguage": "JSONata", "StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "MaxConcurrency": 3, "ItemProcessor": {"StartAt": "P", "States": {
		"P": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "` + describe + `", "Arguments": "{% [$random(), $uuid(), $now()] %}", "End": true,
				"Retry": [{"ErrorEquals": ["E"], "JitterStrategy": "FULL", "MaxAttempts": 2}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "C"}]},
				"C": {"Type": "Succeed"}}},
			{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": "{% $states.input %}", "End": true}}}]}}}}}}`
	text := func(seed uint64) string {
		n := 0
		h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if n++; n%3 > 0 {
				return sim.Reply{}, &sim.TaskError{Name: "E", Latency: time.Duration(n) * time.Millisecond}
			}
			return sim.Reply{Output: call.Arguments}, nil
		}
		r := run(t, definition, `[1, 0, 2, 1, 3]`, h, sim.Options{Seed: seed})
		out, err := json.Marshal(r.Events)
		require.NoError(t, err)
		return string(out)
	}
	first := text(7)
	for range 5 {
		require.Equal(t, first, text(7))
	}
	require.NotEqual(t, first, text(8))
}

// On a real clock iterations really run at the same time, and the one that
// fails ends the others.
func TestMapOnARealClock(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	meet := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if call.Iterations[0] == 1 {
			<-started
			return sim.Reply{}, &sim.TaskError{Name: "E"}
		}
		close(started)
		<-ctx.Done() // it is told that nobody waits for it any more
		return sim.Reply{}, ctx.Err()
	}
	r := run(t, mapOver(`, "MaxConcurrency": 2`), `[0, 1]`, meet, sim.Options{Clock: sim.NewRealClock()})
	require.Equal(t, "E", r.Error)
	require.Contains(t, types(r), "MapIterationAborted")

	r = run(t, `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "`+function+`", "End": true}}}]}}}`, `{}`, returns(`1`), sim.Options{Clock: sim.NewRealClock()})
	require.JSONEq(t, `[1, 1]`, string(r.Output))
}
