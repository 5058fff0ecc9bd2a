package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// BenchmarkWaitingExecutions tells how many bytes an execution keeps that waits.
func BenchmarkWaitingExecutions(b *testing.B) {
	m := parse(b, waits)
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(b, err)
	w := sim.NewWorld(sim.WorldOptions{Clock: clock})
	defer w.Close()
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before, n := heap(), 0
	for b.Loop() {
		_, err := w.Start(m, []byte(`{"id": "a-1", "n": 5}`), sim.Options{Execution: fmt.Sprint("execution-", n)})
		require.NoError(b, err)
		n++
	}
	require.NoError(b, clock.Advance(b.Context(), clock.Now()))
	b.ReportMetric(float64(heap()-before)/float64(n), "B/execution")
}

// BenchmarkWorldVisits tells how many states a second the workers of a World visit.
func BenchmarkWorldVisits(b *testing.B) {
	loop := func(state string) *asl.StateMachine {
		return parse(b, `{"StartAt": "W", "States": {"W": {`+state+`, "Next": "Add"}, "Add": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "End?"},
			"End?": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericGreaterThanEquals": 100, "Next": "Done"}], "Default": "W"}, "Done": {"Type": "Succeed"}}}`)
	}
	const visits = 302
	for _, kind := range []struct {
		name       string
		machine    *asl.StateMachine
		executions int
	}{
		{"waits", loop(`"Type": "Wait", "Seconds": 1`), 64},
		{"many waits", loop(`"Type": "Wait", "Seconds": 1`), 512},
		{"instant", loop(`"Type": "Pass"`), 64},
		{"tasks", loop(`"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"`), 64},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprint(kind.name, "/", workers), func(b *testing.B) {
				w := sim.NewWorld(sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), Workers: workers})
				defer w.Close()
				handler := func(_ context.Context, c sim.Call) (sim.Reply, error) { return sim.Reply{Output: c.Arguments}, nil }
				n := 0
				for b.Loop() {
					all := make([]*sim.Execution, kind.executions)
					for i := range all {
						var err error
						all[i], err = w.Start(kind.machine, []byte(`{"n": 0}`), sim.Options{Execution: fmt.Sprint(n), Handler: handler})
						require.NoError(b, err)
						n++
					}
					for _, e := range all {
						<-e.Done()
						require.True(b, w.Forget(e.ARN()))
					}
				}
				b.ReportMetric(float64(n*visits)/b.Elapsed().Seconds(), "visits/s")
			})
		}
	}
}
