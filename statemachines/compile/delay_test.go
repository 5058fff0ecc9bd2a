package compile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The delays of Variables are drawn around one that grows with each call up to the
// maximum, in whole seconds: over many executions both bounds of each draw are met,
// and nothing outside.
func TestDelaysReachTheirBounds(t *testing.T) {
	t.Parallel()
	const low, high, executions = 3 * time.Second, 14 * time.Second, 400
	op := operation(t, "dynamodb", "DescribeTable")
	w := pollcore.MustNew("W", pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE")), pollcore.Delay(low, high))
	m, err := compile.Compile(w, compile.Call{Operation: op}, compile.Options{Strategy: compile.Variables, MaxWait: 10 * time.Minute})
	require.NoError(t, err)
	const delays = 14
	var shortest, longest [delays]time.Duration
	for seed := range uint64(executions) {
		var calls []time.Time
		_, err := sim.Run(t.Context(), m.Machine, []byte(`{}`), sim.Options{Seed: seed + 1, Handlers: map[string]sim.Handler{
			"arn:aws:states:::aws-sdk:dynamodb:describeTable": func(_ context.Context, call sim.Call) (sim.Reply, error) {
				calls = append(calls, call.Time)
				status := "CREATING"
				if len(calls) > delays {
					status = "ACTIVE"
				}
				return sim.Reply{Output: map[string]any{"Table": map[string]any{"TableStatus": status}}}, nil
			},
		}})
		require.NoError(t, err)
		for i := range delays {
			delay := calls[i+1].Sub(calls[i])
			longest[i] = max(longest[i], delay)
			if shortest[i] == 0 || delay < shortest[i] {
				shortest[i] = delay
			}
		}
	}
	const sec = time.Second
	require.Equal(t, [delays]time.Duration{3 * sec, 3 * sec, 4 * sec, 4 * sec, 5 * sec, 5 * sec, 6 * sec, 7 * sec, 8 * sec, 10 * sec, 11 * sec, high, high, high}, shortest)
	require.Equal(t, [delays]time.Duration{3 * sec, 4 * sec, 4 * sec, 5 * sec, 6 * sec, 7 * sec, 8 * sec, 9 * sec, 10 * sec, 12 * sec, 13 * sec, high, high, high}, longest)
}
