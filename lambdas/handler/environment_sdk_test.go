//nolint:paralleltest // the environment is the whole process's
package handler_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

func TestSDKVariables(t *testing.T) {
	server := recordBucket(t)
	var given jobs.Environment
	driver := makes(newFake(), &given)
	tls := httptest.NewTLSServer(server.Handler())
	t.Cleanup(tls.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw}), 0o600))
	sdk := map[string]string{
		handler.EnvBucket: "records", handler.EnvPrefix: "tls", "AWS_ENDPOINT_URL": tls.URL, "AWS_CA_BUNDLE": bundle,
		"AWS_MAX_ATTEMPTS": "7", "AWS_RETRY_MODE": "adaptive", "AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-central-1",
		"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required", // the embedded server knows no trailing checksums, which TLS brings
	}
	setEnvironment(t, sdk)
	p, err := handler.FromEnvironment(handler.S3Store, driver)
	require.NoError(t, err)
	_, err = p.RunJob(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err)
	options := given.S3.Options()
	require.Equal(t, "eu-central-1", options.Region)
	require.Equal(t, 7, options.RetryMaxAttempts)
	require.Equal(t, aws.RetryModeAdaptive, options.RetryMode)
	require.True(t, options.UsePathStyle)
	credentials, err := options.Credentials.Retrieve(t.Context())
	require.NoError(t, err)
	require.Equal(t, "AKIDEXAMPLE", credentials.AccessKeyID)

	sdk["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"], sdk["AWS_USE_FIPS_ENDPOINT"] = "true", "true"
	setEnvironment(t, sdk)
	_, err = handler.FromEnvironment(handler.S3Store, driver)
	require.NoError(t, err)
	options = given.S3.Options()
	require.Nil(t, options.BaseEndpoint)
	require.Equal(t, aws.FIPSEndpointStateEnabled, options.EndpointOptions.UseFIPSEndpoint)
}

func TestStoreOfTheEnvironment(t *testing.T) {
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

func TestDriverThatIsNotConfigured(t *testing.T) {
	driver := makes(newFake(), nil)
	absent := func(jobs.Environment) (jobs.Driver, error) {
		return nil, &jobs.NotConfiguredError{Job: "absent:Job", Lack: "set JOBPOLLER_ABSENT"}
	}
	broken := func(jobs.Environment) (jobs.Driver, error) { return nil, errors.New("JOBPOLLER_BROKEN is no number") }
	setEnvironment(t, map[string]string{handler.EnvBucket: "records"})
	p, err := handler.FromEnvironment(handler.S3Store, driver, absent)
	require.NoError(t, err)
	require.Equal(t, []string{jobName}, p.Jobs.Names())
	_, err = p.RunJob(t.Context(), json.RawMessage(bare(`{"job": "absent:Job", "maxWaitSeconds": 5}`)))
	requireError(t, err, handler.ErrorUnknownJob, "absent:Job is not configured: set JOBPOLLER_ABSENT")
	_, err = handler.FromEnvironment(handler.S3Store, driver, broken)
	require.ErrorContains(t, err, "JOBPOLLER_BROKEN is no number")
	setEnvironment(t, map[string]string{handler.EnvBucket: "records", handler.EnvJobs: "absent:Job,absent:Jib"})
	_, err = handler.FromEnvironment(handler.S3Store, driver, absent)
	require.EqualError(t, err, "environment variable JOBPOLLER_JOBS: absent:Job is not configured: set JOBPOLLER_ABSENT\nenvironment variable JOBPOLLER_JOBS: "+
		`unknown job: "absent:Jib" is not a job of this function; its jobs: test:Job`)
}

// A server that ignores conditions is found out before it can do harm.
func TestCarelessStore(t *testing.T) {
	fake := newFake()
	driver := makes(fake, nil)
	careless, err := embeddeds3.Start(embeddeds3.Options{Keys: keys, Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-None-Match")
			next.ServeHTTP(w, r)
		})
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, careless.Close()) })
	require.NoError(t, careless.CreateBucket("records"))
	setEnvironment(t, map[string]string{handler.EnvBucket: "records", "AWS_ENDPOINT_URL_S3": careless.URL()})
	p, err := handler.FromEnvironment(handler.S3Store, driver)
	require.NoError(t, err)
	before := fake.count()
	_, err = p.RunJob(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorConfiguration, "the store ignores the condition of a write (If-None-Match), so two functions could start one job")
	require.Equal(t, before, fake.count())
}

// Functions with another store look after what those of before have started, and
// keep what they start in the new one.
func TestSwitchedStoreDoesNotStartTheJobAgain(t *testing.T) {
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
