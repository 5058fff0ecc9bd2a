package fix_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// asks is a Task that asks what no model describes, in both query languages. %s is what it says of the job's id.
type asks struct {
	resource, arguments, parameters string
	around                          string // what the status is in
}

var allAsks = []asks{
	{
		"arn:aws:states:::lambda:invoke", `{"FunctionName": "ask", "Payload": {"id": "{% $id %}"}}`,
		`{"FunctionName": "ask", "Payload": {"id.$": "$.id"}}`, "Payload",
	},
	{"arn:aws:lambda:us-east-1:123456789012:function:ask", `{"id": "{% $id %}"}`, `{"id.$": "$.id"}`, ""},
	{
		"arn:aws:states:::http:invoke",
		`{"ApiEndpoint": "{% 'https://example.com/jobs/' & $id %}", "Method": "GET", "Authentication": {"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/c/1"}}`,
		`{"ApiEndpoint.$": "States.Format('https://example.com/jobs/{}', $.id)", "Method": "GET",
			"Authentication": {"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/c/1"}}`, "ResponseBody",
	},
	{
		"arn:aws:states:::states:startExecution.sync:2",
		`{"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:ask", "Input": {"id": "{% $id %}"}}`,
		`{"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:ask", "Input": {"id.$": "$.id"}}`, "Output",
	},
}

// machine is a loop of the Task. failFast tells that it fails with each status that it does not name.
func (a asks) machine(language asl.QueryLanguage, failFast bool) string {
	status := strings.TrimPrefix(a.around+".job.state", ".")
	other, wait := `"Default": "Pause"`, ""
	if failFast {
		other = `"Default": "Broken"`
	}
	if language == asl.JSONata {
		if failFast {
			wait = `{"Condition": "{% $state in ['queued', 'going'] %}", "Next": "Pause"},`
		}
		return fmt.Sprintf(`{"QueryLanguage": "JSONata", "StartAt": "Keep", "States": {
			"Keep": {"Type": "Pass", "Assign": {"id": "{%% $states.input.id %%}"}, "Next": "Ask"},
			"Ask": {"Type": "Task", "Catch": [{"ErrorEquals": ["Refused"], "Next": "Broken"}], "Resource": %q, "Arguments": %s, "Assign": {"state": "{%% $states.result.%s %%}"}, "Output": {"seen": "{%% $states.result.%s %%}"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [%s {"Condition": "{%% $state = 'done' %%}", "Next": "Ok"},
				{"Condition": "{%% $state = 'failed' %%}", "Next": "Broken"}], %s},
			"Pause": {"Type": "Wait", "Seconds": 15, "Next": "Ask"},
			"Ok": {"Type": "Pass", "Output": {"was": "{%% $states.input.seen %%}", "state": "{%% $state %%}"}, "End": true},
			"Broken": {"Type": "Fail", "Error": "Broken", "Cause": "{%% 'it ended' %%}"}}}`, a.resource, a.arguments, status, status, wait, other)
	}
	path := "$.r." + status
	if failFast {
		wait = fmt.Sprintf(`{"Or": [{"Variable": %q, "StringEquals": "queued"}, {"Variable": %q, "StringEquals": "going"}], "Next": "Pause"},`, path, path)
	}
	return fmt.Sprintf(`{"StartAt": "Pause", "States": {
		"Ask": {"Type": "Task", "Resource": %q, "Parameters": %s, "ResultPath": "$.r", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [%s {"Variable": %q, "StringEquals": "done", "Next": "Ok"}, {"Variable": %q, "StringEquals": "failed", "Next": "Broken"}], %s},
		"Pause": {"Type": "Wait", "Seconds": 15, "Next": "Ask"},
		"Ok": {"Type": "Pass", "Parameters": {"was.$": %q, "id.$": "$.id"}, "End": true},
		"Broken": {"Type": "Fail", "Error": "Broken", "CausePath": %q}}}`, a.resource, a.parameters, wait, path, path, other, path, path)
}

// answer is what the Task returns of a job in a state.
func (a asks) answer(state string) map[string]any {
	body := map[string]any{"job": map[string]any{"state": state}}
	if a.around == "" {
		return body
	}
	return map[string]any{a.around: body}
}

// end is how a machine ends whose Task answers with states, the last one for ever.
func (a asks) end(t *testing.T, text []byte, states ...string) string {
	t.Helper()
	answers := make([]any, len(states))
	for i, state := range states {
		answers[i] = a.answer(state)
	}
	return endOf(t, text, answers...)
}

// endOf is how a machine ends whose Task gives answers, the last one for ever.
func endOf(t *testing.T, text []byte, answers ...any) string {
	t.Helper()
	m, err := asl.Parse(text)
	require.NoError(t, err)
	calls := 0
	r, err := sim.Run(t.Context(), m, []byte(`{"id": "i-1"}`), sim.Options{
		Clock: sim.NewVirtualClock(sim.DefaultStart()), Models: models.Load, MaxEvents: 2000,
		StateHandlers: map[string]sim.Handler{"Ask": func(context.Context, sim.Call) (sim.Reply, error) {
			calls++
			return sim.Reply{Output: answers[min(calls, len(answers))-1], Submitted: map[string]any{}}, nil
		}},
	})
	require.NoError(t, err)
	if strings.Contains(r.Cause, "maximum number of history events") || r.Error == "JobPoller.TimedOut" {
		return "polls on"
	}
	return fmt.Sprintf("%s %s %s %s after %d calls", r.Status, r.Error, r.Cause, r.Output, calls)
}

// A loop on a Task that no model describes is replaced, and keeps the Task. Both machines end alike with each status.
func TestOwnTasksPollOn(t *testing.T) {
	t.Parallel()
	for _, a := range allAsks {
		for _, language := range []asl.QueryLanguage{asl.JSONata, asl.JSONPath} {
			for _, failFast := range []bool{false, true} {
				name := fmt.Sprintf("%s %s %t", a.resource, language, failFast)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					before := []byte(a.machine(language, failFast))
					after, loops, err := fix.Apply(t.Context(), before, fix.Options{Models: models.Load})
					require.NoError(t, err)
					require.Len(t, loops, 1)
					require.Empty(t, loops[0].Refused)
					m, err := asl.Parse(after)
					require.NoError(t, err)
					require.Equal(t, a.resource, m.State("Ask").Task.Resource)
					require.Equal(t, lint.ByTime, lint.Loops(m, lint.Options{})[0].Bound.Kind)
					for _, states := range [][]string{{"done"}, {"failed"}, {"queued", "going", "done"}, {"going", "failed"}, {"new", "done"}, {"new"}, {"going"}} {
						require.Equal(t, a.end(t, before, states...), a.end(t, after, states...), states)
					}
				})
			}
		}
	}
}

// A strategy without a place for a Task of the user's own is refused as such, in both query languages.
func TestOwnTaskNeedsAStrategyThatTakesIt(t *testing.T) {
	t.Parallel()
	for _, language := range []asl.QueryLanguage{asl.JSONata, asl.JSONPath} {
		for _, s := range []compile.Strategy{compile.Loop, compile.RetryTask} {
			_, loops, err := fix.Apply(t.Context(), []byte(allAsks[0].machine(language, false)), fix.Options{Models: models.Load, Strategy: s})
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf(`"Ask" polls with a Task of your own, which the strategy %s does not take: take variables`, s), loops[0].Refused)
		}
	}
}

// What a name alone says is said with the new loop, and the user has the last word.
func TestFailureByName(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Replace(allAsks[0].machine(asl.JSONata, false), `'failed' %}", "Next": "Broken"`, `'failed' %}", "Next": "Pause"`, 1))
	_, loops, err := fix.Apply(t.Context(), text, fix.Options{Models: models.Load})
	require.NoError(t, err)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, strings.Join(loops[0].Notes, "\n"), `failed of "Ask": a failure by name`)
	after, loops, err := fix.Apply(t.Context(), text, fix.Options{Models: models.Load, Said: map[string]lint.Meaning{"failed": lint.MeansRunning}})
	require.NoError(t, err)
	require.Empty(t, loops[0].Refused)
	require.NotContains(t, strings.Join(loops[0].Notes, "\n"), "by name")
	require.Contains(t, allAsks[0].end(t, after, "failed", "failed", "done"), "SUCCEEDED")
}

// A Task that is another for each poll stays, and so does a status that does not say alone where it leads.
func TestOwnTaskStays(t *testing.T) {
	t.Parallel()
	const assign = `"Assign": {"state": "{% $states.result.Payload.job.state %}"`
	for name, c := range map[string]struct {
		pairs  []string
		reason string
	}{
		"a new id":                      {[]string{`"id": "{% $id %}"`, `"id": "{% $uuid() %}"`}, "computes $uuid() anew for each poll"},
		"a time that a path gives":      {[]string{`"ResultPath": "$.r"`, `"TimeoutSecondsPath": "$.limit", "ResultPath": "$.r"`}, "has a time that a path gives"},
		"a heartbeat that a path gives": {[]string{`"ResultPath": "$.r"`, `"TimeoutSeconds": 60, "HeartbeatSecondsPath": "$.limit", "ResultPath": "$.r"`}, "has a time that a path gives"},
		"its last answer":               {[]string{assign, assign + `, "id": "{% $states.result.Payload.next %}"`}, ""},
		"another member": {
			[]string{
				assign, assign + `, "code": "{% $states.result.Payload.code %}"`, `$state = 'done' %}", "Next": "Ok"}`,
				`$state = 'done' and $code = 0 %}", "Next": "Ok"}, {"Condition": "{% $state = 'done' %}", "Next": "Broken"}`,
			},
			"by more than the status",
		},
		"another member, beside a count": {
			[]string{
				assign, assign + `, "code": "{% $states.result.Payload.code %}", "n": "{% $exists($n) ? $n + 1 : 1 %}"`, `$state = 'done' %}", "Next": "Ok"}`,
				`$state = 'done' and $code = 0 %}", "Next": "Ok"}, {"Condition": "{% $state = 'done' %}", "Next": "Broken"}, {"Condition": "{% $n > 40 %}", "Next": "Late"}`,
				`"Pause": {`, `"Late": {"Type": "Fail", "Error": "Late"}, "Pause": {`,
			},
			"by more than the status",
		},
		"another member, and a count that leads where it does": {
			[]string{
				assign, assign + `, "code": "{% $states.result.Payload.code %}", "n": "{% $n + 1 %}"`, `{"id": "{% $states.input.id %}"}`, `{"id": "{% $states.input.id %}", "n": 0}`,
				`$state = 'done' %}", "Next": "Ok"}`,
				`$state = 'done' and $code = 'good' %}", "Next": "Ok"}, {"Condition": "{% $state = 'done' %}", "Next": "Broken"}, {"Condition": "{% $n > 100 %}", "Next": "Broken"}`,
			},
			`done leads to "Broken" or "Ok" by more than the status`,
		},
		"a number beside it": { // a drawn one may be too many
			[]string{assign, assign + `, "tries": "{% $states.result.Payload.tries %}"`, `{"Condition": "{% $state = 'failed' %}"`, `{"Condition": "{% $tries > 10 %}", "Next": "Broken"}, {"Condition": "{% $state = 'failed' %}"`},
			"and Payload.tries 11, the execution fails Broken",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			language := asl.JSONata
			if strings.Contains(c.pairs[0], "ResultPath") {
				language = asl.JSONPath
			}
			text := strings.NewReplacer(c.pairs...).Replace(allAsks[0].machine(language, false))
			require.Contains(t, text, c.pairs[1])
			after, loops, err := fix.Apply(t.Context(), []byte(text), fix.Options{Models: models.Load})
			require.NoError(t, err)
			require.NotEmpty(t, loops[0].Refused)
			require.Contains(t, loops[0].Refused, c.reason)
			require.JSONEq(t, text, string(after))
		})
	}
}

// The whole answer of a Task may be the status, as in AWS's sample of a job poller.
func TestOwnTaskThatAnswersTheStatus(t *testing.T) {
	t.Parallel()
	const (
		direct = `"Resource": "arn:aws:lambda:us-east-1:123456789012:function:ask"`
		invoke = `"Resource": "arn:aws:states:::lambda:invoke"`
		path   = `{"StartAt": "Pause", "States": {
			"Ask": {"Type": "Task", DIRECT, "InputPath": "$.id", "ResultPath": "$.r", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r", "StringEquals": "done", "Next": "Ok"}, {"Variable": "$.r", "StringEquals": "failed", "Next": "Broken"}], "Default": "Pause"},
			"Pause": {"Type": "Wait", "Seconds": 15, "Next": "Ask"},
			"Ok": {"Type": "Pass", "Parameters": {"was.$": "$.r", "id.$": "$.id"}, "End": true}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`
		expression = `{"QueryLanguage": "JSONata", "StartAt": "Keep", "States": {
			"Keep": {"Type": "Pass", "Assign": {"id": "{% $states.input.id %}"}, "Next": "Ask"},
			"Ask": {"Type": "Task", DIRECT, "Arguments": {"id": "{% $id %}"}, "Assign": {"r": "{% $states.result %}"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $r = 'done' %}", "Next": "Ok"}, {"Condition": "{% $r = 'failed' %}", "Next": "Broken"}], "Default": "Pause"},
			"Pause": {"Type": "Wait", "Seconds": 15, "Next": "Ask"},
			"Ok": {"Type": "Pass", "Output": {"was": "{% $states.input %}"}, "End": true}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`
		payload = `{"StartAt": "Pause", "States": {
			"Ask": {"Type": "Task", INVOKE, "Parameters": {"FunctionName": "ask", "Payload.$": "$.id"}, "ResultSelector": {"is.$": "$.Payload"}, "ResultPath": "$.r", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.is", "StringEquals": "done", "Next": "Ok"}, {"Variable": "$.r.is", "StringEquals": "failed", "Next": "Broken"}], "Default": "Pause"},
			"Pause": {"Type": "Wait", "Seconds": 15, "Next": "Ask"}, "Ok": {"Type": "Succeed"}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`
	)
	isTrue := strings.NewReplacer(`, {"Variable": "$.r", "StringEquals": "failed", "Next": "Broken"}`, "", `"StringEquals": "done"`, `"BooleanEquals": true`,
		`, {"Condition": "{% $r = 'failed' %}", "Next": "Broken"}`, "", `$r = 'done'`, `$r = true`,
		`, "Broken": {"Type": "Fail", "Error": "Broken"}`, "")
	texts := [][]any{{"done"}, {"failed"}, {"going", "done"}, {"queued", "failed"}, {"going"}}
	booleans := [][]any{{true}, {false, false, true}, {false}}
	for name, c := range map[string]struct {
		text    string
		answers [][]any
	}{
		"a text":                 {path, texts},
		"a text, in JSONata":     {expression, texts},
		"a text in the Payload":  {payload, texts},
		"a boolean":              {isTrue.Replace(path), booleans},
		"a boolean, in JSONata":  {isTrue.Replace(expression), booleans},
		"what is kept of itself": {strings.Replace(path, `"InputPath": "$.id", `, "", 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := []byte(strings.NewReplacer("DIRECT", direct, "INVOKE", invoke).Replace(c.text))
			after, loops, err := fix.Apply(t.Context(), before, fix.Options{Models: models.Load})
			require.NoError(t, err)
			if c.answers == nil {
				require.Contains(t, loops[0].Refused, "gets its own last answer when it polls again")
				return
			}
			require.Empty(t, loops[0].Refused)
			for _, answers := range c.answers {
				given := make([]any, len(answers))
				for i, answer := range answers {
					given[i] = answer
					if strings.Contains(c.text, "INVOKE") {
						given[i] = map[string]any{"Payload": answer}
					}
				}
				require.Equal(t, endOf(t, before, given...), endOf(t, after, given...), answers)
			}
		})
	}
}
