package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

// press is a catalogue of one service of our own, with jobs of parts.
func press() *catalog.Catalog { return catalog.Open(os.DirFS("testdata/catalog")) }

func lintFile(t *testing.T, name string, o lint.FileOptions) []lint.Finding {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	findings, err := lint.File(text, o)
	require.NoError(t, err)
	return findings
}

func rulesOf(findings []lint.Finding) []string {
	seen := map[string]bool{}
	rules := []string{}
	for _, f := range findings {
		if !seen[f.Rule] {
			rules = append(rules, f.Rule)
		}
		seen[f.Rule] = true
	}
	return rules
}

// Each rule has a file in which it alone finds something, and one that is
// nearly the same in which nothing is found.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, rule := range lint.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, rule.About)
			options := lint.FileOptions{Catalog: press()}
			if rule.Name == lint.StatusString {
				options.Service = "press" // botocore's form does not say
			}
			wrong := filepath.Join("testdata", "rules", rule.Name+".wrong.json")
			findings := lintFile(t, wrong, options)
			require.Equal(t, []string{rule.Name}, rulesOf(findings), "%v", findings)
			for _, f := range findings {
				require.NotEmpty(t, f.Message)
				require.NotEmpty(t, f.Waiter)
				require.Positive(t, f.Line)
				require.NotEmpty(t, f.Snippet())
			}
			require.Empty(t, lintFile(t, filepath.Join("testdata", "rules", rule.Name+".right.json"), options))

			options.Off = []string{rule.Name}
			if rule.Name != lint.Format {
				require.Empty(t, lintFile(t, wrong, options))
			}
			options.Off, options.Only = nil, []string{lint.Format}
			if rule.Name != lint.Format {
				require.Empty(t, lintFile(t, wrong, options))
			}
		})
	}
}
