package embeddeds3_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
)

const bucket = "bucket"

// Both clients speak the whole protocol: values, metadata, typed errors,
// conditions.
func TestClients(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	for name, client := range map[string]*s3.Client{"Socket": server.Client(), "Direct": server.DirectClient()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := name + "/a b/ü/%2F+&?.json"
			_, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
			require.ErrorAs(t, err, new(*types.NoSuchKey))

			first, err := put(client, key, "one", func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
			require.NoError(t, err)
			_, err = put(client, key, "two", func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
			requireCode(t, err, "PreconditionFailed")
			second, err := put(client, key, "", func(in *s3.PutObjectInput) { in.IfMatch = first.ETag })
			require.NoError(t, err)
			_, err = put(client, key, "three", func(in *s3.PutObjectInput) { in.IfMatch = first.ETag })
			requireCode(t, err, "PreconditionFailed")

			body, out := get(t, client, key)
			require.Empty(t, body)
			require.Equal(t, second.ETag, out.ETag)
			require.Equal(t, "application/json", *out.ContentType)

			_, err = client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("none")})
			require.ErrorAs(t, err, new(*types.NotFound))
			_, err = client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("no-bucket"), Key: aws.String(key)})
			requireCode(t, err, "NoSuchBucket")
			list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String(name)})
			require.NoError(t, err)
			require.Len(t, list.Contents, 1)
			require.Equal(t, key, *list.Contents[0].Key)
		})
	}
}

// One server, two ways in: what one client writes the other reads.
func TestClientsShareObjects(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	_, err := put(server.DirectClient(), "k", "v", nil)
	require.NoError(t, err)
	body, _ := get(t, server.Client(), "k")
	require.Equal(t, "v", body)

	require.True(t, strings.HasPrefix(server.URL(), "http://127.0.0.1:"), server.URL())
}

// The clock drives both times of an answer, in any zone and however far from
// the client's own clock.
func TestClock(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1999, 2044} {
		for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
			written := time.Date(year, 7, 1, 12, 0, 0, 0, time.FixedZone("CEST", 2*3600))
			now := written
			server := start(t, embeddeds3.Options{Now: func() time.Time { return now }, Dir: dir})
			for _, client := range []*s3.Client{server.Client(), server.DirectClient()} {
				now = written
				_, err := put(client, "k", "v", nil)
				require.NoError(t, err)
				now = written.Add(36 * time.Hour)
				_, out := get(t, client, "k")
				require.WithinDuration(t, written, *out.LastModified, 0, name)
				date, ok := middleware.GetServerTime(out.ResultMetadata)
				require.True(t, ok)
				require.WithinDuration(t, now, date, 0, name)
			}
		}
	}
}

func TestClockDefault(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	before := time.Now().Truncate(time.Second)
	_, err := put(server.Client(), "k", "v", nil)
	require.NoError(t, err)
	_, out := get(t, server.Client(), "k")
	require.False(t, out.LastModified.Before(before))
	require.False(t, out.LastModified.After(time.Now()))
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	status := http.StatusTeapot
	server := start(t, embeddeds3.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			if r.URL.Path == "/bucket/drop" {
				panic(http.ErrAbortHandler)
			}
			if r.URL.Path == "/bucket/refuse" {
				w.WriteHeader(status)
				w.WriteHeader(http.StatusOK) // too late, as with net/http
				return
			}
			next.ServeHTTP(w, r)
		})
	}})
	for _, client := range []*s3.Client{server.Client(), server.DirectClient()} {
		once := s3.New(client.Options(), func(o *s3.Options) { o.RetryMaxAttempts = 1 })
		requests.Store(0)
		_, err := put(once, "k", "v", nil)
		require.NoError(t, err)
		_, err = put(once, "drop", "v", nil)
		require.ErrorContains(t, err, "request send failed")
		_, err = put(once, "refuse", "v", nil)
		require.ErrorContains(t, err, "StatusCode: 418")
		require.EqualValues(t, 3, requests.Load())
	}
}

func TestDirectClientHonoursContext(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := start(t, embeddeds3.Options{Middleware: count(&requests)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://any/bucket/k", nil)
	require.NoError(t, err)
	_, err = server.DirectClient().Options().HTTPClient.Do(request) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, requests.Load())
}

func TestDirectClientUsesNoSocket(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	_, err := put(server.DirectClient(), "k", "v", nil)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	body, _ := get(t, server.DirectClient(), "k")
	require.Equal(t, "v", body)
}

// Temporary credentials of the caller's environment are a secret, and too long
// for an object's metadata.
func TestSessionTokenIsNotKept(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	for _, client := range []*s3.Client{server.Client(), server.DirectClient()} {
		keys := server.Keys()
		temporary := s3.New(client.Options(), func(o *s3.Options) {
			o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: strings.Repeat("t", 3000)}, nil
			})
		})
		_, err := put(temporary, "k", "v", nil)
		require.NoError(t, err)
		answer := getDirectly(t, server, "/bucket/k") //nolint:bodyclose // it is closed
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NotContains(t, fmt.Sprint(answer.Header), "ttt")
	}
}

func TestCreateBucket(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, embeddeds3.Options{Dir: dir})
			_, err := put(server.Client(), "k", "v", nil)
			require.NoError(t, err)
			require.NoError(t, server.CreateBucket(bucket), "again")
			body, _ := get(t, server.Client(), "k")
			require.Equal(t, "v", body, "an existing bucket keeps its objects")
			for _, bad := range []string{"", "a", "Upper", "under_score", "../x"} {
				require.ErrorContains(t, server.CreateBucket(bad), `"`+bad+`"`)
			}
		})
	}
}

func TestFolderKeepsObjects(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there")
	now := func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	first, err := embeddeds3.Start(embeddeds3.Options{Dir: dir, Now: now})
	require.NoError(t, err)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, first.CreateBucket(bucket))
	written, err := put(first.Client(), "k", "v", nil)
	require.NoError(t, err)
	require.NoError(t, first.Close())

	second := start(t, embeddeds3.Options{Dir: dir})
	body, out := get(t, second.Client(), "k")
	require.Equal(t, "v", body)
	require.Equal(t, written.ETag, out.ETag)
	require.Equal(t, now(), *out.LastModified)
	_, err = put(second.Client(), "k", "w", func(in *s3.PutObjectInput) { in.IfMatch = written.ETag })
	require.NoError(t, err)
}

// The rest of what a person does with a bucket works in a folder as in memory.
func TestCopyAndDelete(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := start(t, embeddeds3.Options{Dir: dir}).Client()
			written, err := put(client, "a", "v", nil)
			require.NoError(t, err)
			copied, err := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b"), CopySource: aws.String("bucket/a")})
			require.NoError(t, err)
			require.Equal(t, written.ETag, copied.CopyObjectResult.ETag)
			body, _ := get(t, client, "b")
			require.Equal(t, "v", body)
			head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("b")})
			require.NoError(t, err)
			require.Equal(t, written.ETag, head.ETag)

			_, err = client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(bucket)})
			requireCode(t, err, "BucketNotEmpty")
			_, err = client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
			require.NoError(t, err)
			_, err = client.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: aws.String(bucket), Delete: &types.Delete{
				Objects: []types.ObjectIdentifier{{Key: aws.String("b")}},
			}})
			require.NoError(t, err)
			list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket)})
			require.NoError(t, err)
			require.Empty(t, list.Contents)
			_, err = client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(bucket)})
			require.NoError(t, err)
			_, err = put(client, "a", "v", nil)
			requireCode(t, err, "NoSuchBucket")
		})
	}
}

func TestFolderInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, embeddeds3.Options{Dir: dir})
	_, err := embeddeds3.Start(embeddeds3.Options{Dir: dir})
	require.EqualError(t, err, "folder "+dir+" is in use by another process, such as jobpoller serve: stop it, or choose another folder")
	require.NoError(t, first.Close())
	start(t, embeddeds3.Options{Dir: dir})
}

func TestFolderUnusable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "s3.bolt")
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o600))
	_, err := embeddeds3.Start(embeddeds3.Options{Dir: dir})
	require.ErrorContains(t, err, file)
	require.ErrorContains(t, err, "choose another folder")
	_, err = embeddeds3.Start(embeddeds3.Options{Dir: filepath.Join(file, "sub")})
	require.ErrorContains(t, err, "cannot be created")
}

// Close ends the socket, may come twice, and does not disturb another server.
func TestClose(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, other := start(t, embeddeds3.Options{Dir: dir}), start(t, embeddeds3.Options{})
			require.NotEqual(t, server.URL(), other.URL())
			require.NoError(t, server.Close())
			require.NoError(t, server.Close())
			once := s3.New(server.Client().Options(), func(o *s3.Options) { o.RetryMaxAttempts = 1 })
			_, err := put(once, "k", "v", nil)
			require.ErrorContains(t, err, "connection refused")
			_, err = put(other.Client(), "k", "v", nil)
			require.NoError(t, err)
		})
	}
}

// Of many conditional writes at once, through both clients, one wins.
func TestConditionsAreAtomic(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, embeddeds3.Options{Dir: dir})
			clients := []*s3.Client{server.Client(), server.DirectClient()}
			var won atomic.Int32
			var done sync.WaitGroup
			for i := range 64 {
				done.Go(func() {
					_, err := put(clients[i%2], "k", "v", func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
					if err == nil {
						won.Add(1)
					}
				})
			}
			done.Wait()
			require.EqualValues(t, 1, won.Load())
		})
	}
}

// An answer on its way to a slow client is not touched by later writes.
func TestReadsAreWhole(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, embeddeds3.Options{Dir: dir})
			want := strings.Repeat("a", 200_000)
			_, err := put(server.Client(), "k", want, nil)
			require.NoError(t, err)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/bucket/k", nil)
			require.NoError(t, err)
			keys := server.Keys()
			hash := "UNSIGNED-PAYLOAD"
			request.Header.Set("X-Amz-Content-Sha256", hash)
			require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey},
				request, hash, "s3", "us-east-1", time.Now()))
			request.RequestURI, request.Body = "/bucket/k", http.NoBody // as a server sees it
			slow := &slowWriter{ResponseRecorder: httptest.NewRecorder(), wait: func() {
				for range 20 {
					_, err := put(server.Client(), "k", strings.Repeat("b", 200_000), nil)
					require.NoError(t, err)
				}
			}}
			server.Handler().ServeHTTP(slow, request)
			require.Equal(t, http.StatusOK, slow.Code)
			require.Equal(t, md5.Sum([]byte(want)), md5.Sum(slow.Body.Bytes())) // too long to be printed
		})
	}
}

// slowWriter waits before it takes what is written to it.
type slowWriter struct {
	*httptest.ResponseRecorder
	wait func()
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.wait()
	return w.ResponseRecorder.Write(p)
}

// Nothing of the server reaches the program's log, also not when a connection
// breaks.
func TestSilent(t *testing.T) { //nolint:paralleltest // sets the standard logger's output
	var output bytes.Buffer
	log.SetOutput(&output)
	defer log.SetOutput(os.Stderr)
	server := start(t, embeddeds3.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/bucket/panic" {
				panic("a bug in a test's middleware")
			}
			next.ServeHTTP(w, r)
		})
	}})
	once := s3.New(server.Client().Options(), func(o *s3.Options) { o.RetryMaxAttempts = 1 })
	_, err := put(once, "panic", "v", nil)
	require.Error(t, err)
	_, err = put(once, "k", "v", nil)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	require.Empty(t, output.String())
}

func BenchmarkGet(b *testing.B) {
	server, err := embeddeds3.Start(embeddeds3.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Close()) })
	require.NoError(b, server.CreateBucket(bucket))
	_, err = put(server.Client(), "k", strings.Repeat("x", 1500), nil)
	require.NoError(b, err)
	for name, client := range map[string]*s3.Client{"Socket": server.Client(), "Direct": server.DirectClient()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := client.GetObject(b.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k")})
				require.NoError(b, err)
				_, err = io.Copy(io.Discard, out.Body)
				require.NoError(b, err)
			}
		})
	}
}

func start(t *testing.T, o embeddeds3.Options) *embeddeds3.Server {
	t.Helper()
	server, err := embeddeds3.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateBucket(bucket))
	return server
}

// getDirectly sends a request without a signature past the socket.
func getDirectly(t *testing.T, server *embeddeds3.Server, path string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://any"+path, nil)
	require.NoError(t, err)
	answer, err := server.DirectClient().Options().HTTPClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer
}

func put(client *s3.Client, key, body string, set func(*s3.PutObjectInput)) (*s3.PutObjectOutput, error) {
	in := &s3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String(key),
		Body: strings.NewReader(body), ContentType: aws.String("application/json"),
	}
	if set != nil {
		set(in)
	}
	return client.PutObject(context.Background(), in)
}

func get(t *testing.T, client *s3.Client, key string) (string, *s3.GetObjectOutput) {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
	require.NoError(t, err)
	body, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	return string(body), out
}

func requireCode(t *testing.T, err error, code string) {
	t.Helper()
	var apiError smithy.APIError
	require.ErrorAs(t, err, &apiError)
	require.Equal(t, code, apiError.ErrorCode())
}

func count(requests *atomic.Int32) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			next.ServeHTTP(w, r)
		})
	}
}
