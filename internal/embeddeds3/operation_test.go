package embeddeds3_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
)

// onBoth runs a test on a server in memory and on one with a folder.
func onBoth(t *testing.T, test func(t *testing.T, client *s3.Client)) {
	t.Helper()
	for name, dir := range map[string]string{"memory": "", "folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, embeddeds3.Options{Dir: dir}).Client())
		})
	}
}

// Who does not have the keys gets nothing out of the server and nothing into it.
func TestServerIsClosedToOthers(t *testing.T) {
	t.Parallel()
	server := start(t, embeddeds3.Options{})
	_, err := put(server.Client(), "k", "v", nil)
	require.NoError(t, err)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodOptions} {
		for _, path := range []string{"/", "/bucket", "/bucket?list-type=2", "/bucket/k", "/bucket?delete", "/other"} {
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL()+path, strings.NewReader("stolen"))
			require.NoError(t, err)
			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			refused := http.StatusForbidden
			if method == http.MethodOptions { // no preflight is answered, signed or not
				refused = http.StatusMethodNotAllowed
			}
			require.Equal(t, refused, answer.StatusCode, "%s %s", method, path)
			require.NotContains(t, string(body)+fmt.Sprint(answer.Header), server.Keys().AccessKeyID)
			require.NotContains(t, fmt.Sprint(answer.Header), "Access-Control")
		}
	}
	wrong := s3.New(server.Client().Options(), func(o *s3.Options) {
		o.Credentials = start(t, embeddeds3.Options{}).Client().Options().Credentials // of another run
	})
	_, err = put(wrong, "k", "w", nil)
	requireCode(t, err, "SignatureDoesNotMatch")
	_, err = wrong.ListBuckets(t.Context(), nil)
	requireCode(t, err, "SignatureDoesNotMatch")
	body, _ := get(t, server.Client(), "k")
	require.Equal(t, "v", body)
}

func TestListing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, client *s3.Client) {
		t.Helper()
		keys := []string{"a", "b/1", "b/2", "b/c/3", "c", "d d/é&+", "e"}
		for _, key := range keys {
			_, err := put(client, key, key, nil)
			require.NoError(t, err)
		}
		list := func(page int32, prefix, delimiter string) (all []string) {
			pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{
				Bucket: aws.String(bucket), Prefix: aws.String(prefix), Delimiter: aws.String(delimiter), MaxKeys: aws.Int32(page),
			})
			for pages.HasMorePages() {
				out, err := pages.NextPage(t.Context())
				require.NoError(t, err)
				require.LessOrEqual(t, len(out.Contents)+len(out.CommonPrefixes), int(page))
				for _, o := range out.Contents {
					require.EqualValues(t, len(*o.Key), *o.Size)
					all = append(all, *o.Key)
				}
				for _, p := range out.CommonPrefixes {
					all = append(all, *p.Prefix)
				}
			}
			return all
		}
		for page := range int32(8) {
			page++
			require.Equal(t, keys, list(page, "", ""), page)
			require.Equal(t, []string{"b/1", "b/2", "b/c/3"}, list(page, "b/", ""), page)
			require.ElementsMatch(t, []string{"a", "b/", "c", "d d/", "e"}, list(page, "", "/"), page)
			require.ElementsMatch(t, []string{"b/1", "b/2", "b/c/"}, list(page, "b/", "/"), page)
		}
		require.Empty(t, list(1, "x", "/"))
		first, err := client.ListObjects(t.Context(), &s3.ListObjectsInput{
			Bucket: aws.String(bucket), Marker: aws.String("c"), MaxKeys: aws.Int32(1), EncodingType: types.EncodingTypeUrl,
		})
		require.NoError(t, err)
		require.Equal(t, "d+d%2F%C3%A9%26%2B", *first.Contents[0].Key)
		require.True(t, *first.IsTruncated)
		buckets, err := client.ListBuckets(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, buckets.Buckets, 1)
		_, err = client.GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{Bucket: aws.String(bucket)})
		require.NoError(t, err)
		_, err = client.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("none")})
		require.ErrorAs(t, err, new(*types.NotFound))
	})
}

// The conditions of reads, writes and deletes as the S3 user guide's "Conditional
// requests" has them.
func TestConditions(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, client *s3.Client) {
		t.Helper()
		_, err := put(client, "k", "v", func(in *s3.PutObjectInput) { in.IfMatch = aws.String(`"x"`) })
		requireCode(t, err, "NoSuchKey")
		_, err = put(client, "k", "v", func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String(`"x"`) })
		requireCode(t, err, "NotImplemented")
		written, err := put(client, "k", "value", func(in *s3.PutObjectInput) { in.Metadata = map[string]string{"note": "n"} })
		require.NoError(t, err)
		_, err = client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: aws.String(`"x"`)})
		require.ErrorContains(t, err, "StatusCode: 412")
		part, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Range: aws.String("bytes=1-3")})
		require.NoError(t, err)
		text, err := io.ReadAll(part.Body)
		require.NoError(t, err)
		require.Equal(t, "alu", string(text))
		require.Equal(t, "n", part.Metadata["note"])

		_, err = client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("c"), CopySource: aws.String("bucket/none")})
		requireCode(t, err, "NoSuchKey")
		_, err = client.CopyObject(t.Context(), &s3.CopyObjectInput{
			Bucket: aws.String(bucket), Key: aws.String("k"), CopySource: aws.String("bucket/k"), IfNoneMatch: aws.String("*"),
		})
		requireCode(t, err, "PreconditionFailed")
		_, err = client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: aws.String(`"x"`)})
		requireCode(t, err, "PreconditionFailed")
		_, err = client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: written.ETag})
		require.NoError(t, err)
		_, err = put(client, strings.Repeat("k", 1025), "v", nil)
		requireCode(t, err, "KeyTooLongError")
		_, err = client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String("k")})
		requireCode(t, err, "NotImplemented")
		_, err = client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("jobpoller:format")})
		require.Error(t, err)
		_, err = client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String("jobpoller:format")})
		require.Error(t, err)
	})
}

// The file of a version before, which kept objects in another form, or of another
// program, is left as it is.
func TestFolderOfAnotherFormIsRefused(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(tx *bbolt.Tx) error{
		"an earlier version of jobpoller wrote them": func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("bucket"))
			return err
		},
		`a later version of jobpoller wrote them (format "2", expected "1")`: func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("jobpoller:format"))
			if err != nil {
				return err
			}
			return b.Put([]byte("version"), []byte("2"))
		},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "s3.bolt")
		db, err := bbolt.Open(file, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(prepare))
		require.NoError(t, db.Close())
		_, err = embeddeds3.Start(embeddeds3.Options{Dir: dir})
		require.ErrorContains(t, err, file)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "choose another folder")
	}
}

// Others can read neither a new file nor one that they could read.
func TestFolderIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 {
		server, err := embeddeds3.Start(embeddeds3.Options{Dir: dir})
		require.NoError(t, err)
		require.NoError(t, server.Close())
		info, err := os.Stat(filepath.Join(dir, "s3.bolt"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		require.NoError(t, os.Chmod(filepath.Join(dir, "s3.bolt"), 0o644))
	}
}

// Whatever a client asks, it gets an answer.
func FuzzRequests(f *testing.F) {
	for _, seed := range [][4]string{
		{"GET", "/bucket", "list-type=2&max-keys=1&continuation-token=YQ", ""},
		{"POST", "/bucket", "delete", "<Delete><Object><Key>a</Key></Object></Delete>"},
		{"PUT", "/bucket/%00", "", "bucket/a"},
		{"DELETE", "/bucket/a", "", `"x"`},
		{"PUT", "/", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	server, err := embeddeds3.Start(embeddeds3.Options{})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, server.Close()) })
	direct := server.DirectClient().Options().HTTPClient
	f.Fuzz(func(t *testing.T, method, path, query, text string) {
		require.NoError(t, server.CreateBucket(bucket))
		for _, header := range []string{"", "X-Amz-Copy-Source", "If-Match", "If-None-Match", "Range"} {
			r := httptest.NewRequest(http.MethodGet, "http://any/", strings.NewReader(text))
			r.RequestURI, r.Method, r.URL.Path, r.URL.RawQuery = "", strings.ToUpper(method), path, query
			if header != "" {
				r.Header[header] = []string{text}
			}
			answer, err := direct.Do(r)
			if err != nil {
				continue // no request that a client can send
			}
			require.NoError(t, answer.Body.Close())
			require.NotEqual(t, http.StatusInternalServerError, answer.StatusCode)
		}
	})
}
