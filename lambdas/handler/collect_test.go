package handler_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

var first = try{token: "T1", request: request}

// A Task is answered with what CheckStatus would return, once.
func TestCollect(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(100*time.Second, map[string]any{"State": "DONE", "Rows": json.Number("9007199254740993")})
	w.mustStart(t, first)
	require.Equal(t, "Create ReplaceIndexed", w.store.take())
	w.drain(t, w.clock.Now().Add(time.Hour))
	require.Len(t, w.tasks.ends, 1)
	end := w.tasks.ends[0]
	require.Equal(t, "T1", end.token)
	require.JSONEq(t, `{
		"status": "SUCCEEDED", "waitSeconds": 0, "attempt": 8,
		"startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 121, "lateSeconds": 21, "job": {"Id": "job-1"},
		"output": {"State": "DONE", "Rows": 9007199254740993, "EndedAt": "2026-11-20T09:31:54Z"},
		"reason": "State == \"DONE\" (acceptor 1 of 3)"
	}`, end.output)
	require.Contains(t, end.output, "9007199254740993")
	require.Empty(t, w.queue.messages)
	require.Zero(t, w.tasks.gone)
	require.Equal(t, end.output, jsonOf(t, w.checkStatus(t, bare(request))), "the record has it, too")
}

func (w *collectWorld) mustStart(t *testing.T, r try) {
	t.Helper()
	_, err := w.start(t.Context(), r)
	require.NoError(t, err)
}

// pass lets time pass, and delivers what is due.
func (w *collectWorld) pass(t *testing.T, d time.Duration) {
	t.Helper()
	end := w.clock.Now().Add(d)
	w.drain(t, end)
	w.advance(end.Sub(w.clock.Now()))
}

// requireEnd requires that one Task got one answer, and that no message is left.
func (w *collectWorld) requireEnd(t *testing.T, token, status string) map[string]any {
	t.Helper()
	require.Len(t, w.tasks.ends, 1)
	require.Equal(t, token, w.tasks.ends[0].token)
	var result map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.tasks.ends[0].output), &result))
	require.Equal(t, status, result["status"])
	w.pass(t, time.Hour)
	require.Empty(t, w.queue.messages)
	require.Empty(t, w.queue.dead)
	require.Len(t, w.tasks.ends, 1)
	return result
}

// An answer that the request wants as an error is one.
func TestCollectAsErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		last map[string]any
		end  end
	}{
		handler.ErrorFailed:   {stateCanceled, end{token: "T1", name: handler.ErrorFailed, cause: `State == "BROKEN" (acceptor 2 of 3): canceled`}},
		handler.ErrorTimedOut: {stateRunning, end{token: "T1", name: handler.ErrorTimedOut, cause: `not finished after 2m0s (max wait 2m0s): State = "RUNNING"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCollectWorld(t, "token")
			w.endsAt(time.Minute, tt.last)
			w.mustStart(t, try{token: "T1", request: `{"job": "test:Job", "maxWaitSeconds": 120, "endAs": "error", "onRunning": "error", "dwellSeconds": 60}`})
			w.pass(t, time.Hour)
			require.Equal(t, []end{tt.end}, w.tasks.ends)
			require.Empty(t, w.queue.messages)
		})
	}
}

// At the deadline the job is described once more, and stopped.
func TestCollectDeadline(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "stoppable")
	w.endsAt(time.Hour, stateDone)
	w.mustStart(t, first)
	w.pass(t, 29*time.Minute+59*time.Second)
	require.Empty(t, w.tasks.ends)
	w.pass(t, 2*time.Second)
	result := w.requireEnd(t, "T1", "TIMED_OUT")
	require.EqualValues(t, 1800, result["elapsedSeconds"])
	require.Equal(t, `not finished after 30m0s (max wait 30m0s): State = "RUNNING"; the job was told to stop`, result["reason"])
	require.Equal(t, 1, w.service.stops)
	require.Equal(t, startrecord.StatusTimedOut, w.record(t, key).Status)
}

// A delay above that of a message is made of several, between which nobody is asked.
func TestCollectHops(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(time.Hour, stateDone)
	w.mustStart(t, try{token: "T1", request: `{"job": "test:Job", "maxWaitSeconds": 36000, "initialDelay": 7200, "minDelay": 3600}`})
	w.pass(t, 2*time.Hour-time.Second)
	require.Zero(t, w.service.describes)
	require.Equal(t, 8, w.queue.sent)
	w.pass(t, time.Second)
	require.Equal(t, 1, w.service.describes)
	w.requireEnd(t, "T1", "SUCCEEDED")
}

// The collector polls when the schedule of the request says.
func TestCollectBySchedule(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(time.Hour, stateDone)
	w.mustStart(t, try{token: "T1", request: `{"job": "test:Job", "maxWaitSeconds": 36000, "schedule": {"delays": [60, 5, 5, 30], "then": 100}}`})
	for polls, delay := range []int{60, 5, 5, 30, 100, 100} {
		w.pass(t, time.Duration(delay-1)*time.Second)
		require.Equal(t, polls, w.service.describes, "before poll %d", polls+1)
		w.pass(t, time.Second)
		require.Equal(t, polls+1, w.service.describes)
	}
}

// A start record's key draws the jitter of its schedule: evenly over many, and the same
// in each invocation. All later polls are as listed.
func TestCollectByScheduleWithJitter(t *testing.T) {
	t.Parallel()
	const executions, jitter = 400, 3
	w := newCollectWorld(t, "token")
	w.endsAt(time.Hour, stateDone)
	for i := range executions {
		w.mustStart(t, try{
			execution: fmt.Sprint(i), token: fmt.Sprint("T", i),
			request: `{"job": "test:Job", "maxWaitSeconds": 36000, "schedule": {"delays": [60, 10], "then": 100, "jitter": 3}}`,
		})
	}
	describes := func() (n int) {
		for _, batch := range w.service.batches {
			n += batch
		}
		return n
	}
	w.pass(t, 59*time.Second)
	require.Zero(t, describes())
	counts := make([]int, jitter+1)
	for polls, gap := range []int{1, 10, 100} {
		w.pass(t, time.Duration(gap-1-min(polls, 1)*jitter)*time.Second)
		for second := range jitter + 1 {
			before := describes()
			w.pass(t, time.Second)
			seen := describes() - before
			if polls == 0 {
				counts[second] = seen
				require.InDelta(t, executions/(jitter+1), seen, 40)
			}
			require.Equal(t, counts[second], seen, "poll %d, second %d", polls+1, second)
		}
	}
}

// Jobs of one group are described by calls of as many as one takes.
func TestCollectInBatches(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(30*time.Second, stateDone)
	for i := range 7 {
		w.mustStart(t, try{execution: fmt.Sprint(i), token: fmt.Sprint("T", i), request: request})
	}
	w.pass(t, 0)
	require.Equal(t, []int{5, 2}, sorted(w.service.batches))
	require.Zero(t, w.service.describes)
	w.pass(t, time.Hour)
	require.Len(t, w.tasks.ends, 7)
	for _, e := range w.tasks.ends {
		require.Contains(t, e.output, `"elapsedSeconds":38,"lateSeconds":8,`)
	}
	require.Zero(t, w.service.describes)
	require.Empty(t, w.queue.messages)
}

func sorted(n []int) []int {
	if len(n) == 2 && n[0] < n[1] {
		n[0], n[1] = n[1], n[0]
	}
	return n
}

// slowRequest is one whose polls are only for what events do not tell.
const slowRequest = `{"job": "test:Job", "maxWaitSeconds": 7200, "minDelay": 900, "maxDelay": 900}`

// newWaitingWorld is a world whose job ends now, and was described when it began.
func newWaitingWorld(t *testing.T, change ...func(*handler.Config)) *collectWorld {
	t.Helper()
	w := newCollectWorld(t, "token", change...)
	w.endsAt(100*time.Second, stateDone)
	w.mustStart(t, try{token: "T1", request: slowRequest})
	w.pass(t, 100*time.Second)
	require.Equal(t, 1, w.service.describes)
	return w
}

func lateness(result map[string]any) any { return result["lateSeconds"] }

// Of the table of failures in docs/guide/operate.md: an event may be lost, come twice, early or
// late.
func TestCollectEvents(t *testing.T) {
	t.Parallel()
	t.Run("an event comes", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		require.NoError(t, w.announce(t.Context(), "job-1"))
		require.EqualValues(t, 0, lateness(w.requireEnd(t, "T1", "SUCCEEDED")))
		require.Zero(t, w.tasks.gone, "the message that is left does not answer again")
		require.Equal(t, 2, w.service.describes)
	})
	t.Run("the queue brings the event", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		require.Equal(t, []error{nil}, w.queue.Send(t.Context(), []handler.Message{{Body: eventOf("job-1")}}))
		w.pass(t, 0)
		require.EqualValues(t, 0, lateness(w.requireEnd(t, "T1", "SUCCEEDED")))
	})
	t.Run("the event is lost", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.pass(t, 15*time.Minute)
		require.EqualValues(t, 800, lateness(w.requireEnd(t, "T1", "SUCCEEDED")))
	})
	t.Run("the event comes twice", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		require.NoError(t, w.announce(t.Context(), "job-1"))
		require.NoError(t, w.announce(t.Context(), "job-1"))
		w.requireEnd(t, "T1", "SUCCEEDED")
		require.Zero(t, w.tasks.gone)
	})
	t.Run("the event comes before the record", func(t *testing.T) {
		t.Parallel()
		w := newCollectWorld(t, "token")
		w.endsAt(0, stateDone)
		require.NoError(t, w.announce(t.Context(), "job-1"), "it is nobody's so far")
		w.mustStart(t, try{token: "T1", request: slowRequest})
		w.pass(t, 0)
		w.requireEnd(t, "T1", "SUCCEEDED")
	})
	t.Run("the event comes before the answers have the end", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.endsAt(110*time.Second, stateDone)
		require.NoError(t, w.announce(t.Context(), "job-1"))
		require.Empty(t, w.tasks.ends)
		w.pass(t, 15*time.Second)
		require.EqualValues(t, 5, lateness(w.requireEnd(t, "T1", "SUCCEEDED")))
	})
	t.Run("the event comes shortly before the next message", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.endsAt(905*time.Second, stateDone)
		w.pass(t, 795*time.Second)
		require.NoError(t, w.announce(t.Context(), "job-1"))
		require.Len(t, w.queue.messages, 1, "which it leaves as it is")
		w.pass(t, 5*time.Second)
		require.NoError(t, w.announce(t.Context(), "job-1"))
		w.pass(t, 20*time.Second)
		w.requireEnd(t, "T1", "SUCCEEDED")
	})
	t.Run("an event of another's job", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		require.NoError(t, w.announce(t.Context(), "job-7"))
		require.NoError(t, w.announce(t.Context(), ""))
		require.Empty(t, w.tasks.ends)
	})
}

// Several messages of a wait, and an event, are one poll, which leaves one message.
func TestCollectDoublesInOneBatch(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newCollectWorld(t, "token", logged(&log))
	w.mustStart(t, try{token: "T1", request: slowRequest})
	body := w.queue.messages[0].body
	for _, other := range []string{eventOf("job-1"), body, eventOf("job-1"), body} {
		w.queue.Send(t.Context(), []handler.Message{{Body: other}})
	}
	collected, err := w.deliver(t.Context(), w.queue.receive(10))
	require.NoError(t, err)
	require.Empty(t, collected.BatchItemFailures)
	require.Equal(t, 1, w.service.describes)
	require.Len(t, w.queue.messages, 1)
	require.Equal(t, 2, w.record(t, key).Callback.Number)
	require.Contains(t, log.String(), `"requeued":1,"postponed":0,"outdated":4,`)
	// The event has told of an end that the answers do not have so far.
	require.Equal(t, w.clock.Now().Add(eventLag), w.record(t, key).Callback.DueAt)
}

const eventLag = 15 * time.Second

// A service that throttles is not asked for the other jobs of the batch.
func TestCollectStopsWhereItIsThrottled(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token", func(c *handler.Config) {
		driver, err := c.Jobs.Driver(jobName)
		require.NoError(t, err)
		c.Jobs, err = jobs.NewRegistry(struct{ jobs.Driver }{driver}) // which describes one job a call
		require.NoError(t, err)
	})
	for i := range 10 {
		w.mustStart(t, try{execution: fmt.Sprint(i), token: fmt.Sprint("T", i), request: request})
	}
	var calls atomic.Int32
	_, err := w.deliver(deciding(t.Context(), func(op string) fate {
		if op != "Describe" {
			return goesWell
		}
		calls.Add(1)
		return throttled
	}), w.queue.receive(10))
	require.NoError(t, err)
	require.LessOrEqual(t, calls.Load(), int32(4), "those that were under way")
	require.Len(t, w.queue.messages, 10)
}

// A message of a record whose job is about to be started, or of an execution of before,
// has no effect.
func TestCollectMessageOfBefore(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.mustStart(t, first)
	w.pass(t, 30*time.Second)
	old := w.queue.messages[0].body
	number := w.record(t, key).Callback.Number
	// 90 days later the name of the execution is used again.
	w.queue.messages = nil
	w.advance(2400 * time.Hour)
	again := strings.Replace(w.event(try{token: "T9", request: request}), "2026-11-20T09:30:13.5Z", w.clock.Now().Format(time.RFC3339), 1)
	_, died, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": diesBefore})), w.RunJob, again)
	require.NoError(t, err)
	require.True(t, died)
	described := w.service.describes
	newer := strings.Replace(old, fmt.Sprintf(`"number":%d`, number), fmt.Sprintf(`"number":%d`, number+1), 1) // its sender died
	for _, body := range []string{newer, old} {
		w.queue.Send(t.Context(), []handler.Message{{Body: body}})
		collected, err := w.deliver(t.Context(), w.queue.receive(1))
		require.NoError(t, err)
		require.Empty(t, collected.BatchItemFailures)
		require.Equal(t, described, w.service.describes)
		w.advance(over)
		_, _, err = invoke(t.Context(), w.RunJob, again)
		require.NoError(t, err)
		require.Equal(t, number, w.record(t, key).Callback.Number)
		var next struct {
			Number int `json:"number"`
			Wait   int `json:"wait"`
		}
		require.NoError(t, json.Unmarshal([]byte(w.queue.messages[0].body), &next))
		require.Equal(t, []int{number + 1, 2}, []int{next.Number, next.Wait})
		w.queue.messages = nil
	}
}

func TestMessageDelay(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]time.Duration{
		-2 * time.Second: 0, 0: 0, time.Millisecond: time.Second, time.Minute: time.Minute, time.Hour: handler.MaxMessageDelay,
	} {
		require.Equal(t, want, handler.MessageDelay(d))
	}
}

// Of two tries the newer has the wait, whichever comes first.
func TestNewestTokenIsKept(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(time.Minute, stateDone)
	w.mustStart(t, try{token: "T3", request: request, retry: 2})
	w.mustStart(t, try{token: "T2", request: request, retry: 1})
	require.Equal(t, "T3", w.record(t, key).Callback.TaskToken)
	w.mustStart(t, try{token: "T4", request: request, redrive: 1, redrivenAt: w.clock.Now()})
	w.mustStart(t, try{token: "T3", request: request, retry: 2})
	require.Equal(t, "T4", w.record(t, key).Callback.TaskToken)
	w.pass(t, time.Hour)
	w.requireEnd(t, "T4", "SUCCEEDED")
}

// A start that is refused fails the Task at once, and leaves no message.
func TestRefusedStartWithToken(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	_, err := w.start(deciding(t.Context(), fates(map[string]fate{"Start": refused})), first)
	requireError(t, err, handler.ErrorFailed)
	require.Empty(t, w.queue.messages)
}

// What run-job cannot let the collector know of, it does not start.
func TestCallbackWithoutCollector(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*handler.Config)
		want   string
	}{
		"no queue": {func(c *handler.Config) { c.Queue = nil }, "JOBPOLLER_QUEUE_URL"},
		"no index": {func(c *handler.Config) { c.Store = struct{ startrecord.Store }{c.Store} }, "keep the start records in DynamoDB (JOBPOLLER_TABLE)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCollectWorld(t, "token", tt.change)
			_, err := w.start(t.Context(), first)
			requireError(t, err, handler.ErrorConfiguration, tt.want)
			require.Zero(t, w.service.count())
			require.Empty(t, w.store.take())
			w.runJob(t, bare(request))
			_, err = w.Collect(t.Context(), json.RawMessage(eventOf("job-1")))
			requireError(t, err, handler.ErrorConfiguration, tt.want)
		})
	}
}

func logged(log *bytes.Buffer) func(*handler.Config) {
	return func(c *handler.Config) { c.Log = slog.New(slog.NewJSONHandler(log, nil)) }
}

// A message that cannot be handled stays, and the log says why; the others are handled.
func TestCollectKeepsWhatItCannotHandle(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newCollectWorld(t, "token", logged(&log))
	w.endsAt(0, stateDone)
	w.mustStart(t, first)
	mended := try{execution: "2", token: "T2", request: request}
	w.mustStart(t, mended)
	stored, err := w.store.Store.Load(t.Context(), mended.key())
	require.NoError(t, err)
	broken := stored.Record
	broken.JobRef = []byte(`7`)
	stored, err = w.store.Store.Replace(t.Context(), mended.key(), broken, stored.Version)
	require.NoError(t, err)
	for _, body := range []string{
		"secret text", `null`, `{"number": 1}`, `{"executionArn": "x", "poller": "p", "number": 1}`,
		`{"executionArn": "` + arn + `", "poller": "default", "number": -1}`, `{"executionArn": "` + arn + `", "poller": "default", "number": 99999999999}`,
	} {
		w.queue.Send(t.Context(), []handler.Message{{Body: body}})
	}
	log.Reset()
	collected, err := w.deliver(t.Context(), w.queue.receive(10))
	require.NoError(t, err)
	require.Len(t, w.tasks.ends, 1)
	require.Equal(t, "T1", w.tasks.ends[0].token)
	require.ElementsMatch(t, []handler.BatchItemFailure{{"m-2"}, {"m-3"}, {"m-4"}, {"m-5"}, {"m-6"}, {"m-7"}, {"m-8"}}, collected.BatchItemFailures)
	require.Contains(t, log.String(), `"execution":"arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-2","poller":"default","scope":"","messageId":"m-2","job":"test:Job","error":"JobPoller.Configuration","reason":"`)
	require.Contains(t, log.String(), "let nobody else send to the queue")
	require.NotContains(t, log.String(), "secret text")
	require.Contains(t, log.String(), `"answered":1,"gone":0,"requeued":0,"postponed":0,"outdated":0,"unknownEvents":0,"failed":7}`)
	require.Contains(t, w.queue.messages[0].body, "then redrive the queue")

	w.pass(t, 2*time.Hour)
	require.Len(t, w.queue.dead, 7)
	// A person mends the record, and moves the message back.
	_, err = w.store.Store.Replace(t.Context(), mended.key(), startedAgain(broken, `{"Id": "job-2"}`), stored.Version)
	require.NoError(t, err)
	w.queue.Send(t.Context(), []handler.Message{{Body: w.queue.dead[0].body}})
	w.pass(t, 0)
	require.Len(t, w.tasks.ends, 2)
}

func startedAgain(rec startrecord.Record, ref string) startrecord.Record {
	rec.JobRef = []byte(ref)
	return rec
}

// A payload of another kind is refused.
func TestCollectForeignPayload(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	for _, payload := range []string{`{"detail-type": "x", "source": 1e999}`, `{}`, `[]`, `null`, bare(request), `{"Records": 1}`, `{"Records": [{"body": "{}"}]}`} {
		_, err := w.Collect(t.Context(), json.RawMessage(payload))
		requireError(t, err, handler.ErrorInvalidRequest)
	}
	collected, err := w.Collect(t.Context(), json.RawMessage(`{"Records": []}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"batchItemFailures": []}`, jsonOf(t, collected))
}

// Whatever comes, Collect answers or fails with a name of its own.
func FuzzCollect(f *testing.F) {
	for _, seed := range []string{
		eventOf("job-1"), `{"Records": [{"messageId": "a", "body": "{}"}]}`, `{"detail-type": {}, "detail": [1]}`, bare(request),
		`{"Records": [{"messageId": "a", "body": "{\"executionArn\": \"` + arn + `\", \"poller\": \"default\", \"number\": 1e9, \"id\": \"\"}"}]}`,
		`{"Records": [{"messageId": "a", "body": "{\"detail-type\": 1, \"source\": \"test.jobs\", \"detail\": {\"id\": \"job-1\"}}"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		w := newCollectWorld(t, "token")
		w.mustStart(t, first)
		if _, err := w.Collect(t.Context(), payload); err != nil {
			require.NotEqual(t, "unnamed", named(t, err).Type)
		}
	})
}
