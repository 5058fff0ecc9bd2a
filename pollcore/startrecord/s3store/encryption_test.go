package s3store_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

func TestEncrypt(t *testing.T) {
	t.Parallel()
	var header atomic.Pointer[http.Header]
	server := start(t, embeddeds3.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				header.Store(new(r.Header.Clone()))
			}
			next.ServeHTTP(w, r)
		})
	}})
	const prefix = "X-Amz-Server-Side-Encryption"
	for name, tt := range map[string]struct {
		options []s3store.Option
		want    [3]string // algorithm, KMS key, bucket key
	}{
		"default":    {nil, [3]string{}},
		"AES256":     {[]s3store.Option{s3store.Encrypt("AES256", "")}, [3]string{"AES256"}},
		"KMS":        {[]s3store.Option{s3store.Encrypt("aws:kms", "")}, [3]string{"aws:kms"}},
		"KMS twice":  {[]s3store.Option{s3store.Encrypt("aws:kms:dsse", "alias/jobs")}, [3]string{"aws:kms:dsse", "alias/jobs"}},
		"bucket key": {[]s3store.Option{s3store.BucketKey(), s3store.Encrypt("aws:kms", "alias/jobs")}, [3]string{"aws:kms", "alias/jobs", "true"}},
	} {
		sent := func() [3]string {
			h := header.Load()
			return [3]string{h.Get(prefix), h.Get(prefix + "-Aws-Kms-Key-Id"), h.Get(prefix + "-Bucket-Key-Enabled")}
		}
		store, err := s3store.New(server.Client(), bucket, name, tt.options...)
		require.NoError(t, err)
		created, err := store.Create(t.Context(), key, record(1))
		require.NoError(t, err)
		require.Equal(t, tt.want, sent(), name)
		_, err = store.Replace(t.Context(), key, record(2), created.Version)
		require.NoError(t, err)
		require.Equal(t, tt.want, sent(), name)
	}
}

func TestEncryptRefuses(t *testing.T) {
	t.Parallel()
	for want, options := range map[string][]s3store.Option{
		`"aes" is not a server-side encryption; expected AES256, aws:kms or aws:kms:dsse`:  {s3store.Encrypt("aes", "")},
		`"" is not a server-side encryption`:                                               {s3store.Encrypt("", "")},
		`a KMS key needs the server-side encryption aws:kms or aws:kms:dsse, not "AES256"`: {s3store.Encrypt("AES256", "alias/jobs")},
		`a bucket key needs the server-side encryption aws:kms, not "aws:kms:dsse"`:        {s3store.Encrypt("aws:kms:dsse", ""), s3store.BucketKey()},
		`a bucket key needs the server-side encryption aws:kms, not ""`:                    {s3store.BucketKey()},
	} {
		_, err := s3store.New(nil, "No_Bucket", "", options...)
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "is not a bucket's name", "all problems at once")
	}
}

// Servers that speak S3 and ignore conditions exist: a store behind an endpoint of
// one's own is probed, whoever makes it.
func TestStoreOfAnEndpointIsProbed(t *testing.T) {
	t.Parallel()
	for _, ignored := range []string{"If-None-Match", "If-Match"} {
		server := start(t, embeddeds3.Options{Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del(ignored)
				next.ServeHTTP(w, r)
			})
		}})
		store := endpointStore(t, server.Client())
		_, err := store.Create(t.Context(), key, record(1))
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, "ignores the condition of a write ("+ignored+")")
		_, err = store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrNotFound, "nothing but the probe is written")
	}
	wire := &wire{}
	good := endpointStore(t, start(t, embeddeds3.Options{Middleware: wire.middleware}).Client())
	_, err := good.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	require.Equal(t, "PUT PUT GET PUT GET PUT", wire.methods())
	other := key
	other.Scope = "2"
	_, err = good.Create(t.Context(), other, record(1))
	require.NoError(t, err)
	require.Equal(t, "PUT", wire.methods(), "the probe is made once")
}

func endpointStore(t *testing.T, client s3store.API) startrecord.Store {
	t.Helper()
	store, err := s3store.New(client, bucket, "executions")
	require.NoError(t, err)
	return store
}
