package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Machines whose state "Read" reads a member of an answer, and parts of such states.
const (
	pathMachine = `{"StartAt": "Look", "TimeoutSeconds": 3600, "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"},
    "ResultPath": "$.r", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Read"}], "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Read"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Read"}], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Good": {"Type": "Succeed"},
  "Read": STATE,
  "Bad": {"Type": "Fail"}
}}`
	expressionMachine = `{"QueryLanguage": "JSONata", "StartAt": "Look", "TimeoutSeconds": 3600, "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
    "Assign": {"r": "{% $states.result %}"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Condition": "{% $r.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Good"},
    {"Condition": "{% $r.QueryExecution.Status.State in ['FAILED', 'CANCELLED'] %}", "Next": "Read"}], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Good": {"Type": "Succeed"},
  "Read": STATE,
  "Bad": {"Type": "Fail"}
}}`
	publishBy = `{"Type": "Task", "Resource": "arn:aws:states:::sns:publish", `
	inner     = `"ItemProcessor": {"StartAt": "Item", "States": {"Item": {"Type": "Pass", "End": true}}}, "Next": "Bad"}`
	many      = `"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, ` +
		`"StartAt": "Item", "States": {"Item": {"Type": "Pass", "End": true}}}, "Next": "Bad"}`
)

// choiceBy is a Choice with one rule.
func choiceBy(condition string) string {
	return `{"Type": "Choice", "Choices": [{` + condition + `, "Next": "Good"}], "Default": "Bad"}`
}

// readByPath are states by the field that reads a member.
func readByPath() map[string]string {
	return map[string]string{
		"InputPath":            `{"Type": "Pass", "InputPath": "TEXT", "Next": "Bad"}`,
		"OutputPath":           `{"Type": "Pass", "OutputPath": "TEXT", "Next": "Bad"}`,
		"Parameters/a.$":       `{"Type": "Pass", "Parameters": {"a.$": "TEXT"}, "Next": "Bad"}`,
		"Parameters/a/b.$":     `{"Type": "Pass", "Parameters": {"a": {"b.$": "TEXT"}}, "Next": "Bad"}`,
		"Parameters/c.$":       `{"Type": "Pass", "Parameters": {"c.$": "States.Format('{} {}', 'x', States.Array(TEXT))"}, "Next": "Bad"}`,
		"Assign/a.$":           `{"Type": "Pass", "Assign": {"a.$": "TEXT"}, "Next": "Bad"}`,
		"Choices/0/Assign/a.$": choiceBy(`"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED", "Assign": {"a.$": "TEXT"}`),
		"Parameters/Message.$": publishBy + `"Parameters": {"TopicArn": "t", "Message.$": "States.Format('failed: {}', TEXT)"}, "Next": "Bad"}`,
		"Parameters/MessageAttributes/a/StringValue.$": publishBy +
			`"Parameters": {"TopicArn": "t", "Message": "m", "MessageAttributes": {"a": {"DataType": "String", "StringValue.$": "TEXT"}}}, "Next": "Bad"}`,
		"TimeoutSecondsPath":    publishBy + `"TimeoutSecondsPath": "NUMBER", "Parameters": {"TopicArn": "t", "Message": "m"}, "Next": "Bad"}`,
		"HeartbeatSecondsPath":  publishBy + `"HeartbeatSecondsPath": "NUMBER", "Parameters": {"TopicArn": "t", "Message": "m"}, "Next": "Bad"}`,
		"Credentials/RoleArn.$": publishBy + `"Credentials": {"RoleArn.$": "TEXT"}, "Parameters": {"TopicArn": "t", "Message": "m"}, "Next": "Bad"}`,
		"SecondsPath":           `{"Type": "Wait", "SecondsPath": "NUMBER", "Next": "Bad"}`,
		"TimestampPath":         `{"Type": "Wait", "TimestampPath": "TEXT", "Next": "Bad"}`,
		"ErrorPath":             `{"Type": "Fail", "ErrorPath": "TEXT"}`,
		"CausePath":             `{"Type": "Fail", "CausePath": "States.Format('{}', TEXT)"}`,
		"Parameters/p.$": `{"Type": "Parallel", "Parameters": {"p.$": "TEXT"}, ` +
			`"Branches": [{"StartAt": "One", "States": {"One": {"Type": "Pass", "End": true}}}], "Next": "Bad"}`,
		"ItemSelector/a.$":               `{"Type": "Map", "ItemsPath": "$.list", "ItemSelector": {"a.$": "TEXT"}, ` + inner,
		"MaxConcurrencyPath":             `{"Type": "Map", "ItemsPath": "$.list", "MaxConcurrencyPath": "NUMBER", ` + inner,
		"ToleratedFailureCountPath":      `{"Type": "Map", "ItemsPath": "$.list", "ToleratedFailureCountPath": "NUMBER", ` + many,
		"ToleratedFailurePercentagePath": `{"Type": "Map", "ItemsPath": "$.list", "ToleratedFailurePercentagePath": "NUMBER", ` + many,
		"ItemReader/Parameters/Key.$": `{"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"}, ` +
			`"Parameters": {"Bucket": "b", "Key.$": "TEXT"}}, ` + many,
		"ItemReader/ReaderConfig/MaxItemsPath": `{"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", ` +
			`"ReaderConfig": {"InputType": "JSON", "MaxItemsPath": "NUMBER"}, "Parameters": {"Bucket": "b", "Key": "k"}}, ` + many,
		"ResultWriter/Parameters/Prefix.$": `{"Type": "Map", "ItemsPath": "$.list", "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", ` +
			`"Parameters": {"Bucket": "b", "Prefix.$": "TEXT"}}, ` + many,
		"ItemBatcher/MaxItemsPerBatchPath":      `{"Type": "Map", "ItemsPath": "$.list", "ItemBatcher": {"MaxItemsPerBatchPath": "NUMBER"}, ` + many,
		"ItemBatcher/MaxInputBytesPerBatchPath": `{"Type": "Map", "ItemsPath": "$.list", "ItemBatcher": {"MaxInputBytesPerBatchPath": "NUMBER"}, ` + many,
		"ItemBatcher/BatchInput/a.$":            `{"Type": "Map", "ItemsPath": "$.list", "ItemBatcher": {"MaxItemsPerBatch": 2, "BatchInput": {"a.$": "TEXT"}}, ` + many,
		"Choices/0/Or/1/Variable":               choiceBy(`"Or": [{"Variable": "$.x", "IsPresent": true}, {"Variable": "TEXT", "StringMatches": "a*"}]`),
		"Choices/0/Not/Variable":                choiceBy(`"Not": {"Variable": "TRUTH", "BooleanEquals": true}`),
	}
}

// readByExpression are states by the field that reads a member in JSONata.
func readByExpression() map[string]string {
	return map[string]string{
		"Arguments/Message":   publishBy + `"Arguments": {"TopicArn": "t", "Message": "{% TEXT %}"}, "Next": "Bad"}`,
		"Arguments/Subject":   publishBy + `"Arguments": {"TopicArn": "t", "Message": "m", "Subject": "{% $uppercase(TEXT) %}"}, "Next": "Bad"}`,
		"TimeoutSeconds":      publishBy + `"TimeoutSeconds": "{% NUMBER + 1 %}", "Arguments": {"TopicArn": "t", "Message": "m"}, "Next": "Bad"}`,
		"Credentials/RoleArn": publishBy + `"Credentials": {"RoleArn": "{% TEXT %}"}, "Arguments": {"TopicArn": "t", "Message": "m"}, "Next": "Bad"}`,
		"Catch/0/Output":      publishBy + `"Arguments": {"TopicArn": "t", "Message": "m"}, "Catch": [{"ErrorEquals": ["States.ALL"], "Output": "{% TEXT %}", "Next": "Bad"}], "Next": "Bad"}`,
		"Output":              `{"Type": "Pass", "Output": "{% TEXT %}", "Next": "Bad"}`,
		"Output/a":            `{"Type": "Pass", "Output": {"a": "{% NUMBER * 2 %}"}, "Next": "Bad"}`,
		"Assign/a":            `{"Type": "Pass", "Assign": {"a": "{% TEXT %}"}, "Next": "Bad"}`,
		"Seconds":             `{"Type": "Wait", "Seconds": "{% NUMBER %}", "Next": "Bad"}`,
		"Timestamp":           `{"Type": "Wait", "Timestamp": "{% TEXT %}", "Next": "Bad"}`,
		"Error":               `{"Type": "Fail", "Error": "{% TEXT %}"}`,
		"Cause":               `{"Type": "Fail", "Cause": "{% TEXT %}"}`,
		"Items":               `{"Type": "Map", "Items": "{% $split(TEXT, ',') %}", ` + inner,
		"ItemSelector/a":      `{"Type": "Map", "Items": [1], "ItemSelector": {"a": "{% TEXT %}"}, ` + inner,
		"MaxConcurrency":      `{"Type": "Map", "Items": [1], "MaxConcurrency": "{% NUMBER %}", ` + inner,
		"ItemReader/Arguments/Key": `{"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"}, ` +
			`"Arguments": {"Bucket": "b", "Key": "{% TEXT %}"}}, ` + many,
		"Choices/0/Condition": choiceBy(`"Condition": "{% NUMBER > 2 %}"`),
		"Choices/0/Output":    choiceBy(`"Condition": "{% true %}", "Output": "{% TEXT %}"`),
		"Choices/1/Condition": `{"Type": "Choice", "Choices": [{"Condition": "{% $r.x = 1 %}", "Next": "Bad"}, {"Condition": "{% $contains(TEXT, 'x') %}", "Next": "Good"}], "Default": "Bad"}`,
	}
}

// findAbsent is where lint finds that the state "Read" reads what need not be there.
func findAbsent(t *testing.T, language, state string) []string {
	t.Helper()
	var at []string
	for _, f := range absentOf(t, language, state) {
		at = append(at, strings.TrimPrefix(f.Pointer, "/States/Read/"))
	}
	return at
}

// absentOf are the findings of members that need not be there where the state "Read" reads
// them.
func absentOf(t *testing.T, language, state string) []lint.Finding {
	t.Helper()
	machine, of := pathMachine, "$.r.QueryExecution.Status.AthenaError."
	if language == "expression" {
		machine, of = expressionMachine, "$r.QueryExecution.Status.AthenaError."
	}
	text := strings.Replace(machine, "STATE", state, 1)
	if !strings.Contains(state, `"Bad"`) {
		text = strings.Replace(text, ",\n  \"Bad\": {\"Type\": \"Fail\"}", "", 1)
	}
	text = strings.NewReplacer("TEXT", of+"ErrorMessage", "NUMBER", of+"ErrorCategory", "TRUTH", of+"Retryable").Replace(text)
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err, text)
	return slices.DeleteFunc(lint.Check(m, lint.Options{}), func(f lint.Finding) bool { return f.Rule != typecheck.AbsentMember })
}

// The advice is one that the field can take: only some fields take intrinsic functions, and
// only some a null.
func TestAbsentMemberAdvisesByField(t *testing.T) {
	t.Parallel()
	const (
		runtime, lost = "States.Runtime, which nothing catches; ", "States.Runtime, and its own error is lost; "
		toString      = "pass the object around it, by States.JsonToString"
		before        = "ask for IsPresent in a Choice before the state"
		inRule        = "ask for IsPresent first, in one And"
		evaluation    = "States.QueryEvaluationError; "
		argument      = "write {% $exists(X) ? X : null %} if the call does not need it, or ask for it in a Choice before the state"
		nullOrText    = "write {% $exists(X) ? X : null %}, or {% '' & X %} where a text is needed"
		other         = "write {% $exists(X) ? X : D %}, with a value D that the field takes"
		condition     = "ask for it first: {% $exists(X) and ... %}"
	)
	paths, expressions := readByPath(), readByExpression()
	for field, want := range map[string]string{
		"InputPath": runtime + before, "OutputPath": runtime + before, "SecondsPath": runtime + before, "TimestampPath": runtime + before,
		"TimeoutSecondsPath": runtime + before, "MaxConcurrencyPath": runtime + before, "ItemReader/Parameters/Key.$": runtime + before,
		"ItemBatcher/MaxItemsPerBatchPath": runtime + before, "Credentials/RoleArn.$": runtime + before,
		"ItemBatcher/BatchInput/a.$": runtime + toString, "Parameters/a/b.$": runtime + toString, "Assign/a.$": runtime + toString,
		"ItemSelector/a.$": runtime + toString, "Choices/0/Assign/a.$": runtime + toString, "CausePath": lost + toString,
		"ErrorPath": lost + "write an \"Error\" of your own", "Choices/0/Not/Variable": runtime + inRule, "Choices/0/Or/1/Variable": runtime + inRule,
	} {
		requireAdvice(t, "path", paths[field], want)
	}
	for field, want := range map[string]string{
		"Arguments/Message": evaluation + argument,
		"Output":            evaluation + nullOrText, "Assign/a": evaluation + nullOrText,
		"Catch/0/Output": evaluation + nullOrText, "Choices/0/Output": evaluation + nullOrText, "ItemSelector/a": evaluation + nullOrText,
		"Cause": "States.QueryEvaluationError, and its own error is lost; " + nullOrText, "Choices/1/Condition": evaluation + condition,
		"Seconds": evaluation + other, "Timestamp": evaluation + other, "TimeoutSeconds": evaluation + other, "Items": evaluation + other,
		"MaxConcurrency": evaluation + other, "Credentials/RoleArn": evaluation + other, "ItemReader/Arguments/Key": evaluation + other,
	} {
		requireAdvice(t, "expression", expressions[field], want)
	}
	requireAdvice(t, "expression", `{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", `+
		`"Arguments": {"Bucket": "b", "Key": {"Condition": "{% TEXT %}"}}, "Next": "Bad"}`, evaluation+argument)
}

// What SNS refuses is no advice: an empty text stood in the message.
func TestAbsentMemberAdvisesNoEmptyTextThatIsRefused(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("STATE", `{"Type": "Pass", "Output": {"why": "{% $r.QueryExecution.Status.StateChangeReason %}"}, "Next": "Bad"}`,
		`"Bad": {"Type": "Fail"}`, `"Bad": `+publishBy+`"Arguments": {"TopicArn": "t", "Message": "{% $states.input.why %}"}, "End": true}`).Replace(expressionMachine)
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	found := slices.DeleteFunc(lint.Check(m, lint.Options{Types: types}), func(f lint.Finding) bool { return f.Rule != typecheck.AbsentMember })
	require.Len(t, found, 1)
	require.Contains(t, found[0].Message, "{% $exists(X) ? X : 'none' %} where a text is needed, as SNS and SQS refuse an empty one")
	require.NotContains(t, found[0].Message, "''")
}

func requireAdvice(t *testing.T, language, state, want string) {
	t.Helper()
	found := absentOf(t, language, state)
	require.Len(t, found, 1, state)
	require.True(t, strings.HasSuffix(found[0].Message, want), "%s: %s", state, found[0].Message)
}

// A member that is there only after some failures is found wherever the state "Read", to
// which a failure leads, reads it: TEXT, NUMBER and TRUTH are members of it.
func TestAbsentMemberInEveryField(t *testing.T) {
	t.Parallel()
	for language, states := range map[string]map[string]string{"path": readByPath(), "expression": readByExpression()} {
		for field, state := range states {
			t.Run(language+"/"+field, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, []string{field}, findAbsent(t, language, state))
			})
		}
	}
	for operator, value := range map[string]string{
		"StringEquals": `"a"`, "StringLessThan": `"a"`, "StringMatches": `"a*"`, "IsString": "true", "IsTimestamp": "true", "IsNull": "false",
		"TimestampEquals": `"2026-01-01T00:00:00Z"`, "StringEqualsPath": `"$.other"`, "TimestampLessThanPath": `"$.other"`,
		"NumericEquals": "0", "NumericGreaterThan": "0", "NumericLessThanEqualsPath": `"$.other"`, "IsNumeric": "true",
		"BooleanEquals": "true", "BooleanEqualsPath": `"$.other"`, "IsBoolean": "true",
	} {
		t.Run("path/"+operator, func(t *testing.T) {
			t.Parallel()
			member := "TEXT"
			if strings.Contains(operator, "Numeric") {
				member = "NUMBER"
			} else if strings.Contains(operator, "Boolean") {
				member = "TRUTH"
			}
			rule := `"Variable": "` + member + `", "` + operator + `": ` + value
			require.Equal(t, []string{"Choices/0/Variable"}, findAbsent(t, "path", choiceBy(rule)))
			if strings.HasSuffix(operator, "Path") {
				rule = `"Variable": "$.other", "` + operator + `": "` + member + `"`
				require.Equal(t, []string{"Choices/0/" + operator}, findAbsent(t, "path", choiceBy(rule)))
			}
			guarded := `"And": [{"Variable": "` + member + `", "IsPresent": true}, {` + rule + `}]`
			require.Empty(t, findAbsent(t, "path", choiceBy(guarded)))
		})
	}
	for _, fine := range []string{
		choiceBy(`"Condition": "{% $exists(NUMBER) and NUMBER > 2 %}"`), choiceBy(`"Condition": "{% NUMBER = 2 %}"`), choiceBy(`"Condition": "{% NUMBER > 2 or true %}"`),
		`{"Type": "Fail", "Cause": "{% '' & TEXT %}"}`, `{"Type": "Pass", "Output": "{% $exists(TEXT) ? TEXT : null %}", "Next": "Bad"}`,
	} {
		require.Empty(t, findAbsent(t, "expression", fine), fine)
	}
}
