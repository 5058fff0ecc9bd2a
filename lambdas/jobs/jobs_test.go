package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	export, function := dynamodbexport.New(nil), lambdajob.New(nil, nil, "b", "p")
	registry, err := jobs.NewRegistry(function, export)
	require.NoError(t, err)
	require.Equal(t, []string{"dynamodb:ExportTableToPointInTime", "lambda:Invoke"}, registry.Names())
	got, err := registry.Driver("lambda:Invoke")
	require.NoError(t, err)
	require.Same(t, function, got)

	_, err = registry.Driver("lambda:invoke")
	require.ErrorIs(t, err, jobs.ErrUnknownJob)
	require.EqualError(t, err, `unknown job: "lambda:invoke" is none of the jobs of this function: `+
		`dynamodb:ExportTableToPointInTime, lambda:Invoke (did you mean "lambda:Invoke"?)`)
	_, err = registry.Driver("batch:SubmitJob")
	require.ErrorIs(t, err, jobs.ErrUnknownJob)
	require.NotContains(t, err.Error(), "did you mean")

	_, err = jobs.NewRegistry(export, function, export)
	require.EqualError(t, err, "two drivers are registered for the job dynamodb:ExportTableToPointInTime")
}
