//nolint:paralleltest // the environment is the whole process's
package handler_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

// setEnvironment sets the variables of a Lambda function, and clears those
// that the machine may have set.
func setEnvironment(t *testing.T, set map[string]string) {
	t.Helper()
	all := map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "example",
		"AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		handler.EnvBucket: "", handler.EnvPrefix: "", handler.EnvJobs: "", handler.EnvLeaseMargin: "",
		handler.EnvRetentionDays: "", handler.EnvLogLevel: "", handler.EnvTable: "", handler.EnvEncryption: "", handler.EnvKMSKey: "", handler.EnvBucketKey: "",
		handler.EnvPreviousBucket: "", handler.EnvPreviousTable: "", handler.EnvPreviousPrefix: "",
		handler.EnvMaxWait: "", handler.EnvQueueURL: "", "AWS_ENDPOINT_URL_SQS": "", "AWS_ENDPOINT_URL_SFN": "", handler.EnvOutputLimit: "", handler.EnvMetrics: "", handler.EnvDeployment: "", "AWS_ENDPOINT_URL_DYNAMODB": "",
		"AWS_CA_BUNDLE": "", "AWS_MAX_ATTEMPTS": "", "AWS_RETRY_MODE": "", "AWS_DEFAULT_REGION": "", "AWS_USE_FIPS_ENDPOINT": "",
		"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "", "AWS_REQUEST_CHECKSUM_CALCULATION": "",
	}
	maps.Copy(all, set)
	for name, value := range all {
		t.Setenv(name, value)
	}
}

// keys are those of setEnvironment.
var keys = []loopback.Keys{{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}}

// recordBucket returns an S3 server with the bucket records.
func recordBucket(t *testing.T) *embeddeds3.Server {
	t.Helper()
	server, err := embeddeds3.Start(embeddeds3.Options{Keys: keys})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateBucket("records"))
	return server
}

func newFake() *service {
	return &service{clock: &clock{now: time.Now()}, idempotency: classes["token"]}
}

// makes returns a maker of the driver, which notes its environment.
func makes(driver jobs.Driver, given *jobs.Environment) jobs.Maker {
	return func(e jobs.Environment) (jobs.Driver, error) {
		if given != nil {
			*given = e
		}
		return driver, nil
	}
}

func TestFromEnvironment(t *testing.T) {
	server := recordBucket(t)
	var given jobs.Environment
	fake := newFake()
	driver, other := makes(fake, &given), makes(renamed{fake}, nil)

	t.Run("defaults", func(t *testing.T) {
		setEnvironment(t, map[string]string{handler.EnvBucket: "records", "AWS_ENDPOINT_URL_S3": server.URL()})
		p, err := handler.FromEnvironment(handler.S3Store, driver, other)
		require.NoError(t, err)
		require.Equal(t, handler.DefaultRetention, p.Retention)
		require.Equal(t, handler.DefaultLeaseMargin, p.LeaseMargin)
		require.Equal(t, []string{"other:Job", jobName}, p.Jobs.Names())
		require.Equal(t, "records", given.Bucket)
		require.Equal(t, "jobpoller", given.Prefix)
		require.Equal(t, "us-east-1", given.AWS.Region)
		require.True(t, p.Log.Enabled(t.Context(), 0))
		require.False(t, p.Log.Enabled(t.Context(), -4))

		_, err = p.RunJob(t.Context(), json.RawMessage(bare(request)))
		require.NoError(t, err)
		out, err := server.Client().GetObject(t.Context(), &s3.GetObjectInput{
			Bucket: aws.String("records"), Key: aws.String("jobpoller/" + key.Path()),
		})
		require.NoError(t, err, "the record lies in the bucket, under the prefix")
		require.NoError(t, out.Body.Close())
		list, err := given.S3.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &given.Bucket})
		require.NoError(t, err, "drivers are given the same client")
		require.Len(t, list.Contents, 2, "the record, and that of the probe behind an endpoint of one's own")
	})

	t.Run("everything set", func(t *testing.T) {
		setEnvironment(t, map[string]string{
			handler.EnvBucket: "records", handler.EnvPrefix: "team/poll", handler.EnvJobs: " other:Job ", "JOBPOLLER_TEAM_OWNER": "somebody's own",
			handler.EnvLeaseMargin: "20", handler.EnvRetentionDays: "90", handler.EnvLogLevel: "debug",
			"AWS_ENDPOINT_URL_S3": strings.Replace(server.URL(), "127.0.0.1", "localhost", 1),
		})
		p, err := handler.FromEnvironment(handler.S3Store, driver, other)
		require.NoError(t, err)
		require.Equal(t, 20*time.Second, p.LeaseMargin)
		require.Equal(t, 90*24*time.Hour, p.Retention)
		require.Equal(t, []string{"other:Job"}, p.Jobs.Names())
		require.Equal(t, "s3://records/team/poll/"+key.Path(), p.Store.Location(key))
		require.Equal(t, "team/poll", given.Prefix)
		require.True(t, p.Log.Enabled(t.Context(), -4))
		_, err = p.RunJob(t.Context(), json.RawMessage(bare(request)))
		requireError(t, err, handler.ErrorUnknownJob, "other:Job")
		_, err = p.RunJob(t.Context(), json.RawMessage(bare(strings.Replace(request, jobName, "other:Job", 1))))
		require.NoError(t, err, "the bucket is not part of the endpoint's name")
	})

	t.Run("two jobs allowed", func(t *testing.T) {
		setEnvironment(t, map[string]string{handler.EnvBucket: "records", handler.EnvJobs: "test:Job,other:Job"})
		p, err := handler.FromEnvironment(handler.S3Store, driver, other)
		require.NoError(t, err)
		require.Equal(t, []string{"other:Job", jobName}, p.Jobs.Names())
	})

	bad := []struct {
		name  string
		set   map[string]string
		parts []string
	}{
		{"nothing set", nil, []string{"environment variable JOBPOLLER_BUCKET is required, but not set"}},
		{
			"everything wrong",
			map[string]string{
				handler.EnvBucket: "No_Bucket", handler.EnvPrefix: "/x", handler.EnvJobs: "test:Jbo,lambda:Invoke",
				handler.EnvLeaseMargin: "soon", handler.EnvRetentionDays: "14", handler.EnvLogLevel: "loud",
				handler.EnvMaxWait: "0", handler.EnvOutputLimit: "1GB", handler.EnvEncryption: "rot13",
			},
			[]string{
				`environment variable JOBPOLLER_LEASE_MARGIN_SECONDS must be a whole number from 1 to 900, is "soon"`,
				`environment variable JOBPOLLER_RETENTION_DAYS must be a whole number from 15 to 3650, is "14"`,
				`environment variable JOBPOLLER_LOG_LEVEL must be debug, info, warn or error, is "loud"`,
				`environment variable JOBPOLLER_MAX_WAIT_SECONDS must be a whole number from 1 to 31536000, is "0"`,
				`environment variable JOBPOLLER_OUTPUT_LIMIT_BYTES must be a whole number from 1024 to 245760, is "1GB"`,
				`"rot13" is not a server-side encryption`,
				`"No_Bucket" is not a bucket's name`,
				`the prefix "/x" starts with a slash`,
				`environment variable JOBPOLLER_JOBS: unknown job: "test:Jbo" is not a job of this function; its jobs: other:Job, test:Job (did you mean "test:Job"?)`,
				`"lambda:Invoke" is not a job of this function`,
			},
		},
		{"a key without encryption", map[string]string{handler.EnvBucket: "records", handler.EnvKMSKey: "alias/jobs"}, []string{"JOBPOLLER_KMS_KEY_ID needs JOBPOLLER_ENCRYPTION"}},
		{"a bucket key of another kind", map[string]string{handler.EnvBucket: "records", handler.EnvBucketKey: "yes"}, []string{`JOBPOLLER_BUCKET_KEY must be true or false, is "yes"`}},
		{"a bucket key without KMS", map[string]string{handler.EnvBucket: "records", handler.EnvBucketKey: "true"}, []string{"environment variable JOBPOLLER_BUCKET_KEY: ", "needs the server-side encryption aws:kms"}},
		{"a key for an encryption that takes none", map[string]string{handler.EnvBucket: "records", handler.EnvEncryption: "AES256", handler.EnvKMSKey: "alias/jobs"}, []string{"environment variable JOBPOLLER_KMS_KEY_ID: ", `not "AES256"`}},
		{"no bucket and a wrong encryption", map[string]string{handler.EnvEncryption: "rot13"}, []string{"JOBPOLLER_BUCKET is required", `environment variable JOBPOLLER_ENCRYPTION: start record store misconfigured: "rot13"`}},
		{"a misspelt variable", map[string]string{handler.EnvBucket: "records", "JOBPOLLER_MAX_WAIT_SECOND": "60"}, []string{`environment variable JOBPOLLER_MAX_WAIT_SECOND is not known (did you mean "JOBPOLLER_MAX_WAIT_SECONDS"?)`}},
		{"a wait as long as the retention", map[string]string{handler.EnvBucket: "records", handler.EnvMaxWait: "86400", handler.EnvRetentionDays: "15"}, []string{"retention (360h0m0s) must be longer than the longest wait (24h0m0s) and 14 days"}},
		{"all at once", map[string]string{handler.EnvMaxWait: "31536000", handler.EnvRetentionDays: "20"}, []string{
			"JOBPOLLER_BUCKET is required", "retention (480h0m0s) must be longer than the longest wait (8760h0m0s) and 14 days",
		}},
		{"a job twice", map[string]string{handler.EnvBucket: "records", handler.EnvJobs: "test:Job,test:Job"}, []string{"environment variable JOBPOLLER_JOBS: two drivers"}},
		{"an empty job", map[string]string{handler.EnvBucket: "records", handler.EnvJobs: "test:Job,"}, []string{`environment variable JOBPOLLER_JOBS: unknown job: "" is not a job`}},
		{"no credentials and no region", map[string]string{handler.EnvBucket: "records", "AWS_ACCESS_KEY_ID": "", "AWS_REGION": ""}, []string{
			"AWS configuration: the environment has no credentials", "call handler.New", "the environment has no region: set AWS_REGION",
		}},
		{"a bundle of certificates that is not there", map[string]string{handler.EnvBucket: "records", "AWS_CA_BUNDLE": "/nonexistent"}, []string{"AWS_CA_BUNDLE: open /nonexistent"}},
		{"a bundle without certificates", map[string]string{handler.EnvBucket: "records", "AWS_CA_BUNDLE": "environment_test.go"}, []string{"AWS_CA_BUNDLE: environment_test.go has no certificate in PEM form"}},
		{"a wrong setting of the SDK's", map[string]string{"AWS_MAX_ATTEMPTS": "many"}, []string{"JOBPOLLER_BUCKET is required", "AWS configuration: ", "AWS_MAX_ATTEMPTS"}},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			setEnvironment(t, tt.set)
			_, err := handler.FromEnvironment(handler.S3Store, driver, other)
			for _, part := range tt.parts {
				require.ErrorContains(t, err, part)
			}
		})
	}

	t.Run("limits and metrics", func(t *testing.T) {
		setEnvironment(t, map[string]string{
			handler.EnvBucket: "records", handler.EnvMaxWait: "3600", handler.EnvOutputLimit: "2048", handler.EnvMetrics: "Orders",
		})
		p, err := handler.FromEnvironment(handler.S3Store, driver)
		require.NoError(t, err)
		require.Equal(t, time.Hour, p.MaxWait)
		require.Equal(t, 2048, p.OutputLimit)
		require.Equal(t, "Orders", p.Metrics.Namespace)
		_, err = p.RunJob(t.Context(), json.RawMessage(bare(`{"job": "test:Job", "maxWaitSeconds": 3601}`)))
		requireError(t, err, handler.ErrorInvalidRequest, "maxWaitSeconds must be at most 3600, the longest wait of this function, is 3601")

		setEnvironment(t, map[string]string{handler.EnvBucket: "records", handler.EnvMetrics: "none"})
		p, err = handler.FromEnvironment(handler.S3Store, driver)
		require.NoError(t, err)
		require.Nil(t, p.Metrics)
	})

	t.Run("two drivers of one name", func(t *testing.T) {
		setEnvironment(t, map[string]string{handler.EnvBucket: "records"})
		_, err := handler.FromEnvironment(handler.S3Store, driver, driver)
		require.ErrorContains(t, err, "two drivers are registered for the job test:Job")
	})
	t.Run("no drivers", func(t *testing.T) {
		setEnvironment(t, map[string]string{handler.EnvBucket: "records"})
		_, err := handler.FromEnvironment(handler.S3Store)
		require.ErrorContains(t, err, "no jobs: register at least one driver")
	})
}

// Jobs of the catalogue are there if they are named.
func TestFromEnvironmentWithTheCatalogue(t *testing.T) {
	makers := builtin.Drivers()
	open := func(list string) (*handler.Handler, error) {
		setEnvironment(t, map[string]string{handler.EnvBucket: "records", handler.EnvJobs: list})
		return handler.FromEnvironment(handler.S3Store, makers...)
	}
	p, err := open("glue:StartJobRun, glue:StartCrawler,dms:ReplicationTaskReady")
	require.NoError(t, err)
	require.Equal(t, []string{"dms:ReplicationTaskReady", "glue:StartCrawler", "glue:StartJobRun"}, p.Jobs.Names())
	p, err = open("")
	require.NoError(t, err)
	require.Equal(t, []string{
		"athena:StartQueryExecution", "dynamodb:ExportTableToPointInTime", "glue:StartJobRun", "lambda:Invoke", "redshift-data:ExecuteStatement",
		"states:StartExecution", "transcribe:StartTranscriptionJob",
	}, p.Jobs.Names())
	for _, name := range p.Jobs.Names() {
		driver, err := p.Jobs.Driver(name)
		require.NoError(t, err)
		require.Equal(t, name, driver.Name())
	}

	_, err = open("dms:ReplicationTaskRedy,nothing:X")
	require.ErrorIs(t, err, jobs.ErrUnknownJob)
	for _, want := range []string{
		`environment variable JOBPOLLER_JOBS: unknown job: dms has no waiter or job "ReplicationTaskRedy" (did you mean "ReplicationTaskReady"?)`,
		`the catalogue has no service "nothing"`,
	} {
		require.ErrorContains(t, err, want)
	}
}
