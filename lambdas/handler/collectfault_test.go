package handler_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// Only a Task that nobody has answered is counted as gone, whichever message or event
// comes twice.
func TestCollectCountsTasksThatAreGone(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(*collectWorld) string{
		"message": func(w *collectWorld) string { return w.queue.messages[0].body },
		"event":   func(*collectWorld) string { return eventOf("job-1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := newWaitingWorld(t, metered(&out))
			body := tell(w)
			w.advance(900 * time.Second)
			for range 3 {
				w.queue.messages = nil
				w.queue.Send(t.Context(), []handler.Message{{Body: body}})
				w.pass(t, 0)
			}
			w.requireEnd(t, "T1", "SUCCEEDED")
			require.Zero(t, w.tasks.gone)
			require.NotContains(t, out.String(), "TasksGone")
			require.Empty(t, w.record(t, key).Callback.TaskToken)
		})
	}
	t.Run("a Task that is gone counts once", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		w := newWaitingWorld(t, metered(&out))
		w.tasks.abandon("T1")
		body := w.queue.messages[0].body
		w.pass(t, time.Hour)
		w.queue.Send(t.Context(), []handler.Message{{Body: body}})
		w.pass(t, 0)
		require.Equal(t, 1, strings.Count(out.String(), `"TasksGone":1`))
		require.Equal(t, 1, w.tasks.gone)
	})
	t.Run("two visits at the same time", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		w := newWaitingWorld(t, metered(&out))
		body := w.queue.messages[0].body
		w.advance(900 * time.Second)
		w.queue.messages = nil
		w.queue.Send(t.Context(), []handler.Message{{Body: body}})
		w.queue.Send(t.Context(), []handler.Message{{Body: body}})
		first, second := w.queue.receive(1), w.queue.receive(1)
		// The second does all its work after the first has read the record.
		done := false
		_, err := w.deliver(deciding(t.Context(), func(op string) fate {
			if op == "Describe" && !done {
				done = true
				_, err := w.deliver(context.Background(), second)
				require.NoError(t, err)
			}
			return goesWell
		}), first)
		require.NoError(t, err)
		w.requireEnd(t, "T1", "SUCCEEDED")
		require.NotContains(t, out.String(), "TasksGone")
	})
}

// A store that throttles takes no message to the dead-letter queue.
func TestCollectWhereTheStoreThrottles(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Load", "FindRecord", "Replace"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w := newWaitingWorld(t, logged(&log))
			w.advance(900 * time.Second)
			if op == "FindRecord" {
				w.queue.Send(t.Context(), []handler.Message{{Body: eventOf("job-1")}})
			}
			ctx := deciding(t.Context(), func(called string) fate {
				if called == op {
					return throttled
				}
				return goesWell
			})
			for range 2 * maxReceives {
				if op == "FindRecord" {
					w.queue.messages = w.queue.messages[len(w.queue.messages)-1:] // that of the event
				}
				w.advance(time.Minute)
				messages := w.queue.receive(10)
				require.Len(t, messages, 1)
				collected, err := w.deliver(ctx, messages)
				require.NoError(t, err)
				require.Empty(t, collected.BatchItemFailures)
			}
			require.Empty(t, w.tasks.ends)
			require.Contains(t, log.String(), `"postponed":1,`)
			w.pass(t, time.Minute)
			w.requireEnd(t, "T1", "SUCCEEDED")
		})
	}
}

// Messages do not multiply while the store throttles.
func TestCollectPostponesOnce(t *testing.T) {
	t.Parallel()
	w := newWaitingWorld(t)
	w.advance(900 * time.Second)
	w.queue.Send(t.Context(), []handler.Message{{Body: w.queue.messages[0].body}})
	collected, err := w.deliver(deciding(t.Context(), fates(map[string]fate{"Load": throttled, "Load 2": throttled})), w.queue.receive(10))
	require.NoError(t, err)
	require.Empty(t, collected.BatchItemFailures)
	require.Len(t, w.queue.messages, 1)
	w.pass(t, time.Minute)
	w.requireEnd(t, "T1", "SUCCEEDED")
}

// A service that does not answer one call is not asked for the other jobs of the batch.
func TestCollectStopsWhereACallRunsIntoItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newCollectWorld(t, "token")
		hanging := &countedMute{mute: mute{w.service}}
		registry, err := jobs.NewRegistry(hanging)
		require.NoError(t, err)
		w.Jobs = registry
		for i := range 10 {
			w.mustStart(t, try{execution: fmt.Sprint(i), token: fmt.Sprint("T", i), request: request})
		}
		w.advance(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err = w.deliver(ctx, w.queue.receive(10))
		require.NoError(t, err)
		require.LessOrEqual(t, hanging.calls.Load(), int32(4), "those that were under way")
		require.Len(t, w.queue.messages, 10)
	})
}

type countedMute struct {
	mute

	calls atomic.Int32
}

func (m *countedMute) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	m.calls.Add(1)
	return m.mute.Describe(ctx, ref)
}

// What panics for one job fails its message alone. Jobs that are described together are
// described one by one then.
func TestCollectContainsPanics(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"FindRecord", "Load", "Describe", "DescribeBatch", "Replace 2", "Answer"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w := newCollectWorld(t, "token", logged(&log))
			w.endsAt(0, stateDone)
			n := 4
			for i := range n {
				w.mustStart(t, try{execution: fmt.Sprint(i), token: fmt.Sprint("T", i), request: request})
			}
			if op == "FindRecord" {
				w.queue.Send(t.Context(), []handler.Message{{Body: eventOf("job-1")}})
			}
			if op == "Describe" { // of a job that is described alone
				registry, err := jobs.NewRegistry(struct{ jobs.Driver }{w.service})
				require.NoError(t, err)
				w.Jobs = registry
			}
			var panicked atomic.Bool
			ctx := deciding(t.Context(), func(called string) fate {
				if called == strings.TrimSuffix(op, " 2") && !panicked.Swap(true) {
					panic("secret text")
				}
				return goesWell
			})
			var messages []*queued
			for _, m := range w.queue.messages {
				m.at = w.clock.Now()
			}
			messages = w.queue.receive(10)
			type record = map[string]string
			var records []record
			for _, m := range messages {
				records = append(records, record{"messageId": m.id, "body": m.body})
			}
			collected, err := w.Collect(ctx, []byte(jsonOf(t, map[string]any{"Records": records})))
			require.NoError(t, err)
			failed := 1
			if op == "DescribeBatch" {
				failed = 0
			}
			require.Len(t, collected.BatchItemFailures, failed)
			require.Len(t, w.tasks.ends, map[bool]int{true: n, false: n - failed}[op == "FindRecord"])
			require.Contains(t, log.String(), `"stack":"goroutine `)
			require.NotContains(t, log.String(), "secret text")
		})
	}
}
