//go:build e2e

package tests_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// The Go samples of all pages are tests that pass as they stand there, in a module
// of a user's that requires this one, each in a folder with the definitions and
// mocks of docs/example. Those with constructs of the CDK need Node.js; without it
// they are compiled, and in CI they fail.
func TestE2EGoSamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	sum, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	_, requirements, _ := strings.Cut(string(mod), "\n")
	write("go.mod", "module example.com/user\n"+requirements+"require "+module+" v0.0.0\nreplace "+module+" => "+root+"\n")
	write("go.sum", string(sum))
	_, noNode := exec.LookPath("node")
	test, vet := []string{"test", "-mod=mod", "-count=1"}, []string{"vet", "-mod=mod"}
	run, compile := len(test), len(vet)
	for _, page := range pages(t) {
		for i, sample := range blocks(t, page, "go") {
			if page == driversPage {
				continue // a file of docs/example, which is built and tested there
			}
			folder := strings.TrimSuffix(filepath.Base(page), ".md") + strconv.Itoa(i)
			write(folder+"/sample_test.go", sample)
			copyExamples(t, filepath.Join(dir, folder))
			if noNode != nil && strings.Contains(sample, module+"/cdkapp") && os.Getenv("CI") != "true" {
				vet = append(vet, "./"+folder)
			} else {
				test = append(test, "./"+folder)
			}
		}
	}
	goTool := func(args ...string) string {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	if len(vet) > compile {
		t.Logf("samples with the CDK are only compiled: %v", noNode)
		goTool(vet...)
	}
	require.Greater(t, len(test), run)
	out := goTool(test...)
	require.Equal(t, len(test)-run, strings.Count("\n"+out, "\nok "), "%s", out)
}

// functionsPage has the request of the Lambda functions, and a machine around them.
const functionsPage = "../docs/reference/functions.md"

// The JSON samples of the page are valid: a definition parses, and runs with a
// request.
func TestE2EFunctionsPageJSONSamples(t *testing.T) {
	t.Parallel()
	definitions := 0
	for _, sample := range blocks(t, functionsPage, "json") {
		require.True(t, json.Valid([]byte(sample)), sample)
		if !strings.Contains(sample, `"StartAt"`) {
			continue
		}
		definitions++
		require.Empty(t, asl.Validate([]byte(sample), asl.Standard))
		machine, err := asl.Parse([]byte(sample))
		require.NoError(t, err)
		require.Empty(t, lint.Check(machine, lint.Options{}))

		dir := t.TempDir()
		definition, input := filepath.Join(dir, "machine.asl.json"), filepath.Join(dir, "request.json")
		require.NoError(t, os.WriteFile(definition, []byte(sample), 0o600))
		require.NoError(t, os.WriteFile(input, []byte(`{"job": "lambda:Invoke", "maxWaitSeconds": 1800,
			"arguments": {"FunctionName": "jobpoller-sample-job", "Payload": {"seconds": 900}}}`), 0o600))
		command := exec.CommandContext(t.Context(), "go", "run", "../cmd/jobpoller", "run", "--virtual", "-o", "json", "--input", input, definition)
		out, err := command.Output()
		require.NoError(t, err, "%s", out)
		var result struct {
			Status string `json:"status"`
			Output struct {
				Attempt        int `json:"attempt"`
				ElapsedSeconds int `json:"elapsedSeconds"`
			} `json:"output"`
		}
		require.NoError(t, json.Unmarshal(out, &result))
		require.Equal(t, "SUCCEEDED", result.Status)
		require.Greater(t, result.Output.Attempt, 5, "attempts are counted through the state's input")
		require.GreaterOrEqual(t, result.Output.ElapsedSeconds, 900)
	}
	require.Equal(t, 1, definitions)
}
