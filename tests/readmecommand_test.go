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
)

// passed is the time that a wait took, which is another each time.
var passed = regexp.MustCompile(`after [0-9.]+m?s and|[0-9]+s/1h0m0s`)

// The commands of the README that wait, and look things up, print what stands
// there. AWS is a server that throttles once and whose job then fails.
func TestE2EReadmeCommands(t *testing.T) {
	t.Parallel()
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
	environment := append(os.Environ(), "PATH="+filepath.Dir(commandFile(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "AWS_ENDPOINT_URL="+service.URL,
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_MAX_ATTEMPTS=1")

	const file = "../README.md"
	samples := blocks(t, file, "console")
	require.NotEmpty(t, samples)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	readme := string(text)
	for _, sample := range samples {
		var got strings.Builder
		for line := range strings.Lines(sample) {
			typed, isCommand := strings.CutPrefix(line, "$ ")
			if !isCommand {
				continue
			}
			command := exec.CommandContext(t.Context(), "sh", "-c", typed)
			command.Env = environment
			out, _ := command.CombinedOutput() // the exit codes are those of failures, too
			got.WriteString(line + string(out))
		}
		if *update {
			readme = strings.Replace(readme, "```console\n"+sample, "```console\n"+got.String(), 1)
			continue
		}
		require.Equal(t, passed.ReplaceAllString(sample, "N"), passed.ReplaceAllString(got.String(), "N"))
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(readme), 0o600))
	}
}
