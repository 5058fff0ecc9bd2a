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
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// told are what a machine tells of its polls, and how it ends.
func told(t *testing.T, text []byte, answer func(state string) any, states ...string) []string {
	t.Helper()
	m, err := asl.Parse(text)
	require.NoError(t, err)
	var all []string
	calls := 0
	tell := func(name string) sim.Handler {
		return func(_ context.Context, call sim.Call) (sim.Reply, error) {
			all = append(all, fmt.Sprint(name, " ", call.Arguments))
			return sim.Reply{Output: map[string]any{}}, nil
		}
	}
	r, err := sim.Run(t.Context(), m, []byte(`{"id": "i-1"}`), sim.Options{
		Clock: sim.NewVirtualClock(sim.DefaultStart()), Models: models.Load, StateHandlers: map[string]sim.Handler{
			"Ask": func(context.Context, sim.Call) (sim.Reply, error) {
				calls++
				return sim.Reply{Output: answer(states[min(calls, len(states))-1])}, nil
			},
			"Tell": tell("Tell"), "Count": tell("Count"),
		},
	})
	require.NoError(t, err)
	return append(all, fmt.Sprintf("%s %s %s", r.Status, r.Error, r.Output))
}

// progress are loops that tell their progress while the job runs.
var progress = map[string]string{
	"JSONPath": `{"StartAt": "Ask", "States": {
		"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.r", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Ok"},
			{"Or": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED"},
				{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED"}], "Next": "Broken"}], "Default": "Tell"},
		"Tell": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "ResultPath": null, "Next": "Count",
			"Parameters": {"FunctionName": "tell", "Payload": {"id.$": "$.id", "state.$": "$.r.QueryExecution.Status.State"}}},
		"Count": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "count"}, "ResultPath": null, "Next": "Pause"},
		"Pause": {"Type": "Wait", "Seconds": 20, "Next": "Ask"}, "Ok": {"Type": "Pass", "Parameters": {"id.$": "$.id"}, "End": true}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`,
	"JSONata": `{"QueryLanguage": "JSONata", "StartAt": "Keep", "States": {
		"Keep": {"Type": "Pass", "Assign": {"id": "{% $states.input.id %}"}, "Next": "Ask"},
		"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $id %}"},
			"Output": "{% $states.result.QueryExecution.Status %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.State = 'SUCCEEDED' %}", "Next": "Ok"},
			{"Condition": "{% $states.input.State in ['FAILED', 'CANCELLED'] %}", "Next": "Broken"}], "Default": "Tell"},
		"Tell": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "tell", "Payload": {"id": "{% $id %}", "state": "{% $states.input.State %}"}},
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Pause"}], "Next": "Count"},
		"Count": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "count"}, "Next": "Pause"},
		"Pause": {"Type": "Wait", "Seconds": 20, "Next": "Ask"}, "Ok": {"Type": "Pass", "Output": {"id": "{% $id %}"}, "End": true}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`,
}

// Tasks between the Choice and the Wait stay, and get what they got, once for each poll of a job that runs.
func TestProgressStays(t *testing.T) {
	t.Parallel()
	answer := func(state string) any {
		return map[string]any{"QueryExecution": map[string]any{"Status": map[string]any{"State": state}}}
	}
	for name, text := range progress {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops, err := fix.Apply(t.Context(), []byte(text), fix.Options{Models: models.Load})
			require.NoError(t, err)
			require.Empty(t, loops[0].Refused)
			require.Contains(t, strings.Join(loops[0].Notes, "\n"), `goes through "Tell", "Count"`)
			for _, states := range [][]string{{"SUCCEEDED"}, {"QUEUED", "RUNNING", "SUCCEEDED"}, {"RUNNING", "FAILED"}, {"RUNNING", "RUNNING", "CANCELLED"}} {
				before := told(t, []byte(text), answer, states...)
				require.Equal(t, before, told(t, after, answer, states...), states)
				require.Len(t, before, 2*len(states)-1)
			}
		})
	}
}

// What a new loop would not do once for each poll stays, with the reason.
func TestProgressThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	text := progress["JSONPath"]
	const does = `the loop does more than poll: "Tell" is a Task`
	for name, c := range map[string]struct {
		from, to, reason string
		o                fix.Options
	}{
		"in front of the Choice":  {`"ResultPath": "$.r", "Next": "Done?"`, `"ResultPath": "$.r", "Next": "Tell"`, "", fix.Options{}},
		"for some statuses alone": {`"Choices": [{`, `"Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED", "Next": "Pause"}, {`, "", fix.Options{}},
		"data of the next turn":   {`"ResultPath": null, "Next": "Count"`, `"ResultPath": "$.id", "Next": "Count"`, "", fix.Options{}},
		"polls by a Retry":        {`"id"`, `"id"`, `"Tell" runs after each poll`, fix.Options{Strategy: compile.RetryTask}},
		"before the first poll":   {`"StartAt": "Ask"`, `"StartAt": "Tell"`, does, fix.Options{}},
		"behind a call":           {`"StartAt": "Ask", "States": {`, `"StartAt": "Begin", "States": {"Begin": {"Type": "Pass", "Next": "Tell"},`, does, fix.Options{}},
		"after polls that fail":   {`"ResultPath": "$.r", "Next"`, `"ResultPath": "$.r", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Tell"}], "Next"`, does, fix.Options{}},
		"between two Waits":       {`"Default": "Tell"},`, `"Default": "Soon"}, "Soon": {"Type": "Wait", "Seconds": 5, "Next": "Tell"},`, does, fix.Options{}},
		"between Wait and poll":   {`"Default": "Tell"},`, `"Default": "Soon"}, "Soon": {"Type": "Wait", "Seconds": 5, "Next": "Tell"},`, does, fix.Options{}},
		"no Wait if it fails":     {`"ResultPath": null, "Next": "Count"`, `"ResultPath": null, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Ask"}], "Next": "Count"`, does + `, and leads to "Ask"`, fix.Options{}},
		"behind another Choice": {`"Default": "Tell"},`, `"Default": "Odd?"}, "Odd?": {"Type": "Choice",
			"Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "ODD", "Next": "Broken"}], "Default": "Tell"},`, `another Choice than "Done?" leads to "Tell"`, fix.Options{}},
		"behind a second Choice": {`"Default": "Tell"},`, `"Default": "Quiet?"}, "Quiet?": {"Type": "Choice",
			"Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED", "Next": "Pause"}], "Default": "Tell"},`, does + ", to which a job leads that still runs at poll 1", fix.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(text, c.from, c.to, 1)
			if name == "in front of the Choice" {
				changed = strings.Replace(strings.Replace(changed, `"Default": "Tell"`, `"Default": "Pause"`, 1), `"ResultPath": null, "Next": "Pause"}`, `"ResultPath": null, "Next": "Done?"}`, 1)
			}
			if name == "between Wait and poll" {
				changed = strings.Replace(changed, `"ResultPath": null, "Next": "Pause"}`, `"ResultPath": null, "Next": "Ask"}`, 1)
				changed = strings.Replace(changed, `"Next": "Done?"},`, `"Next": "Pause"},`, 1)
				changed = strings.Replace(changed, `"Seconds": 20, "Next": "Ask"`, `"Seconds": 20, "Next": "Done?"`, 1)
				changed = strings.Replace(changed, `"Default": "Soon"}, "Soon": {"Type": "Wait", "Seconds": 5, "Next": "Tell"},`, `"Default": "Tell"},`, 1)
			}
			c.o.Models = models.Load
			after, loops, err := fix.Apply(t.Context(), []byte(changed), c.o)
			require.NoError(t, err)
			for _, l := range loops {
				require.NotEmpty(t, l.Refused)
				require.Contains(t, l.Refused, c.reason)
			}
			require.JSONEq(t, changed, string(after))
		})
	}
}
