package run

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/tests/race"
)

// compileTo compiles a job to a file.
func compileTo(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.asl.json")
	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), append([]string{"compile", "--max-wait", "1h"}, args...), &stdout, &stderr), "%s", &stderr)
	require.NoError(t, os.WriteFile(file, stdout.Bytes(), 0o600))
	return file
}

// runFile runs a definition.
func runFile(t *testing.T, file string, args ...string) (localrun.Simulation, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := runCommand(t.Context(), append([]string{"run", file, "-q", "-o", "json"}, args...), &stdout, &stderr)
	var r localrun.Simulation
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &r), "%s%s", &stdout, &stderr)
	if r.Output != nil {
		var output bytes.Buffer
		require.NoError(t, json.Compact(&output, r.Output))
		r.Output = output.Bytes()
	}
	return r, code
}

// Machines with the Lambda functions run with simulated jobs, those of the strategy events
// with the collector, which is told of the end where AWS sends an event.
func TestRunSimulatesJobsOfFunctions(t *testing.T) {
	t.Parallel()
	const query = `{"QueryString": "SELECT 1"}`
	for name, tt := range map[string]struct {
		service, job, strategy, input, simulate string
		code                                    int
		says                                    string // the output or the cause
		transitions                             int
		most                                    float64 // seconds
	}{
		"told":         {"athena", "StartQueryExecution", "events", query, "12m", kit.ExitSucceeded, `"lateSeconds":0`, 3, 720},
		"named":        {"transcribe", "StartTranscriptionJob", "events", `{"LanguageCode": "en-US", "Media": {"MediaFileUri": "s3://b/k"}}`, "12m", kit.ExitSucceeded, `"lateSeconds":0`, 3, 720},
		"in parts":     {"ecs", "RunTask", "events", `{"Cluster": "c", "TaskDefinition": "d"}`, "12m", kit.ExitSucceeded, `"Tasks":`, 3, 720},
		"of the input": {"glue", "StartJobRun", "events", `{"JobName": "nightly"}`, "12m", kit.ExitSucceeded, `"JobName":"nightly"`, 3, 720},
		"polled":       {"dynamodb", "ExportTableToPointInTime", "events", `{"TableArn": "arn:t", "S3Bucket": "b"}`, "12m", kit.ExitSucceeded, `"ExportStatus":"COMPLETED"`, 3, 780},
		"in a loop":    {"athena", "StartQueryExecution", "lambda-loop", query, "12m", kit.ExitSucceeded, `"status":"SUCCEEDED"`, 118, 780},
		"failed":       {"athena", "StartQueryExecution", "events", query, "12m:FAILED", kit.ExitFailed, `QueryExecution.Status.State == "FAILED"`, 3, 720},
		"throttled":    {"athena", "StartQueryExecution", "events", query, "12m,throttle=30%", kit.ExitSucceeded, `"status":"SUCCEEDED"`, 3, 780},
		"too long":     {"athena", "StartQueryExecution", "events", query, "3h", kit.ExitTimedOut, "; the job was told to stop", 3, 3600},
		"never asked":  {"athena", "StartQueryExecution", "events", query, "12m,throttle=100%", kit.ExitFailed, "JobPoller.ServiceUnavailable", 10, 90 * 60},
		"bad input":    {"athena", "StartQueryExecution", "events", `{}`, "12m", kit.ExitFailed, `needs the member \"QueryString\"`, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := compileTo(t, tt.service, tt.job, "--strategy", tt.strategy)
			r, code := runFile(t, file, "--virtual", "--simulate", tt.simulate, "--input", tt.input)
			require.Equal(t, tt.code, code, r.Cause)
			require.Contains(t, string(r.Output)+r.Error+r.Cause, tt.says)
			require.LessOrEqual(t, r.Transitions, tt.transitions)
			require.LessOrEqual(t, r.ElapsedSeconds, tt.most)
			again, _ := runFile(t, file, "--virtual", "--simulate", tt.simulate, "--input", tt.input)
			require.Equal(t, r, again)
		})
	}
}

// Jobs that end at the same moment are answered in the same order each time.
func TestRunSimulatesManyJobs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(compileTo(t, "athena", "StartQueryExecution", "--strategy", "events", "--scope", "{% $states.input.QueryString %}"))
	require.NoError(t, err)
	item := strings.NewReplacer(`"QueryLanguage": "JSONata",`, "", `"TimeoutSeconds": 10800,`, "").Replace(string(text))
	file := filepath.Join(t.TempDir(), "map.asl.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"QueryLanguage": "JSONata", "StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
		"Items": "{% [1..`+race.Of("12", "4")+`].{'QueryString': $string($)} %}", "ItemProcessor": `+item+`}}}`), 0o600))
	run := func() localrun.Simulation {
		r, code := runFile(t, file, "--virtual", "--simulate", "12m,throttle=50%", "--input", "{}")
		require.Equal(t, kit.ExitSucceeded, code, r.Cause)
		return r
	}
	first := run()
	require.Equal(t, first, run())
}

// On a real clock the collector polls the service that the flags name.
func TestRunCollects(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	var targets []string
	url := queryService(t, func(target string) { targets = append(targets, target) })
	r, code := runFile(t, compileTo(t, "athena", "StartQueryExecution", "--strategy", "events"), "--endpoint-url", url, "--input", `{"QueryString": "SELECT 1"}`)
	require.Equal(t, kit.ExitSucceeded, code, r.Cause)
	require.Equal(t, 3, r.Transitions)
	require.Contains(t, string(r.Output), `"State":"SUCCEEDED"`)
	require.Equal(t, []string{"AmazonAthena.StartQueryExecution", "AmazonAthena.GetQueryExecution"}, targets)
}

// Loops on what only the user knows have simulated ends, too: by the names of statuses, or by --status.
func TestRunSimulatesToldJobs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m.asl.json")
	loop := func(running, success, failure string) {
		require.NoError(t, os.WriteFile(file, []byte(`{"StartAt": "Look", "TimeoutSeconds": 7200, "States": {
			"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "ResultSelector": {"s.$": "$.Payload.status"}, "Next": "Sw"},
			"Sw": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "`+success+`", "Next": "Ok"}, {"Variable": "$.s", "StringEquals": "`+failure+`", "Next": "Bad"},
				{"Variable": "$.s", "StringEquals": "`+running+`", "Next": "W"}], "Default": "Bad"},
			"W": {"Type": "Wait", "Seconds": 60, "Next": "Look"}, "Ok": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`), 0o600))
	}
	loop("PENDING", "COMPLETED", "FAILED")
	for _, tt := range []struct {
		args    []string
		code    int
		seconds float64
	}{
		{[]string{"--simulate", "10m"}, kit.ExitSucceeded, 600},
		{[]string{"--simulate", "10m", "--ends", "FAILED"}, kit.ExitFailed, 600},
		{[]string{"--simulate", "Look=5m:failure"}, kit.ExitFailed, 300},
	} {
		r, code := runFile(t, file, append([]string{"--virtual"}, tt.args...)...)
		require.Equal(t, tt.code, code, "%s %s", tt.args, r.Cause)
		require.InDelta(t, tt.seconds, r.ElapsedSeconds, 1, "%s", tt.args)
	}
	loop("zu", "auf", "kaputt")
	r, code := runFile(t, file, "--virtual", "--simulate", "10m", "--status", "zu=running,auf=success,kaputt=failure", "--ends", "kaputt")
	require.Equal(t, kit.ExitFailed, code)
	require.InDelta(t, 600, r.ElapsedSeconds, 1)

	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"run", file, "--simulate", "10m", "--status", "zu=shut"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), `--status: "shut" of status "zu" must be success, failure or running`)
}

// A status that patterns tell ends in a text that fits one, and one that is the whole answer is no member of it.
func TestRunSimulatesToldJobsOfAnyForm(t *testing.T) {
	t.Parallel()
	const lambda = `"Resource": "arn:aws:states:::lambda:invoke", `
	const inPath, inJSONata = lambda + `"Parameters": {"FunctionName": "f"}`, lambda + `"Arguments": {"FunctionName": "f"}`
	for name, c := range map[string]struct{ language, task, success, failure string }{
		"StringMatches":            {"JSONPath", inPath, `"Variable": "$.Payload.status", "StringMatches": "OK*"`, `"Variable": "$.Payload.status", "StringMatches": "*KO"`},
		"$contains of a text":      {"JSONata", inJSONata, `"Condition": "{% $contains($states.input.Payload.status, 'SUCC') %}"`, `"Condition": "{% $contains($states.input.Payload.status, 'KO') %}"`},
		"$contains of a regex":     {"JSONata", inJSONata, `"Condition": "{% $contains($states.input.Payload.status, /^(OK|FINE)/) %}"`, `"Condition": "{% $contains($states.input.Payload.status, /ko$/i) %}"`},
		"the whole answer":         {"JSONPath", `"Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"`, `"Variable": "$", "StringEquals": "DONE"`, `"Variable": "$", "StringEquals": "FAILED"`},
		"a pattern of the whole":   {"JSONPath", `"Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"`, `"Variable": "$", "StringMatches": "OK*"`, `"Variable": "$", "StringMatches": "KO*"`},
		"a pattern of an HTTP API": {"JSONPath", `"Resource": "arn:aws:states:::http:invoke", "Parameters": {"ApiEndpoint": "https://a.example", "Method": "GET", "Authentication": {"ConnectionArn": "c"}}`, `"Variable": "$.ResponseBody.status", "StringMatches": "OK*"`, `"Variable": "$.ResponseBody.status", "StringMatches": "KO*"`},
	} {
		file := filepath.Join(t.TempDir(), "m.asl.json")
		require.NoError(t, os.WriteFile(file, []byte(`{"StartAt": "Look", "TimeoutSeconds": 7200, "QueryLanguage": "`+c.language+`", "States": {
			"Look": {"Type": "Task", `+c.task+`, "Next": "Sw"},
			"Sw": {"Type": "Choice", "Choices": [{`+c.success+`, "Next": "Ok"}, {`+c.failure+`, "Next": "Bad"}], "Default": "W"},
			"W": {"Type": "Wait", "Seconds": 60, "Next": "Look"}, "Ok": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`), 0o600))
		r, code := runFile(t, file, "--virtual", "--simulate", "10m")
		require.Equal(t, kit.ExitSucceeded, code, "%s: %s %s", name, r.Error, r.Cause)
		require.InDelta(t, 600, r.ElapsedSeconds, 1, name)
		r, code = runFile(t, file, "--virtual", "--simulate", "10m", "--ends", "failure")
		require.Equal(t, kit.ExitFailed, code, name)
		require.Equal(t, "Bad", r.Error, "%s: %s", name, r.Cause)
		require.InDelta(t, 600, r.ElapsedSeconds, 1, name)
	}
}
