package sim_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const pollLoop = `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Check"},
	"Check": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"Id.$": "$.id"}, "ResultPath": "$.check", "Next": "Done?"},
	"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.check.status", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "Done"},
	"Done": {"Type": "Succeed"}}}`

// pollsForADay polls every 10 s for 24 h. One history has no room for that
// many polls, so executions follow each other, 2,700 polls each.
func pollsForADay(t testing.TB, m *asl.StateMachine, input string) (polls, transitions int, elapsed time.Duration) {
	t.Helper()
	const day, perExecution = 24 * 60 * 60 / 10, 2_700
	clock := sim.NewVirtualClock(sim.DefaultStart())
	running, done := map[string]any{"status": "RUNNING"}, map[string]any{"status": "DONE"}
	h := func(context.Context, sim.Call) (sim.Reply, error) {
		if polls++; polls%perExecution == 0 || polls == day {
			return sim.Reply{Output: done}, nil
		}
		return sim.Reply{Output: running}, nil
	}
	for polls < day {
		r, err := sim.Run(t.Context(), m, []byte(input), sim.Options{Clock: clock, Handlers: map[string]sim.Handler{describe: h}})
		require.NoError(t, err)
		require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
		transitions += r.Transitions
		elapsed += r.Duration()
	}
	return polls, transitions, elapsed
}

func TestPollForADay(t *testing.T) {
	t.Parallel()
	polls, transitions, elapsed := pollsForADay(t, parse(t, pollLoop), `{"id": "x"}`)
	require.Equal(t, 8_640, polls)
	require.Equal(t, 3*8_640+4, transitions)
	require.Equal(t, 24*time.Hour, elapsed)
}

func BenchmarkPollForADay(b *testing.B) {
	for _, bb := range []struct{ name, input string }{
		{"small input", `{"id": "x"}`},
		{"input of 200 KB", `{"id": "x", "rows": [` + strings.TrimSuffix(strings.Repeat(`{"name": "value", "n": 12345},`, 7_000), ",") + `]}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			m := parse(b, pollLoop)
			b.ReportAllocs()
			total := 0
			for b.Loop() {
				_, transitions, _ := pollsForADay(b, m, bb.input)
				total += transitions
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "transitions/s")
		})
	}
}

// FuzzRun: whatever definition is accepted runs to an end without a panic,
// and its history is complete.
func FuzzRun(f *testing.F) {
	f.Add(pollLoop, `{"id": null}`)
	f.Add(task(`, "ResultPath": "$.a[0].b", "Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.c", "Next": "Caught"}]`), `{"a": [1]}`)
	f.Add(`{"StartAt": "S", "States": {"S": {"Type": "Wait", "SecondsPath": "$", "Next": "F"}, "F": {"Type": "Fail", "CausePath": "$.a"}}}`, `3`)
	f.Add(`{"TimeoutSeconds": 9, "StartAt": "S", "States": {"S": {"Type": "Pass", "Parameters": {"a.$": "$$"}, "OutputPath": "$.a", "Next": "S"}}}`, `[]`)
	f.Add(jsonata(`"S": {"Type": "Map", "Items": "{% [1..3] %}", "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "Output": "{% $states.input * 2 %}", "End": true}}}, "End": true}`), `{}`)
	f.Add(distributed("EXPRESS", `, "ToleratedFailurePercentage": 50, "ItemBatcher": {"MaxItemsPerBatch": 2}`), `[1, 2, 3]`)
	f.Fuzz(func(t *testing.T, definition, input string) {
		m, err := asl.Parse([]byte(definition))
		if err != nil {
			return
		}
		handlers := map[string]sim.Handler{}
		for s := range m.All {
			if s.Map != nil && s.Map.ItemReader != nil {
				handlers[s.Map.ItemReader.Resource] = returns(`[1, 2]`)
			}
			if s.Task != nil {
				handlers[s.Task.Resource] = steps(failsWith("E", "c"), returns(`{"status": "RUNNING"}`), returns(`null`))
			}
		}
		// A payload that grows with each of 25,000 events takes seconds, and a
		// fuzzer takes a slow input for a hanging one.
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		r, err := sim.Run(ctx, m, []byte(input), sim.Options{Handlers: handlers})
		if err != nil {
			return
		}
		require.NotEmpty(t, r.Status)
		require.LessOrEqual(t, len(r.Events), asl.MaxEvents)
		require.True(t, r.Status != sim.StatusSucceeded || json.Valid(r.Output))
		for i, e := range r.Events {
			require.EqualValues(t, i+1, e.ID)
			require.LessOrEqual(t, e.PreviousEventID, e.ID-1)
		}
	})
}
