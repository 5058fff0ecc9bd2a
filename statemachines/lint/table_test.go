package lint_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/tests/race"
)

// The loops that compile makes of the jobs of the catalogue have no DANGER and no
// WARNING, and their tables say what the catalogue says.
func TestCompiledLoopsDoWhatTheCatalogueSays(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	tables, compiled := 0, 0
	for _, l := range race.OneIn(6, list) {
		for _, listed := range l.Entries {
			if listed.Kind != catalog.AWSJob {
				continue
			}
			e, err := catalog.AWS().Lookup(l.Key, listed.Name)
			require.NoError(t, err)
			for _, s := range []compile.Strategy{compile.Loop, compile.Variables, compile.RetryTask, compile.LambdaLoop, compile.LambdaRetry} {
				made, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: s, MaxWait: 30 * time.Minute, Fit: true})
				if _, refused := errors.AsType[*compile.NotCompiledError](err); refused {
					continue
				}
				require.NoError(t, err)
				compiled++
				for _, f := range lint.Check(made.Machine, lint.Options{}) {
					require.Equal(t, diag.Note, f.Severity, "%s as %s: %s %s", e.FullName(), s, f.Rule, f.Message)
				}
				tables += requireTable(t, e, s, made.Machine)
			}
		}
	}
	require.Greater(t, compiled, race.Of(250, 40))
	require.Greater(t, tables, race.Of(200, 30))
}

// requireTable compares the table of a compiled loop with what is polled, and counts
// it.
func requireTable(t *testing.T, e *catalog.Entry, s compile.Strategy, m *asl.StateMachine) int {
	t.Helper()
	loops := lint.Loops(m, lint.Options{})
	require.Len(t, loops, 1)
	l := loops[0]
	name := e.FullName() + " as " + string(s)
	require.NotEqual(t, lint.Unbounded, l.Bound.Kind, name)
	lambda := s == compile.LambdaLoop || s == compile.LambdaRetry
	require.Equal(t, s == compile.RetryTask || s == compile.LambdaRetry, l.Retries, name)
	if lambda {
		require.Equal(t, "jobpoller-checkstatus", l.Operation, name)
	} else {
		require.Equal(t, e.Service.Key+":"+e.Operation.Name, l.Operation, name)
		require.Same(t, e, sameEntry(e, l.Entry), name)
	}
	if !lambda && (e.Job.Status == "" || strings.Contains(e.Job.Status, "[")) {
		return 0 // judged by more than one text
	}
	require.NotEmpty(t, l.Rows, name)
	runs := slices.ContainsFunc(l.Rows, func(row lint.Row) bool { return row.Meaning == lint.MeansRunning && row.Ends == lint.PollsOn })
	if !lambda && runs { // it is known how the job polls on until the end
		least := 29 * time.Minute
		if s == compile.RetryTask { // where an error means running, too, two retriers share the time
			least = 20 * time.Minute
		}
		require.GreaterOrEqual(t, l.Bound.After, least, name)
		require.LessOrEqual(t, l.Bound.After, 32*time.Minute, name)
	}
	ends := map[lint.Meaning]lint.End{lint.MeansSuccess: lint.EndsSuccess, lint.MeansFailure: lint.EndsFailure, lint.MeansRunning: lint.PollsOn}
	var values []string
	for _, row := range l.Rows {
		require.Empty(t, row.Rule, name)
		if len(row.Values) == 0 {
			continue
		}
		passing, _ := e.Passing(row.Values[0])
		if row.Meaning != lint.MeansEnding && passing != catalog.PassingLater { // of which the acceptors make what they will
			require.Equal(t, ends[row.Meaning], row.Ends, "%s: %v", name, row.Values)
		}
		values = append(values, row.Values...)
	}
	if !lambda {
		known := slices.DeleteFunc(slices.Concat(e.Job.Success, e.Job.Failure, e.Job.Running), func(value string) bool {
			passing, _ := e.Passing(value)
			return passing == catalog.PassingFilter
		})
		require.Subset(t, values, known, name)
	}
	return 1
}

// sameEntry is the entry if the other is of the same name.
func sameEntry(e, other *catalog.Entry) *catalog.Entry {
	if other != nil && other.FullName() == e.FullName() {
		return e
	}
	return other
}

func readMachine(t *testing.T, file string) *asl.StateMachine {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	return m
}

// The table of the loop that the README shows, with all that a program can ask of it.
func TestLoopOfAthena(t *testing.T) {
	t.Parallel()
	loops := lint.Loops(readMachine(t, "../../docs/example/athena/loop.asl.json"), lint.Options{})
	require.Len(t, loops, 1)
	l := loops[0]
	require.Equal(t, "athena:GetQueryExecution", l.Operation)
	require.Equal(t, "QueryExecution.Status.State", l.Status)
	require.Equal(t, "athena:StartQueryExecution", l.Entry.FullName())
	require.Equal(t, []string{"GetStatus", "RunQuery", "Done?", "Wait"}, []string{l.Poll.Name, l.Start.Name, l.Choices[0].Name, l.Waits[0].Name})
	require.Equal(t, []lint.Row{
		{Values: []string{"SUCCEEDED"}, Meaning: lint.MeansSuccess, Routes: []string{"Report"}, Ends: lint.EndsSuccess},
		{Values: []string{"FAILED"}, Meaning: lint.MeansFailure, Routes: []string{"Failed"}, Ends: lint.EndsFailure},
		{Values: []string{"CANCELLED"}, Meaning: lint.MeansFailure, Routes: []string{"Wait"}, Ends: lint.PollsOn, Rule: lint.StatusPollsOn, Severity: diag.Danger},
		{Values: []string{"QUEUED", "RUNNING"}, Meaning: lint.MeansRunning, Routes: []string{"Wait"}, Ends: lint.PollsOn},
		{Meaning: lint.MeansUnknown, Routes: []string{"Wait"}, Ends: lint.PollsOn},
	}, l.Rows)
	require.Equal(t, lint.Unbounded, l.Bound.Kind)
	require.Equal(t, []int{2777, 24_993, 8331}, []int{l.Bound.Polls, l.Bound.Events, l.Bound.Transitions})
	require.Equal(t, 2777*5*time.Second, l.Bound.After)
}

// An Express workflow ends after 5 minutes, and a loop in it by its own bound if that comes first:
// at no price for each transition.
func TestBoundsOfExpressWorkflow(t *testing.T) {
	t.Parallel()
	const loop = `{"StartAt": "Zero", "States": {"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "ResultPath": "$.q", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"}, RULE], "Default": "Pause"},
		"Pause": {"Type": "Wait", "Seconds": 10, "Next": "Get"}, "Good": {"Type": "Succeed"}, "Late": {"Type": "Fail"}}}`
	for name, c := range map[string]struct{ rule, want string }{
		"a count":            {`{"Variable": "$n", "NumericGreaterThanEquals": 6, "Next": "Late"}`, `ends at 6 polls by $n in "Done?" -> Late (fails), after 50s, 17 transitions`},
		"a longer count":     {`{"Variable": "$n", "NumericGreaterThanEquals": 600, "Next": "Late"}`, "ends after 5m, as Express workflows do"},
		"a count of its own": {`{"Variable": "$n", "NumericGreaterThanEqualsPath": "$.most", "Next": "Late"}`, `ends by $n and $.most in "Done?" -> Late (fails), or after 5m, as Express workflows do`},
		"no bound":           {`{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Late"}`, "ends after 5m, as Express workflows do"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(strings.Replace(loop, "RULE", c.rule, 1)))
			require.NoError(t, err)
			loops := lint.Loops(m, lint.Options{Express: true})
			require.Len(t, loops, 1)
			require.Equal(t, c.want, loops[0].DescribeBound())
		})
	}
}

// The history of an Express workflow has no limit that loops or items could share.
func TestHistoryOfExpressWorkflow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"two-loops-in-sequence", "items", "branches"} {
		m := readMachine(t, "testdata/cases/histories/"+name+".asl.json")
		for _, express := range []bool{false, true} {
			for _, l := range lint.Loops(m, lint.Options{Express: express}) {
				require.Equal(t, !express, l.Bound.Loops > 1 || l.Bound.Items, name)
			}
		}
	}
}
