package lint_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// What stands in a case's text has its members in JSON.
func TestFindingInJSON(t *testing.T) {
	t.Parallel()
	findings := lint.Check(readMachine(t, "testdata/cases/loops/nothing-is-right.asl.json"), lint.Options{})
	require.Len(t, findings, 3)
	text, err := json.Marshal(findings[1])
	require.NoError(t, err)
	require.Contains(t, string(text), `"rule":"unretried-task"`)
	require.Contains(t, string(text), `"severity":"WARNING"`)
}

// The definitions that the project ships have no findings, but that one polls a job
// whose end an event tells.
func TestShipped(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*.asl.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.Empty(t, lint.Check(readMachine(t, file), lint.Options{Off: []string{lint.PollNeedless}}), file)
	}
}

// The advice of a message stands behind a semicolon, which a name in quotes may have, too.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for message, advice := range map[string]string{
		`the loop has no Wait; add a Wait state`:                   "add a Wait state",
		`"Wait; then look" is 0; wait between polls; or poll less`: "wait between polls; or poll less",
		`"Wait; then look" is 0`:                                   "",
	} {
		require.Equal(t, advice, lint.Finding{Problem: diag.Problem{Message: message}}.Advice(), message)
	}
}
