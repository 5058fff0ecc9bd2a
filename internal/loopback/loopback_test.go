package loopback_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

// echo answers with the body of the request.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })

func serve(t *testing.T, handler http.Handler) *loopback.Server {
	t.Helper()
	server, err := loopback.Start(handler, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, server.Close())
		server.Wait()
	})
	return server
}

func send(t *testing.T, r *http.Request) (int, string, http.Header) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode, string(body), answer.Header
}

func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	return r
}

// A page in a browser reaches a loopback address by its own name, or by a request
// across origins.
func TestWebPagesAreRefused(t *testing.T) {
	t.Parallel()
	server := serve(t, echo)
	require.True(t, strings.HasPrefix(server.Address(), "127.0.0.1:"))
	for _, host := range []string{"", strings.Replace(server.Address(), "127.0.0.1", "localhost", 1)} {
		r := newRequest(t, http.MethodPost, server.URL(), "in")
		r.Host = host
		status, body, _ := send(t, r)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "in", body)
	}
	for name, change := range map[string]func(*http.Request){
		"rebound name":      func(r *http.Request) { r.Host = "evil.example" },
		"its port":          func(r *http.Request) { r.Host = strings.Replace(server.Address(), "127.0.0.1", "evil.example", 1) },
		"no port":           func(r *http.Request) { r.Host = "127.0.0.1" },
		"origin":            func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"opaque origin":     func(r *http.Request) { r.Header.Set("Origin", "null") },
		"origin of its own": func(r *http.Request) { r.Header.Set("Origin", server.URL()) },
		"preflight": func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Access-Control-Request-Method", "PUT")
		},
	} {
		r := newRequest(t, http.MethodPost, server.URL(), "in")
		change(r)
		status, body, header := send(t, r)
		require.GreaterOrEqual(t, status, 400, name)
		require.NotContains(t, body, "in\n", name)
		for header := range header {
			require.False(t, strings.HasPrefix(header, "Access-Control"), "%s: %s", name, header)
		}
	}
}

func TestRequirePath(t *testing.T) {
	t.Parallel()
	secret := loopback.NewSecret()
	require.NotEqual(t, secret, loopback.NewSecret())
	require.GreaterOrEqual(t, len(secret), 26, "130 bits")
	handler := loopback.RequirePath(secret, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	for path, want := range map[string]string{
		"/" + secret + "/2018-06-01/x": "/2018-06-01/x", "/2018-06-01/x": "", "/": "", "//" + secret + "/x": "",
		"/" + secret[1:] + "/x": "", "/" + secret + "a/x": "", "/" + strings.ToLower(secret) + "/x": "",
	} {
		answer := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://any/", nil)
		r.URL.Path = path
		handler.ServeHTTP(answer, r)
		if want == "" {
			require.Equal(t, http.StatusNotFound, answer.Code, path)
		} else {
			require.Equal(t, want, answer.Body.String())
		}
	}
}

// signing is how a test signs a request.
type signing struct {
	keys    loopback.Keys
	service string
	at      time.Time
	hash    string // "" computes it, and does not send it for Lambda
}

func sign(t *testing.T, r *http.Request, body string, s signing) {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	if s.hash == "" {
		s.hash = hex.EncodeToString(sum[:])
	}
	if s.service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", s.hash)
	}
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(),
		aws.Credentials{AccessKeyID: s.keys.AccessKeyID, SecretAccessKey: s.keys.SecretAccessKey}, r, s.hash, s.service, "eu-central-1", s.at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = s.service == "s3" }))
}

func refuse(w http.ResponseWriter, _ *http.Request, refusal *loopback.Refusal) {
	http.Error(w, refusal.Code+": "+refusal.Message, refusal.Status)
}

// The SDK's own signer is the judge of what is right.
func TestSignedRequestsAreServed(t *testing.T) {
	t.Parallel()
	keys, other := loopback.NewKeys(), loopback.NewKeys()
	for _, service := range []loopback.Service{loopback.S3, loopback.Lambda} {
		server := serve(t, loopback.Signed{Service: service, Keys: []loopback.Keys{other, {}, keys}, Refuse: refuse}.Require(echo))
		for _, path := range []string{
			"/", "/bucket/key", "/bucket/a%20b/%C3%BC/%252F%2B%26%3F.json", "/2015-03-31/functions/arn%3Aaws%3Alambda/invocations",
			"/b?list-type=2&prefix=a%2Fb%20c&delimiter=%2F&delete=", "/b?b=2&a=1&a=0&a-b=1&c", "/b/~._-%21%2A%27%28%29",
		} {
			for _, body := range []string{"", "in", strings.Repeat("x", 100_000)} {
				r := newRequest(t, http.MethodPut, server.URL()+path, body)
				r.Header.Set("X-Amz-Meta-Note", "  two   words ")
				r.Header.Set("If-None-Match", "*")
				sign(t, r, body, signing{keys: keys, service: string(service), at: time.Now()})
				status, got, _ := send(t, r)
				require.Equal(t, http.StatusOK, status, "%s %s: %.100s", service, path, got)
				require.Len(t, got, len(body))
			}
		}
		r := newRequest(t, http.MethodPut, server.URL()+"/", "in")
		sign(t, r, "in", signing{keys: keys, service: string(service), at: time.Now().Add(14 * time.Minute)})
		status, got, _ := send(t, r)
		require.Equal(t, http.StatusOK, status, got)
	}
	server := serve(t, loopback.Signed{Service: loopback.S3, Keys: []loopback.Keys{keys}, Refuse: refuse}.Require(echo))
	r := newRequest(t, http.MethodPut, server.URL()+"/", "in")
	sign(t, r, "", signing{keys: keys, service: "s3", at: time.Now(), hash: "UNSIGNED-PAYLOAD"})
	status, got, _ := send(t, r)
	require.Equal(t, http.StatusOK, status, got)
}

// What is sent on to other services may have a body that the signature leaves open, as
// clients of S3 send it; Step Functions and Lambda take none.
func TestUnsignedPayloads(t *testing.T) {
	t.Parallel()
	keys := loopback.NewKeys()
	for _, tt := range []struct {
		service loopback.Service
		signed  string
		hash    string
		want    string
	}{
		{loopback.AnyService, "s3", "UNSIGNED-PAYLOAD", "200 in"},
		{loopback.AnyService, "s3", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "200 in"},
		{loopback.AnyService, "s3", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "200 in"},
		{loopback.AnyService, "s3", strings.Repeat("0", 64), "400 XAmzContentSHA256Mismatch"},
		{loopback.AnyService, "sqs", "", "200 in"},
		{loopback.AnyService, "states", "", "200 in"},
		{loopback.S3, "s3", "UNSIGNED-PAYLOAD", "200 in"},
		{loopback.S3, "s3", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "501 NotImplemented"},
		{loopback.StepFunctions, "states", "", "200 in"},
		{loopback.StepFunctions, "states", "UNSIGNED-PAYLOAD", "403 AccessDenied: the payload is not signed"},
		{loopback.StepFunctions, "states", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "501 NotImplemented"},
		{loopback.StepFunctions, "sqs", "", "400 AuthorizationHeaderMalformed"},
		{loopback.Lambda, "lambda", "UNSIGNED-PAYLOAD", "403 AccessDenied: the payload is not signed"},
	} {
		handler := loopback.Signed{Service: tt.service, Keys: []loopback.Keys{keys}, Refuse: refuse}.Require(echo)
		r := httptest.NewRequest(http.MethodPut, "http://any/bucket/a%20b", strings.NewReader("in"))
		if tt.hash != "" {
			r.Header.Set("X-Amz-Content-Sha256", tt.hash)
		}
		sign(t, r, "in", signing{keys: keys, service: tt.signed, at: time.Now(), hash: tt.hash})
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		require.True(t, strings.HasPrefix(fmt.Sprint(answer.Code, " ", answer.Body), tt.want), "%+v: %d %s", tt, answer.Code, answer.Body)
	}
}

// A secret goes with more than one access key, and with no other secret.
func TestTakesID(t *testing.T) {
	t.Parallel()
	keys := loopback.NewKeys()
	signed := loopback.Signed{
		Service: loopback.StepFunctions, Keys: []loopback.Keys{keys}, TakesID: func(id string) bool { return id == "also" }, Refuse: refuse, Source: "ask me",
	}
	for id, want := range map[string]int{keys.AccessKeyID: http.StatusOK, "also": http.StatusOK, "another": http.StatusForbidden, "": http.StatusForbidden} {
		for _, secret := range []string{keys.SecretAccessKey, "other"} {
			r := httptest.NewRequest(http.MethodPost, "http://any/", strings.NewReader("in"))
			sign(t, r, "in", signing{keys: loopback.Keys{AccessKeyID: id, SecretAccessKey: secret}, service: "states", at: time.Now()})
			answer := httptest.NewRecorder()
			signed.Require(echo).ServeHTTP(answer, r)
			if secret == "other" {
				require.Equal(t, http.StatusForbidden, answer.Code)
				require.Contains(t, answer.Body.String(), "ask me")
				continue
			}
			require.Equal(t, want, answer.Code, id)
		}
	}
}

// A request without a body stays one: who serves a stream waits for no end of it.
func TestSignedRequestWithoutABody(t *testing.T) {
	t.Parallel()
	keys := loopback.NewKeys()
	var body io.ReadCloser
	handler := loopback.Signed{Service: loopback.StepFunctions, Keys: []loopback.Keys{keys}, Refuse: refuse}.Require(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { body = r.Body }))
	r := httptest.NewRequest(http.MethodGet, "http://any/events", nil)
	sign(t, r, "", signing{keys: keys, service: "states", at: time.Now()})
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	require.Equal(t, http.StatusOK, answer.Code)
	require.Equal(t, http.NoBody, body)
}

func TestUnsignedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	keys := loopback.NewKeys()
	good := func() signing { return signing{keys: keys, service: "s3", at: time.Now()} }
	reached := false
	handler := loopback.Signed{Service: loopback.S3, Keys: []loopback.Keys{keys, {}, {AccessKeyID: "anonymous"}}, Refuse: refuse}.Require(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	for name, tt := range map[string]struct {
		want  string
		sign  func(s *signing)
		after func(*http.Request)
	}{
		"no signature":  {"AccessDenied: the request is not signed", nil, nil},
		"other scheme":  {"AuthorizationHeaderMalformed", nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }},
		"two headers":   {"AuthorizationHeaderMalformed", func(*signing) {}, func(r *http.Request) { r.Header.Add("Authorization", "AWS4-HMAC-SHA256 x") }},
		"wrong secret":  {"SignatureDoesNotMatch", func(s *signing) { s.keys.SecretAccessKey = "local" }, nil},
		"wrong key":     {"SignatureDoesNotMatch", func(s *signing) { s.keys.AccessKeyID = "local" }, nil},
		"other's keys":  {"SignatureDoesNotMatch", func(s *signing) { s.keys = loopback.NewKeys() }, nil},
		"empty secret":  {"SignatureDoesNotMatch", func(s *signing) { s.keys = loopback.Keys{AccessKeyID: "anonymous"} }, nil},
		"other service": {"signed for another service than s3", func(s *signing) { s.service = "lambda" }, func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") }},
		"long ago":      {"RequestTimeTooSkewed", func(s *signing) { s.at = time.Now().Add(-16 * time.Minute) }, nil},
		"far ahead":     {"RequestTimeTooSkewed", func(s *signing) { s.at = time.Now().Add(16 * time.Minute) }, nil},
		"other time": {"SignatureDoesNotMatch", func(*signing) {}, func(r *http.Request) {
			r.Header.Set("X-Amz-Date", time.Now().UTC().Add(time.Second).Format("20060102T150405Z"))
		}},
		"no time":                   {"AuthorizationHeaderMalformed: header X-Amz-Date", func(*signing) {}, func(r *http.Request) { r.Header.Del("X-Amz-Date") }},
		"other method":              {"SignatureDoesNotMatch", func(*signing) {}, func(r *http.Request) { r.Method = http.MethodDelete }},
		"other path":                {"SignatureDoesNotMatch", func(*signing) {}, func(r *http.Request) { r.URL.Path = "/bucket/other" }},
		"more of a query":           {"SignatureDoesNotMatch", func(*signing) {}, func(r *http.Request) { r.URL.RawQuery = "delete" }},
		"query that cannot be read": {"the query cannot be read", func(*signing) {}, func(r *http.Request) { r.URL.RawQuery = "a=%zz" }},
		"signed header":             {"SignatureDoesNotMatch", func(*signing) {}, func(r *http.Request) { r.Header.Set("If-Match", `"other"`) }},
		"unsigned header":           {"header X-Amz-Copy-Source is not signed", func(*signing) {}, func(r *http.Request) { r.Header.Set("X-Amz-Copy-Source", "bucket/secret") }},
		"other body":                {"XAmzContentSHA256Mismatch", func(s *signing) { s.hash = strings.Repeat("0", 64) }, nil},
		"chunks":                    {"NotImplemented: payloads in signed chunks", func(s *signing) { s.hash = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" }, nil},
		"presigned":                 {"presigned URLs are not served", nil, func(r *http.Request) { r.URL.RawQuery = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0" }},
		"presigned of old":          {"presigned URLs are not served", nil, func(r *http.Request) { r.URL.RawQuery = "AWSAccessKeyId=a&Signature=b" }},
		"too large":                 {"EntityTooLarge", func(*signing) {}, nil},
		"unsigned the host":         {"the host header is not signed", func(*signing) {}, func(r *http.Request) { replaceIn(r, "host;", "") }},
	} {
		r := httptest.NewRequest(http.MethodPut, "http://any/bucket/key", strings.NewReader("in"))
		r.Header.Set("If-Match", `"a"`)
		if name == "too large" { // which is signed too
			r.ContentLength = loopback.MaxBody + 1
		}
		if tt.sign != nil {
			s := good()
			tt.sign(&s)
			sign(t, r, "in", s)
		}
		if tt.after != nil {
			tt.after(r)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		require.GreaterOrEqual(t, answer.Code, 400, name)
		require.Contains(t, answer.Body.String(), tt.want, name)
		require.NotContains(t, answer.Body.String(), keys.SecretAccessKey, name)
		require.NotContains(t, answer.Body.String(), keys.AccessKeyID, name)
		require.False(t, reached, name)
	}
}

func replaceIn(r *http.Request, old, by string) {
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, by, 1))
}

// A server in virtual time takes what is signed at any time, and nothing else.
func TestAnyTime(t *testing.T) {
	t.Parallel()
	keys := loopback.NewKeys()
	handler := loopback.Signed{Service: loopback.S3, Keys: []loopback.Keys{keys}, AnyTime: true, Refuse: refuse}.Require(echo)
	for at, s := range map[time.Time]signing{time.Unix(0, 0): {keys: keys}, time.Unix(1, 0): {keys: loopback.NewKeys()}} {
		s.service, s.at = "s3", at
		r := httptest.NewRequest(http.MethodPut, "http://any/b/k", strings.NewReader("in"))
		sign(t, r, "in", s)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		require.Equal(t, s.keys == keys, answer.Code == http.StatusOK)
	}
}

// No header lets a request through without the keys, whatever it holds.
func FuzzAuthorization(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=a/20260101/r/s3/aws4_request, SignedHeaders=host, Signature=00", "20260101T000000Z", "UNSIGNED-PAYLOAD", "a=b")
	f.Add("AWS4-HMAC-SHA256 Credential=////aws4_request,SignedHeaders=;,Signature=", "", "", "%zz;&=")
	handler := loopback.Signed{Service: loopback.S3, Keys: []loopback.Keys{loopback.NewKeys()}, AnyTime: true, Refuse: refuse}.Require(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("reached") }))
	f.Fuzz(func(t *testing.T, authorization, date, payload, query string) {
		r := httptest.NewRequest(http.MethodPut, "http://any/b/k", strings.NewReader("in"))
		r.URL.RawQuery = query
		r.Header["Authorization"], r.Header["X-Amz-Date"], r.Header["X-Amz-Content-Sha256"] = []string{authorization}, []string{date}, []string{payload}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		require.GreaterOrEqual(t, answer.Code, 400)
	})
}
