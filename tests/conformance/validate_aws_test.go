package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// opinionSuites are recorded calls of ValidateStateMachineDefinition. A case passes
// if the client makes the recorded call and turns each diagnostic of the recorded
// answer into a finding at its place.
var opinionSuites = []suite{{name: "api-recordings-validate", folder: "api-recordings", cases: 5, run: runOpinions}}

type apiRecording struct {
	Steps []struct {
		Operation  string `json:"operation"`
		Parameters struct {
			Definition string `json:"definition"`
			Type       string `json:"type"`
		} `json:"parameters"`
		Expect struct {
			Status int             `json:"status"`
			Body   json.RawMessage `json:"body"`
		} `json:"expect"`
	} `json:"steps"`
}

func runOpinions(t *testing.T, folder string) result {
	t.Helper()
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "validation--*.json"))
	require.NoError(t, err)
	out := result{failures: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var r apiRecording
		require.NoError(t, json.Unmarshal(text, &r), file)
		for _, step := range r.Steps {
			if step.Operation != "ValidateStateMachineDefinition" || step.Expect.Status != 200 {
				continue
			}
			out.total++
			client := stepfunctions.New(service, func(_ context.Context, op *catalog.Operation, input any) (any, error) {
				sent := input.(map[string]any)
				if op.Name != step.Operation || sent["definition"] != step.Parameters.Definition || sent["type"] != step.Parameters.Type {
					return nil, fmt.Errorf("%s was called with %v", op.Name, input)
				}
				var body any
				return body, json.Unmarshal(step.Expect.Body, &body)
			})
			if what := checkOpinion(t, client, step.Parameters.Definition, step.Parameters.Type, step.Expect.Body); what != "" {
				out.failures[strings.TrimSuffix(filepath.Base(file), ".json")] = what
			}
		}
	}
	return out
}

// checkOpinion tells how the findings differ from the diagnostics of an answer, or
// the empty string.
func checkOpinion(t *testing.T, client *stepfunctions.Client, definition, as string, answer json.RawMessage) string {
	t.Helper()
	var said struct {
		Diagnostics []struct {
			Location string `json:"location"`
			Message  string `json:"message"`
			Severity string `json:"severity"`
		} `json:"diagnostics"`
	}
	require.NoError(t, json.Unmarshal(answer, &said))
	found, err := client.Validate(t.Context(), []byte(definition), asl.ExecutionType(as))
	if err != nil {
		return err.Error()
	}
	if len(found) != len(said.Diagnostics) {
		return fmt.Sprintf("%d findings of %d diagnostics", len(found), len(said.Diagnostics))
	}
	for i, d := range said.Diagnostics {
		p := found[i]
		hasPlace := strings.HasPrefix(d.Location, "/")
		if !strings.Contains(p.Message, d.Message) || p.Severity.String() != d.Severity || hasPlace != (p.Line > 0) || hasPlace && p.Pointer != strings.TrimSuffix(d.Location, "/") {
			return fmt.Sprintf("%s at %q became %s", d.Message, d.Location, p)
		}
	}
	return ""
}
