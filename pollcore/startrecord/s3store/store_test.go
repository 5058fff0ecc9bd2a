package s3store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

const bucket = "records"

var key = startrecord.Key{
	ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1",
	Poller:       "Export",
}

const location = "s3://records/executions/arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1/Export/_/record.json"

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]func(t *testing.T) string{
		"memory": func(*testing.T) string { return "" },
		"folder": func(t *testing.T) string {
			t.Helper()
			return t.TempDir()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startrecordtest.RunWithClock(t, func(t *testing.T, now func() time.Time) startrecord.Store {
				t.Helper()
				return open(t, start(t, embeddeds3.Options{Dir: dir(t), Now: now}).Client())
			})
		})
	}
}

// The good case of a write is one PUT and nothing else, a Load one GET.
func TestRequests(t *testing.T) {
	t.Parallel()
	wire := &wire{}
	store := open(t, start(t, embeddeds3.Options{Middleware: wire.middleware}).Client())

	created, err := store.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	require.Equal(t, []string{"PUT If-None-Match=* application/json"}, wire.take())

	_, err = store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, []string{"GET"}, wire.take())

	_, err = store.Replace(t.Context(), key, record(2), created.Version)
	require.NoError(t, err)
	require.Equal(t, []string{"PUT If-Match=" + created.Version + " application/json"}, wire.take())

	_, err = store.Create(t.Context(), key, record(3))
	require.ErrorIs(t, err, startrecord.ErrExists)
	require.Equal(t, []string{"PUT If-None-Match=* application/json", "GET"}, wire.take())

	require.Equal(t, "/"+bucket+"/executions/"+key.Path(), wire.path)
	require.Equal(t, location, store.Location(key))
}

func TestNewRefusesNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bucket, prefix string
		want           []string
	}{
		{"", "", []string{"bucket's name is empty"}},
		{"ab", "", []string{`"ab" is not a bucket's name`}},
		{strings.Repeat("b", 64), "", []string{"is not a bucket's name"}},
		{"My_Bucket", "", []string{"is not a bucket's name"}},
		{"s3://records", "", []string{"is not a bucket's name"}},
		{bucket, "/executions", []string{"starts with a slash"}},
		{bucket, "/", []string{"starts with a slash"}},
		{bucket, "a//b", []string{"empty segment"}},
		{bucket, "a//", []string{"empty segment"}},
		{bucket, "a/../b", []string{`".." segment`}},
		{bucket, "./b", []string{`"." or`}},
		{bucket, "a\x00b", []string{"control character"}},
		{bucket, strings.Repeat("p", 245), []string{"245 bytes; at most 244"}},
		{"", "../" + strings.Repeat("p", 300), []string{"name is empty", `".." segment`, "303 bytes"}},
	}
	for _, tt := range tests {
		_, err := s3store.New(nil, tt.bucket, tt.prefix)
		require.ErrorIs(t, err, startrecord.ErrConfiguration, "%q %q", tt.bucket, tt.prefix)
		for _, want := range tt.want {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestNewTakesNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"abc", strings.Repeat("b", 63), "arn:aws:s3:us-east-1:123456789012:accesspoint/" + strings.Repeat("a", 50)} {
		_, err := s3store.New(nil, name, "")
		require.NoError(t, err)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	longest := startrecord.Key{
		ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:" + strings.Repeat("m", 80) + ":" + strings.Repeat("n", 126),
		Poller:       strings.Repeat("p", 255),
		Scope:        strings.Repeat("s", 255),
	}
	server := start(t, embeddeds3.Options{})
	for prefix, want := range map[string]string{
		"":                       "s3://records/",
		"a":                      "s3://records/a/",
		"a/b/":                   "s3://records/a/b/",
		strings.Repeat("p", 244): "s3://records/" + strings.Repeat("p", 244) + "/",
	} {
		store, err := s3store.New(server.Client(), bucket, prefix)
		require.NoError(t, err)
		require.Equal(t, want+longest.Path(), store.Location(longest))
		_, err = store.Create(t.Context(), longest, record(1))
		require.NoError(t, err, "prefix of %d bytes", len(prefix))
	}
	require.Len(t, longest.Path(), startrecord.MaxPath)
}

// Buckets can be reached by the ARN of an access point too.
func TestNewAcceptsAccessPoints(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a1b", "my.bucket-1", "arn:aws:s3:eu-west-1:123456789012:accesspoint/records",
		"arn:aws-cn:s3-outposts:cn-north-1:123456789012:outpost/op-01/accesspoint/records",
	} {
		_, err := s3store.New(nil, name, "executions")
		require.NoError(t, err)
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

// open returns a store that does not know of the client's endpoint, so that it
// makes no requests of a probe.
func open(t *testing.T, client s3store.API) startrecord.Store {
	t.Helper()
	store, err := s3store.New(struct{ s3store.API }{client}, bucket, "executions")
	require.NoError(t, err)
	return store
}

// prompt is client with the SDK's retries, but without its pauses.
func prompt(client *s3.Client) *s3.Client {
	return s3.New(client.Options(), func(o *s3.Options) { o.Retryer = promptRetryer{o.Retryer} })
}

func record(generation int) startrecord.Record {
	return startrecord.Record{
		ExecutionStartTime: time.Date(2026, 11, 20, 9, 30, 14, 123_000_000, time.UTC),

		Status:     startrecord.StatusStarting,
		Generation: generation,
		StartedAt:  time.Date(2026, 11, 20, 9, 30, 15, 0, time.UTC),
	}
}
