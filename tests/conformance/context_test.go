package conformance_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// contextSuites are the expressions of JSONata's suite that begin with a name,
// each in a state. AWS refuses them all (floci#2670, which has the figures of
// another version of the suite: 277 for the name, 20 that do not parse there).
var contextSuites = []suite{
	{name: "jsonata-context", cases: 313, folder: "jsonata-2.0.6", run: runContext},
}

var (
	beginsWithName = regexp.MustCompile("^\\s*[A-Za-z_`]")
	otherWords     = regexp.MustCompile(`^\s*(true|false|null|function)\b`)
)

func runContext(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(folder, "groups", "*", "*.json"))
	require.NoError(t, err)
	named, broken := 0, 0
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) == "function-eval" { // Step Functions has no $eval
			continue
		}
		for i, c := range jsonataCases(t, file) {
			if !beginsWithName.MatchString(c.Expr) || otherWords.MatchString(c.Expr) {
				continue
			}
			r.total++
			_, err := jsonata.Compile(c.Expr)
			switch {
			case err != nil:
				broken++
			case len(jsonata.ContextReferences(c.Expr)) > 0:
				named++
			}
			definition := inJSON(t, map[string]any{"QueryLanguage": "JSONata", "StartAt": "E", "States": map[string]any{
				"E": map[string]any{"Type": "Pass", "End": true, "Output": map[string]any{"v": "{% " + c.Expr + " %}"}},
			}})
			problems := awsErrors(definition, asl.Standard)
			if len(problems) == 0 || problems[0].Pointer != "/States/E/Output/v" {
				r.failures[fmt.Sprintf("%s/%s/%d", filepath.Base(filepath.Dir(file)), filepath.Base(file), i)] = c.Expr + ": " + problems.Brief()
			}
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("%d for the name, %d that do not parse", named, broken))
	require.Equal(t, [2]int{302, 11}, [2]int{named, broken})
	return r
}
