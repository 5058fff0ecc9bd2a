//go:build e2e

package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

// preCommitConfig is the config of docs/guide/ci.md that has a text.
func preCommitConfig(t *testing.T, with string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "ci.md"))
	require.NoError(t, err)
	for block := range strings.SplitSeq(string(page), "```yaml\n") {
		if config, _, _ := strings.Cut(block, "```"); strings.HasPrefix(config, "repos:") && strings.Contains(config, with) {
			return config
		}
	}
	require.Fail(t, "the page has no such config", with)
	return ""
}

// git runs git in a folder that has its own repository, or gets it. No variable names another.
func git(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, arguments...)...)
	command.Dir = folder
	command.Env = append(withoutRepository(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder))
	text, err := command.CombinedOutput()
	require.NoError(t, err, "git %v: %s", arguments, text)
}

// withoutRepository is the environment without the variables of git, which a hook has.
func withoutRepository() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
}

// requireHookWorks runs pre-commit in a repository that has a loop and other files: the hook finds
// what is wrong with the loop, and nothing once the loop is mended.
func requireHookWorks(t *testing.T, config string, environment ...string) {
	t.Helper()
	packages, err := pypi.Install(t.Context(), "requirements.txt")
	require.NoError(t, err)
	folder := t.TempDir()
	loop, err := os.ReadFile(filepath.Join(root, "docs", "example", "athena", "loop.asl.json"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		".pre-commit-config.yaml": config, "loop.asl.json": string(loop), "package.json": "{}", "broken.json": "{",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	git(t, folder, "init", "-q", ".")
	git(t, folder, "add", "-A")
	hook := func() (string, error) {
		command := exec.CommandContext(t.Context(), pypi.Python(), "-m", "pre_commit", "run", "--all-files", "--color", "never")
		command.Dir = folder
		command.Env = append(withoutRepository(), "PYTHONPATH="+packages, "PRE_COMMIT_HOME="+filepath.Join(folder, ".git", "hooks-of-the-test"))
		command.Env = append(command.Env, environment...)
		text, err := command.CombinedOutput()
		return string(text), err
	}
	text, err := hook()
	require.Error(t, err)
	require.Contains(t, text, "jobpoller lint...", "%s", text)
	require.Contains(t, text, "loop.asl.json:27:7: danger status-polls-on: ")
	require.Contains(t, text, "4 findings in 1 file: 1 danger, 2 warnings, 1 note")

	mended := `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "End": true}}}`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "loop.asl.json"), []byte(mended), 0o600))
	text, err = hook()
	require.NoError(t, err, text)
	require.Contains(t, text, "Passed")
}

// The hook of this repository builds the command from its sources.
func TestE2EPreCommitBuildsTheHook(t *testing.T) {
	t.Parallel()
	sources := copyTree(t)
	require.NoFileExists(t, filepath.Join(sources, ".git"), "or git would write to the repository of the tests")
	git(t, sources, "init", "-q", ".")
	git(t, sources, "add", "-A", "-f")
	git(t, sources, "commit", "-q", "-m", "x")
	git(t, sources, "tag", "v1.0.0")
	config := preCommitConfig(t, "OWNER")
	require.Contains(t, config, "https://github.com/OWNER/jobpoller")
	environment := []string{"GOFLAGS=-trimpath", "CGO_ENABLED=0"} // as a release is built, so that much is built already
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {      // pre-commit has a GOPATH of its own
		environment = append(environment, name+"="+strings.TrimSpace(run(t, sources, nil, "go", "env", name)))
	}
	requireHookWorks(t, strings.Replace(config, "https://github.com/OWNER/jobpoller", sources, 1), environment...)
}
