package sim

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const sends = `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",
	"Parameters":{"QueueUrl":"q","MessageBody.$":"$$.Task.Token"},"TimeoutSeconds":60,"End":true}}}`

// startSends starts an execution whose Task waits for a token, and returns its call.
func startSends(t *testing.T, w *World, name string) (*Execution, Call) {
	t.Helper()
	m, err := asl.Parse([]byte(sends))
	require.NoError(t, err)
	calls := make(chan Call, 1)
	x, err := w.Start(m, nil, Options{Execution: name, Handler: func(_ context.Context, call Call) (Reply, error) {
		calls <- call
		return Reply{Never: true}, nil
	}})
	require.NoError(t, err)
	return x, <-calls
}

func manualWorld(t *testing.T) (*World, *Clock) {
	t.Helper()
	clock, err := NewClock(DefaultStart(), 0)
	require.NoError(t, err)
	w := NewWorld(WorldOptions{Clock: clock})
	t.Cleanup(w.Close)
	return w, clock
}

// A World forgets the attempt of a token, and with it the execution, however it ended.
func TestTokensAreForgotten(t *testing.T) {
	t.Parallel()
	w, clock := manualWorld(t)
	ends := map[string]func(x *Execution, call Call) error{
		"answered": func(_ *Execution, call Call) error { return w.SendTaskSuccess(call.TaskToken, []byte(`1`)) },
		"failed":   func(_ *Execution, call Call) error { return w.SendTaskFailure(call.TaskToken, "E", "") },
		"stopped":  func(x *Execution, _ Call) error { _, err := x.Stop("", ""); return err },
		"late": func(*Execution, Call) error {
			return clock.Advance(t.Context(), clock.Now().Add(2*time.Minute))
		},
	}
	for name, end := range ends {
		x, call := startSends(t, w, name)
		require.NoError(t, end(x, call))
		<-x.Done()
		w.tasks.mu.Lock()
		require.Empty(t, w.tasks.waiting, name)
		w.tasks.mu.Unlock()
	}
}

// Of the answers of a handler the first counts, and only that is told so: also where many
// come at once.
func TestOneAnswerCounts(t *testing.T) {
	t.Parallel()
	w, _ := manualWorld(t)
	for i := range 20 {
		x, call := startSends(t, w, fmt.Sprint(i))
		var waited atomic.Int64
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				if call.Answer(Reply{Output: n}, nil) {
					waited.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, waited.Load())
		<-x.Done()
		require.Equal(t, StatusSucceeded, x.Status())
		require.False(t, call.Answer(Reply{}, nil), "nothing waits any more")
	}
	x, call := startSends(t, w, "stopped")
	_, err := x.Stop("", "")
	require.NoError(t, err)
	require.False(t, call.Answer(Reply{}, nil))
}

// The API of a resource serves one question at a time.
func TestMachineDataIsShared(t *testing.T) {
	t.Parallel()
	m := newMachineData()
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 50 {
				task := &asl.Task{Resource: fmt.Sprintf("arn:aws:lambda:us-east-1:123456789012:function:f%d", i)}
				err := m.ask(task, nil, func(*typecheck.API) {
					if n := inside.Add(1); n > 1 {
						most.Store(n)
					}
					runtime.Gosched()
					inside.Add(-1)
				})
				require.NoError(t, err)
			}
		})
	}
	all.Wait()
	require.Zero(t, most.Load(), "questions at once")
}
