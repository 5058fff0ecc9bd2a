package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/internal/terminal/terminaltest"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/tests/race"
)

// The table shows what a machine does that cannot hold the planned schedule: nearly as
// much, with a transition more for each phase.
func TestPlanShowsWhatAStrategyLoses(t *testing.T) {
	t.Parallel()
	rows := func(strategy string) (map[string]plannedSchedule, []string) {
		var stdout, stderr bytes.Buffer
		args := []string{"plan", "--duration", "lognormal(5m, 1.5)", "--late", "30s", "--strategy", strategy, "-o", "json"}
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr), "%s", &stderr)
		var report planReport
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
		all := map[string]plannedSchedule{}
		for _, s := range report.Schedules {
			all[s.Name] = s
		}
		return all, report.Notes
	}
	whole := race.OneIn(3, []string{"variables", "lambda-retry", "events"})
	for _, strategy := range whole {
		held, notes := rows(strategy)
		require.NotContains(t, held, "compiled")
		require.Empty(t, notes)
	}
	all, notes := rows("retry-task")
	require.Len(t, notes, 1)
	require.Contains(t, notes[0], "fewer delays than the schedule")
	planned, compiled := all["planned"], all["compiled"]
	require.InDelta(t, 30, planned.MeanLateSeconds, 1)
	require.InEpsilon(t, planned.MeanLateSeconds, compiled.MeanLateSeconds, 0.05)
	require.InEpsilon(t, planned.Calls, compiled.Calls, 0.05)
	require.NotEqual(t, planned.Schedule, compiled.Schedule)
	// A machine of one phase takes 4 transitions besides its calls.
	one := compiled.Calls + 4
	require.Greater(t, compiled.Transitions, one+1)
	require.Less(t, compiled.Transitions, one+5)
}

// The loop of today polls, whatever strategy could replace it.
func TestPlanPricesTodaysLoopAsItIs(t *testing.T) {
	t.Parallel()
	today := func(strategy string) plannedSchedule {
		var stdout, stderr bytes.Buffer
		args := []string{"plan", "../../../docs/example/athena/loop.asl.json", "--duration", "uniform(15m, 30m)", "--strategy", strategy, "-o", "json"}
		require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr), "%s", &stderr)
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
	for _, known := range race.OneIn(3, []string{"uniform(15m, 30m)", "constant(10m)", "mix(80% lognormal(1m, 0.25), 20% lognormal(100h, 0.25))"}) {
		d, err := plan.Parse(known)
		require.NoError(t, err)
		goal, err := plan.ParseGoal("30s")
		require.NoError(t, err)
		o := planOptions{strategy: "variables", region: "us-east-1", concurrent: 100_000}
		entry, err := kit.Lookup([]string{"athena", "StartQueryExecution"})
		require.NoError(t, err)
		schedule := waiterDelays(entry.Waiter)
		name := "Ask whether the query of the report has ended polls " + entry.FullName()
		report, err := newPlanReport(o, goal, &planSubject{name: name, entry: entry, schedule: &schedule}, &knowledge{source: known, distribution: d})
		require.NoError(t, err)
		for columns := 1; columns <= 120; columns++ {
			text := report.text(columns, terminal.Colours(false))
			heading, all := "", strings.Split(text, "\n")
			if columns >= 20 {
				requireRowsAlike(t, all, columns)
			}
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

// requireRowsAlike checks the rows of the quotas: one line each, or all with their numbers
// below the name.
func requireRowsAlike(t *testing.T, lines []string, columns int) {
	t.Helper()
	from := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "  state transitions") })
	to := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "The quotas of ") })
	require.Positive(t, from, "%d columns", columns)
	require.Greater(t, to, from, "%d columns", columns)
	wide := strings.Contains(lines[from], "/s of ")
	for _, line := range lines[from:to] {
		require.True(t, strings.HasPrefix(line, "  "), "%d columns: %s", columns, line)
		if wide {
			require.Contains(t, line, " of ", "%d columns", columns)
		} else if isName := line[2] != ' '; isName {
			require.NotContains(t, line, "/s", "%d columns", columns)
		}
	}
}

// Counts of past jobs have commas, as those of --concurrent.
func TestPlanCountsJobsWithCommas(t *testing.T) {
	t.Parallel()
	d := planDurations{Source: "past.txt", Count: 100_000, Intervals: 27_012, P50Seconds: 60}
	require.Equal(t, "past.txt has 100,000 durations (27,012 between two polls): all took 1m", d.text())
	check := planCheck{Found: foundLateness{Jobs: 100_000, JobsOverP95: 27_012}, Drift: durationDrift{Jobs: 100_000}}
	text := strings.Join(strings.Fields(check.text(terminaltest.ScreenColumns, terminal.Colours(false))), " ")
	require.Contains(t, text, "; 27,012 of 100,000 jobs later than the promised p95 and 1s, p = ")
	require.Contains(t, text, " test of 100,000 jobs: ")
}
