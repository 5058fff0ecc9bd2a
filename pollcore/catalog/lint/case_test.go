package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

// Each file of waiters has the findings that stand beside it. Those in handwritten have
// defects like those that people wrote for AWS's services. Those in reach are of a
// service of our own: an acceptor is said to match nothing only if that is proved, and
// what a function tells apart is not known.
func TestCases(t *testing.T) {
	t.Parallel()
	for folder, options := range map[string]func(name string) lint.FileOptions{
		"handwritten": func(name string) lint.FileOptions { return lint.FileOptions{Service: name} },
		"reach":       func(string) lint.FileOptions { return lint.FileOptions{Catalog: press()} },
	} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		texts, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
		require.NoError(t, err)
		for _, text := range texts {
			require.Contains(t, files, strings.TrimSuffix(text, ".txt")+".json")
		}
		for _, file := range files {
			path := strings.TrimSuffix(file, ".json")
			name := filepath.Base(path)
			t.Run(folder+"/"+name, func(t *testing.T) {
				t.Parallel()
				var found strings.Builder // as `jobpoller lint` prints it
				for _, f := range lintFile(t, file, options(name)) {
					p := f.Problem
					p.Line, p.Severity = 0, 0 // both stand before the rule
					fmt.Fprintf(&found, "%d:%d: %s %s: %s\n", f.Line, f.Column, strings.ToLower(f.Severity.String()), f.Rule, p.String())
				}
				if *update {
					require.NoError(t, os.WriteFile(path+".txt", []byte(found.String()), 0o600))
				}
				want, err := os.ReadFile(path + ".txt")
				require.NoError(t, err)
				require.Equal(t, string(want), found.String(), "go test ./pollcore/catalog/lint -run TestCases -update writes %s.txt anew", path)
			})
		}
	}
}
