package poller_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/lambdas/poller/anystore"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Functions with another store look after what those of before have started, and
// keep what they start in the new one.
func TestSwitchedStoreDoesNotStartTheJobAgain(t *testing.T) {
	server, tables := recordBucket(t), tables(t)
	fake := newFake()
	fake.idempotency = classes["none"]
	deploy := func(set map[string]string) (*poller.Poller, error) {
		set["AWS_ENDPOINT_URL_S3"], set["AWS_ENDPOINT_URL_DYNAMODB"] = server.URL(), tables.URL()
		setEnvironment(t, set)
		return poller.FromEnvironment(anystore.Open, makes(fake, nil))
	}
	event := json.RawMessage(bare(request))
	before, err := deploy(map[string]string{poller.EnvBucket: "records", poller.EnvPrefix: t.Name()})
	require.NoError(t, err)
	_, err = before.RunJob(t.Context(), event)
	require.NoError(t, err)

	for name, set := range map[string]map[string]string{
		"a table":        {poller.EnvTable: "records", poller.EnvPrefix: t.Name(), poller.EnvPreviousBucket: "records"},
		"another prefix": {poller.EnvBucket: "records", poller.EnvPrefix: "other", poller.EnvPreviousPrefix: t.Name()},
	} {
		today, err := deploy(set)
		require.NoError(t, err, name)
		again, err := today.RunJob(t.Context(), event)
		require.NoError(t, err, name)
		require.Equal(t, "job-1", again.Job["Id"], name)
		require.Equal(t, 1, fake.starts, name)
		polled, err := today.CheckStatus(t.Context(), event)
		require.NoError(t, err, name)
		require.Equal(t, pollcore.Running, polled.Status, name)
		require.Contains(t, today.Store.Location(key), "(or, from before, s3://records/"+t.Name()+"/", name)

		other := json.RawMessage(strings.Replace(bare(request), "run-1", strings.ReplaceAll(name, " ", "-"), 1))
		_, err = today.RunJob(t.Context(), other)
		require.NoError(t, err, name)
		_, err = before.RunJob(t.Context(), other)
		requireError(t, err, poller.ErrorJobStartInProgress, "another invocation is starting the job")
		require.Equal(t, 2, fake.starts, name)
		fake.starts = 1
	}
	_, err = deploy(map[string]string{poller.EnvBucket: "records", poller.EnvPreviousBucket: "records"})
	require.ErrorContains(t, err, "the previous store (JOBPOLLER_PREVIOUS_BUCKET, JOBPOLLER_PREVIOUS_TABLE, JOBPOLLER_PREVIOUS_PREFIX) is the store of today")
	_, err = deploy(map[string]string{poller.EnvBucket: "records", poller.EnvPreviousTable: "x"})
	require.ErrorContains(t, err, `the previous store (JOBPOLLER_PREVIOUS_BUCKET, `)
	require.ErrorContains(t, err, `"x" is not a table's name`)
}

// Functions that start a job no more look after what they have started of it.
func TestDroppedJobIsPolledToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err)

	all, err := jobs.NewRegistry(w.service, renamed{w.service})
	require.NoError(t, err)
	w.Jobs, err = all.Only(renamed{w.service})
	require.NoError(t, err)
	require.Equal(t, []string{"other:Job"}, w.Jobs.Names())
	polled, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err)
	require.Equal(t, pollcore.Running, polled.Status)
	again, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err, "a retry of the start")
	require.Equal(t, polled.Job, again.Job)
	require.Equal(t, 1, w.service.starts)

	_, err = w.RunJob(t.Context(), json.RawMessage(strings.Replace(bare(request), "run-1", "run-2", 1)))
	requireError(t, err, poller.ErrorUnknownJob, `is none of the jobs of this function: other:Job`)
	_, err = w.RunJob(t.Context(), json.RawMessage(strings.Replace(bare(request), `"StartTime": "2026`, `"StartTime": "2027`, 1)))
	requireError(t, err, poller.ErrorUnknownJob, `is none of the jobs of this function: other:Job`)
	rec := w.record(t, key)
	require.Equal(t, startrecord.StatusStarted, rec.Status)
}

// What was refused is not started any more once the job is dropped.
func TestDroppedJobThatWasRefusedIsNotStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": refused})), w.RunJob, bare(request))
	requireError(t, err, poller.ErrorFailed, "")
	all, err := jobs.NewRegistry(w.service, renamed{w.service})
	require.NoError(t, err)
	w.Jobs, err = all.Only(renamed{w.service})
	require.NoError(t, err)
	_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, poller.ErrorUnknownJob, "")
}
