package lint_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// everyField are definitions with most fields of the language, in each query
// language, in which lint finds as little as it can.
var everyField = map[string]string{
	"JSONPath": `{
  "Comment": "all", "Version": "1.0", "TimeoutSeconds": 3600, "QueryLanguage": "JSONPath", "StartAt": "Start",
  "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "InputPath": "$", "OutputPath": "$",
      "Parameters": {"QueryString": "SELECT 1", "ClientRequestToken.$": "$$.Execution.Name", "ResultConfiguration": {"OutputLocation": "s3://b/"},
        "ExecutionParameters": ["a"]},
      "TimeoutSeconds": 60, "HeartbeatSeconds": 30, "Credentials": {"RoleArn": "arn:aws:iam::123456789012:role/r"},
      "ResultSelector": {"id.$": "$.QueryExecutionId"}, "ResultPath": "$.started", "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
      "Parameters": {"QueryExecutionId.$": "$.started.id"}, "ResultPath": "$.got",
      "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 2, "MaxAttempts": 5, "BackoffRate": 1.5, "MaxDelaySeconds": 60, "JitterStrategy": "FULL"}],
      "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Failed"}], "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Variable": "$.got.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Each"},
      {"Or": [{"Variable": "$.got.QueryExecution.Status.State", "StringEquals": "FAILED"},
        {"Not": {"Variable": "$.got.QueryExecution.Status.State", "StringMatches": "*U*N*"}}], "Next": "Failed"},
      {"And": [{"Variable": "$.got.QueryExecution.Status.SubmissionDateTime", "TimestampLessThan": "2020-01-01T00:00:00Z"}], "Next": "Failed"}
    ], "Default": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
    "Each": {"Type": "Map", "ItemsPath": "$.items", "ItemSelector": {"x.$": "$$.Map.Item.Value"}, "MaxConcurrency": 3, "Label": "each",
      "ToleratedFailurePercentage": 5, "ToleratedFailureCount": 3,
      "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"},
        "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a"], "MaxItems": 5}},
      "ItemBatcher": {"MaxItemsPerBatch": 3, "BatchInput": {"a": 1}},
      "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b", "Prefix": "p"}},
      "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "One", "States": {
        "One": {"Type": "Pass", "Result": {"a": [1, true, "x"]}, "ResultPath": "$.one", "End": true}}},
      "ResultPath": null, "Next": "Both"},
    "Both": {"Type": "Parallel", "Branches": [{"StartAt": "Left", "States": {"Left": {"Type": "Pass", "Parameters": {"a": 1, "b.$": "$.started"}, "End": true}}},
      {"StartAt": "Right", "States": {"Right": {"Type": "Succeed"}}}], "Assign": {"v": 1}, "Next": "Ask"},
    "Ask": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "TimeoutSeconds": 60,
      "Parameters": {"QueueUrl": "https://q", "MessageBody": {"token.$": "$$.Task.Token"}}, "Next": "Later"},
    "Later": {"Type": "Wait", "Timestamp": "2030-01-01T00:00:00Z", "Next": "Call"},
    "Call": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "End": true},
    "Failed": {"Type": "Fail", "Error": "E", "Cause": "C"}
  }
}`,
	"one rule": `{"StartAt": "Get", "States": {
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "a"}, "ResultPath": "$.got", "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.got.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Done"}], "Default": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
    "Done": {"Type": "Succeed"}}}`,
	"JSONata": `{
  "QueryLanguage": "JSONata", "TimeoutSeconds": 3600, "StartAt": "Start",
  "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
      "Arguments": {"QueryString": "{% $states.input.sql %}", "ClientRequestToken": "{% $states.context.Execution.Name %}",
        "ResultConfiguration": {"OutputLocation": "s3://b/"}, "ExecutionParameters": ["a"]},
      "TimeoutSeconds": "{% 60 %}", "Assign": {"id": "{% $states.result.QueryExecutionId %}", "polls": 0}, "Output": {"a": 1}, "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $id %}"},
      "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 2, "MaxAttempts": 5}],
      "Catch": [{"ErrorEquals": ["States.ALL"], "Assign": {"why": "{% $states.errorOutput.Cause %}"}, "Output": "{% $states.errorOutput %}", "Next": "Failed"}],
      "Output": "{% $states.result.QueryExecution.Status %}", "Assign": {"polls": "{% $polls + 1 %}"}, "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Condition": "{% $states.input.State = 'SUCCEEDED' %}", "Assign": {"done": true}, "Output": {"x": 1}, "Next": "Each"},
      {"Condition": "{% $states.input.State in ['FAILED', 'CANCELLED'] %}", "Next": "Failed"}
    ], "Default": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
    "Each": {"Type": "Map", "Items": [1, 2], "ItemSelector": {"x": "{% $states.context.Map.Item.Value %}"},
      "ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "One", "States": {
        "One": {"Type": "Pass", "Output": {"a": [1, "{% $id %}"]}, "End": true}}}, "Next": "Both"},
    "Both": {"Type": "Parallel", "Arguments": {"a": 1}, "Branches": [{"StartAt": "Left", "States": {"Left": {"Type": "Succeed", "Output": 1}}}], "End": true},
    "Failed": {"Type": "Fail", "Error": "E", "Cause": "{% $string($states.input) %}"}
  }
}`,
}

// A value that only AWS knows may be any: one in the place of any value of a
// definition gives no ERROR, DANGER or WARNING that is not there without it.
func TestPlaceholderGivesNoFinding(t *testing.T) {
	t.Parallel()
	for name, definition := range everyField {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := severeFindings(t, []byte(definition))
			var root any
			require.NoError(t, json.Unmarshal([]byte(definition), &root))
			places := 0
			replaceEach(root, "", func(at string) {
				text, err := json.Marshal(root)
				require.NoError(t, err)
				places++
				for _, f := range severeFindings(t, text) {
					if strings.HasPrefix(at, "/States/Get/") && strings.HasPrefix(f, lint.LoopingDefault) {
						continue // where nobody knows what the poll gives, the loop is judged by its rules alone
					}
					require.Contains(t, known, f, "with a placeholder at %s", at)
				}
			})
			require.Greater(t, places, 20)
		})
	}
}

// replaceEach calls f with a placeholder in the place of each value below v.
func replaceEach(v any, at string, f func(at string)) {
	const open = "${Open}"
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			value, here := v[name], at+"/"+strings.ReplaceAll(name, "/", "~1")
			v[name] = open
			f(here)
			v[name] = value
			replaceEach(value, here, f)
		}
	case []any:
		for i, value := range v {
			here := fmt.Sprintf("%s/%d", at, i)
			v[i] = open
			f(here)
			v[i] = value
			replaceEach(value, here, f)
		}
	}
}

// severeFindings are what is found in a definition but the notes, and but the
// remark that a definition cannot be checked.
func severeFindings(t *testing.T, definition []byte) []string {
	t.Helper()
	var out []string
	for _, p := range asl.Validate(definition, asl.Standard) {
		if p.Severity == diag.Error || !strings.Contains(p.Message, "not checked") {
			out = append(out, fmt.Sprintf("definition %s: %s", p.Pointer, p.Message))
		}
	}
	m, err := asl.Parse(definition)
	if err != nil {
		return out
	}
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	for _, f := range lint.Check(m, lint.Options{Types: types}) {
		if f.Severity != diag.Note {
			out = append(out, fmt.Sprintf("%s %s", f.Rule, f.Pointer))
		}
	}
	return out
}
