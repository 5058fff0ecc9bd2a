package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// TestWorldClosedDuringAdvance closes a World while Advance works on its executions,
// which call their handlers without end.
func TestWorldClosedDuringAdvance(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "Next": "W"},
		"W": {"Type": "Wait", "Seconds": 1, "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Variable": "$.end", "IsPresent": true, "Next": "S"}], "Default": "T"}, "S": {"Type": "Succeed"}}}`
	for range 20 {
		clock, err := sim.NewClock(sim.DefaultStart(), 0)
		require.NoError(t, err)
		w := sim.NewWorld(sim.WorldOptions{Clock: clock})
		var calls atomic.Int64
		called := make(chan struct{})
		var once sync.Once
		h := func(context.Context, sim.Call) (sim.Reply, error) {
			if calls.Add(1) > 50 {
				once.Do(func() { close(called) })
			}
			return sim.Reply{Output: map[string]any{}}, nil
		}
		for i := range 4 {
			start(t, w, definition, `{}`, sim.Options{Execution: fmt.Sprint(i), Handler: h})
		}
		ctx, cancel := context.WithCancel(t.Context())
		var advance sync.WaitGroup
		for range 3 {
			advance.Go(func() { _ = clock.Advance(ctx, at(1e6)) })
		}
		<-called
		w.Close()
		atEnd := calls.Load()
		cancel()
		advance.Wait()
		require.Equal(t, atEnd, calls.Load(), "a handler was called after Close")
	}
}

// TestAdvancesAtTheSameTime has several goroutines advance a clock, while others ask
// executions: each question is answered.
func TestAdvancesAtTheSameTime(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock, Workers: 1})
	held := make(chan struct{})
	h := func(context.Context, sim.Call) (sim.Reply, error) {
		<-held
		return sim.Reply{Output: map[string]any{}}, nil
	}
	const definition = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}}}`
	start(t, w, definition, `{}`, sim.Options{Execution: "holds", Handler: h})
	var advances sync.WaitGroup
	for i := range 4 {
		advances.Go(func() { _ = clock.Advance(t.Context(), at(float64(60*(i+1)))) })
	}
	for i := range 200 {
		e := start(t, w, waits, `{}`, sim.Options{Execution: fmt.Sprint(i)})
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			_, _ = e.Stop("", "")
		}()
		select {
		case <-stopped:
		case <-time.After(20 * time.Second):
			t.Fatal("nobody stops the execution ", i)
		}
	}
	close(held)
	advances.Wait()
}

// TestAnsweredTooEarly has a Task answered whose handler does not return: it times out.
func TestAnsweredTooEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld(sim.WorldOptions{})
		defer w.Close()
		called := make(chan string, 1)
		h := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			called <- call.TaskToken
			<-ctx.Done()
			return sim.Reply{}, ctx.Err()
		}
		const definition = `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + tokenResource + `", "TimeoutSeconds": 100,
			"Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "End": true}}}`
		e := start(t, w, definition, `{}`, sim.Options{Handler: h})
		require.NoError(t, w.SendTaskSuccess(<-called, []byte(`{}`)))
		<-time.After(99 * time.Second)
		require.Equal(t, sim.StatusRunning, e.Status())
		<-time.After(2 * time.Second)
		synctest.Wait()
		require.Equal(t, sim.StatusFailed, e.Status())
		require.Equal(t, "States.Timeout", e.Result().Error)
	})
}

// TestForgottenTokens replays an execution that had a token and is forgotten, before
// one that waits for its token: a virtual clock waits for that.
func TestForgottenTokens(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + tokenResource + `", "TimeoutSeconds": 100,
		"Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "End": true}}}`
	m := parse(t, definition)
	h := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Never: true}, nil }
	var journal memory
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock, Journal: &journal})
	for _, name := range []string{"a", "b"} {
		e, err := w.Start(m, nil, sim.Options{Execution: name, Handler: h})
		require.NoError(t, err)
		require.NoError(t, clock.Advance(t.Context(), clock.Now()))
		if name == "a" {
			require.NoError(t, w.SendTaskSuccess(e.Snapshot().Current[0].Token, []byte(`{}`)))
			require.NoError(t, clock.Advance(t.Context(), clock.Now()))
			require.True(t, w.Forget(e.ARN()))
		}
	}
	again := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	for _, record := range journal.all() {
		err := again.Replay(record, func(o *sim.Options) (*asl.StateMachine, error) {
			o.Handler = h
			return m, nil
		})
		require.NoError(t, err)
	}
	again.Resume()
	require.Equal(t, 1, again.Clock().State().Tokens)
}

// TestReplyTooLargeForTheJournal has a Task fail whose reply a journal does not take. The
// World goes on.
func TestReplyTooLargeForTheJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), Journal: &memory{}})
	h := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: strings.Repeat("x", 64<<20)}, nil
	}
	const definition = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}}}`
	e := start(t, w, definition, `{}`, sim.Options{Handler: h, Lenient: true})
	<-e.Done()
	require.Contains(t, e.Result().Cause, "a journal takes 67108864")
	<-start(t, w, waits, `{}`, sim.Options{Execution: "other"}).Done()
}
