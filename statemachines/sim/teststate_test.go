package sim_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

func testState(t *testing.T, definition, input string, o sim.TestOptions) (*sim.TestResult, error) {
	t.Helper()
	return sim.TestState(t.Context(), []byte(definition), []byte(input), o)
}

func TestTestState(t *testing.T) {
	t.Parallel()
	lone := `{"Type": "Task", "Resource": "` + describe + `", "TimeoutSeconds": 5, "Next": "Elsewhere",
		"Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}]}`
	slow := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: 1, Latency: time.Minute}, nil
	}
	two := 2
	tests := []struct {
		name, definition, input string
		options                 sim.TestOptions
		status                  sim.TestStatus
		next, output            string
	}{
		{"a handler instead of a mock", lone, `{}`, sim.TestOptions{Options: sim.Options{Handlers: map[string]sim.Handler{describe: returns(`7`)}}}, sim.TestSucceeded, "Elsewhere", `7`},
		{"a handler that is too slow", lone, `{}`, sim.TestOptions{Options: sim.Options{Handlers: map[string]sim.Handler{describe: slow}}}, sim.TestCaught, "Late", `{"Cause":null,"Error":"States.Timeout"}`},
		{"a state of a machine", pollLoop, `{"check": {"status": "RUNNING"}}`, sim.TestOptions{State: "Done?"}, sim.TestSucceeded, "Wait", `{"check":{"status":"RUNNING"}}`},
		{"a wait takes no time", `{"Type": "Wait", "Seconds": 100000, "End": true}`, `1`, sim.TestOptions{}, sim.TestSucceeded, "", `1`},
		{"variables", `{"Type": "Pass", "Parameters": {"v.$": "$v"}, "End": true}`, `{}`, sim.TestOptions{Variables: map[string]any{"v": "x"}}, sim.TestSucceeded, "", `{"v":"x"}`},
		{"a Map in a Map's machine", mapOver(``), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []string{"a", "b"}}}, sim.TestSucceeded, "", `["a","b"]`},
		{"a Map with failures", distributed("STANDARD", ``), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []int{1}}, MapIterationFailureCount: &two}, sim.TestFailed, "", ``},
		{"a Fail", `{"Type": "Fail", "Error": "E"}`, `{}`, sim.TestOptions{}, sim.TestFailed, "", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := testState(t, tt.definition, tt.input, tt.options)
			require.NoError(t, err)
			require.Equal(t, []any{tt.status, tt.next, tt.output}, []any{r.Status, r.Next, string(r.Output)}, r.Cause)
			require.JSONEq(t, tt.input, string(r.Inspection["input"]))
		})
	}
}

// color is an enum as the SDK writes them.
type color string

func (color) Values() []color { return []color{"red", "blue"} }

func TestMockTypes(t *testing.T) {
	t.Parallel()
	type output struct {
		Color *color
		At    *time.Time
		Count *int32
		Done  bool
		Items []struct{ Name *string }
		Tags  map[string]string
		Data  []byte
		Any   any
	}
	for mock, want := range map[string]string{
		`{"Color": "red", "At": "2026-01-01T00:00:00Z", "Count": 1.5, "Done": true, "Items": [{"Name": "x", "Other": 1}], "Tags": {"a": "b"}, "Data": "eA==", "Any": [1], "New": {}}`: "",
		`{"Color": null, "Items": null}`: "",
		`{"Color": "green"}`:             "Field 'Color' is not an expected value",
		`{"At": 5}`:                      "Field 'At' must be a string",
		`{"Count": "5"}`:                 "Field 'Count' must be a number",
		`{"Done": "true"}`:               "Field 'Done' must be a boolean",
		`{"Items": {}}`:                  "Field 'Items' must be an array",
		`{"Items": [{"Name": 1}]}`:       "Field 'Name' must be a string",
		`{"Items": [1]}`:                 "Field 'Items' must be an object",
		`{"Tags": {"a": 1}}`:             "Field 'a' must be a string",
		`{"Data": [1]}`:                  "Field 'Data' must be a string",
	} {
		_, err := testState(t, `{"Type": "Task", "Resource": "`+describe+`", "End": true}`, `{}`,
			sim.TestOptions{Mock: &sim.Mock{Result: jsonRaw(mock), Type: reflect.TypeFor[output]()}})
		if want == "" {
			require.NoError(t, err, mock)
			continue
		}
		require.EqualError(t, err, "Mock result schema validation error: "+want, mock)
	}
}

func TestTestStateRefuses(t *testing.T) {
	t.Parallel()
	task := `{"Type": "Task", "Resource": "` + describe + `", "End": true}`
	result := &sim.Mock{Result: 1}
	for name, tt := range map[string]struct {
		definition string
		options    sim.TestOptions
		want       string
	}{
		"unknown state":        {pollLoop, sim.TestOptions{State: "Nobody"}, "State not found in definition"},
		"Pass with a mock":     {`{"Type": "Pass", "End": true}`, sim.TestOptions{Mock: result}, "State type 'Pass' is not supported when a mock is specified"},
		"Map without a mock":   {mapOver(``), sim.TestOptions{State: "M"}, "State type 'Map' is not supported when a mock is not specified"},
		"Map with no array":    {mapOver(``), sim.TestOptions{State: "M", Mock: result}, "Mocked result must be an array."},
		"mock that is no JSON": {task, sim.TestOptions{Mock: &sim.Mock{Result: jsonRaw(`{`)}}, "Mocked result must be valid JSON"},
		"context":              {task, sim.TestOptions{Mock: result, Context: map[string]any{"State": map[string]any{"Nme": 1}}}, "Invalid Context object provided: Field 'Nme' is not allowed"},
		"context of a Map":     {task, sim.TestOptions{Mock: result, Context: map[string]any{"Map": nil}}, "Invalid Context object provided: 'Map' field is not supported when mocking a Context object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := testState(t, tt.definition, `{}`, tt.options)
			var refused *sim.TestStateError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.want, refused.Message)
		})
	}
	_, err := testState(t, `{"Type": "Task"}`, `{}`, sim.TestOptions{})
	var problems asl.Problems
	require.ErrorAs(t, err, &problems)
	require.Equal(t, "/States/StateName", problems[0].Pointer)
	_, err = testState(t, task, `{}`, sim.TestOptions{})
	_, missing := errors.AsType[*sim.ResourceError](err)
	require.True(t, missing, "%v", err)
}
