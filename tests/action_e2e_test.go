//go:build e2e

package tests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// action is action.yml, as GitHub reads it.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Shell, Run string
			Env            map[string]string
		}
	}
}

func readAction(t *testing.T) *action {
	t.Helper()
	text, err := os.ReadFile("../action.yml")
	require.NoError(t, err)
	var a action
	require.NoError(t, yaml.Unmarshal(text, &a))
	return &a
}

// build is a run of the action in a checkout, as a runner of GitHub's makes it.
type build struct {
	checkout, temporary string
	server              string // a folder in the place of GitHub
	environment         []string
}

// ran is what a build gave.
type ran struct {
	err     error
	log     string
	summary string
	outputs map[string]string
}

// newBuild is a build on this machine. The action is kept as the runner keeps one of a tag.
func newBuild(t *testing.T, checkout, tag string, environment ...string) *build {
	t.Helper()
	systems := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
	b := &build{checkout: checkout, temporary: filepath.Join(t.TempDir(), "a runner's"), server: t.TempDir()}
	require.NoError(t, os.Mkdir(b.temporary, 0o750))
	b.environment = append(withoutRepository(),
		"GITHUB_WORKSPACE="+checkout, "GITHUB_SERVER_URL=file://"+b.server, "GITHUB_ACTION_PATH="+filepath.Join(b.temporary, "_actions", "team", "jobpoller", tag),
		"RUNNER_OS="+systems[runtime.GOOS], "RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH], "RUNNER_TEMP="+b.temporary,
		"GITHUB_BASE_REF=",
	)
	b.environment = append(b.environment, environment...)
	return b
}

// run runs the steps of the action with some inputs, up to the first that fails.
func (b *build) run(t *testing.T, inputs map[string]string) ran {
	t.Helper()
	a := readAction(t)
	var r ran
	values := map[string]string{}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		require.Contains(t, a.Inputs, name)
		values["inputs."+name] = value
	}
	output, summary, path := filepath.Join(b.temporary, "output"), filepath.Join(b.temporary, "summary"), filepath.Join(b.temporary, "path")
	require.NoError(t, os.WriteFile(summary, nil, 0o600))
	for _, step := range a.Runs.Steps {
		require.NoError(t, os.WriteFile(output, nil, 0o600))
		script := filepath.Join(b.temporary, "script.sh")
		require.NoError(t, os.WriteFile(script, []byte(step.Run), 0o600))
		require.Equal(t, "bash", step.Shell)
		command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		command.Dir = b.checkout
		command.Env = append(slices.Clone(b.environment), "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_PATH="+path)
		for name, value := range step.Env {
			command.Env = append(command.Env, name+"="+expand(t, value, values))
		}
		text, err := command.CombinedOutput()
		r.err, r.log = err, r.log+string(text)
		written, readErr := os.ReadFile(output)
		require.NoError(t, readErr)
		for line := range strings.Lines(string(written)) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			require.True(t, ok)
			values["steps."+step.ID+".outputs."+name] = value
		}
		if err != nil {
			break
		}
	}
	text, err := os.ReadFile(summary)
	require.NoError(t, err)
	r.summary, r.outputs = string(text), map[string]string{}
	for name, output := range a.Outputs {
		r.outputs[name] = expand(t, output.Value, values)
	}
	return r
}

// expand is an expression of GitHub's that is a name alone. An output that no step wrote is empty.
func expand(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	name, isExpression := strings.CutPrefix(text, "${{ ")
	if !isExpression {
		return text
	}
	name, isExpression = strings.CutSuffix(name, " }}")
	require.True(t, isExpression, text)
	value, known := values[name]
	require.True(t, known || strings.HasPrefix(name, "steps."), "no input %s", name)
	return value
}

// What a pull request's author writes is no part of a script: an input gets there by the
// environment.
func TestE2EActionExpandsNothingInScripts(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	require.Equal(t, "composite", a.Runs.Using)
	require.Len(t, a.Runs.Steps, 2)
	for _, step := range a.Runs.Steps {
		require.NotContains(t, step.Run, "${{")
		require.NotContains(t, step.Run, "eval")
	}
	for name, input := range a.Inputs {
		require.NotEmpty(t, input.Description, name)
	}
	for name, output := range a.Outputs {
		require.NotEmpty(t, output.Description, name)
	}
}

// repository is a checkout of a branch, beside the repository that it comes from.
func repository(t *testing.T, files map[string]string) (checkout string) {
	t.Helper()
	folder := t.TempDir()
	checkout = filepath.Join(folder, "a checkout")
	git(t, folder, "init", "-q", "-b", "main", "origin")
	write(t, filepath.Join(folder, "origin"), files)
	commit(t, filepath.Join(folder, "origin"))
	git(t, folder, "clone", "-q", "origin", checkout)
	git(t, checkout, "checkout", "-q", "-b", "change")
	return checkout
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	command.Dir, command.Env = folder, withoutRepository()
	text, err := command.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, text)
	return string(text)
}

// withoutRepository is the environment without the variables of git, which a hook has.
func withoutRepository() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
}

func commit(t *testing.T, folder string) {
	t.Helper()
	git(t, folder, "add", "-A")
	git(t, folder, "commit", "-q", "-m", "x")
}

// athenaLoop is the loop of the README, and slowLoop what a pull request makes of it: another
// Wait, and a status that there is not.
func athenaLoop(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, "athena", "loop.asl.json"))
	require.NoError(t, err)
	return string(text)
}

func slowLoop(t *testing.T) string {
	t.Helper()
	return strings.NewReplacer(`"Seconds": 5`, `"Seconds": 60`, `"StringEquals": "FAILED"`, `"StringEquals": "FAIL"`).Replace(athenaLoop(t))
}

// A pull request gets annotations of what is new, a log of everything, a summary with what changed
// in the loops, and the repairs.
func TestE2EActionInAPullRequest(t *testing.T) {
	t.Parallel()
	template := "Resources:\n  Query:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Definition:\n" + indented(athenaLoop(t), "        ")
	template += "  Again:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Definition:\n" + indented(athenaLoop(t), "        ")
	checkout := repository(t, map[string]string{"machines/loop.asl.json": athenaLoop(t), "machines/t/template.yaml": template, "README.md": "x"})
	write(t, checkout, map[string]string{"machines/loop.asl.json": slowLoop(t)})
	commit(t, checkout)
	b := newBuild(t, checkout, "v1", "GITHUB_BASE_REF=main")
	inputs := map[string]string{"binary": commandFile(t), "files": "machines/loop.asl.json\n\nmachines/t\n"}
	r := b.run(t, inputs)
	require.Error(t, r.err)
	var annotations []string
	for line := range strings.Lines(r.log) {
		if place, _, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::"); ok && strings.HasPrefix(line, "::") {
			annotations = append(annotations, place)
		}
	}
	require.Equal(t, []string{ // the word that is no status, and the status that polls on for it beside the one that did
		"error file=machines/loop.asl.json,line=25,col=33,title=enum-value", "error file=machines/loop.asl.json,line=27,col=7,title=status-polls-on",
	}, annotations, r.log)
	require.Contains(t, r.log, "\n| 2 dangers in 2 files; 11 findings of origin/main stay, 1 is gone\n")

	log, err := os.ReadFile(r.outputs["sarif"])
	require.NoError(t, err)
	require.Contains(t, string(log), `"ruleId": "unbounded-loop"`)
	require.Contains(t, string(log), `"uri": "machines/t/template.yaml"`)

	require.Contains(t, r.summary, "\n2 dangers in 2 files; 11 findings of origin/main stay, 1 is gone\n")
	require.Contains(t, r.summary, "\n### Loops that changed since origin/main\n\n```diff\nmachines/loop.asl.json\n")
	require.Contains(t, r.summary, "\n-   a day of polls costs $1.30; sees the end up to 5s late\n+   a day of polls costs $0.11; sees the end up to 1m late\n```\n")
	require.Contains(t, r.summary, "\n### Poll loops\n\n```text\n")
	require.Contains(t, r.summary, "\n### Sure repairs: jobpoller fix --write\n\n```diff\ndiff --git a/machines/loop.asl.json b/machines/loop.asl.json\n")
	kept, err := os.ReadFile(r.outputs["summary"])
	require.NoError(t, err)
	require.Equal(t, r.summary, string(kept))

	require.Empty(t, git(t, checkout, "status", "--porcelain"), "the checkout stays as it is")
	require.Equal(t, 1, strings.Count(git(t, checkout, "worktree", "list"), "\n"))
	git(t, checkout, "apply", r.outputs["patch"])
	require.Equal(t, " M machines/loop.asl.json\n M machines/t/template.yaml\n", git(t, checkout, "status", "--porcelain"))
	repaired, err := os.ReadFile(filepath.Join(checkout, "machines/t/template.yaml"))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(repaired), "CANCELLED"), "each machine of the template is repaired")

	inputs["fail"] = "false"
	require.NoError(t, b.run(t, inputs).err)
	inputs["severity"], inputs["fail"] = "error", "true"
	require.NoError(t, b.run(t, inputs).err)
}

func indented(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(by + line)
	}
	return b.String()
}

// Outside of a pull request all findings count, but for those of a baseline.
func TestE2EActionWithABaseline(t *testing.T) {
	t.Parallel()
	checkout := repository(t, map[string]string{"x/machines/loop.asl.json": athenaLoop(t)})
	lint := exec.CommandContext(t.Context(), commandFile(t), "lint", "--baseline", "lint.json", "--update-baseline", "machines")
	lint.Dir = filepath.Join(checkout, "x")
	require.NoError(t, lint.Run())
	write(t, checkout, map[string]string{"x/machines/loop.asl.json": slowLoop(t)})
	b := newBuild(t, checkout, "v1")
	inputs := map[string]string{"binary": commandFile(t), "directory": "x", "files": "machines"}
	r := b.run(t, inputs)
	require.Error(t, r.err)
	require.Contains(t, r.log, "title=unbounded-loop::")
	require.NotContains(t, r.summary, "changed")
	inputs["baseline"] = "lint.json"
	r = b.run(t, inputs)
	require.Error(t, r.err)
	require.NotContains(t, r.log, "title=unbounded-loop::")
	require.Contains(t, r.log, "::error file=x/machines/loop.asl.json,line=25,col=33,title=enum-value::")

	write(t, checkout, map[string]string{"x/machines/loop.asl.json": `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "End": true}}}`})
	commit(t, checkout)
	r = b.run(t, inputs)
	require.NoError(t, r.err, r.log)
	require.Empty(t, r.outputs["patch"])
	require.NotContains(t, r.summary, "###")
}

// What cannot be checked is an annotation that says why, and names of files are no commands of
// the shell or of the runner.
func TestE2EActionSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	checkout := repository(t, map[string]string{"machines/loop.asl.json": athenaLoop(t)})
	b := newBuild(t, checkout, "v1", "GITHUB_BASE_REF=other")
	for want, inputs := range map[string]map[string]string{
		"::error title=jobpoller::jobpoller: --diff origin/other: git knows no commit origin/other: ": {"files": "machines"},
		"::error title=jobpoller::jobpoller: there is no file $(touch pwned)":                         {"files": "$(touch pwned)\n`touch pwned`\"; touch pwned; \"", "base": "main"},
		"::error title=jobpoller::binary: there is no program ./nowhere":                              {"binary": "./nowhere"},
		"::error title=jobpoller::version must be that of a release, such as v1.0.0, is ../x":         {"binary": "", "version": "../x"},
		"::error title=jobpoller::cannot download file://":                                            {"binary": ""},
		"::error title=jobpoller::fail must be true or false, is True%0A::x":                          {"fail": "True\n::x"},
	} {
		if _, given := inputs["binary"]; !given {
			inputs["binary"] = commandFile(t)
		}
		r := b.run(t, inputs)
		require.Error(t, r.err)
		require.Contains(t, "\n"+r.log, "\n"+want)
	}
	require.Empty(t, git(t, checkout, "status", "--porcelain"))
	strange := "m/::error ::\n```\"';$(x).asl.json"
	write(t, checkout, map[string]string{strange: slowLoop(t)})
	r := b.run(t, map[string]string{"binary": commandFile(t), "files": "m", "base": "main"})
	require.Error(t, r.err)
	for line := range strings.Lines(r.log) {
		require.Regexp(t, `^(::(error|warning|notice) file=m/|[^:])`, line)
	}
	require.Contains(t, r.summary, "````diff\n")
}

// hotLoop is a loop without a Wait: the table of loops does not have it, and fix adds one.
func hotLoop(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../statemachines/fix/testdata/repair/hot-loop.asl.json")
	require.NoError(t, err)
	return string(text)
}

// The patch has the repairs of all findings, also where a name is absolute or JSON escapes it. It
// leaves the checkout and other folders as they are.
func TestE2EActionRepairsInTheSecondTreeAlone(t *testing.T) {
	t.Parallel()
	checkout := repository(t, map[string]string{"x/m/hot.asl.json": hotLoop(t), `x/m/a"b.asl.json`: hotLoop(t), "y/loop.asl.json": slowLoop(t)})
	other := t.TempDir()
	write(t, other, map[string]string{"hot.asl.json": hotLoop(t)})
	b := newBuild(t, checkout, "v1")
	files := strings.Join([]string{filepath.Join(checkout, "x", "m"), filepath.Join(checkout, "y"), other}, "\n")
	r := b.run(t, map[string]string{"binary": commandFile(t), "directory": "x", "files": files, "fail": "false"})
	require.NoError(t, r.err, r.log)
	require.Empty(t, git(t, checkout, "status", "--porcelain"))
	text, err := os.ReadFile(filepath.Join(other, "hot.asl.json"))
	require.NoError(t, err)
	require.Equal(t, hotLoop(t), string(text))
	git(t, checkout, "apply", r.outputs["patch"])
	require.Equal(t, " M \"x/m/a\\\"b.asl.json\"\n M x/m/hot.asl.json\n", git(t, checkout, "status", "--porcelain"))
}

// It has those of a definition that a template or a module of Terraform names.
func TestE2EActionRepairsWhatTemplatesName(t *testing.T) {
	t.Parallel()
	const template = `Resources:
  Hot:
    Type: AWS::Serverless::StateMachine
    Properties: {DefinitionUri: sm/hot.asl.json}
`
	const module = `resource "aws_sfn_state_machine" "hot" {
  definition = templatefile("${path.module}/loops/hot.json", {})
}
`
	checkout := repository(t, map[string]string{"template.yaml": template, "sm/hot.asl.json": hotLoop(t), "tf/main.tf": module, "tf/loops/hot.json": hotLoop(t)})
	b := newBuild(t, checkout, "v1")
	for _, files := range []string{".", filepath.Join(checkout, "template.yaml") + "\n" + filepath.Join(checkout, "tf", "main.tf")} {
		r := b.run(t, map[string]string{"binary": commandFile(t), "files": files, "fail": "false"})
		require.NoError(t, r.err, r.log)
		git(t, checkout, "apply", r.outputs["patch"])
		require.Equal(t, " M sm/hot.asl.json\n M tf/loops/hot.json\n", git(t, checkout, "status", "--porcelain"))
		git(t, checkout, "checkout", "--quiet", ".")
	}
}

// Where git has no repository or makes no second tree, there is no patch, and the findings decide.
func TestE2EActionWithoutAPatch(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"bad.asl.json": slowLoop(t), "good.asl.json": `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "End": true}}}`})
	broken := repository(t, map[string]string{"bad.asl.json": slowLoop(t), "good.asl.json": `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "End": true}}}`})
	hook := filepath.Join(broken, ".git", "hooks", "post-checkout")
	write(t, broken, map[string]string{".git/hooks/post-checkout": "#!/bin/sh\nexit 1\n"})
	require.NoError(t, os.Chmod(hook, 0o700))
	for _, checkout := range []string{folder, broken} {
		b := newBuild(t, checkout, "v1")
		r := b.run(t, map[string]string{"binary": commandFile(t), "files": "good.asl.json"})
		require.NoError(t, r.err, r.log)
		require.Contains(t, r.log, "\nThere is no patch: git cannot make a second working tree\n")
		r = b.run(t, map[string]string{"binary": commandFile(t), "files": "bad.asl.json"})
		require.Error(t, r.err)
		require.Contains(t, r.log, "title=enum-value::")
		require.Contains(t, r.summary, "\n### Poll loops\n")
		require.NotContains(t, r.summary, "Sure repairs")
		require.Empty(t, r.outputs["patch"])
		require.FileExists(t, r.outputs["sarif"])
	}
	require.Equal(t, 1, strings.Count(git(t, broken, "worktree", "list"), "\n"))
}

// The outputs of a use stay when a job uses the action again.
func TestE2EActionTwiceInAJob(t *testing.T) {
	t.Parallel()
	checkout := repository(t, map[string]string{"a/hot.asl.json": hotLoop(t), "b/loop.asl.json": slowLoop(t)})
	b := newBuild(t, checkout, "v1")
	inputs := map[string]string{"binary": commandFile(t), "fail": "false"}
	var runs []ran
	for _, folder := range []string{"a", "b"} {
		inputs["directory"] = folder
		runs = append(runs, b.run(t, inputs))
	}
	for _, name := range []string{"sarif", "patch", "summary"} {
		first, err := os.ReadFile(runs[0].outputs[name])
		require.NoError(t, err)
		require.Contains(t, string(first), "hot.asl.json")
		second, err := os.ReadFile(runs[1].outputs[name])
		require.NoError(t, err)
		require.NotContains(t, string(second), "hot.asl.json")
	}
}
