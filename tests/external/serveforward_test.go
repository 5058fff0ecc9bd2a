package external_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// `jobpoller serve --forward` before moto is one AWS for boto3: its own calls, those of
// Tasks and of real functions, and events of executions reach moto. It runs programs, so
// all of them sign with its keys.
func TestServeBeforeMoto(t *testing.T) {
	t.Parallel()
	m := serveMoto(t)
	python, _ := installMoto(t)
	folder := t.TempDir()
	build := func(name, pkg string) string {
		file := filepath.Join(folder, name)
		out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", file, pkg).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return file
	}
	script, err := filepath.Abs("serveforward.py")
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), build("jobpoller", "./cmd/jobpoller"),
		"serve", "--port", "0", "--forward", m.url, "--events-to", "events="+m.url, "--limits", "aws", "--region", "eu-north-1",
		"--lambda", "jobpoller-runjob=go:./lambdas/runjob", "--lambda", "jobpoller-checkstatus="+build("bootstrap", "./lambdas/checkstatus"), "--", python, script)
	command.Dir = "../.."
	command.Env = append(os.Environ(), "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "JOBPOLLER_BUCKET=exports", "XDG_RUNTIME_DIR="+folder)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	require.NoError(t, err, "%s", &errs)
	say("suite moto: %s", bytes.TrimSpace(out))
}
