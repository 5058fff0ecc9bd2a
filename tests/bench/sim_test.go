package bench_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/processortest"
)

// A poll every 10 seconds for a day, in both query languages.
const (
	describeExport = "arn:aws:states:::aws-sdk:dynamodb:describeExport"
	polls          = 24 * 60 * 60 / 10
	// The least transitions in a second of one processor.
	minJSONPathRate, minJSONataRate = 400_000, 200_000

	jsonPathLoop = `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Describe"},
		"Describe": {"Type": "Task", "Resource": "` + describeExport + `", "Parameters": {"ExportArn.$": "$.ExportDescription.ExportArn"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "IN_PROGRESS", "Next": "Wait"}], "Default": "Done"},
		"Done": {"Type": "Succeed"}}}`
	jsonataLoop = `{"QueryLanguage": "JSONata", "StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": "{% 5 + 5 %}", "Next": "Describe"},
		"Describe": {"Type": "Task", "Resource": "` + describeExport + `", "Arguments": {"ExportArn": "{% $states.input.ExportDescription.ExportArn %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.ExportDescription.ExportStatus = 'IN_PROGRESS' %}", "Next": "Wait"}], "Default": "Done"},
		"Done": {"Type": "Succeed"}}}`
)

// pollForADay runs the loop, whose history is longer than AWS allows.
func pollForADay(tb testing.TB, definition string) *sim.Result {
	tb.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(tb, err)
	status := func(status string) map[string]any {
		return map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": status}}
	}
	running, done, n := status("IN_PROGRESS"), status("COMPLETED"), 0
	h := func(context.Context, sim.Call) (sim.Reply, error) {
		if n++; n == polls {
			return sim.Reply{Output: done}, nil
		}
		return sim.Reply{Output: running}, nil
	}
	r, err := sim.Run(tb.Context(), m, []byte(`{"ExportDescription": {"ExportArn": "arn:export"}}`),
		sim.Options{MaxEvents: -1, Handlers: map[string]sim.Handler{describeExport: h}})
	require.NoError(tb, err)
	return r
}

func TestPollForADay(t *testing.T) {
	t.Parallel()
	for _, definition := range []string{jsonPathLoop, jsonataLoop} {
		r := pollForADay(t, definition)
		require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
		require.Equal(t, 24*time.Hour, r.Duration())
		require.Equal(t, 3*polls+1, r.Transitions)
	}
}

// Many executions of a World, with two workers against one: loops that wait, and loops
// that do not.
var worldPairs = []pair{worldPair("waits", `"Type": "Wait", "Seconds": 1`, 1.1), worldPair("passes", `"Type": "Pass"`, 1.1)}

func worldPair(name, state string, bound float64) pair {
	definition := `{"StartAt": "W", "States": {"W": {` + state + `, "Next": "Add"}, "Add": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "End?"},
		"End?": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericGreaterThanEquals": 10, "Next": "Done"}], "Default": "W"}, "Done": {"Type": "Succeed"}}}`
	return pair{
		name:  "two-workers-" + name + "-vs-one",
		ours:  func(b *testing.B) { runWorld(b, definition, 2) },
		peer:  func(b *testing.B) { runWorld(b, definition, 1) },
		bound: bound, allocs: 1_000_000, parallel: true,
	}
}

// runWorld runs 512 executions of 31 transitions.
func runWorld(b *testing.B, definition string, workers int) {
	b.Helper()
	const executions = 512
	m, err := asl.Parse([]byte(definition))
	require.NoError(b, err)
	w := sim.NewWorld(sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), Workers: workers})
	defer w.Close()
	n := 0
	for b.Loop() {
		all := make([]*sim.Execution, executions)
		for i := range all {
			n++
			all[i], err = w.Start(m, []byte(`{"n": 0}`), sim.Options{Execution: fmt.Sprint(n)})
			require.NoError(b, err)
		}
		for _, e := range all {
			<-e.Done()
			require.True(b, w.Forget(e.ARN()))
		}
	}
}

// measureSim measures the simulation of a day.
func (r *report) measureSim() {
	for _, loop := range []struct {
		name, definition string
		budget           float64
	}{{"JSONPath", jsonPathLoop, minJSONPathRate}, {"JSONata", jsonataLoop, minJSONataRate}} {
		var day *sim.Result
		cpu := time.Duration(math.MaxInt64) // the least of all rounds: others may slow a round down
		nanoseconds := best(func(b *testing.B) {
			for b.Loop() {
				before := processortest.Time(b)
				day = pollForADay(b, loop.definition)
				cpu = min(cpu, processortest.Time(b)-before)
			}
		})
		rate, elapsed := float64(day.Transitions)/cpu.Seconds(), time.Duration(nanoseconds)
		r.add(sectionRatios, row{
			what: "a simulated day of polls every 10 s in " + loop.name, figure: fmt.Sprintf("%.0f transitions in a second of processor time", rate),
			beside: fmt.Sprintf("%d transitions in %.3f s", day.Transitions, elapsed.Seconds()),
			budget: fmt.Sprintf("at least %.0f", loop.budget), missed: rate < loop.budget,
		})
	}
}
