package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The counts of a Map Run are those of its child executions at any moment, whatever
// happens to them.
func TestCountsOfMapRunsAreThoseOfTheirExecutions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := stillWorld(t, nil)
		kind := []string{"STANDARD", "EXPRESS"}[random.IntN(2)]
		fields := fmt.Sprintf(`, "ResultPath": null, "MaxConcurrency": %d, "ToleratedFailureCount": %d`, random.IntN(6), random.IntN(6))
		if random.IntN(3) == 0 {
			fields += `, "ItemBatcher": {"MaxItemsPerBatch": 3}`
		}
		most := []int64{25_000, 25_000, 12}[random.IntN(3)]
		o := sim.Options{Seed: seed, MaxEvents: int(most), Handlers: map[string]sim.Handler{
			function: func(_ context.Context, call sim.Call) (sim.Reply, error) {
				latency := time.Duration(len(call.State)) * time.Second
				if execution, _ := call.Context["Execution"].(map[string]any); execution["Name"].(string)[0] < '6' { // a part of all ids
					return sim.Reply{}, &sim.TaskError{Name: "E", Latency: latency}
				}
				return sim.Reply{Latency: latency}, nil
			},
		}}
		e := start(t, w, distributed(kind, fields), `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]`, o)
		for step := range 12 {
			require.NoError(t, w.Clock().Advance(t.Context(), w.Clock().Now().Add(time.Duration(random.IntN(3))*500*time.Millisecond)))
			all := w.MapRun(e.Snapshot().MapRuns[0])
			requireCounts(t, all, most, fmt.Sprintf("seed %d, step %d", seed, step))
			children := all.Executions(10)
			switch random.IntN(8) {
			case 0:
				_, err := e.Stop("", "")
				require.NoError(t, err)
			case 1, 2:
				_, _ = e.Redrive() // where it can be
			case 3:
				_, err := children[random.IntN(len(children))].Stop("", "")
				require.NoError(t, err)
			}
			requireCounts(t, all, most, fmt.Sprintf("seed %d, after step %d", seed, step))
		}
	}
}

func requireCounts(t *testing.T, run *sim.LiveMapRun, most int64, when string) {
	t.Helper()
	var executions, items sim.MapRunCounts
	for _, child := range run.Executions(10) {
		c := child.Snapshot()
		for counts, n := range map[*sim.MapRunCounts]int{&executions: 1, &items: c.Items} {
			*map[sim.Status]*int{
				sim.StatusRunning: &counts.Running, sim.StatusSucceeded: &counts.Succeeded, sim.StatusFailed: &counts.Failed,
				sim.StatusTimedOut: &counts.TimedOut, sim.StatusAborted: &counts.Aborted, sim.StatusPendingRedrive: &counts.PendingRedrive,
			}[c.Status] += n
			failed := c.Status == sim.StatusFailed || c.Status == sim.StatusTimedOut || c.Status == sim.StatusAborted
			if failed && c.Events >= most-1 && !c.Express {
				counts.FailuresNotRedrivable += n
			}
			counts.Pending -= n
		}
	}
	requireList(t, run, when)
	got := run.Snapshot()
	for counts, of := range map[*sim.MapRunCounts]sim.MapRunCounts{&executions: got.Executions, &items: got.Items} {
		counts.Total, counts.Pending = of.Total, counts.Pending+of.Total
		require.Equal(t, *counts, of, when)
	}
	require.Equal(t, 10, items.Total)
}

// requireList checks that lists have each child execution, in their order, whatever the
// page and the filter.
func requireList(t *testing.T, run *sim.LiveMapRun, when string) {
	t.Helper()
	for _, status := range []sim.Status{"", sim.StatusRunning, sim.StatusSucceeded, sim.StatusFailed, sim.StatusAborted, sim.StatusPendingRedrive} {
		var want []sim.MapRunExecution
		for _, child := range run.Executions(10) {
			if s := child.Snapshot(); status == "" || s.Status == status {
				want = append(want, sim.MapRunExecution{Execution: child, Standing: s.Standing, Name: s.Name, Items: s.Items})
			}
		}
		takes := func(g sim.ListGroup) bool { return status == "" || g.Status == status }
		var got []sim.MapRunExecution
		for behind := (*sim.ListPlace)(nil); ; {
			page := run.List(behind, 3, takes)
			if len(page) == 0 {
				break
			}
			last := page[len(page)-1]
			place := last.Standing.ListPlace(last.Number)
			behind = &place
			got = append(got, page...)
		}
		require.True(t, slices.IsSortedFunc(got, func(a, b sim.MapRunExecution) int {
			return cmp.Or(b.Standing.At().Compare(a.Standing.At()), cmp.Compare(b.Number, a.Number))
		}), when)
		for i := range got {
			got[i].Number = 0
		}
		require.ElementsMatch(t, want, got, when)
	}
}
