package wait

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// clusters is a service whose clusters end as their names say, the slow ones later.
func clusters(r *http.Request, _ int) (*http.Response, error) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case strings.HasPrefix(name, "good"):
		return clitest.RespondJSON(http.StatusOK, `{"cluster": {"status": "ACTIVE"}}`)
	case strings.HasPrefix(name, "bad"):
		return clitest.RespondJSON(http.StatusOK, `{"cluster": {"status": "FAILED"}}`)
	case strings.HasPrefix(name, "denied"):
		return clitest.RespondJSON(http.StatusForbidden, `{"__type": "AccessDeniedException", "message": "no"}`)
	default:
		return clitest.RespondJSON(http.StatusOK, `{"cluster": {"status": "CREATING"}}`)
	}
}

// Several waits have one exit code: with --any that of the best, else of the worst.
func TestExitCodeOfSeveralWaits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		ids    string
		any    bool
		code   int
		status string
		longer bool // than the first poll
	}{
		{"good1 good2", false, kit.ExitSucceeded, "SUCCEEDED", false},
		{"good slow", false, kit.ExitTimedOut, "TIMED_OUT", true},
		{"good bad slow", false, kit.ExitFailed, "FAILED", true},
		{"good denied slow", false, kit.ExitUnknown, "ERROR", true},
		{"good denied bad", false, kit.ExitFailed, "FAILED", false},
		{"good slow bad", true, kit.ExitSucceeded, "SUCCEEDED", false},
		{"slow bad", true, kit.ExitTimedOut, "TIMED_OUT", true},
		{"slow denied", true, kit.ExitTimedOut, "TIMED_OUT", true},
		{"denied bad", true, kit.ExitUnknown, "ERROR", false},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			ctx := awssettings.WithClient(t.Context(), clitest.Client(clusters).Client())
			args := append([]string{"wait", "eks", "ClusterActive"}, strings.Fields(tt.ids)...)
			args = append(args, "--region", "eu-west-1", "--max-wait", "5m", "-o", "json", "-q")
			if tt.any {
				args = append(args, "--any")
			}
			began := time.Now()
			require.Equal(t, tt.code, runCommand(ctx, args, &stdout, &stderr), "%s %s", tt.ids, &stderr)
			var report manyReport
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
			require.Equal(t, tt.status, report.Status, tt.ids)
			require.Equal(t, tt.longer, time.Since(began) > time.Minute, "%s: an end of enough ends the other waits", tt.ids)
		})
	}
}

// An interrupt ends all waits. Those that it ends are not said to have ended.
func TestInterruptedWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(awssettings.WithClient(t.Context(), clitest.Client(clusters).Client()))
		time.AfterFunc(time.Minute, cancel)
		var stdout, stderr bytes.Buffer
		args := []string{"wait", "eks", "ClusterActive", "good", "slow1", "slow2", "bad", "--region", "eu-west-1"}
		require.Equal(t, kit.ExitInterrupted, runCommand(ctx, args, &stdout, &stderr))
		require.Contains(t, stdout.String(), "INTERRUPTED after 1m0s: 1 of 4 succeeded\n")
		require.Contains(t, stderr.String(), "2 of 4 ended\n")
		require.Equal(t, 2, strings.Count(stderr.String(), "\n"), &stderr)
	})
}
