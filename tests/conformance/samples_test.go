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
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// sampleSuites are definitions that AWS took. A case passes if there is no
// problem of severity Error in it.
var sampleSuites = []suite{
	{name: "aws-samples", folder: "aws-samples", cases: 169, run: runSamples, differences: sampleDifferences},
	{name: "api-recordings-definitions", folder: "api-recordings", cases: 130, run: runRecordedDefinitions},
}

// sampleDifferences are definitions that AWS refuses, too.
var sampleDifferences = map[string]string{
	"step-functions-workflows-collection/shared-fallback-state-jsonata/statemachine/statemachine.asl.json": "\"QueryLanguage\" stands in \"States\", " +
		"so that it is a state which is no object, and all states are in JSONPath",
}

// runSamples checks the definitions that AWS publishes as examples, in files of
// their own and in templates.
func runSamples(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("StartAt")) {
			return nil // a template that names the file of its definition, or has none
		}
		name, err := filepath.Rel(folder, path)
		for id, definition := range definitionsIn(t, path, text) {
			out.total++
			if problems := awsErrors(definition, asl.Standard); len(problems) > 0 {
				out.failures[name+id] = problems.Brief()
			}
		}
		return err
	})
	require.NoError(t, err)
	return out
}

// awsErrors are the problems that AWS would refuse a definition for.
func awsErrors(definition []byte, as asl.ExecutionType) diag.Problems {
	problems := asl.Validate(definition, as)
	return slices.DeleteFunc(problems, func(p diag.Problem) bool { return p.Severity != diag.Error })
}

// definitionsIn are the definitions of a file, by the name of their resource if
// the file is a template. Values that AWS puts in at deployment are placeholders.
func definitionsIn(t *testing.T, path string, text []byte) map[string][]byte {
	t.Helper()
	if filepath.Ext(path) == ".json" {
		names := asl.BarePlaceholders(text)
		values := map[string]string{}
		for _, name := range names {
			values[name] = "1"
		}
		if len(names) > 0 {
			text = asl.Substitute(text, values)
		}
		return map[string][]byte{"": text}
	}
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &root), path)
	document, ok := plainYAML(&root).(map[string]any)
	require.True(t, ok, path)
	if document["StartAt"] != nil {
		return map[string][]byte{"": inJSON(t, document)}
	}
	out := map[string][]byte{}
	resources, _ := document["Resources"].(map[string]any)
	for id, r := range resources {
		resource, _ := r.(map[string]any)
		properties, _ := resource["Properties"].(map[string]any)
		for _, name := range []string{"Definition", "DefinitionString"} {
			switch definition := properties[name].(type) {
			case map[string]any:
				out["#"+id] = inJSON(t, definition)
			case string:
				out["#"+id] = []byte(definition)
			}
		}
	}
	return out
}

func inJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// plainYAML is a value of YAML as JSON has it, with a placeholder for each value
// that a template takes from elsewhere.
func plainYAML(n *yaml.Node) any {
	switch {
	case n.Kind == yaml.DocumentNode || n.Kind == yaml.SequenceNode && n.Tag == "!Sub":
		return plainYAML(n.Content[0])
	case n.Kind == yaml.AliasNode:
		return plainYAML(n.Alias)
	case n.Kind == yaml.ScalarNode && n.Tag == "!Sub":
		return n.Value
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		return "${Value}"
	case n.Kind == yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, plainYAML(item))
		}
		return list
	case n.Kind == yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if strings.HasPrefix(name, "Fn::") || name == "Ref" {
				return "${Value}"
			}
			object[name] = plainYAML(n.Content[i+1])
		}
		return object
	default:
		var value any
		if n.Decode(&value) != nil || n.ShortTag() == "!!timestamp" {
			return n.Value
		}
		return value
	}
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
