package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// sampleSuites are definitions that AWS took.
var sampleSuites = []suite{
	{name: "sources", folder: "aws-samples", cases: 255, run: readSamples, differences: unreadSamples},
	{name: "sources-twins", folder: "aws-samples", cases: 144, run: compareTwins},
	{name: "api-recordings-definitions", folder: "api-recordings", cases: 130, run: runRecordedDefinitions},
}

const (
	collection = "step-functions-workflows-collection/"
	examples   = "aws-stepfunctions-examples/sam/"

	noFile   = "the samples do not have the file that DefinitionUri names"
	misplace = "\"QueryLanguage\" stands in \"States\", so that it is a state which is no object, and all states are in JSONPath"
)

// unreadSamples are what AWS refuses, too, or takes from elsewhere.
var unreadSamples = map[string]string{
	collection + "shared-fallback-state-jsonata/statemachine/statemachine.asl.json":        misplace,
	collection + "shared-fallback-state-jsonata/template.yaml#StateMachine":                misplace,
	collection + "event-sourcing/template.yaml":                                            "a text in Description is not indented, so that it is no YAML",
	collection + "eventbridge-custom-sam/.aws-composer/20221209T105611547/template.yaml":   "the file is empty",
	collection + "emit-and-wait/template.yaml#StateMachineArn":                             "the definition is in S3",
	collection + "sfn-textract-callback-ts-cdk/template.yaml":                              "the template has no state machine",
	collection + "account-vending-machine/template.yaml#AccountVendingStateMachine":        noFile,
	examples + "app-sfn-appflow-integration/template.yaml#CreateCatalogTable":              noFile,
	examples + "demo-generate-steady-state-events/template.yaml#StateMachineCreateDataset": noFile,
}

// readSamples reads every definition and template that AWS publishes. A case is a
// state machine, and passes if it is read without a problem of severity Error.
func readSamples(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	files := 0
	for name, definitions := range sampleDefinitions(t, folder) {
		files++
		if len(definitions) == 0 {
			out.total++
			out.failures[name] = "no state machine"
		}
		for _, d := range definitions {
			out.total++
			as := d.Type
			if as == "" {
				as = asl.Standard
			}
			problems := slices.DeleteFunc(d.Validate(as), func(p diag.Problem) bool { return d.Text != nil && p.Severity != diag.Error })
			if len(problems) > 0 || d.Text == nil {
				out.failures[d.Name] = problems.Brief()
			}
		}
	}
	require.Equal(t, 236, files)
	return out
}

// sampleDefinitions returns the state machines of each file of a folder.
func sampleDefinitions(t *testing.T, folder string) map[string][]*source.Definition {
	t.Helper()
	tree := os.DirFS(folder)
	out := map[string][]*source.Definition{}
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) == ".md" {
			return err
		}
		definitions, err := source.Load(t.Context(), []string{name}, source.Options{FS: tree})
		if err != nil {
			require.ErrorContains(t, err, "no state machine")
		}
		out[name] = definitions
		return nil
	}))
	return out
}

// compareTwins reads each definition of JSON as YAML, which takes JSON. A case
// passes if both are the same machine with the same problems, a line further down.
func compareTwins(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	for name, definitions := range sampleDefinitions(t, folder) {
		if filepath.Ext(name) != ".json" || len(definitions) != 1 || hasBarePlaceholder(definitions[0].Text) {
			continue
		}
		out.total++
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		if hasBarePlaceholder(text) {
			text = definitions[0].Text // with quotes
		}
		// YAML takes no tabs as indentation.
		text = append([]byte("# JSON\n"), bytes.ReplaceAll(text, []byte("\t"), []byte(" "))...)
		twin, err := source.LoadOne(t.Context(), "-", source.Options{Stdin: bytes.NewReader(text)})
		require.NoError(t, err)
		require.True(t, twin.YAML, name)
		if got, want := describe(t, twin, -1), describe(t, definitions[0], 0); got != want {
			out.failures[name] = fmt.Sprintf("as YAML\n%s\nas JSON\n%s", got, want)
		}
	}
	return out
}

// describe writes the value of a definition and its problems, their lines moved.
func describe(t *testing.T, d *source.Definition, lines int) string {
	t.Helper()
	var b strings.Builder
	var value any
	if err := json.Unmarshal(d.Text, &value); err != nil {
		fmt.Fprintln(&b, err, d.Problems)
	}
	b.Write(inJSON(t, value))
	for _, p := range d.Validate(asl.Standard) {
		fmt.Fprintf(&b, "\n%d:%d: %s: %s", p.Line+lines, p.Column, p.Pointer, p.Message)
	}
	return b.String()
}

// awsErrors are the problems that AWS would refuse a definition for.
func awsErrors(definition []byte, as asl.ExecutionType) diag.Problems {
	problems := asl.Validate(definition, as)
	return slices.DeleteFunc(problems, func(p diag.Problem) bool { return p.Severity != diag.Error })
}

func inJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// stepValue is what a conversation takes from an earlier answer: the ARN of an
// activity or of a function.
var stepValue = regexp.MustCompile(`\$\{step:\d+\.activityArn\}`)

// runRecordedDefinitions checks what AWS answered to the definitions of the
// recorded conversations.
func runRecordedDefinitions(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := result{failures: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var conversation struct {
			Steps []struct {
				Operation  string `json:"operation"`
				Parameters struct {
					Definition any    `json:"definition"`
					Type       string `json:"type"`
				} `json:"parameters"`
				Expect struct {
					Body struct {
						Result string `json:"result"`
					} `json:"body"`
					Error *struct {
						Code string `json:"code"`
					} `json:"error"`
				} `json:"expect"`
			} `json:"steps"`
		}
		require.NoError(t, json.Unmarshal(text, &conversation), file)
		for i, step := range conversation.Steps {
			definition, ok := step.Parameters.Definition.(string)
			if !ok {
				if step.Parameters.Definition == nil {
					continue
				}
				definition = string(inJSON(t, step.Parameters.Definition))
			}
			definition = stepValue.ReplaceAllString(definition, "arn:aws:states:us-east-1:111111111111:activity:a")
			if !slices.Contains([]string{"CreateStateMachine", "UpdateStateMachine", "ValidateStateMachineDefinition"}, step.Operation) {
				out.failures[fmt.Sprint(file, i)] = step.Operation
				continue
			}
			out.total++
			want := step.Expect.Error != nil && step.Expect.Error.Code == "InvalidDefinition" || step.Expect.Body.Result == "FAIL"
			problems := awsErrors([]byte(definition), asl.ExecutionType(step.Parameters.Type))
			if refused := len(problems) > 0; refused != want {
				out.failures[fmt.Sprintf("%s %d", filepath.Base(file), i)] = difference("refused", refused, want) + " " + problems.Brief()
			}
		}
	}
	return out
}

// hasBarePlaceholder tells whether the text is JSON only when its placeholders have
// values.
func hasBarePlaceholder(text []byte) bool {
	return slices.ContainsFunc(asl.FindPlaceholders(text), func(form asl.PlaceholderForm) bool { return form.Bare })
}
