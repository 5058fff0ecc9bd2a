package httpjob_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func TestStartSendsTheRequest(t *testing.T) {
	t.Parallel()
	const exact = `{"rows": 9007199254740993, "b":[ 1 ]}`
	var got *http.Request
	var body []byte
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, body = r, nil
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
	})
	_, err := s.run(t, `{"Start": {"Method": "PUT", "Url": "%s/jobs?kind=a%20b", "Headers": {"prefer": "respond-async", "Accept": "application/vnd.jobs+json"},
		"Body": `+exact+`}, "Describe": {"Url": "%s/jobs/1"}}`)
	require.NoError(t, err)
	require.Equal(t, "PUT /jobs?kind=a%20b", got.Method+" "+got.RequestURI)
	require.Equal(t, exact, string(body), "no number loses digits") //nolint:testifylint // the very text
	require.True(t, got.Close, "net/http repeats requests of an Idempotency-Key on a connection that it has kept")
	for name, want := range map[string]string{
		"Idempotency-Key": "token-1", "Content-Type": "application/json", "Prefer": "respond-async", "Accept": "application/vnd.jobs+json",
	} {
		require.Equal(t, []string{want}, got.Header[name])
	}

	_, err = s.run(t, `{"Start": {"Url": "%s/jobs", "Headers": {"Content-Type": "application/merge-patch+json"}, "Body": null}, "Describe": {"Url": "%s/jobs/1"}}`)
	require.NoError(t, err)
	require.Equal(t, "POST /jobs", got.Method+" "+got.RequestURI)
	require.Equal(t, "null", string(body))
	require.Equal(t, []string{"application/merge-patch+json"}, got.Header["Content-Type"])
	require.Equal(t, []string{"application/json"}, got.Header["Accept"])

	_, err = s.run(t, `{"Start": {"Url": "%s/jobs"}, "Describe": {"Url": "%s/jobs/1"}}`)
	require.NoError(t, err)
	require.Empty(t, body)
	require.NotContains(t, got.Header, "Content-Type")
}

func TestDescribeOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   any
		status pollcore.Verdict
	}{
		{"JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["x-request-ID"] = []string{"1"}
			w.Header()["Link"] = []string{"a", "b"}
			w.Header().Set("Set-Cookie", "session=secret")
			fmt.Fprint(w, ` {"status": "succeeded", "rows": 9007199254740993} `)
		}, map[string]any{
			"StatusCode": json.Number("200"), "Body": map[string]any{"status": "succeeded", "rows": json.Number("9007199254740993")},
			"Headers": map[string]any{"X-Request-Id": "1", "Link": "a, b", "Content-Type": "application/json"},
		}, pollcore.Success},
		{"no body", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		}, map[string]any{"StatusCode": json.Number("204"), "Headers": map[string]any{}}, pollcore.Retry},
		{"a list", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `["succeeded"]`)
		}, map[string]any{
			"StatusCode": json.Number("200"), "Body": []any{"succeeded"}, "Headers": map[string]any{"Content-Type": "application/json"},
		}, pollcore.Retry},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Date"] = nil
				w.Header().Set("Content-Type", "application/json")
				if tt.name == "no body" {
					w.Header().Del("Content-Type")
				}
				tt.answer(w, r)
			})
			output, err := s.driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": s.url + "/jobs/1"})
			require.NoError(t, err)
			document, _ := output.(map[string]any)
			headers, _ := document["Headers"].(map[string]any)
			delete(headers, "Content-Length")
			require.Equal(t, tt.want, output)
			require.Equal(t, tt.status, verdict(t, output, nil))
		})
	}
}

// A waiter of the request's own reads the same document.
func TestOwnWaiter(t *testing.T) {
	t.Parallel()
	code := http.StatusAccepted
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	waiter, err := pollcore.ParseWaiter("Ready", []byte(`{"acceptors": [
		{"state": "success", "matcher": {"output": {"path": "StatusCode == `+"`200`"+`", "expected": "true", "comparator": "booleanEquals"}}},
		{"state": "retry", "matcher": {"output": {"path": "StatusCode == `+"`202`"+`", "expected": "true", "comparator": "booleanEquals"}}},
		{"state": "retry", "matcher": {"errorType": "Http.StatusCode.404"}},
		{"state": "failure", "matcher": {"errorType": "StatusError"}}
	]}`))
	require.NoError(t, err)
	check, err := pollcore.Compile[jobs.Ref, any](waiter)
	require.NoError(t, err)
	for status, want := range map[int]pollcore.Verdict{200: pollcore.Success, 202: pollcore.Retry, 404: pollcore.Retry, 410: pollcore.Failure} {
		code = status
		output, err := s.driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": s.url + "/jobs/1"})
		require.Equal(t, want, check.Check(nil, output, err).Verdict, "%d", status)
	}
}

// An answer says whether the job was started; a secret in URLs and bodies gets
// into no error.
func TestStartAnswers(t *testing.T) {
	t.Parallel()
	const simple = `"Describe": {"Url": "%s/jobs/1"}`
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	location := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusAccepted)
		}
	}
	large := `{"id": "` + strings.Repeat("x", 256<<10) + `"}`
	tests := []struct {
		name     string
		answer   http.HandlerFunc
		describe string
		want     string // DescribeUrl after the server's, or an error's text after its URL
		class    awserror.Class
	}{
		{"created", text(201, ``), simple, "/jobs/1", 0},
		{"body that nobody needs", text(200, `<html>`), simple, "/jobs/1", 0},
		{"large body that nobody needs", text(200, large), simple, "/jobs/1", 0},
		{"id", text(200, `{"id": "a b/../c?d&e=f#g%"}`), `"Describe": {"Url": "%s/jobs/{Body.id}/status?x={Body.id}"}`, "without the segments . and .. in its path", awserror.Unknown},
		{
			"escaped", text(200, `{"id": "a b?d&e=f#g%+é"}`), `"Describe": {"Url": "%s/jobs/{Body.id}?x={Body.id}"}`,
			"/jobs/a%20b%3Fd%26e%3Df%23g%25%2B%C3%A9?x=a%20b%3Fd%26e%3Df%23g%25%2B%C3%A9", 0,
		},
		{"number", text(200, `{"jobs": [{"id": 9007199254740991}]}`), `"Describe": {"Url": "%s/jobs/{Body.jobs[0].id}"}`, "/jobs/9007199254740991", 0},
		{"number that is not exact", text(200, `{"id": 9007199254740993}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, "a whole number below 2^53", awserror.Unknown},
		{"fraction", text(200, `{"id": 1.5}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, "a whole number below 2^53", awserror.Unknown},
		{"relative Location", location("../status/1?x=y"), `"Describe": {"Url": "{Headers.Location}"}`, "/status/1?x=y", 0},
		{"absolute path", location("/status/1"), `"Describe": {"Url": "{Headers.Location}"}`, "/status/1", 0},
		{"URL in the body", text(200, `{"self": "/jobs/2"}`), `"Describe": {"Url": "{Body.self}"}`, "/jobs/2", 0},

		{"no id", text(200, `{}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, ": URL of the describe call: expected the expression in braces to find a string", awserror.Unknown},
		{"empty id", text(200, `{"id": ""}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, "to find a string", awserror.Unknown},
		{"object for an id", text(200, `{"id": {}}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, "to find a string", awserror.Unknown},
		{"dots for an id", text(200, `{"id": ".."}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, "without the segments . and .. in its path", awserror.Unknown},
		{"half of the dots", text(200, `{"id": "."}`), `"Describe": {"Url": "%s/jobs/.{Body.id}"}`, "without the segments . and .. in its path", awserror.Unknown},
		{"no JSON", text(200, `<html>secret`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, `: the answer has the type "text/html; charset=utf-8", which is not JSON`, awserror.Unknown},
		{"large", text(200, large), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, ": the answer is larger than 262144 bytes", awserror.Unknown},
		{"long id", text(200, `{"id": "`+strings.Repeat("x", 5000)+`"}`), `"Describe": {"Url": "%s/jobs/{Body.id}"}`, "at most 4096 bytes", awserror.Unknown},
		{"Location elsewhere", location("https://evil.net/secret"), `"Describe": {"Url": "{Headers.Location}"}`, ": URL of the describe call: not allowed: JOBPOLLER_HTTP_HOSTS does not list the server", awserror.Unknown},
		{"Location with a user", location("//user:secret@api.example.com/"), `"Describe": {"Url": "{Headers.Location}"}`, "not allowed: ", awserror.Unknown},
		{"Location of another scheme", location("file:///etc/secret"), `"Describe": {"Url": "{Headers.Location}"}`, "expected an absolute URL", awserror.Unknown},
		{"Location that is none", location("%zz"), `"Describe": {"Url": "{Headers.Location}"}`, "expected the value of the expression to be a URL", awserror.Unknown},
		{"no Location", text(202, ``), `"Describe": {"Url": "{Headers.Location}"}`, "found neither", awserror.Unknown},

		{"bad request", text(400, `{"secret": 1}`), simple, " answered 400 Bad Request", awserror.Refused},
		{"unauthorized", text(401, `secret`), simple, " answered 401 Unauthorized", awserror.Refused},
		{"conflict", text(409, ``), simple, " answered 409 Conflict", awserror.Refused},
		{"conflict of a key", text(409, ``), simple + `, "IdempotencyKey": true`, " answered 409 Conflict: the server may still process an earlier request with this Idempotency-Key", awserror.Unclear},
		{"timeout", text(408, ``), simple, " answered 408 Request Timeout", awserror.Unclear},
		{"too early", text(425, ``), simple, " answered 425 Too Early", awserror.Throttled},
		{"throttled", text(429, ``), simple, " answered 429 Too Many Requests", awserror.Throttled},
		{"internal error", text(500, `secret`), simple, " answered 500 Internal Server Error", awserror.Fault},
		{"unavailable", text(503, ``), simple, " answered 503 Service Unavailable", awserror.Fault},
		{"not modified", text(304, ``), simple, " answered 304 Not Modified; only describe calls follow redirects", awserror.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.answer)
			ref, err := s.run(t, `{"Start": {"Url": "%s/secret/jobs?key=secret", "Body": "secret"}, `+tt.describe+`}`)
			require.Equal(t, []string{"POST /secret/jobs?key=secret"}, s.take())
			if err == nil {
				require.Equal(t, jobs.Ref{"DescribeUrl": s.url + tt.want}, ref)
				return
			}
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "POST "+s.url)
			require.NotErrorIs(t, err, jobs.ErrArguments)
			require.NotContains(t, err.Error(), "secret")
			require.Equal(t, tt.class, goerror.Classify(err), "%v", err)
		})
	}
}

// Only describe calls follow redirects, and only to where they may go.
func TestRedirects(t *testing.T) {
	t.Parallel()
	off := serve(t, func(http.ResponseWriter, *http.Request) {})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		if n := len(r.URL.Path); n > len("/") && r.URL.Path[:2] == "/n" {
			http.Redirect(w, r, r.URL.Path[:n-1], http.StatusFound)
			return
		}
		fmt.Fprint(w, `{"status": "succeeded"}`)
	}, "api.example.com")
	for target, want := range map[string]string{
		s.url + "/?to=/jobs":                         "",
		s.url + "/?to=" + s.url + "/jobs":            "",
		s.url + "/nnnnn":                             "",
		s.url + "/nnnnnn":                            "more than 5 redirects",
		s.url + "/?to=" + off.url + "/secret":        "does not list the server",
		s.url + "/?to=http://api.example.com/secret": "expected an https URL",
		s.url + "/?to=https://evil.net/secret":       "does not list the server",
		s.url + "/?to=https://u:p@api.example.com/":  "user or password",
		s.url + "/?to=http://169.254.169.254/secret": "expected an https URL",
		s.url + "/?to=file:///etc/passwd":            "expected an https URL",
	} {
		output, err := s.driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": target})
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, pollcore.Success, verdict(t, output, nil))
			continue
		}
		require.ErrorIs(t, err, httpjob.ErrNotAllowed, target)
		require.ErrorContains(t, err, "GET "+s.url+": not allowed: ")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
		require.False(t, goerror.Passes(err))
	}
	require.Empty(t, off.take())

	s.take()
	for _, method := range []string{"POST", "PUT"} {
		_, err := s.run(t, `{"Start": {"Method": "`+method+`", "Url": "%s/?to=/jobs"}, "Describe": {"Url": "%s/jobs"}}`)
		require.ErrorContains(t, err, " answered 307 Temporary Redirect; only describe calls follow redirects, so give the final URL")
		require.True(t, goerror.Classify(err).MayHaveActed())
		require.Equal(t, []string{method + " /?to=/jobs"}, s.take())
	}
	err := s.driver.Stop(t.Context(), jobs.Ref{"StopUrl": s.url + "/?to=/jobs", "StopMethod": "DELETE"})
	require.ErrorContains(t, err, "DELETE "+s.url+" answered 307 Temporary Redirect")
	require.Equal(t, []string{"DELETE /?to=/jobs"}, s.take())
}

func TestDescribeRefusesAnswers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<html>secret`:                           "is not JSON",
		`{"status": "succeeded"`:                 "is not JSON",
		`{} {}`:                                  "is not JSON",
		`"` + strings.Repeat("x", 256<<10) + `"`: "answer is larger than 262144 bytes",
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		_, err := s.driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": s.url + "/secret"})
		require.ErrorContains(t, err, "GET "+s.url+": the answer")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
		require.False(t, goerror.Passes(err))
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/jobs" {
			w.WriteHeader(status)
		}
	})
	ref, err := s.run(t, `{"Start": {"Url": "%s/jobs"}, "Describe": {"Url": "%s/jobs/1"}, "Stop": {"Method": "PATCH", "Url": "%s/jobs/1/cancel"}}`)
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"DescribeUrl": s.url + "/jobs/1", "StopUrl": s.url + "/jobs/1/cancel", "StopMethod": "PATCH"}, ref)
	s.take()
	for _, ended := range []int{200, 202, 204, 404, 410} {
		status = ended
		require.NoError(t, s.driver.Stop(t.Context(), ref), "%d", ended)
		require.Equal(t, []string{"PATCH /jobs/1/cancel"}, s.take())
	}
	for code, transient := range map[int]bool{400: false, 409: false, 429: true, 500: true} {
		status = code
		err := s.driver.Stop(t.Context(), ref)
		require.ErrorContains(t, err, fmt.Sprintf(" answered %d ", code))
		require.Equal(t, transient, goerror.Passes(err))
	}
	s.take()
	for _, ref := range []jobs.Ref{nil, {"StopUrl": s.url + "/jobs/1"}, {"StopUrl": s.url + "/jobs/1", "StopMethod": "GET"}} {
		require.EqualError(t, s.driver.Stop(t.Context(), ref), "the request has no Stop call")
	}
	require.Empty(t, s.take())
}

// hanging is a transport whose answers do not come, or whose bodies do not end.
type hanging struct{ headers bool }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.headers {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(endless{r}), Request: r}, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// endless has no bytes until its request ends.
type endless struct{ r *http.Request }

func (e endless) Read([]byte) (int, error) {
	<-e.r.Context().Done()
	return 0, e.r.Context().Err()
}

func TestCallsAreLimitedInTime(t *testing.T) {
	t.Parallel()
	for name, transport := range map[string]hanging{"no answer": {}, "no end of the body": {headers: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				driver, err := httpjob.New(httpjob.Config{
					Hosts: []string{"api.example.com"}, Wrap: func(http.RoundTripper) http.RoundTripper { return transport },
				})
				require.NoError(t, err)
				began := time.Now()
				_, err = driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": "https://api.example.com/jobs/1"})
				require.Equal(t, 30*time.Second, time.Since(began))
				require.True(t, goerror.Passes(err), "%v", err)
				_, err = driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage("{" + start + ", " + describe + "}")})
				require.Equal(t, time.Minute, time.Since(began))
				require.True(t, goerror.Classify(err).MayHaveActed(), "%v", err)
			})
		})
	}
}

// authorized adds what the driver refuses to take from arguments.
type authorized struct{ base http.RoundTripper }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer secret")
	return a.base.RoundTrip(r)
}

func TestTLSAndWrap(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	config := httpjob.Config{
		Hosts: []string{server.Listener.Addr().String()}, Loopback: true, TLS: &tls.Config{RootCAs: roots},
		Wrap: func(base http.RoundTripper) http.RoundTripper { return authorized{base} },
	}
	driver, err := httpjob.New(config)
	require.NoError(t, err)
	output, err := driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": server.URL + "/jobs/1"})
	require.NoError(t, err)
	require.Equal(t, "Bearer secret", output.(map[string]any)["Body"])

	config.TLS = nil
	driver, err = httpjob.New(config)
	require.NoError(t, err)
	_, err = driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": server.URL + "/jobs/1"})
	require.ErrorContains(t, err, "certificate")
}
