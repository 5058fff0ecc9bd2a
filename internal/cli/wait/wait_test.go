package wait

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

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
			stderr := &clitest.CancelOn{Text: "poll 1", Cancel: cancel}
			var stdout bytes.Buffer
			require.Equal(t, kit.ExitInterrupted, runCommand(ctx, clitest.ClusterWait(t, tt.answers), &stdout, stderr), "%s", &stdout)
			require.Regexp(t, `^INTERRUPTED after [0-9.]+m?s and 1 poll\n  last seen `+tt.seen+`\n$`, stdout.String())
		})
	}
}

func TestInterruptedWaitWithoutACall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	args := clitest.ClusterWait(t, `200 {}`, "--initial-delay", "59m", "-o", "json")
	require.Equal(t, kit.ExitInterrupted, runCommand(ctx, args, &stdout, &stderr), "%s", &stderr)
	require.Equal(t, "jobpoller: interrupted before the first call\n", stderr.String())
	require.Empty(t, stdout.String())
}

// What ends a wait says why, in the words of the service: the message of an error that
// the waiter expects, and the reason of a job that has failed.
func TestFailedWaitSaysWhy(t *testing.T) {
	t.Parallel()
	failed := `{"cluster": {"status": "FAILED"}}`
	stack := func(status string) string {
		return "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>s</StackName><StackStatus>" + status +
			"</StackStatus><StackStatusReason>bad role</StackStatusReason></member></Stacks></DescribeStacksResult></DescribeStacksResponse>"
	}
	for name, c := range map[string]struct {
		args   []string
		status int
		body   string
		code   int
		want   string
	}{
		"an error": {
			[]string{"cloudformation", "StackUpdateComplete", "s"},
			http.StatusBadRequest,
			"<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id s does not exist</Message></Error></ErrorResponse>",
			kit.ExitFailed,
			"  reason    error ValidationError (acceptor 5 of 9): Stack with id s does not exist\n",
		},
		"a status of a waiter": {
			[]string{"cloudformation", "StackCreateComplete", "s"}, http.StatusOK, stack("ROLLBACK_COMPLETE"), kit.ExitFailed, `"ROLLBACK_COMPLETE" (acceptor 14 of 15): bad role` + "\n",
		},
		"a status of a job, once": {
			[]string{"cloudformation", "CreateStack", "s"}, http.StatusOK, stack("ROLLBACK_COMPLETE"), kit.ExitFailed, `"ROLLBACK_COMPLETE" (acceptor 17 of 23): bad role` + "\n",
		},
		"a success": {[]string{"cloudformation", "CreateStack", "s"}, http.StatusOK, stack("CREATE_COMPLETE"), kit.ExitSucceeded, `"CREATE_COMPLETE" (acceptor 1 of 23)` + "\n"},
		"no message": {
			[]string{"eks", "ClusterActive", "c"}, http.StatusOK, failed, kit.ExitFailed, `cluster.status == "FAILED" (acceptor 2 of 3)` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clitest.Client(func(*http.Request, int) (*http.Response, error) { return clitest.RespondJSON(c.status, c.body) }).Client()
			var stdout, stderr bytes.Buffer
			args := append(append([]string{"wait"}, c.args...), "--region", "eu-west-1")
			require.Equal(t, c.code, runCommand(awssettings.WithClient(t.Context(), client), args, &stdout, &stderr), "%s", &stderr)
			require.Contains(t, stdout.String(), c.want)
		})
	}
}

// Max wait bounds the tries that are made within a call, and the outcome says what the
// last one met. A service that never answered could not be reached.
func TestMaxWaitBoundsCalls(t *testing.T) {
	creating := func() (*http.Response, error) {
		return clitest.RespondJSON(http.StatusOK, `{"cluster": {"status": "CREATING"}}`)
	}
	tests := []struct {
		name    string
		maxWait string
		respond clitest.Client
		code    int
		said    string
		longest time.Duration
	}{
		{
			"refused from the start", "20s", func(r *http.Request, _ int) (*http.Response, error) { return clitest.RefuseConnection(r) },
			kit.ExitUnknown, "connection refused. Check the region, --endpoint-url and the network", 20 * time.Second,
		},
		{
			"refused, and there is no time for another try", "3s", func(r *http.Request, _ int) (*http.Response, error) { return clitest.RefuseConnection(r) },
			kit.ExitUnknown, "connection refused. Check the region, --endpoint-url and the network", 0,
		},
		{
			"silent from the start", "20s", func(r *http.Request, _ int) (*http.Response, error) { return clitest.SaySilent(r) },
			kit.ExitUnknown, "no answer within 20s. Check the region", 20 * time.Second,
		},
		{
			"refused after an answer", "2m", func(r *http.Request, n int) (*http.Response, error) {
				if n == 1 {
					return creating()
				}
				return clitest.RefuseConnection(r)
			},
			kit.ExitTimedOut, "last seen no answer from .*connection refused", 2 * time.Minute,
		},
		{
			"silent after an answer", "2m", func(r *http.Request, n int) (*http.Response, error) {
				if n == 1 {
					return creating()
				}
				return clitest.SaySilent(r)
			},
			kit.ExitTimedOut, "last seen no answer within", 2*time.Minute + kit.LastPatience,
		},
		{
			"faults after an answer", "2m", func(_ *http.Request, n int) (*http.Response, error) {
				if n == 1 {
					return creating()
				}
				return clitest.RespondJSON(http.StatusInternalServerError, `{"__type": "ServerException", "message": "later"}`)
			},
			kit.ExitTimedOut, "last seen ServerException: later", 2 * time.Minute,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("AWS_MAX_ATTEMPTS", "50")
			synctest.Test(t, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				ctx := awssettings.WithClient(t.Context(), tt.respond.Client())
				began := time.Now()
				args := []string{"wait", "eks", "ClusterActive", "prod", "--region", "eu-west-1", "--max-wait", tt.maxWait, "-q"}
				require.Equal(t, tt.code, runCommand(ctx, args, &stdout, &stderr), "%s%s", &stdout, &stderr)
				require.Regexp(t, tt.said, stdout.String())
				require.LessOrEqual(t, time.Since(began), tt.longest)
			})
		})
	}
}
