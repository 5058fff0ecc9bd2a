package handlertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler/handlertest"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

// press is a driver of a service that is not one of AWS: its URL is in a variable, and its
// errors are of a type of its own.
type press struct{ url string }

var printed = pollcore.MustNew("Printed",
	pollcore.Succeed(pollcore.Output("State").Is("PRINTED")),
	pollcore.Fail(pollcore.Output("State").Is("TORN")),
	pollcore.Again(pollcore.ErrorType("NotYetListed")),
	pollcore.Delay(time.Minute, 10*time.Minute))

func newPress(e jobs.Environment) (jobs.Driver, error) {
	url := e.Getenv("PRESS_URL")
	if url == "" {
		return nil, &jobs.NotConfiguredError{Job: "shop:Print", Lack: "PRESS_URL is not set"}
	}
	return press{url}, nil
}

func (press) Name() string                     { return "shop:Print" }
func (press) Waiter() *pollcore.Waiter         { return printed }
func (press) Permissions() []access.Permission { return nil }
func (press) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken}
}

func (p press) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	job, err := p.call(ctx, http.MethodPut, r.Token)
	return jobs.Ref{"ID": fmt.Sprint(job["ID"])}, err
}

func (p press) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	job, err := p.call(ctx, http.MethodGet, ref["ID"])
	return job, err
}

// pressError is what the service says of a call that it refuses.
type pressError struct {
	status int
	code   string
}

func (e *pressError) Error() string       { return "the press says " + e.code }
func (e *pressError) HTTPStatusCode() int { return e.status }
func (e *pressError) ErrorCode() string   { return e.code }

func (p press) call(ctx context.Context, method, id string) (job map[string]any, err error) {
	request, err := http.NewRequestWithContext(ctx, method, p.url+"/"+id, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var code bytes.Buffer
		if _, err := code.ReadFrom(answer.Body); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("job %s: %w", id, &pressError{answer.StatusCode, code.String()})
	}
	return job, json.NewDecoder(answer.Body).Decode(&job)
}

// pressService lists a job only after a while, as services do that are eventually
// consistent.
type pressService struct {
	*jobstest.Jobs

	missing func() string // the code of a call that does not find the job; empty once it does
}

func (pressService) Operation(r *http.Request) string { return r.Method }

func (pressService) Fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = w.Write([]byte(code))
}

func (s pressService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/")
	job, ok := s.ByID(id)
	if code := s.missing(); r.Method == http.MethodGet && (!ok || code != "") {
		s.Fail(w, http.StatusNotFound, code)
		return
	}
	if r.Method == http.MethodPut {
		var err error
		if job, err = s.Start(id, nil, jobstest.Refusal{}); err != nil {
			s.Fail(w, http.StatusConflict, err.Error())
			return
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"ID": job.ID, "State": job.Status})
}

// pressCase is the case of a job that the service lists after five minutes, and until then
// refuses to describe with a code.
func pressCase(code string) handlertest.Case {
	return handlertest.Case{
		Request: `{"job": "shop:Print", "maxWaitSeconds": 7200}`,
		Getenv:  func(endpoint string) map[string]string { return map[string]string{"PRESS_URL": endpoint} },
		Driver: func(w *handlertest.World) jobs.Driver {
			printing := jobstest.NewJobs("PRINTING")
			listed := w.Now().Add(5 * time.Minute)
			w.AfterFunc(time.Hour, func() { printing.SetStatus("PRINTED") })
			return w.NewDriver(newPress, pressService{printing, func() string {
				if w.Now().Before(listed) {
					return code
				}
				return ""
			}})
		},
	}
}

// A driver whose service is not of AWS gets its variables, and an errorType acceptor
// matches its errors by their method ErrorCode, wrapped or not.
func TestDriverWithAnEnvironment(t *testing.T) {
	t.Parallel()
	handlertest.Run(t, pressCase("NotYetListed")).RequireSucceeded().RequireElapsedBetween(time.Hour, time.Hour+10*time.Minute)
	refused := handlertest.Run(t, pressCase("Gone"))
	require.Equal(t, "JobPoller.Failed", refused.Error)
	require.Contains(t, refused.Cause, "the press says Gone")
}

// A driver that lacks a variable says which, also where it is the only one.
func TestDriverWithoutItsVariable(t *testing.T) {
	t.Parallel()
	lacking := pressCase("")
	lacking.Getenv = nil
	require.Equal(t, "handlertest: cannot make the driver: shop:Print is not configured: PRESS_URL is not set", fail(t, lacking))

	_, err := jobs.Build(jobs.Environment{Getenv: func(string) string { return "" }}, newPress)
	require.EqualError(t, err, "shop:Print is not configured: PRESS_URL is not set")
	require.ErrorIs(t, err, jobs.ErrNotConfigured)
}
