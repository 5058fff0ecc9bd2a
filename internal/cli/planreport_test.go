package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/plan"
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

// The text fits the terminal, down to 20 columns: a narrow one has fewer columns of the
// table. The last to stay are the names, the calls and the lateness.
func TestPlanFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, known := range []string{"uniform(15m, 30m)", "constant(10m)", "mix(80% lognormal(1m, 0.25), 20% lognormal(100h, 0.25))"} {
		d, err := plan.Parse(known)
		require.NoError(t, err)
		goal, err := plan.ParseGoal("30s")
		require.NoError(t, err)
		o := planOptions{strategy: "variables", region: "us-east-1", concurrent: 100_000}
		entry, err := lookup([]string{"athena", "StartQueryExecution"})
		require.NoError(t, err)
		schedule := waiterDelays(entry.Waiter)
		report, err := newPlanReport(o, goal, &planSubject{name: entry.FullName(), entry: entry, schedule: &schedule}, &knowledge{source: known, distribution: d})
		require.NoError(t, err)
		for columns := 1; columns <= 120; columns++ {
			text := report.text(columns, terminal.Colours(false))
			heading, all := "", strings.Split(text, "\n")
			for _, line := range all {
				if columns >= 40 {
					require.LessOrEqual(t, terminal.Width(line), columns, line)
				} else if columns >= 20 { // one word may be longer
					require.LessOrEqual(t, terminal.Width(line), max(columns, 36), line)
				}
				if strings.Contains(line, " calls") && heading == "" {
					heading = strings.Join(strings.Fields(line), " ")
				}
			}
			for from, want := range map[int]string{
				1: "calls", 26: "calls late: mean", 34: "calls late: mean p95", 44: "calls late: mean p95 USD/1,000",
				79: "calls late: mean p95 worst transitions events USD/1,000 fits",
			} {
				if columns == from {
					require.Equal(t, want, heading, columns)
				}
			}
		}
	}
}
