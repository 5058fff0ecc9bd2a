package lint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// shape is the shape of a poll loop: Wait, Tasks, a Choice that goes back.
type shape struct {
	name    string
	seconds int
	tasks   string // of the loop, by service:action
	jsonata bool

	retry    bool // the Tasks have a Retry for faults
	fails    bool // a rule names the failure
	wanders  bool // Default goes on polling
	timeout  int  // of the machine
	counts   int  // polls, at most
	deadline bool // a rule looks at the time
}

// realLoops are the shapes of the 37 distinct poll loops in AWS's own samples,
// named after what they wait for.
var realLoops = []shape{
	{name: "RDS snapshot", seconds: 30, tasks: "rds:describeDBClusters", wanders: true},
	{name: "RDS cluster restore", seconds: 30, tasks: "rds:describeDBClusters rds:describeDBInstances", wanders: true},
	{name: "RDS instance", seconds: 30, tasks: "rds:describeDBInstances", wanders: true},
	{name: "idempotency record", seconds: 10, tasks: "dynamodb:getItem", fails: true, wanders: true},
	{name: "idempotency record, templated", seconds: 10, tasks: "${DDBGetItem}", retry: true, fails: true, wanders: true},
	{name: "Lookout for Vision model", seconds: 30, tasks: "lookoutvision:describeModel", wanders: true},
	{name: "Glue crawler after a query", seconds: 25, tasks: "glue:getCrawler", wanders: true},
	{name: "Glue crawler", seconds: 30, tasks: "glue:getCrawler", fails: true},
	{name: "stack set created", seconds: 5, tasks: "cloudformation:describeStackSetOperation", fails: true},
	{name: "stack set deleted", seconds: 5, tasks: "cloudformation:describeStackSetOperation", fails: true, wanders: true},
	{name: "Athena query", seconds: 5, tasks: "athena:getQueryExecution", fails: true, wanders: true},
	{name: "transcription, word filter", seconds: 10, tasks: "transcribe:getTranscriptionJob", fails: true, wanders: true},
	{name: "EMR Serverless job run", seconds: 20, tasks: "emrserverless:getJobRun", fails: true, wanders: true},
	{name: "Rekognition segments", seconds: 60, tasks: "rekognition:getSegmentDetection", retry: true, fails: true},
	{name: "transcoding by Lambda", seconds: 5, tasks: "lambda:invoke", retry: true, fails: true},
	{name: "Bedrock evaluation", seconds: 600, tasks: "bedrock:getEvaluationJob", fails: true, wanders: true},
	{name: "Bedrock ingestion", seconds: 60, tasks: "bedrockagent:getIngestionJob", fails: true, wanders: true},
	{name: "second Bedrock evaluation", seconds: 600, tasks: "bedrock:getEvaluationJob", fails: true, wanders: true},
	{name: "second Bedrock ingestion", seconds: 60, tasks: "bedrockagent:getIngestionJob", fails: true, wanders: true},
	{name: "speech synthesis", seconds: 10, tasks: "polly:getSpeechSynthesisTask", fails: true, wanders: true},
	{name: "one of two processes", seconds: 5, wanders: true},
	{name: "the other of two processes", seconds: 5, wanders: true},
	{name: "transcription", seconds: 10, tasks: "transcribe:getTranscriptionJob", wanders: true},
	{name: "account creation", seconds: 30, tasks: "organizations:describeCreateAccountStatus", fails: true, wanders: true},
	{name: "model customization", seconds: 300, tasks: "bedrock:getModelCustomizationJob", fails: true},
	{name: "EC2 volume", seconds: 15, tasks: "ec2:describeVolumes", wanders: true},
	{name: "EC2 snapshot", seconds: 15, tasks: "ec2:describeSnapshots", wanders: true, counts: 100},
	{name: "Glue workflow run", seconds: 60, tasks: "glue:getWorkflowRun", retry: true, wanders: true},
	{name: "semaphore", seconds: 3, tasks: "dynamodb:updateItem dynamodb:getItem", retry: true, wanders: true},
	{name: "transcription, script", seconds: 10, tasks: "transcribe:getTranscriptionJob", fails: true, wanders: true, timeout: 7200},
	{name: "Redshift statement", seconds: 5, tasks: "redshiftdata:describeStatement", fails: true},
	{name: "Glue job run with a table", seconds: 30, tasks: "dynamodb:updateItem glue:getJobRun", jsonata: true, fails: true, deadline: true},
	{name: "human in the loop", seconds: 60, tasks: "lambda:invoke", fails: true, counts: 60},
	{name: "FIS experiment on EC2", seconds: 30, tasks: "fis:getExperiment", fails: true, wanders: true},
	{name: "FIS experiment on ECS", seconds: 5, tasks: "fis:getExperiment", fails: true, wanders: true},
	{name: "Athena query every 2 s", seconds: 2, tasks: "athena:getQueryExecution", fails: true, timeout: 600},
	{name: "stock of an order", seconds: 10, tasks: "lambda:invoke", jsonata: true, wanders: true},
}

// definition writes the loop down.
func (s shape) definition() string {
	condition := func(status, next string) string {
		if s.jsonata {
			return fmt.Sprintf(`{"Condition": "{%% $states.input.Status = '%s' %%}", "Next": %q}`, status, next)
		}
		return fmt.Sprintf(`{"Variable": "$.Status", "StringEquals": %q, "Next": %q}`, status, next)
	}
	rules := []string{condition("COMPLETED", "Done")}
	if s.fails {
		rules = append(rules, condition("FAILED", "Failed"))
	}
	byDefault := "Wait"
	if !s.wanders {
		rules, byDefault = append(rules, condition("RUNNING", "Wait")), "Failed"
	}
	assign := ""
	switch {
	case s.counts > 0:
		assign = `, "Assign": {"polls.$": "States.MathAdd($polls, 1)"}`
		rules = append([]string{fmt.Sprintf(`{"Variable": "$polls", "NumericGreaterThan": %d, "Next": "Failed"}`, s.counts)}, rules...)
	case s.deadline:
		rules = append([]string{`{"Condition": "{% $millis() > $deadline %}", "Next": "Failed"}`}, rules...)
	}
	states := []string{fmt.Sprintf(`"Wait": {"Type": "Wait", "Seconds": %d%s, "Next": %%q}`, s.seconds, assign)}
	arguments := "Parameters"
	if s.jsonata {
		arguments = "Arguments"
	}
	retry := ""
	if s.retry {
		retry = `"Retry": [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 5}], `
	}
	names := []string{}
	for i, task := range strings.Fields(s.tasks) {
		resource := task
		if !strings.HasPrefix(task, "$") {
			resource = "arn:aws:states:::" + map[bool]string{false: "aws-sdk:"}[strings.HasPrefix(task, "lambda:")] + task
		}
		function := ""
		if task == "lambda:invoke" {
			function = `"FunctionName": "check"`
		}
		names = append(names, fmt.Sprintf("Task%d", i))
		states = append(states, fmt.Sprintf(`"Task%d": {"Type": "Task", "Resource": %q, "%s": {%s}, %s"Next": %%q}`, i, resource, arguments, function, retry))
	}
	names = append(names, "Choose")
	for i := range states {
		states[i] = fmt.Sprintf(strings.ReplaceAll(states[i], "%q", "%[1]q"), names[i])
	}
	states = append(states, fmt.Sprintf(`"Choose": {"Type": "Choice", "Choices": [%s], "Default": %q}`, strings.Join(rules, ", "), byDefault), `"Done": {"Type": "Succeed"}`)
	if strings.Contains(strings.Join(append(rules, byDefault), ""), "Failed") {
		states = append(states, `"Failed": {"Type": "Fail"}`)
	}
	language, start := "", "Wait"
	if s.jsonata {
		language = `"QueryLanguage": "JSONata", `
	}
	if s.counts > 0 || s.deadline {
		start = "Start"
		states = append(states, `"Start": {"Type": "Pass", "Assign": {"polls": 0, "deadline": 1}, "Next": "Wait"}`)
	}
	timeout := ""
	if s.timeout > 0 {
		timeout = fmt.Sprintf(`"TimeoutSeconds": %d, `, s.timeout)
	}
	return fmt.Sprintf(`{%s%s"StartAt": %q, "States": {%s}}`, language, timeout, start, strings.Join(states, ",\n"))
}

func check(t *testing.T, definition string, o lint.Options) []lint.Finding {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err, definition)
	return lint.Check(m, o)
}

func rules(findings []lint.Finding) map[string]int {
	out := map[string]int{}
	for _, f := range findings {
		out[f.Rule]++
	}
	return out
}

// What is wrong with each of the loops is found, and nothing else. How many
// have no bound and how many a Task without Retry is as in the samples; which of
// them they are is not.
func TestRealLoops(t *testing.T) {
	t.Parallel()
	require.Len(t, realLoops, 37)
	unbounded, unretried := 0, 0
	for _, s := range realLoops {
		want := map[string]int{}
		if s.timeout == 0 && s.counts == 0 && !s.deadline {
			want[lint.UnboundedLoop] = 1
			unbounded++
		}
		if n := len(strings.Fields(s.tasks)); n > 0 && !s.retry {
			want[lint.UnretriedTask] = n
			unretried++
		}
		if s.wanders && !s.fails && s.counts == 0 && s.timeout == 0 && !strings.Contains(s.tasks, "getItem") {
			want[lint.LoopingDefault] = 1
		}
		if s.seconds < 5 && s.timeout == 0 {
			want[lint.ShortInterval] = 1
		}
		require.Equal(t, want, rules(check(t, s.definition(), lint.Options{})), s.name)

		good := s
		good.retry, good.fails, good.wanders = true, true, false
		if !good.deadline && good.counts == 0 {
			good.timeout = 600
		}
		require.Empty(t, check(t, good.definition(), lint.Options{}), "%s, well made", s.name)
	}
	require.Equal(t, []int{32, 30}, []int{unbounded, unretried})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	loop := shape{name: "x", seconds: 10, tasks: "dynamodb:describeExport", wanders: true}.definition()
	findings := check(t, loop, lint.Options{})
	var got []string
	for _, f := range findings {
		require.Equal(t, diag.Warning, f.Severity)
		require.NotEmpty(t, f.Snippet())
		got = append(got, f.Rule+" "+f.Pointer+": "+f.Message)
	}
	require.Len(t, got, 3)
	require.Contains(t, got[0], "unbounded-loop /States/Wait: nothing bounds the loop Wait -> Task0 -> Choose -> Wait: a job that never ends is polled until the history is full, after 7.7 hours")
	require.Contains(t, got[1], "unretried-task /States/Task0: ")
	require.Contains(t, got[2], `looping-default /States/Choose/Default: every status that no rule names leads back to "Wait"`)

	text, err := json.Marshal(findings[1])
	require.NoError(t, err)
	require.Contains(t, string(text), `"rule":"unretried-task"`)
	require.Contains(t, string(text), `"severity":"WARNING"`)
	require.Len(t, check(t, loop, lint.Options{Off: []string{lint.UnboundedLoop, lint.LoopingDefault}}), 1)
}

func TestEventBudget(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		shape shape
		want  string
	}{
		{"a time limit that the history has room for", shape{seconds: 10, tasks: "glue:getJobRun", retry: true, timeout: 27_000}, ""},
		{
			"a time limit beyond the history",
			shape{seconds: 10, tasks: "glue:getJobRun", retry: true, timeout: 28_000},
			`"TimeoutSeconds" allows the loop Wait -> Task0 -> Choose -> Wait 7.8 hours, but at 9 events a turn the history of 25000 events is full after 7.7 hours`,
		},
		{"a count that the history has room for", shape{seconds: 10, tasks: "glue:getJobRun", retry: true, counts: 2775}, ""},
		{
			"a count beyond the history",
			shape{seconds: 10, tasks: "glue:getJobRun", retry: true, counts: 2776},
			"may turn 2776 times, but at 9 events a turn the history of 25000 events is full after 2775 turns, about 7.7 hours",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			findings := check(t, tt.shape.definition(), lint.Options{})
			if tt.want == "" {
				require.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			require.Equal(t, lint.EventBudget, findings[0].Rule)
			require.Contains(t, findings[0].Message, tt.want)
			require.Empty(t, check(t, tt.shape.definition(), lint.Options{Express: true}), "the history of an Express workflow has no limit")
		})
	}
}

func TestOtherLoops(t *testing.T) {
	t.Parallel()
	task := func(name, next, more string) string {
		return fmt.Sprintf(`%q: {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "Next": %q%s}`, name, next, more)
	}
	machine := func(states ...string) string {
		return `{"TimeoutSeconds": 600, "StartAt": "A", "States": {` + strings.Join(states, ", ") + `, "Z": {"Type": "Succeed"}, "F": {"Type": "Fail"}}}`
	}
	back := func(rule string) string {
		return `"C": {"Type": "Choice", "Choices": [{` + rule + `, "Next": "A"}, {"Variable": "$.x", "IsNull": true, "Next": "F"}], "Default": "Z"}`
	}
	tests := []struct {
		name, definition string
		want             map[string]int
	}{
		{"a status without a Wait", machine(task("A", "C", ""), back(`"Variable": "$.s", "StringEquals": "RUNNING"`)), map[string]int{lint.HotLoop: 1}},
		{"pages without a Wait", machine(task("A", "C", ""), back(`"Variable": "$.NextToken", "IsPresent": true`)), map[string]int{}},
		{"a Wait of 0", machine(`"A": {"Type": "Wait", "Seconds": 0, "Next": "T"}`, task("T", "C", `, "Retry": [{"ErrorEquals": ["States.ALL"]}]`), back(`"Variable": "$.s", "StringEquals": "RUNNING"`)), map[string]int{lint.HotLoop: 1}},
		{"a retrier for something else", machine(`"A": {"Type": "Wait", "Seconds": 9, "Next": "T"}`, task("T", "C", `, "Retry": [{"ErrorEquals": ["MyError"]}, {"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]`),
			back(`"Variable": "$.s", "StringEquals": "RUNNING"`)), map[string]int{lint.UnretriedTask: 1}},
		{"a retrier for the service's errors", machine(`"A": {"Type": "Wait", "Seconds": 9, "Next": "T"}`, task("T", "C", `, "Retry": [{"ErrorEquals": ["Glue.GlueException"]}]`),
			back(`"Variable": "$.s", "StringEquals": "RUNNING"`)), map[string]int{}},
		{"a job that waits by itself", machine(`"A": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "Next": "C"}`, back(`"Variable": "$.s", "StringEquals": "AGAIN"`)), map[string]int{}},
		{"no loop", machine(task("A", "C", ""), `"C": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "x", "Next": "F"}], "Default": "Z"}`), map[string]int{}},
		{
			"inside of a Map", machine(`"A": {"Type": "Map", "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 9, "Next": "T"}, `+
				`"T": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "Next": "D"},
			"D": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "x", "Next": "E"}], "Default": "W"}, "E": {"Type": "Succeed"}}}, "Next": "C"}`,
				`"C": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "x", "Next": "F"}], "Default": "Z"}`),
			map[string]int{lint.UnretriedTask: 1},
		},
		{
			"a status that says that time is up", `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 9, "Next": "T"}, ` + task("T", "C", `, "Retry": [{"ErrorEquals": ["States.ALL"]}]`) +
				`, "C": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "RUNNING", "Next": "A"}, {"Variable": "$.s", "StringEquals": "TIMED_OUT", "Next": "F"}], "Default": "F"}, "F": {"Type": "Fail"}}}`,
			map[string]int{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, rules(check(t, tt.definition, lint.Options{})))
		})
	}
}

// The definitions that the project ships have no findings, but that one polls a job
// whose end an event tells.
func TestShipped(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*.asl.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, check(t, string(text), lint.Options{Off: []string{lint.PollNeedless}}), file)
	}
}
