package callbacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

const executionARN = "arn:aws:states:us-east-1:123456789012:execution:Soak:run-1"

// wait is one wait of the execution: from the start, or from a redrive.
type wait struct {
	redrive    int
	begun      time.Time // the earliest time from which it counts
	redrivenAt time.Time
	accepted   time.Time // when RunJob had its last success; zero: never
	unknown    bool      // ended as JobStartUnknown
	abandoned  bool      // the execution was stopped meanwhile
	injected   time.Duration
	answered   chan struct{} // closed with the first answer of a callback
	answers    []answer
}

// answer is what a wait ended with.
type answer struct {
	at     time.Time
	status string // of the result, or the error's name
}

// run runs the execution: a wait, and perhaps redrives.
func (w *world) run() {
	w.runWait(&wait{begun: time.Now()})
	for redrive := 1; redrive <= 2 && w.chance(0.3); redrive++ {
		last := w.waits[len(w.waits)-1]
		if last.unknown || !last.abandoned && (len(last.answers) == 0 || last.answers[0].status == "SUCCEEDED") {
			break
		}
		<-time.After(w.seconds(0, time.Hour))
		w.counts.Add("redrives")
		w.runWait(&wait{redrive: redrive, begun: time.Now(), redrivenAt: time.Now()})
	}
	w.over.Store(true)
}

func (w *world) runWait(t *wait) {
	w.mu.Lock()
	w.waits = append(w.waits, t)
	t.answered = make(chan struct{})
	t.injected = -w.injected
	w.mu.Unlock()
	switch started, seconds := w.start(t); {
	case !started:
	case w.callback:
		w.follow(t)
	default:
		w.poll(t, seconds)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t.injected += w.injected
}

// start invokes RunJob as a Task with a Retry block does, some of whose requests reach
// Lambda twice. It returns the seconds until the first poll.
func (w *world) start(t *wait) (started bool, seconds int) {
	for retry := range 100 {
		token := fmt.Sprintf("token-%d-%d", t.redrive, retry)
		w.expect(t, token)
		event := w.event(t, token, retry)
		run := func() (*handler.Result, bool, error) {
			return invoke(w.newInvocation(), func(ctx context.Context) (*handler.Result, error) { return w.handler().RunJob(ctx, event) })
		}
		if w.chance(w.faultShare) {
			w.counts.Add("fault: doubled RunJob")
			late := w.seconds(0, 5*time.Second)
			w.running.Go(func() {
				<-time.After(late)
				_, _, _ = run()
			})
		}
		result, died, err := run()
		if !died && err == nil {
			w.mu.Lock()
			t.accepted = time.Now()
			w.mu.Unlock()
			return true, result.WaitSeconds
		}
		select {
		case <-t.answered: // before its function has returned
			return true, 0
		default:
		}
		w.abandon(token)
		if name := nameOf(err); !died && name != handler.ErrorJobStartInProgress && name != handler.ErrorStoreUnavailable && name != handler.ErrorServiceUnavailable {
			if t.unknown = name == handler.ErrorJobStartUnknown; t.unknown {
				w.counts.Add("ended: JobStartUnknown")
			} else {
				w.violation("RunJob: %v", err)
				t.unknown = true
			}
			return false, 0
		}
		w.pause(30 * time.Second)
	}
	w.violation("RunJob never succeeds")
	t.unknown = true
	return false, 0
}

// pause is that of a Retry block.
func (w *world) pause(d time.Duration) {
	w.inject(d)
	<-time.After(d)
}

func nameOf(err error) string {
	if e, ok := errors.AsType[messages.InvokeResponse_Error](err); ok {
		return e.Type
	}
	return ""
}

// follow waits for the answer, or stops the execution before.
func (w *world) follow(t *wait) {
	limit := longestWorld
	if w.chance(0.1) {
		limit = w.seconds(0, w.maxWait)
	}
	select {
	case <-t.answered:
	case <-time.After(limit):
		if limit < longestWorld {
			w.counts.Add("executions stopped")
			t.abandoned = true
			w.abandonAll(t)
		}
	}
}

// poll invokes CheckStatus until the job has ended, as a Choice/Wait loop does.
func (w *world) poll(t *wait, seconds int) {
	for attempt := range 20_000 {
		<-time.After(time.Duration(seconds) * time.Second)
		event := w.checkEvent(t, attempt)
		check := func() (*handler.Result, bool, error) {
			return invoke(w.newInvocation(), func(ctx context.Context) (*handler.Result, error) { return w.handler().CheckStatus(ctx, event) })
		}
		if w.chance(w.faultShare) {
			w.counts.Add("fault: doubled CheckStatus")
			w.running.Go(func() { _, _, _ = check() })
		}
		result, died, err := check()
		switch name := nameOf(err); {
		case died, name == handler.ErrorStoreUnavailable, name == handler.ErrorServiceUnavailable:
			w.pause(30 * time.Second)
			seconds = 0
		case err != nil:
			w.violation("CheckStatus: %v", err)
			t.unknown = true
			return
		case result.Status != "RUNNING":
			w.mu.Lock()
			defer w.mu.Unlock()
			t.answers = append(t.answers, answer{time.Now(), string(result.Status)})
			return
		default:
			seconds = result.WaitSeconds
		}
	}
}

func (w *world) request() string {
	onTimeout := "leave"
	if w.stops {
		onTimeout = "stop"
	}
	return fmt.Sprintf(`{"job": %q, "maxWaitSeconds": %d, "minDelay": 10, "maxDelay": %d, "onTimeout": %q}`,
		jobName, int(w.maxWait.Seconds()), int(w.maxDelay.Seconds()), onTimeout)
}

func (w *world) event(t *wait, token string, retry int) json.RawMessage {
	task := ""
	if w.callback {
		task = fmt.Sprintf(`, "Task": {"Token": %q}`, token)
	}
	entered := t.begun.Format(time.RFC3339Nano)
	return w.payload(t, fmt.Sprintf(`, "State": {"Name": "Run", "EnteredTime": %q, "RetryCount": %d}%s`, entered, retry, task), w.request())
}

func (w *world) checkEvent(t *wait, attempt int) json.RawMessage {
	return w.payload(t, "", fmt.Sprintf(`{"attempt": %d}`, attempt))
}

func (w *world) payload(t *wait, more, input string) json.RawMessage {
	redrive := ""
	if t.redrive > 0 {
		redrive = fmt.Sprintf(`, "RedriveCount": %d, "RedriveTime": %q`, t.redrive, t.redrivenAt.Format(time.RFC3339Nano))
	}
	return json.RawMessage(fmt.Sprintf(`{"Context": {"Execution": {"Id": %q, "StartTime": %q%s}%s}, "Input": %s}`,
		executionARN, w.waits[0].begun.Format(time.RFC3339Nano), redrive, more, strings.TrimSpace(input)))
}
