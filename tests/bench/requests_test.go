package bench_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
)

// What a poll of a running job may cost: see docs/design.md.
const (
	stepRunning   = "check-status, the job runs"
	runningBudget = "1 DescribeExport, 1 S3 GET"
)

// count is what a step sent over the wire.
type count struct{ step, requests string }

// wire counts the requests that reach the services.
type wire struct {
	mu       sync.Mutex
	requests map[string]int
}

func (w *wire) note(request string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests[request]++
}

// take returns the requests since the last take, in the order of their names.
func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(w.requests)) {
		list = append(list, fmt.Sprintf("%d %s", w.requests[name], name))
	}
	w.requests = map[string]int{}
	return strings.Join(list, ", ")
}

// exports is the part of DynamoDB that exports tables. One status is that of
// all exports.
type exports struct {
	wire   *wire
	status atomic.Value
}

func (e *exports) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	e.wire.note(operation)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	fmt.Fprintf(w, `{"ExportDescription": {"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1", "ExportStatus": %q}}`, e.status.Load())
}

// steps take an export from its start to a repeated question about its end.
var steps = []struct {
	name     string
	function string
	status   string // of the export
}{
	{"run-job, the start", "run-job", "IN_PROGRESS"},
	{"run-job again", "run-job", "IN_PROGRESS"},
	{stepRunning, "check-status", "IN_PROGRESS"},
	{"check-status, the job has ended", "check-status", "COMPLETED"},
	{"check-status again", "check-status", "COMPLETED"},
}

// before is how many executions the functions have served when their requests
// are counted: a process probes a store behind an endpoint of one's own once, and
// the garbage collector lets it grow for a while.
const before = 50

// countRequests takes exports through the two functions, and returns what each
// step of the last sends, and the most memory that a function takes.
func countRequests(ctx context.Context, runJob, checkStatus string) ([]count, map[string]uint64, error) {
	w := &wire{requests: map[string]int{}}
	s3, err := embeddeds3.Start(embeddeds3.Options{Middleware: func(next http.Handler) http.Handler { //nolint:contextcheck // a server outlives the call that starts it
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.note("S3 " + r.Method)
			next.ServeHTTP(rw, r)
		})
	}, Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = s3.Close() }() // it keeps nothing
	if err := s3.CreateBucket("records"); err != nil {
		return nil, nil, err
	}
	service := &exports{wire: w}
	dynamodb := httptest.NewServer(service)
	defer dynamodb.Close()

	functions := map[string]*runtimeapi.Function{}
	for name, binary := range map[string]string{"run-job": runJob, "check-status": checkStatus} {
		f, err := runtimeapi.New(runtimeapi.Config{
			Name: name, Binary: binary, Log: io.Discard,
			Env: append(functionEnvironment(), "AWS_ENDPOINT_URL_S3="+s3.URL(), "AWS_ENDPOINT_URL_DYNAMODB="+dynamodb.URL),
		})
		if err != nil {
			return nil, nil, err
		}
		defer func() { _ = f.Close() }() // it cannot fail
		functions[name] = f
	}
	var counts []count
	start := time.Now()
	for execution := range before + 1 {
		counts = nil
		for _, s := range steps {
			service.status.Store(s.status)
			w.take()
			if _, err := functions[s.function].Invoke(ctx, event(fmt.Sprint("run-", execution), start)); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", s.name, err)
			}
			counts = append(counts, count{s.name, w.take()})
		}
	}
	peaks := map[string]uint64{}
	for name, binary := range map[string]string{"run-job": runJob, "check-status": checkStatus} {
		if peaks[name], err = peakMemory(binary); err != nil {
			return nil, nil, err
		}
	}
	return counts, peaks, nil
}

// event is the bare context object of an execution that began then, with the
// request as its input.
func event(execution string, began time.Time) []byte {
	start := began.UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{
		"Execution": {
			"Id": "arn:aws:states:us-east-1:123456789012:execution:M:%[1]s", "StartTime": %[2]q,
			"Input": {
				"job": "dynamodb:ExportTableToPointInTime", "maxWaitSeconds": 3600,
				"arguments": {"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders", "S3Bucket": "exports"}
			}
		},
		"State": {"Name": "Poll", "EnteredTime": %[2]q, "RetryCount": 0}
	}`, execution, start)
}
