package lint_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

var update = flag.Bool("update", false, "write what lint says of each case")

// said are what may be asked of a case: the end of a file's name, and what stands in
// it. The findings are those of each case, the others of those with such a file.
var said = map[string]func(*asl.StateMachine) string{
	".txt":         func(m *asl.StateMachine) string { return listFindings(m, lint.Options{}) },
	".express.txt": func(m *asl.StateMachine) string { return listFindings(m, lint.Options{Express: true}) },
	".loops.txt": func(m *asl.StateMachine) string {
		var loops []string
		for _, l := range lint.Loops(m, lint.Options{}) {
			loops = append(loops, l.String())
		}
		return strings.Join(loops, "\n")
	},
}

// listFindings writes findings as `jobpoller lint` prints them, a line each.
func listFindings(m *asl.StateMachine, o lint.Options) string {
	var b strings.Builder
	for _, f := range lint.Check(m, o) {
		p := f.Problem
		p.Line, p.Severity = 0, 0 // both stand before the rule
		fmt.Fprintf(&b, "%d:%d: %s %s: %s\n", f.Line, f.Column, strings.ToLower(f.Severity.String()), f.Rule, p.String())
	}
	return b.String()
}

// Each definition of testdata/cases has the findings that stand beside it.
func TestCases(t *testing.T) {
	t.Parallel()
	texts, err := filepath.Glob("testdata/cases/*/*.txt")
	require.NoError(t, err)
	definitions, err := filepath.Glob("testdata/cases/*/*.asl.json")
	require.NoError(t, err)
	require.NotEmpty(t, definitions)
	beside := map[string]bool{}
	for _, definition := range definitions {
		name := strings.TrimSuffix(definition, ".asl.json")
		for end := range said {
			beside[name+end] = true
		}
		t.Run(strings.TrimPrefix(filepath.ToSlash(name), "testdata/cases/"), func(t *testing.T) {
			t.Parallel()
			m := readMachine(t, definition)
			for end, say := range said {
				if end == ".txt" || slices.Contains(texts, name+end) {
					requireFile(t, name+end, say(m))
				}
			}
			requireEachIsTurnedOff(t, m)
		})
	}
	for _, text := range texts {
		require.True(t, beside[text], "%s has no definition", text)
	}
}

// requireFile requires the text of a file, or writes it.
func requireFile(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "go test ./statemachines/lint -run TestCases -update writes it")
	require.Equal(t, string(want), text, "go test ./statemachines/lint -run TestCases -update writes %s anew", file)
}

// requireEachIsTurnedOff requires that a finding shows its place, and that it goes, and
// nothing else does, where its rule is off.
func requireEachIsTurnedOff(t *testing.T, m *asl.StateMachine) {
	t.Helper()
	found := lint.Check(m, lint.Options{})
	for _, f := range found {
		require.NotEmpty(t, f.Snippet(), f.Message)
		others := slices.DeleteFunc(slices.Clone(found), func(other lint.Finding) bool { return other.Rule == f.Rule })
		require.ElementsMatch(t, others, lint.Check(m, lint.Options{Off: []string{f.Rule}}))
	}
}
