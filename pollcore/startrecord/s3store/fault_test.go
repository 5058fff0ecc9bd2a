package s3store_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// Whatever a server answers to a write, the store says whether it was made.
func TestUnclearAnswers(t *testing.T) {
	t.Parallel()
	refused := refuse
	tests := []struct {
		name     string
		faults   []fault
		want     error // nil: the write was made
		requests string
	}{
		{"500 and then well", []fault{refused(500, "InternalError")}, nil, "PUT PUT"},
		{"503 twice", times(2, refused(503, "SlowDown")), nil, "PUT PUT PUT"},
		{"reset and then well", []fault{reset}, nil, "PUT PUT"},
		{"503 three times", times(3, refused(503, "SlowDown")), startrecord.ErrUnavailable, "PUT PUT PUT GET"},
		{"reset three times", times(3, reset), startrecord.ErrUnavailable, "PUT PUT PUT GET"},
		{"proxy's 502 without XML", times(3, refused(502, "")), startrecord.ErrUnavailable, "PUT PUT PUT GET"},
		{"request timeout", times(3, refused(400, "RequestTimeout")), startrecord.ErrUnavailable, "PUT PUT PUT GET"},
		// The client sends the write again and is told 412, although it won.
		{"made, then 500", []fault{commit(refused(500, "InternalError"))}, nil, "PUT PUT GET"},
		{"made, then 503", []fault{commit(refused(503, "SlowDown"))}, nil, "PUT PUT GET"},
		{"made, then reset", []fault{commit(reset)}, nil, "PUT PUT GET"},
		{"made, then 500 to the end", append([]fault{commit(refused(500, "InternalError"))}, times(2, refused(500, "InternalError"))...), nil, "PUT PUT PUT GET"},
		{"made, then 409", []fault{commit(refused(409, "ConditionalRequestConflict"))}, nil, "PUT GET"},
		// The client does not retry 409: the store does.
		{"409 once", []fault{refused(409, "ConditionalRequestConflict")}, nil, "PUT GET PUT"},
		{"409 twice", times(2, refused(409, "ConditionalRequestConflict")), nil, "PUT GET PUT GET PUT"},
		{"409 three times", times(3, refused(409, "ConditionalRequestConflict")), startrecord.ErrUnavailable, "PUT GET PUT GET PUT GET"},
		{"412 that is not true", []fault{refused(412, "PreconditionFailed")}, startrecord.ErrUnavailable, "PUT GET"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wire := &wire{}
			store := open(t, prompt(start(t, embeddeds3.Options{Middleware: wire.middleware}).Client()))

			wire.fail(tt.faults...)
			created, err := store.Create(t.Context(), key, record(1))
			require.Equal(t, tt.requests, wire.methods(), "create")
			if tt.want == nil {
				require.NoError(t, err)
				loaded, err := store.Load(t.Context(), key)
				require.NoError(t, err)
				require.Equal(t, loaded.Version, created.Version)
				require.Equal(t, loaded.Record, created.Record)
			} else {
				require.ErrorIs(t, err, tt.want)
				require.ErrorContains(t, err, location)
				_, err = store.Load(t.Context(), key)
				require.ErrorIs(t, err, startrecord.ErrNotFound)
				created, err = store.Create(t.Context(), key, record(1))
				require.NoError(t, err)
			}
			wire.take()

			wire.fail(tt.faults...)
			replaced, err := store.Replace(t.Context(), key, record(2), created.Version)
			require.Equal(t, tt.requests, wire.methods(), "replace")
			loaded, loadErr := store.Load(t.Context(), key)
			require.NoError(t, loadErr)
			if tt.want == nil {
				require.NoError(t, err)
				require.Equal(t, 2, loaded.Record.Generation)
				require.Equal(t, loaded.Version, replaced.Version)
			} else {
				require.ErrorIs(t, err, tt.want)
				require.Equal(t, created.Version, loaded.Version)
			}
		})
	}
}

// A write whose answer is lost while another wins is lost, not won.
func TestUnclearAnswersOfALoser(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{
		"409": refuse(409, "ConditionalRequestConflict"), "500": refuse(500, "InternalError"), "reset": reset,
		"404": refuse(404, "NoSuchKey"), "412": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := &wire{}
			client := start(t, embeddeds3.Options{Middleware: wire.middleware}).Client()
			store := open(t, prompt(client))
			first, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			second, err := store.Replace(t.Context(), key, record(2), first.Version)
			require.NoError(t, err)

			wire.fail(f, f, f)
			_, err = store.Create(t.Context(), key, record(3))
			require.ErrorIs(t, err, startrecord.ErrExists)
			wire.fail(f, f, f)
			_, err = store.Replace(t.Context(), key, record(3), first.Version)
			require.ErrorIs(t, err, startrecord.ErrChanged)
			wire.fail()

			loaded, err := store.Load(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, second.Version, loaded.Version)

			_, err = client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("executions/" + key.Path())})
			require.NoError(t, err)
			wire.fail(f, f, f)
			_, err = store.Replace(t.Context(), key, record(3), second.Version)
			require.ErrorIs(t, err, startrecord.ErrChanged, "the record is gone")
		})
	}
}

// A store that is set up wrongly is said to be so at once: it is never a lost
// race, and no read-back or second write is spent on it.
func TestMisconfigured(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer fault
		want   string
	}{
		{"no bucket", refuse(404, "NoSuchBucket"), `bucket "records" does not exist; create it, or configure another`},
		{"denied", refuse(403, "AccessDenied"), "grant s3:GetObject and s3:PutObject on s3://records/executions/* and s3:ListBucket"},
		{"denied without XML", refuse(403, ""), "access denied"},
		{"bad key", refuse(403, "InvalidAccessKeyId"), "credentials are not valid"},
		{"bad signature", refuse(403, "SignatureDoesNotMatch"), "credentials are not valid"},
		{"key disabled", refuse(400, "KMS.DisabledException"), `KMS key of bucket "records" cannot be used`},
		{"denied to encrypt", refuse(403, "AccessDenied"), "kms:GenerateDataKey and kms:Decrypt"},
		{"clock", refuse(403, "RequestTimeTooSkewed"), "clock of this machine"},
		{"expired", refuse(400, "ExpiredToken"), "credentials are not valid"},
		{"region", refuse(301, "PermanentRedirect"), "set AWS_REGION"},
		{"not an S3 server", refuse(405, ""), "check the bucket and the endpoint"},
		{"no such page", refuse(404, ""), "check the bucket and the endpoint"},
		{"no conditions", refuse(501, "NotImplemented"), "does not implement"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wire := &wire{}
			client := start(t, embeddeds3.Options{Middleware: wire.middleware}).Client()
			store := open(t, s3.New(client.Options(), func(o *s3.Options) { o.RetryMaxAttempts = 1 }))
			check := func(err error) {
				t.Helper()
				require.ErrorIs(t, err, startrecord.ErrConfiguration)
				require.NotErrorIs(t, err, startrecord.ErrUnavailable)
				require.NotErrorIs(t, err, startrecord.ErrExists)
				require.NotErrorIs(t, err, startrecord.ErrChanged)
				require.NotErrorIs(t, err, startrecord.ErrNotFound)
				require.ErrorContains(t, err, tt.want)
				require.ErrorContains(t, err, location)
			}
			created, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			wire.take()

			wire.fail(tt.answer)
			_, err = store.Create(t.Context(), key, record(2))
			check(err)
			require.Equal(t, "PUT", wire.methods())
			wire.fail(tt.answer)
			_, err = store.Replace(t.Context(), key, record(2), created.Version)
			check(err)
			require.Equal(t, "PUT", wire.methods())
			wire.failGets(tt.answer)
			_, err = store.Load(t.Context(), key)
			check(err)
			require.Equal(t, "GET", wire.methods())
		})
	}
}

func TestWriteInAContextThatHasEndedIsUnavailable(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store, err := s3store.New(s3.New(s3.Options{Region: "us-east-1"}), "bucket", "")
	require.NoError(t, err)
	_, err = store.Create(ctx, key, record(1))
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
}
