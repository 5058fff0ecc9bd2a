package fix_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/race"
)

// training is a definition that starts a training job and polls it: further fields of
// the start, and further states.
func training(start, states string) string {
	return `{
  "StartAt": "Train",
  "States": {
    "Train": {"Type": "Task", "Resource": "arn:aws-cn:states:::sagemaker:createTrainingJob",
      "Parameters": {"TrainingJobName.$": "$.name", "RoleArn": "arn:aws:iam::123456789012:role/r"}` + start + `, "Next": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 60, "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "arn:aws-cn:states:::aws-sdk:sagemaker:describeTrainingJob",
      "Parameters": {"TrainingJobName.$": "$.name"}, "ResultPath": "$.job", "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Variable": "$.job.TrainingJobStatus", "StringEquals": "Completed", "Next": "Report"},
      {"Variable": "$.job.TrainingJobStatus", "StringEquals": "Failed", "Next": "Failed"},
      {"Variable": "$.job.TrainingJobStatus", "StringEquals": "Stopped", "Next": "Failed"},
      {"Variable": "$.job.TrainingJobStatus", "StringEquals": "Deleting", "Next": "Failed"}
    ], "Default": "Wait"},
    "Report": {"Type": "Succeed"},
    "Failed": {"Type": "Fail", "Error": "E"}` + states + `
  }
}
`
}

// inJSONata writes what training writes in JSONata.
var inJSONata = strings.NewReplacer(
	`"StartAt"`, `"QueryLanguage": "JSONata", "StartAt"`, `"Parameters": {"TrainingJobName.$": "$.name"`, `"Arguments": {"TrainingJobName": "{% $states.input.name %}"`,
	`"ResultPath": "$.job"`, `"Output": "{% $merge([$states.input, {'job': $states.result}]) %}"`,
	`"Variable": "$.job.TrainingJobStatus", "StringEquals": "Completed"`, `"Condition": "{% $states.input.job.TrainingJobStatus = 'Completed' %}"`,
	`"Variable": "$.job.TrainingJobStatus", "StringEquals": "Failed"`, `"Condition": "{% $states.input.job.TrainingJobStatus = 'Failed' %}"`,
	`"Variable": "$.job.TrainingJobStatus", "StringEquals": "Stopped"`, `"Condition": "{% $states.input.job.TrainingJobStatus = 'Stopped' %}"`,
	`"Variable": "$.job.TrainingJobStatus", "StringEquals": "Deleting"`, `"Condition": "{% $states.input.job.TrainingJobStatus = 'Deleting' %}"`,
)

// Where a ".sync" Task can take the place of the loop and of the Task that starts its
// job, it is the default: one call, and no lateness.
func TestSync(t *testing.T) {
	t.Parallel()
	text := training(`, "ResultPath": "$.started"`, "")
	after, loops := apply(t, text, fix.Options{MaxWait: time.Hour})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, compile.SyncTask, loops[0].Strategy, "%v", loops[0].Notes)
	require.Contains(t, loops[0].Notes[0], "redrive")
	require.Contains(t, loops[0].Notes, `the answer of "Train" behind the loop has no SdkHttpMetadata, SdkResponseMetadata any more`)
	require.Contains(t, after, `"Resource": "arn:aws-cn:states:::sagemaker:createTrainingJob.sync"`)
	require.Contains(t, after, `"StartAt": "Train begins"`)
	require.Equal(t, []string{"Train", "Wait", "Get", "Done?"}, loops[0].Fragment.Replaces)
	for _, trial := range loops[0].Trials {
		require.InDelta(t, 1, trial.After.Calls, 0, trial.Status)
		require.LessOrEqual(t, trial.After.Transitions, 7.0, trial.Status)
		require.Zero(t, trial.After.Late, trial.Status)
	}
	require.Equal(t, "Report", loops[0].Trials[0].After.Exit)

	again, loops := apply(t, after, fix.Options{})
	require.Empty(t, loops, "a compiled loop stays")
	require.Equal(t, after, again)

	kept, loops := apply(t, text, fix.Options{Strategy: compile.Variables, MaxWait: time.Hour})
	require.Equal(t, compile.Variables, loops[0].Strategy)
	require.NotContains(t, strings.Join(loops[0].Notes, "\n"), ".sync")
	require.NotContains(t, kept, ".sync")
}

// tasks makes a definition of training() run a task of ECS.
func tasks(text string) string {
	return strings.NewReplacer(
		"sagemaker:createTrainingJob", "ecs:runTask", "sagemaker:describeTrainingJob", "ecs:describeTasks",
		`"TrainingJobName.$": "$.name", "RoleArn": "arn:aws:iam::123456789012:role/r"`, `"TaskDefinition": "d", "Cluster": "c"`,
		`"TrainingJobName.$": "$.name"`, `"Cluster": "c", "Tasks.$": "States.Array($.Tasks[0].TaskArn)"`,
		`"ResultPath": "$.job"`, `"ResultPath": "$"`, "$.job.TrainingJobStatus", "$.Tasks[0].LastStatus", "Completed", "STOPPED", `"Failed", "Next"`, `"DELETED", "Next"`,
	).Replace(text)
}

// execution makes a definition of training() run a state machine.
func execution(text string) string {
	return strings.NewReplacer(
		"aws-sdk:sagemaker:describeTrainingJob", "aws-sdk:sfn:describeExecution", "sagemaker:createTrainingJob", "aws-sdk:sfn:startExecution",
		`"TrainingJobName.$": "$.name", "RoleArn": "arn:aws:iam::123456789012:role/r"`, `"StateMachineArn.$": "$.machine"`,
		`"TrainingJobName.$": "$.name"`, `"ExecutionArn.$": "$.started.ExecutionArn"`,
		"$.job.TrainingJobStatus", "$.job.Status", "Completed", "SUCCEEDED", `"Failed", "Next"`, `"FAILED", "Next"`, "Stopped", "TIMED_OUT", "Deleting", "ABORTED",
	).Replace(text)
}

// A ".sync" Task gives the states behind the loop what the loop gave them, in both
// languages and for each form of a start.
func TestSyncData(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"result dropped":       training(`, "ResultPath": null`, ""),
		"result selected":      training(`, "ResultSelector": {"arn.$": "$.TrainingJobArn", "n": 1}, "ResultPath": "$.a.b"`, ""),
		"variables":            training(`, "ResultPath": null, "Assign": {"arn.$": "$.TrainingJobArn"}`, ""),
		"JSONata":              inJSONata.Replace(training(`, "Output": "{% $merge([$states.input, {'s': $states.result}]) %}"`, "")),
		"JSONata, variables":   inJSONata.Replace(training(`, "Output": "{% $states.input %}", "Assign": {"at": "{% $states.input.name %}", "n": 1}`, "")),
		"tasks":                tasks(training(`, "Catch": [{"ErrorEquals": ["ECS.ServerException"], "Next": "Failed"}]`, "")),
		"an execution":         execution(training(`, "ResultPath": "$.started"`, "")),
		"a Wait before":        strings.Replace(training(`, "ResultPath": null`, `, "First": {"Type": "Wait", "Seconds": 30, "Next": "Wait"}`), `"Next": "Wait"},`, `"Next": "First"},`, 1),
		"a machine inside Map": `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": ` + training(`, "ResultPath": null`, "") + `}}}`,
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops := apply(t, text, fix.Options{MaxWait: time.Hour})
			require.Empty(t, loops[0].Refused)
			require.Equal(t, compile.SyncTask, loops[0].Strategy, "%v", loops[0].Notes)
			if name == "result dropped" || name == "result selected" {
				require.NotContains(t, strings.Join(loops[0].Notes, "\n"), "any more")
			}
			for _, r := range loops[0].Routes {
				require.False(t, r.Before != "" && r.After != r.Before && r.After != "Get failed", "%+v", r)
			}
			require.Contains(t, after, ".sync")
		})
	}
}

// Where a ".sync" Task cannot take the place of the loop, a compiled loop does, and the
// note says why.
func TestSyncRefused(t *testing.T) {
	t.Parallel()
	started := `, "ResultPath": null`
	plain := training(started, "")
	for want, text := range map[string]string{
		`"Train" has a Retry: in a .sync Task it could start the job a second time`: training(started+`, "Retry": [{"ErrorEquals": ["States.ALL"]}]`, ""),
		`"Train" has TimeoutSeconds, which would end the job's wait`:                training(started+`, "TimeoutSeconds": 60`, ""),
		`a Catch of "Train" leads into the loop`:                                    training(started+`, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Get"}]`, ""),
		`"Log" stands between the start of the job and its loop`: strings.Replace(training(started, `, "Log": {"Type": "Pass", "Next": "Wait"}`),
			`"Next": "Wait"},`, `"Next": "Log"},`, 1),
		"the loop is entered in 2 ways": strings.Replace(training(started, `, "Adopt": {"Type": "Pass", "Next": "Wait"}, "New?": {"Type": "Choice",
      "Choices": [{"Variable": "$.new", "IsPresent": true, "Next": "Train"}], "Default": "Adopt"}`), `"StartAt": "Train"`, `"StartAt": "New?"`, 1),
		`the loop leads back to "Train", which starts another job`: strings.NewReplacer(`"Failed", "Next": "Failed"`, `"Failed", "Next": "Train"`,
			`"StartAt"`, `"TimeoutSeconds": 86400, "StartAt"`).Replace(training(started+`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}]`, "")),
		`a state reads SdkHttpMetadata of "Train"`: strings.Replace(training(`, "ResultPath": "$.started"`, ""), `"Report": {"Type": "Succeed"}`,
			`"Report": {"Type": "Pass", "InputPath": "$.started.SdkHttpMetadata", "End": true}`, 1),
		`"Get" has Credentials`:               strings.Replace(plain, `"ResultPath": "$.job"`, `"ResultPath": "$.job", "Credentials": {"RoleArn": "arn:aws:iam::123456789012:role/r"}`, 1),
		`"Train" reads the name of its state`: strings.Replace(plain, `role/r"`, `role/r", "Tags": [{"Key": "by", "Value.$": "$$.State.Name"}]`, 1),
		`"Get" gives Include, which the describe call behind a .sync Task does not`: strings.Replace(tasks(training(`, "Catch": [{"ErrorEquals": ["ECS.ServerException"], "Next": "Failed"}]`, "")),
			`"Tasks.$"`, `"Include": ["TAGS"], "Tasks.$"`, 1),
		`a Catch of "Get" leads to "Failed" without the variables that "Train" sets`: strings.Replace(training(started+`, "Assign": {"arn.$": "$.TrainingJobArn"}`, ""),
			`"ResultPath": "$.job"`, `"ResultPath": "$.job", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}]`, 1),
		`a state reads SdkResponseMetadata of "Train"`: `{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "Next": "Log", "Branches": [` +
			training(`, "ResultPath": "$.started"`, "") + `]}, "Log": {"Type": "Pass", "InputPath": "$[0].started.SdkResponseMetadata", "End": true}}}`,
		`"Train" reads the error SageMaker.SageMakerException of "Train": a .sync Task names its errors otherwise`: strings.Replace(
			training(started+`, "Catch": [{"ErrorEquals": ["SageMaker.SageMakerException"], "Next": "Failed"}]`, ""), "states:::sagemaker", "states:::aws-sdk:sagemaker", 1),
		`"Report" reads the error SageMaker.ResourceInUseException of "Train"`: strings.NewReplacer("states:::sagemaker", "states:::aws-sdk:sagemaker",
			`"Report": {"Type": "Succeed"}`, `"Report": {"Type": "Choice", "Choices": [{"Variable": "$.error.Error", "StringEquals": "SageMaker.ResourceInUseException", "Next": "Failed"}], "Default": "Over"}, "Over": {"Type": "Succeed"}`,
		).Replace(training(started+`, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Report"}]`, "")),
		`a Catch of "Get" reads what "Train" answers`: strings.Replace(training(`, "ResultPath": "$.started"`, ""), `"ResultPath": "$.job"`,
			`"ResultPath": "$.job", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Failed"}]`, 1),
	} {
		if !race.Takes(want, 12) {
			continue
		}
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			after, loops := apply(t, text, fix.Options{MaxWait: time.Hour})
			require.Empty(t, loops[0].Refused)
			require.Equal(t, compile.Variables, loops[0].Strategy)
			require.Contains(t, strings.Join(loops[0].Notes, "\n"), "a .sync Task cannot take the place of the loop: ")
			require.Contains(t, strings.Join(loops[0].Notes, "\n"), want)
			require.NotContains(t, after, ".sync")

			after, loops = apply(t, text, fix.Options{Strategy: compile.SyncTask, MaxWait: time.Hour})
			require.Contains(t, loops[0].Refused, want)
			require.Equal(t, text, after)
		})
	}
	_, loops := apply(t, plain, fix.Options{Express: true, Strategy: compile.SyncTask})
	require.Equal(t, "an Express workflow cannot run a .sync Task", loops[0].Refused)
	_, loops = apply(t, machine("", "", "", ""), fix.Options{Strategy: compile.SyncTask, MaxWait: time.Hour})
	require.Equal(t, "the job's id behind the Task athena:startQueryExecution.sync is not known: nobody has recorded the Cause of a failed job", loops[0].Refused)
	_, loops = apply(t, machine("", "", "", ""), fix.Options{MaxWait: time.Hour})
	require.NotContains(t, strings.Join(loops[0].Notes, "\n"), ".sync", "the machine starts no job")
	_, loops = apply(t, strings.Replace(plain, `"Parameters": {"TrainingJobName.$": "$.name"}`, `"Parameters": {"TrainingJobName": "other"}`, 1), fix.Options{Strategy: compile.SyncTask, MaxWait: time.Hour})
	require.Equal(t, `"Get" does not poll the job that "Train" starts`, loops[0].Refused)
}

// An error of the start goes where it went before the ".sync" Task took its place.
func TestSyncStartFails(t *testing.T) {
	t.Parallel()
	const refused = "SageMaker.ResourceLimitExceededException"
	for name, c := range map[string]struct {
		start string
		want  string // state that the execution ends in
	}{
		"nothing catches it":   {"", "Train did not start"},
		"its name is caught":   {`, "Catch": [{"ErrorEquals": ["` + refused + `"], "ResultPath": "$.error", "Next": "Caught"}]`, "Caught"},
		"another is caught":    {`, "Catch": [{"ErrorEquals": ["SageMaker.Other"], "ResultPath": "$.error", "Next": "Caught"}]`, "Train did not start"},
		"all errors are":       {`, "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Report"}, {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]`, "Caught"},
		"all, in JSONata":      {`, "Output": "{% $states.input %}", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`, "Caught"},
		"States.TaskFailed is": {`, "Catch": [{"ErrorEquals": ["States.TaskFailed"], "ResultPath": "$.error", "Next": "Caught"}]`, "Caught"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states, write := "", func(text string) string { return text }
			if c.start != "" {
				states = `, "Caught": {"Type": "Succeed"}`
			}
			start := `, "ResultPath": null` + c.start
			if strings.Contains(c.start, "{%") {
				start, write = c.start, inJSONata.Replace
			}
			before := write(training(start, states))
			after, loops := apply(t, before, fix.Options{MaxWait: time.Hour})
			require.Equal(t, compile.SyncTask, loops[0].Strategy, "%v %v", loops[0].Notes, loops[0].Refused)
			run := func(text string) *sim.Result {
				m, err := asl.Parse([]byte(text))
				require.NoError(t, err)
				r, err := sim.Run(t.Context(), m, []byte(`{"name": "n", "more": 1}`), sim.Options{StateHandlers: map[string]sim.Handler{
					"Train": func(context.Context, sim.Call) (sim.Reply, error) {
						return sim.Reply{}, &sim.TaskError{Name: refused, Cause: "too many"}
					},
					"Get": func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, errors.New("there is no job") },
				}})
				require.NoError(t, err)
				return r
			}
			old, replaced := run(before), run(after)
			require.Equal(t, []any{old.Status, string(old.Output), old.Error, old.Cause}, []any{replaced.Status, string(replaced.Output), replaced.Error, replaced.Cause})
			require.Equal(t, 1, replaced.Visits[c.want])
		})
	}
}

// States behind the loop have the variables of the start, however the job ended.
func TestSyncVariables(t *testing.T) {
	t.Parallel()
	for name, assign := range map[string]string{"of a literal": `{"n": 1}`, "of the answer": `{"n.$": "$.TrainingJobArn"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := strings.Replace(training(`, "ResultPath": null, "Assign": `+assign, ""), `"Failed": {"Type": "Fail", "Error": "E"}`,
				`"Failed": {"Type": "Pass", "Parameters": {"n.$": "$n"}, "End": true}`, 1)
			after, loops := apply(t, before, fix.Options{MaxWait: time.Hour})
			require.Equal(t, compile.SyncTask, loops[0].Strategy, "%v %v", loops[0].Notes, loops[0].Refused)
			m, err := asl.Parse([]byte(after))
			require.NoError(t, err)
			r, err := sim.Run(t.Context(), m, []byte(`{"name": "n"}`), sim.Options{StateHandlers: map[string]sim.Handler{
				"Train": func(context.Context, sim.Call) (sim.Reply, error) {
					return sim.Reply{}, &sim.TaskError{Name: "States.TaskFailed", Cause: `{"TrainingJobStatus": "Failed"}`}
				},
				"Get": func(context.Context, sim.Call) (sim.Reply, error) {
					return sim.Reply{Output: map[string]any{"TrainingJobStatus": "Failed", "TrainingJobArn": 1}}, nil
				},
			}})
			require.NoError(t, err)
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
			require.JSONEq(t, `{"n": 1}`, string(r.Output))
		})
	}
}

// Where lint says that the job has a ".sync" Task, and none can take the place of the loop, a
// note says why: also where nobody knows the job's id behind that Task.
func TestNoteOfMissingSync(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(
		`"Start":   {"Type": "Pass", "Result": {"id": "q"}, "Next": "Wait"}`,
		`"Start":   {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "Next": "Wait"}`,
		`"$.id"`, `"$.QueryExecutionId"`,
	).Replace(machine("", "", "", ""))
	_, loops := apply(t, text, fix.Options{})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, compile.Variables, loops[0].Strategy)
	require.Contains(t, strings.Join(loops[0].Notes, "\n"), "a .sync Task cannot take the place of the loop: the job's id behind the Task athena:startQueryExecution.sync is not known")
}
