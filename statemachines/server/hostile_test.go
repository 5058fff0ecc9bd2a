package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// brokenJournal takes so many records.
type brokenJournal struct {
	mu   sync.Mutex
	left int
}

var errFull = errors.New("the disk is full")

func (j *brokenJournal) Append([]byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.left--; j.left < 0 {
		return errFull
	}
	return nil
}

func (*brokenJournal) Records(func(int, []byte) error) error { return nil }

// A server whose journal takes nothing more answers every request that it cannot keep
// with a failure of its own.
func TestBrokenJournal(t *testing.T) {
	t.Parallel()
	clock := manual()
	j := &brokenJournal{left: 1000}
	s, err := server.Open(server.Options{Clock: clock, Journal: j})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	e := &endpoint{s, t, clock}
	machine := e.create("m", waitHour)
	e.call("StopExecution", object{"executionArn": e.start(machine, object{"name": "ended"})})
	e.pass(100 * 24 * time.Hour)
	runs, stopped := e.start(machine), e.start(machine)
	e.call("StopExecution", object{"executionArn": stopped})
	j.mu.Lock()
	j.left = 0
	j.mu.Unlock()
	for operation, input := range map[string]object{
		"StartExecution":     {"stateMachineArn": machine, "name": "new"},
		"StopExecution":      {"executionArn": runs},
		"RedriveExecution":   {"executionArn": stopped},
		"CreateStateMachine": {"name": "n", "definition": waitHour, "roleArn": role},
	} {
		status, out := send(t, e.Server, operation, text(t, input))
		require.Equal(t, http.StatusServiceUnavailable, status, "%s: %v", operation, out)
	}
	status, _ := send(t, e.Server, "StartExecution", text(t, object{"stateMachineArn": machine, "name": "ended"}))
	require.NotEqual(t, http.StatusOK, status)
	require.Equal(t, "RUNNING", e.describe(runs)["status"])
}

// Requests of all kinds at the same time, on a clock that somebody moves and changes, until
// the server is closed in their middle: each is answered.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	clock := manual()
	var log bytes.Buffer // the server's own faults: a request that Close cuts is none
	s := server.New(server.Options{Clock: clock, KeepExecutions: 5, Log: slog.New(slog.NewTextHandler(&log, nil))})
	e := &endpoint{s, t, clock}
	e.call("CreateActivity", object{"name": "work"})
	const account = ":eu-west-1:111111111111:"
	child := e.create("child", waitHour)
	machines := []string{
		child, e.create("work", work), e.create("failing", failing),
		e.create("sync", parent("states:startExecution.sync:2", `{"StateMachineArn":"`+child+`","Name":"c","Input":{}}`)),
		e.create("calls", parent("aws-sdk:sfn:getActivityTask", `{"ActivityArn":"arn:aws:states`+account+`activity:work"}`)),
		e.create("map", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ToleratedFailurePercentage":50,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
			"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states`+account+`activity:work","TimeoutSeconds":9,"End":true}}}}}}`),
		e.create("express", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"EXPRESS"},
			"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":30,"Next":"F"},"F":{"Type":"Fail"}}}}}}`),
	}
	c := &crowd{endpoint: e, machines: machines, known: map[string][]string{}}
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for range 300 {
				c.answers.Add(1)
				c.ask(random)
			}
		})
	}
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		defer s.Close()
		for random := rand.New(rand.NewPCG(9, 9)); c.answers.Load() < 2000; {
			c.move(random)
		}
	}()
	<-moved
	answered := make(chan struct{})
	go func() {
		all.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(30 * time.Second):
		t.Fatal("a request waits without end")
	}
	require.NotContains(t, log.String(), "panic")
	for _, arn := range c.known["execution"] { // whatever happened, the history is whole
		if x := s.World().Execution(arn); x != nil {
			requireWhole(t, x)
		}
	}
}

// crowd are clients that ask a server for everything.
type crowd struct {
	*endpoint

	machines []string
	answers  atomic.Int64
	mu       sync.Mutex
	known    map[string][]string
}

func (c *crowd) learn(kind string, of any) {
	if text, ok := of.(string); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.known[kind] = append(c.known[kind], text)
	}
}

func (c *crowd) one(random *rand.Rand, kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known[kind]) == 0 {
		return "none"
	}
	return c.known[kind][random.IntN(len(c.known[kind]))]
}

// ask makes a request, which may be refused.
func (c *crowd) ask(random *rand.Rand) {
	send := func(operation string, input object) object {
		_, out := send(c.t, c.Server, operation, text(c.t, input))
		return out
	}
	x := object{"executionArn": c.one(random, "execution")}
	machine := object{"stateMachineArn": c.machines[random.IntN(len(c.machines))]}
	token := object{"taskToken": c.one(random, "token")}
	switch random.IntN(13) {
	case 0, 1, 2, 3:
		machine["name"], machine["input"] = fmt.Sprint("x", random.IntN(40)), `[1,2,3]`
		c.learn("execution", send("StartExecution", machine)["executionArn"])
	case 4:
		send("StopExecution", x)
	case 5:
		send("RedriveExecution", x)
	case 6:
		send("GetExecutionHistory", x)
		c.askMapRuns(send, x)
	case 7:
		if run := c.World().Execution(x["executionArn"].(string)); run != nil {
			for _, at := range run.Snapshot().Current {
				c.learn("token", at.Token)
			}
		}
		send("DescribeExecution", x)
	case 8:
		token["output"] = "{}"
		send("SendTaskSuccess", token)
	case 9:
		send("SendTaskFailure", token)
	case 10:
		send("SendTaskHeartbeat", token)
	case 11:
		send("ListExecutions", machine)
	case 12:
		machine["roleArn"] = role + fmt.Sprint(random.IntN(5))
		send("UpdateStateMachine", machine)
	}
}

func (c *crowd) askMapRuns(send func(string, object) object, x object) {
	runs, _ := send("ListMapRuns", x)["mapRuns"].([]any)
	for _, run := range runs {
		children, _ := send("ListExecutions", object{"mapRunArn": run.(object)["mapRunArn"]})["executions"].([]any)
		for _, child := range children {
			c.learn("execution", child.(object)["executionArn"])
		}
	}
}

// move moves the clock or changes its pace. It never goes back.
func (c *crowd) move(random *rand.Rand) {
	before := c.clock.Now()
	switch random.IntN(4) {
	case 0:
		c.clock.SetVirtual()
	case 1:
		_ = c.clock.SetFactor(float64(random.IntN(3)) * 1000)
	default:
		_ = c.clock.Advance(c.t.Context(), before.Add(time.Duration(random.IntN(1000))*time.Second))
	}
	if now := c.clock.Now(); now.Before(before) {
		c.t.Errorf("the clock goes back from %s to %s", before, now)
	}
}

// requireWhole checks that the events of an execution follow each other.
func requireWhole(t *testing.T, x *sim.Execution) {
	t.Helper()
	events := x.Events(0, 0)
	require.Equal(t, sim.ExecutionStarted, events[0].Type)
	for i, event := range events {
		require.Equal(t, int64(i+1), event.ID)
		require.Less(t, event.PreviousEventID, event.ID)
		if i > 0 {
			require.False(t, event.Timestamp.Before(events[i-1].Timestamp), "%s: event %d", x.ARN(), event.ID)
		}
	}
}
