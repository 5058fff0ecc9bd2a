//go:build e2e

package tests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release"
)

const ciPage = book + "/guide/ci.md"

// TestE2EWorkflowOfThePage runs the workflow of docs/guide/ci.md: the action of this repository, on
// a release that is built here, in a pull request.
func TestE2EWorkflowOfThePage(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs struct {
			Lint struct {
				Steps []struct {
					Uses, If string
					With     map[string]string
				}
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(blocks(t, ciPage, "yaml")[0]), &workflow))
	steps := workflow.Jobs.Lint.Steps
	require.Equal(t, "0", steps[0].With["fetch-depth"])
	tag, isAction := strings.CutPrefix(steps[1].Uses, "OWNER/jobpoller@")
	require.True(t, isAction)

	checkout := repository(t, map[string]string{"statemachines/loop.asl.json": athenaLoop(t)})
	write(t, checkout, map[string]string{"statemachines/loop.asl.json": slowLoop(t)})
	commit(t, checkout)
	b := newBuild(t, checkout, tag, "GITHUB_BASE_REF=main")
	files := filepath.Join(b.server, "team", "jobpoller", "releases", "download", tag)
	r := release.Release{Module: "..", Version: tag, Time: time.Unix(1e9, 0)}
	require.NoError(t, r.Build(t.Context(), files, lambdabuild.Host()))
	result := b.run(t, steps[1].With)
	require.Error(t, result.err)
	require.Contains(t, result.log, "title=enum-value::", "%s", result.log)
	require.Contains(t, result.summary, strings.TrimSuffix(blocks(t, ciPage, "diff")[0], "\n"))
	for _, step := range steps[2:] { // they take outputs that there are
		for _, value := range append([]string{step.If}, step.With["sarif_file"], step.With["path"]) {
			for name := range strings.FieldsSeq(strings.ReplaceAll(value, "steps.jobpoller.outputs.", " output:")) {
				if name, isOutput := strings.CutPrefix(name, "output:"); isOutput {
					require.FileExists(t, result.outputs[name])
				}
			}
		}
	}
	path, err := os.ReadFile(filepath.Join(b.temporary, "path"))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(strings.TrimSpace(string(path)), lambdabuild.Program("jobpoller", lambdabuild.Host())), "later steps have the program")

	// The committed checksums count, and an archive with other bytes is not unpacked.
	sums, err := os.ReadFile(filepath.Join(files, release.Checksums))
	require.NoError(t, err)
	archives, err := filepath.Glob(filepath.Join(files, "jobpoller_*_"+lambdabuild.Host().System+"_*"))
	require.NoError(t, err)
	require.Len(t, archives, 1)
	for line := range strings.Lines(string(sums)) {
		if strings.Contains(line, filepath.Base(archives[0])) {
			write(t, checkout, map[string]string{"sums.txt": strings.TrimSuffix(line, "\n")}) // some editors end a file so
		}
	}
	inputs := map[string]string{"files": "statemachines", "checksums": "sums.txt", "release": "file://" + files, "version": tag, "fail": "false"}
	require.NoError(t, os.Remove(filepath.Join(files, release.Checksums)))
	result = b.run(t, inputs)
	require.NoError(t, result.err, result.log)
	require.NoError(t, os.WriteFile(archives[0], []byte("another"), 0o600))
	result = b.run(t, inputs)
	require.Error(t, result.err)
	require.Contains(t, result.log, "has another SHA-256 than checksums.txt says")
	write(t, checkout, map[string]string{"sums.txt": "0  other\n"})
	result = b.run(t, inputs)
	require.Error(t, result.err)
	require.Contains(t, result.log, "checksums.txt has no line for jobpoller_"+tag)
}

// The script of the page for GitLab fails for what is new.
func TestE2EGitLabOfThePage(t *testing.T) {
	t.Parallel()
	var pipeline struct {
		Lint struct {
			Variables map[string]string
			Script    []string
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(blocks(t, ciPage, "yaml")[1]), &pipeline))
	require.Equal(t, "0", pipeline.Lint.Variables["GIT_DEPTH"])
	checkout := repository(t, map[string]string{"statemachines/loop.asl.json": athenaLoop(t)})
	run := func() (string, error) {
		script := exec.CommandContext(t.Context(), "sh", "-ec", strings.Join(pipeline.Lint.Script, "\n"))
		script.Dir = checkout
		script.Env = append(withoutRepository(), "PATH="+filepath.Dir(commandFile(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
			"CI_MERGE_REQUEST_DIFF_BASE_SHA="+strings.TrimSpace(git(t, checkout, "rev-parse", "origin/main")))
		text, err := script.CombinedOutput()
		return string(text), err
	}
	text, err := run()
	require.NoError(t, err, text)
	write(t, checkout, map[string]string{"statemachines/loop.asl.json": slowLoop(t)})
	text, err = run()
	require.Error(t, err)
	require.Contains(t, text, "danger enum-value")
}

// The baseline of the page keeps what is known.
func TestE2EBaselineOfThePage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	copyExamples(t, filepath.Join(folder, "docs", "example"))
	for line := range strings.Lines(blocks(t, ciPage, "sh")[0]) {
		command := exec.CommandContext(t.Context(), "sh", "-ec", line)
		command.Dir = folder
		command.Env = append(os.Environ(), "PATH="+filepath.Dir(commandFile(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
		text, err := command.CombinedOutput()
		require.NoError(t, err, "%s", text)
		require.Contains(t, string(text), "0 findings in")
	}
}
