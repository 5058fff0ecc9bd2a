package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
)

// storeBehindAnEndpoint is an S3 server that is not the run's own. The returned
// flags make a run use it.
func storeBehindAnEndpoint(t *testing.T, middleware func(http.Handler) http.Handler) []string {
	t.Helper()
	server, err := embeddeds3.Start(embeddeds3.Options{Middleware: middleware})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateBucket("records"))
	t.Setenv("AWS_ACCESS_KEY_ID", server.Keys().AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.Keys().SecretAccessKey)
	return []string{"--s3-endpoint", server.URL(), "--bucket", "records"}
}

// A store that takes two creations of one record would let two runs start one
// job: nothing is started on it.
func TestRunRefusesAnEndpointThatIgnoresConditions(t *testing.T) {
	for _, ignored := range []string{"If-None-Match", "If-Match"} {
		var jobs atomic.Int32
		flags := storeBehindAnEndpoint(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/jobs/") {
					jobs.Add(1)
				}
				r.Header.Del(ignored)
				next.ServeHTTP(w, r)
			})
		})
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), append([]string{"run", "-q", "--job-seconds", "1"}, flags...), &stdout, &stderr)
		require.Equal(t, exitFailed, code, "%s%s", &stdout, &stderr)
		require.Contains(t, stdout.String()+stderr.String(), "the store ignores the condition of a write ("+ignored+")")
		require.Zero(t, jobs.Load(), "no job was started")
	}
}

// A report and a history hold inputs and answers: nobody else may read them, also
// where there was a file that everybody could.
func TestFilesOfARunAreTheirOwners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	html, history, data := filepath.Join(dir, "report.html"), filepath.Join(dir, "history.json"), filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(history, []byte("old"), 0o644)) //nolint:gosec // on purpose
	require.NoError(t, os.Chmod(history, 0o644))                    //nolint:gosec // whatever the umask
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), []string{"run", "--virtual", "--html", html, "--history", history, "--data", data}, &stdout, &stderr)
	require.Equal(t, exitSucceeded, code, "%s%s", &stdout, &stderr)
	for file, want := range map[string]os.FileMode{html: 0o600, history: 0o600, filepath.Join(data, "s3.bolt"): 0o600, data: 0o700 | os.ModeDir} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode(), file)
	}
}
