package responses_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// The names are those seen on AWS.
func TestIntegrationError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prefix, service, operation, shape, code, want string }{
		{"DynamoDb", "dynamodb", "DescribeTable", "ResourceNotFoundException", "ResourceNotFoundException", "DynamoDb.ResourceNotFoundException"},
		{"DynamoDb", "dynamodb", "DescribeTable", "ResourceNotFoundException", "ValidationException", "DynamoDb.DynamoDbException"},
		{"S3", "s3", "GetObject", "NoSuchKey", "NoSuchKey", "S3.NoSuchKeyException"},
		{"S3", "s3", "HeadBucket", "NoSuchBucket", "NotFound", "S3.NoSuchBucketException"},
		{"Sqs", "sqs", "GetQueueUrl", "QueueDoesNotExist", "QueueDoesNotExist", "Sqs.QueueDoesNotExistException"},
		{"Sfn", "stepfunctions", "DescribeExecution", "InvalidArn", "InvalidArn", "Sfn.InvalidArnException"},
		{"Rds", "rds", "DescribeDBInstances", "DBInstanceNotFoundFault", "DBInstanceNotFound", "Rds.DbInstanceNotFoundException"},
		{"Ec2", "ec2", "DescribeInstances", "", "InvalidInstanceID.NotFound", "Ec2.Ec2Exception"},
		{"Lambda", "lambda", "GetFunction", "KMSInvalidStateException", "KMSInvalidStateException", "Lambda.KmsInvalidStateException"},
		{"AcmPca", "acm-pca", "GetCertificate", "RequestInProgressException", "RequestInProgressException", "AcmPca.RequestInProgressException"},
	} {
		s := &catalog.Service{Key: c.service, ErrorPrefix: c.prefix}
		o := &catalog.Operation{Name: c.operation, Service: s, Errors: []catalog.Error{{Shape: c.shape}}}
		if c.shape != c.code {
			o.Errors[0].Code = c.code
		}
		if c.want == c.prefix+"."+c.prefix+"Exception" || c.service == "s3" && c.code == "NotFound" {
			o.Errors[0].Code = ""
		}
		require.Equal(t, c.want, responses.IntegrationError(o, c.code))
	}
}

func TestIntegrationCause(t *testing.T) {
	t.Parallel()
	o := &catalog.Operation{Service: &catalog.Service{ErrorPrefix: "S3"}, Errors: []catalog.Error{{Code: "NotFound", Status: 404}}}
	require.Contains(t, responses.IntegrationCause(o, "NotFound", "gone"), "gone (Service: S3, Status Code: 404, ")
	require.Contains(t, responses.IntegrationCause(o, "Other", "gone"), "gone (Service: S3, Status Code: 400, ")
}

func TestIntegration(t *testing.T) {
	t.Parallel()
	got := responses.Integration(firing(t, "FiringDone").Operation.Output, map[string]any{
		"state": "HOT", "id": nil, "at": 1.7e9, "pots": []any{map[string]any{"heat": 3.0, "glaze": nil}, nil},
		"tags": map[string]any{"lowerCase": "value"}, "self": map[string]any{"at": 1700000000.5},
	})
	require.Equal(t, map[string]any{
		"State": "HOT", "At": "2023-11-14T22:13:20Z", "Pots": []any{map[string]any{"Heat": 3.0}},
		"Tags": map[string]any{"lowerCase": "value"}, "Self": map[string]any{"At": "2023-11-14T22:13:20.5Z"},
	}, got)
}

// Sequences are repeatable, of every kind, and end as they say.
func TestSequences(t *testing.T) {
	t.Parallel()
	const deadline = 5 * time.Minute
	e := firing(t, "FiringDone")
	s, err := responses.NewSequencer(e, 1)
	require.NoError(t, err)
	met := map[string]bool{}
	reached := map[int]bool{}
	for n := range 200 {
		q, err := s.Make(n, 1, deadline)
		require.NoError(t, err)
		again, err := s.Make(n, 1, deadline)
		require.NoError(t, err)
		require.Equal(t, q, again)

		met["endless"] = met["endless"] || q.Endless
		met["in time"] = met["in time"] || q.Timed && q.End < deadline-time.Second
		met["at the deadline"] = met["at the deadline"] || q.Timed && q.End == deadline
		met["too late"] = met["too late"] || q.Timed && q.End > deadline
		met["faults"] = met["faults"] || q.Faults() > 0
		met["slow"] = met["slow"] || q.Latency > 0
		require.LessOrEqual(t, q.Faults(), 4)
		if q.Want.State == pollcore.Retry {
			require.True(t, q.Endless, "%s has no end", q.Name)
			continue
		}
		reached[q.Want.Acceptor] = true
		a := q.At(q.Polls-1, 0)
		if q.Timed {
			a = q.At(0, q.End)
			require.NotEqual(t, a, q.At(0, q.End-1))
		}
		c := a.Case
		c.Input = q.Input
		v, err := s.Verdict(c)
		require.NoError(t, err)
		require.Equal(t, q.Want, v)
	}
	for _, kind := range []string{"endless", "in time", "at the deadline", "too late", "faults", "slow"} {
		require.True(t, met[kind], kind)
	}
	for _, acceptor := range []int{0, 1, 3, 4, 5, pollcore.NoAcceptor} {
		require.True(t, reached[acceptor], "acceptor %d", acceptor+1)
	}
}

// To a waiter that takes any error a throttled call is an answer: no sequence has
// calls that are only to be made again.
func TestSequencesForAnyError(t *testing.T) {
	t.Parallel()
	e := *firing(t, "FiringDone")
	e.Waiter = pollcore.MustNew("AnyError", pollcore.Succeed(pollcore.Output("state").Is("COLD")), pollcore.Again(pollcore.AnyError()))
	s, err := responses.NewSequencer(&e, 1)
	require.NoError(t, err)
	failed := 0
	for n := range 200 {
		q, err := s.Make(n, 1, 5*time.Minute)
		require.NoError(t, err)
		require.Zero(t, q.Faults(), q.Name)
		for _, a := range q.Answers {
			require.False(t, a.Fatal && a.Err != nil && q.Want.State == pollcore.Retry, q.Name)
			if a.Err != nil {
				failed++
			}
		}
	}
	require.Positive(t, failed)
}
