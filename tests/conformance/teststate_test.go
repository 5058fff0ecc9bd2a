package conformance_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// teststateSuites are what AWS's TestState API gave for single states.
var teststateSuites = []suite{
	{
		name: "asl-recordings-teststate", folder: "asl-recordings/teststate", cases: 139,
		run: runStates, differences: stateDifferences,
	},
}

var stateDifferences = map[string]string{
	"test_state.field_validation_mode--strict_mode_aws_sdk_lambda_get_function_task--integer_more_than_maximum_allowed":     raisedLimit,
	"test_state.field_validation_mode_present--present_mode_aws_sdk_lambda_get_function_task--integer_more_than_max-09e783": raisedLimit,
}

const raisedLimit = "a function could have 10,240 MB when this was recorded, in December 2025; the model of today says 32,768"

// testedState is a recorded call of TestState.
type testedState struct {
	Definition      json.RawMessage `json:"definition"`
	StateName       string          `json:"stateName"`
	Input           json.RawMessage `json:"input"`
	InputText       *string         `json:"inputText"`
	Variables       map[string]any  `json:"variables"`
	Context         map[string]any  `json:"context"`
	InspectionLevel string          `json:"inspectionLevel"`
	Configuration   struct {
		RetrierRetryCount        int    `json:"retrierRetryCount"`
		MapIterationFailureCount *int   `json:"mapIterationFailureCount"`
		MapItemReaderData        string `json:"mapItemReaderData"`
	} `json:"stateConfiguration"`
	Mock *struct {
		Result      json.RawMessage `json:"result"`
		ResultText  *string         `json:"resultText"`
		ErrorOutput *struct {
			Error string `json:"error"`
			Cause string `json:"cause"`
		} `json:"errorOutput"`
		FieldValidationMode string `json:"fieldValidationMode"`
	} `json:"mock"`
	Masked []string        `json:"masked"`
	Expect json.RawMessage `json:"expect"`
}

func runStates(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := result{total: len(files), failures: map[string]string{}}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var c testedState
		require.NoError(t, json.Unmarshal(content, &c), file)
		if what := c.check(t); what != "" {
			out.failures[strings.TrimSuffix(filepath.Base(file), ".json")] = what
		}
	}
	return out
}

// check tests the state and tells how the answer differs, or the empty string.
func (c *testedState) check(t *testing.T) string {
	t.Helper()
	var want map[string]any
	require.NoError(t, json.Unmarshal(c.Expect, &want))
	input := []byte(c.Input)
	if c.InputText != nil {
		input = []byte(*c.InputText)
	}
	r, err := sim.TestState(t.Context(), c.Definition, input, c.options())
	if err != nil {
		return compareRefusal(err, want)
	}
	if want["refused"] != nil {
		return difference("answer", r, want["refused"])
	}
	got := map[string]any{"status": r.Status}
	setText(got, "error", r.Error)
	setText(got, "cause", r.Cause)
	setText(got, "nextState", r.Next)
	if r.Output != nil {
		got["output"] = r.Output
	}
	switch c.InspectionLevel {
	case "DEBUG":
		delete(r.Inspection, "variables")
		fallthrough
	case "TRACE":
		got["inspectionData"] = r.Inspection
	}
	got, _ = plain(got).(map[string]any)
	for _, pointer := range c.Masked {
		mask(got, pointer)
		mask(want, pointer)
	}
	for _, name := range []string{"status", "error", "cause", "output", "nextState", "inspectionData"} {
		if !equalMember(name, got[name], want[name]) {
			return difference(name, got[name], want[name])
		}
	}
	return ""
}

func (c *testedState) options() sim.TestOptions {
	o := sim.TestOptions{
		State: c.StateName, Variables: c.Variables, Context: c.Context, RetrierRetryCount: c.Configuration.RetrierRetryCount,
		MapIterationFailureCount: c.Configuration.MapIterationFailureCount, ItemReaderData: []byte(c.Configuration.MapItemReaderData),
	}
	o.Options.Models = models.Load
	if c.Mock == nil {
		return o
	}
	o.Mock = &sim.Mock{}
	switch failed := c.Mock.ErrorOutput; {
	case failed != nil:
		o.Mock.Error = &sim.TaskError{Name: failed.Error, Cause: failed.Cause}
	case c.Mock.ResultText != nil:
		o.Mock.Result = json.RawMessage(*c.Mock.ResultText)
	default:
		o.Mock.Result = c.Mock.Result
	}
	o.Mock.Validation = sim.MockValidation(c.Mock.FieldValidationMode)
	return o
}

// compareRefusal compares a refused test: the message, or the place in the
// definition.
func compareRefusal(err error, want map[string]any) string {
	recorded, ok := want["refused"].(map[string]any)
	if !ok {
		return err.Error()
	}
	message, _ := recorded["message"].(string)
	if refusal, ok := errors.AsType[*sim.TestStateError](err); ok && refusal.Message == message && recorded["code"] == refusal.Code {
		return ""
	}
	m := place.FindStringSubmatch(message)
	if problems, ok := errors.AsType[diag.Problems](err); ok && m != nil && recorded["code"] == "InvalidDefinition" &&
		slices.ContainsFunc(problems, func(p diag.Problem) bool { return samePlace(p.Pointer, m[1]) }) {
		return ""
	}
	return difference("refusal", err.Error(), message)
}
