package typecheck_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const integration = "arn:aws:states:::"

func api(t testing.TB, resource string) typecheck.API {
	t.Helper()
	a, err := typecheck.FindAPI(resource, models.Load)
	require.NoError(t, err)
	return a
}

func TestFindAPI(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string][2]string{ // the shapes of the arguments and of the result
		"aws-sdk:glue:startJobRun":                 {"StartJobRunRequest", "StartJobRunResponse"},
		"glue:startJobRun":                         {"StartJobRunRequest", "StartJobRunResponse"},
		"glue:startJobRun.sync":                    {"StartJobRunRequest", ""},
		"sqs:sendMessage.waitForTaskToken":         {"SendMessageRequest", ""},
		"states:startExecution.sync":               {"StartExecutionInput", "DescribeExecutionOutput"},
		"states:startExecution.sync:2":             {"StartExecutionInput", "DescribeExecutionOutput"},
		"elasticmapreduce:createCluster.sync":      {"RunJobFlowInput", ""},
		"elasticmapreduce:createCluster":           {"RunJobFlowInput", "createCluster"},
		"elasticmapreduce:addStep":                 {"", "addStep"},
		"elasticmapreduce:addStep.sync":            {},
		"aws-sdk:rds:describeDBInstances":          {"DescribeDBInstancesMessage", "DBInstanceMessage"},
		"aws-sdk:cloudwatchlogs:describeLogGroups": {"DescribeLogGroupsRequest", "DescribeLogGroupsResponse"},
		"aws-sdk:rds:nothing":                      {},
		"aws-sdk:nobody:does":                      {},
		"nobody:does":                              {},
		"bedrock:invokeModel":                      {},
		"http:invoke":                              {},
	} {
		a := api(t, integration+resource)
		var got [2]string
		if a.Input != nil {
			got[0] = a.Input.Name
		}
		if a.Output != nil {
			got[1] = a.Output.Name
		}
		require.Equal(t, want, got, resource)
	}
	for _, resource := range []string{"arn:aws:lambda:us-east-1:1:function:f", integration + "activity:a", "", "x"} {
		require.Equal(t, typecheck.API{}, api(t, resource))
	}
	a, err := typecheck.FindAPI(integration+"glue:startJobRun", nil)
	require.NoError(t, err)
	require.Equal(t, typecheck.API{}, a, "nothing is known without models")
}

// Every integration that the models know has the prefix of errors that package
// asl gives it.
func TestServicesHaveTheNamesOfTheLanguage(t *testing.T) {
	t.Parallel()
	list, err := models.List()
	require.NoError(t, err)
	known := 0
	for _, l := range list {
		if prefix := asl.ParseResource(integration + "aws-sdk:" + l.ARNName + ":do").ErrorPrefix(); prefix != "" {
			require.Equal(t, prefix, l.ErrorPrefix, l.Key)
			known++
		}
	}
	require.Greater(t, known, 350)
}

func TestProblemsOfArgumentsAreFew(t *testing.T) {
	t.Parallel()
	arguments := map[string]any{}
	for i := range 1000 {
		arguments[strings.Repeat("x", i+1)] = 1
	}
	a := api(t, integration+"aws-sdk:glue:startJobRun")
	require.Len(t, a.CheckArguments(arguments), 20)
}

// FuzzCheck: whatever the arguments and results are, they are checked without a
// panic, and what fits is not refused.
func FuzzCheck(f *testing.F) {
	f.Add("dynamodb:putItem", `{"TableName": "t", "Item": {"id": {"S": "x", "L": [{"NULL": true}], "M": {"a": {"N": 1}}}}}`)
	f.Add("aws-sdk:lambda:getFunction", `{"Configuration": {"MemorySize": 1e9999, "Layers": [{"Arn": null}]}}`)
	f.Add("states:startExecution.sync:2", `[{"Output": 1}]`)
	f.Add("aws-sdk:kms:encrypt", `{"CiphertextBlob": "="}`)
	f.Fuzz(func(t *testing.T, resource, value string) {
		a := api(t, integration+resource)
		d := json.NewDecoder(strings.NewReader(value))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return
		}
		for _, problem := range a.CheckArguments(v) {
			require.NotEmpty(t, problem)
		}
		if a.CheckResult(v, true) == nil {
			require.NoError(t, a.CheckResult(v, false))
		}
	})
}

// The result of an integration has its own members, out of the operation's answer.
func TestOwnResult(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]map[string]any{
		"elasticmapreduce:createCluster":    {"ClusterId": "j"},
		"elasticmapreduce:addStep":          {"StepId": "s"},
		"elasticmapreduce:terminateCluster": {},
		"aws-sdk:emr:runJobFlow":            {"JobFlowId": "j", "StepIds": []any{"s"}},
	} {
		r := asl.ParseResource(integration + resource)
		require.Equal(t, want, typecheck.OwnResult(r, map[string]any{"JobFlowId": "j", "StepIds": []any{"s"}}), resource)
	}
	create := asl.ParseResource(integration + "elasticmapreduce:createCluster")
	require.Equal(t, "ClusterId", typecheck.ResultPath(create, "JobFlowId"))
	require.Equal(t, "RunJobFlow", typecheck.OperationName(create))
}

// What a member of a result is: the JSON that an integration of AWS's own reads, and the text that the API has for all others.
func TestResultsHaveTheTextOfTheAPI(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resource, arguments, member string
		parsed                      bool
	}{
		{"lambda:invoke", `"FunctionName": "f"`, "Payload", true},
		{"aws-sdk:lambda:invoke", `"FunctionName": "f"`, "Payload", false},
		{"aws-sdk:s3:getObject", `"Bucket": "b", "Key": "k"`, "Body", false},
		{"aws-sdk:sfn:describeExecution", `"ExecutionArn": "a"`, "Output", false},
		{"aws-sdk:sfn:startSyncExecution", `"StateMachineArn": "m"`, "Output", false},
		{"states:startExecution.sync", `"StateMachineArn": "m"`, "Output", false},
		{"states:startExecution.sync", `"StateMachineArn": "m"`, "Input", false},
		{"states:startExecution.sync:2", `"StateMachineArn": "m"`, "Output", true},
	} {
		m := parse(t, `"A": {"Type": "Task", "Resource": "`+integration+test.resource+`", "ResultPath": "$.r", "Parameters": {`+test.arguments+`}, "Next": "B"},
			"B": {"Type": "Pass", "InputPath": "$.r.`+test.member+`.status", "End": true}`)
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		told := slices.ContainsFunc(c.Findings(), func(f typecheck.Finding) bool {
			return f.Rule == typecheck.UnknownMember && f.Message == `$.r.`+test.member+` is a string, which has no member "status"`
		})
		require.Equal(t, test.parsed, !told, "%s: %v", test.resource, c.Findings())
		a := api(t, integration+test.resource)
		require.Equal(t, test.parsed, len(a.CheckAnswer(map[string]any{test.member: map[string]any{}})) == 0, test.resource)
		require.Empty(t, a.CheckAnswer(map[string]any{test.member: "{}"}), test.resource)
	}
}
