package asl_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

const pollMachine = `{
  "Comment": "polls", "Version": "1.0", "QueryLanguage": "JSONPath", "TimeoutSeconds": 3600, "StartAt": "Wait",
  "States": {
    "Wait": {"Type": "Wait", "SecondsPath": "$.waitSeconds", "Next": "Check"},
    "Check": {
      "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "InputPath": null, "OutputPath": "$.out",
      "Parameters": {"FunctionName": "check", "Payload": {"Context.$": "$$", "deep": [1, {"id.$": "$.id"}], "fixed": {"n": 1.50}}},
      "ResultSelector": {"status.$": "$.Payload.status"}, "ResultPath": "$.check",
      "TimeoutSeconds": 60, "HeartbeatSeconds": 59,
      "Retry": [
        {"ErrorEquals": ["Lambda.TooManyRequestsException", "States.Timeout"], "IntervalSeconds": 2, "MaxAttempts": 0,
         "BackoffRate": 1.5, "MaxDelaySeconds": 30, "JitterStrategy": "FULL", "Comment": "c"},
        {"ErrorEquals": ["States.ALL"]}
      ],
      "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Failed"}],
      "Next": "Done?"
    },
    "Done?": {
      "Type": "Choice",
      "Choices": [
        {"And": [{"Variable": "$.check.status", "IsPresent": true}, {"Not": {"Variable": "$.check.status", "StringEqualsPath": "$.other"}}],
         "Next": "Wait", "Comment": "again"},
        {"Variable": "$.at", "TimestampGreaterThan": "2026-01-02T03:04:05.5+01:00", "Next": "Note"}
      ],
      "Default": "Done"
    },
    "Note": {"Type": "Pass", "Result": {"a.$": "kept"}, "ResultPath": "$.note", "End": true},
    "Done": {"Type": "Succeed", "OutputPath": null},
    "Failed": {"Type": "Fail", "ErrorPath": "$.Error", "Cause": "no"}
  }
}`

func TestParse(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(pollMachine))
	require.NoError(t, err)
	require.Equal(t, "Wait", m.StartAt)
	require.EqualValues(t, 3600, m.TimeoutSeconds)
	require.Equal(t, asl.JSONPath, m.QueryLanguage)
	var names []string
	for _, s := range m.States {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"Wait", "Check", "Done?", "Note", "Done", "Failed"}, names)
	require.Nil(t, m.State("Nobody"))

	wait := m.State("Wait")
	require.Equal(t, asl.Position{Pointer: "/States/Wait", Line: 4, Column: 5}, wait.Position)
	require.Equal(t, "$.waitSeconds", wait.Wait.Seconds.Path.String())
	require.Equal(t, "$", wait.InputPath.String())
	require.Equal(t, "Check", wait.Next)

	check := m.State("Check")
	require.Nil(t, check.InputPath)
	require.Equal(t, "$.out", check.OutputPath.String())
	require.Equal(t, asl.Position{Pointer: "/States/Check/Resource", Line: 6, Column: 35}, check.Task.ResourcePosition)
	require.Equal(t, int64(60), check.Task.TimeoutSeconds.Literal)
	require.Equal(t, int64(59), check.Task.HeartbeatSeconds.Literal)
	require.Equal(t, []asl.Retrier{
		{
			ErrorEquals: []string{"Lambda.TooManyRequestsException", "States.Timeout"}, IntervalSeconds: 2, MaxAttempts: 0,
			BackoffRate: 1.5, MaxDelaySeconds: 30, JitterStrategy: asl.JitterFull, Comment: "c",
		},
		{ErrorEquals: []string{"States.ALL"}, IntervalSeconds: 1, MaxAttempts: 3, BackoffRate: 2, JitterStrategy: asl.JitterNone},
	}, check.Retry)
	require.Len(t, check.Catch, 1)
	require.Nil(t, check.Catch[0].ResultPath)
	require.Equal(t, "Failed", check.Catch[0].Next)

	payload := check.Parameters.Object[1].Value
	require.Equal(t, asl.TemplateObject, payload.Kind)
	require.Equal(t, "Context", payload.Object[0].Name)
	require.Equal(t, "Context.$", payload.Object[0].Field)
	require.True(t, payload.Object[0].Value.Path.Context())
	require.Equal(t, asl.TemplateArray, payload.Object[1].Value.Kind)
	require.Equal(t, asl.TemplateLiteral, payload.Object[2].Value.Kind)
	require.Equal(t, map[string]any{"n": json.Number("1.50")}, payload.Object[2].Value.Literal)

	choice := m.State("Done?").Choice
	require.Equal(t, "Done", choice.Default)
	require.Equal(t, asl.IsPresent, choice.Rules[0].And[0].Operator)
	require.Equal(t, true, choice.Rules[0].And[0].Value)
	inner := choice.Rules[0].And[1].Not
	require.Equal(t, asl.StringEquals, inner.Operator)
	require.Equal(t, "$.other", inner.ValuePath.String())
	at, ok := choice.Rules[1].Value.(time.Time)
	require.True(t, ok)
	require.True(t, at.Equal(time.Date(2026, 1, 2, 2, 4, 5, 500_000_000, time.UTC)))

	require.Equal(t, map[string]any{"a.$": "kept"}, m.State("Note").Pass.Result)
	require.True(t, m.State("Note").End)
	require.Nil(t, m.State("Done").OutputPath)
	require.Equal(t, "$.Error", m.State("Failed").Fail.Error.Path.String())
	require.Equal(t, "no", m.State("Failed").Fail.Cause.Literal)
}

// machine puts one state, named S, into a definition, with the state Z for it
// to lead to.
func machine(state string) string {
	return `{"StartAt": "S", "States": {"S": ` + state + `, "Z": {"Type": "Succeed"}}}`
}

func task(fields string) string {
	return machine(`{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "Next": "Z", ` + fields + `}`)
}

func choice(rule string) string {
	return machine(`{"Type": "Choice", "Default": "Z", "Choices": [` + rule + `]}`)
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", 81)
	tests := []struct {
		name, text string
		want       []string // each is one problem, without its place
	}{
		{"not JSON", `{"StartAt": }`, []string{": not valid JSON"}},
		{"not an object", `[]`, []string{": expected a state machine definition, which is an object, found an array"}},
		{"empty", `{}`, []string{`: a state machine definition needs the field "StartAt"`, `: a state machine definition needs the field "States"`}},
		{
			"ItemsPath of null", `{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": null, "End": true, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Succeed"}}}}}}`,
			[]string{`/States/M/ItemsPath: expected a path such as "$.a", found null`},
		},
		{"no states", `{"StartAt": "A", "States": {}}`, []string{`/StartAt: there is no state "A"`, `/States: "States" must hold at least one state`}},
		{"states not an object", `{"StartAt": "A", "States": []}`, []string{`/States: "States" must be an object, found an array`}},
		{"too large", strings.Repeat(" ", asl.MaxDefinitionBytes) + "{}", []string{"a definition has at most 1048576 bytes"}},
		{"unknown field", `{"StartsAt": "Z", "StartAt": "Z", "States": {"Z": {"Type": "Succeed"}}}`, []string{`/StartsAt: unknown field "StartsAt" in a state machine definition (did you mean "StartAt"?)`}},
		{"wrong types", `{"StartAt": 1, "Comment": {}, "Version": "2.0", "TimeoutSeconds": 1.5, "States": {"Z": 1}}`, []string{
			`/StartAt: "StartAt" must be a string, found a number (1)`, `/Comment: "Comment" must be a string, found an object`,
			`/Version: expected the version "1.0"`, `/TimeoutSeconds: "TimeoutSeconds" must be an integer from 0 to 99999999, found a number (1.5)`,
			`/States/Z: expected a state, which is an object, found a number (1)`,
		}},
		{"JSONata", `{"StartAt": "Z", "QueryLanguage": "JSONata", "States": {"Z": {"Type": "Succeed", "QueryLanguage": "JSONpath", "Output": "{% 1 %}"}}}`, []string{
			`/States/Z/QueryLanguage: expected the query language "JSONPath" or "JSONata", found a string ("JSONpath") (did you mean "JSONPath"?)`,
		}},
		{"name too long", `{"StartAt": "` + long + `", "States": {"` + long + `": {"Type": "Succeed"}}}`, []string{"a state name has 1 to 80 characters, found 81"}},
		{"name empty", `{"StartAt": "", "States": {"": {"Type": "Succeed"}}}`, []string{"a state name has 1 to 80 characters, found 0"}},
		{"unknown StartAt", `{"StartAt": "Donne", "States": {"Done": {"Type": "Succeed"}}}`, []string{`/StartAt: there is no state "Donne" (did you mean "Done"?)`}},
		{"unreachable", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}, "B": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Succeed"}}}`, []string{
			`/States/B: state "B" cannot be reached from "A"`, `/States/C: state "C" cannot be reached from "A"`,
		}},
		{"no type", machine(`{"Comment": ""}`), []string{`/States/S: a state needs the field "Type"`}},
		{"unknown type", machine(`{"Type": "Tsk"}`), []string{`/States/S/Type: unknown state type "Tsk"; expected one of Task, Wait, Choice, Pass, Succeed, Fail, Parallel, Map (did you mean "Task"?)`}},
		{"Map", machine(`{"Type": "Map", "ItemProcessor": {}, "Next": "Z"}`), []string{
			`/States/S/ItemProcessor: an item processor needs the field "StartAt"`, `/States/S/ItemProcessor: an item processor needs the field "States"`,
		}},
		{"Parallel", machine(`{"Type": "Parallel", "Branches": [], "Next": "Z"}`), []string{`/States/S/Branches: "Branches" must hold at least one item`}},
		{"field of another type", machine(`{"Type": "Wait", "Seconds": 1, "Retry": [], "Next": "Z"}`), []string{`/States/S/Retry: field "Retry" is not allowed in a Wait state`}},
		{"Succeed with Next", `{"StartAt": "Z", "States": {"Z": {"Type": "Succeed", "End": true}}}`, []string{`/States/Z/End: field "End" is not allowed in a Succeed state`}},
		{"Fail with InputPath", `{"StartAt": "Z", "States": {"Z": {"Type": "Fail", "InputPath": "$"}}}`, []string{`/States/Z/InputPath: field "InputPath" is not allowed in a Fail state`}},
		{"Next and End", machine(`{"Type": "Pass", "Next": "Z", "End": true}`), []string{`/States/S: state "S" has both "Next" and "End"; keep one`}},
		{"neither Next nor End", `{"StartAt": "S", "States": {"S": {"Type": "Pass"}}}`, []string{`/States/S: state "S" needs "Next" or "End"`, `no state ends the state machine`}},
		{"End false", `{"StartAt": "S", "States": {"S": {"Type": "Pass", "End": false}}}`, []string{`/States/S: state "S" needs "Next" or "End": true`, `no state ends the state machine`}},
		{"Assign", machine(`{"Type": "Pass", "Assign": {"states": 1, "1a": 2}, "Next": "Z"}`), []string{
			`/States/S/Assign/states: the name "states" is reserved`, `/States/S/Assign/1a: "1a" is not the name of a variable`,
		}},
		{"unknown Next", machine(`{"Type": "Pass", "Next": "z"}`), []string{`/States/S/Next: there is no state "z" (did you mean "Z"?)`}},

		{"no Resource", machine(`{"Type": "Task", "Next": "Z"}`), []string{`/States/S: a Task state needs the field "Resource"`}},
		{"Resource not an ARN", machine(`{"Type": "Task", "Resource": "lambda", "Next": "Z"}`), []string{`/States/S/Resource: expected the ARN of a resource, found a string ("lambda")`}},
		{"Credentials", task(`"Credentials": {"Role": "arn:x"}`), []string{
			`/States/S/Credentials: "Credentials" needs the field "RoleArn"`,
		}},
		{"Parameters not an object", task(`"Parameters": "$.a"`), []string{`/States/S/Parameters: expected an object, found a string ("$.a")`}},
		{"path not a string", task(`"Parameters": {"a.$": 1}`), []string{`/States/S/Parameters/a.$: expected a path such as "$.a", found a number (1)`}},
		{"path wrong", task(`"Parameters": {"a": [{"b.$": "a"}]}`), []string{`/States/S/Parameters/a/0/b.$: path "a": expected a path that starts with "$"`}},
		{"intrinsic", task(`"Parameters": {"a.$": "States.UID()"}`), []string{`intrinsic function: `}},
		{"ResultPath of the context", task(`"ResultPath": "$$.a"`), []string{`/States/S/ResultPath: path "$$.a" is in the context object, which is read-only`}},
		{"timeouts", task(`"TimeoutSeconds": 0, "HeartbeatSeconds": 100000000`), []string{
			`/States/S/TimeoutSeconds: "TimeoutSeconds" must be an integer from 1 to 99999999, found a number (0)`,
			`/States/S/HeartbeatSeconds: "HeartbeatSeconds" must be an integer from 1 to 99999999`,
		}},
		{"heartbeat not below timeout", task(`"TimeoutSeconds": 5, "HeartbeatSeconds": 5`), []string{`/States/S/HeartbeatSeconds: "HeartbeatSeconds" must be less than "TimeoutSeconds" (5), found 5`}},
		{"timeout twice", task(`"TimeoutSeconds": 5, "TimeoutSecondsPath": "$.t", "HeartbeatSeconds": 4, "HeartbeatSecondsPath": "$.h"`), []string{
			`/States/S/TimeoutSecondsPath: "TimeoutSeconds" and "TimeoutSecondsPath" exclude each other; keep one`,
			`/States/S/HeartbeatSecondsPath: "HeartbeatSeconds" and "HeartbeatSecondsPath" exclude each other; keep one`,
		}},
		{"Retry", task(`"Retry": [{}, {"ErrorEquals": []}, {"ErrorEquals": ["A", 2]}, 1]`), []string{
			`/States/S/Retry/0: a retrier needs the field "ErrorEquals"`, `/States/S/Retry/1/ErrorEquals: "ErrorEquals" must hold at least one item`,
			`/States/S/Retry/2/ErrorEquals/1: expected an error name, found a number (2)`, `/States/S/Retry/3: expected a retrier, which is an object, found a number (1)`,
		}},
		{"retry bounds", task(`"Retry": [{"ErrorEquals": ["A"], "IntervalSeconds": -1, "MaxAttempts": -1, "BackoffRate": 0.5, "MaxDelaySeconds": 31622401, "JitterStrategy": "Full"}]`), []string{
			`"IntervalSeconds" must be an integer from 0 to 99999999, found a number (-1)`, `"MaxAttempts" must be an integer from 0 to 99999999, found a number (-1)`,
			`"BackoffRate" must be a number of at least 1.0, found a number (0.5)`, `"MaxDelaySeconds" must be an integer from 1 to 31622400, found a number (31622401)`,
			`expected the jitter strategy "FULL" or "NONE", found a string ("Full") (did you mean "FULL"?)`,
		}},
		{"States.ALL", task(`"Retry": [{"ErrorEquals": ["States.ALL", "A"]}, {"ErrorEquals": ["B"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}, {"ErrorEquals": ["B"], "Next": "Z"}]`), []string{
			`/States/S/Retry/0/ErrorEquals/0: "States.ALL" must be the only name in "ErrorEquals"`,
			`/States/S/Catch/0/ErrorEquals/0: "States.ALL" must be in the last item`,
		}},
		{"Catch", task(`"Catch": [{"ErrorEquals": ["A"], "Next": "Q", "OutputPath": "$"}, {"ErrorEquals": ["B"]}]`), []string{
			`/States/S/Catch/0/Next: there is no state "Q"`, `/States/S/Catch/0/OutputPath: field "OutputPath" is not allowed in a catcher`, `/States/S/Catch/1: a catcher needs the field "Next"`,
		}},

		{"Wait without time", machine(`{"Type": "Wait", "Next": "Z"}`), []string{"/States/S: a Wait state needs exactly one of Seconds, Timestamp, SecondsPath, TimestampPath, found none"}},
		{"Wait with two times", machine(`{"Type": "Wait", "Seconds": 1, "TimestampPath": "$.t", "Next": "Z"}`), []string{"found Seconds, TimestampPath"}},
		{"Wait too long", machine(`{"Type": "Wait", "Seconds": 100000000, "Next": "Z"}`), []string{`/States/S/Seconds: "Seconds" must be an integer from 0 to 99999999`}},
		{"Wait misspelt", machine(`{"Type": "Wait", "Second": 1, "Next": "Z"}`), []string{"found none", `unknown field "Second" in a Wait state (did you mean "Seconds"?)`}},
		{"Timestamp", machine(`{"Type": "Wait", "Timestamp": "2016-13-05T21:29:29Z", "Next": "Z"}`), []string{"/States/S/Timestamp: expected an RFC 3339 timestamp"}},

		{"no Choices", machine(`{"Type": "Choice", "Default": "Z"}`), []string{`/States/S: a Choice state needs the field "Choices"`}},
		{"empty Choices", choice(``), []string{`/States/S/Choices: "Choices" must hold at least one item`}},
		{"rule without Next", choice(`{"Variable": "$.a", "IsNull": true}`), []string{`/States/S/Choices/0: a choice rule needs the field "Next"`}},
		{"rule without Variable", choice(`{"IsNull": true, "Next": "Z"}`), []string{`/States/S/Choices/0: a choice rule needs the field "Variable"`}},
		{"rule without operator", choice(`{"Variable": "$.a", "Next": "Z"}`), []string{"/States/S/Choices/0: expected one of And, Or, Not or a comparison operator such as StringEquals, found none"}},
		{"misspelt operator", choice(`{"Variable": "$.a", "StringEqual": "x", "Next": "Z"}`), []string{`/States/S/Choices/0/StringEqual: unknown field "StringEqual" in a choice rule (did you mean "StringEquals"?)`}},
		{"two operators", choice(`{"Variable": "$.a", "IsNull": true, "Not": {}, "Next": "Z"}`), []string{"expected exactly one of And, Or, Not and the comparison operators, found Not, IsNull"}},
		{"operand of the wrong type", choice(`{"Or": [{"Variable": "$.a", "NumericEquals": "1"}, {"Variable": "$.a", "IsNull": 1}], "Next": "Z"}`), []string{
			`/States/S/Choices/0/Or/0/NumericEquals: NumericEquals takes a number, found a string ("1")`, `/States/S/Choices/0/Or/1/IsNull: IsNull takes a boolean, found a number (1)`,
		}},
		{"timestamp operand", choice(`{"Variable": "$.a", "TimestampEquals": "yesterday", "Next": "Z"}`), []string{"/States/S/Choices/0/TimestampEquals: expected an RFC 3339 timestamp"}},
		{"operator without path form", choice(`{"Variable": "$.a", "StringMatchesPath": "$.b", "Next": "Z"}`), []string{`unknown field "StringMatchesPath" in a choice rule (did you mean "StringMatches"?)`}},
		{"Next inside", choice(`{"And": [{"Variable": "$.a", "IsNull": true, "Next": "Z"}], "Next": "Z"}`), []string{`/States/S/Choices/0/And/0/Next: field "Next" is not allowed in a condition`}},
		{"empty And", choice(`{"And": [], "Next": "Z"}`), []string{`/States/S/Choices/0/And: "And" must hold at least one item`}},
		{"Variable with And", choice(`{"And": [{"Variable": "$.a", "IsNull": true}], "Variable": "$.b", "Next": "Z"}`), []string{`/States/S/Choices/0/Variable: "Variable" needs a comparison operator, not "And"`}},
		{"JSONata rule", choice(`{"Condition": "{% true %}", "Next": "Z"}`), []string{
			`/States/S/Choices/0/Condition: field "Condition" belongs to JSONata, and a choice rule here is in JSONPath`,
		}},
		{"Choice with Next", machine(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "Z"}], "Next": "Z"}`), []string{`/States/S/Next: field "Next" is not allowed in a Choice state`}},

		{"Fail", `{"StartAt": "S", "States": {"S": {"Type": "Fail", "Error": "A", "ErrorPath": "$.e", "Cause": "C", "CausePath": "$.c"}}}`, []string{
			`/States/S/ErrorPath: "Error" and "ErrorPath" exclude each other; keep one`, `/States/S/CausePath: "Cause" and "CausePath" exclude each other; keep one`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := asl.Parse([]byte(tt.text))
			var problems diag.Problems
			require.ErrorAs(t, err, &problems)
			var got []string
			for _, p := range problems {
				require.Positive(t, p.Line)
				_, text, _ := strings.Cut(p.String(), ": ")
				got = append(got, text)
			}
			for _, want := range tt.want {
				if rest, ok := strings.CutPrefix(want, ": "); ok {
					want = rest
				}
				i := slices.IndexFunc(got, func(s string) bool { return strings.Contains(s, want) })
				require.GreaterOrEqual(t, i, 0, "%q is not in %q", want, got)
				got = slices.Delete(got, i, i+1)
			}
			require.Empty(t, got, "further problems")
		})
	}
}

// A problem inside of a path points at the character.
func TestParsePosition(t *testing.T) {
	t.Parallel()
	_, err := asl.Parse([]byte("{\"StartAt\": \"S\", \"States\": {\n  \"S\": {\"Type\": \"Succeed\", \"InputPath\": \"$.a[b]\"}\n}}"))
	var problems diag.Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, 1)
	require.Equal(t, []int{2, 46}, []int{problems[0].Line, problems[0].Column})
	require.Equal(t, `  | ...: {"Type": "Succeed", "InputPath": "$.a[b]"}`+"\n"+
		`  |                                            ^`, problems[0].Snippet())

	_, err = asl.Parse([]byte(`{"StartAt": "S", "States": {"S": {"Type": "Succeed", "InputPath": "$['\u0061'][b]"}}}`))
	require.ErrorAs(t, err, &problems)
	require.Equal(t, 80, problems[0].Column, "an escape counts as it is written")
}

// FuzzParse: nothing panics; what is accepted has states for all its edges
// and one detail each.
func FuzzParse(f *testing.F) {
	f.Add([]byte(pollMachine))
	f.Add([]byte(task(`"Retry": [{"ErrorEquals": ["States.ALL"], "BackoffRate": 1e400}]`)))
	f.Add([]byte(choice(`{"Not": {"Variable": "$", "StringMatches": "*"}, "Next": "Z"}`)))
	f.Add([]byte(machine(`{"Type": "Map"}`)))
	f.Add([]byte(pathLoop))
	f.Add([]byte(expressionLoop))
	f.Add([]byte(`{"StartAt": "${A}", "States": {"A": {"Type": "Wait", "Seconds": "${B}", "Next": "${C}"}}}`))
	f.Add([]byte(`{"StartAt": "A", "Comment": "\"${C}", "States": {"A": {"Type": "Wait", "Seconds": ${B}, "End": true}}}`))
	f.Add([]byte(`{"StartAt": "\u00e4", "States": {"ä": {"Type": "Fail", "CausePath": "$['\u0061'"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := asl.Parse(text)
		if err != nil {
			var problems diag.Problems
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems)
			return
		}
		require.True(t, m.State(m.StartAt) != nil || len(m.Placeholders) > 0)
		printed := asl.Print(m)
		again, err := asl.Parse(printed)
		require.NoError(t, err)
		require.Equal(t, string(printed), string(asl.Print(again)))
		for s := range m.All {
			details := 0
			for _, set := range []bool{s.Task != nil, s.Wait != nil, s.Choice != nil, s.Pass != nil, s.Fail != nil, s.Parallel != nil, s.Map != nil, s.Type == asl.TypeSucceed} {
				if set {
					details++
				}
			}
			require.Equal(t, 1, details)
		}
	})
}
