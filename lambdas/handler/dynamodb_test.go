//go:build e2e

package handler_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

// tables returns a DynamoDB server with the table records, which all tests
// share: each has a prefix of its own. It ends with the process.
func tables(t *testing.T) *dynalite.Server {
	t.Helper()
	server, err := startTables()
	require.NoError(t, err)
	return server
}

var startTables = sync.OnceValues(func() (*dynalite.Server, error) {
	server, err := dynalite.Start(context.Background())
	if err != nil {
		return nil, err
	}
	return server, server.CreateTable(context.Background(), "records", "key")
})

// openTable opens an empty store in DynamoDB.
func openTable(t *testing.T, c *clock) startrecord.Store {
	t.Helper()
	records, err := direct.New(tables(t).Config(dynalite.ClientOptions{Now: c.Now}), "records", rand.Text())
	require.NoError(t, err)
	return records
}

func TestE2ERunJobCrashPoints(t *testing.T) {
	t.Parallel()
	dieAtEachPoint(t, openTable)
}

func TestE2ERunJobDiesTwice(t *testing.T) {
	t.Parallel()
	dieTwice(t, openTable)
}

func TestE2EStoreOfTheEnvironment(t *testing.T) { //nolint:paralleltest // it sets the environment
	server := recordBucket(t)
	var given jobs.Environment
	driver := makes(newFake(), &given)
	tables := tables(t)
	start := func(set map[string]string) (startrecord.Store, error) {
		set["AWS_ENDPOINT_URL_S3"], set["AWS_ENDPOINT_URL_DYNAMODB"], set[handler.EnvPrefix] = server.URL(), tables.URL(), t.Name()
		setEnvironment(t, set)
		p, err := handler.FromEnvironment(anystore.Open, driver)
		if err != nil {
			return nil, err
		}
		_, err = p.RunJob(t.Context(), json.RawMessage(bare(request)))
		return p.Store, err
	}
	store, err := start(map[string]string{handler.EnvTable: "records"})
	require.NoError(t, err)
	require.Equal(t, "dynamodb://records/"+t.Name()+"/"+key.Path(), store.Location(key))
	require.Empty(t, given.Bucket)
	_, err = store.Load(t.Context(), key)
	require.NoError(t, err)
	store, err = start(map[string]string{handler.EnvBucket: "records"})
	require.NoError(t, err)
	require.Equal(t, "s3://records/"+t.Name()+"/"+key.Path(), store.Location(key))
	store, err = start(map[string]string{handler.EnvBucket: "records", handler.EnvTable: "records"})
	require.NoError(t, err)
	require.Contains(t, store.Location(key), "dynamodb://")
	require.Equal(t, "records", given.Bucket, "for the drivers that need one")

	_, err = start(map[string]string{})
	require.ErrorContains(t, err, "environment variable JOBPOLLER_BUCKET or JOBPOLLER_TABLE is required, but neither is set")
	_, err = start(map[string]string{handler.EnvEncryption: "rot13"})
	require.ErrorContains(t, err, "neither is set")
	require.ErrorContains(t, err, `environment variable JOBPOLLER_ENCRYPTION: start record store misconfigured: "rot13"`)
	_, err = start(map[string]string{handler.EnvTable: "x"})
	require.ErrorContains(t, err, `environment variables JOBPOLLER_TABLE and JOBPOLLER_PREFIX: start record store misconfigured: "x" is not a table's name`)
}

// Functions with another store look after what those of before have started, and
// keep what they start in the new one.
func TestE2ESwitchedStoreDoesNotStartTheJobAgain(t *testing.T) { //nolint:paralleltest // it sets the environment
	server, tables := recordBucket(t), tables(t)
	fake := newFake()
	fake.idempotency = classes["none"]
	deploy := func(set map[string]string) (*handler.Handler, error) {
		set["AWS_ENDPOINT_URL_S3"], set["AWS_ENDPOINT_URL_DYNAMODB"] = server.URL(), tables.URL()
		setEnvironment(t, set)
		return handler.FromEnvironment(anystore.Open, makes(fake, nil))
	}
	event := json.RawMessage(bare(request))
	before, err := deploy(map[string]string{handler.EnvBucket: "records", handler.EnvPrefix: t.Name()})
	require.NoError(t, err)
	_, err = before.RunJob(t.Context(), event)
	require.NoError(t, err)

	for name, set := range map[string]map[string]string{
		"a table":        {handler.EnvTable: "records", handler.EnvPrefix: t.Name(), handler.EnvPreviousBucket: "records"},
		"another prefix": {handler.EnvBucket: "records", handler.EnvPrefix: "other", handler.EnvPreviousPrefix: t.Name()},
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
		requireError(t, err, handler.ErrorJobStartInProgress, "another invocation is starting the job")
		require.Equal(t, 2, fake.starts, name)
		fake.starts = 1
	}
	_, err = deploy(map[string]string{handler.EnvBucket: "records", handler.EnvPreviousBucket: "records"})
	require.ErrorContains(t, err, "the previous store (JOBPOLLER_PREVIOUS_BUCKET, JOBPOLLER_PREVIOUS_TABLE, JOBPOLLER_PREVIOUS_PREFIX) is also the current store")
	_, err = deploy(map[string]string{handler.EnvBucket: "records", handler.EnvPreviousTable: "x"})
	require.ErrorContains(t, err, `the previous store (JOBPOLLER_PREVIOUS_BUCKET, `)
	require.ErrorContains(t, err, `"x" is not a table's name`)
}
