package fix

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A new loop is refused with a finding in it, and with one that it brings elsewhere.
func TestCheckFindings(t *testing.T) {
	t.Parallel()
	machine := func(wait, after string) *document {
		text := []byte(`{"StartAt": "Look", "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "After"}]},
  "Pause": {"Type": "Wait", "Seconds": ` + wait + `, "Next": "Look"},
  "After": {"Type": "Choice", "Default": "Good", "Choices": [{"Variable": "$.QueryExecution.Status.State", "StringEquals": "` + after + `", "Next": "Good"}]},
  "Good": {"Type": "Succeed"}}}`)
		d, err := newDocument(text, func(text []byte) (*source.Definition, error) {
			return source.LoadOne(t.Context(), source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
		})
		require.NoError(t, err)
		return d
	}
	f := &fragment{loop: &loop{}, states: map[string]object{"Other": {}}}
	o := Options{Models: models.Load}
	require.NoError(t, f.checkFindings(machine("30", "SUCCEEDED"), machine("30", "SUCCEEDED"), o))
	require.ErrorContains(t, f.checkFindings(machine("30", "SUCCEEDED"), machine("30", "SUCCESS"), o), `with the new loop, lint finds`)
	require.NoError(t, f.checkFindings(machine("30", "SUCCESS"), machine("30", "SUCCESS"), o))
	require.NoError(t, f.checkFindings(machine("30", "SUCCEEDED"), machine("1", "SUCCEEDED"), o), "a warning that comes with it is not")
	// What is said of types in the new loop is left to the trial.
	f.states["After"] = object{}
	require.NoError(t, f.checkFindings(machine("30", "SUCCEEDED"), machine("30", "SUCCESS"), o))
	var outside lint.Finding
	outside.Pointer = "/TimeoutSeconds"
	m, err := machine("30", "SUCCEEDED").Parse()
	require.NoError(t, err)
	require.Empty(t, stateNameAt(m, outside))
	f.states["Look"] = object{}
	require.ErrorContains(t, f.checkFindings(machine("30", "SUCCEEDED"), machine("30", "SUCCEEDED"), o), "in the new loop: ")
}

// A failure leads where it led, unless the old loop took it for a success.
func TestFailureKeepsItsWay(t *testing.T) {
	t.Parallel()
	f := &fragment{loop: &loop{apart: map[string]bool{"TOLD": true}}, success: "Good", observed: &observed{seen: []seen{{verdict: pollcore.Success, exit: "Good"}}}}
	for name, c := range map[string]struct{ status, before, after, want string }{
		"it is not told":           {"FAILED", "Good", "New", ""},
		"it is told":               {"TOLD", "Good", "New", "leads elsewhere"},
		"it has a way of its own":  {"FAILED", "Bad", "New", "leads elsewhere"},
		"it keeps that way":        {"FAILED", "Bad", "Bad", ""},
		"it polled on":             {"FAILED", "", "New", ""},
		"it becomes a success":     {"FAILED", "", "Good", "leads to a success"},
		"it stays one":             {"FAILED", "Good", "Good", "leads to a success"},
		"it is told, and keeps it": {"TOLD", "Good", "Good", ""},
		"it is told, and then not": {"TOLD", "", "Good", "leads to a success"},
	} {
		err := f.compare(seen{status: c.status, verdict: pollcore.Failure, exit: c.before, output: "{}"}, &seen{exit: c.after, output: "{}"})
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
}

// What cannot be read is equal to nothing.
func TestEqualJSON(t *testing.T) {
	t.Parallel()
	require.True(t, equalJSON(`{"a": 1, "b": 2}`, `{"b":2,"a":1}`))
	require.False(t, equalJSON(`{"a": 1}`, `{"a": 2}`))
	require.False(t, equalJSON("", "null"))
	require.False(t, equalJSON("null", ""))
}

// A reason says why the strategy was taken that it is about.
func TestReasonTellsTheChosenStrategy(t *testing.T) {
	t.Parallel()
	f := &fragment{}
	refused := refuse("the loop stays")
	require.Equal(t, refused, f.explain(refused))
	f.chosen = "retry-task, as the history is short"
	require.EqualError(t, f.explain(refused), refuse("the loop stays (retry-task, as the history is short)").Error())
	require.Equal(t, context.Canceled, f.explain(context.Canceled))
}
