//go:build e2e

package tests_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	mocksPage = "../docs/reference/mocks.md"
	examples  = "../docs/example"
)

// copyExamples copies the definitions, mocks and requests of docs/example.
func copyExamples(t *testing.T, to string) {
	t.Helper()
	for _, folder := range []string{"", "athena", "batch", "sam", "settings", "terraform"} {
		var files []string
		for _, end := range []string{".json", ".yaml", ".tf", ".tftpl"} {
			found, err := filepath.Glob(filepath.Join(examples, folder, "*"+end))
			require.NoError(t, err)
			files = append(files, found...)
		}
		require.NotEmpty(t, files)
		require.NoError(t, os.MkdirAll(filepath.Join(to, folder), 0o755))
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(to, folder, filepath.Base(file)), text, 0o600))
		}
	}
}

// shell runs command lines that begin with "jobpoller", as from a clone.
type shell struct{ command, dir string }

func newShell(t *testing.T) shell {
	t.Helper()
	s := shell{command: commandFile(t), dir: t.TempDir()}
	copyExamples(t, filepath.Join(s.dir, "docs/example"))
	return s
}

// run returns what the line prints, on either stream, and the exit code.
func (s shell) run(t *testing.T, line string) (output string, code int) {
	t.Helper()
	require.True(t, strings.HasPrefix(line, "jobpoller "), line)
	command := exec.CommandContext(t.Context(), "sh", "-c", line)
	command.Dir = s.dir
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(s.command)+string(os.PathListSeparator)+os.Getenv("PATH"))
	text, err := command.CombinedOutput()
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(text), failure.ExitCode()
	}
	require.NoError(t, err, line)
	return string(text), 0
}

// write writes a file into the current folder of the shell.
func (s shell) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
}

// The page shows the mocks of docs/example in our form as they are, and its
// commands print what it says and end with the code it says, 0 if it is silent.
func TestE2EMocksPage(t *testing.T) {
	t.Parallel()
	shown := slices.Concat(blocks(t, mocksPage, "json"), blocks(t, mocksPage, "text"))
	consoles := strings.Join(blocks(t, mocksPage, "console"), "")
	files, err := filepath.Glob(examples + "/*.json")
	require.NoError(t, err)
	mocks := 0
	for _, file := range files {
		name := filepath.Base(file)
		if name == "request.json" {
			continue
		}
		require.Contains(t, consoles, " docs/example/"+name+" ", "no command of docs/reference/mocks.md uses the file")
		if strings.HasSuffix(name, ".asl.json") || strings.HasSuffix(name, ".MockConfigFile.json") {
			continue // a definition, or AWS's own form, which AWS documents
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, shown, string(text), "docs/reference/mocks.md does not show %s as it is", name)
		mocks++
	}
	template, err := os.ReadFile(examples + "/template.asl.json")
	require.NoError(t, err)
	require.Contains(t, shown, string(template))
	require.Len(t, shown, mocks+1, "docs/reference/mocks.md shows a file that docs/example does not have")

	s := newShell(t)
	for _, console := range blocks(t, mocksPage, "console") {
		var code int
		for part := range strings.SplitSeq(strings.TrimPrefix(console, "$ "), "\n$ ") {
			line, want, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
			if line == "echo $?" {
				require.Equal(t, want, strconv.Itoa(code))
				code = 0
				continue
			}
			require.Zero(t, code, "the page does not say how the command before ends: %s", line)
			var output string
			output, code = s.run(t, line)
			require.Equal(t, want+"\n", output, line)
		}
		require.Zero(t, code, "the page does not say how the last command ends:\n%s", console)
	}
}

// The commands of the pages that use files of docs/example succeed.
func TestE2EPageExamples(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	commands := 0
	for _, page := range pages(t) {
		for _, block := range blocks(t, page, "sh") {
			for line := range strings.Lines(block) {
				line, _, _ = strings.Cut(line, " # ")
				line, _, _ = strings.Cut(line, " >")
				if !strings.HasPrefix(line, "jobpoller ") || !strings.Contains(line, " docs/example/") {
					continue
				}
				if strings.HasSuffix(strings.TrimSpace(line), "&") {
					continue // a server, which tests/clients runs
				}
				commands++
				output, code := s.run(t, line)
				require.Zero(t, code, "%s\n%s", line, output)
			}
		}
	}
	require.NotZero(t, commands)
}

// Every message about mocks in the list is one that the command gives, with the
// exit code that stands before it.
func TestE2EMocksMessages(t *testing.T) {
	t.Parallel()
	job := func(more string) string {
		return `"Get": {"job": {"runs": 1, "status": "JobRun.JobRunState", "running": "RUNNING", "ends": "SUCCEEDED"` + more + `}}`
	}
	aws := func(cases, responses string) string {
		return `{"StateMachines": {"M": {"TestCases": {` + cases + `}}}, "MockedResponses": {"Started": {"0": {"Return": {"JobRunId": "a"}}}` + responses + `}}`
	}
	const start = `{"Start": {"return": {"JobRunId": "jr_1"}}, `
	causes := map[string]string{ // a file of mocks for nightly.asl.json, by the message's beginning
		"nothing answers the Task":       `{}`,
		"there is no state or resource":  start + `"Gett": {"return": {}}}`,
		"the state":                      start + `"Wait": {"return": {}}}`,
		"expected an object with return": start + `"Get": "SUCCEEDED"}`,
		"a step needs exactly one":       start + `"Get": {"return": {}, "throttle": true}}`,
		"unknown member":                 start + `"Get": {"return": {}, "time": 2}}`,
		`one step cannot have`:           start + `"Get": {"never": true, "after": 1}}`,
		"this file has another answer":   start + job(`, "start": "Start"`) + `}`,
		"a job with an id needs":         start + job(`, "id": "Runs[0]"`) + `}`,
		"the mock has answers":           start + `"Get": {"return": {"JobRun": {"JobRunState": "RUNNING"}}, "times": 1}}`,
		"needs the argument":             start + job(`, "id": "JobRun.Id"`) + `}`,
		"there is no single test case":   aws(`"A": {"Start": "Started"}, "B": {"Start": "Started"}`, ``),
		"there is no mocked response":    aws(`"A": {"Start": "Started", "Get": "Endless"}`, ``),
		"the calls":                      aws(`"A": {"Start": "Started"}`, `, "Twice": {"0-1": {"Return": 1}, "1": {"Return": 2}}`),
		"the mock has no answer":         aws(`"A": {"Start": "Started", "Get": "Late"}`, `, "Late": {"1": {"Return": {}}}`),
		"was called, and the test case":  aws(`"A": {"Start": "Started"}`, ``),
		"a job answers start":            `{"Sync": {"job": {"runs": 1, "status": "S", "running": "R", "ends": "E"}}}`,
		"jobpoller does not know how":    `{"Call": {"throttle": true}}`,
		`no job "..." was started, and `: `{"Call": {"job": {"runs": 1, "status": "S", "running": "R", "ends": "E", "id": "Id", "start": "Begin"}}}`,
	}
	definitions := map[string]string{ // where nightly.asl.json cannot cause the message
		"a job answers start":         `{"StartAt": "Sync", "States": {"Sync": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "End": true}}}`,
		"jobpoller does not know how": `{"StartAt": "Call", "States": {"Call": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Parameters": {}, "End": true}}}`,
		`no job "..." was started, and `: `{"StartAt": "Begin", "States": {
			"Begin": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "q", "MessageBody": "m"}, "Next": "Call"},
			"Call": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Parameters": {"Id": "other"}, "End": true}}}`,
	}
	list, err := os.ReadFile("testdata/mocks-messages.txt")
	require.NoError(t, err)
	rows := strings.Split(strings.TrimSpace(string(list)), "\n")
	require.Len(t, rows, len(causes), "one case for each message of the list")

	s := newShell(t)
	for _, row := range rows {
		code, message, _ := strings.Cut(row, "\t")
		var beginning string
		for b := range causes {
			if strings.HasPrefix(message, b) && len(b) > len(beginning) {
				beginning = b
			}
		}
		require.NotEmpty(t, beginning, "no case causes %q", message)
		s.write(t, "mocks.json", causes[beginning])
		line := "jobpoller run docs/example/nightly.asl.json --virtual --mocks mocks.json"
		if definition := definitions[beginning]; definition != "" {
			s.write(t, "machine.asl.json", definition)
			line = "jobpoller run machine.asl.json --virtual --lenient --mocks mocks.json"
		}
		output, got := s.run(t, line)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(message), `\.\.\.`, `.*`)
		require.Regexp(t, pattern, output)
		require.Equal(t, code, strconv.Itoa(got), "%s\n%s", message, output)
	}
}
