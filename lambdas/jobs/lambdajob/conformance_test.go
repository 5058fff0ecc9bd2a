package lambdajob_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
)

// services are Lambda, with a function that claims its jobs, and S3, which
// holds their status objects.
type services struct{ *jobstest.Jobs }

// Operation implements jobstest.Service.
func (services) Operation(r *http.Request) string {
	if r.Method == http.MethodGet {
		return "GetObject"
	}
	return "Invoke"
}

// Fail implements jobstest.Service. Without a body Lambda's code is that of the
// header, and S3's that of the status.
func (services) Fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
}

func (s services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Operation(r) == "GetObject" {
		s.status(w, strings.TrimPrefix(r.URL.Path, "/"))
		return
	}
	var event lambdajob.Event
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil || r.Header.Get("X-Amz-Invocation-Type") != "Event" {
		s.Fail(w, http.StatusBadRequest, "InvalidParameterValueException")
		return
	}
	// A second invocation for the same object finds it claimed.
	_, _ = s.Start(event.StatusBucket+"/"+event.StatusKey, nil, jobstest.Refusal{})
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprint(w, "{}") // Lambda's is empty, and half of it is all of it
}

// status serves the status object of a job that has begun.
func (s services) status(w http.ResponseWriter, key string) {
	job, ok := s.ByKey(key)
	if !ok || job.Status == "queued" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>`)
		return
	}
	status := map[string]string{"Status": job.Status, "Claim": job.ID}
	if job.Status == "failed" {
		status["Reason"] = "no space left"
	}
	_ = json.NewEncoder(w).Encode(status) // a client that is gone is no concern of the service
}

func TestConformance(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker: builtin.LambdaInvoke, Arguments: `{"FunctionName": "work", "Payload": {"n": 1}}`,
		Service:  func(*testing.T) jobstest.Service { return services{jobstest.NewJobs("queued")} },
		Required: []string{"FunctionName"}, AnyJSON: []string{"Payload"}, OwnOutput: true,
		Statuses: jobstest.Statuses{
			Running: []string{"queued", "running"}, Success: []string{"succeeded"}, Failure: []string{"failed"},
		},
		Reason: "no space left", Refusal: "Forbidden",
		Actions: map[string]string{"Invoke": "lambda:InvokeFunction", "GetObject": "s3:GetObject"},
	})
}
