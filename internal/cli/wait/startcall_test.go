package wait

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// A start whose outcome is not known says how to go on without a second job.
func TestUnknownStartSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		service, name string
		given         bool // the token, by --param or --input
		want          string
	}{
		{"athena", "StartQueryExecution", false, "Repeat the command with --token T within 1h: it starts no second job"},
		{"athena", "StartQueryExecution", true, "Repeat the same command within 1h: it starts no second job"},
		{"transcribe", "StartTranscriptionJob", true, "Repeat the same command: it starts no second job"},
		{"glue", "StartJobRun", false, "Look for the job before you start it again: StartJobRun takes no token, so a second call may start a second job"},
	}
	for _, tt := range tests {
		entry, err := catalog.AWS().Lookup(tt.service, tt.name)
		require.NoError(t, err)
		driver, err := awsjob.NewDriver(aws.Config{Region: "eu-west-1"}, catalog.AWS(), entry.FullName())
		require.NoError(t, err)
		s := &start{entry: entry, op: entry.Service.Operations[entry.Name], driver: driver, request: jobs.Request{Token: "T"}, named: tt.given}
		code, failed := errors.AsType[*kit.ExitError](s.fail(t.Context(), errors.New("lost"), true))
		require.True(t, failed)
		require.Equal(t, kit.ExitUnknown, code.Code)
		require.EqualError(t, code, tt.name+" may have started the job: lost\n"+tt.want)
	}
}

// A job's ID may look like a flag: the command that is advised still takes it.
func TestAdvisedWaitTakesEveryID(t *testing.T) {
	t.Parallel()
	client := clitest.Client(func(*http.Request, int) (*http.Response, error) {
		return clitest.RespondJSON(http.StatusOK, `{"QueryExecutionId": "-v"}`)
	}).Client()
	var stdout, stderr bytes.Buffer
	args := []string{"start", "athena", "StartQueryExecution", "--param", "QueryString=SELECT 1", "--region", "eu-west-1"}
	require.Equal(t, kit.ExitSucceeded, runCommand(awssettings.WithClient(t.Context(), client), args, &stdout, &stderr), "%s", &stderr)
	_, command, _ := strings.Cut(strings.TrimSpace(stderr.String()), "Wait for it: jobpoller ")
	require.Equal(t, "wait athena StartQueryExecution --region eu-west-1 -- -v", command)
	stdout.Reset()
	words := strings.Fields(strings.Replace(command, " -- ", " --dry-run -- ", 1))
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), words, &stdout, &stderr), "%s", &stderr)
	require.Contains(t, stdout.String(), `GetQueryExecution {"QueryExecutionId":"-v"}`)
}

// The ID of a job that runs is not lost where standard output takes nothing, and the job
// is waited for.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more  []string
		calls int32
		want  string
	}{
		"without a wait": {nil, 1, "jobpoller: StartJobRun has started jr_1, but its ID could not be written: no space left on device\n"},
		"with a wait":    {[]string{"--wait", "-q"}, 2, "StartJobRun has started jr_1, but its ID could not be written: no space left on device\njobpoller: write the result: no space left on device\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clitest.Client(func(_ *http.Request, n int) (*http.Response, error) {
				return clitest.RespondJSON(http.StatusOK, []string{`{"JobRunId": "jr_1"}`, `{"JobRun": {"Id": "jr_1", "JobRunState": "SUCCEEDED"}}`}[n-1])
			}).Client()
			var stderr bytes.Buffer
			args := append([]string{"start", "glue", "StartJobRun", "--param", "JobName=nightly", "--region", "eu-west-1"}, c.more...)
			require.Equal(t, kit.ExitUnknown, runCommand(awssettings.WithClient(t.Context(), client), args, clitest.FullDisk{}, &stderr))
			require.Contains(t, stderr.String(), c.want)
			require.Equal(t, c.calls, client.Number.Load())
		})
	}
}

// A start that was interrupted, or had no answer in time, says so in a few words.
func TestStartWithoutAnswer(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := clitest.Client(func(r *http.Request, _ int) (*http.Response, error) {
				if interrupted {
					cancel()
				}
				return clitest.SaySilent(r)
			}).Client()
			var stdout, stderr bytes.Buffer
			code := runCommand(awssettings.WithClient(ctx, client), []string{
				"start", "glue", "StartJobRun", "--param", "JobName=nightly", "--region", "eu-west-1",
			}, &stdout, &stderr)
			want, reason := kit.ExitUnknown, "no answer within 1m. Check the region, --endpoint-url and the network"
			if interrupted {
				want, reason = kit.ExitInterrupted, "interrupted before the service answered"
			}
			require.Equal(t, want, code)
			require.Contains(t, stderr.String(), reason+"\n")
			require.NotContains(t, stderr.String(), "operation error")
			require.EqualValues(t, 1, client.Number.Load())
		})
	}
}
