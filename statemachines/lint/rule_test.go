package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const retried = `, "Retry": [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 5}]`

// states is a definition of these states and of Done and Failed, if they lead
// to them.
func states(head string, states ...string) string {
	for _, end := range [][2]string{{"Done", "Succeed"}, {"Failed", "Fail"}} {
		if strings.Contains(strings.Join(states, ""), fmt.Sprintf("%q", end[0])) {
			states = append(states, fmt.Sprintf(`%q: {"Type": %q}`, end[0], end[1]))
		}
	}
	return fmt.Sprintf(`{%s "States": {%s}}`, head, strings.Join(states, ",\n"))
}

// describe is the Task Poll, which asks for a status and leads to Choose.
func describe(more string) string {
	return fmt.Sprintf(`"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}%s, "Next": "Choose"}`, more)
}

func named(findings []lint.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, f.Rule+" "+f.Pointer)
	}
	return out
}

func TestTasksOfLoops(t *testing.T) {
	t.Parallel()
	poll := func(more string) string {
		return states(
			`"TimeoutSeconds": 3600, "StartAt": "Start",`,
			`"Start": {"Type": "Choice", "Choices": [{"Variable": "$.alike", "IsPresent": true, "Next": "Alike"}], "Default": "Wait"}`,
			`"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Poll"}`, describe(more),
			`"Choose": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "RUNNING", "Next": "Wait"}, {"Variable": "$.S", "StringEquals": "DONE", "Next": "Done"}], "Default": "Failed"}`,
			`"Note": {"Type": "Pass", "Next": "Done"}`, `"Notify": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"Message": "m"}, "Next": "Done"}`,
			`"Alike": {"Type": "Choice", "Choices": [{"Variable": "$.S", "IsPresent": true, "Next": "Note"}], "Default": "Notify"}`,
		)
	}
	catch := func(next string) string {
		return `, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "` + next + `"}]`
	}
	retry := func(retriers string) string { return `, "Retry": [` + retriers + `]` }
	tests := []struct {
		name, more string
		want       []string
	}{
		{"throttling of the service", retry(`{"ErrorEquals": ["Glue.ThrottlingException"]}`), nil},
		{"a placeholder", retry(`{"ErrorEquals": ["${Errors}"]}`), nil},
		{"an error of the caller", retry(`{"ErrorEquals": ["Glue.EntityNotFoundException"]}`), []string{"unretried-task /States/Poll/Retry"}},
		{
			"all after a retrier that takes all and never retries", retry(`{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}`),
			[]string{"unretried-task /States/Poll/Retry"},
		},
		{"errors that go on polling", catch("Wait"), nil},
		{"errors that fail", retried + catch("Failed"), nil},
		{"errors that succeed", retried + catch("Done"), []string{"hidden-failure /States/Poll/Catch/0/Next"}},
		{"errors that succeed after a note", retried + catch("Note"), []string{"hidden-failure /States/Poll/Catch/0/Next"}},
		{"errors that somebody hears of", retried + catch("Notify"), nil},
		{"errors that are looked at", retried + catch("Alike"), nil},
		{
			"a retrier that does not retry", retry(`{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 0, "IntervalSeconds": 5}, {"ErrorEquals": ["States.ALL"]}`),
			[]string{"idle-retrier /States/Poll/Retry/0"},
		},
		{"an error that is not to be retried", retry(`{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}`), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := append([]string{}, tt.want...)
			found := check(t, poll(tt.more), lint.Options{})
			require.Equal(t, want, named(found))
			for _, f := range found {
				require.Empty(t, check(t, poll(tt.more), lint.Options{Off: []string{f.Rule}}))
			}
		})
	}
}

// A Default that goes on polling is found behind conditions of several parts,
// and not where the Choice looks at more than a status.
func TestLoopingDefault(t *testing.T) {
	t.Parallel()
	const done = `{"Variable": "$.S", "StringEquals": "DONE"}`
	tests := []struct {
		name, rule string
		want       int
	}{
		{"a status", `"Variable": "$.S", "StringEquals": "DONE", "Next": "Done"`, 1},
		{"a status that is there", `"And": [{"Variable": "$.S", "IsPresent": true}, ` + done + `], "Next": "Done"`, 1},
		{"one of two", `"Or": [` + done + `, {"Variable": "$.S", "StringEquals": "OVER"}], "Next": "Done"`, 1},
		{"not a status", `"Not": ` + done + `, "Next": "Done"`, 1},
		{"a success and a failure", done[1:len(done)-1] + `, "Next": "Done"}, {"Variable": "$.S", "StringEquals": "BROKEN", "Next": "Failed"`, 0},
		{"a flag", `"Variable": "$.Ready", "BooleanEquals": true, "Next": "Done"`, 0},
		{"a status or a time", `"Or": [` + done + `, {"Variable": "$$.State.EnteredTime", "TimestampGreaterThan": "2030-01-01T00:00:00Z"}], "Next": "Done"`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := states(
				`"StartAt": "Wait",`,
				`"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Poll"}`, describe(retried),
				`"Choose": {"Type": "Choice", "Choices": [{`+tt.rule+`}], "Default": "Wait"}`,
			)
			require.Equal(t, tt.want, rules(check(t, text, lint.Options{}))[lint.LoopingDefault])
		})
	}
}

// Loops that are none of polls, and Choices that leave it to others whether to
// go on, have no findings.
func TestOtherChoices(t *testing.T) {
	t.Parallel()
	poll := `"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Poll"}`
	tests := []struct {
		name   string
		states []string
	}{
		{"a Default that leads to another Choice", []string{
			poll, describe(retried),
			`"Choose": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "DONE", "Next": "Done"}], "Default": "Fails"}`,
			`"Fails": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "Failed"}`,
		}},
		{"a Choice of how long to wait", []string{
			poll, describe(retried), `"Long": {"Type": "Wait", "Seconds": 300, "Next": "Poll"}`,
			`"Choose": {"Type": "Choice", "Choices": [{"Variable": "$.S", "IsPresent": true, "Next": "Pace"}], "Default": "Done"}`,
			`"Pace": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "QUEUED", "Next": "Long"}], "Default": "Wait"}`,
		}},
		{"an error that is looked at", []string{
			poll, describe(retried + `, "Catch": [{"ErrorEquals": ["Glue.EntityNotFoundException"], "Next": "Why"}]`),
			`"Why": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "NEW", "Next": "Poll"}], "Default": "Failed"}`,
			`"Choose": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "Done"}`,
		}},
		{"no Task and no Wait", []string{
			`"Wait": {"Type": "Pass", "Next": "Choose"}`,
			`"Choose": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "DONE", "Next": "Done"}], "Default": "Wait"}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, check(t, states(`"TimeoutSeconds": 3600, "StartAt": "Wait",`, tt.states...), lint.Options{}))
		})
	}
}

func TestRepeatedStart(t *testing.T) {
	t.Parallel()
	const all = `{"ErrorEquals": ["States.ALL"]}`
	tests := []struct {
		name, resource, parameters, retriers string
		want                                 bool
	}{
		{"no token", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn.$": "$.arn", "S3Bucket": "b"}`, all, true},
		{"no token, all constant", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn": "a", "S3Bucket": "b"}`, all, true},
		{"a token", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn.$": "$.arn", "ClientToken.$": "$$.Execution.Name"}`, all, false},
		{"a constant token", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn": "a", "ClientToken": "t"}`, all, false},
		{"throttling alone", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn": "a"}`, `{"ErrorEquals": ["DynamoDb.ThrottlingException"]}`, false},
		{"a timeout", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn": "a"}`, `{"ErrorEquals": ["States.Timeout"]}`, true},
		{"no attempts", "aws-sdk:dynamodb:exportTableToPointInTime", `{"TableArn": "a"}`, `{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}`, false},
		{"an integration of its own", "athena:startQueryExecution", `{"QueryString": "SELECT 1"}`, all, true},
		{"an execution without a name", "states:startExecution", `{"StateMachineArn": "a"}`, all, true},
		{"a job that is run again if it fails", "athena:startQueryExecution.sync", `{"QueryString": "SELECT 1"}`, all, false},
		{"a token that is of the catalogue alone", "aws-sdk:comprehend:startEntitiesDetectionJob", `{"LanguageCode": "en"}`, all, true},
		{"a token that the service asks for", "aws-sdk:emrserverless:startJobRun", `{"ApplicationId": "a"}`, all, false},
		{"a name that the service takes once", "aws-sdk:bedrock:createEvaluationJob", `{"JobName": "j"}`, all, false},
		{"an action that starts no job", "aws-sdk:dynamodb:describeExport", `{"ExportArn": "a"}`, all, false},
		{"a service that the catalogue lacks", "aws-sdk:sqs:sendMessage", `{"QueueUrl": "q"}`, all, false},
		{"a name that an execution may have", "aws-sdk:sfn:startExecution", `{"StateMachineArn": "a"}`, all, true},
		{"a job that has no token", "aws-sdk:glue:startJobRun", `{"JobName": "j"}`, all, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := states(`"StartAt": "Start",`, `"Start": {"Type": "Task", "Resource": "arn:aws:states:::`+tt.resource+`", "Parameters": `+tt.parameters+`, "Retry": [`+tt.retriers+`], "Next": "Done"}`)
			want := []string{}
			if tt.want {
				want = []string{"repeated-start /States/Start/Retry/0"}
			}
			require.Equal(t, want, named(check(t, text, lint.Options{})))
		})
	}
}

func TestShortInterval(t *testing.T) {
	t.Parallel()
	fast := shape{name: "x", seconds: 2, tasks: "glue:getJobRun", retry: true}
	endless, brief, long, counted := fast, fast, fast, fast
	brief.timeout, long.timeout, counted.counts = 3600, 3601, 1800
	slow := fast
	slow.seconds = 5
	require.Equal(t, []string{"unbounded-loop /States/Wait", "short-interval /States/Wait/Seconds"}, named(check(t, endless.definition(), lint.Options{})))
	unknown := strings.Replace(endless.definition(), `"Seconds": 2`, `"SecondsPath": "$.wait"`, 1)
	require.Equal(t, []string{"unbounded-loop /States/Wait"}, named(check(t, unknown, lint.Options{})))
	require.Empty(t, check(t, brief.definition(), lint.Options{}))
	require.Empty(t, check(t, counted.definition(), lint.Options{}))
	require.Equal(t, []string{"unbounded-loop /States/Wait"}, named(check(t, slow.definition(), lint.Options{})))
	require.Empty(t, check(t, endless.definition(), lint.Options{Express: true}))
	found := check(t, long.definition(), lint.Options{})
	require.Len(t, found, 1)
	require.Contains(t, found[0].Message, "the loop polls every 2s, at 3 transitions a poll: that costs $3.24 a day, and the history of 25000 events is full after 92 minutes")
	counted.counts = 1801
	require.Equal(t, []string{"short-interval /States/Wait/Seconds"}, named(check(t, counted.definition(), lint.Options{})))
}

// A way round a loop without a Wait is found though others have one, and each
// Wait of 0 is.
func TestHotLoopInside(t *testing.T) {
	t.Parallel()
	text := states(
		`"TimeoutSeconds": 3600, "StartAt": "Wait",`,
		`"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Poll"}`, describe(retried), `"Soon": {"Type": "Wait", "Seconds": 0, "Next": "Poll"}`,
		`"Choose": {"Type": "Choice", "Choices": [
			{"Variable": "$.S", "StringEquals": "RUNNING", "Next": "Wait"}, {"Variable": "$.S", "StringEquals": "ENDING", "Next": "Soon"},
			{"Variable": "$.S", "StringEquals": "PENDING", "Next": "Poll"}], "Default": "Done"}`,
	)
	found := check(t, text, lint.Options{})
	require.Equal(t, []string{"hot-loop /States/Soon/Seconds", "hot-loop /States/Choose"}, named(found))
	require.Contains(t, found[1].Message, "the loop Choose -> Poll -> Choose checks a status")
}

// A rule is listed once, and each that is found is listed.
func TestRules(t *testing.T) {
	t.Parallel()
	var names []string
	for _, r := range lint.Rules() {
		require.NotEmpty(t, r.About)
		require.NotContains(t, names, r.Name)
		names = append(names, r.Name)
	}
	require.ElementsMatch(t, names, []string{
		lint.UnboundedLoop, lint.UnretriedTask, lint.LoopingDefault, lint.EventBudget, lint.HotLoop,
		lint.ShortInterval, lint.RepeatedStart, lint.IdleRetrier, lint.HiddenFailure,
		lint.StatusPollsOn, lint.StatusMisread, lint.StatusUnhandled, lint.PollNeedless, lint.CallbackTimeout, lint.RedriveRestarts,
		typecheck.UnknownOperation, typecheck.UnknownArgument, typecheck.MissingArgument, typecheck.ArgumentType, typecheck.EnumValue,
		typecheck.UnknownMember, typecheck.NeverHolds, typecheck.UnreachableRule, typecheck.UnsetVariable,
	})
}
