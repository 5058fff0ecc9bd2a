package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/race"
)

// readTrial reads a definition, and finds an input if there is none.
func readTrial(t *testing.T, file, input string) (*loopTrial, *pollTrial) {
	t.Helper()
	m, err := kit.ReadMachine(t.Context(), file, strings.NewReader(""), nil, nil)
	require.NoError(t, err)
	tried := &loopTrial{machine: m}
	if input != "" {
		tried.input = []byte(input)
	}
	first, err := tried.findInput(t.Context())
	require.NoError(t, err)
	tried.polls = first.job.State
	return tried, first
}

// Today's row is what runs on jobs of such durations measure, whether a loop of states
// polls, the Retry of a Task or the Lambda functions, and with delays that are drawn.
func TestTodaysRowIsWhatRunsMeasure(t *testing.T) {
	t.Parallel()
	d, err := plan.Parse("lognormal(15m, 0.5)")
	require.NoError(t, err)
	for _, file := range race.OneIn(4, []string{
		"../../../docs/example/athena/loop.asl.json", "../../../statemachines/dynamodb-export-variables.asl.json",
		"../../../statemachines/dynamodb-export-retry-task.asl.json", "../../../statemachines/lambda-retry.asl.json",
	}) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			tried, first := readTrial(t, file, "")
			s := &planSubject{trial: tried, first: first}
			require.NoError(t, s.run(t.Context(), &knowledge{distribution: d, recorded: d}))
			require.NotNil(t, s.measured, s.notes)
			row := coster{d, compile.Variables, asl.DefaultRegion}.today(s)

			const runs = 40
			var calls, late, transitions, events float64
			for i := range runs {
				lasts := d.Quantile((float64(i) + 0.5) / runs).Truncate(time.Second)
				r, err := tried.run(t.Context(), lasts, uint64(1000+i))
				require.NoError(t, err)
				calls += float64(len(r.at)) / runs
				late += (r.at[len(r.at)-1] - lasts).Seconds() / runs
				transitions += float64(r.transitions) / runs
				events += float64(r.events) / runs
			}
			require.InEpsilon(t, calls, row.Calls, 0.02)
			require.InEpsilon(t, transitions, row.Transitions, 0.02)
			require.InEpsilon(t, events, row.Events, 0.02)
			require.InDelta(t, late, row.MeanLateSeconds, 4)
		})
	}
}

// A plan of the same definition is the same, whatever is drawn.
func TestTrialRepeats(t *testing.T) {
	t.Parallel()
	d, err := plan.Parse("constant(10m)")
	require.NoError(t, err)
	var lists [][][]time.Duration
	for range 2 {
		tried, first := readTrial(t, "../../../statemachines/dynamodb-export-variables.asl.json", "")
		m, err := tried.measure(t.Context(), first, d)
		require.NoError(t, err)
		require.Len(t, m.lists, trialSeeds)
		lists = append(lists, m.lists)
	}
	require.Equal(t, lists[0], lists[1])
}

// A Task whose function nobody knows answers {}, and a note says so. A loop without an
// end is as long as a history. A machine without a poll says what it lacks.
func TestTrialOfMachinesThatLackSomething(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start, wait string
		notes, err  string
	}{
		"function": {start: `"Enrich": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "enrich"}, "ResultPath": "$.x", "Next": "Get"}`, wait: `"Seconds": 10`, notes: "in the run of today's machine the answers of these Tasks are drawn: Enrich"},
		"function by its ARN": {
			start: `"Enrich": {"Type": "Task", "Resource": "arn:aws:lambda:eu-west-1:123456789012:function:enrich", "ResultPath": "$.x", "Next": "Shape"},
				"Shape": {"Type": "Choice", "Choices": [{"Variable": "$.x.Payload", "IsPresent": true, "Next": "End"}], "Default": "Get"}`,
			wait: `"Seconds": 10`, notes: "in the run of today's machine the answers of these Tasks are drawn: Enrich",
		},
		"wait of input": {wait: `"SecondsPath": "$$.Execution.Input.every"`, err: "the machine does not poll with an invented input, pass --input: the run fails: States.Runtime: "},
		"long history":  {wait: `"Seconds": 1`, notes: "today's loop polls for 46m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, start := "Get", ""
			if c.start != "" {
				first, start = "Enrich", c.start+", "
			}
			definition := `{"StartAt": "` + first + `", "States": {` + start + `
				"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "n", "RunId.$": "$.id"}, "ResultPath": "$.got", "Next": "Done"},
				"Done": {"Type": "Choice", "Choices": [{"Variable": "$.got.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "End"}], "Default": "Wait"},
				"Wait": {"Type": "Wait", ` + c.wait + `, "Next": "Get"}, "End": {"Type": "Succeed"}}}`
			m, err := kit.ReadMachine(t.Context(), kit.Stdin, strings.NewReader(definition), nil, nil)
			require.NoError(t, err)
			d, err := plan.Parse("uniform(1h, 3h)")
			require.NoError(t, err)
			loops := loopsOf(m, nil)
			require.Len(t, loops, 1)
			s := newLoopSubject(&loops[0])
			s.trial = &loopTrial{machine: m, polls: "Get", entry: loops[0].Entry}
			require.NoError(t, s.run(t.Context(), &knowledge{distribution: d, recorded: d}))
			notes := strings.Join(s.notes, "\n")
			require.Contains(t, notes, c.notes+c.err)
			require.Equal(t, c.err == "", s.measured != nil, notes)
		})
	}
}

// twoLoops runs a Glue job, polled every 30 s, and then an Athena query, every 5 s.
const twoLoops = `{"StartAt": "Run", "States": {
  "Run": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startJobRun", "Parameters": {"JobName": "nightly"}, "ResultPath": "$.run", "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "nightly", "RunId.$": "$.run.JobRunId"}, "ResultPath": "$.job", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.job.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "Query"}, {"Variable": "$.job.JobRun.JobRunState", "StringEquals": "FAILED", "Next": "Bad"}], "Default": "Wait"},
  "Query": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.query", "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 5, "Next": "Ask"},
  "Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.query.QueryExecutionId"}, "ResultPath": "$.state", "Next": "Ready?"},
  "Ready?": {"Type": "Choice", "Choices": [{"Variable": "$.state.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"}, {"Variable": "$.state.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}], "Default": "Pause"},
  "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`

// Of a machine with two loops each row is of one: its polls, and what they cost.
func TestTodaysRowOfOneLoopOfTwo(t *testing.T) {
	t.Parallel()
	d, err := plan.Parse("lognormal(15m, 1)")
	require.NoError(t, err)
	for poll, every := range map[string]time.Duration{"Get": 30 * time.Second, "Ask": 5 * time.Second} {
		m, err := kit.ReadMachine(t.Context(), kit.Stdin, strings.NewReader(twoLoops), nil, nil)
		require.NoError(t, err)
		tried := &loopTrial{machine: m, polls: poll}
		first, err := tried.findInput(t.Context())
		require.NoError(t, err)
		s := &planSubject{trial: tried, first: first}
		require.NoError(t, s.run(t.Context(), &knowledge{distribution: d, recorded: d}))
		require.NotNil(t, s.measured, s.notes)
		row := coster{d, compile.Variables, asl.DefaultRegion}.today(s)
		want := plan.MeasurePlanned(d, pollcore.Planned{Delays: []time.Duration{every}, Then: every})
		require.InEpsilon(t, want.Calls, row.Calls, 0.02, poll) // a history ends those of the longest jobs
		require.InDelta(t, want.Mean.Seconds(), row.MeanLateSeconds, 0.2, poll)
		require.InDelta(t, 3*row.Calls, row.Transitions, 12, "three a poll, and those of the rest once")
	}
}

// What plan prints of a strategy is what executions of the machine take that compile
// makes of the schedule: calls, lateness, transitions and events.
func TestPrintedPlanIsWhatRunsMeasure(t *testing.T) {
	t.Parallel()
	command := func(t *testing.T, args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		require.Zero(t, runCommand(t.Context(), args, &out, &errs), errs.String())
		return out.Bytes()
	}
	const durations = "uniform(15m, 30m)"
	d, err := plan.Parse(durations)
	require.NoError(t, err)
	for _, strategy := range race.OneIn(4, slices.DeleteFunc(pollingStrategies(), compile.Strategy.NeedsCollector)) {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var printed planReport
			require.NoError(t, json.Unmarshal(command(t, "plan", "dynamodb", "ExportTableToPointInTime", "--duration", durations, "--strategy", string(strategy), "-o", "json"), &printed))
			row := printed.Schedules[len(printed.Schedules)-1]
			require.Contains(t, []string{plannedName, compiledName}, row.Name)
			schedule, err := json.Marshal(printed.Schedule)
			require.NoError(t, err)
			definition := command(t, "compile", "dynamodb", "ExportTableToPointInTime", "--start", "--max-wait", d.Quantile(rareJob).Truncate(time.Second).String(), "--strategy", string(strategy),
				"--schedule", clitest.WriteFile(t, "schedule.json", string(schedule)))
			tried, _ := readTrial(t, clitest.WriteFile(t, "machine.asl.json", string(definition)),
				`{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders", "S3Bucket": "exports"}`)

			const runs = 40
			var calls, late, transitions, events float64
			for i := range runs {
				lasts := d.Quantile((float64(i) + 0.5) / runs).Truncate(time.Second)
				r, err := tried.run(t.Context(), lasts, uint64(i))
				require.NoError(t, err)
				require.True(t, r.saw)
				calls += float64(len(r.at)) / runs
				late += (r.at[len(r.at)-1] - lasts).Seconds() / runs
				transitions += float64(r.transitions) / runs
				events += float64(r.events) / runs
			}
			require.InEpsilon(t, row.Calls, calls, 0.03)
			require.InEpsilon(t, row.Transitions, transitions, 0.03)
			require.InEpsilon(t, row.Events, events, 0.03)
			require.InEpsilon(t, row.MeanLateSeconds, late, 0.1)
		})
	}
}
