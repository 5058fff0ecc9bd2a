package compile_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// The conditions of all waiters and jobs of the catalogue in JSONata. What they
// compare with is "EXPECTED" here, or true.
func TestTranslationsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	users := map[string][]string{} // by condition
	for _, service := range services {
		for _, listed := range service.Entries {
			entry, err := catalog.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			in, out := entry.Operation.Input.Describe(), entry.Operation.Output.Describe()
			both := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{"input": in, "output": out}}
			seen := map[string]bool{}
			for _, a := range entry.Waiter.Acceptors {
				m, root, shape := a.Matcher.Output, "$states.result", out
				if a.Matcher.InputOutput != nil {
					m, root, shape = a.Matcher.InputOutput, "$io", both
				}
				if m == nil {
					continue
				}
				e, err := jmespath.Parse(m.Path)
				require.NoError(t, err)
				text, err := condition(tojsonata.Translate(e, root, shape), m.Comparator)
				require.NoError(t, err, "%s of %s: %s", listed.Name, service.Key, m.Path)
				require.NotContains(t, text, "function(", "%s of %s: %s has no readable form", listed.Name, service.Key, m.Path)
				if row := fmt.Sprintf("%s %s\n    %s\n", m.Path, m.Comparator, text); !seen[row] {
					seen[row] = true
					users[row] = append(users[row], service.Key+" "+listed.Name)
				}
			}
		}
	}
	var b strings.Builder
	for _, row := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&b, "%s    %d: %s\n\n", row, len(users[row]), users[row][0])
	}
	const file = "testdata/translations.txt"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "go test ./statemachines/compile -update writes it anew")
}

func condition(t *tojsonata.Translation, c pollcore.Comparator) (string, error) {
	switch c {
	case pollcore.BooleanEquals:
		return t.EqualsBool(true)
	case pollcore.AllStringEquals:
		return t.AllEqualString("EXPECTED")
	case pollcore.AnyStringEquals:
		return t.AnyEqualString("EXPECTED")
	default:
		return t.EqualsString("EXPECTED")
	}
}
