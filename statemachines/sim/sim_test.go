package sim_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	describe = "arn:aws:states:::aws-sdk:dynamodb:describeExport"
	function = "arn:aws:lambda:us-east-1:123456789012:function:check"
)

func parse(t testing.TB, definition string) *asl.StateMachine {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	return m
}

// run executes a definition on a virtual clock; h is the handler of all its
// resources.
func run(t testing.TB, definition, input string, h sim.Handler, o sim.Options) *sim.Result {
	t.Helper()
	o.Handlers = map[string]sim.Handler{describe: h, function: h}
	r, err := sim.Run(t.Context(), parse(t, definition), []byte(input), o)
	require.NoError(t, err)
	return r
}

// returns is a handler that always returns the JSON value.
func returns(text string) sim.Handler {
	return func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: json.RawMessage(text)}, nil
	}
}

func failsWith(name, cause string) sim.Handler {
	return func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{}, &sim.TaskError{Name: name, Cause: cause}
	}
}

// A panic of the simulator itself is an error that names the state, and one of
// the caller's own functions goes on to the caller.
func TestPanicsEndTheRun(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "P", "States": {"P": {"Type": "Pass", "Next": "S"}, "S": {"Type": "Choice", "Choices": [{"Variable": "$", "IsNull": true, "Next": "Z"}], "Default": "P"}, "Z": {"Type": "Succeed"}}}`)
	m.States[1].Choice = nil // as no definition has it
	_, err := sim.Run(t.Context(), m, nil, sim.Options{})
	var internal *sim.InternalError
	require.ErrorAs(t, err, &internal)
	require.Equal(t, "S", internal.State)
	require.ErrorContains(t, err, `state "S": the simulator has a defect: runtime error`)
	require.ErrorContains(t, err, ".runChoice(")

	panics := func(context.Context, sim.Call) (sim.Reply, error) { panic("mine") }
	require.PanicsWithValue(t, "mine", func() { run(t, task(``), `{}`, panics, sim.Options{}) })
	onEvent := func(sim.Event) { panic("mine") }
	require.PanicsWithValue(t, "mine", func() { run(t, task(``), `{}`, returns(`{}`), sim.Options{OnEvent: onEvent}) })
}

// steps are replies in turn; the last one repeats.
func steps(handlers ...sim.Handler) sim.Handler {
	n := 0
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		h := handlers[min(n, len(handlers)-1)]
		n++
		return h(ctx, call)
	}
}

// task is a machine with the Task S, whose further fields are given, and the
// states Z and Caught for it to lead to. It has arguments if the fields have none.
func task(fields string) string {
	switch {
	case strings.Contains(fields, `"Parameters"`), strings.Contains(fields, `"Arguments"`):
	case strings.Contains(fields, `"JSONata"`):
		fields += `, "Arguments": {"ExportArn": "e"}`
	default:
		fields += `, "Parameters": {"ExportArn": "e"}`
	}
	return `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + describe + `", "Next": "Z"` + fields + `}, ` +
		`"Z": {"Type": "Choice", "Choices": [{"Variable": "$$.State.Name", "StringEquals": "", "Next": "Caught"}], "Default": "End"}, ` +
		`"Caught": {"Type": "Pass", "End": true}, "End": {"Type": "Succeed"}}}`
}

func types(r *sim.Result) []string {
	out := make([]string, len(r.Events))
	for i, e := range r.Events {
		out[i] = string(e.Type)
	}
	return out
}

func at(seconds float64) time.Time {
	return sim.DefaultStart().Add(time.Duration(seconds * float64(time.Second)))
}

func jsonText(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

func jsonRaw(text string) json.RawMessage { return json.RawMessage(text) }
