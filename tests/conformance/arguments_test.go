package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// argumentSuites are Tasks whose arguments AWS took. A case passes if the
// service's model takes them too.
var argumentSuites = []suite{
	{name: "aws-samples-arguments", folder: "aws-samples", cases: 606, run: runSampleArguments},
	{name: "asl-recordings-arguments", folder: "asl-recordings/execution", cases: 110, run: runRecordedArguments},
}

// runSampleArguments checks what is written out in the arguments of the Tasks
// that AWS publishes; values that are computed are left out.
func runSampleArguments(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	for _, definitions := range sampleDefinitions(t, folder) {
		for _, d := range definitions {
			m, err := d.Parse()
			if err != nil || d.Template != "" {
				continue // suite sources has it, or the file has it by itself
			}
			for s := range m.All {
				if s.Task == nil {
					continue
				}
				arguments := s.Parameters
				if arguments == nil {
					arguments = s.Arguments
				}
				out.checkArguments(t, d.Name+" "+s.Name, s.Task.Resource, written(arguments))
			}
		}
	}
	return out
}

// runRecordedArguments checks what Tasks were scheduled with.
func runRecordedArguments(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := result{failures: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c struct {
			Tasks []struct {
				State    string `json:"state"`
				Resource string `json:"resource"`
				Attempts []struct {
					Parameters json.RawMessage `json:"parameters"`
				} `json:"attempts"`
			} `json:"tasks"`
		}
		require.NoError(t, json.Unmarshal(text, &c), file)
		for _, task := range c.Tasks {
			for i, a := range task.Attempts {
				var arguments any
				d := json.NewDecoder(bytes.NewReader(a.Parameters))
				d.UseNumber()
				if len(a.Parameters) > 0 {
					require.NoError(t, d.Decode(&arguments), file)
				}
				out.checkArguments(t, fmt.Sprintf("%s %s %d", filepath.Base(file), task.State, i), task.Resource, arguments)
			}
		}
	}
	return out
}

// checkArguments adds a case if the API of the resource is known.
func (r *result) checkArguments(t *testing.T, name, resource string, arguments any) {
	t.Helper()
	api, err := typecheck.FindAPI(resource, models.Load)
	require.NoError(t, err)
	if api.Input == nil {
		return
	}
	r.total++
	if problems := api.CheckArguments(arguments); len(problems) > 0 {
		r.failures[name] = resource + ": " + strings.Join(problems, "; ")
	}
}

// written is what a template has in words: null for what is computed.
func written(template *asl.Template) any {
	if template == nil {
		return nil
	}
	switch template.Kind {
	case asl.TemplateLiteral:
		return literal(template.Literal)
	case asl.TemplateObject:
		object := map[string]any{}
		for _, m := range template.Object {
			object[m.Name] = written(m.Value)
		}
		return object
	case asl.TemplateArray:
		list := make([]any, len(template.Array))
		for i, item := range template.Array {
			list[i] = written(item)
		}
		return list
	default:
		return nil
	}
}

// literal is a literal without the values that are put in at deployment.
func literal(value any) any {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "${") {
			return nil
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = literal(item)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			object[name] = literal(item)
		}
		return object
	}
	return value
}
