package forward_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/forward"
	"github.com/jobpoller/jobpoller/internal/loopback"
)

// start serves a forwarder to the handler, below a path of its URL.
func start(t *testing.T, path string, to http.HandlerFunc) (front *httptest.Server, logged *bytes.Buffer) {
	t.Helper()
	back := httptest.NewServer(to)
	t.Cleanup(back.Close)
	address, err := url.Parse(back.URL + path)
	require.NoError(t, err)
	logged = &bytes.Buffer{}
	front = httptest.NewServer(loopback.LimitBody(math.MaxInt64, loopback.BodyTimeout, forward.New(address, log.New(logged, "", 0)))) // as serve does
	t.Cleanup(front.Close)
	return front, logged
}

func TestRequestsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ base, target, want string }{
		"root":          {"", "/", "/"},
		"S3 key":        {"", "/bucket/a%2Fb%20c?list-type=2&x=a;b&y", "/bucket/a%2Fb%20c?list-type=2&x=a;b&y"},
		"two slashes":   {"", "/bucket//key", "/bucket//key"},
		"base":          {"/base/", "/bucket/a%2Fb", "/base/bucket/a%2Fb"},
		"double escape": {"", "/bucket/%25%41", "/bucket/%25%41"},
	} {
		var got *http.Request
		var body []byte
		front, _ := start(t, test.base, func(w http.ResponseWriter, r *http.Request) {
			got = r
			body, _ = io.ReadAll(r.Body)
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("X-Amzn-Requestid", "1")
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "answer")
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, front.URL+test.target, strings.NewReader("body"))
		require.NoError(t, err)
		r.Host = "sync-bucket.localhost:8083"
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a")
		r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		answer, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err, name)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())

		require.Equal(t, test.want, got.RequestURI, name)
		require.Equal(t, "sync-bucket.localhost:8083", got.Host)
		require.Equal(t, "body", string(body))
		for _, header := range []string{"Authorization", "X-Amz-Target", "X-Forwarded-For"} {
			require.Equal(t, r.Header.Values(header), got.Header.Values(header), name)
		}
		require.Equal(t, http.StatusTeapot, answer.StatusCode)
		require.Equal(t, "answer", string(text))
		require.Equal(t, "1", answer.Header.Get("X-Amzn-Requestid"))
		require.Empty(t, answer.Header.Values("Access-Control-Allow-Origin"))
	}
}

// An answer comes in parts as the server sends them.
func TestAnswersAreStreams(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	front, _ := start(t, "", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-read
		_, _ = io.WriteString(w, "second")
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	part := make([]byte, len("first"))
	_, err = io.ReadFull(answer.Body, part)
	require.NoError(t, err)
	close(read)
	rest, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "first second", string(part)+" "+string(rest))
}

func TestNoServerAndLoops(t *testing.T) {
	t.Parallel()
	get := func(address string) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a loop has no end
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, string(text)
	}
	front, logged := start(t, "", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	status, text := get(front.URL + "/?X-Amz-Signature=secret")
	require.Equal(t, http.StatusBadGateway, status)
	require.Contains(t, text, "--forward")
	require.Contains(t, logged.String(), "--forward: no answer of 127.0.0.1:")
	require.NotContains(t, text+logged.String(), "secret")

	var loop http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { loop.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	loop = forward.New(address, log.New(logged, "", 0))
	status, text = get(server.URL)
	require.Equal(t, http.StatusLoopDetected, status)
	require.Contains(t, text, "leads back")
}
