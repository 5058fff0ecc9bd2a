package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// clusterWait are the arguments of a wait for a cluster at a scripted service.
func clusterWait(t *testing.T, answers string, more ...string) []string {
	t.Helper()
	parsed, err := parseAnswers(answers)
	require.NoError(t, err)
	s := newScriptService(parsed)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return append([]string{
		"wait", "eks", "ClusterActive", "--input", `{"name": "prod"}`, "--region", "eu-west-1", "--endpoint-url", s.URL, "--max-wait", "1h",
	}, more...)
}

// Whoever interrupts is told at once how far the wait came, and its exit code is
// that of an interrupt.
func TestInterruptedWait(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, answers, seen string }{
		{"between two polls", `200 {"cluster": {"status": "CREATING"}}`, `no acceptor matched: cluster\.status = "CREATING"`},
		{ // one that the SDK does not pause for before it tries again
			"after an error that wait retries", `501 {"__type": "ServerException", "message": "later"}`,
			`ServerException: later`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stderr := &cancelOn{text: "poll 1", cancel: cancel}
			var stdout bytes.Buffer
			require.Equal(t, exitInterrupted, execute(ctx, clusterWait(t, tt.answers), &stdout, stderr), "%s", &stdout)
			require.Regexp(t, `^INTERRUPTED after [0-9.]+m?s and 1 poll\n  last seen `+tt.seen+`\n$`, stdout.String())
		})
	}
}

func TestInterruptedWaitWithoutACall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	args := clusterWait(t, `200 {}`, "--initial-delay", "59m", "-o", "json")
	require.Equal(t, exitInterrupted, execute(ctx, args, &stdout, &stderr), "%s", &stderr)
	require.Equal(t, "jobpoller: interrupted before the first call\n", stderr.String())
	require.Empty(t, stdout.String())
}

// A job that ends is seen in the same way by wait and, from wait's output, by
// check.
func TestCheckAgreesWithWait(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"CREATING", "ACTIVE", "DELETING", "FAILED", "UPDATING", "PENDING", "SOMETHING_NEW"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), clusterWait(t, `200 {"cluster": {"status": "`+status+`"}}`, "--max-attempts", "1", "-o", "json"), &stdout, &stderr)
			var waited waitReport
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &waited), "%s", &stderr)

			output, err := json.Marshal(waited.Output)
			require.NoError(t, err)
			file := writeTemp(t, output)
			stdout.Reset()
			require.Equal(t, code, execute(t.Context(), []string{"check", "eks", "ClusterActive", "--response", file, "-o", "json"}, &stdout, &stderr))
			var judgement struct {
				Reason   string `json:"reason"`
				Acceptor int    `json:"acceptor"`
				Seen     any    `json:"seen"`
			}
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &judgement))
			require.Equal(t, waited.Reason, judgement.Reason)
			require.Equal(t, waited.Acceptor, judgement.Acceptor)
			require.Equal(t, waited.Seen, judgement.Seen)
		})
	}
}
