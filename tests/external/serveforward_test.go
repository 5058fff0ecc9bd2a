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
// Tasks, and events of executions reach moto.
func TestServeBeforeMoto(t *testing.T) {
	t.Parallel()
	m := serveMoto(t)
	python, _ := installMoto(t)
	file := filepath.Join(t.TempDir(), "jobpoller")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", file, "./cmd/jobpoller").CombinedOutput()
	require.NoError(t, err, "%s", out)
	command := exec.CommandContext(t.Context(), file,
		"serve", "--port", "0", "--forward", m.url, "--events-to", "events="+m.url, "--limits", "aws", "--region", "eu-north-1", "--", python, "serveforward.py")
	command.Env = append(os.Environ(), "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err = command.Output()
	require.NoError(t, err, "%s", &errs)
	say("suite moto: %s", bytes.TrimSpace(out))
}
