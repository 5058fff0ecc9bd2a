package conformance_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// validateSuites are AWS's answers to definitions. A case passes if the
// verdict is the same and, for a definition that is refused, a problem stands
// where AWS's does; AWS's words are its own.
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
		Diagnostics []struct {
			Location string `json:"location"`
		} `json:"diagnostics"`
		Refused *struct {
			Message string `json:"message"`
		} `json:"refused"`
		VariableReferences map[string][]string `json:"variableReferences"`
	} `json:"expect"`
}

func runValidations(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := result{total: len(files), failures: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c validation
		require.NoError(t, json.Unmarshal(text, &c), file)
		if what := c.check(); what != "" {
			out.failures[strings.TrimSuffix(filepath.Base(file), ".json")] = what
		}
	}
	return out
}

// place is what AWS's message says about where.
var place = regexp.MustCompile(` at (/\S*?)'?$`)

// check tells how our answer differs, or the empty string.
func (c *validation) check() string {
	definition := []byte(c.Definition)
	if c.DefinitionText != nil {
		definition = []byte(*c.DefinitionText)
	}
	problems := asl.Validate(definition, asl.ExecutionType(c.MachineType))
	problems = slices.DeleteFunc(problems, func(p diag.Problem) bool { return p.Severity != diag.Error })
	refused := len(problems) > 0
	e := c.Expect
	if want := e.Refused != nil || e.Result == "FAIL"; refused != want {
		return difference("refused", refused, want) + " " + problems.Brief()
	}
	if e.VariableReferences != nil {
		return c.checkVariables(definition)
	}
	var places []string
	if e.Refused != nil {
		if m := place.FindStringSubmatch(e.Refused.Message); m != nil {
			places = append(places, m[1])
		}
	}
	for _, d := range e.Diagnostics {
		if strings.HasPrefix(d.Location, "/") {
			places = append(places, d.Location)
		}
	}
	for _, want := range places {
		if !slices.ContainsFunc(problems, func(p diag.Problem) bool { return samePlace(p.Pointer, want) }) {
			return difference("place", problems.Brief(), want)
		}
	}
	return ""
}

// samePlace compares a pointer with AWS's place, which is that of the value or
// of the object it is a member of.
func samePlace(pointer, place string) bool {
	place = strings.TrimSuffix(place, "/")
	parent := pointer[:max(0, strings.LastIndexByte(pointer, '/'))]
	return pointer == place || parent == place
}

func (c *validation) checkVariables(definition []byte) string {
	m, err := asl.Parse(definition)
	if err != nil {
		return err.Error()
	}
	got := map[string][]string{}
	for s := range m.All {
		if names := s.Variables(); len(names) > 0 {
			got[s.Name] = names
		}
	}
	if !maps.EqualFunc(got, c.Expect.VariableReferences, slices.Equal) {
		return difference("variable references", got, c.Expect.VariableReferences)
	}
	return ""
}
