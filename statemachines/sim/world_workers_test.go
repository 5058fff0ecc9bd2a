package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A worker that is long at one execution keeps no other from going on: neither those in
// the queue nor those that it has taken.
func TestWorkersHelpALongOne(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]func() *sim.Clock{
		"real": sim.NewRealClock, "virtual": func() *sim.Clock { return sim.NewVirtualClock(sim.DefaultStart()) },
	} {
		for _, many := range []int{2, 3, 64, 500} {
			t.Run(fmt.Sprint(name, " ", many), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var others sync.WaitGroup
					others.Add(many - 1)
					var long atomic.Bool
					w := sim.NewWorld(sim.WorldOptions{
						Clock: clock(), Workers: 2,
						OnEvent: func(_ *sim.Execution, e *sim.Event) {
							switch {
							case e.Type != "WaitStateExited":
							case long.CompareAndSwap(false, true):
								others.Wait()
							default:
								others.Done()
							}
						},
					})
					defer w.Close()
					release := stand(w.Clock()) // so that all wait for the same instant
					m := parse(t, waits)
					for i := range many {
						e, err := w.Start(m, nil, sim.Options{Execution: fmt.Sprint(i)})
						require.NoError(t, err)
						defer func() { <-e.Done() }()
					}
					release()
				})
			})
		}
	}
}

// What many executions do at one instant is counted in full before the clock jumps.
func TestClockJumpsBehindAllWorkers(t *testing.T) {
	t.Parallel()
	const many, turns = 200, 20
	m := parse(t, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "Next": "V"}, "V": {"Type": "Choice", "Choices": [{"Variable": "$.end", "IsPresent": true, "Next": "Z"}], "Default": "W"}, "Z": {"Type": "Succeed"}}, "TimeoutSeconds": 20}`)
	var mu sync.Mutex
	last := time.Time{}
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), Workers: 2, OnEvent: func(_ *sim.Execution, e *sim.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Timestamp.Before(last) {
			t.Errorf("%s at %s behind %s", e.Type, e.Timestamp, last)
		}
		last = e.Timestamp
	}})
	stop := stand(w.Clock())
	all := make([]*sim.Execution, many)
	for i := range all {
		var err error
		all[i], err = w.Start(m, nil, sim.Options{Execution: fmt.Sprint(i)})
		require.NoError(t, err)
	}
	stop()
	for _, e := range all {
		<-e.Done()
		require.Equal(t, at(turns), e.Result().Stop)
	}
}

// stand keeps a virtual clock where it stands.
func stand(c *sim.Clock) (release func()) {
	released := make(chan struct{})
	c.AfterFunc(0, func() { <-released })
	return func() { close(released) }
}

// A call whose Task had ended when the World did is not made again.
func TestReplayOfACallWhoseTaskHadEnded(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "TimeoutSeconds": 5,
		"Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "A"}], "Next": "A"}, "A": {"Type": "Wait", "Seconds": 99999999, "Next": "B"}, "B": {"Type": "Wait", "Seconds": 60, "End": true}}}`)
	fast, err := sim.NewClock(sim.DefaultStart(), 1000)
	require.NoError(t, err)
	journal, waits := &memory{}, make(chan struct{})
	w := newWorld(t, sim.WorldOptions{Clock: fast, Journal: journal, OnEvent: func(_ *sim.Execution, e *sim.Event) {
		if e.Type == "WaitStateEntered" && e.Details().Name == "A" {
			close(waits)
		}
	}})
	closed := make(chan struct{}) // the call is in flight until the World is closed
	x, err := w.Start(m, nil, sim.Options{Handler: func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
		<-closed
		return sim.Reply{}, ctx.Err()
	}})
	require.NoError(t, err)
	<-waits
	require.NoError(t, x.SkipWait("")) // which the journal tells of
	go func() {
		<-w.Done()
		close(closed)
	}()
	w.Close()

	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	after := newWorld(t, sim.WorldOptions{Clock: clock})
	for _, record := range journal.all() {
		err := after.Replay(record, func(o *sim.Options) (*asl.StateMachine, error) {
			o.Handler = func(context.Context, sim.Call) (sim.Reply, error) {
				t.Error("the handler is called again")
				return sim.Reply{}, nil
			}
			return m, nil
		})
		require.NoError(t, err)
	}
	after.Resume()
	require.NoError(t, clock.Advance(t.Context(), clock.Now().Add(time.Hour)))
	require.Equal(t, sim.StatusSucceeded, after.Execution(x.ARN()).Status())
}

// A record that is older than what the execution has done does not turn its time back.
func TestReplayOfAnOldRecord(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	journal := &memory{}
	w := newWorld(t, sim.WorldOptions{Clock: clock, Journal: journal})
	x := start(t, w, waits, `{}`, sim.Options{})
	require.NoError(t, clock.Advance(t.Context(), at(30)))
	_, err = x.Stop("E", "c")
	require.NoError(t, err)

	after := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	for _, record := range journal.all() {
		record = bytes.ReplaceAll(record, []byte("2026-01-01T00:00:30"), []byte("2025-01-01T00:00:30"))
		err := after.Replay(record, func(*sim.Options) (*asl.StateMachine, error) { return parse(t, waits), nil })
		require.NoError(t, err)
	}
	after.Resume()
	require.Equal(t, sim.StatusAborted, after.Execution(x.ARN()).Status())
	require.Equal(t, sim.DefaultStart(), after.Execution(x.ARN()).Result().Stop)
}
