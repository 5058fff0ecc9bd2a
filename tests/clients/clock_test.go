package clients_test

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

// A program in Python steps a machine through a day, request by request.
func TestManualClock(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--time", "manual")
	out, err := exec.CommandContext(t.Context(), pypi.Python(), "-I", "clock.py", s.url).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var done struct {
		Requests int     `json:"requests"`
		Seconds  float64 `json:"seconds"`
	}
	require.NoError(t, json.Unmarshal(out, &done))
	require.Equal(t, 29, done.Requests)
	say("suite clients: Python stepped a day of 24 waits in %d requests and %.2f s", done.Requests, done.Seconds)
}
