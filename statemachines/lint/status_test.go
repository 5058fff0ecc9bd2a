package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A job that somebody else can tell of is noted where the machine starts it, with the
// reason to poll all the same.
func TestNeedlessLoops(t *testing.T) {
	t.Parallel()
	loop := func(start, describe, status, done, wait string) string {
		return `{"StartAt": "Start", "TimeoutSeconds": 3600, "States": {
			"Start": {"Type": "Task", "Resource": "arn:aws:states:::` + start + `", "Parameters": {"JobName": "x"}, "ResultPath": "$.started", "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": ` + wait + `, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:` + describe + `", "Parameters": {}, "ResultPath": "$.got", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.got.` + status + `", "StringEquals": "` + done + `", "Next": "Done"}], "Default": "Wait"},
			"Done": {"Type": "Succeed"}}}`
	}
	glue := func(wait string) string {
		return loop("glue:startJobRun", "glue:getJobRun", "JobRun.JobRunState", "SUCCEEDED", wait)
	}
	image := loop("aws-sdk:ec2:createImage", "ec2:describeImages", "Images[0].State", "available", "30")
	tests := []struct{ name, definition, message, line string }{
		{"sync looks seldom", glue("15"), `starts the job and waits for it, and needs no loop; it looks at the job once in 1m, this loop every 15 s: poll on where that matters`, "  glue has .sync: no loop needed"},
		{"sync looks as often", glue("60"), `glue has .sync: a Task on "arn:aws:states:::glue:startJobRun.sync" starts the job and waits for it, and needs no loop`, "  glue has .sync: no loop needed"},
		{"an event that may be lost", image, `ec2 sends the event "EC2 AMI State Change" when the job ends: wait for it with a task token, and poll seldom in case it is lost (best effort)`, "  ec2 sends an event at the end (best effort)"},
		{
			"a durable event", loop("aws-sdk:cloudformation:createStack", "cloudformation:describeStacks", "Stacks[0].StackStatus", "CREATE_COMPLETE", "30"),
			`cloudformation sends the event "CloudFormation Stack Status Change" when the job ends: wait for it with a task token`,
			"  cloudformation sends an event at the end (durable)",
		},
		{"nobody tells", loop("aws-sdk:cloudfront:createInvalidation", "cloudfront:getInvalidation", "Invalidation.Status", "Completed", "30"), "", ""},
		{"Express", image, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			machine, err := asl.Parse([]byte(tt.definition))
			require.NoError(t, err)
			options := lint.Options{Express: tt.name == "Express"}
			var messages []string
			for _, f := range lint.Check(machine, options) {
				if f.Rule == lint.PollNeedless {
					messages = append(messages, f.Message)
				}
			}
			if tt.message == "" {
				require.Empty(t, messages)
				return
			}
			require.Len(t, messages, 1)
			require.True(t, strings.HasSuffix(messages[0], tt.message), messages[0])
			loops := lint.Loops(machine, options)
			require.Len(t, loops, 1)
			require.Contains(t, loops[0].String(), tt.line)
		})
	}
}

// What the rules about statuses say of a loop that waits for a query.
func TestStatusesOfQuery(t *testing.T) {
	t.Parallel()
	is := func(status, next string) string {
		return `{"Variable": "$.got.QueryExecution.Status.State", "StringEquals": "` + status + `", "Next": "` + next + `"}`
	}
	const onWait, onFailed, onNone = `, "Default": "Wait"`, `, "Default": "Failed"`, ""
	tests := []struct {
		name, choices, otherwise string
		between                  string // a Task between the poll and the Choice
		want                     []string
	}{
		{"all is right", is("SUCCEEDED", "Report") + "," + is("FAILED", "Failed") + "," + is("CANCELLED", "Failed"), onWait, "", nil},
		{
			"a failure polls on", is("SUCCEEDED", "Report") + "," + is("FAILED", "Failed"), onWait, "",
			[]string{`status-polls-on /Default: CANCELLED is a failure of athena:GetQueryExecution, but the loop goes on to "Wait" and polls again`},
		},
		{
			"one behind a Task of the loop", is("SUCCEEDED", "Report") + "," + is("FAILED", "Failed"), onWait, "Note",
			[]string{`status-polls-on /Default: CANCELLED is a failure`},
		},
		{"two failures poll on", is("SUCCEEDED", "Report"), onWait, "", []string{`status-polls-on /Default: FAILED and CANCELLED are failures`}},
		{
			"no rule for a success", is("FAILED", "Failed") + "," + is("CANCELLED", "Failed") + "," + is("QUEUED", "Wait") + "," + is("RUNNING", "Wait"), onNone, "",
			[]string{`status-misread : SUCCEEDED is a success of athena:GetQueryExecution, but no rule takes it, and the execution fails with States.NoChoiceMatched; add a rule`},
		},
		{
			"a success fails", is("SUCCEEDED", "Failed") + "," + is("FAILED", "Failed") + "," + is("CANCELLED", "Failed"), onWait, "",
			[]string{`status-misread /Choices/0/Next: SUCCEEDED is a success of athena:GetQueryExecution, but the Choice leads to "Failed", and the execution fails`},
		},
		{
			"a success fails after a Task", is("SUCCEEDED", "Tidy") + "," + is("FAILED", "Failed") + "," + is("CANCELLED", "Failed"), onWait, "",
			[]string{`status-misread /Choices/0/Next: SUCCEEDED is a success of athena:GetQueryExecution, but the Choice leads to "Tidy", and the execution fails`},
		},
		{"failures fail after a Task", is("SUCCEEDED", "Report") + "," + is("FAILED", "Tidy") + "," + is("CANCELLED", "Failed"), onWait, "", nil},
		{
			"a failure succeeds with nobody told", is("SUCCEEDED", "Done") + "," + is("FAILED", "Done") + "," + is("CANCELLED", "Failed"), onWait, "",
			[]string{`status-misread /Choices/1/Next: FAILED is a failure of athena:GetQueryExecution, but the Choice leads to "Done", and the execution succeeds`},
		},
		{
			"a failure goes the way of a success", is("SUCCEEDED", "Report") + "," + is("FAILED", "Report") + "," + is("CANCELLED", "Failed"), onWait, "",
			[]string{`status-misread /Choices/1/Next: FAILED is a failure of athena:GetQueryExecution, but the Choice leads to "Report", as for a success`},
		},
		{
			"no rule for a status that runs", is("SUCCEEDED", "Report") + "," + is("RUNNING", "Wait"), onFailed, "",
			[]string{`status-unhandled /Default: no rule names QUEUED, in which the job still runs: the Choice leads to "Failed"`},
		},
		{
			"nor a Default", is("SUCCEEDED", "Report") + "," + is("RUNNING", "Wait") + "," + is("FAILED", "Failed") + "," + is("CANCELLED", "Failed"), onNone, "",
			[]string{`status-unhandled : no rule takes QUEUED, in which the job still runs: the execution fails with States.NoChoiceMatched`},
		},
		{"a failure that starts the job again", is("SUCCEEDED", "Report") + "," + is("FAILED", "Start") + "," + is("CANCELLED", "Failed"), onWait, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			next := "Done?"
			if tt.between != "" {
				next = tt.between
			}
			text := `{"StartAt": "Start", "TimeoutSeconds": 600, "States": {
				"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "q"}, "ResultPath": "$.s", "Next": "Get"},
				"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.got", "Next": "` + next + `"},
				"Note": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:putItem", "Parameters": {"TableName": "t", "Item": {}}, "ResultPath": null, "Next": "Done?"},
				"Done?": {"Type": "Choice", "Choices": [` + tt.choices + `]` + tt.otherwise + `},
				"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
				"Report": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "Next": "Done"},
				"Tidy": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "Next": "Failed"},
				"Failed": {"Type": "Fail"}, "Done": {"Type": "Succeed"}}}`
			for _, state := range []string{"Note", "Report", "Tidy", "Failed", "Done", "Wait"} { // those that nothing leads to
				text = withoutState(text, state)
			}
			m, err := asl.Parse([]byte(text))
			require.NoError(t, err)
			var found []string
			for _, f := range lint.Check(m, lint.Options{}) {
				if strings.HasPrefix(f.Rule, "status-") {
					found = append(found, f.Rule+" "+strings.TrimPrefix(f.Pointer, "/States/Done?")+": "+f.Message)
				}
			}
			require.Len(t, found, len(tt.want), "%v", found)
			for i, want := range tt.want {
				require.Contains(t, found[i], want)
			}
		})
	}
}

// withoutState removes a state from a definition if nothing leads to it.
func withoutState(text, state string) string {
	if strings.Contains(text, `"Next": "`+state+`"`) || strings.Contains(text, `"Default": "`+state+`"`) {
		return text
	}
	from := strings.Index(text, `"`+state+`": {`)
	to := from + strings.Index(text[from:], "}") + 1
	for strings.Count(text[from:to], "{") > strings.Count(text[from:to], "}") {
		to += strings.Index(text[to:], "}") + 1
	}
	return strings.TrimRight(text[:from], " \n\t,") + text[to:]
}

// A row says what a status means, and what happens where that is something else.
func TestDescribeRow(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]lint.Row{
		"success":                      {Meaning: lint.MeansSuccess, Ends: lint.EndsSuccess},
		"running":                      {Meaning: lint.MeansRunning, Ends: lint.PollsOn},
		"running, but fails":           {Meaning: lint.MeansRunning, Ends: lint.EndsFailure},
		"running, but goes on":         {Meaning: lint.MeansRunning, Ends: lint.GoesOn},
		"failure, but may poll on":     {Meaning: lint.MeansFailure, Ends: lint.EndsUnknown},
		"failure, but polls on":        {Meaning: lint.MeansFailure, Ends: lint.PollsOn, Rule: lint.StatusPollsOn},
		"succeeds":                     {Meaning: lint.MeansUnknown, Ends: lint.EndsSuccess},
		"failure or running, polls on": {Meaning: lint.MeansUnknown, Either: []lint.Meaning{lint.MeansFailure, lint.MeansRunning}, Ends: lint.PollsOn},
	} {
		require.Equal(t, want, row.Describe())
	}
}
