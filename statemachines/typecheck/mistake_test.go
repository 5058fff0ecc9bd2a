package typecheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// What the types find, and what they let pass, in one place of a definition.
func TestFindingsOfOnePlace(t *testing.T) {
	t.Parallel()
	jsonpath := func(condition string) string {
		return `{"StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "a"}, "ResultPath": "$.got", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{` + condition + `, "Next": "Done"}], "Default": "Done"},
			"Done": {"Type": "Succeed"}}}`
	}
	jsonata := func(condition string) string {
		return `{"QueryLanguage": "JSONata", "StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "a"},
				"Assign": {"got": "{% $states.result %}"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% ` + condition + ` %}", "Next": "Done"},
				{"Condition": "{% $got.QueryExecution.Status.State = 'FAILED' %}", "Next": "Done"}], "Default": "Done"},
			"Done": {"Type": "Succeed"}}}`
	}
	call := func(resource, arguments string) string {
		return `{"StartAt": "Call", "States": {"Call": {"Type": "Task", "Resource": "arn:aws:states:::` + resource + `", "Parameters": {` + arguments + `}, "End": true}}}`
	}
	fetch := func(resource, condition string) string {
		return `{"StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::` + resource + `", "Parameters": {"ApiEndpoint": "e", "Method": "GET"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{` + condition + `, "Next": "Done"}], "Default": "Done"},
			"Done": {"Type": "Succeed"}}}`
	}
	inside := func(kind, state string) string {
		const get = `{"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "a"}, "End": true}}}`
		return `{"StartAt": "All", "States": {"All": {"Type": "` + kind + `", ` + strings.ReplaceAll(state, "GET", get) + `, "Next": "Wait"},
			"Wait": {"Type": "Wait", "TimestampPath": "$[0].QueryExecution.Statuss", "End": true}}}`
	}
	tests := []struct {
		name, definition string
		want             []string // in each finding
	}{
		{
			"the code of an HTTP Task is compared with a text", fetch("http:invoke", `"Variable": "$.StatusCode", "StringEquals": "200"`),
			[]string{`$.StatusCode is a number: StringEquals never holds`},
		},
		{
			"a code of API Gateway is compared with a text", fetch("apigateway:invoke", `"Variable": "$.StatusCode", "StringEquals": "200"`),
			[]string{`$.StatusCode is a number: StringEquals never holds`},
		},
		{"a code is compared with a number", fetch("http:invoke", `"Variable": "$.StatusCode", "NumericEquals": 200`), nil},
		{"a member of the body is compared with a text", fetch("http:invoke", `"Variable": "$.ResponseBody.code", "StringEquals": "200"`), nil},
		{"a text without an enum is compared", jsonpath(`"Variable": "$.got.QueryExecution.Query", "StringEquals": "SELECT 1"`), nil},
		{
			"a member that is never there is asked for", jsonpath(`"Variable": "$.got.QueryExecution.Statuss.State", "IsPresent": true`),
			[]string{`has no member "Statuss" (did you mean "Status"?)`},
		},
		{"a member that may be there is asked for", jsonpath(`"Variable": "$.got.QueryExecution.Status.State", "IsPresent": true`), nil},
		{
			"an enum in a test that does not hold", jsonpath(`"Not": {"Variable": "$.got.QueryExecution.Status.State", "StringEquals": "DONE"}`),
			[]string{`QueryExecution.Status.State is never "DONE"`},
		},
		{
			"an unknown argument from a member that an answer may lack", strings.Replace(jsonpath(`"Variable": "$.got", "IsNull": true`), `"Done": {"Type": "Succeed"}`,
				`"Done": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:stopQueryExecution",
					"Parameters": {"QueryExecutionId": "a", "Foo.$": "$.got.QueryExecution.Query"}, "End": true}`, 1),
			[]string{`has no argument "Foo"`},
		},
		{"a member of a variable", jsonata("$got.QueryExecution.Statuss.State = 'SUCCEEDED'"), []string{`QueryExecution has no member "Statuss" (did you mean "Status"?)`}},
		{"a word of another service", jsonata("$got.QueryExecution.Status.State = 'COMPLETE'"), []string{`"COMPLETE" (did you mean "SUCCEEDED"?)`}},
		{"a value of a variable", jsonata("$got.QueryExecution.Status.State = 'SUCCEEDEDX'"), []string{`"SUCCEEDEDX" (did you mean "SUCCEEDED"?)`}},
		{
			"a key that $lookup never looks for", jsonata("$lookup({'SUCCEEDED': 'good', 'FINISHED': 'good', 'FAILED': 'bad'}, $got.QueryExecution.Status.State) = 'good'"),
			[]string{`QueryExecutionState is never "FINISHED"`},
		},
		{"keys for a text without an enum", jsonata("$lookup({'SELECT 1': 'one'}, $got.QueryExecution.Query) = 'one'"), nil},
		{"keys of an object that is not in the expression", jsonata("$lookup($states.context.Execution.Input.words, $got.QueryExecution.Status.State) = 'good'"), nil},
		{"values in a list", jsonata("$got.QueryExecution.Status.State in ['SUCCEEDED', 'QUEUED']"), nil},
		{
			"all values in a list, so that the next rule has none", jsonata("$got.QueryExecution.Status.State in ['FAILED', 'QUEUED']"),
			[]string{"rule 1 takes every value that rule 2 is for: it never applies; put rule 2 before rule 1, or remove it"},
		},
		{"a function of a member", jsonata("$boolean($got.QueryExecution.Status)"), nil},
		{"whether something is there that always is", jsonata("$exists($states.input)"), []string{"the rules before rule 2 take every value"}},
		{"whether it is not there", jsonata("$not($exists($got.QueryExecution.Status))"), nil},
		{"a list that another value chooses from", jsonata("$got.QueryExecution.Status.State in ['FAILED', 'QUEUED'][0]"), nil},
		{"a list of values that are computed", jsonata("$got.QueryExecution.Status.State in ['FAILED', $states.context.Execution.Name]"), nil},
		{"a result of a Map", inside("Map", `"ItemsPath": "$.items", "ItemProcessor": GET`), []string{`has no member "Statuss"`}},
		{"a result of a Parallel", inside("Parallel", `"Branches": [GET]`), []string{`has no member "Statuss"`}},
		{"a result that is written elsewhere", inside("Map", `"ItemsPath": "$.items", "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"}},
			"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "G", "States": {"G": {"Type": "Succeed"}}}`), nil},
		{"a value of another enum", call("aws-sdk:glue:startJobRun", `"JobName": "a", "WorkerType": "G.1XX"`), []string{`WorkerType is never "G.1XX" (did you mean "G.1X"?)`}},
		{"a list with too few elements", call("aws-sdk:athena:batchGetQueryExecution", `"QueryExecutionIds": []`), []string{`"QueryExecutionIds" has at least 1 elements, found 0`}},
		{"a list of enough", call("aws-sdk:athena:batchGetQueryExecution", `"QueryExecutionIds": ["a"]`), nil},
		{"a list of which nobody knows how long it is", call("aws-sdk:athena:batchGetQueryExecution", `"QueryExecutionIds.$": "$.ids"`), nil},
		{"a number beyond its limit", call("aws-sdk:athena:listQueryExecutions", `"MaxResults": 51`), []string{`"MaxResults" is at most 50, found 51`}},
		{"a number at its limit", call("aws-sdk:athena:listQueryExecutions", `"MaxResults": 50`), nil},
		{"an empty text", call("aws-sdk:athena:startQueryExecution", `"QueryString": ""`), []string{`"QueryString" has at least 1 characters, found 0`}},
		{"a text for an attribute", call("dynamodb:putItem", `"TableName": "t", "Item": {"id": "x"}`), nil},
		{"a number for an attribute", call("dynamodb:putItem", `"TableName": "t", "Item": {"id": 1}`), []string{`"id" must be an object, found a number`}},
		{"a text for a number", call("aws-sdk:athena:listQueryExecutions", `"MaxResults": "5"`), nil},
		{"a text that is no number", call("aws-sdk:athena:listQueryExecutions", `"MaxResults": "many"`), []string{`"MaxResults" must be a number`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := findings(t, tt.definition)
			require.Len(t, found, len(tt.want), "%v", found)
			for i, want := range tt.want {
				require.Contains(t, found[i], want)
			}
		})
	}
}

// What a mock returns is checked as what the service gives: texts with an enum are among
// it, and others are any.
func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	api, err := typecheck.FindAPI("arn:aws:states:::aws-sdk:athena:getQueryExecution", models.Load)
	require.NoError(t, err)
	answer := func(member string, value any) any {
		return map[string]any{"QueryExecution": map[string]any{member: value}}
	}
	require.Empty(t, api.CheckAnswer(answer("Query", "SELECT 1")))
	require.Empty(t, api.CheckAnswer(answer("Status", map[string]any{"State": "RUNNING"})))
	require.Equal(t, []string{`$.QueryExecution.Status.State: QueryExecutionState is never "RUNNINGX" (did you mean "RUNNING"?)`},
		api.CheckAnswer(answer("Status", map[string]any{"State": "RUNNINGX"})))
	require.Equal(t, []string{`$.QueryExecution.Query: expected a string (QueryString), found an array`}, api.CheckAnswer(answer("Query", []any{})))
	require.Equal(t, []string{`$.QueryExecution: QueryExecution has no member "Querry" (did you mean "Query"?)`}, api.CheckAnswer(answer("Querry", "x")))
}
