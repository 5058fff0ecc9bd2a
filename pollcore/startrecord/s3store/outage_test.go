package s3store_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

func TestBucketMissing(t *testing.T) {
	t.Parallel()
	store, err := s3store.New(start(t, embeddeds3.Options{}).Client(), "other", "")
	require.NoError(t, err)
	for name, do := range operations(store, `"an etag"`) {
		err := do(t.Context())
		require.ErrorIs(t, err, startrecord.ErrConfiguration, name)
		require.ErrorContains(t, err, `bucket "other" does not exist`)
	}
}

func TestServerGone(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	store := open(t, prompt(server.Client()))
	require.NoError(t, server.Close())
	for name, do := range operations(store, `"an etag"`) {
		require.ErrorIs(t, do(t.Context()), startrecord.ErrUnavailable, name)
	}
}

// A request that could not be made at all is not an outage of S3.
func TestClientMisconfigured(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  func(*s3.Options)
		want string
	}{
		{"no region", func(o *s3.Options) { o.Region, o.BaseEndpoint = "", nil }, "check the region and the endpoint"},
		{"credentials of another service", func(o *s3.Options) {
			o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{}, &smithy.OperationError{ServiceID: "ec2imds", OperationName: "GetMetadata", Err: errors.New("no route")}
			})
		}, "no usable AWS credentials"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := start(t, embeddeds3.Options{}).Client()
			store := open(t, s3.New(client.Options(), tt.set))
			for name, do := range operations(store, `"an etag"`) {
				err := do(t.Context())
				require.ErrorIs(t, err, startrecord.ErrConfiguration, name)
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
}

// What the read-back finds out counts more than the answer to the write.
func TestReadBackFails(t *testing.T) {
	t.Parallel()
	body := func(text string) fault {
		return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	tests := []struct {
		name   string
		answer fault
		want   error
	}{
		{"denied", refuse(403, "AccessDenied"), startrecord.ErrConfiguration},
		{"no bucket", refuse(404, "NoSuchBucket"), startrecord.ErrConfiguration},
		{"no date", omit("Date"), startrecord.ErrConfiguration},
		{"no last change", omit("Last-Modified"), startrecord.ErrConfiguration},
		{"of a newer program", body(`{"version":2}`), startrecord.ErrVersion},
		{"no record", body(`hello`), startrecord.ErrMalformed},
		{"unavailable", refuse(503, "SlowDown"), startrecord.ErrUnavailable},
		{"cut", cut, startrecord.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wire := &wire{}
			store := open(t, prompt(start(t, embeddeds3.Options{Middleware: wire.middleware}).Client()))
			created, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			for name, do := range operations(store, created.Version) {
				wire.fail(times(3, commit(refuse(500, "InternalError")))...)
				wire.failGets(times(3, tt.answer)...)
				err := do(t.Context())
				require.ErrorIs(t, err, tt.want, name)
				require.ErrorContains(t, err, location, name)
			}
		})
	}
}

// Without an ETag a record could never be replaced, without the two times a
// lease would never end.
func TestIncompleteAnswers(t *testing.T) {
	t.Parallel()
	wire := &wire{}
	store := open(t, start(t, embeddeds3.Options{Middleware: wire.middleware}).Client())
	const want = "the answer lacks an ETag, Date or Last-Modified header"

	wire.fail(omit("ETag"))
	_, err := store.Create(t.Context(), key, record(1))
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	require.ErrorContains(t, err, want)
	for _, header := range []string{"ETag", "Date", "Last-Modified"} {
		wire.failGets(omit(header))
		_, err := store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrConfiguration, header)
		require.ErrorContains(t, err, want, header)
	}
}

// Once the context has ended nothing more is sent: neither another write nor a
// read-back.
func TestCanceledDuringWrite(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]fault{"reset": reset, "503": refuse(503, "SlowDown")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := &wire{}
			store := open(t, prompt(start(t, embeddeds3.Options{Middleware: wire.middleware}).Client()))
			created, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			for name, do := range operations(store, created.Version) {
				wire.take()
				ctx, cancel := context.WithCancel(t.Context())
				stop := func(next http.Handler, w http.ResponseWriter, r *http.Request) {
					cancel()
					after(next, w, r)
				}
				wire.fail(stop)
				wire.failGets(stop)
				err := do(ctx)
				require.ErrorIs(t, err, context.Canceled, name)
				require.ErrorIs(t, err, startrecord.ErrUnavailable, name)
				require.Len(t, wire.take(), 1, name)
			}
		})
	}
}

// operations are the three methods of a store, on the one key.
func operations(store startrecord.Store, version string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := store.Create(ctx, key, record(2))
			return err
		},
		"replace": func(ctx context.Context) error {
			_, err := store.Replace(ctx, key, record(2), version)
			return err
		},
		"load": func(ctx context.Context) error {
			_, err := store.Load(ctx, key)
			return err
		},
	}
}
