package jobs_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// exportDriver is a driver of the catalogue.
func exportDriver(t *testing.T) jobs.Driver {
	t.Helper()
	driver, err := awsjob.NewDriver(aws.Config{Region: "us-east-1"}, catalog.AWS(), "dynamodb:ExportTableToPointInTime")
	require.NoError(t, err)
	return driver
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	export, function := exportDriver(t), lambdajob.New(nil, nil, "b", "p")
	registry, err := jobs.NewRegistry(function, export)
	require.NoError(t, err)
	require.Equal(t, []string{"dynamodb:ExportTableToPointInTime", "lambda:Invoke"}, registry.Names())
	got, err := registry.Driver("lambda:Invoke")
	require.NoError(t, err)
	require.Same(t, function, got)

	_, err = registry.Driver("lambda:invoke")
	require.ErrorIs(t, err, jobs.ErrUnknownJob)
	require.EqualError(t, err, `unknown job: "lambda:invoke" is not a job of this function; its jobs: `+
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

// A source is asked for the jobs that are named and that nobody else has.
func TestByName(t *testing.T) {
	t.Parallel()
	function, export := lambdajob.New(nil, nil, "b", "p"), exportDriver(t)
	var asked []string
	source := jobs.ByName(func(e jobs.Environment, name string) (jobs.Driver, error) {
		asked = append(asked, name)
		require.Equal(t, "team", e.Prefix)
		switch name {
		case export.Name():
			return export, nil
		case "batch:Forbidden":
			return nil, errors.New("not spoken here")
		default:
			return nil, fmt.Errorf("%w: no %s in the book", jobs.ErrUnknownJob, name)
		}
	})
	own := func(jobs.Environment) (jobs.Driver, error) { return function, nil }
	absent := func(jobs.Environment) (jobs.Driver, error) {
		return nil, &jobs.NotConfiguredError{Job: "batch:SubmitJob", Lack: "set QUEUE"}
	}
	e := jobs.Environment{Prefix: "team", Jobs: []string{
		function.Name(), "batch:SubmitJob", export.Name(), export.Name(), "batch:Forbidden", "batch:Nothing", "lambda:Invok", "batch:SubmitJobs",
	}}
	registry, err := jobs.Build(e, source, own, absent)
	require.NoError(t, err)
	require.Equal(t, []string{export.Name(), "batch:Forbidden", "batch:Nothing", "lambda:Invok", "batch:SubmitJobs"}, asked)
	require.Equal(t, []string{export.Name(), function.Name()}, registry.Names())
	for name, want := range map[string]string{
		"batch:SubmitJob": "batch:SubmitJob is not configured: set QUEUE",
		"batch:Forbidden": "not spoken here",
		"batch:Nothing":   "unknown job: no batch:Nothing in the book",
		// The source does not know these, which the makers have.
		"lambda:Invok":     "unknown job: no lambda:Invok in the book (did you mean \"lambda:Invoke\"?)",
		"batch:SubmitJobs": "unknown job: no batch:SubmitJobs in the book (did you mean \"batch:SubmitJob\"?)",
	} {
		_, err = registry.Driver(name)
		require.EqualError(t, err, want)
	}
	// Without names a source is asked for nothing.
	asked = nil
	registry, err = jobs.Build(jobs.Environment{}, own, source)
	require.NoError(t, err)
	require.Equal(t, []string{function.Name()}, registry.Names())
	require.Empty(t, asked)

	// The next source is asked for what one does not know.
	second := jobs.ByName(func(jobs.Environment, string) (jobs.Driver, error) { return export, nil })
	registry, err = jobs.Build(jobs.Environment{Prefix: "team", Jobs: []string{"batch:Nothing"}}, source, second)
	require.NoError(t, err)
	_, err = registry.Driver("batch:Nothing")
	require.NoError(t, err)
}

// The defaults of a source are made when they are wanted.
func TestByNameDefaults(t *testing.T) {
	t.Parallel()
	export := exportDriver(t)
	var asked []string
	source := jobs.ByName(func(_ jobs.Environment, name string) (jobs.Driver, error) {
		asked = append(asked, name)
		if name != export.Name() {
			return nil, jobs.ErrUnknownJob
		}
		return export, nil
	}, export.Name(), "batch:SubmitJob", "lambda:Invoke")
	function := lambdajob.New(nil, nil, "b", "p")
	own := func(jobs.Environment) (jobs.Driver, error) { return function, nil }
	registry, err := jobs.Build(jobs.Environment{}, source, own)
	require.NoError(t, err)
	require.Equal(t, []string{"batch:SubmitJob", export.Name(), "lambda:Invoke"}, registry.Names())
	require.Empty(t, asked)
	for range 2 {
		driver, err := registry.Driver(export.Name())
		require.NoError(t, err)
		require.Same(t, export, driver)
	}
	driver, err := registry.Driver("lambda:Invoke")
	require.NoError(t, err)
	require.Same(t, function, driver, "a driver of its own goes before")
	_, err = registry.Driver("batch:SubmitJob")
	require.ErrorIs(t, err, jobs.ErrUnknownJob)
	require.Equal(t, []string{export.Name(), "batch:SubmitJob"}, asked)

	registry, err = jobs.Build(jobs.Environment{Jobs: []string{"lambda:Invoke", export.Name()}}, source, own)
	require.NoError(t, err)
	require.Equal(t, []string{"batch:SubmitJob", export.Name(), "lambda:Invoke"}, registry.Names())
}
