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
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
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

func TestDriverThatIsNotConfigured(t *testing.T) {
	driver := makes(newFake(), nil)
	absent := func(jobs.Environment) (jobs.Driver, error) {
		return nil, &jobs.NotConfiguredError{Job: "absent:Job", Lack: "set JOBPOLLER_ABSENT"}
	}
	broken := func(jobs.Environment) (jobs.Driver, error) {
		return nil, errors.New("JOBPOLLER_BROKEN is not a number")
	}
	setEnvironment(t, map[string]string{handler.EnvBucket: "records"})
	p, err := handler.FromEnvironment(handler.S3Store, driver, absent)
	require.NoError(t, err)
	require.Equal(t, []string{jobName}, p.Jobs.Names())
	_, err = p.RunJob(t.Context(), json.RawMessage(bare(`{"job": "absent:Job", "maxWaitSeconds": 5}`)))
	requireError(t, err, handler.ErrorUnknownJob, "absent:Job is not configured: set JOBPOLLER_ABSENT")
	_, err = handler.FromEnvironment(handler.S3Store, driver, broken)
	require.ErrorContains(t, err, "JOBPOLLER_BROKEN is not a number")
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
