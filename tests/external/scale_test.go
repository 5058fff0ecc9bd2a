package external_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/elasticmq"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/pollcore"
)

var jobs = flag.Int("jobs", 300, "how many jobs the collector waits for in real time")

const recordsTable = "records"

// What the functions and the queue are set to. Waits are short, so that the test is.
const (
	functionTimeout   = 10 * time.Second
	visibilityTimeout = "12"
	maxWait           = 20 * time.Second
	starters          = 8
	collectors        = 4
)

// Waits of jobs that the collector ends in real time: run-job and the collector are the
// programs that are deployed, the queue is another maker's SQS server, and Lambda's part
// between the two is played. Functions are killed at their calls, answers get lost, and
// events are lost, early or doubled. Each Task gets the right verdict, and one answer.
func TestScaleRealTime(t *testing.T) { //nolint:paralleltest // it measures time
	s := newQueries()
	a, server := newAccount(t, *jobs/40, map[string]http.Handler{"AmazonAthena": s.athena(), "AWSStepFunctions": s.steps()})
	endpoint := httptest.NewServer(a)
	t.Cleanup(endpoint.Close)

	direct := elasticmq.Client{Endpoint: server.URL(), AccessKey: "eventbridge"}
	dead, deadARN, err := direct.CreateQueue(t.Context(), "dead", nil)
	require.NoError(t, err)
	queue, queueARN, err := direct.CreateQueue(t.Context(), "waits", map[string]string{
		"VisibilityTimeout": visibilityTimeout, "RedrivePolicy": `{"deadLetterTargetArn": "` + deadARN + `", "maxReceiveCount": 20}`,
	})
	require.NoError(t, err)
	s.ended = func(q *query) {
		if err := direct.Call(t.Context(), "SendMessage", map[string]any{"QueueUrl": queue, "MessageBody": q.event()}, nil); err != nil {
			t.Errorf("an event was not sent: %v", err)
		}
	}

	environment := map[string]string{
		"JOBPOLLER_TABLE": recordsTable, "JOBPOLLER_JOBS": "athena:StartQueryExecution", "JOBPOLLER_QUEUE_URL": endpoint.URL + "/123456789012/waits",
		"JOBPOLLER_METRICS_NAMESPACE": "none", "JOBPOLLER_LEASE_MARGIN_SECONDS": "1",
	}
	var log bytes.Buffer
	startFunctions, collectFunctions := make([]*runtimeapi.Function, starters), make([]*runtimeapi.Function, collectors)
	runJob, collector := buildFunction(t, lambdabuild.RunJob), buildFunction(t, "./lambdas/collector")
	for i := range startFunctions {
		startFunctions[i] = a.add(t, runtimeapi.Config{Name: fmt.Sprint("runjob", i), Binary: runJob, Timeout: functionTimeout}, endpoint.URL, environment)
	}
	shared := &lockedBuffer{to: &log}
	for i := range collectFunctions {
		collectFunctions[i] = a.add(t, runtimeapi.Config{Name: fmt.Sprint("collector", i), Binary: collector, Timeout: functionTimeout, Log: shared}, endpoint.URL, environment)
	}

	drawQueries(s, *jobs)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	batches := atomic.Int64{}
	mapping := &elasticmq.Mapping{
		Client: elasticmq.Client{Endpoint: endpoint.URL, AccessKey: "mapping"}, QueueURL: queue, QueueARN: queueARN,
		BatchSize: 50, Window: time.Second, Concurrency: collectors, ReportFailures: true,
		Invoke: func(ctx context.Context, worker int, payload []byte) ([]byte, error) {
			batches.Add(1)
			return collectFunctions[worker].Invoke(ctx, payload)
		},
	}
	delivered := make(chan error, 1)
	begun := time.Now()
	go func() { delivered <- mapping.Run(ctx) }()
	startQueries(t, s, startFunctions)
	began := time.Since(begun)
	require.False(t, t.Failed(), "not all jobs were started")
	require.Eventually(t, func() bool { return s.waiting() == 0 }, 2*time.Minute, 50*time.Millisecond, "Tasks wait")
	took := time.Since(begun)
	s.events.Wait()
	require.Eventually(t, func() bool {
		visible, delayed, received, err := direct.Count(t.Context(), queue)
		return err == nil && visible+delayed+received == 0
	}, time.Minute, 200*time.Millisecond, "messages stay in the queue")
	stop()
	require.NoError(t, <-delivered)
	for _, function := range slices.Concat(startFunctions, collectFunctions) {
		require.NoError(t, function.Close())
	}
	visible, _, _, err := direct.Count(t.Context(), dead)
	require.NoError(t, err)
	require.Zero(t, visible, "messages are in the dead-letter queue")

	require.Empty(t, s.wrong)
	require.Len(t, s.byID, *jobs, "each query is started once")
	var latenesses []time.Duration
	repeated, gone := 0, 0
	for _, q := range s.byText {
		want := q.want
		if q.stopped { // also if a killed run-job has left its query to the next one
			want = pollcore.TimedOut
			require.GreaterOrEqual(t, q.end.Sub(q.began), maxWait, q.text)
		}
		require.Equal(t, want, q.answered, q.text)
		latenesses = append(latenesses, max(0, q.at.Sub(q.end)))
		repeated, gone = repeated+q.repeated, gone+q.gone
	}
	slices.Sort(latenesses)
	counts := countOutcomes(t, log.String())
	say("scale, real time: %d jobs, all answered once with the right verdict in %.1f s; the starts took %.1f s; %d invocations of the collector",
		*jobs, took.Seconds(), began.Seconds(), batches.Load())
	say("  lateness: mean %.1f s, median %.1f s, 99 %% within %.1f s, worst %.1f s",
		mean(latenesses).Seconds(), latenesses[len(latenesses)/2].Seconds(), latenesses[len(latenesses)*99/100].Seconds(), latenesses[len(latenesses)-1].Seconds())
	for _, operation := range slices.Sorted(maps.Keys(a.calls)) {
		say("  %-24s %6d calls, %6.1f a second", operation, a.calls[operation], float64(a.calls[operation])/took.Seconds())
	}
	say("  throttled: %d GetQueryExecution, %d BatchGetQueryExecution, %d answers of Tasks", s.describes.refused, s.batches.refused, s.answers.refused)
	say("  killed: %d times run-job, %d times the collector; answers of calls lost: %d", a.killed["runjob"], a.killed["collector"], a.lost)
	say("  messages, as the collector logged: %d answered, %d requeued, %d postponed, %d outdated and dropped, %d failed, %d of Tasks that were gone",
		counts["answered"], counts["requeued"], counts["postponed"], counts["outdated"], counts["failed"], counts["gone"])
	say("  answers again: %d to Tasks that had theirs, %d to earlier tries; with an effect: 0", repeated, gone)
}

// drawQueries draws how long queries last, how they end, and what becomes of their events.
func drawQueries(s *queries, n int) {
	random := rand.New(rand.NewPCG(*seed, 2))
	for i := range n {
		q := &query{
			text: fmt.Sprintf("SELECT %d", i), want: pollcore.Succeeded, asked: random.IntN(2) == 0,
			length: 3*time.Second + time.Duration(random.Int64N(int64(12*time.Second))),
			told:   []told{toldOnce, toldOnce, toldTwice, toldEarly, toldNever}[random.IntN(5)],
		}
		switch random.IntN(20) {
		case 0:
			q.want, q.length = pollcore.TimedOut, time.Hour
		case 1, 2:
			q.want = pollcore.Failed
		}
		s.byText[q.text] = q
	}
}

// startQueries does for each query what Step Functions does for the Task that waits for it:
// it invokes run-job, and again if that fails.
func startQueries(t *testing.T, s *queries, functions []*runtimeapi.Function) {
	t.Helper()
	free := make(chan *runtimeapi.Function, len(functions))
	for _, function := range functions {
		free <- function
	}
	var tasks sync.WaitGroup
	for _, text := range slices.Sorted(maps.Keys(s.byText)) {
		q := s.byText[text]
		function := <-free
		tasks.Go(func() {
			q.began = time.Now().UTC()
			for try := 0; ; try++ {
				if try > 0 {
					time.Sleep(2 * time.Second) // as the Retry of the Task does
					function = <-free
				}
				token := fmt.Sprintf("%s, try %d", q.text, try)
				s.wait(q, token)
				_, err := function.Invoke(t.Context(), []byte(eventOf(q, try, token)))
				free <- function
				if err == nil {
					return
				}
				failure, ok := errors.AsType[*runtimeapi.FunctionError](err)
				if !ok || !slices.Contains(retried, failure.Type) || try == 20 {
					t.Errorf("%s: %v", q.text, err)
					return
				}
			}
		})
	}
	tasks.Wait()
}

// retried are the errors after which a Task is tried again.
var retried = []string{"Runtime.ExitError", "JobPoller.JobStartInProgress", "JobPoller.StoreUnavailable", "JobPoller.ServiceUnavailable"}

func eventOf(q *query, try int, token string) string {
	began := q.began.Format(time.RFC3339Nano)
	endAs := "status"
	if q.asked {
		endAs = "error"
	}
	return fmt.Sprintf(`{
		"Context": {
			"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:Queries:%s", "StartTime": %q},
			"State": {"Name": "RunJob", "EnteredTime": %q, "RetryCount": %d},
			"Task": {"Token": %q}
		},
		"Input": {
			"job": "athena:StartQueryExecution", "arguments": {"QueryString": %q}, "endAs": %q,
			"maxWaitSeconds": %d, "minDelay": 3, "maxDelay": 6
		}
	}`, strings.ReplaceAll(q.text, " ", "-"), began, began, try, token, q.text, endAs, int(maxWait.Seconds()))
}

// buildFunction builds a Lambda function for this machine.
func buildFunction(t *testing.T, pkg string) string {
	t.Helper()
	folder, err := filepath.Abs("../..")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdabuild.Executable(t.Context(), folder, pkg, lambdabuild.Host(), file))
	return file
}

// countOutcomes adds up what the collector has logged of its invocations.
func countOutcomes(t *testing.T, log string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(log) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), "a line is not JSON: %s", line)
		if record["message"] != "collector" {
			continue
		}
		for name, value := range record {
			if n, ok := value.(float64); ok {
				counts[name] += int(n)
			}
		}
	}
	return counts
}

func mean(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}

// lockedBuffer takes what several functions log.
type lockedBuffer struct {
	mu sync.Mutex
	to *bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.to.Write(p)
}
