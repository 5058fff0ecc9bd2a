package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

func newWorld(t *testing.T, o sim.WorldOptions) *sim.World {
	t.Helper()
	w := sim.NewWorld(o)
	t.Cleanup(w.Close)
	return w
}

func start(t *testing.T, w *sim.World, definition, input string, o sim.Options) *sim.Execution {
	t.Helper()
	e, err := w.Start(parse(t, definition), []byte(input), o)
	require.NoError(t, err)
	return e
}

func TestWorld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	for i := range 20 {
		e := start(t, w, waits, `{"a": 1}`, sim.Options{Execution: fmt.Sprint(i)})
		require.Same(t, e, w.Execution(e.ARN()))
		<-e.Done()
		r := e.Result()
		require.Equal(t, sim.StatusSucceeded, r.Status)
		require.Equal(t, time.Minute, r.Duration())
		require.Len(t, e.Events(0, 0), 6)
		require.Equal(t, int64(3), e.Events(2, 2)[0].ID)
		require.Len(t, e.Events(2, 2), 2)
	}
	_, err := w.Start(parse(t, waits), nil, sim.Options{Execution: "0"})
	require.ErrorIs(t, err, sim.ErrExecutionExists)
}

func TestWorldManual(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock})
	e := start(t, w, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 86400, "Next": "V"}, "V": {"Type": "Wait", "Seconds": 60, "End": true}}}`, `{"a": 1}`, sim.Options{})
	require.NoError(t, clock.Advance(t.Context(), clock.Now()))
	s := e.Snapshot()
	require.Equal(t, sim.StatusRunning, s.Status)
	require.Equal(t, "W", s.Current[0].State)
	require.Equal(t, at(86400), s.Current[0].Until)
	require.JSONEq(t, `{"a": 1}`, string(s.Input))
	require.NoError(t, clock.Advance(t.Context(), at(86399)))
	require.Equal(t, "W", e.Snapshot().Current[0].State)
	require.NoError(t, clock.Advance(t.Context(), at(86400)))
	require.Equal(t, "V", e.Snapshot().Current[0].State)
	require.ErrorIs(t, e.SkipWait("W"), sim.ErrNoWait)
	require.NoError(t, e.SkipWait("V"))
	<-e.Done()
	require.Equal(t, at(86400), e.Result().Stop)
}

func TestWorldTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld(sim.WorldOptions{})
		defer w.Close()
		h := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Submitted: "m", Never: true}, nil }
		const definition = `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + sendMessage + `", "TimeoutSeconds": 100, "HeartbeatSeconds": 10,
			"Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "End": true}}}`
		o := sim.Options{Handlers: map[string]sim.Handler{sendMessage: h}}
		e := start(t, w, definition, `{}`, o)
		synctest.Wait()
		token := e.Snapshot().Current[0].Token
		for range 3 {
			<-time.After(9 * time.Second)
			require.NoError(t, w.SendTaskHeartbeat(token))
		}
		require.ErrorIs(t, w.SendTaskSuccess(token, []byte(`{`)), sim.ErrInvalidOutput)
		require.ErrorIs(t, w.SendTaskSuccess("x", []byte(`{}`)), sim.ErrInvalidToken)
		require.NoError(t, w.SendTaskSuccess(token, []byte(`{"b": 2}`)))
		require.ErrorIs(t, w.SendTaskSuccess(token, []byte(`{}`)), sim.ErrTaskTimedOut)
		<-e.Done()
		require.JSONEq(t, `{"b": 2}`, string(e.Result().Output))
		require.Equal(t, 27*time.Second, e.Result().Duration())

		o.Execution = "late"
		e = start(t, w, definition, `{}`, o)
		<-e.Done()
		require.Equal(t, 10*time.Second, e.Result().Duration())
		require.Equal(t, "States.Timeout", e.Result().Error)
	})
}

func TestWorldActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	e := start(t, w, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+activity+`", "HeartbeatSeconds": 10, "End": true}}}`, `{"a": 1}`, sim.Options{})
	token, input, err := w.ActivityTask(t.Context(), activity, "me")
	require.NoError(t, err)
	require.JSONEq(t, `{"a": 1}`, string(input))
	require.NoError(t, w.SendTaskFailure(token, "E", "c"))
	<-e.Done()
	text, err := json.Marshal(e.Events(3, 1)[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"workerName":"me"`)
	require.Equal(t, "E", e.Result().Error)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	token, _, err = w.ActivityTask(ctx, activity, "me")
	require.NoError(t, err)
	require.Empty(t, token)
}

func TestWorldStopAndRedrive(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock})
	e := start(t, w, waits, `{}`, sim.Options{})
	_, err = e.Redrive()
	require.ErrorIs(t, err, sim.ErrRedriveRunning)
	require.NoError(t, clock.Advance(t.Context(), at(30)))
	done := e.Done()
	stopped, err := e.Stop("E", "c")
	require.NoError(t, err)
	<-done
	require.Equal(t, at(30), stopped)
	s := e.Snapshot()
	require.Equal(t, []any{sim.StatusAborted, "E", "c", sim.Redrivable}, []any{s.Status, s.Error, s.Cause, s.RedriveStatus})
	again, err := e.Redrive()
	require.NoError(t, err)
	require.Equal(t, at(30), again)
	require.NoError(t, clock.Advance(t.Context(), at(90)))
	<-e.Done()
	require.Equal(t, sim.StatusSucceeded, e.Status())
	require.Equal(t, at(90), e.Result().Stop)
	_, err = e.Redrive()
	require.ErrorIs(t, err, sim.ErrRedriveSucceeded)
	require.Equal(t, "Execution is SUCCEEDED and cannot be redriven", e.Snapshot().RedriveStatusReason)
}

func TestRedriveAfterAYear(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 99999999, "End": true}}}`
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock})
	timedOut, stopped := start(t, w, definition, `{}`, sim.Options{Execution: "a"}), start(t, w, definition, `{}`, sim.Options{Execution: "b"})
	require.NoError(t, clock.Advance(t.Context(), sim.DefaultStart().Add(365*24*time.Hour-time.Second)))
	_, err = stopped.Stop("", "")
	require.NoError(t, err)
	require.NoError(t, clock.Advance(t.Context(), sim.DefaultStart().Add(365*24*time.Hour)))
	require.Equal(t, sim.Redrivable, stopped.Snapshot().RedriveStatus)
	s := timedOut.Snapshot()
	require.Equal(t, []any{sim.StatusTimedOut, sim.NotRedrivable, "Execution has exceeded the max execution time"}, []any{s.Status, s.RedriveStatus, s.RedriveStatusReason})
	_, err = timedOut.Redrive()
	require.ErrorIs(t, err, sim.ErrRedriveTooLong)
}

func TestWorldMapRun(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock})
	e := start(t, w, `{"StartAt": "M", "States": {"M": {"Type": "Map", "MaxConcurrency": 2, "ToleratedFailureCount": 5, "End": true, "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": true}}}}}}`,
		`[1, 2, 3, 4, 5, 6]`, sim.Options{})
	advance := func(seconds float64) {
		t.Helper()
		require.NoError(t, clock.Advance(t.Context(), at(seconds)))
	}
	advance(0)
	m := w.MapRun(e.Snapshot().MapRuns[0])
	s := m.Snapshot()
	require.Equal(t, sim.MapRunCounts{Pending: 4, Running: 2, Total: 6}, s.Items)
	require.Equal(t, []any{e.ARN(), "M", sim.StatusRunning, 2, int64(5)}, []any{s.ExecutionARN, s.State, s.Status, s.MaxConcurrency, s.ToleratedFailureCount})
	children := m.Executions(10)
	require.Len(t, children, 2)
	require.Equal(t, s.ARN, w.Execution(children[0].ARN()).Snapshot().MapRunARN)
	require.Equal(t, "W", children[0].Snapshot().Current[0].State)
	require.Equal(t, sim.ExecutionStarted, children[0].Events(0, 1)[0].Type)

	more := 3
	require.NoError(t, m.Update(sim.MapRunUpdate{MaxConcurrency: &more}))
	require.Equal(t, 3, m.Snapshot().Items.Running)
	_, err = children[0].Stop("E", "c")
	require.NoError(t, err)
	require.Equal(t, sim.MapRunCounts{Aborted: 1, Pending: 2, Running: 3, Total: 6}, m.Snapshot().Executions)
	advance(60)
	require.Equal(t, sim.MapRunCounts{Aborted: 1, Succeeded: 3, Running: 2, Total: 6}, m.Snapshot().Items)

	var none int64
	require.NoError(t, m.Update(sim.MapRunUpdate{ToleratedFailureCount: &none}))
	<-e.Done()
	require.Equal(t, sim.StatusFailed, e.Status())
	s = m.Snapshot()
	require.Equal(t, sim.MapRunCounts{Aborted: 3, Succeeded: 3, Total: 6}, s.Items)
	require.Equal(t, sim.StatusFailed, s.Status)
	require.Equal(t, at(60), s.Stop)
	require.ErrorIs(t, m.Update(sim.MapRunUpdate{}), sim.ErrMapRunEnded)

	_, err = e.Redrive()
	require.NoError(t, err)
	advance(60)
	s = m.Snapshot()
	require.Equal(t, sim.MapRunCounts{Running: 3, Succeeded: 3, Total: 6}, s.Items)
	require.Equal(t, 1, s.RedriveCount)
	advance(120)
	<-e.Done()
	require.Equal(t, sim.StatusSucceeded, e.Status())
	require.True(t, w.Forget(e.ARN()))
	require.Nil(t, w.MapRun(s.ARN))
	require.Nil(t, w.Execution(children[0].ARN()))
}
