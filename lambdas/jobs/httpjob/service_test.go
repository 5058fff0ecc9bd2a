package httpjob_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore"
)

// api is an HTTP API of jobs.
type api struct {
	*jobstest.Jobs

	// tokens: an Idempotency-Key that was seen brings the first job.
	tokens bool
}

// Operation implements jobstest.Service.
func (api) Operation(*http.Request) string { return "request" }

// Fail implements jobstest.Service.
func (api) Fail(w http.ResponseWriter, status int, code string) { http.Error(w, code, status) }

func (a api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, isJob := strings.CutPrefix(r.URL.Path, "/jobs/")
	job, ok := a.ByID(id)
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/jobs":
		key := ""
		if a.tokens {
			key = r.Header.Get("Idempotency-Key")
		}
		var parameters map[string]any
		if r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(&parameters) != nil {
			http.Error(w, "no JSON", http.StatusUnsupportedMediaType)
			return
		}
		job, err := a.Start(key, parameters, jobstest.Refusal{Code: "mismatch"})
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Location", "/jobs/"+job.ID)
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(map[string]any{"id": job.ID, "status": job.Status})
	case !isJob || !ok:
		http.NotFound(w, r)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(map[string]any{"id": job.ID, "status": job.Status, "message": "no space left"})
	case r.Method == http.MethodDelete:
		if job.Status == "queued" {
			a.SetJobStatus(job.ID, "cancelled")
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// elsewhere sends requests to another server than their URL says, through the
// driver's own transport.
type elsewhere struct {
	base http.RoundTripper
	host string
}

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", e.host
	return e.base.RoundTrip(r)
}

func maker(e jobs.Environment) (jobs.Driver, error) {
	endpoint, err := url.Parse(*e.AWS.BaseEndpoint)
	if err != nil {
		return nil, err
	}
	return httpjob.New(httpjob.Config{
		Hosts: []string{"api.example.com"}, Loopback: true,
		Wrap: func(base http.RoundTripper) http.RoundTripper { return elsewhere{base, endpoint.Host} },
	})
}

const (
	start    = `"Start": {"Url": "https://api.example.com/jobs", "Headers": {"Prefer": "respond-async"}, "Body": {"rows": 9007199254740993}}`
	describe = `"Describe": {"Url": "https://api.example.com/jobs/{Body.id}"}`
	stop     = `"Stop": {"Method": "DELETE", "Url": "{Headers.Location}"}`
)

func TestDriver(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string]bool{"NoProtection": false, "ByToken": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := "{" + strings.Join([]string{start, describe, stop}, ", ") + "}"
			if tokens {
				arguments = "{" + strings.Join([]string{start, describe, stop, `"IdempotencyKey": true`}, ", ") + "}"
			}
			jobstest.Run(t, jobstest.Case{
				Maker: maker, Arguments: arguments, Required: []string{"Start", "Describe"}, OwnOutput: true,
				Service: func(*testing.T) jobstest.Service { return api{jobstest.NewJobs("queued"), tokens} },
				Statuses: jobstest.Statuses{
					Running: []string{"queued", "RUNNING", "done"},
					Success: []string{"succeeded", "SUCCEEDED", "Succeeded", "success", "completed", "COMPLETE"},
					Failure: []string{"failed", "FAILED", "Failed", "error", "canceled", "cancelled", "timed_out"},
				},
				Reason: "no space left", Refusal: "Http.StatusCode.403", Actions: map[string]string{"request": ""},
			})
		})
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	driver, err := httpjob.New(httpjob.Config{Hosts: []string{"api.example.com"}})
	require.NoError(t, err)
	require.Empty(t, driver.Permissions())
	for more, want := range map[string]jobs.Idempotency{
		``:                          {Class: jobs.NoProtection},
		`, "IdempotencyKey": false`: {Class: jobs.NoProtection},
		`, "IdempotencyKey": true`:  {Class: jobs.ByToken, Window: 24 * time.Hour},
		`, "IdempotencyKey": true, "IdempotencyWindowSeconds": 60`: {Class: jobs.ByToken, Window: time.Minute},
		`, "IdempotencyKey": true, "Unknown": 1`:                   {Class: jobs.NoProtection},
	} {
		require.Equal(t, want, driver.Idempotency(jobs.Request{Arguments: json.RawMessage("{" + start + ", " + describe + more + "}")}), more)
	}
}

// seen is a server on this machine that keeps what it was asked.
type seen struct {
	url, host string
	driver    *httpjob.Driver

	mu       sync.Mutex
	requests []*http.Request
}

// serve returns a server and a driver that may call it, and the hosts besides.
func serve(t *testing.T, handler http.HandlerFunc, hosts ...string) *seen {
	t.Helper()
	s := &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	s.url, s.host = server.URL, server.Listener.Addr().String()
	var err error
	s.driver, err = httpjob.New(httpjob.Config{Hosts: append(hosts, s.host), Loopback: true})
	require.NoError(t, err)
	return s
}

// take returns what was asked since the last take, as "METHOD path".
func (s *seen) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken []string
	for _, r := range s.requests {
		taken = append(taken, r.Method+" "+r.RequestURI)
	}
	s.requests = nil
	return taken
}

// run starts a job; %s in the arguments is the server's URL.
func (s *seen) run(t *testing.T, arguments string) (jobs.Ref, error) {
	t.Helper()
	text := strings.ReplaceAll(arguments, "%s", s.url)
	return s.driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(text)})
}

// verdict is what the waiter says of an output.
func verdict(t *testing.T, output any, err error) pollcore.Verdict {
	t.Helper()
	check, compileErr := pollcore.Compile[jobs.Ref, any]((*httpjob.Driver)(nil).Waiter())
	require.NoError(t, compileErr)
	return check.Check(nil, output, err).Verdict
}
