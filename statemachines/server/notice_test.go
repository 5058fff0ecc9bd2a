package server_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A subscription has the events of an execution in order, and counts those that a slow
// reader loses.
func TestSubscription(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	fast, slow := e.Subscribe(100, nil), e.Subscribe(1, nil)
	ends := e.Subscribe(1, func(n *server.Notice) bool { return n.Status == sim.StatusSucceeded })
	defer fast.Close()
	x := e.start(e.create("m", waitHour))
	e.wait(x)
	var types []sim.EventType
	var statuses []sim.Status
	for range 4 {
		n := <-fast.C
		require.Equal(t, x, n.Execution.ARN())
		types = append(types, n.Event.Type)
		if n.Status != "" {
			statuses = append(statuses, n.Status)
		}
	}
	require.Equal(t, []sim.EventType{sim.ExecutionStarted, "WaitStateEntered", "WaitStateExited", sim.ExecutionSucceeded}, types)
	require.Equal(t, []sim.Status{sim.StatusRunning, sim.StatusSucceeded}, statuses)
	require.Zero(t, fast.Lost())
	require.Equal(t, sim.ExecutionStarted, (<-slow.C).Event.Type)
	require.Equal(t, 3, slow.Lost())
	require.Zero(t, slow.Lost(), "said once")
	require.Equal(t, sim.ExecutionSucceeded, (<-ends.C).Event.Type)
	require.Zero(t, ends.Lost())

	e.wait(e.start(e.create("m", waitHour)))
	require.Equal(t, sim.ExecutionStarted, (<-slow.C).Event.Type, "it goes on")
	require.Equal(t, 3, slow.Lost())
	for _, s := range []*server.Subscription{slow, ends} {
		s.Close()
		for range s.C { // to its end
		}
	}
}

// Who was told of a start asked for the execution, and there was none: it was stored when
// the start returned, behind its events.
func TestAnEventTellsWhatIsStored(t *testing.T) {
	t.Parallel()
	const starts = 100
	e := startServer(t, virtual(), nil)
	m := e.create("m", pass)
	statuses := make(chan int, starts)
	events := e.Subscribe(1, func(n *server.Notice) bool {
		if n.Event.Type == sim.ExecutionStarted {
			x := n.Execution.ARN()
			asked := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"executionArn": "`+x+`"}`))
			asked.Header.Set("X-Amz-Target", "AWSStepFunctions.DescribeExecution")
			asked.Header.Set("Authorization", signed)
			go func() {
				answer := httptest.NewRecorder()
				e.ServeHTTP(answer, asked)
				status := answer.Code
				if _, shown := e.PageWorld().Run(x); !shown {
					status = http.StatusNotFound
				}
				statuses <- status
			}()
			for range 1000 { // so that it asks before the start returns
				runtime.Gosched()
			}
		}
		return false
	})
	defer events.Close()
	for range starts {
		e.start(m)
		require.Equal(t, http.StatusOK, <-statuses)
	}
}
