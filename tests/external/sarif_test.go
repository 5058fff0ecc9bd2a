package external_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"
	"github.com/xeipuuv/gojsonschema"
)

// TestSARIFLogsFitTheirSchema has each kind of finding: with a place and without,
// in a definition, in a waiter, and in a file whose name needs escaping.
func TestSARIFLogsFitTheirSchema(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := map[string]string{
		"a loop#1.asl.json": `{"StartAt": "W", "States": {
			"W": {"Type": "Wait", "Seconds": 1, "Next": "G"},
			"G": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "a", "RunId": "b"}, "Next": "W"}}}`,
		"wrong.asl.json": `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Second": 1, "End": true}}}`,
		"text.asl.json":  `nothing`,
		"waiter.json":    `{"acceptors": [{"state": "success", "matcher": {"output": {"path": "A.B", "expected": "x", "comparator": "stringEquals"}}}]}`,
	}
	args := []string{"lint", "-o", "sarif"}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
		args = append(args, name)
	}
	program := filepath.Join(folder, "jobpoller")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/jobpoller")
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	lint := exec.CommandContext(t.Context(), program, args...)
	lint.Dir = folder
	log, err := lint.Output()
	exit, found := errors.AsType[*exec.ExitError](err)
	require.True(t, found && exit.ExitCode() == 1, "%v: %s", err, log)

	result, err := gojsonschema.Validate(gojsonschema.NewStringLoader(sarifSchema(t)), gojsonschema.NewBytesLoader(log))
	require.NoError(t, err)
	require.Empty(t, result.Errors())
	report, err := sarif.FromBytes(log)
	require.NoError(t, err)
	rules := map[string]bool{}
	for _, r := range report.Runs[0].Tool.Driver.Rules {
		rules[*r.ID] = true
	}
	seen := map[string]bool{}
	for _, r := range report.Runs[0].Results {
		seen[*r.Locations[0].PhysicalLocation.ArtifactLocation.URI] = true
		require.True(t, rules[*r.RuleID], "the log has the rule %s", *r.RuleID)
	}
	require.Equal(t, map[string]bool{"a%20loop%231.asl.json": true, "wrong.asl.json": true, "text.asl.json": true, "waiter.json": true}, seen)
}

// sarifSchema is the schema of SARIF 2.1.0, which go-sarif has in a constant that it
// does not export. Its own Validate adds members to the log before.
func sarifSchema(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "schema.go"))
	require.NoError(t, err)
	_, schema, _ := strings.Cut(string(source), "`")
	schema, _, found := strings.Cut(schema, "`")
	require.True(t, found)
	return schema
}
