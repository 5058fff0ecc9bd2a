package typecheck_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const (
	startQuery = `{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString.$": "$.sql"}, "Next": "End"}`
	askLambda  = `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "ResultPath": "$.f", "Next": "B"}`
)

// What an input lacks, or has of another type, is certain in the states that are
// entered whatever happens, and only possible in the others.
func TestCheckInput(t *testing.T) {
	t.Parallel()
	caught := func(state string) string {
		return strings.TrimSuffix(state, "}") + `, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "End"}]}`
	}
	const (
		noSQL    = `unknown-member /States/B/Parameters/QueryString.$`
		notText  = `argument-type /States/B/Parameters/QueryString.$`
		choose   = `{"Type": "Choice", "Choices": [{"Variable": "$.go", "BooleanEquals": true, "Next": "B"}], "Default": "End"}`
		jsonata  = `{"QueryLanguage": "JSONata", "Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Arguments": `
		parallel = `{"Type": "Parallel", "Branches": [{"StartAt": "I", "States": {"I": {"Type": "Wait", "SecondsPath": "$.wait", "End": true}}}], "Next": "End"}`
		mapping  = `{"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Wait", "SecondsPath": "$.wait", "End": true}}}, "Next": "End"}`
	)
	tests := []struct {
		name, a, b, input string
		certain, possible []string
	}{
		{"all that is needed", askLambda, startQuery, `{"sql": "SELECT 1"}`, nil, nil},
		{"an index past the end gives null in a template", askLambda, `{"Type": "Pass", "Parameters": {"q.$": "$.l[0]"}, "Next": "End"}`, `{"l": []}`, nil, nil},
		{
			"a member behind an index past the end", askLambda, `{"Type": "Pass", "Parameters": {"q.$": "$.l[0].id"}, "Next": "End"}`, `{"l": []}`,
			[]string{`unknown-member /States/B/Parameters/q.$`},
			nil,
		},
		{
			"an index past the end of InputPath", askLambda, `{"Type": "Pass", "InputPath": "$.l[0]", "Next": "End"}`, `{"l": []}`,
			[]string{`unknown-member /States/B/InputPath`},
			nil,
		},
		{"a member is missing", askLambda, startQuery, `{}`, []string{noSQL}, nil},
		{"a number for a text", askLambda, startQuery, `{"sql": 1}`, []string{notText}, nil},
		{"no object", `{"Type": "Pass", "Next": "B"}`, startQuery, `[]`, []string{noSQL}, nil},
		{"null", `{"Type": "Pass", "Next": "B"}`, startQuery, `null`, []string{noSQL}, nil},
		{"behind a state that catches errors", caught(askLambda), startQuery, `{}`, nil, []string{noSQL}},
		{"in one", askLambda, caught(startQuery), `{}`, nil, []string{noSQL}},
		{
			"behind a Choice that another value decides", `{"Type": "Choice", "Choices": [{"Variable": "$$.State.EnteredTime", "TimestampLessThan": "2030-01-01T00:00:00Z", "Next": "B"}], "Default": "End"}`,
			startQuery, `{}`, nil,
			[]string{noSQL},
		},
		{"behind a Choice that the input decides", choose, startQuery, `{"go": true}`, []string{noSQL}, nil},
		{"where the input does not lead", choose, startQuery, `{"go": false}`, nil, nil},
		{
			"all arguments of JSONata", `{"Type": "Pass", "Next": "B"}`, jsonata + `"{% $states.input %}", "Next": "End"}`, `{"WorkGrp": "x"}`,
			[]string{"unknown-argument /States/B/Arguments", "missing-argument /States/B/Arguments"},
			nil,
		},
		{"a part of JSONata", askLambda, jsonata + `{"QueryString": "{% $states.input.sql %}"}, "Next": "End"}`, `{}`, []string{"unknown-member /States/B/Arguments/QueryString"}, nil},
		{"in a branch", askLambda, parallel, `{}`, []string{"unknown-member /States/B/Branches/0/States/I/SecondsPath"}, nil},
		{"in a branch whose errors are caught", askLambda, caught(parallel), `{}`, nil, []string{"unknown-member /States/B/Branches/0/States/I/SecondsPath"}},
		{"of a Map", askLambda, mapping, `{"items": {}}`, []string{"argument-type /States/B/ItemsPath"}, nil},
		{"of the items of a Map, of which there may be none", askLambda, mapping, `{"items": [{"wait": "x"}]}`, nil, []string{"argument-type /States/B/ItemProcessor/States/I/SecondsPath"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {"A": ` + tt.a + `, "B": ` + tt.b + `, "End": {"Type": "Succeed"}}}`))
			require.NoError(t, err)
			var input any
			d := json.NewDecoder(strings.NewReader(tt.input))
			d.UseNumber()
			require.NoError(t, d.Decode(&input))
			misfits, err := typecheck.CheckInput(m, typecheck.Options{Models: models.Load, Input: typecheck.Literal(input)})
			require.NoError(t, err)
			require.Equal(t, tt.certain, placesOf(misfits.Certain))
			require.Equal(t, tt.possible, placesOf(misfits.Possible))
		})
	}
}

func placesOf(findings []typecheck.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Rule+" "+f.Pointer)
	}
	return out
}

// A mistake of the definition is none of the input.
func TestCheckInputOfWrongDefinition(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(sevenMistakes))
	require.NoError(t, err)
	misfits, err := typecheck.CheckInput(m, typecheck.Options{Models: models.Load, Input: typecheck.Literal(map[string]any{"arn": "a"})})
	require.NoError(t, err)
	require.Equal(t, &typecheck.Misfits{}, misfits)
}

// Fields of states take values of one type.
func TestKindsOfFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, state, want string }{
		{"seconds", `"Type": "Wait", "SecondsPath": "$.text", "Next": "End"`, `/States/S/SecondsPath: "SecondsPath" must be a number, found a string`},
		{
			"seconds of a call", `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "TimeoutSecondsPath": "$.list", "Next": "End"`,
			`/States/S/TimeoutSecondsPath: "TimeoutSecondsPath" must be a number, found an array`,
		},
		{"a time", `"Type": "Wait", "TimestampPath": "$.number", "Next": "End"`, `/States/S/TimestampPath: "TimestampPath" must be a string, found a number`},
		{"a cause", `"Type": "Fail", "Error": "E", "CausePath": "$.list"`, `/States/S/CausePath: "CausePath" must be a string, found an array`},
		{
			"items", `"Type": "Map", "ItemsPath": "$.text", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}, "Next": "End"`,
			`/States/S/ItemsPath: "ItemsPath" must be an array, found a string`,
		},
		{
			"what an item gets", `"Type": "Map", "ItemsPath": "$.list", "ItemSelector": {"a.$": "$.txt"}, "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}, "Next": "End"`,
			`/States/S/ItemSelector/a.$: $ has no member "txt" (did you mean "text"?)`,
		},
		{
			"what branches get", `"Type": "Parallel", "Parameters": {"a.$": "$.txt"}, "Branches": [{"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}], "Next": "End"`,
			`/States/S/Parameters/a.$: $ has no member "txt" (did you mean "text"?)`,
		},
		{"seconds that are a number", `"Type": "Wait", "SecondsPath": "$.number", "Next": "End"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := findings(t, `{"StartAt": "A", "States": {
				"A": {"Type": "Choice", "Choices": [{"Variable": "$", "IsNull": true, "Next": "End"}], "Default": "P"},
				"P": {"Type": "Pass", "Result": {"text": "x", "number": 1, "list": [1]}, "Next": "S"},
				"S": {`+tt.state+`}, "End": {"Type": "Succeed"}}}`)
			if tt.want == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Contains(t, found[0], tt.want)
		})
	}
}
