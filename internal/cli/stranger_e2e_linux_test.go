//go:build e2e

package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
)

// A run serves its owner alone: another user, whom a web page can help, gets
// nothing out of it and nothing into it. The stranger is a process of another uid
// where this one may make it, else a process without the secret.
func TestE2EStrangersCannotUseARun(t *testing.T) { //nolint:paralleltest // the stranger reaches every server of the run
	for _, flags := range [][]string{nil, {"--processes"}} { //nolint:paralleltest // as above
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			open := t.TempDir() // as a folder in which others may look
			for dir := open; strings.HasPrefix(dir, filepath.Join(os.TempDir(), "Test")); dir = filepath.Dir(dir) {
				require.NoError(t, os.Chmod(dir, 0o755))
			}
			data := filepath.Join(open, "data")
			run := startRun(t, append([]string{
				"-o", "json", "--name", "strange", "--job-seconds", "4", "--data", data,
				"--html", filepath.Join(open, "report.html"), "--history", filepath.Join(open, "history.json"),
			}, flags...)...)
			pids := append(children(t, run.pid), run.pid)
			ports := listening(t, pids)
			require.GreaterOrEqual(t, len(ports), 2+len(flags), "S3, Invoke and the Runtime API")

			found := strange(t, open, attack{Ports: ports, PIDs: pids, Files: []string{data, filepath.Join(data, "s3.bolt")}, Execution: "strange"})
			require.Equal(t, len(ports)*len(attempts("strange")), found.Refused, "%v", found.Broken)
			require.Empty(t, found.Broken)

			result := run.wait(t)
			require.Equal(t, "SUCCEEDED", result.Status, run.stderr.String())
			require.Contains(t, string(result.Output), `"workedSeconds": 4`)
			found = strange(t, open, attack{Files: []string{filepath.Join(open, "report.html"), filepath.Join(open, "history.json"), filepath.Join(data, "s3.bolt")}})
			require.Empty(t, found.Broken)
			for _, file := range []string{"report.html", "history.json"} {
				text, err := os.ReadFile(filepath.Join(open, file))
				require.NoError(t, err)
				require.NotContains(t, string(text), result.S3.SecretAccessKey)
			}
			stored, err := os.ReadFile(filepath.Join(data, "s3.bolt"))
			require.NoError(t, err)
			require.NotContains(t, string(stored), result.S3.SecretAccessKey)
		})
	}
}

// A server that acts with its owner's rights serves its owner alone, as a run does: also
// what it has given its command and its functions stays theirs.
func TestE2EStrangersCannotUseServe(t *testing.T) {
	open := t.TempDir()
	for dir := open; strings.HasPrefix(dir, filepath.Join(os.TempDir(), "Test")); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	runtime, data := filepath.Join(open, "runtime"), filepath.Join(open, "data")
	require.NoError(t, os.Mkdir(runtime, 0o755))
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	serve := startCommand(t, "ready", "serve", "--port", "0", "--data", data, "--lambda", "runjob=go:github.com/jobpoller/jobpoller/lambdas/runjob", "--",
		"sh", "-c", "echo ready >&2; exec tail -f /dev/null")
	pids := append(children(t, serve.pid), serve.pid)
	ports := listening(t, pids)
	require.NotEmpty(t, ports)
	files, err := filepath.Glob(filepath.Join(runtime, "jobpoller-serve", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	found := strange(t, open, attack{Ports: ports, PIDs: pids, Files: append(files, filepath.Dir(files[0]), data, filepath.Join(data, "journal.jsonl"))})
	require.Equal(t, len(ports)*len(attempts("")), found.Refused, "%v", found.Broken)
	require.Empty(t, found.Broken)
	require.NoError(t, serve.process.Process.Signal(os.Interrupt))
	_ = serve.process.Wait() // its command was interrupted
	require.NoFileExists(t, files[0])
}

// The owner reaches the run's S3 server with what the run prints.
func TestE2EOwnerReachesTheS3ServerOfARun(t *testing.T) {
	t.Parallel()
	run := startRun(t, "-o", "jsonl", "--job-seconds", "3")
	first, err := run.stdout.ReadBytes('\n')
	require.NoError(t, err)
	var line struct {
		S3 runAccess `json:"s3"`
	}
	require.NoError(t, json.Unmarshal(first, &line))
	require.Contains(t, run.stderr.String(), line.S3.SecretAccessKey)
	client := s3.New(s3.Options{
		BaseEndpoint: &line.S3.Endpoint, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(line.S3.AccessKeyID, line.S3.SecretAccessKey, ""),
	})
	list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("jobpoller")})
	require.NoError(t, err)
	require.NotEmpty(t, list.Contents)
	_, err = io.Copy(io.Discard, run.stdout)
	require.NoError(t, err)
	require.NoError(t, run.process.Wait())
}
