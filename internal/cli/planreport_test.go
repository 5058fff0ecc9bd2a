package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table shows what a machine does that cannot hold the planned schedule.
func TestPlanShowsWhatAStrategyLoses(t *testing.T) {
	t.Parallel()
	rows := func(strategy string) map[string]float64 {
		var stdout, stderr bytes.Buffer
		args := []string{"plan", "--duration", "lognormal(5m, 1.5)", "--late", "30s", "--strategy", strategy, "-o", "json"}
		require.Equal(t, exitSucceeded, execute(t.Context(), args, &stdout, &stderr), "%s", &stderr)
		var report planReport
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
		late := map[string]float64{}
		for _, s := range report.Schedules {
			late[s.Name] = s.MeanLateSeconds
		}
		return late
	}
	require.NotContains(t, rows("variables"), "compiled")
	lost := rows("retry-task")
	require.InDelta(t, 30, lost["planned"], 1)
	require.Greater(t, lost["compiled"], 1.5*lost["planned"])
}

// The loop of today polls, whatever strategy could replace it.
func TestPlanPricesTodaysLoopAsItIs(t *testing.T) {
	t.Parallel()
	today := func(strategy string) plannedSchedule {
		var stdout, stderr bytes.Buffer
		args := []string{"plan", "../../docs/example/athena/loop.asl.json", "--duration", "uniform(15m, 30m)", "--strategy", strategy, "-o", "json"}
		require.Equal(t, exitSucceeded, execute(t.Context(), args, &stdout, &stderr), "%s", &stderr)
		var report planReport
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
		require.Equal(t, todayName, report.Schedules[0].Name)
		return report.Schedules[0]
	}
	require.Equal(t, today("loop"), today("retry-task"))
}
