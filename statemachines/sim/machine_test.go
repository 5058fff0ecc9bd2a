package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// generator makes small machines out of bytes.
type generator struct {
	bytes   []byte
	names   int
	jsonata bool
}

// pick takes a number below n.
func (g *generator) pick(n int) int {
	if len(g.bytes) == 0 {
		return 0
	}
	b := int(g.bytes[0])
	g.bytes = g.bytes[1:]
	return b % n
}

func (g *generator) machine() string {
	language := ""
	if g.jsonata = g.pick(2) == 1; g.jsonata {
		language = `"QueryLanguage": "JSONata", `
	}
	return fmt.Sprintf(`{%s"TimeoutSeconds": 3600, %s}`, language, g.flow(0))
}

// flow makes StartAt and States: states in a row, with ways back.
func (g *generator) flow(depth int) string {
	n := 1 + g.pick(4)
	names := make([]string, n)
	for i := range names {
		g.names++
		names[i] = fmt.Sprintf("S%d", g.names)
	}
	states := make([]string, n)
	for i, name := range names {
		next := `"End": true`
		if i+1 < n {
			next = fmt.Sprintf(`"Next": %q`, names[i+1])
		}
		states[i] = fmt.Sprintf(`%q: {%s}`, name, g.state(depth, next, names[min(i+1, n-1)], names[g.pick(n)]))
	}
	return fmt.Sprintf(`"StartAt": %q, "States": {%s}`, names[0], strings.Join(states, ", "))
}

func (g *generator) state(depth int, next, onward, back string) string {
	kind := g.pick(8)
	if depth > 1 && kind >= 6 {
		kind -= 4
	}
	recovery := []string{
		``, `, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "JitterStrategy": "FULL"}]`,
		fmt.Sprintf(`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": %q}]`, back),
		`, "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 7}, {"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]`,
	}
	template := func(field string) string {
		if g.jsonata {
			return fmt.Sprintf(`, %q: %q`, field, []string{"{% $states.input %}", "{% $states.context.Execution.Name %}", "{% $no.such %}", "{% [1, $random()] %}"}[g.pick(4)])
		}
		path := map[string]string{"Output": "OutputPath", "Arguments": "InputPath"}[field]
		return fmt.Sprintf(`, %q: %q`, path, []string{"$", "$$.Execution", "$.no.such", "$[*]"}[g.pick(4)])
	}
	switch kind {
	case 0:
		return `"Type": "Pass", ` + next + template("Output")
	case 1:
		return fmt.Sprintf(`"Type": "Wait", "Seconds": %d, %s`, g.pick(100), next)
	case 2, 3:
		timeout := []string{``, `, "TimeoutSeconds": 5`, `, "TimeoutSeconds": 50, "HeartbeatSeconds": 2`}[g.pick(3)]
		return fmt.Sprintf(`"Type": "Task", "Resource": %q, %s%s%s%s`, []string{describe, function, sendMessage, activity}[g.pick(4)],
			next, timeout, recovery[g.pick(4)], template("Arguments"))
	case 4:
		if g.jsonata {
			return fmt.Sprintf(`"Type": "Choice", "Choices": [{"Condition": "{%% $random() < 0.4 %%}", "Next": %q}], "Default": %q`, back, onward)
		}
		return fmt.Sprintf(`"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericLessThan": 5, "Next": %q}, {"Variable": "$", "IsString": true, "Next": %q}], "Default": %q`,
			back, back, onward)
	case 5:
		return []string{`"Type": "Fail", "Error": "E", "Cause": "c"`, `"Type": "Succeed"`, `"Type": "Fail"`}[g.pick(3)]
	case 6:
		branches := make([]string, 1+g.pick(3))
		for i := range branches {
			branches[i] = "{" + g.flow(depth+1) + "}"
		}
		return fmt.Sprintf(`"Type": "Parallel", "Branches": [%s], %s%s`, strings.Join(branches, ", "), next, recovery[g.pick(4)])
	default:
		items := `"ItemsPath": "$.items"`
		if g.jsonata {
			items = `"Items": [1, 2, 3]`
		}
		// Children have histories of their own: one level of them is enough to
		// run for long.
		mode := []string{``, `"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, `}[g.pick(2)*max(0, 1-depth)]
		return fmt.Sprintf(`"Type": "Map", %s, "MaxConcurrency": %d, "ItemProcessor": {%s%s}, %s%s`, items, g.pick(3), mode, g.flow(depth+1), next, recovery[g.pick(4)])
	}
}

// handlers answer by what the bytes say: results, failures, no answer.
func (g *generator) handlers(seed []byte) map[string]sim.Handler {
	n := 0
	h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		b := byte(0)
		if len(seed) > 0 {
			b = seed[n%len(seed)]
		}
		n++
		latency := time.Duration(b%7) * time.Second
		switch b % 5 {
		case 0:
			return sim.Reply{}, &sim.TaskError{Name: "E", Cause: "c", Latency: latency, Submitted: 1}
		case 1:
			if call.TaskToken != "" {
				return sim.Reply{Never: true}, nil
			}
		case 2:
			return sim.Reply{Output: map[string]any{"n": int(b), "items": []int{1, 2}}, Latency: latency, HeartbeatEvery: time.Second}, nil
		}
		return sim.Reply{Output: "text", Latency: latency}, nil
	}
	return map[string]sim.Handler{describe: h, function: h, sendMessage: h, activity: h}
}

// FuzzMachine runs random small machines: each run ends, its history is well
// formed, and the same seed gives the same history; so does a redrive.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{1, 3, 6, 2, 7, 1, 0, 2, 2, 1, 9, 4, 1, 1, 5, 0, 2, 3, 1, 0}, []byte{2, 0, 7, 3})
	f.Add([]byte{0, 3, 7, 1, 1, 2, 6, 2, 4, 1, 0, 3, 2, 2, 2, 1, 1, 0, 5, 1}, []byte{1, 2, 5})
	f.Add([]byte{1, 2, 4, 1, 0, 1, 90, 7, 1, 2, 3, 2, 1, 1, 3}, []byte{0, 5, 10, 12})
	f.Fuzz(func(t *testing.T, shape, answers []byte) {
		definition := (&generator{bytes: shape}).machine()
		m, err := asl.Parse([]byte(definition))
		if err != nil {
			return // states that nothing leads to
		}
		history := func() string {
			g := &generator{}
			o := sim.Options{Handlers: g.handlers(answers), Clock: sim.NewVirtualClock(sim.DefaultStart()), MaxEvents: 200, Seed: uint64(len(shape))}
			r, err := sim.Run(t.Context(), m, []byte(`{"items": [1, 2, 3], "n": 1}`), o)
			require.NoError(t, err, definition)
			wellFormed(t, r)
			text, err := json.Marshal(r.Events)
			require.NoError(t, err)
			if r.Status != sim.StatusSucceeded {
				again, err := sim.Redrive(t.Context(), m, r, o)
				if err != nil {
					require.ErrorIs(t, err, sim.ErrRedriveFull)
					return string(text)
				}
				wellFormed(t, again)
			}
			return string(text)
		}
		first := history()
		require.Equal(t, first, history(), definition)
	})
}

// wellFormed checks what holds of every history.
func wellFormed(t *testing.T, r *sim.Result) {
	t.Helper()
	require.NotEmpty(t, r.Status)
	entered, exited := map[string]int{}, map[string]int{}
	at := r.Start
	for i, e := range r.Events {
		require.EqualValues(t, i+1, e.ID)
		require.Less(t, e.PreviousEventID, e.ID)
		require.False(t, e.Timestamp.Before(at), "time does not go back")
		at = e.Timestamp
		switch name := string(e.Type); {
		case strings.HasSuffix(name, "StateEntered"):
			entered[e.Details().Name]++
		case strings.HasSuffix(name, "StateExited"):
			exited[e.Details().Name]++
			require.LessOrEqual(t, exited[e.Details().Name], entered[e.Details().Name], e.Details().Name)
		}
	}
	last := r.Events[len(r.Events)-1].Type
	require.Equal(t, map[sim.Status]sim.EventType{
		sim.StatusSucceeded: sim.ExecutionSucceeded, sim.StatusFailed: sim.ExecutionFailed, sim.StatusTimedOut: sim.ExecutionTimedOut,
		sim.StatusAborted: sim.ExecutionAborted,
	}[r.Status], last)
	require.Equal(t, r.Status == sim.StatusSucceeded, json.Valid(r.Output))
	for _, run := range r.MapRuns {
		for _, child := range run.Executions {
			if child != nil && child.Status != "" {
				wellFormed(t, child)
			}
		}
	}
}
