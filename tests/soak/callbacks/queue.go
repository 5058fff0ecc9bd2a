package callbacks

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

const (
	visibility  = 3 * time.Minute
	maxReceives = 20
)

// queue is a queue of SQS: it delivers each message at least once, and may be late.
type queue struct{ world *world }

var queueFaults = []fault{lostBefore, lostAfter, throttled, slow, diesBefore, diesAfter}

// Send implements handler.Queue.
func (q *queue) Send(ctx context.Context, messages []handler.Message) []error {
	errs := make([]error, len(messages))
	for n, m := range messages {
		errs[n] = callFor(ctx, "Send", queueFaults, func() error { //nolint:contextcheck // a delivery is an invocation of its own
			q.deliverLater(m.Body, m.Delay)
			return nil
		})
	}
	return errs
}

func (q *queue) deliverLater(body string, delay time.Duration) {
	w := q.world
	late, times := time.Duration(0), 1
	if w.breach == LostMessages && w.chance(0.2) {
		return
	}
	if w.breach == HeldMessages {
		delay += 24 * time.Hour
	}
	w.withRandom(func(r drawer) {
		if r.chance(w.faultShare / 2) {
			late = time.Duration(r.upTo(int(slowest/time.Second))) * time.Second
			w.counts.Add("fault: late message")
		}
		if r.chance(w.faultShare / 2) {
			times = 2
			w.counts.Add("fault: doubled message")
		}
	})
	w.inject(late)
	for n := range times {
		w.running.Go(func() {
			<-time.After(delay + late + time.Duration(n)*time.Second)
			q.deliver(body)
		})
	}
}

// deliver invokes Collect until it takes the message.
func (q *queue) deliver(body string) {
	w := q.world
	type record struct {
		MessageID string `json:"messageId"`
		Body      string `json:"body"`
	}
	payload, err := json.Marshal(map[string]any{"Records": []record{{"m", body}}})
	if err != nil {
		panic(err)
	}
	for range maxReceives {
		if w.isOver() {
			return
		}
		collected, died, err := invoke(w.newInvocation(), func(ctx context.Context) (*handler.Collected, error) {
			return w.handler().Collect(ctx, payload)
		})
		if !died && err == nil && len(collected.BatchItemFailures) == 0 {
			return
		}
		w.counts.Add("messages delivered again")
		w.inject(visibility)
		<-time.After(visibility)
	}
	w.violation("a message is in the dead-letter queue: %s", body)
}

// announce delivers an event of a job's end, as EventBridge does: twice more if the
// function fails, and then no more.
func (w *world) announce(id string) {
	if w.chance(w.faultShare) {
		w.counts.Add("fault: lost event")
		return
	}
	payload, err := json.Marshal(map[string]any{"source": "soak.jobs", "detail-type": "Job State Change", "detail": map[string]any{"id": id}})
	if err != nil {
		panic(err)
	}
	for range 3 {
		_, died, err := invoke(w.newInvocation(), func(ctx context.Context) (*handler.Collected, error) {
			return w.handler().Collect(ctx, payload)
		})
		if !died && err == nil {
			return
		}
		<-time.After(time.Minute)
	}
	w.counts.Add("fault: lost event")
}
