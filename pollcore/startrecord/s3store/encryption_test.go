package s3store_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"
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
	const sse, kms = "X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"
	for _, tt := range []struct {
		options  []s3store.Option
		sse, kms string
	}{
		{nil, "", ""},
		{[]s3store.Option{s3store.Encrypt("AES256", "")}, "AES256", ""},
		{[]s3store.Option{s3store.Encrypt("aws:kms", "")}, "aws:kms", ""},
		{[]s3store.Option{s3store.Encrypt("aws:kms:dsse", "alias/jobs")}, "aws:kms:dsse", "alias/jobs"},
	} {
		store, err := s3store.New(server.Client(), bucket, tt.sse+tt.kms, tt.options...)
		require.NoError(t, err)
		created, err := store.Create(t.Context(), key, record(1))
		require.NoError(t, err)
		require.Equal(t, []string{tt.sse, tt.kms}, []string{header.Load().Get(sse), header.Load().Get(kms)})
		_, err = store.Replace(t.Context(), key, record(2), created.Version)
		require.NoError(t, err)
		require.Equal(t, []string{tt.sse, tt.kms}, []string{header.Load().Get(sse), header.Load().Get(kms)})
	}
}

func TestEncryptRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sse, kms, want string
	}{
		{"aes", "", `"aes" is no server-side encryption; expected AES256, aws:kms or aws:kms:dsse`},
		{"", "", `"" is no server-side encryption`},
		{"AES256", "alias/jobs", "a KMS key needs the server-side encryption aws:kms"},
	} {
		_, err := s3store.New(nil, "No_Bucket", "", s3store.Encrypt(types.ServerSideEncryption(tt.sse), tt.kms))
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, tt.want)
		require.ErrorContains(t, err, "is not a bucket's name", "all problems at once")
	}
}

// Servers that speak S3 and ignore conditions exist; the probe tells them.
func TestProbeOfACarelessServer(t *testing.T) {
	t.Parallel()
	for _, ignored := range []string{"If-None-Match", "If-Match"} {
		server := start(t, embeddeds3.Options{Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del(ignored)
				next.ServeHTTP(w, r)
			})
		}})
		store := startrecord.Probed(open(t, server.Client()))
		_, err := store.Create(t.Context(), key, record(1))
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, "ignores the condition of a write ("+ignored+")")
		_, err = store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrNotFound, "nothing but the probe is written")
	}
	wire := &wire{}
	good := startrecord.Probed(open(t, start(t, embeddeds3.Options{Middleware: wire.middleware}).Client()))
	_, err := good.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	require.Equal(t, "PUT PUT GET PUT GET PUT", wire.methods())
	other := key
	other.Scope = "2"
	_, err = good.Create(t.Context(), other, record(1))
	require.NoError(t, err)
	require.Equal(t, "PUT", wire.methods(), "the probe is made once")
}
