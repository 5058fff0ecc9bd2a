package conformance_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// validateSuites are AWS's answers to definitions: its verdict, in its words, and the
// variables that it finds.
var validateSuites = []suite{
	{name: "asl-recordings-validate", folder: "asl-recordings/validate", cases: 25, run: runValidations, differences: validateDifferences},
}

var validateDifferences = map[string]string{}

type validation struct {
	MachineType    string          `json:"machineType"`
	Definition     json.RawMessage `json:"definition"`
	DefinitionText *string         `json:"definitionText"`
	Expect         struct {
		Result      string `json:"result"`
		Diagnostics []any  `json:"diagnostics"`
		Refused     *struct {
			Message string `json:"message"`
		} `json:"refused"`
		VariableReferences map[string][]string `json:"variableReferences"`
	} `json:"expect"`
}

func runValidations(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	handler := server.New(server.Options{})
	out := result{total: len(files), failures: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c validation
		require.NoError(t, json.Unmarshal(text, &c), file)
		if what := c.check(t, handler); what != "" {
			out.failures[strings.TrimSuffix(filepath.Base(file), ".json")] = what
		}
	}
	return out
}

// check tells how the server's answer differs, or the empty string.
func (c *validation) check(t *testing.T, h http.Handler) string {
	t.Helper()
	definition := string(c.Definition)
	if c.DefinitionText != nil {
		definition = *c.DefinitionText
	}
	e := c.Expect
	if e.Result != "" {
		_, got := callAPI(t, h, "ValidateStateMachineDefinition", map[string]any{"definition": definition, "type": c.MachineType})
		want := map[string]any{"result": e.Result, "diagnostics": e.Diagnostics, "truncated": false}
		if !reflect.DeepEqual(plain(got), plain(want)) {
			return difference("diagnostics", got, want)
		}
		return ""
	}
	status, got := callAPI(t, h, "CreateStateMachine", map[string]any{
		"name": uniqueName(definition), "definition": definition, "type": c.MachineType, "roleArn": "arn:aws:iam::123456789012:role/r",
	})
	if e.Refused != nil {
		if got["__type"] != "InvalidDefinition" || got["message"] != e.Refused.Message {
			return difference("refusal", got, e.Refused)
		}
		return ""
	}
	if status != http.StatusOK {
		return difference("answer", got, "success")
	}
	_, got = callAPI(t, h, "DescribeStateMachine", map[string]any{"stateMachineArn": got["stateMachineArn"]})
	if !reflect.DeepEqual(got["variableReferences"], plain(e.VariableReferences)) {
		return difference("variable references", got["variableReferences"], e.VariableReferences)
	}
	return ""
}

// uniqueName names the state machine of a definition.
func uniqueName(definition string) string {
	return fmt.Sprintf("m%x", crc32.ChecksumIEEE([]byte(definition)))
}
