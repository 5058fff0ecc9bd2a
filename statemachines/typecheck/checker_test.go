package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// check returns the types of a definition.
func check(t testing.TB, definition string) (*asl.StateMachine, *typecheck.Checker) {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	return m, c
}

// findings are the findings of a definition as lines.
func findings(t testing.TB, definition string) []string {
	t.Helper()
	_, c := check(t, definition)
	var out []string
	for _, f := range c.Findings() {
		out = append(out, f.Rule+" "+f.String())
	}
	return out
}

const sevenMistakes = `{
  "StartAt": "Start",
  "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
      "Parameters": {"QueryStrng": "SELECT 1", "WorkGroup": "primary"}, "ResultPath": "$.started", "Next": "Export"},
    "Export": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
      "Parameters": {"ExportARN": "arn:aws:dynamodb:eu-west-1:1:table/a/export/b", "Foo": 1}, "ResultPath": "$.export", "Next": "Again"},
    "Again": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExportz",
      "Parameters": {"ExportArn.$": "$.arn"}, "ResultPath": "$.again", "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
      "Parameters": {"QueryExecutionId.$": "$.started.QueryExecutionId"}, "ResultPath": "$.got", "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Variable": "$.got.QueryExecution.Status.Sate", "StringEquals": "SUCCEEDED", "Next": "Done"},
      {"Variable": "$.got.QueryExecution.Status.State", "StringEquals": "SUCCDED", "Next": "Done"}
    ], "Default": "Look"},
    "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {}, "Next": "Done"},
    "Done": {"Type": "Succeed"}
  }
}`

func TestSevenMistakes(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`unknown-argument 5:22: /States/Start/Parameters/QueryStrng: athena:startQueryExecution has no argument "QueryStrng" (did you mean "QueryString"?)`,
		`unknown-argument 7:22: /States/Export/Parameters/ExportARN: dynamodb:describeExport has no argument "ExportARN" (did you mean "ExportArn"?)`,
		`unknown-argument 7:84: /States/Export/Parameters/Foo: dynamodb:describeExport has no argument "Foo"`,
		`unknown-operation 8:31: /States/Again/Resource: DynamoDB has no operation "describeExportz" (did you mean "describeExport"?)`,
		`unknown-member 13:8: /States/Done?/Choices/0/Variable: $.got.QueryExecution.Status (QueryExecutionStatus) has no member "Sate" (did you mean "State"?)`,
		`enum-value 14:57: /States/Done?/Choices/1/StringEquals: $.got.QueryExecution.Status.State is never "SUCCDED" (did you mean "SUCCEEDED"?)`,
		`missing-argument 16:95: /States/Look/Parameters: athena:getQueryExecution needs the argument "QueryExecutionId"`,
	}, findings(t, sevenMistakes))
}

const athenaLoop = `{
  "StartAt": "Get",
  "States": {
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
      "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultSelector": {"status.$": "$.QueryExecution.Status.State"},
      "ResultPath": "$.got", "Next": "Done?", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Failed"}]},
    "Done?": {"Type": "Choice", "Choices": [
      {"Variable": "$.got.status", "StringEquals": "SUCCEEDED", "Next": "Report"},
      {"Or": [{"Variable": "$.got.status", "StringEquals": "FAILED"}, {"Variable": "$.got.status", "StringMatches": "CANCEL*"}], "Next": "Failed"}
    ], "Default": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"},
    "Report": {"Type": "Pass", "End": true},
    "Failed": {"Type": "Fail"}
  }
}`

// walk follows one answer of a Task to where it leads.
func walk(m *asl.StateMachine, c *typecheck.Checker, s *asl.State, in typecheck.Env, result typecheck.Value) []string {
	var out []string
	for _, way := range c.Step(s, in, result) {
		next := m.State(way.To)
		switch {
		case way.Kind == asl.TransitionCatch:
		case next == nil:
			out = append(out, "end")
		case next.Choice != nil:
			out = append(out, walk(m, c, next, way.Env, c.Result(next))...)
		default:
			out = append(out, way.To)
		}
	}
	return out
}

func TestStepFollowsOneAnswer(t *testing.T) {
	t.Parallel()
	m, c := check(t, athenaLoop)
	get := m.State("Get")
	for status, want := range map[string]string{"SUCCEEDED": "Report", "FAILED": "Failed", "CANCELLED": "Failed", "RUNNING": "Wait", "new one": "Wait"} {
		result := typecheck.Narrow(c.Result(get), []string{"QueryExecution", "Status", "State"}, status)
		require.Equal(t, []string{want}, walk(m, c, get, c.Input(get), result), status)
	}
	require.ElementsMatch(t, []string{"Report", "Failed", "Wait"}, walk(m, c, get, c.Input(get), c.Result(get)))
	ways := c.Step(get, c.Input(get), c.Result(get))
	require.Len(t, ways, 2)
	require.Equal(t, asl.Transition{To: "Failed", Kind: asl.TransitionCatch}, ways[1].Transition)
	require.Empty(t, c.Findings())
}
