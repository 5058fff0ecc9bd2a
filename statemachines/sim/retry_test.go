package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// When the calls are made, in seconds from the start.
func TestRetryTiming(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, retry string
		handler     sim.Handler
		want        []float64
	}{
		{"no retry", ``, failsWith("E", ""), []float64{0}},
		{"defaults", `{"ErrorEquals": ["E"]}`, failsWith("E", ""), []float64{0, 1, 3, 7}},
		{"interval and rate", `{"ErrorEquals": ["E"], "IntervalSeconds": 3, "BackoffRate": 1.5, "MaxAttempts": 3}`, failsWith("E", ""), []float64{0, 3, 7.5, 14.25}},
		{"cap", `{"ErrorEquals": ["E"], "IntervalSeconds": 2, "MaxDelaySeconds": 5, "MaxAttempts": 4}`, failsWith("E", ""), []float64{0, 2, 6, 11, 16}},
		{"never", `{"ErrorEquals": ["E"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}`, failsWith("E", ""), []float64{0}},
		{"other error", `{"ErrorEquals": ["F"]}`, failsWith("E", ""), []float64{0}},
		{"any error", `{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}`, failsWith("E", ""), []float64{0, 1}},
		{"task failed", `{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1}`, failsWith("E", ""), []float64{0, 1}},
		{"task failed is not a timeout", `{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1}`, failsWith("States.Timeout", ""), []float64{0}},
		{"runtime is out of reach", `{"ErrorEquals": ["States.Runtime"]}, {"ErrorEquals": ["States.ALL"]}`, failsWith("States.Runtime", ""), []float64{0}},
		{
			"each retrier counts on its own, and only the first that matches",
			`{"ErrorEquals": ["E"], "IntervalSeconds": 10, "MaxAttempts": 2}, {"ErrorEquals": ["F"], "IntervalSeconds": 1, "MaxAttempts": 1}, {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 100}`,
			steps(failsWith("E", ""), failsWith("F", ""), failsWith("E", ""), failsWith("F", "")),
			[]float64{0, 10, 11, 31},
		},
		{"success ends it", `{"ErrorEquals": ["E"]}`, steps(failsWith("E", ""), returns(`1`)), []float64{0, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock := sim.NewVirtualClock(sim.DefaultStart())
			var got []float64
			var counts []int
			h := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
				got = append(got, clock.Now().Sub(sim.DefaultStart()).Seconds())
				counts = append(counts, call.RetryCount)
				require.Equal(t, fmt.Sprint(call.RetryCount), fmt.Sprint(call.Arguments.(map[string]any)["n"]), "arguments are evaluated anew")
				return tt.handler(ctx, call)
			}
			r := run(t, task(`, "Parameters": {"n.$": "$$.State.RetryCount"}, "Retry": [`+tt.retry+`]`), "", h, sim.Options{Clock: clock})
			require.Equal(t, tt.want, got)
			for i, n := range counts {
				require.Equal(t, i, n)
			}
			states := 1
			if r.Status == sim.StatusSucceeded {
				states = 3
			}
			require.Equal(t, states+len(tt.want)-1, r.Transitions, "every retry is billed")
		})
	}
}

func TestRetryJitter(t *testing.T) {
	t.Parallel()
	delays := func(seed uint64) []time.Duration {
		clock := sim.NewVirtualClock(sim.DefaultStart())
		var at []time.Duration
		h := func(context.Context, sim.Call) (sim.Reply, error) {
			at = append(at, clock.Now().Sub(sim.DefaultStart()))
			return sim.Reply{}, &sim.TaskError{Name: "E"}
		}
		run(t, task(`, "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 8, "BackoffRate": 1, "MaxAttempts": 50, "JitterStrategy": "FULL"}]`), "", h, sim.Options{Clock: clock, Seed: seed})
		var out []time.Duration
		for i := range len(at) - 1 {
			out = append(out, at[i+1]-at[i])
		}
		return out
	}
	one := delays(1)
	require.Len(t, one, 50)
	low, high := one[0], one[0]
	for _, d := range one {
		low, high = min(low, d), max(high, d)
	}
	require.GreaterOrEqual(t, low, time.Duration(0))
	require.LessOrEqual(t, high, 8*time.Second)
	require.Less(t, low, 2*time.Second, "jitter reaches down to 0")
	require.Greater(t, high, 6*time.Second)
	require.Equal(t, one, delays(1))
	require.NotEqual(t, one, delays(2))
}

func TestCatch(t *testing.T) {
	t.Parallel()
	const errorOutput = `{"Error": "E", "Cause": "c"}`
	tests := []struct {
		name, fields, output string
		handler              sim.Handler
	}{
		{"replaces the input", `, "Catch": [{"ErrorEquals": ["E"], "Next": "Caught"}]`, errorOutput, failsWith("E", "c")},
		{"into the state's input", `, "InputPath": "$.a", "ResultPath": "$.other", "OutputPath": "$.none", "Catch": [{"ErrorEquals": ["E"], "ResultPath": "$.error", "Next": "Caught"}]`, `{"a": 1, "error": ` + errorOutput + `}`, failsWith("E", "c")},
		{"discarded", `, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Caught"}]`, `{"a": 1}`, failsWith("E", "c")},
		{"no cause", `, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`, `{"Error": "E", "Cause": null}`, failsWith("E", "")},
		{"first that matches", `, "Catch": [{"ErrorEquals": ["F"], "Next": "End"}, {"ErrorEquals": ["G", "E"], "Next": "Caught"}, {"ErrorEquals": ["States.ALL"], "Next": "End"}]`, errorOutput, failsWith("E", "c")},
		{"task failed", `, "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "Caught"}]`, errorOutput, failsWith("E", "c")},
		{
			"task failed stands for all but timeouts", `, "ResultPath": "$.a.b", "Catch": [{"ErrorEquals": ["States.TaskFailed"], "ResultPath": null, "Next": "Caught"}]`,
			`{"a": 1}`, returns(`1`),
		},
		{"timeout", `, "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "End"}, {"ErrorEquals": ["States.Timeout"], "Next": "Caught"}]`, `{"Error": "States.Timeout", "Cause": ""}`, failsWith("States.Timeout", "")},
		{"ResultPath that does not fit", `, "ResultPath": "$.a.b", "Catch": [{"ErrorEquals": ["States.ResultPathMatchFailure"], "Next": "Caught"}]`, `{"Error": "States.ResultPathMatchFailure", "Cause": "Unable to apply step \"b\" to input {\"a\":1}"}`, returns(`1`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, task(tt.fields), `{"a": 1}`, tt.handler, sim.Options{})
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.JSONEq(t, tt.output, string(r.Output))
			last := r.Events[len(r.Events)-2]
			require.Equal(t, "Caught", last.Details().Name)
		})
	}
}

func TestCatchDoesNotReach(t *testing.T) {
	t.Parallel()
	const all = `, "Catch": [{"ErrorEquals": ["States.Runtime"], "Next": "Caught"}, {"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`
	tests := []struct {
		name, fields, err string
		handler           sim.Handler
	}{
		{"OutputPath", `, "OutputPath": "$.no"` + all, "States.Runtime", returns(`{}`)},
		{"ResultSelector", `, "ResultSelector": {"a.$": "$.no"}` + all, "States.Runtime", returns(`{}`)},
		{"Parameters", `, "Parameters": {"a.$": "$.no"}` + all, "States.Runtime", returns(`{}`)},
		{"other error", `, "Catch": [{"ErrorEquals": ["F"], "Next": "Caught"}]`, "E", failsWith("E", "")},
		{"ResultPath of the catcher", `, "Catch": [{"ErrorEquals": ["E"], "ResultPath": "$.a.b", "Next": "Caught"}]`, "States.ResultPathMatchFailure", failsWith("E", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, task(tt.fields), `{"a": 1}`, tt.handler, sim.Options{})
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, tt.err, r.Error)
		})
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	takes := func(d time.Duration) sim.Handler {
		return func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Latency: d, Output: "done"}, nil }
	}
	fails := func(d time.Duration) sim.Handler {
		return func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{}, &sim.TaskError{Name: "E", Latency: d}
		}
	}
	tests := []struct {
		name, definition string
		handler          sim.Handler
		status           sim.Status
		err              string
		elapsed          time.Duration
	}{
		{"latency", task(``), takes(90 * time.Second), sim.StatusSucceeded, "", 90 * time.Second},
		{"latency of a failure", task(``), fails(90 * time.Second), sim.StatusFailed, "E", 90 * time.Second},
		{"just in time", task(`, "TimeoutSeconds": 90`), takes(90 * time.Second), sim.StatusSucceeded, "", 90 * time.Second},
		{"task", task(`, "TimeoutSeconds": 60`), takes(90 * time.Second), sim.StatusFailed, "States.Timeout", 60 * time.Second},
		{"task by path", task(`, "TimeoutSecondsPath": "$.t"`), fails(90 * time.Second), sim.StatusFailed, "States.Timeout", 7 * time.Second},
		{"task by path of zero", task(`, "TimeoutSecondsPath": "$.zero"`), takes(0), sim.StatusFailed, "States.Runtime", 0},
		{"retried", task(`, "TimeoutSeconds": 60, "Retry": [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]`), takes(90 * time.Second), sim.StatusFailed, "States.Timeout", 121 * time.Second},
		{"machine", `{"TimeoutSeconds": 30, ` + task(``)[1:], takes(90 * time.Second), sim.StatusTimedOut, "", 30 * time.Second},
		{"machine in a loop", `{"TimeoutSeconds": 100, "StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 7, "Next": "C"},
			"C": {"Type": "Choice", "Choices": [{"Variable": "$.done", "IsPresent": true, "Next": "Z"}], "Default": "W"}, "Z": {"Type": "Succeed"}}}`, nil, sim.StatusTimedOut, "", 100 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock := sim.NewVirtualClock(sim.DefaultStart())
			r := run(t, tt.definition, `{"t": 7, "zero": 0}`, tt.handler, sim.Options{Clock: clock})
			require.Equal(t, tt.status, r.Status)
			require.Equal(t, tt.err, r.Error)
			require.Equal(t, tt.elapsed, r.Duration())
			require.Equal(t, r.Stop, clock.Now())
		})
	}
}
