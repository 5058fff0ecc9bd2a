package handler_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// A service may not know a job, or throttle.
func TestCollectWhenServicesRefuse(t *testing.T) {
	t.Parallel()
	t.Run("the job is not in the answer for many", func(t *testing.T) {
		t.Parallel()
		w := newCollectWorld(t, "token")
		missing := &smithy.GenericAPIError{Code: "EntityNotFoundException", Message: "no such job", Fault: smithy.FaultClient}
		w.service.timeline = func(id string) (any, error) {
			if id == "job-2" {
				return nil, missing
			}
			return stateDone, nil
		}
		w.mustStart(t, try{execution: "1", token: "T1", request: request})
		w.mustStart(t, try{execution: "2", token: "T2", request: request})
		w.pass(t, 0)
		require.Equal(t, []int{2}, w.service.batches)
		require.Equal(t, 1, w.service.describes, "the one that is missing is asked for alone")
		require.Len(t, w.tasks.ends, 2)
		ended := map[string]string{w.tasks.ends[0].token: w.tasks.ends[0].output, w.tasks.ends[1].token: w.tasks.ends[1].output}
		require.Contains(t, ended["T1"], `"status":"SUCCEEDED"`)
		require.Contains(t, ended["T2"], `"status":"FAILED"`)
		require.Contains(t, ended["T2"], "EntityNotFoundException")
	})
	t.Run("the call for many jobs is refused", func(t *testing.T) {
		t.Parallel()
		w := newCollectWorld(t, "token")
		w.endsAt(0, stateDone)
		w.mustStart(t, try{execution: "1", token: "T1", request: request})
		w.mustStart(t, try{execution: "2", token: "T2", request: request})
		_, err := w.deliver(deciding(t.Context(), fates(map[string]fate{"DescribeBatch": refused})), w.queue.receive(10))
		require.NoError(t, err)
		require.Equal(t, 2, w.service.describes)
		require.Len(t, w.tasks.ends, 2)
	})
	t.Run("the service throttles the account", func(t *testing.T) {
		t.Parallel()
		for _, op := range []string{"DescribeBatch", "Describe"} {
			w := newCollectWorld(t, "token")
			w.endsAt(0, stateDone)
			n := 7
			if op == "Describe" {
				n = 1
			}
			for i := range n {
				w.mustStart(t, try{execution: fmt.Sprint(i), token: fmt.Sprint("T", i), request: request})
			}
			calls := 0
			collected, err := w.deliver(deciding(t.Context(), func(call string) fate {
				if !strings.HasPrefix(call, "Describe") {
					return goesWell
				}
				calls++
				return throttled
			}), w.queue.receive(10))
			require.NoError(t, err)
			require.Empty(t, collected.BatchItemFailures)
			require.LessOrEqual(t, calls, 2, "the others are not asked for")
			require.Len(t, w.queue.messages, n)
			require.Zero(t, w.record(t, try{execution: "0"}.key()).Callback.Attempt)
			w.pass(t, 29*time.Second)
			require.Empty(t, w.tasks.ends)
			w.pass(t, time.Minute)
			require.Len(t, w.tasks.ends, n)
			require.Contains(t, w.tasks.ends[0].output, `"attempt":1,`)
		}
	})
	t.Run("the service throttles the call for an event", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		require.NoError(t, w.announce(deciding(t.Context(), fates(map[string]fate{"Describe": throttled})), "job-1"))
		require.Empty(t, w.tasks.ends)
		require.NotContains(t, w.queue.messages[1].body, testSource, "it is a message of the wait")
		require.Equal(t, 1, w.record(t, key).Callback.Attempt)
		w.pass(t, time.Minute)
		require.Less(t, lateness(w.requireEnd(t, "T1", "SUCCEEDED")), 61.0)
	})
	t.Run("the service never answers again", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.service.timeline = func(string) (any, error) { return nil, errThrottled }
		w.pass(t, 3*time.Hour)
		require.Len(t, w.tasks.ends, 1)
		require.Equal(t, handler.ErrorServiceUnavailable, w.tasks.ends[0].name)
		require.Empty(t, w.queue.messages)
	})
}

// The Task may wait no more, or again.
func TestCollectWhenTasksGo(t *testing.T) {
	t.Parallel()
	t.Run("the token has timed out", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		w := newWaitingWorld(t, metered(&out))
		w.tasks.abandon("T1")
		w.pass(t, time.Hour)
		require.Empty(t, w.tasks.ends)
		require.Equal(t, 1, w.tasks.gone)
		require.Contains(t, out.String(), `"TasksGone":1`)
		require.Empty(t, w.queue.messages)
		require.Equal(t, startrecord.StatusSucceeded, w.record(t, key).Status)
	})
	t.Run("the execution is stopped and redriven while the job runs", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.endsAt(time.Hour, stateDone)
		w.tasks.abandon("T1")
		w.pass(t, 10*time.Minute)
		w.mustStart(t, try{token: "T2", request: slowRequest, redrive: 1, redrivenAt: w.clock.Now()})
		w.pass(t, time.Hour)
		w.requireEnd(t, "T2", "SUCCEEDED")
		require.Zero(t, w.tasks.gone)
		require.Equal(t, 1, w.service.count())
	})
	t.Run("the execution is redriven after the end", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.tasks.abandon("T1")
		w.pass(t, time.Hour)
		w.mustStart(t, try{token: "T2", request: slowRequest, redrive: 1, redrivenAt: w.clock.Now()})
		described := w.service.describes
		w.pass(t, 0)
		w.requireEnd(t, "T2", "SUCCEEDED")
		require.Equal(t, described, w.service.describes)
	})
	t.Run("the Task is tried again after an event has told of the end", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.tasks.abandon("T1")
		require.NoError(t, w.announce(t.Context(), "job-1"))
		w.mustStart(t, try{token: "T2", request: slowRequest, retry: 1})
		w.pass(t, 0)
		w.requireEnd(t, "T2", "SUCCEEDED")
	})
	t.Run("the execution is redriven after a time-out", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.endsAt(5*time.Hour, stateDone)
		w.pass(t, 3*time.Hour)
		require.Contains(t, w.tasks.ends[0].output, `"status":"TIMED_OUT"`)
		w.tasks.ends = nil
		w.mustStart(t, try{token: "T2", request: slowRequest, redrive: 1, redrivenAt: w.clock.Now()})
		w.pass(t, 3*time.Hour)
		result := w.requireEnd(t, "T2", "SUCCEEDED")
		require.Less(t, result["elapsedSeconds"], 7201.0, "the wait counts anew")
		require.Less(t, result["attempt"], 12.0)
	})
	t.Run("the answer is throttled", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.advance(900 * time.Second)
		collected, err := w.deliver(deciding(t.Context(), fates(map[string]fate{"Answer": throttled})), w.queue.receive(1))
		require.NoError(t, err)
		require.Empty(t, collected.BatchItemFailures)
		described := w.service.describes
		w.pass(t, time.Hour)
		w.requireEnd(t, "T1", "SUCCEEDED")
		require.Equal(t, described, w.service.describes, "the record has the result")
	})
	t.Run("a message is lost for good", func(t *testing.T) {
		t.Parallel()
		w := newWaitingWorld(t)
		w.queue.messages = nil
		w.tasks.abandon("T1") // the machine's time limit
		w.pass(t, time.Hour)
		w.mustStart(t, try{token: "T2", request: slowRequest, retry: 1})
		w.pass(t, 0)
		w.requireEnd(t, "T2", "SUCCEEDED")
	})
	t.Run("the record is gone", func(t *testing.T) {
		t.Parallel()
		w := newCollectWorld(t, "token")
		require.Equal(t, []error{nil}, w.queue.Send(t.Context(), []handler.Message{{Body: `{"executionArn": "` + arn + `", "poller": "default", "number": 1, "id": "x"}`}}))
		w.drain(t, w.clock.Now().Add(2*time.Hour))
		require.Empty(t, w.queue.messages)
		require.Len(t, w.queue.dead, 1, "a store that answers late does not lose it, and a person can send it again")
	})
}

// Doubled messages die out, also when they are handled at the same time.
func TestCollectDoubles(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.mustStart(t, first)
	body := w.queue.messages[0].body
	for range 3 {
		w.queue.Send(t.Context(), []handler.Message{{Body: body}})
	}
	// Four invocations read the record before any of them writes it.
	read, proceed := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	for _, m := range w.queue.receive(10) {
		go func() {
			n := 0
			_, err := w.deliver(deciding(context.Background(), func(op string) fate {
				if n++; op == "Describe" && n > 0 {
					read <- struct{}{}
					<-proceed
				}
				return goesWell
			}), []*queued{m})
			done <- err
		}()
	}
	for range 4 {
		<-read
	}
	close(proceed)
	for range 4 {
		require.NoError(t, <-done)
	}
	// One of the four messages that they have left is valid, and the first is old.
	require.Len(t, w.queue.messages, 4)
	w.queue.Send(t.Context(), []handler.Message{{Body: body}})
	valid := w.record(t, key).Callback.MessageID
	described := w.service.describes
	for _, m := range slices.Clone(w.queue.messages) {
		if !strings.Contains(m.body, valid) {
			_, err := w.deliver(t.Context(), []*queued{m})
			require.NoError(t, err)
		}
	}
	require.Len(t, w.queue.messages, 1)
	require.Equal(t, described, w.service.describes)
	w.endsAt(time.Minute, stateDone)
	w.pass(t, time.Hour)
	w.requireEnd(t, "T1", "SUCCEEDED")
}
