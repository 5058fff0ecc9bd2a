package cli

import (
	"errors"
	"testing"

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
