package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

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
		code, failed := errors.AsType[*exitError](s.fail(t.Context(), errors.New("lost"), true))
		require.True(t, failed)
		require.Equal(t, exitUnknown, code.code)
		require.EqualError(t, code, tt.name+" may have started the job: lost\n"+tt.want)
	}
}

// A start that was interrupted, or had no answer in time, says so in a few words.
func TestStartWithoutAnswer(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := respond(func(r *http.Request, _ int) (*http.Response, error) {
				if interrupted {
					cancel()
				}
				return saySilent(r)
			}).client()
			var stdout, stderr bytes.Buffer
			code := execute(context.WithValue(ctx, clientKey{}, client), []string{
				"start", "glue", "StartJobRun", "--param", "JobName=nightly", "--region", "eu-west-1",
			}, &stdout, &stderr)
			want, reason := exitUnknown, "no answer within 1m. Check the region, --endpoint-url and the network"
			if interrupted {
				want, reason = exitInterrupted, "interrupted before the service answered"
			}
			require.Equal(t, want, code)
			require.Contains(t, stderr.String(), reason+"\n")
			require.NotContains(t, stderr.String(), "operation error")
			require.EqualValues(t, 1, client.number.Load())
		})
	}
}
