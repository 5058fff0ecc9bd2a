package typecheck_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const (
	succeed = `{"Type": "Succeed"}`
	jsonata = `"QueryLanguage": "JSONata", "Type": "Pass"`
)

// kindOf replaces what is drawn by what kind of value it is, but for literals.
func kindOf(value any, literals ...string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = kindOf(member, literals...)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = kindOf(item, literals...)
		}
		return out
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case string:
		if slices.Contains(literals, v) {
			return v
		}
		if regexp.MustCompile(`^2026-01-01T\d\d:\d\d:\d\dZ$`).MatchString(v) {
			return "time"
		}
		return "text"
	default:
		return v
	}
}

// What is drawn for the input has the members that states read, of the types that they
// need.
func TestDrawWhatStatesRead(t *testing.T) {
	t.Parallel()
	choice := func(condition string) string {
		return `"A": {"Type": "Choice", "Choices": [{` + condition + `, "Next": "B"}], "Default": "B"}, "B": ` + succeed
	}
	pass := func(fields string) string { return `"A": {"Type": "Pass", ` + fields + `, "End": true}` }
	query := func(fields string) string { return `"A": {` + jsonata + `, "Output": ` + fields + `, "End": true}` }
	tests := []struct{ name, states, want string }{
		{"nothing", `"A": ` + succeed, `{}`},
		{"a path", pass(`"Parameters": {"x.$": "$.a.b"}`), `{"a": {"b": "text"}}`},
		{"InputPath before it", pass(`"InputPath": "$.in", "Parameters": {"x.$": "$.a"}`), `{"in": {"a": "text"}}`},
		{"an index", pass(`"Parameters": {"x.$": "$.jobs[0].id"}`), `{"jobs": [{"id": "text"}, {"id": "text"}]}`},
		{"a wildcard", pass(`"Parameters": {"x.$": "$.jobs[*].id"}`), `{"jobs": [{"id": "text"}, {"id": "text"}]}`},
		{"seconds", `"A": {"Type": "Wait", "SecondsPath": "$.pause", "Next": "B"}, "B": ` + succeed, `{"pause": "number"}`},
		{"a timestamp", `"A": {"Type": "Wait", "TimestampPath": "$.at", "Next": "B"}, "B": ` + succeed, `{"at": "time"}`},
		{"a number that is compared", choice(`"Variable": "$.n", "NumericLessThan": 3`), `{"n": "number"}`},
		{"two paths that are compared", choice(`"Variable": "$.n", "NumericLessThanPath": "$.m"`), `{"m": "number", "n": "number"}`},
		{"a boolean", choice(`"Variable": "$.go", "BooleanEquals": true`), `{"go": "boolean"}`},
		{"a time that is compared", choice(`"Variable": "$.at", "TimestampLessThan": "2030-01-01T00:00:00Z"`), `{"at": "time"}`},
		{"what only IsPresent asks for", choice(`"Variable": "$.note", "IsPresent": true`), `{"note": "text"}`},
		{"a sum", pass(`"Parameters": {"x.$": "States.MathAdd($.n, 1)"}`), `{"n": "number"}`},
		{"JSON in a text", pass(`"Parameters": {"x.$": "States.StringToJson($.text)"}`), `{"text": "text"}`},
		{"items", `"A": {"Type": "Map", "ItemsPath": "$.orders", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Wait", "SecondsPath": "$.pause", "End": true}}}, "End": true}`, `{"orders": [{"pause": "number"}, {"pause": "number"}]}`},
		{"in a branch", `"A": {"Type": "Parallel", "Branches": [{"StartAt": "I", "States": {"I": {"Type": "Wait", "SecondsPath": "$.pause", "End": true}}}], "End": true}`, `{"pause": "number"}`},
		{"behind other states", `"A": {"Type": "Pass", "Result": 1, "ResultPath": "$.x", "Next": "B"}, "B": {"Type": "Wait", "SecondsPath": "$.pause", "Next": "C"}, "C": ` + succeed, `{"pause": "number"}`},
		{"what a state puts there is not demanded", `"A": {"Type": "Pass", "Result": 1, "ResultPath": "$.x", "Next": "B"}, "B": {"Type": "Wait", "SecondsPath": "$.x", "Next": "C"}, "C": ` + succeed, `{}`},
		{"an object that a state puts something in", `"A": {"Type": "Pass", "Result": 1, "ResultPath": "$.x.y", "Next": "B"}, "B": {"Type": "Pass", "Parameters": {"z.$": "$.x.y"}, "End": true}`, `{"x": {}}`},
		{"under another name", `"A": {"Type": "Pass", "Parameters": {"y.$": "$.pause"}, "Next": "B"}, "B": {"Type": "Wait", "SecondsPath": "$.y", "Next": "C"}, "C": ` + succeed, `{"pause": "number"}`},
		{"through a variable", `"A": {"Type": "Pass", "Assign": {"p.$": "$.pause"}, "Next": "B"}, "B": {"Type": "Wait", "SecondsPath": "$p", "Next": "C"}, "C": ` + succeed, `{"pause": "number"}`},
		{"of the execution's input", pass(`"Parameters": {"x.$": "$$.Execution.Input.key"}`), `{"key": "text"}`},
		{"where ways join", `"A": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "B"}], "Default": "C"}, "B": {"Type": "Pass", "Parameters": {"p.$": "$.one"}, "Next": "D"}, "C": {"Type": "Pass", "Parameters": {"p.$": "$.two"}, "Next": "D"}, "D": {"Type": "Wait", "SecondsPath": "$.p", "Next": "E"}, "E": ` + succeed, `{"n": "number", "one": "number", "two": "number"}`},
		{"around a loop", `"A": {"Type": "Wait", "SecondsPath": "$.pause", "Next": "B"}, "B": {"Type": "Pass", "Result": 1, "ResultPath": "$.turn", "Next": "C"}, "C": {"Type": "Choice", "Choices": [{"Variable": "$.most", "NumericGreaterThan": 1, "Next": "A"}], "Default": "D"}, "D": ` + succeed, `{"most": "number", "pause": "number"}`},
		{"an argument of a service", `"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString.$": "$.sql", "ResultReuseConfiguration": {"ResultReuseByAgeConfiguration": {"Enabled.$": "$.again", "MaxAgeInMinutes.$": "$.age"}}}, "End": true}`, `{"again": "boolean", "age": "number", "sql": "text"}`},
		{"in JSONata", query(`"{% $states.input.a.b %}"`), `{"a": {"b": "text"}}`},
		{"a sum in JSONata", query(`"{% $states.input.n + 1 %}"`), `{"n": "number"}`},
		{"an item in JSONata", query(`"{% $states.input.jobs[0].id %}"`), `{"jobs": [{"id": "text"}, {"id": "text"}]}`},
		{"a filter", query(`"{% $states.input.jobs[status = 'DONE'].id %}"`), `{"jobs": [{"id": "text", "status": "text"}, {"id": "text", "status": "text"}]}`},
		{"a count", query(`"{% $count($states.input.jobs) %}"`), `{"jobs": ["text", "text"]}`},
		{"a time in JSONata", query(`"{% $toMillis($states.input.at) %}"`), `{"at": "time"}`},
		{"through $merge", `"A": {` + jsonata + `, "Output": "{% $merge([$states.input, {'x': 1}]) %}", "Next": "B"}, "B": {"QueryLanguage": "JSONata", "Type": "Wait", "Seconds": "{% $states.input.pause + $states.input.x %}", "Next": "C"}, "C": ` + succeed, `{"pause": "number"}`},
		{"in a condition", `"A": {"QueryLanguage": "JSONata", "Type": "Choice", "Choices": [{"Condition": "{% $states.input.n > 3 and $states.input.mode = 'full' %}", "Next": "B"}], "Default": "B"}, "B": ` + succeed, `{"mode": "text", "n": "number"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {` + test.states + `}}`))
			require.NoError(t, err)
			d, err := typecheck.FindDemands(m.State("A"), m, models.Load)
			require.NoError(t, err)
			drawn := typecheck.Draw(typecheck.Unknown(), d.Input, typecheck.DrawOptions{Name: "input"})
			text, err := json.Marshal(kindOf(drawn))
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(text))
		})
	}
}

// parse reads a definition of states.
func parse(t *testing.T, states string) *asl.StateMachine {
	t.Helper()
	m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {` + states + `}}`))
	require.NoError(t, err)
	return m
}

// One seed draws one value, another seed another, and a member has the same value in a
// definition that reads more. No part of a value is another's.
func TestDrawIsStable(t *testing.T) {
	t.Parallel()
	draw := func(paths string, seed uint64) map[string]any {
		m := parse(t, `"A": {"Type": "Pass", "Parameters": {`+paths+`}, "End": true}`)
		d, err := typecheck.FindDemands(m.State("A"), m, models.Load)
		require.NoError(t, err)
		return typecheck.Draw(typecheck.Unknown(), d.Input, typecheck.DrawOptions{Name: "input", Seed: seed, LongestWait: 60}).(map[string]any)
	}
	const few, more = `"x.$": "$.id", "y.$": "States.MathAdd($.n, 1)"`, `"w.$": "$.why", "x.$": "$.id", "y.$": "States.MathAdd($.n, $.m)", "z.$": "$.job.id"`
	one, again, other := draw(few, 1), draw(few, 1), draw(few, 2)
	require.Equal(t, one, again)
	require.NotEqual(t, one["id"], other["id"])
	require.NotEqual(t, one["n"], other["n"])
	whole := draw(more, 1)
	require.Equal(t, one["id"], whole["id"])
	require.Equal(t, one["n"], whole["n"])
	require.NotEqual(t, whole["id"], whole["job"].(map[string]any)["id"])
	require.NotEqual(t, whole["n"], whole["m"])
}

// A text that must not be empty is drawn, whatever a definition compares beside.
func TestDrawNoEmptyText(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{"$states.input.link != ''", "$states.input.n = 1 and $not($states.input.link = '')"} {
		m := parse(t, `"A": {"QueryLanguage": "JSONata", "Type": "Choice", "Choices": [{"Condition": "{% `+condition+` %}", "Next": "B"}], "Default": "B"}, "B": `+succeed)
		d, err := typecheck.FindDemands(m.State("A"), m, models.Load)
		require.NoError(t, err)
		drawn := typecheck.Draw(typecheck.Unknown(), d.Input, typecheck.DrawOptions{Name: "input"}).(map[string]any)
		require.NotEmpty(t, drawn["link"], condition)
	}
}

// What a definition asks for before it reads it may be left out, and the literals that it
// compares are drawn in turn, and then another.
func TestDrawOtherValues(t *testing.T) {
	t.Parallel()
	m := parse(t, `"A": {"Type": "Choice", "Choices": [
			{"And": [{"Variable": "$.note", "IsPresent": true}, {"Variable": "$.note.text", "StringMatches": "a*z"}], "Next": "B"},
			{"Variable": "$.mode", "StringEquals": "full", "Next": "B"}, {"Variable": "$.mode", "StringEquals": "quick", "Next": "B"},
			{"Variable": "$.count", "NumericGreaterThan": 7, "Next": "B"}], "Default": "B"}, "B": `+succeed)
	d, err := typecheck.FindDemands(m.State("A"), m, models.Load)
	require.NoError(t, err)
	draw := func(o typecheck.DrawOptions) map[string]any {
		o.Name = "input"
		return typecheck.Draw(typecheck.Unknown(), d.Input, o).(map[string]any)
	}
	require.Contains(t, draw(typecheck.DrawOptions{}), "note")
	require.NotContains(t, draw(typecheck.DrawOptions{Absent: true}), "note")
	require.Contains(t, draw(typecheck.DrawOptions{Absent: true}), "mode")
	var modes, counts []string
	for n := 1; n <= 4; n++ {
		drawn := draw(typecheck.DrawOptions{Compared: n})
		modes, counts = append(modes, kindOf(drawn["mode"], "full", "quick").(string)), append(counts, drawn["count"].(json.Number).String())
	}
	require.Equal(t, []string{"full", "quick", "text", "full"}, modes)
	require.Equal(t, []string{"7", "8", "6"}, counts[:3])
	require.Equal(t, "aanyz", draw(typecheck.DrawOptions{Compared: 1})["note"].(map[string]any)["text"])
}

// What is known of a value bounds what is drawn: its members, its literals, and the values
// of a model.
func TestDrawWhatIsKnown(t *testing.T) {
	t.Parallel()
	m := parse(t, `"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "n", "RunId": "r"}, "ResultPath": "$.run", "Next": "B"},
		"B": {"Type": "Pass", "Result": "fixed", "ResultPath": "$.kept", "Next": "C"},
		"C": {"Type": "Pass", "Parameters": {"s.$": "$.run.JobRun.JobRunState", "k.$": "$.kept", "i.$": "$.id"}, "End": true}`)
	c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	d, err := typecheck.FindDemands(m.State("C"), m, models.Load)
	require.NoError(t, err)
	drawn := typecheck.Draw(c.Input(m.State("C")).Input, d.Input, typecheck.DrawOptions{Name: "input"}).(map[string]any)
	require.Equal(t, "fixed", drawn["kept"])
	require.Contains(t, drawn, "id")
	require.Regexp(t, `^[A-Z]+$`, drawn["run"].(map[string]any)["JobRun"].(map[string]any)["JobRunState"])
	require.Empty(t, d.Variables())
}

// What is demanded in the middle of an execution is demanded of the variables, too.
func TestDemandedVariables(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]string{
		"JSONPath": `"Parameters": {"JobName": "n", "RunId.$": "$id"}`,
		"JSONata":  `"QueryLanguage": "JSONata", "Arguments": {"JobName": "n", "RunId": "{% $id %}"}`,
	} {
		m := parse(t, `"A": {"Type": "Pass", "Assign": {"id": "x"}, "Next": "B"},
			"B": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", `+read+`, "End": true}`)
		d, err := typecheck.FindDemands(m.State("B"), m, models.Load)
		require.NoError(t, err)
		require.Equal(t, []string{"id"}, d.Variables(), name)
		require.IsType(t, "", typecheck.Draw(typecheck.Unknown(), d.Variable("id"), typecheck.DrawOptions{Name: "id"}), name)
	}
}

// Demands end and draws fit in one piece of JSON, whatever the machine.
func TestDrawForRandomMachines(t *testing.T) {
	t.Parallel()
	drawn := 0
	for seed := range uint64(150) {
		g := &gen{Rand: rand.New(rand.NewPCG(seed, 11))}
		g.jsonata = seed%2 == 1
		definition := g.flow(1)
		if g.jsonata {
			definition["QueryLanguage"] = "JSONata"
		}
		text, err := json.Marshal(definition)
		require.NoError(t, err)
		m, err := asl.Parse(text)
		if err != nil {
			continue
		}
		for s := range m.All {
			d, err := typecheck.FindDemands(s, m, models.Load)
			require.NoError(t, err)
			for _, absent := range []bool{false, true} {
				value := typecheck.Draw(typecheck.Unknown(), d.Input, typecheck.DrawOptions{Name: "input", Seed: seed, Absent: absent, Compared: 1})
				_, err = json.Marshal(value)
				require.NoError(t, err)
				drawn++
			}
		}
	}
	require.Greater(t, drawn, 300)
}

// A Wait of a time that is drawn is as long as asked for.
func TestDrawWait(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {"A": {"Type": "Wait", "SecondsPath": "$.pause", "Next": "B"}, "B": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	d, err := typecheck.FindDemands(m.State("A"), m, models.Load)
	require.NoError(t, err)
	for seed := range uint64(50) {
		drawn, _ := typecheck.Draw(typecheck.Unknown(), d.Input, typecheck.DrawOptions{Name: "input", Seed: seed, LongestWait: 60}).(map[string]any)
		pause, _ := drawn["pause"].(json.Number)
		seconds, err := pause.Int64()
		require.NoError(t, err)
		require.GreaterOrEqual(t, seconds, int64(1))
		require.LessOrEqual(t, seconds, int64(60))
	}
}
