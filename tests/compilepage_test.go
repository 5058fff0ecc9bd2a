//go:build e2e

package tests_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The commands of the page print what can be run.
func TestE2ECompilePageCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(commandFile(t), filepath.Join(dir, "jobpoller")))
	waiter := `{"acceptors": [{"state": "success", "matcher": {
		"output": {"path": "ExportDescription.ExportManifest", "expected": "manifest", "comparator": "stringEquals"}}}]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.json"), []byte(waiter), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ask.json"), []byte(blocks(t, compilePage, "json")[0]), 0o600))
	commands := 0
	for line := range strings.Lines(strings.Join(blocks(t, compilePage, "sh"), "\n")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		command := exec.CommandContext(t.Context(), "sh", "-c", "./"+line)
		command.Dir = dir
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
		switch {
		case strings.Contains(line, ">"), strings.Contains(line, "--report"):
		case strings.Contains(line, " run "):
			require.Regexp(t, `^SUCCEEDED after 2[567]m`, string(out))
		default:
			require.Empty(t, asl.Validate(out, asl.Standard), line)
		}
		commands++
	}
	require.Equal(t, 9+1, commands)
}

// The probe does here what it should do at AWS.
func TestE2ECompilePageProbe(t *testing.T) {
	t.Parallel()
	probes := blocks(t, compilePage, "json")
	require.Len(t, probes, 2)
	probe := []byte(probes[1])
	require.Empty(t, asl.Validate(probe, asl.Standard))
	machine, err := asl.Parse(probe)
	require.NoError(t, err)
	result, err := sim.Run(t.Context(), machine, []byte(`{}`), sim.Options{Handlers: map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:sts:getCallerIdentity": func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: map[string]any{"Account": "123456789012"}}, nil
		},
	}})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, result.Status)
	require.Equal(t, `"done"`, string(result.Output))
	count := func(event string) int {
		return len(slices.DeleteFunc(slices.Clone(result.Events), func(e sim.Event) bool { return string(e.Type) != event }))
	}
	require.Equal(t, 3, count("TaskScheduled"))
	require.Equal(t, 2, count("EvaluationFailed"))
}
