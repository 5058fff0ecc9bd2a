package jobs_test

import (
	"errors"
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

func TestBuild(t *testing.T) {
	t.Parallel()
	maker := func(driver jobs.Driver, err error) jobs.Maker {
		return func(jobs.Environment) (jobs.Driver, error) { return driver, err }
	}
	function := lambdajob.New(nil, nil, "b", "p")
	absent := maker(nil, &jobs.NotConfiguredError{Job: "batch:SubmitJob", Lack: "set QUEUE"})
	registry, err := jobs.Build(jobs.Environment{}, maker(function, nil), absent)
	require.NoError(t, err)
	require.Equal(t, []string{"lambda:Invoke"}, registry.Names())
	_, err = registry.Driver("batch:SubmitJob")
	require.ErrorIs(t, err, jobs.ErrNotConfigured)
	require.EqualError(t, err, "batch:SubmitJob is not configured: set QUEUE")
	_, err = registry.Driver("batch:Submit")
	require.ErrorIs(t, err, jobs.ErrUnknownJob)

	broken := maker(nil, errors.New("no number"))
	_, err = jobs.Build(jobs.Environment{}, maker(function, nil), maker(function, nil), broken, absent, broken)
	require.EqualError(t, err, "no number\nno number\ntwo drivers are registered for the job lambda:Invoke")
}
