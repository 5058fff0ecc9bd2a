package asl_test

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
)

// The two loops that the wrong definitions are made from: each replaces one
// part.
const pathLoop = `{
  "StartAt": "Start", "TimeoutSeconds": 3600,
  "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime",
      "Parameters": {"TableArn.$": "$.TableArn", "S3Bucket": "b"}, "Assign": {"since.$": "$$.State.EnteredTime"}, "Next": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Describe"},
    "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
      "Parameters": {"ExportArn.$": "$.ExportDescription.ExportArn"}, "TimeoutSeconds": 60, "HeartbeatSeconds": 30,
      "Retry": [{"ErrorEquals": ["DynamoDb.DynamoDbException"], "IntervalSeconds": 2, "MaxAttempts": 5, "BackoffRate": 2, "MaxDelaySeconds": 30, "JitterStrategy": "FULL"},
        {"ErrorEquals": ["States.ALL"]}],
      "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Failed"}], "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Note"},
      {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "IN_PROGRESS", "Next": "Wait"}], "Default": "Failed"},
    "Note": {"Type": "Pass", "Parameters": {"since.$": "$since", "id.$": "States.UUID()"}, "ResultPath": "$.note", "Next": "Done"},
    "Done": {"Type": "Succeed"},
    "Failed": {"Type": "Fail", "Error": "ExportFailed", "CausePath": "States.JsonToString($)"}
  }
}`

const expressionLoop = `{
  "QueryLanguage": "JSONata", "StartAt": "Start",
  "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime",
      "Arguments": {"TableArn": "{% $states.input.TableArn %}", "S3Bucket": "b"}, "Assign": {"arn": "{% $states.result.ExportDescription.ExportArn %}", "polls": 0}, "Next": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": "{% $min([$polls * 2, 60]) %}", "Assign": {"polls": "{% $polls + 1 %}"}, "Next": "Describe"},
    "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Arguments": {"ExportArn": "{% $arn %}"},
      "Output": "{% $states.result.ExportDescription %}", "Catch": [{"ErrorEquals": ["States.ALL"], "Output": "{% $states.errorOutput %}", "Next": "Failed"}], "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.ExportStatus = 'COMPLETED' %}", "Next": "Each"},
      {"Condition": "{% $polls < 100 %}", "Next": "Wait"}], "Default": "Failed"},
    "Each": {"Type": "Map", "Items": "{% [$states.input] %}", "MaxConcurrency": 2, "ItemProcessor": {"StartAt": "One", "States": {
      "One": {"Type": "Parallel", "Branches": [{"StartAt": "A", "States": {"A": {"Type": "Pass", "Output": "{% $arn %}", "End": true}}}], "End": true}}}, "End": true},
    "Failed": {"Type": "Fail", "Error": "ExportFailed", "Cause": "{% $string($states.input) %}"}
  }
}`

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for _, definition := range []string{pathLoop, expressionLoop} {
		require.Empty(t, asl.Validate([]byte(definition), asl.Standard))
	}
	shipped, err := filepath.Glob("../*.asl.json")
	require.NoError(t, err)
	require.NotEmpty(t, shipped)
	for _, file := range shipped {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, asl.Validate(text, asl.Standard), file)
	}
}

// What the specification or AWS does not allow. The ones marked are let
// through by the validators that people use.
func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	const missed = true
	tests := []struct {
		name, loop, replace, with string
		pointer, message          string
		warning, missed           bool
	}{
		{"no StartAt", pathLoop, `"StartAt": "Start", `, ``, "", "needs the field \"StartAt\"", false, false},
		{"unknown StartAt", pathLoop, `"StartAt": "Start"`, `"StartAt": "Begin"`, "/StartAt", "there is no state \"Begin\"", false, false},
		{"unknown Next", pathLoop, `"Next": "Describe"`, `"Next": "Describ"`, "/States/Wait/Next", "there is no state \"Describ\"", false, false},
		{"unknown Default", pathLoop, `"Default": "Failed"`, `"Default": "failed"`, "/States/Done?/Default", "there is no state \"failed\"", false, false},
		{"unknown Next of a catcher", pathLoop, `"ResultPath": "$.error", "Next": "Failed"`, `"ResultPath": "$.error", "Next": "Nowhere"`, "/States/Describe/Catch/0/Next", "there is no state", false, false},
		{"unreachable state", pathLoop, `"StringEquals": "COMPLETED", "Next": "Note"`, `"StringEquals": "COMPLETED", "Next": "Done"`, "/States/Note", "cannot be reached", false, false},
		{"Next and End", pathLoop, `"Seconds": 30, "Next"`, `"Seconds": 30, "End": true, "Next"`, "/States/Wait", "both \"Next\" and \"End\"", false, false},
		{"neither Next nor End", pathLoop, `"Seconds": 30, "Next": "Describe"`, `"Seconds": 30`, "/States/Wait", "needs \"Next\" or \"End\"", false, false},
		{"unknown type", pathLoop, `"Type": "Succeed"`, `"Type": "Success"`, "/States/Done/Type", "unknown state type", false, false},
		{"unknown field", pathLoop, `"Seconds": 30`, `"Second": 30`, "/States/Wait/Second", "unknown field \"Second\"", false, false},
		{"field of another type", pathLoop, `"Seconds": 30`, `"Seconds": 30, "Retry": []`, "/States/Wait/Retry", "not allowed in a Wait state", false, false},
		{"two times in a Wait", pathLoop, `"Seconds": 30`, `"Seconds": 30, "SecondsPath": "$.s"`, "/States/Wait", "exactly one of", false, false},
		{"Wait with a negative time", pathLoop, `"Seconds": 30`, `"Seconds": -1`, "/States/Wait/Seconds", "integer from 0", false, false},
		{"no Resource", pathLoop, `"Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",`, ``, "/States/Describe", "needs the field \"Resource\"", false, false},
		{"no Choices", pathLoop, `"Choices": [
      {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Note"},
      {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "IN_PROGRESS", "Next": "Wait"}]`, `"Choices": []`, "/States/Done?/Choices", "at least one item", false, false},
		{"unknown operator", pathLoop, `"StringEquals": "COMPLETED"`, `"StringEqual": "COMPLETED"`, "/States/Done?/Choices/0/StringEqual", "unknown field", false, false},
		{"operand of another type", pathLoop, `"StringEquals": "COMPLETED"`, `"NumericEquals": "COMPLETED"`, "/States/Done?/Choices/0/NumericEquals", "takes a number", false, false},
		{"path that is none", pathLoop, `"ExportArn.$": "$.ExportDescription.ExportArn"`, `"ExportArn.$": "ExportArn"`, "/States/Describe/Parameters/ExportArn.$", "path \"ExportArn\"", false, false},
		{"ResultPath that selects many", pathLoop, `"ResultPath": "$.note"`, `"ResultPath": "$.note[*]"`, "/States/Note/ResultPath", "only names and indices are allowed", false, false},
		{"ResultPath into the context object", pathLoop, `"ResultPath": "$.note"`, `"ResultPath": "$$.note"`, "/States/Note/ResultPath", "which is read-only", false, false},
		{"unknown intrinsic function", pathLoop, `States.UUID()`, `States.UID()`, "/States/Note/Parameters/id.$", "there is no function \"States.UID\"", false, false},
		{"intrinsic function with too many arguments", pathLoop, `States.UUID()`, `States.UUID(1)`, "/States/Note/Parameters/id.$", "takes 0 arguments", false, false},
		{"BackoffRate below 1", pathLoop, `"BackoffRate": 2`, `"BackoffRate": 0.5`, "/States/Describe/Retry/0/BackoffRate", "at least 1.0", false, false},
		{"MaxAttempts below 0", pathLoop, `"MaxAttempts": 5`, `"MaxAttempts": -1`, "/States/Describe/Retry/0/MaxAttempts", "integer from 0", false, false},
		{"unknown JitterStrategy", pathLoop, `"FULL"`, `"Full"`, "/States/Describe/Retry/0/JitterStrategy", "\"FULL\" or \"NONE\"", false, false},
		{"Error and ErrorPath", pathLoop, `"Error": "ExportFailed"`, `"Error": "ExportFailed", "ErrorPath": "$.e"`, "/States/Failed/ErrorPath", "exclude each other", false, false},
		{"JSONata that is none", expressionLoop, `{% $arn %}"}`, `{% $arn[ %}"}`, "/States/Describe/Arguments/ExportArn", "JSONata: ", false, false},
		{"ResultPath in JSONata mode", expressionLoop, `"Output": "{% $states.result.ExportDescription %}"`, `"ResultPath": "$"`, "/States/Describe/ResultPath", "belongs to JSONPath", false, false},

		{"Assign of the reserved name", expressionLoop, `"polls": 0`, `"states": 0, "polls": 0`, "/States/Start/Assign/states", "reserved", false, missed},
		{"heartbeat above the timeout", pathLoop, `"HeartbeatSeconds": 30`, `"HeartbeatSeconds": 61`, "/States/Describe/HeartbeatSeconds", "less than", false, missed},
		{"$eval", expressionLoop, `{% $polls + 1 %}`, `{% $eval('1') %}`, "/States/Wait/Assign/polls", "$eval", true, missed},
		{"undefined variable", expressionLoop, `{% $arn %}"}`, `{% $arm %}"}`, "/States/Describe/Arguments/ExportArn", "assigns the variable \"$arm\"", true, missed},
		{"interval below 0", pathLoop, `"IntervalSeconds": 2`, `"IntervalSeconds": -1`, "/States/Describe/Retry/0/IntervalSeconds", "integer from 0", false, false},
		{"longest delay below the interval", pathLoop, `"MaxDelaySeconds": 30`, `"MaxDelaySeconds": 1`, "/States/Describe/Retry/0/MaxDelaySeconds", "must be greater than \"IntervalSeconds\"", true, missed},
		{"States.ALL not alone", pathLoop, `["States.ALL"], "ResultPath"`, `["States.ALL", "E"], "ResultPath"`, "/States/Describe/Catch/0/ErrorEquals/0", "must be the only name", false, missed},
		{"States.ALL not last", pathLoop, `["DynamoDb.DynamoDbException"]`, `["States.ALL"]`, "/States/Describe/Retry/0/ErrorEquals/0", "last item", false, missed},
		{"unknown SDK service", pathLoop, `aws-sdk:dynamodb:describeExport`, `aws-sdk:dynamo:describeExport`, "/States/Describe/Resource", "no AWS SDK integration of a service \"dynamo\"", true, missed},
		{"SDK action in the wrong case", pathLoop, `aws-sdk:dynamodb:describeExport`, `aws-sdk:dynamodb:DescribeExport`, "/States/Describe/Resource", "starts with a small letter", false, missed},
		{
			"a state in JSONPath in a machine in JSONata", expressionLoop, `"Type": "Wait", "Seconds": "{% $min([$polls * 2, 60]) %}", "Assign": {"polls": "{% $polls + 1 %}"}`,
			`"Type": "Wait", "QueryLanguage": "JSONPath", "SecondsPath": "$.s", "Assign": {"polls": 1}`, "/States/Wait/QueryLanguage", "cannot use JSONPath", false, missed,
		},

		{"a name twice in the machine", expressionLoop, `{"StartAt": "A", "States": {"A":`, `{"StartAt": "Wait", "States": {"Wait":`, "/States/Each/ItemProcessor/States/One/Branches/0/States/Wait", "unique in the whole state machine", false, false},
		{"a variable of the flow around", expressionLoop, `"Output": "{% $arn %}"`, `"Assign": {"arn": 1}`, "/States/Each/ItemProcessor/States/One/Branches/0/States/A/Assign/arn", "an outer flow has the variable", false, false},
		{"a reserved error that is none", pathLoop, `["DynamoDb.DynamoDbException"]`, `["States.TaskFail"]`, "/States/Describe/Retry/0/ErrorEquals/0", "AWS has no error", true, false},
		{"an expression cut short", expressionLoop, `"{% $states.result.ExportDescription %}"`, `"{% $states.result.ExportDescription }"`, "/States/Describe/Output", "starts with \"{%\"", false, false},
		{"a result that is not there", expressionLoop, `{% $min([$polls * 2, 60]) %}`, `{% $states.result %}`, "/States/Wait/Seconds", "$states.result", false, false},
		{"a Map field without a distributed Map", expressionLoop, `"MaxConcurrency": 2`, `"ItemBatcher": {"MaxItemsPerBatch": 2}`, "/States/Each/ItemBatcher", "is for a distributed Map", true, false},
		{".$ in JSONata mode", expressionLoop, `"ExportArn": "{% $arn %}"`, `"ExportArn.$": "$.arn"`, "/States/Describe/Arguments/ExportArn.$", "JSONata does not compute", true, false},
		{"a label that cannot be in an ARN", expressionLoop, `"MaxConcurrency": 2`, `"Label": "a b"`, "/States/Each/Label", "at most 40 characters", false, false},
		{"an endless loop", pathLoop, `"StringEquals": "COMPLETED", "Next": "Note"`, `"StringEquals": "COMPLETED", "Next": "Wait"`, "/States/Note", "cannot be reached", false, false},
	}
	count := 0
	for _, tt := range tests {
		if tt.missed {
			count++
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, 1, strings.Count(tt.loop, tt.replace), "the part to replace stands once")
			definition := []byte(strings.Replace(tt.loop, tt.replace, tt.with, 1))
			require.True(t, json.Valid(definition))
			problems := asl.Validate(definition, asl.Standard)
			found := false
			for _, p := range problems {
				severity := diag.Error
				if tt.warning {
					severity = diag.Warning
				}
				if p.Pointer == tt.pointer && strings.Contains(p.Message, tt.message) && p.Severity == severity {
					found = true
					require.Positive(t, p.Line)
					require.NotEmpty(t, p.Snippet())
				}
			}
			require.True(t, found, "%v", problems)
			_, err := asl.Parse(definition)
			require.Equal(t, tt.warning, err == nil, "what is only suspicious can be run")
		})
	}
	require.Equal(t, 10, count, "those that the usual validators let through")
}

func TestValidateExpress(t *testing.T) {
	t.Parallel()
	definition := []byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "Next": "B"},
		"B": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"QueueUrl": "q", "MessageBody": "m"}, "Next": "C"},
		"C": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:x", "Next": "D"},
		"D": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "E", "States": {"E": {"Type": "Succeed"}}}}}}`)
	require.Empty(t, asl.Validate(definition, asl.Standard))
	inside := `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"},
		"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"QueueUrl": "q", "MessageBody": "m"}, "End": true}}}}}}`
	_, err := asl.Parse([]byte(inside))
	require.ErrorContains(t, err, "/States/M/ItemProcessor/States/A/Resource: an Express workflow does not support", "child executions are Express workflows")

	var pointers []string
	for _, p := range asl.Validate(definition, asl.Express) {
		pointers = append(pointers, p.Pointer)
	}
	require.Equal(t, []string{"/States/A/Resource", "/States/B/Resource", "/States/C/Resource", "/States/D/ItemProcessor/ProcessorConfig/Mode"}, pointers)
}

// Every resource that an integration can have.
func TestParseResource(t *testing.T) {
	t.Parallel()
	tests := []struct {
		arn  string
		want asl.Resource
	}{
		{"arn:aws:lambda:us-east-1:123456789012:function:f:PROD", asl.Resource{Service: "lambda", Direct: true}},
		{"arn:aws:states:us-east-1:123456789012:activity:a", asl.Resource{Service: "activity", Direct: true}},
		{"arn:aws:states:::lambda:invoke", asl.Resource{Service: "lambda", Action: "invoke"}},
		{"arn:aws-us-gov:states:::sqs:sendMessage.waitForTaskToken", asl.Resource{Service: "sqs", Action: "sendMessage", Pattern: ".waitForTaskToken"}},
		{"arn:aws:states:::states:startExecution.sync:2", asl.Resource{Service: "states", Action: "startExecution", Pattern: ".sync:2"}},
		{"arn:aws:states:::aws-sdk:dynamodb:describeExport", asl.Resource{Service: "aws-sdk:dynamodb", Action: "describeExport"}},
		{"arn:aws:states:::aws-sdk:sfn:startExecution.waitForTaskToken", asl.Resource{Service: "aws-sdk:sfn", Action: "startExecution", Pattern: ".waitForTaskToken"}},
		{"arn:aws:s3:::bucket", asl.Resource{}},
		{"arn", asl.Resource{}},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, asl.ParseResource(tt.arn), tt.arn)
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	text := []byte(`{"StartAt": "Wait", "States": {
		"Wait": {"Type": "Wait", "Seconds": "${WaitSeconds}", "Next": "Task"},
		"Task": {"Type": "Task", "Resource": "${FunctionArn}", "Parameters": {"Table": "table-${AWS::Region}", "x.$": "${Path}"}, "TimeoutSeconds": "${WaitSeconds}",
			"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": "${Attempts}"}], "Next": "${Next}"},
		"Done": {"Type": "Succeed"}}}`)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	var got []string
	for _, h := range m.Placeholders {
		got = append(got, fmt.Sprint(h.Name, " ", h.Position.Pointer, " ", h.Needed))
	}
	require.ElementsMatch(t, []string{
		"WaitSeconds /States/Wait/Seconds true", "FunctionArn /States/Task/Resource false", "AWS::Region /States/Task/Parameters/Table false",
		"Path /States/Task/Parameters/x.$ true", "WaitSeconds /States/Task/TimeoutSeconds true", "Attempts /States/Task/Retry/0/MaxAttempts true",
		"Next /States/Task/Next true",
	}, got)

	filled := asl.Substitute([]byte(`{"StartAt": "S", "States": {"S": {"Type": "Wait", "Comment": "${What} of ${Nobody}", "Seconds": ${N}, "End": true}}}`),
		map[string]string{"N": "30", "What": "a \"quoted\"\nwait"})
	m, err = asl.Parse(filled)
	require.NoError(t, err)
	require.Equal(t, int64(30), m.State("S").Wait.Seconds.Literal)
	require.Equal(t, "a \"quoted\"\nwait of ${Nobody}", m.State("S").Comment)
}

// A problem in a string stands at its byte; escapes before it leave it at the
// member.
func TestProblemInAString(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte("{\"StartAt\": \"S\",\n \"States\": {\n  \"S\": {\"Type\": \"Succeed\", \"Comment\": \"ab\\ncd\"}}}"))
	require.NoError(t, err)
	for offset, column := range map[int]int{0: 40, 2: 42, 4: 28, 99: 28} {
		p := m.ProblemIn("/States/S/Comment", offset, "here")
		require.Equal(t, []int{3, column}, []int{p.Line, p.Column}, offset)
	}
	require.Equal(t, 3, m.ProblemIn("/States/S/Nothing", 1, "here").Column)
	require.Equal(t, 1, m.ProblemIn("/Nothing", 1, "here").Column)
	require.Equal(t, 1, m.Problem("", "here").Line)
}
