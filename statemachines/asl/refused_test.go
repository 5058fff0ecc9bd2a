package asl_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Where it was measured or recorded on AWS, and when.
const (
	parametersRule = "cdk-preflight pf-sfn-asl-integration-parameters, 2026-09-05"
	arnRule        = "cdk-preflight pf-sfn-asl-resource-arn, 2026-09-05"
	credentialRule = "cdk-preflight pf-sfn-asl-credentials, 2026-09-05"
	fieldRule      = "cdk-preflight pf-sfn-asl-state-fields, 2026-09-05; floci#2735, 2026-08-29"
	rangeRule      = "cdk-preflight pf-sfn-asl-numeric-ranges, 2026-09-05"
	recoveryRule   = "cdk-preflight pf-sfn-asl-retry-catch, 2026-09-05"
	choiceRules    = "cdk-preflight pf-sfn-asl-choice-rules, 2026-09-05"
	exclusiveRule  = "cdk-preflight pf-sfn-asl-path-exclusive, 2026-09-05; floci#3733, 2026-09-16"
	nextRule       = "cdk-preflight pf-sfn-asl-next-end, 2026-09-05"
	countRule      = "floci#3733, 2026-09-16"
	nameRule       = "cdk-preflight pf-sfn-asl-name-limits, 2026-09-05"
	pathRule       = "cdk-preflight pf-sfn-asl-jsonpath-syntax, 2026-09-05"
	languageRule   = "cdk-preflight pf-sfn-asl-query-language, 2026-09-05; floci#2968, 2026-09-02"
	waitRule       = "cdk-preflight pf-sfn-asl-wait-timing, 2026-09-05; localstack test_wait_timestamp, 2024-12-27"
	expressRule    = "cdk-preflight pf-sfn-express-unsupported, 2026-09-05; localstack test_sfn_api_express, 2024-07-03"
	mapRule        = "cdk-preflight pf-sfn-asl-map-distributed, 2026-09-05"
	branchRule     = "cdk-preflight pf-sfn-asl-branch-shape, 2026-09-05"
	graphRule      = "floci#2786, floci#2735, 2026-08-30"
	jsonataRule    = "floci#2670, floci#2745, floci#2786, 2026-08-30"
	validation     = "localstack test_sfn_api_validation, 2025-10-19"
	guide          = "developer guide"
	unrecognized   = "The value is not a valid resource ARN, or the resource is not available in this region."
)

// verdict is what AWS says to a definition.
type verdict struct {
	name, definition string
	// aws is AWS's text; empty if AWS takes the definition.
	aws, source string
	// pointer is where our error stands, in a definition that AWS refuses.
	pointer string
	express bool
	more    int // further errors of ours
}

func call(resource, fields string) string {
	return machine(`{"Type": "Task", "Resource": "arn:aws:states:::` + resource + `", "Next": "Z"` + fields + `}`)
}

func jsonata(state string) string {
	return strings.Replace(machine(state), `{"StartAt"`, `{"QueryLanguage": "JSONata", "StartAt"`, 1)
}

// each is a Map of the fields over a processor.
func each(fields, config string) string {
	return machine(`{"Type": "Map", "Next": "Z"` + fields + `, "ItemProcessor": {` + config + `"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}}`)
}

func distributed(fields string) string {
	return each(fields, `"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, `)
}

func reader(config string) string {
	return distributed(`, "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"}, "ReaderConfig": ` + config + `}`)
}

var verdicts = slices.Concat(callVerdicts, numberVerdicts, recoveryVerdicts, stateVerdicts, flowVerdicts, mapVerdicts, languageVerdicts)

var callVerdicts = []verdict{
	{name: "no arguments are needed", definition: call("aws-sdk:secretsmanager:listSecrets", `, "Parameters": {}`), source: "localstack test_list_secrets, 2025-11-06"},
	{name: "no Parameters", definition: call("lambda:invoke", ``), aws: "Parameters field is required for resource ARN: arn:aws:states:::lambda:invoke", source: parametersRule, pointer: "/States/S/Resource"},
	{name: "no Parameters of a service's action", definition: call("aws-sdk:s3:listBuckets", ``), aws: "Parameters field is required for resource ARN: arn:aws:states:::aws-sdk:s3:listBuckets", source: parametersRule, pointer: "/States/S/Resource"},
	{name: "no Arguments", definition: jsonata(`{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:listBuckets", "Next": "Z"}`), aws: "Arguments field is required for resource ARN: arn:aws:states:::aws-sdk:s3:listBuckets", source: parametersRule, pointer: "/States/S/Resource"},
	{name: "a function without Parameters", definition: task(`"Comment": ""`), source: "aws-samples"},
	{name: "a required field is missing", definition: call("sqs:sendMessage", `, "Parameters": {"QueueUrl": "q"}`), aws: "The field 'MessageBody' is required but was missing", source: parametersRule, pointer: "/States/S/Parameters"},
	{name: "a required field of a job is missing", definition: call("glue:startJobRun.sync", `, "Parameters": {}`), aws: "The field 'JobName' is required but was missing", source: parametersRule, pointer: "/States/S/Parameters"},
	{name: "a required argument is missing", definition: jsonata(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {}, "Next": "Z"}`), aws: "The field 'FunctionName' is required but was missing", source: parametersRule, pointer: "/States/S/Arguments"},
	{name: "a required field by a path", definition: call("lambda:invoke", `, "Parameters": {"FunctionName.$": "$.f"}`), source: parametersRule},
	{name: "all arguments by an expression", definition: jsonata(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": "{% $states.input %}", "Next": "Z"}`), source: "localstack test_invalid_credentials_field, 2024-12-04"},
	{name: "an unknown field", definition: call("dynamodb:getItem", `, "Parameters": {"TableName": "t", "Key": {}, "TTL": 1}`), aws: `The field "TTL" is not supported by Step Functions`, source: "aws-cdk#29968, 2024-04; ministack#1361, 2026-08", pointer: "/States/S/Parameters/TTL"},
	{name: "an unknown action", definition: call("dynamodb:query", `, "Parameters": {}`), aws: "The resource provided arn:aws:states:::dynamodb:query is not recognized. " + unrecognized, source: "localstack test_invalid_integration, 2025-11-06", pointer: "/States/S/Resource"},
	{name: "an unknown integration", definition: call("rds:describeDBInstances", `, "Parameters": {}`), aws: "is not recognized. " + unrecognized, source: "localstack test_invalid_integration, 2025-11-06", pointer: "/States/S/Resource"},
	{name: "an action that starts with a capital", definition: call("aws-sdk:dynamodb:DescribeExport", `, "Parameters": {}`), aws: "is not recognized. " + unrecognized, source: "aws-cdk#19174, 2022-02", pointer: "/States/S/Resource"},
	{name: "a service by its name in the CLI", definition: call("aws-sdk:logs:describeExportTasks", `, "Parameters": {}`), aws: "is not recognized. " + unrecognized, source: "ministack#1512, 2026-08", pointer: "/States/S/Resource"},
	{name: "a service by its name in the ARN", definition: call("aws-sdk:cloudwatchlogs:describeExportTasks", `, "Parameters": {}`), source: "ministack#1512, 2026-08"},
	{name: "a resource that is not an ARN", definition: machine(`{"Type": "Task", "Resource": "lambda", "Next": "Z"}`), aws: "Value is not a valid resource ARN", source: arnRule, pointer: "/States/S/Resource"},
	{name: "credentials without a role", definition: call("lambda:invoke", `, "Parameters": {"FunctionName": "f"}, "Credentials": {}`), aws: "The field 'RoleArn' is required but was missing", source: credentialRule + "; localstack test_invalid_credentials_field, 2024-12-04", pointer: "/States/S/Credentials"},
	{name: "credentials by a path", definition: call("lambda:invoke", `, "Parameters": {"FunctionName": "f"}, "Credentials": {"RoleArn.$": "$.r"}`), source: credentialRule},
	{name: "credentials of an activity", definition: machine(`{"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:a", "Credentials": {"RoleArn": "arn:aws:iam::123456789012:role/r"}, "Next": "Z"}`), aws: "The field 'Credentials' is not supported for activities", source: credentialRule, pointer: "/States/S/Credentials"},
}

var numberVerdicts = []verdict{
	{name: "TimeoutSeconds of 0", definition: task(`"TimeoutSeconds": 0`), aws: "Minimum value is 1", source: rangeRule, pointer: "/States/S/TimeoutSeconds"},
	{name: "TimeoutSeconds of 1", definition: task(`"TimeoutSeconds": 1`), source: rangeRule},
	{name: "TimeoutSeconds above its limit", definition: task(`"TimeoutSeconds": 100000000`), aws: "Maximum value is 99999999", source: rangeRule, pointer: "/States/S/TimeoutSeconds"},
	{name: "TimeoutSeconds as text", definition: task(`"TimeoutSeconds": "9"`), aws: "Expected value of type Integer", source: rangeRule, pointer: "/States/S/TimeoutSeconds"},
	{name: "HeartbeatSeconds of 0", definition: task(`"HeartbeatSeconds": 0`), aws: "Minimum value is 1", source: rangeRule, pointer: "/States/S/HeartbeatSeconds"},
	{name: "HeartbeatSeconds above its limit", definition: task(`"HeartbeatSeconds": 100000000`), aws: "Maximum value is 99999999", source: rangeRule, pointer: "/States/S/HeartbeatSeconds"},
	{name: "TimeoutSeconds of the machine", definition: `{"TimeoutSeconds": 0, "StartAt": "Z", "States": {"Z": {"Type": "Succeed"}}}`, source: rangeRule},
	{name: "Seconds of 0", definition: machine(`{"Type": "Wait", "Seconds": 0, "Next": "Z"}`), source: rangeRule},
	{name: "Seconds below 0", definition: machine(`{"Type": "Wait", "Seconds": -1, "Next": "Z"}`), aws: "Minimum value is 0", source: rangeRule, pointer: "/States/S/Seconds"},
	{name: "Seconds above its limit", definition: machine(`{"Type": "Wait", "Seconds": 100000000, "Next": "Z"}`), aws: "Maximum value is 99999999", source: rangeRule, pointer: "/States/S/Seconds"},
	{name: "IntervalSeconds of 0", definition: task(`"Retry": [{"ErrorEquals": ["A"], "IntervalSeconds": 0}]`), source: rangeRule},
	{name: "MaxAttempts of 0", definition: task(`"Retry": [{"ErrorEquals": ["A"], "MaxAttempts": 0}]`), source: rangeRule},
	{name: "MaxAttempts below 0", definition: task(`"Retry": [{"ErrorEquals": ["A"], "MaxAttempts": -1}]`), aws: "Minimum value is 0", source: rangeRule, pointer: "/States/S/Retry/0/MaxAttempts"},
	{name: "MaxAttempts above its limit", definition: task(`"Retry": [{"ErrorEquals": ["A"], "MaxAttempts": 100000000}]`), aws: "Maximum value is 99999999", source: rangeRule, pointer: "/States/S/Retry/0/MaxAttempts"},
	{name: "BackoffRate below 1", definition: task(`"Retry": [{"ErrorEquals": ["A"], "BackoffRate": 0.9}]`), aws: "Minimum value is 1.0", source: rangeRule, pointer: "/States/S/Retry/0/BackoffRate"},
	{name: "BackoffRate of 1", definition: task(`"Retry": [{"ErrorEquals": ["A"], "BackoffRate": 1.0}]`), source: rangeRule},
	{name: "MaxDelaySeconds of 0", definition: task(`"Retry": [{"ErrorEquals": ["A"], "MaxDelaySeconds": 0}]`), aws: "Minimum value is 1", source: rangeRule, pointer: "/States/S/Retry/0/MaxDelaySeconds"},
	{name: "MaxDelaySeconds at its limit", definition: task(`"Retry": [{"ErrorEquals": ["A"], "MaxDelaySeconds": 31622400}]`), source: rangeRule},
	{name: "MaxDelaySeconds above its limit", definition: task(`"Retry": [{"ErrorEquals": ["A"], "MaxDelaySeconds": 31622401}]`), aws: "Maximum value is 31622400", source: rangeRule, pointer: "/States/S/Retry/0/MaxDelaySeconds"},
	{name: "MaxConcurrency of 0", definition: each(`, "MaxConcurrency": 0`, ``), source: rangeRule},
	{name: "MaxConcurrency below 0", definition: each(`, "MaxConcurrency": -1`, ``), aws: "Minimum value is 0", source: rangeRule, pointer: "/States/S/MaxConcurrency"},
	{name: "ToleratedFailureCount below 0", definition: distributed(`, "ToleratedFailureCount": -1`), aws: "Minimum value is 0", source: countRule, pointer: "/States/S/ToleratedFailureCount"},
	{name: "ToleratedFailurePercentage of 100", definition: distributed(`, "ToleratedFailurePercentage": 100`), source: rangeRule},
	{name: "ToleratedFailurePercentage below 0", definition: distributed(`, "ToleratedFailurePercentage": -0.1`), aws: "Minimum value is 0.0", source: countRule, pointer: "/States/S/ToleratedFailurePercentage"},
	{name: "ToleratedFailurePercentage above 100", definition: distributed(`, "ToleratedFailurePercentage": 100.5`), aws: "Maximum value is 100.0", source: countRule, pointer: "/States/S/ToleratedFailurePercentage"},
	{name: "MaxItems of 0", definition: reader(`{"InputType": "JSON", "MaxItems": 0}`), source: "floci#3732, 2026-09-16"},
	{name: "MaxItems below 0", definition: reader(`{"InputType": "JSON", "MaxItems": -1}`), aws: "Minimum value is 0", source: countRule, pointer: "/States/S/ItemReader/ReaderConfig/MaxItems"},
	{name: "MaxItems above its limit", definition: reader(`{"InputType": "JSON", "MaxItems": 100000001}`), aws: "Maximum value is 100000000", source: countRule, pointer: "/States/S/ItemReader/ReaderConfig/MaxItems"},
	{name: "MaxItemsPerBatch below 0", definition: distributed(`, "ItemBatcher": {"MaxItemsPerBatch": -1}`), aws: "Minimum value is 0", source: countRule, pointer: "/States/S/ItemBatcher/MaxItemsPerBatch"},
	{name: "MaxInputBytesPerBatch below 0", definition: distributed(`, "ItemBatcher": {"MaxInputBytesPerBatch": -1}`), aws: "Minimum value is 0", source: countRule, pointer: "/States/S/ItemBatcher/MaxInputBytesPerBatch"},
}

var recoveryVerdicts = []verdict{
	{name: "States.ALL with another name", definition: task(`"Retry": [{"ErrorEquals": ["States.ALL", "A"]}]`), aws: "States.ALL must appear alone and at end of list", source: recoveryRule, pointer: "/States/S/Retry/0/ErrorEquals/0"},
	{name: "States.ALL before another retrier", definition: task(`"Retry": [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["A"]}]`), aws: "States.ALL must appear alone and at end of list", source: recoveryRule, pointer: "/States/S/Retry/0/ErrorEquals/0"},
	{name: "States.ALL before another catcher", definition: task(`"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}, {"ErrorEquals": ["A"], "Next": "Z"}]`), aws: "States.ALL must appear alone and at end of list", source: recoveryRule, pointer: "/States/S/Catch/0/ErrorEquals/0"},
	{name: "States.ALL last and alone", definition: task(`"Retry": [{"ErrorEquals": ["A"]}, {"ErrorEquals": ["States.ALL"]}]`), source: recoveryRule},
	{name: "no errors of a retrier", definition: task(`"Retry": [{"ErrorEquals": []}]`), aws: "Value cannot be empty", source: recoveryRule, pointer: "/States/S/Retry/0/ErrorEquals"},
	{name: "no ErrorEquals", definition: task(`"Retry": [{}]`), aws: "These fields are required: [ErrorEquals]", source: recoveryRule, pointer: "/States/S/Retry/0"},
	{name: "a catcher that leads nowhere", definition: task(`"Catch": [{"ErrorEquals": ["A"]}]`), aws: "These fields are required: [Next]", source: recoveryRule, pointer: "/States/S/Catch/0"},
	{name: "another jitter", definition: task(`"Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "Full"}]`), aws: "Value should be one of the following: [NONE, FULL]", source: recoveryRule, pointer: "/States/S/Retry/0/JitterStrategy"},
	{name: "an error name of one's own that begins with States.", definition: task(`"Catch": [{"ErrorEquals": ["States.RanOutOfTime"], "Next": "Z"}]`), source: "aws-samples either-or-parallel-pattern"},
}

var stateVerdicts = []verdict{
	{name: "no rules", definition: choice(``), aws: "Value cannot be empty", source: choiceRules, pointer: "/States/S/Choices"},
	{name: "a rule that leads nowhere", definition: choice(`{"Variable": "$.a", "IsNull": true}`), aws: "These fields are required: [Next]", source: choiceRules, pointer: "/States/S/Choices/0"},
	{name: "Next in a condition", definition: choice(`{"And": [{"Variable": "$.a", "IsNull": true, "Next": "Z"}], "Next": "Z"}`), aws: "Field 'Next' is not supported", source: choiceRules, pointer: "/States/S/Choices/0/And/0/Next"},
	{name: "two comparisons", definition: choice(`{"Variable": "$.a", "IsNull": true, "IsString": true, "Next": "Z"}`), aws: "There should only be one of the following fields: [IsNull, IsString]", source: choiceRules, pointer: "/States/S/Choices/0"},
	{name: "no comparison", definition: choice(`{"Variable": "$.a", "Next": "Z"}`), aws: "There should only be one of the following fields", source: choiceRules, pointer: "/States/S/Choices/0"},
	{name: "two kinds of rule", definition: choice(`{"Variable": "$.a", "Not": {"Variable": "$.a", "IsNull": true}, "Next": "Z"}`), aws: "The object must have only one of the following fields, [And, Or, Not, Variable, Condition]", source: choiceRules, pointer: "/States/S/Choices/0/Variable"},
	{name: "Next and End", definition: machine(`{"Type": "Pass", "Next": "Z", "End": true}`), aws: "There should only be one of the following fields: [Next, End]", source: nextRule, pointer: "/States/S"},
	{name: "neither Next nor End", definition: `{"StartAt": "S", "States": {"S": {"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "T"}], "Default": "Z"}, "T": {"Type": "Pass"}, "Z": {"Type": "Succeed"}}}`, aws: "This object should have only one of the following fields: [Next, End]", source: nextRule, pointer: "/States/T"},
	{name: "a literal and a path", definition: task(`"TimeoutSeconds": 1, "TimeoutSecondsPath": "$.t"`), aws: "There should only be one of the following fields: [TimeoutSeconds, TimeoutSecondsPath]", source: exclusiveRule, pointer: "/States/S/TimeoutSecondsPath"},
	{name: "two times of a Wait", definition: machine(`{"Type": "Wait", "Seconds": 1, "TimestampPath": "$.t", "Next": "Z"}`), aws: "There should only be one of the following fields: [SecondsPath, Seconds, TimestampPath, Timestamp]", source: waitRule, pointer: "/States/S"},
	{name: "a timestamp without T", definition: machine(`{"Type": "Wait", "Timestamp": "2016-12-05 21:29:29Z", "Next": "Z"}`), aws: "String does not match RFC3339 timestamp", source: waitRule, pointer: "/States/S/Timestamp"},
	{name: "a timestamp without Z", definition: machine(`{"Type": "Wait", "Timestamp": "2016-12-05T21:29:29", "Next": "Z"}`), aws: "String does not match RFC3339 timestamp", source: waitRule, pointer: "/States/S/Timestamp"},
	{name: "a timestamp of no day", definition: machine(`{"Type": "Wait", "Timestamp": "2016-13-05T21:29:29Z", "Next": "Z"}`), aws: "String does not match RFC3339 timestamp", source: waitRule, pointer: "/States/S/Timestamp"},
	{name: "a timestamp with nanoseconds", definition: machine(`{"Type": "Wait", "Timestamp": "2016-12-05T21:29:29.123456789Z", "Next": "Z"}`), source: waitRule},
	{name: "an expression for a timestamp in JSONPath", definition: machine(`{"Type": "Wait", "Timestamp": "{% $now() %}", "Next": "Z"}`), aws: "String does not match RFC3339 timestamp", source: waitRule, pointer: "/States/S/Timestamp"},
	{name: "an InputPath that is none", definition: task(`"InputPath": "a"`), aws: "Value must be a valid JSONPath.", source: pathRule, pointer: "/States/S/InputPath"},
	{name: "a ResultPath with a wildcard", definition: task(`"ResultPath": "$.a[*]"`), aws: "Value is not a Reference Path", source: pathRule, pointer: "/States/S/ResultPath"},
	{name: "an ItemsPath with a filter", definition: each(`, "ItemsPath": "$.a[?(@.b)]"`, ``), aws: "Value is not a Reference Path", source: pathRule, pointer: "/States/S/ItemsPath"},
	{name: "a number by an intrinsic function", definition: task(`"TimeoutSecondsPath": "States.MathAdd(1, 2)"`), aws: "Value must be a valid JSONPath.", source: pathRule, pointer: "/States/S/TimeoutSecondsPath"},
	{name: "a cause by an intrinsic function", definition: `{"StartAt": "S", "States": {"S": {"Type": "Fail", "CausePath": "States.Format('{}', $.c)"}}}`, source: "localstack test_cause_path, 2024"},
	{name: "a Variable that is not a path", definition: choice(`{"Variable": "a", "IsNull": true, "Next": "Z"}`), aws: "Value is not a Reference Path: Reference path didn't start with '$'", source: pathRule, pointer: "/States/S/Choices/0/Variable"},
	{name: "a member that is neither path nor function", definition: task(`"Parameters": {"a.$": "b"}`), aws: "The value for the field 'a.$' must be a valid JSONPath or a valid intrinsic function call", source: pathRule + "; localstack test_illegal_escapes, 2025-02-02", pointer: "/States/S/Parameters/a.$"},
	{name: "blanks after a path", definition: task(`"Parameters": {"a.$": "$$.Execution.Name "}`), source: "aws-samples"},
	{name: "a path function", definition: task(`"Parameters": {"a.$": "$.x.sum()"}`), source: "aws-samples"},
	{name: "an Assign of $states", definition: task(`"Assign": {"states": 1}`), aws: "RESERVED_VARIABLE_NAME: Cannot assign to reserved variable '$states'.", source: pathRule, pointer: "/States/S/Assign/states"},
	{name: "a variable that is not a name", definition: task(`"Assign": {"a-b": 1}`), aws: "INVALID_VARIABLE_NAME: Invalid variable name 'a-b': the variable name contains invalid characters.", source: pathRule, pointer: "/States/S/Assign/a-b"},
	{name: "a variable that begins with _", definition: task(`"Assign": {"_a": 1}`), aws: "INVALID_VARIABLE_NAME", source: pathRule + "; specification, Unicode annex 31", pointer: "/States/S/Assign/_a"},
}

var flowVerdicts = []verdict{
	{name: "an empty text", aws: "Definition must be a valid JSON object", source: validation},
	{name: "no JSON", definition: `not a definition`, aws: "INVALID_JSON_DESCRIPTION", source: validation},
	{name: "an empty object", definition: `{}`, aws: "These fields are required: [States, StartAt]", source: validation, more: 1},
	{name: "another version", definition: `{"Version": "2.0", "StartAt": "Z", "States": {"Z": {"Type": "Succeed"}}}`, aws: "Value should be one of the following: [1.0]", source: fieldRule, pointer: "/Version"},
	{name: "no end anywhere", definition: `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "A"}}}`, aws: "MISSING_END_STATE: Workflow has no terminal state", source: graphRule + "; cdk-preflight pf-sfn-asl-terminal-state, 2026-09-05"},
	{name: "no end and a state that nothing leads to", definition: `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "A"}, "B": {"Type": "Pass", "Next": "A"}}}`, aws: "MISSING_END_STATE: Workflow has no terminal state", source: graphRule},
	{name: "no end and a way to nowhere", definition: `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}}`, aws: "MISSING_TRANSITION_TARGET: Missing 'Next' target: B at /States/A/Next, MISSING_END_STATE", source: graphRule, pointer: "/States/A/Next", more: 1},
	{name: "a way to nowhere", definition: machine(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "B"}], "Default": "Z"}`), aws: "Missing 'Next' target: B at /States/S/Choices[0]/Next", source: graphRule + "; cfn-lint#4074, 2025-04", pointer: "/States/S/Choices/0/Next"},
	{name: "a Default to nowhere", definition: machine(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "Z"}], "Default": "B"}`), aws: "Missing 'Next' target: B at /States/S/Default", source: graphRule, pointer: "/States/S/Default"},
	{name: "a catcher to nowhere", definition: task(`"Catch": [{"ErrorEquals": ["A"], "Next": "B"}]`), aws: "Missing 'Next' target: B at /States/S/Catch[0]/Next", source: graphRule, pointer: "/States/S/Catch/0/Next"},
	{name: "a start at nowhere", definition: `{"StartAt": "A", "States": {"Z": {"Type": "Succeed"}}}`, aws: "Missing 'Next' target: A at /StartAt", source: graphRule, pointer: "/StartAt"},
	{name: "a state that nothing leads to", definition: `{"StartAt": "Z", "States": {"Z": {"Type": "Succeed"}, "C": {"Type": "Succeed"}}}`, aws: `State "C" is not reachable.`, source: graphRule + "; localstack#11978, 2024-12", pointer: "/States/C"},
	{name: "a name twice", definition: strings.Replace(each(``, ``), `"StartAt": "I", "States": {"I"`, `"StartAt": "S", "States": {"S"`, 1), aws: "DUPLICATE_STATE_NAME: Duplicate State name: S", source: "cdk-preflight pf-sfn-asl-duplicate-state-name, 2026-09-05", pointer: "/States/S/ItemProcessor/States/S"},
	{name: "a long name", definition: strings.ReplaceAll(machine(`{"Type": "Pass", "Next": "Z"}`), `"S"`, `"`+strings.Repeat("S", 81)+`"`), aws: "INVALID_STATE_NAME: ... exceeds the 80-character limit allowed by the service", source: nameRule, pointer: "/States/" + strings.Repeat("S", 81)},
	{name: "a name of 80 characters", definition: strings.ReplaceAll(machine(`{"Type": "Pass", "Next": "Z"}`), `"S"`, `"`+strings.Repeat("ä", 80)+`"`), source: nameRule},
	{name: "no branches", definition: machine(`{"Type": "Parallel", "Branches": [], "Next": "Z"}`), aws: "Value cannot be empty", source: branchRule, pointer: "/States/S/Branches"},
	{name: "a branch without a start", definition: machine(`{"Type": "Parallel", "Branches": [{"States": {"I": {"Type": "Succeed"}}}], "Next": "Z"}`), aws: "These fields are required: [StartAt]", source: branchRule, pointer: "/States/S/Branches/0"},
	{name: "no processor", definition: machine(`{"Type": "Map", "Next": "Z"}`), aws: "This object should have only one of the following fields: [ItemProcessor, Iterator]", source: exclusiveRule, pointer: "/States/S"},
	{name: "a job in an Express workflow", definition: call("states:startExecution.sync", `, "Parameters": {"StateMachineArn": "a"}`), express: true, aws: "Express state machine does not support '.sync' service integration", source: expressRule, pointer: "/States/S/Resource"},
	{name: "a token in an Express workflow", definition: call("sns:publish.waitForTaskToken", `, "Parameters": {"Message": "m"}`), express: true, aws: "Express state machine does not support '.waitForTaskToken' service integration", source: expressRule, pointer: "/States/S/Resource"},
	{name: "an activity in an Express workflow", definition: machine(`{"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:a", "Next": "Z"}`), express: true, aws: "Express state machine does not support Activity ARN", source: expressRule, pointer: "/States/S/Resource"},
	{name: "a distributed Map in an Express workflow", definition: distributed(``), express: true, aws: "The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines", source: expressRule, pointer: "/States/S/ItemProcessor/ProcessorConfig/Mode"},
}

var mapVerdicts = []verdict{
	{name: "MaxConcurrencyPath in the context object", definition: each(`, "MaxConcurrencyPath": "$$.Execution.Input.n"`, ``), aws: "Value is not a Reference Path", source: countRule, pointer: "/States/S/MaxConcurrencyPath"},
	{name: "MaxItemsPath in the context object", definition: reader(`{"InputType": "JSON", "MaxItemsPath": "$$.Execution.Input.n"}`), aws: "Value is not a Reference Path", source: countRule, pointer: "/States/S/ItemReader/ReaderConfig/MaxItemsPath"},
	{name: "MaxItemsPerBatchPath in the context object", definition: distributed(`, "ItemBatcher": {"MaxItemsPerBatchPath": "$$.Execution.Input.n"}`), aws: "Value is not a Reference Path", source: countRule, pointer: "/States/S/ItemBatcher/MaxItemsPerBatchPath"},
	{name: "MaxConcurrencyPath in a variable", definition: strings.Replace(each(`, "MaxConcurrencyPath": "$n"`, ``), `"StartAt": "S", "States": {`, `"StartAt": "A", "States": {"A": {"Type": "Pass", "Assign": {"n": 1}, "Next": "S"}, `, 1), source: "localstack MAP_STATE_REFERENCE_IN_MAX_CONCURRENCY_PATH, 2024-11"},
	{name: "ItemsPath in the context object", definition: each(`, "ItemsPath": "$$.Execution.Input.items"`, ``), source: countRule},
	{name: "MaxItems and MaxItemsPath", definition: reader(`{"InputType": "JSON", "MaxItems": 1, "MaxItemsPath": "$.n"}`), aws: "There should only be one of the following fields: [MaxItems, MaxItemsPath]", source: countRule, pointer: "/States/S/ItemReader/ReaderConfig/MaxItemsPath"},
	{name: "no execution type", definition: each(``, `"ProcessorConfig": {"Mode": "DISTRIBUTED"}, `), aws: "These fields are required: [ExecutionType]", source: mapRule, pointer: "/States/S/ItemProcessor/ProcessorConfig"},
	{name: "another execution type", definition: each(``, `"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "standard"}, `), aws: "Value should be one of the following: [STANDARD, EXPRESS]", source: mapRule, pointer: "/States/S/ItemProcessor/ProcessorConfig/ExecutionType"},
	{name: "an execution type of an inline Map", definition: each(``, `"ProcessorConfig": {"Mode": "INLINE", "ExecutionType": "STANDARD"}, `), aws: "Field 'ExecutionType' is not supported", source: mapRule, pointer: "/States/S/ItemProcessor/ProcessorConfig/ExecutionType"},
	{name: "a reader of something else", definition: distributed(`, "ItemReader": {"Resource": "arn:aws:states:::s3:headObject", "Parameters": {}}`), aws: "The field 'Resource' does not match any of the allowed values", source: mapRule, pointer: "/States/S/ItemReader/Resource"},
	{name: "CSV without the place of its header", definition: reader(`{"InputType": "CSV"}`), aws: "The field 'CSVHeaderLocation' is required", source: mapRule, pointer: "/States/S/ItemReader/ReaderConfig"},
	{name: "JSON with a header", definition: reader(`{"InputType": "JSON", "CSVHeaderLocation": "FIRST_ROW"}`), aws: "Field 'CSVHeaderLocation' is not supported", source: mapRule, pointer: "/States/S/ItemReader/ReaderConfig/CSVHeaderLocation"},
	{name: "a given header that is not given", definition: reader(`{"InputType": "CSV", "CSVHeaderLocation": "GIVEN"}`), aws: "These fields are required: [CSVHeaders]", source: mapRule, pointer: "/States/S/ItemReader/ReaderConfig"},
	{name: "a given header", definition: reader(`{"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["{% phone %}"]}`), source: "floci#2699, 2026-08-29"},
	{name: "a reader of an inline Map", definition: each(`, "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"}}`, ``), source: "floci#2699, 2026-08-29"},
	{name: "a long label", definition: distributed(`, "Label": "` + strings.Repeat("l", 41) + `"`), aws: "INVALID_LABEL_NAME: ... exceeds the 40-character limit allowed by the service", source: nameRule, pointer: "/States/S/Label"},
	{name: "a label twice", definition: strings.Replace(distributed(`, "Label": "l"`), `"I": {"Type": "Pass", "End": true}`, `"I": {"Type": "Map", "Label": "l", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "J", "States": {"J": {"Type": "Pass", "End": true}}}}`, 1), aws: "DUPLICATE_LABEL_NAME: Duplicate Label name: l", source: nameRule, pointer: "/States/S/ItemProcessor/States/I/Label"},
}

var languageVerdicts = []verdict{
	{name: "a field of JSONPath in JSONata", definition: jsonata(`{"Type": "Pass", "InputPath": "$.a", "Next": "Z"}`), aws: "The QueryLanguage is set to 'JSONata', but field 'InputPath' is only supported for the 'JSONPath' QueryLanguage", source: languageRule, pointer: "/States/S/InputPath"},
	{name: "a field of JSONata in JSONPath", definition: machine(`{"Type": "Pass", "Output": 1, "Next": "Z"}`), aws: "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the 'JSONata' QueryLanguage", source: languageRule, pointer: "/States/S/Output"},
	{name: "a path of a batch in JSONata", definition: strings.Replace(distributed(`, "ItemBatcher": {"MaxItemsPerBatchPath": "$.n", "MaxItemsPerBatch": 1}`), `{"StartAt"`, `{"QueryLanguage": "JSONata", "StartAt"`, 1), aws: "The QueryLanguage is set to 'JSONata', but field 'MaxItemsPerBatchPath' is only supported for the 'JSONPath' QueryLanguage", source: countRule, pointer: "/States/S/ItemBatcher/MaxItemsPerBatchPath"},
	{name: "a state in JSONPath in a machine in JSONata", definition: jsonata(`{"Type": "Pass", "QueryLanguage": "JSONPath", "Next": "Z"}`), aws: "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine", source: languageRule + "; " + validation, pointer: "/States/S/QueryLanguage"},
	{name: "another language", definition: machine(`{"Type": "Pass", "QueryLanguage": "JMESPath", "Next": "Z"}`), aws: "Value should be one of the following: [JSONPath, JSONata]", source: languageRule, pointer: "/States/S/QueryLanguage"},
	{name: "a language of a processor", definition: each(``, `"QueryLanguage": "JSONata", `), aws: "Field 'QueryLanguage' is not supported", source: "floci#2968, 2026-09-02", pointer: "/States/S/ItemProcessor/QueryLanguage"},
	{name: "a Map in JSONata over a state in JSONPath", definition: each(`, "QueryLanguage": "JSONata"`, ``), source: "floci#2968, 2026-09-02"},
	{name: "a Map in JSONata over a state in JSONata that does not say so", definition: strings.Replace(each(`, "QueryLanguage": "JSONata"`, ``), `"Type": "Pass", "End"`, `"Type": "Pass", "Output": 1, "End"`, 1), aws: "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the 'JSONata' QueryLanguage", source: "floci#2968, 2026-09-02", pointer: "/States/S/ItemProcessor/States/I/Output"},
	{name: "an expression that does not end", definition: jsonata(`{"Type": "Pass", "Output": {"a": ["{% 1 }"]}, "Next": "Z"}`), aws: "JSONata string must start with {% and end with %}", source: languageRule, pointer: "/States/S/Output/a/0"},
	{name: "an expression that is none", definition: jsonata(`{"Type": "Pass", "Output": "{% a[1,2) %}", "Next": "Z"}`), aws: `INVALID_JSONATA_EXPRESSION: Expected "]", got ","`, source: jsonataRule, pointer: "/States/S/Output"},
	{name: "an empty expression", definition: jsonata(`{"Type": "Pass", "Output": "{%  %}", "Next": "Z"}`), aws: "INVALID_JSONATA_EXPRESSION: Unexpected end of expression", source: jsonataRule, pointer: "/States/S/Output"},
	{name: "a bare name", definition: jsonata(`{"Type": "Pass", "Output": {"v": "{% phone[0] %}"}, "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'phone' at the top level is not supported.", source: jsonataRule, pointer: "/States/S/Output/v"},
	{name: "two bare names", definition: jsonata(`{"Type": "Pass", "Output": {"v": "{% aaa + bbb + aaa %}"}, "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'aaa' at the top level is not supported.", source: jsonataRule, pointer: "/States/S/Output/v", more: 1},
	{name: "a bare name in a function", definition: jsonata(`{"Type": "Pass", "Assign": {"v": "{% $map($states.input.a, function($x){ b }) %}"}, "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'b' at the top level is not supported.", source: "floci#2699, 2026-08-29", pointer: "/States/S/Assign/v"},
	{name: "a bare name as a key", definition: jsonata(`{"Type": "Pass", "Output": "{% {aaa: 1} %}", "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'aaa' at the top level is not supported.", source: "floci#2699, 2026-08-29", pointer: "/States/S/Output"},
	{name: "a bare name of a condition", definition: jsonata(`{"Type": "Choice", "Choices": [{"Condition": "{% phone = 1 %}", "Next": "Z"}], "Default": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'phone' at the top level is not supported.", source: "floci#2699, 2026-08-29", pointer: "/States/S/Choices/0/Condition"},
	{name: "a bare name of a time", definition: jsonata(`{"Type": "Wait", "Seconds": "{% phone %}", "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'phone' at the top level is not supported.", source: "floci#2699, 2026-08-29", pointer: "/States/S/Seconds"},
	{name: "a bare name of a cause", definition: `{"QueryLanguage": "JSONata", "StartAt": "S", "States": {"S": {"Type": "Fail", "Cause": "{% phone %}"}}}`, aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'phone' at the top level is not supported.", source: "floci#2699, 2026-08-29", pointer: "/States/S/Cause"},
	{name: "the context item", definition: jsonata(`{"Type": "Pass", "Output": {"v": "{% $.phone %}"}, "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to '$' at the top level is not supported.", source: "floci#2699, 2026-08-29", pointer: "/States/S/Output/v"},
	{name: "the document", definition: jsonata(`{"Type": "Pass", "Output": "{% $$ %}", "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Reference to '$$' is not supported.", source: jsonataRule, pointer: "/States/S/Output"},
	{name: "names in a predicate and in a path", definition: jsonata(`{"Type": "Pass", "Output": "{% $states.input.items[phone > 3].{name: price} %}", "Next": "Z"}`), source: "floci#2699, 2026-08-29"},
	{name: "the error outside of a catcher", definition: jsonata(`{"Type": "Pass", "Output": "{% $states.errorOutput %}", "Next": "Z"}`), aws: "UNSUPPORTED_JSONATA_EXPRESSION: Field '$states.errorOutput' does not exist.", source: jsonataRule, pointer: "/States/S/Output"},
	{name: "the error in a catcher", definition: jsonata(`{"Type": "Parallel", "Branches": [{"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}], "Catch": [{"ErrorEquals": ["A"], "Output": "{% $states.errorOutput %}", "Assign": {"e": "{% $states.errorOutput.Cause %}"}, "Next": "Z"}], "Next": "Z"}`), source: jsonataRule},
	{name: "the result where there is none", definition: jsonata(`{"Type": "Wait", "Seconds": "{% $states.result %}", "Next": "Z"}`), aws: "(caught at creation, update, or validation)", source: guide + ", Transforming data with JSONata", pointer: "/States/S/Seconds"},
	{name: "an expression in a comment", definition: jsonata(`{"Type": "Pass", "Comment": "{% phone %}", "Next": "Z"}`), source: "floci#2699, 2026-08-29"},
	{name: "an expression in ErrorEquals", definition: jsonata(`{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:listBuckets", "Arguments": {}, "Retry": [{"ErrorEquals": ["{% phone %}"]}], "Next": "Z"}`), source: "floci#2699, 2026-08-29"},
	{name: "a variable that nothing assigns", definition: jsonata(`{"Type": "Pass", "Output": "{% $phone %}", "Next": "Z"}`), source: "floci#2699, 2026-08-29"},
}

// Both directions: an error where AWS refuses a definition, and none in one that
// AWS takes.
func TestWhatAWSRefuses(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, v := range verdicts {
		require.False(t, seen[v.name], v.name)
		seen[v.name] = true
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			as := asl.Standard
			if v.express {
				as = asl.Express
			}
			problems := asl.Validate([]byte(v.definition), as)
			problems = slices.DeleteFunc(problems, func(p diag.Problem) bool { return p.Severity != diag.Error })
			if v.aws == "" {
				require.Empty(t, problems, "%s: AWS takes it (%s)", v.definition, v.source)
				return
			}
			require.NotEmpty(t, problems, "%s: AWS says %s (%s)", v.definition, v.aws, v.source)
			require.Len(t, problems, 1+v.more, "%v", problems)
			found := slices.ContainsFunc(problems, func(p diag.Problem) bool {
				return p.Pointer == v.pointer
			})
			require.True(t, found, "%v", problems)
			_, err := asl.Parse([]byte(v.definition))
			require.Equal(t, v.express, err == nil, "what AWS refuses is not run")
		})
	}
}

// allowedFields are the fields that AWS takes in each type of state (measured for
// 8 types by 50 fields).
var allowedFields = map[string]string{
	"Pass":     "InputPath OutputPath Result ResultPath Parameters Output Assign Next End",
	"Task":     "InputPath OutputPath ResultPath Parameters Arguments Output Assign Resource Credentials ResultSelector Retry Catch TimeoutSeconds TimeoutSecondsPath HeartbeatSeconds HeartbeatSecondsPath Next End",
	"Wait":     "InputPath OutputPath Output Assign Seconds Timestamp SecondsPath TimestampPath Next End",
	"Parallel": "InputPath OutputPath ResultPath Parameters Arguments Output Assign ResultSelector Retry Catch Branches Next End",
	"Map":      "InputPath OutputPath ResultPath Parameters Output Assign ResultSelector Retry Catch ItemProcessor Iterator ItemsPath Items ItemSelector ItemReader ItemBatcher ResultWriter MaxConcurrency MaxConcurrencyPath ToleratedFailurePercentage ToleratedFailurePercentagePath ToleratedFailureCount ToleratedFailureCountPath Label Next End",
	"Choice":   "InputPath OutputPath Output Assign Choices Default",
	"Succeed":  "InputPath OutputPath Output",
	"Fail":     "Error Cause ErrorPath CausePath",
}

func TestFieldsOfEachType(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, fields := range allowedFields {
		for field := range strings.FieldsSeq(fields) {
			known[field] = true
		}
	}
	fields := slices.Concat(slices.Sorted(maps.Keys(known)), []string{"Type", "Comment", "QueryLanguage"})
	for kind, allowed := range allowedFields {
		for _, field := range fields {
			taken := slices.Contains(strings.Fields(allowed+" Type Comment QueryLanguage"), field)
			found := false
			// In one of the languages the field is taken, if it is at all.
			for _, language := range []string{"JSONPath", "JSONata"} {
				state := `"Type": "` + kind + `", "` + field + `": {}`
				if field == "Type" {
					state = `"Type": "` + kind + `"`
				}
				problems := asl.Validate([]byte(`{"QueryLanguage": "`+language+`", "StartAt": "S", "States": {"S": {`+state+`}}}`), asl.Standard)
				found = found || !slices.ContainsFunc(problems, func(p diag.Problem) bool {
					return p.Pointer == "/States/S/"+field && (strings.Contains(p.Message, "is not allowed in") ||
						strings.Contains(p.Message, "belongs to") || strings.Contains(p.Message, "unknown field"))
				})
			}
			require.Equal(t, taken, found, "%s in a %s state (%s)", field, kind, fieldRule)
		}
	}
}

// Patterns of integrations, by service. Source: arnRule.
func TestPatternsOfIntegrations(t *testing.T) {
	t.Parallel()
	refused := func(resource, fields string) bool {
		_, err := asl.Parse([]byte(call(resource, `, "Parameters": `+fields)))
		return err != nil
	}
	actions := map[string][2]string{
		"lambda": {"invoke", `{"FunctionName": "f"}`}, "sns": {"publish", `{"Message": "m"}`}, "sqs": {"sendMessage", `{"QueueUrl": "q", "MessageBody": "m"}`},
		"dynamodb": {"updateItem", `{}`}, "events": {"putEvents", `{"Entries": []}`}, "apigateway": {"invoke", `{}`},
		"aws-sdk:glue": {"getJobRun", `{}`}, "bedrockagentcore": {"invokeHarness", `{}`}, "athena": {"startQueryExecution", `{}`},
		"batch": {"submitJob", `{}`}, "codebuild": {"startBuild", `{}`}, "elasticmapreduce": {"addStep", `{}`}, "emr-containers": {"startJobRun", `{}`},
		"emr-serverless": {"startJobRun", `{}`}, "glue": {"startJobRun", `{"JobName": "j"}`}, "databrew": {"startJobRun", `{}`},
		"mediaconvert": {"createJob", `{}`}, "sagemaker": {"createModel", `{}`}, "ecs": {"runTask", `{"TaskDefinition": "t"}`},
	}
	noSync := strings.Fields("lambda sns sqs dynamodb events apigateway aws-sdk:glue bedrockagentcore")
	noToken := strings.Fields("athena batch codebuild elasticmapreduce emr-containers emr-serverless glue databrew mediaconvert sagemaker dynamodb bedrockagentcore")
	for service, action := range actions {
		resource := service + ":" + action[0]
		require.False(t, refused(resource, action[1]), resource)
		if slices.Contains(noSync, service) {
			require.True(t, refused(resource+".sync", action[1]), resource)
		}
		require.Equal(t, slices.Contains(noToken, service), refused(resource+".waitForTaskToken", action[1]), resource)
		require.True(t, refused(resource+".sync:2", action[1]), "only states:startExecution has .sync:2")
	}
	start := `{"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:m"}`
	for _, pattern := range []string{"", ".sync", ".sync:2", ".waitForTaskToken"} {
		require.False(t, refused("states:startExecution"+pattern, start), pattern)
	}
	require.True(t, refused("states:startExecution.async", start))
}

// What AWS has added since can be named.
func TestNewerIntegrations(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"dynamodb:query", "glue:startJobRun.waitForTaskToken", "timestream:query", "aws-sdk:logs:getQueryResults"} {
		definition := []byte(call(resource, `, "Parameters": {"JobName": "j"}`))
		_, err := asl.Parse(definition)
		require.Error(t, err, resource)
		_, err = asl.Parse(definition, resource)
		require.NoError(t, err, resource)
		require.Empty(t, asl.Validate(definition, asl.Standard, resource))
	}
}

// Nothing is on record of AWS's answer to these: they are warnings, and run.
func TestWhatIsSuspicious(t *testing.T) {
	t.Parallel()
	for name, definition := range map[string]string{
		"an error name that AWS has not":                  task(`"Retry": [{"ErrorEquals": ["States.TaskFaild"]}]`),
		"an error without a name":                         task(`"Retry": [{"ErrorEquals": [""]}]`),
		"a cap below the interval":                        task(`"Retry": [{"ErrorEquals": ["A"], "IntervalSeconds": 5, "MaxDelaySeconds": 5}]`),
		"a member twice, once by a path":                  task(`"Parameters": {"a": 1, "a.$": "$"}`),
		"another member of Credentials":                   task(`"Credentials": {"RoleArn": "arn:aws:iam::123456789012:role/r", "SessionName": "s"}`),
		"an item selector under both names":               each(`, "ItemSelector": {}, "Parameters": {}`, ``),
		"an execution type without a mode":                each(``, `"ProcessorConfig": {"ExecutionType": "STANDARD"}, `),
		"a batcher of an inline Map":                      each(`, "ItemBatcher": {"MaxItemsPerBatch": 2}`, ``),
		"a path function":                                 task(`"Parameters": {"a.$": "$.x.sum()"}`),
		"a service of the AWS SDK that may be new":        call("aws-sdk:eventbridgev2:describeEventBus", `, "Parameters": {}`),
		"another member of $states":                       jsonata(`{"Type": "Pass", "Output": "{% $states.inpt.name %}", "Next": "Z"}`),
		"a branch without an end":                         machine(`{"Type": "Parallel", "Next": "Z", "Branches": [{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 1, "Next": "A"}}}]}`),
		"a Choice without Default":                        machine(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "Z"}]}`),
		"a variable that nothing assigns":                 jsonata(`{"Type": "Pass", "Output": "{% $phone %}", "Next": "Z"}`),
		"a member in JSONata that is written as a path's": jsonata(`{"Type": "Pass", "Output": {"a.$": "$.b"}, "Next": "Z"}`),
	} {
		problems := asl.Validate([]byte(definition), asl.Standard)
		require.NotEmpty(t, problems, name)
		for _, p := range problems {
			require.Equal(t, diag.Warning, p.Severity, "%s: %v", name, p)
		}
		_, err := asl.Parse([]byte(definition))
		require.NoError(t, err, name)
	}
}
