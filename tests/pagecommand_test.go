//go:build e2e

package tests_test

import (
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// passed is the time that a wait took, which is another each time.
var passed = regexp.MustCompile(`after [0-9.]+m?s and|[0-9]+s/1h`)

// The commands of the pages print what stands there. Those of the page of mocks
// have a test of their own, for their exit codes. AWS is a server that throttles
// once and whose job then fails.
func TestE2EPageCommands(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		if page != mocksPage && len(blocks(t, page, "console")) > 0 {
			t.Run(filepath.Base(page), func(t *testing.T) {
				t.Parallel()
				requireCommandsPrint(t, page)
			})
		}
	}
}

func requireCommandsPrint(t *testing.T, page string) {
	t.Helper()
	var calls atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status, body := http.StatusOK, `{"ExportDescription": {"ExportStatus": "FAILED", "FailureMessage": "no such bucket"}}`
		switch calls.Add(1) {
		case 1:
			body = `{"ExportDescription": {"ExportStatus": "IN_PROGRESS"}}`
		case 2:
			status, body = http.StatusBadRequest, `{"__type": "ThrottlingException", "message": "Rate exceeded"}`
		}
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10))
		w.Header().Set("X-Amzn-Requestid", "1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client that is gone is no concern here
	}))
	defer service.Close()
	environment := append(os.Environ(),
		"PATH="+filepath.Dir(commandFile(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "AWS_ENDPOINT_URL="+service.URL,
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_MAX_ATTEMPTS=1")

	dir := t.TempDir()
	copyExamples(t, filepath.Join(dir, "docs/example"))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, sample := range blocks(t, page, "console") {
		var got strings.Builder
		for line := range strings.Lines(sample) {
			typed, isCommand := strings.CutPrefix(line, "$ ")
			if !isCommand {
				continue
			}
			command := exec.CommandContext(t.Context(), "sh", "-c", typed)
			command.Env, command.Dir = environment, dir
			out, _ := command.CombinedOutput() // the exit codes are those of failures, too
			got.WriteString(line + string(out))
		}
		if *update {
			text = []byte(strings.Replace(string(text), "```console\n"+sample, "```console\n"+got.String(), 1))
			continue
		}
		require.Equal(t, passed.ReplaceAllString(sample, "N"), passed.ReplaceAllString(got.String(), "N"),
			"go test -tags e2e ./tests -run TestE2EPageCommands -update writes it anew")
	}
	if *update {
		require.NoError(t, os.WriteFile(page, text, 0o600))
	}
}

// The picture of the README shows the polls of the run that it describes.
func TestE2EReadmePicture(t *testing.T) {
	t.Parallel()
	const loop, picture = examples + "/athena/loop.asl.json", examples + "/athena/polls.svg"
	file := filepath.Join(t.TempDir(), "history.json")
	run := exec.CommandContext(t.Context(), commandFile(t), "run", loop, "--virtual",
		"--simulate", "12m", "--ends", "CANCELLED", "--input", examples+"/athena/input.json", "--history", file)
	out, err := run.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "FAILED", "the loop does not end")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	e, err := history.Read(text)
	require.NoError(t, err)
	drawn := report.SVG(e)
	if *update {
		require.NoError(t, os.WriteFile(picture, drawn, 0o600))
	}
	kept, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(drawn), "go test -tags e2e ./tests -run %s -update draws it anew", t.Name())
}
