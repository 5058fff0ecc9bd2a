package mock_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// drawValue draws what an answer in Go may have, JSON or not as encoding/json decodes it.
func drawValue() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Float64Range(-1e30, 1e30).AsAny(),
		rapid.SampledFrom([]any{
			"\xff", json.Number("7"), json.Number("-1.50e3"), json.Number(""), []any(nil), map[string]any(nil), []string{"a"}, map[string]int{"b": 1},
		}),
	)
	var value func(levels int) *rapid.Generator[any]
	value = func(levels int) *rapid.Generator[any] {
		if levels == 0 {
			return leaf
		}
		return rapid.OneOf(
			leaf, rapid.SliceOfN(value(levels-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), value(levels-1), 0, 3).AsAny(),
		)
	}
	return value(3)
}

// Every poll of a job gets its answer as encoding/json decodes it, and one of its own: what
// a caller does to it does not reach the next.
func TestEachPollHasAnAnswerOfItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		given := map[string]any{"value": drawValue().Draw(r, "value")}
		text, err := json.Marshal(given)
		require.NoError(r, err)
		var want map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		require.NoError(r, decoder.Decode(&want))
		want["status"] = "RUNNING"
		j := &mock.Job{Runs: time.Hour, Answer: given, Status: "status", Running: "RUNNING", Ends: "DONE"}
		for range 3 {
			reply, err := j.Describe(t.Context(), sim.Call{Time: sim.DefaultStart()})
			require.NoError(r, err)
			require.Equal(r, want, reply.Output)
			answer, _ := reply.Output.(map[string]any)
			if parts, ok := answer["value"].(map[string]any); ok {
				clear(parts)
			}
			clear(answer)
		}
	})
}
