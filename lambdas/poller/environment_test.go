//nolint:paralleltest // the environment is the whole process's
package poller_test

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
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/poller"
)

// setEnvironment sets the variables of a Lambda function, and clears those
// that the machine may have set.
func setEnvironment(t *testing.T, set map[string]string) {
	t.Helper()
	all := map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "example",
		"AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		poller.EnvBucket: "", poller.EnvPrefix: "", poller.EnvJobs: "", poller.EnvLeaseMargin: "",
		poller.EnvRetentionDays: "", poller.EnvLogLevel: "",
	}
	maps.Copy(all, set)
	for name, value := range all {
		t.Setenv(name, value)
	}
}

func TestFromEnvironment(t *testing.T) {
	server, err := embeddeds3.Start(embeddeds3.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateBucket("records"))

	var given jobs.Environment
	fake := &service{clock: &clock{now: time.Now()}, idempotency: classes["token"]}
	driver := func(e jobs.Environment) (jobs.Driver, error) {
		given = e
		return fake, nil
	}
	other := func(jobs.Environment) (jobs.Driver, error) { return renamed{fake}, nil }

	t.Run("defaults", func(t *testing.T) {
		setEnvironment(t, map[string]string{poller.EnvBucket: "records", "AWS_ENDPOINT_URL_S3": server.URL()})
		p, err := poller.FromEnvironment(t.Context(), poller.S3Store, driver, other)
		require.NoError(t, err)
		require.Equal(t, poller.DefaultRetention, p.Retention)
		require.Equal(t, poller.DefaultLeaseMargin, p.LeaseMargin)
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
		require.Len(t, list.Contents, 1)
	})

	t.Run("everything set", func(t *testing.T) {
		setEnvironment(t, map[string]string{
			poller.EnvBucket: "records", poller.EnvPrefix: "team/poll", poller.EnvJobs: " other:Job ",
			poller.EnvLeaseMargin: "20", poller.EnvRetentionDays: "90", poller.EnvLogLevel: "debug",
			"AWS_ENDPOINT_URL_S3": strings.Replace(server.URL(), "127.0.0.1", "localhost", 1),
		})
		p, err := poller.FromEnvironment(t.Context(), poller.S3Store, driver, other)
		require.NoError(t, err)
		require.Equal(t, 20*time.Second, p.LeaseMargin)
		require.Equal(t, 90*24*time.Hour, p.Retention)
		require.Equal(t, []string{"other:Job"}, p.Jobs.Names())
		require.Equal(t, "s3://records/team/poll/"+key.Path(), p.Store.Location(key))
		require.Equal(t, "team/poll", given.Prefix)
		require.True(t, p.Log.Enabled(t.Context(), -4))
		_, err = p.RunJob(t.Context(), json.RawMessage(bare(request)))
		requireError(t, err, poller.ErrorUnknownJob, "other:Job")
		_, err = p.RunJob(t.Context(), json.RawMessage(bare(strings.Replace(request, jobName, "other:Job", 1))))
		require.NoError(t, err, "the bucket is no part of the endpoint's name")
	})

	t.Run("two jobs allowed", func(t *testing.T) {
		setEnvironment(t, map[string]string{poller.EnvBucket: "records", poller.EnvJobs: "test:Job,other:Job"})
		p, err := poller.FromEnvironment(t.Context(), poller.S3Store, driver, other)
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
				poller.EnvBucket: "No_Bucket", poller.EnvPrefix: "/x", poller.EnvJobs: "test:Jbo,lambda:Invoke",
				poller.EnvLeaseMargin: "soon", poller.EnvRetentionDays: "14", poller.EnvLogLevel: "loud",
			},
			[]string{
				`environment variable JOBPOLLER_LEASE_MARGIN_SECONDS must be a whole number from 1 to 900, is "soon"`,
				`environment variable JOBPOLLER_RETENTION_DAYS must be a whole number from 15 to 3650, is "14"`,
				`environment variable JOBPOLLER_LOG_LEVEL must be debug, info, warn or error, is "loud"`,
				`"No_Bucket" is not a bucket's name`,
				`the prefix "/x" starts with a slash`,
				`environment variable JOBPOLLER_JOBS: unknown job: "test:Jbo" is none of the jobs of this function: other:Job, test:Job (did you mean "test:Job"?)`,
				`"lambda:Invoke" is none of the jobs`,
			},
		},
		{"a job twice", map[string]string{poller.EnvBucket: "records", poller.EnvJobs: "test:Job,test:Job"}, []string{"environment variable JOBPOLLER_JOBS: two drivers"}},
		{"an empty job", map[string]string{poller.EnvBucket: "records", poller.EnvJobs: "test:Job,"}, []string{`environment variable JOBPOLLER_JOBS: unknown job: "" is none`}},
		{"a wrong setting of the SDK's", map[string]string{"AWS_MAX_ATTEMPTS": "many"}, []string{"JOBPOLLER_BUCKET is required", "AWS configuration: ", "AWS_MAX_ATTEMPTS"}},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			setEnvironment(t, tt.set)
			_, err := poller.FromEnvironment(t.Context(), poller.S3Store, driver, other)
			for _, part := range tt.parts {
				require.ErrorContains(t, err, part)
			}
		})
	}

	t.Run("two drivers of one name", func(t *testing.T) {
		setEnvironment(t, map[string]string{poller.EnvBucket: "records"})
		_, err := poller.FromEnvironment(t.Context(), poller.S3Store, driver, driver)
		require.ErrorContains(t, err, "two drivers are registered for the job test:Job")
	})
	t.Run("no drivers", func(t *testing.T) {
		setEnvironment(t, map[string]string{poller.EnvBucket: "records"})
		_, err := poller.FromEnvironment(t.Context(), poller.S3Store)
		require.ErrorContains(t, err, "no jobs: register at least one driver")
	})
}
