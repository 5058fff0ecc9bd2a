//go:build e2e

package tests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release"
)

// TestE2EWorkflowOfThePage runs the commands of docs/guide/ci.md's workflow on a
// release that is built here: with a known finding and a new one.
func TestE2EWorkflowOfThePage(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Env  map[string]string
		Jobs struct {
			Lint struct {
				Steps []struct{ Name, Uses, Run string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(blocks(t, "../docs/guide/ci.md", "yaml")[0]), &workflow))

	archives, checkout := t.TempDir(), t.TempDir()
	r := release.Release{Module: "..", Version: workflow.Env["VERSION"], Time: time.Unix(1e9, 0)}
	require.NoError(t, r.Build(t.Context(), archives, lambdabuild.Machine{System: "linux", Architecture: runtime.GOARCH}))
	require.NoError(t, os.Rename(filepath.Join(archives, release.Checksums), filepath.Join(checkout, release.Checksums)))
	loop, err := os.ReadFile(filepath.Join("..", "docs", "example", "athena", "loop.asl.json"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(checkout, "statemachines"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(checkout, "statemachines", "loop.asl.json"), loop, 0o600))

	run := func(command string) (string, error) {
		c := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", strings.ReplaceAll(command, "linux_amd64", "linux_"+runtime.GOARCH))
		c.Dir = checkout
		c.Env = append(os.Environ(), "VERSION="+workflow.Env["VERSION"], "RELEASE=file://"+archives)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	steps := map[string]string{}
	for _, s := range workflow.Jobs.Lint.Steps {
		steps[s.Name] = s.Run
	}
	out, err := run(steps["Install jobpoller"])
	require.NoError(t, err, out)
	out, err = run(steps["Write a log for code scanning"])
	require.NoError(t, err, "findings do not fail this step: %s", out)
	log, err := os.ReadFile(filepath.Join(checkout, "lint.sarif"))
	require.NoError(t, err)
	require.Contains(t, string(log), `"ruleId": "status-polls-on"`)

	out, err = run("./jobpoller lint --baseline lint.json --update-baseline statemachines")
	require.NoError(t, err, out)
	out, err = run(steps["Annotate what is new"])
	require.NoError(t, err, out)
	wrong := strings.Replace(string(loop), `"Seconds": 5`, `"Seconds": 0`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(checkout, "statemachines", "loop.asl.json"), []byte(wrong), 0o600))
	out, err = run(steps["Annotate what is new"])
	require.Error(t, err)
	require.Contains(t, out, "::warning file=statemachines/loop.asl.json,line=10,")
	require.Contains(t, out, "title=hot-loop::")

	require.NoError(t, os.WriteFile(filepath.Join(archives, "jobpoller_"+workflow.Env["VERSION"]+"_linux_"+runtime.GOARCH+".tar.gz"), []byte("another"), 0o600))
	out, err = run(steps["Install jobpoller"])
	require.Error(t, err, "an archive with another checksum is not unpacked: %s", out)
}
