package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
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
	Configuration   map[string]any  `json:"stateConfiguration"`
	Mock            *struct {
		Result              json.RawMessage `json:"result"`
		ResultText          *string         `json:"resultText"`
		ErrorOutput         map[string]any  `json:"errorOutput"`
		FieldValidationMode string          `json:"fieldValidationMode"`
	} `json:"mock"`
	Masked []string        `json:"masked"`
	Expect json.RawMessage `json:"expect"`
}

func runStates(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	handler := server.New(server.Options{})
	out := result{total: len(files), failures: map[string]string{}}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var c testedState
		require.NoError(t, json.Unmarshal(content, &c), file)
		if what := c.check(t, handler); what != "" {
			out.failures[strings.TrimSuffix(filepath.Base(file), ".json")] = what
		}
	}
	return out
}

// check asks the server to test the state and tells how the answer differs, or the
// empty string.
func (c *testedState) check(t *testing.T, handler http.Handler) string {
	t.Helper()
	var want map[string]any
	require.NoError(t, json.Unmarshal(c.Expect, &want))
	status, got := callAPI(t, handler, "TestState", c.request(t))
	if status != http.StatusOK {
		return compareRefusal(got, want)
	}
	if want["refused"] != nil {
		return difference("answer", got, want["refused"])
	}
	for name, value := range got {
		if text, ok := value.(string); ok && name == "output" {
			got[name] = parsed(text)
		}
	}
	if data, ok := got["inspectionData"].(map[string]any); ok {
		for name, value := range data {
			if text, ok := value.(string); ok {
				data[name] = parsed(text)
			}
		}
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

// parsed is the value of a member that holds JSON as a text.
func parsed(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// request is the call of TestState that was recorded.
func (c *testedState) request(t *testing.T) map[string]any {
	t.Helper()
	q := map[string]any{"definition": string(c.Definition)}
	if c.InspectionLevel != "" {
		q["inspectionLevel"] = c.InspectionLevel
	}
	if c.InputText != nil {
		q["input"] = *c.InputText
	} else if c.Input != nil {
		q["input"] = string(c.Input)
	}
	for name, value := range map[string]map[string]any{"variables": c.Variables, "context": c.Context} {
		if value != nil {
			text, err := json.Marshal(value)
			require.NoError(t, err)
			q[name] = string(text)
		}
	}
	if c.StateName != "" {
		q["stateName"] = c.StateName
	}
	if c.Configuration != nil {
		q["stateConfiguration"] = c.Configuration
	}
	if c.Mock == nil {
		return q
	}
	mock := map[string]any{}
	switch {
	case c.Mock.ResultText != nil:
		mock["result"] = *c.Mock.ResultText
	case c.Mock.Result != nil:
		mock["result"] = string(c.Mock.Result)
	}
	if c.Mock.ErrorOutput != nil {
		mock["errorOutput"] = c.Mock.ErrorOutput
	}
	if c.Mock.FieldValidationMode != "" {
		mock["fieldValidationMode"] = c.Mock.FieldValidationMode
	}
	q["mock"] = mock
	return q
}

// compareRefusal compares the code and the message of a refused test.
func compareRefusal(got, want map[string]any) string {
	recorded, _ := want["refused"].(map[string]any)
	if got["__type"] == recorded["code"] && got["message"] == recorded["message"] {
		return ""
	}
	return difference("refusal", got, recorded)
}

// callAPI makes a call of Step Functions' API.
func callAPI(t *testing.T, h http.Handler, operation string, parameters any) (status int, answer map[string]any) {
	t.Helper()
	body, err := json.Marshal(parameters)
	require.NoError(t, err)
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, q)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body.String())
	return w.Code, answer
}
