package localrun

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A poll with the same answer as before is not read again where nobody sees the progress.
// A changed answer is kept, with its time.
func TestUnseenProgress(t *testing.T) { //nolint:paralleltest // it counts the allocations of the process
	m, err := kit.ReadMachine(t.Context(), "../../../docs/example/athena/loop.asl.json", nil, nil, nil)
	require.NoError(t, err)
	status := "RUNNING"
	handlers := map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:athena:startQueryExecution": func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: map[string]any{"QueryExecutionId": "q"}}, nil
		},
		"arn:aws:states:::aws-sdk:athena:getQueryExecution": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if call.Time.Sub(sim.DefaultStart()) > time.Minute {
				status = "SUCCEEDED"
			}
			return sim.Reply{Output: map[string]any{"QueryExecution": map[string]any{"QueryExecutionId": "q", "Status": map[string]any{"State": status}}}}, nil
		},
	}
	clock := sim.NewVirtualClock(sim.DefaultStart())
	p := newProgress(m.StateMachine, clock, 0)
	seen := map[string]int{}
	result, err := sim.Run(t.Context(), m.StateMachine, []byte(`{"sql": "SELECT 1"}`), sim.Options{Clock: clock, Handlers: handlers, OnEvent: func(e sim.Event) {
		p.event(e)
		if e.Type == sim.TaskSucceeded {
			seen[status]++
		}
	}})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, result.Status)
	require.Equal(t, "RUNNING at 5s, SUCCEEDED at 1m5s", p.statuses.Text())
	require.Equal(t, 13, seen["RUNNING"], "the start, and 12 polls")

	lap := result.Events[len(result.Events)-12:]
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		for _, e := range lap {
			p.event(e)
		}
	}), 2.0, "the details of the entry, and of the answer")
	require.LessOrEqual(t, len(p.asking), 1, "what has ended is forgotten")
}
