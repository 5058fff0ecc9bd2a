package clients_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

var kills = flag.Int("kills", 5, "TestKilled: how often the server is killed")

// asksOrWaits waits for the seconds of its input, or for an activity.
const asksOrWaits = `{"StartAt": "What?", "States": {
	"What?": {"Type": "Choice", "Choices": [{"Variable": "$.ask", "BooleanEquals": true, "Next": "Ask"}], "Default": "Wait"},
	"Wait": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Work"},
	"Work": {"Type": "Pass", "Result": "done", "End": true},
	"Ask": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:soak", "TimeoutSeconds": 7200, "End": true}}}`

// ledger is what the server has acknowledged, over all its lives.
type ledger struct {
	mu       sync.Mutex
	started  map[string]int  // seconds by execution name, -1 for one that asks
	unclear  map[string]int  // starts without an answer
	answered map[string]bool // names whose Task was answered
	stopped  map[string]bool

	acknowledged atomic.Int64
	number       atomic.Int64
}

// life is the server between two kills, under load.
type life struct {
	*ledger

	*load

	machine string
	draw    func(n int) int
	answers bool // whether it takes Tasks, which can wait for a minute
}

// run sends requests until the server is dead.
func (l *life) run(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		switch k := l.draw(20); {
		case k < 14:
			err = l.start(ctx)
		case k < 16:
			err = l.advance(ctx)
		case k < 19 && l.answers:
			err = l.answer(ctx)
		default:
			err = l.stop(ctx)
		}
		if errors.Is(err, errRefused) {
			return err
		}
		if err != nil {
			return nil // it is dead
		}
		l.acknowledged.Add(1)
	}
	return nil
}

// start starts an execution: one whose earlier start had no answer, or a new one.
func (l *life) start(ctx context.Context) error {
	name, seconds := "", 0
	l.mu.Lock()
	for n, s := range l.unclear {
		name, seconds = n, s
		delete(l.unclear, n)
		break
	}
	l.mu.Unlock()
	if name == "" {
		name, seconds = fmt.Sprintf("x%d", l.number.Add(1)), 1+l.draw(3600)
		if l.draw(4) == 0 {
			seconds = -1
		}
	}
	input, err := json.Marshal(map[string]any{"name": name, "seconds": seconds, "ask": seconds < 0})
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"stateMachineArn": l.machine, "name": name, "input": string(input)})
	if err != nil {
		return err
	}
	_, err = l.post(ctx, "StartExecution", string(body))
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil || strings.Contains(err.Error(), "ExecutionAlreadyExists"): // it was started, and has ended
		l.started[name] = seconds
		return nil
	case !errors.Is(err, errRefused):
		l.unclear[name] = seconds
	}
	return err
}

// advance moves the clock up to a minute.
func (l *life) advance(ctx context.Context) error {
	_, err := l.send(ctx, "/_jobpoller/clock", fmt.Sprintf(`{"advance": "%ds"}`, 1+l.draw(60)), "application/json", "")
	return err
}

// answer takes a Task of the activity, and sends its output, or loses it.
func (l *life) answer(ctx context.Context) error {
	text, err := l.post(ctx, "GetActivityTask", `{"activityArn": "arn:aws:states:us-east-1:123456789012:activity:soak", "workerName": "soak"}`)
	if err != nil {
		return err
	}
	var task struct {
		TaskToken string `json:"taskToken"`
		Input     string `json:"input"`
	}
	if err := json.Unmarshal([]byte(text), &task); err != nil || task.TaskToken == "" {
		return err
	}
	var input struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(task.Input), &input); err != nil {
		return err
	}
	if l.draw(10) == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]string{"taskToken": task.TaskToken, "output": `"answered"`})
	if err != nil {
		return err
	}
	_, err = l.post(ctx, "SendTaskSuccess", string(body))
	if err == nil {
		l.mu.Lock()
		l.answered[input.Name] = true
		l.mu.Unlock()
	}
	if err != nil && strings.Contains(err.Error(), "TaskTimedOut") { // stopped meanwhile
		return nil
	}
	return err
}

// stop stops an execution that was started, if it still runs.
func (l *life) stop(ctx context.Context) error {
	name := ""
	l.mu.Lock()
	for n := range l.started {
		if !l.stopped[n] && !l.answered[n] {
			name = n
			break
		}
	}
	l.mu.Unlock()
	if name == "" {
		return nil
	}
	arn := executionARN(l.machine, name)
	text, err := l.post(ctx, "DescribeExecution", fmt.Sprintf(`{"executionArn": %q}`, arn))
	if err != nil || !strings.Contains(text, `"RUNNING"`) {
		return err
	}
	if _, err := l.post(ctx, "StopExecution", fmt.Sprintf(`{"executionArn": %q}`, arn)); err != nil {
		return err
	}
	text, err = l.post(ctx, "DescribeExecution", fmt.Sprintf(`{"executionArn": %q}`, arn))
	if err == nil && strings.Contains(text, `"ABORTED"`) { // else it ended before
		l.mu.Lock()
		l.stopped[name] = true
		l.mu.Unlock()
	}
	return err
}

func executionARN(machine, name string) string {
	return strings.Replace(machine, ":stateMachine:", ":execution:", 1) + ":" + name
}

// A server that is killed again and again, while it works, loses nothing that it has
// acknowledged: what waited goes on, and no history is torn.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	draw := rand.New(rand.NewPCG(*seed, 14))
	l := &ledger{started: map[string]int{}, unclear: map[string]int{}, answered: map[string]bool{}, stopped: map[string]bool{}}
	machine := ""
	for range *kills {
		s := startServe(t, "--time", "manual", "--data", folder)
		client := newLoad(t, s.endpoint)
		if machine == "" {
			machine = client.create(t, "soak", asksOrWaits)
			callAPI(t, s.endpoint, "CreateActivity", `{"name": "soak"}`)
		}
		after := l.acknowledged.Load() + int64(1+draw.IntN(400))
		var all sync.WaitGroup
		var broken atomic.Value
		for i := range 8 {
			source := rand.New(rand.NewPCG(draw.Uint64(), 1))
			one := &life{l, client, machine, source.IntN, i < 3}
			all.Go(func() {
				if err := one.run(t.Context()); err != nil {
					broken.Store(err)
				}
			})
		}
		require.Eventually(t, func() bool { return l.acknowledged.Load() >= after || broken.Load() != nil }, patience, 1e5)
		require.NoError(t, s.process.Kill())
		all.Wait()
		require.Nil(t, broken.Load())
		require.NotContains(t, s.log.String(), "panic")
	}

	s := startServe(t, "--time", "manual", "--data", folder)
	status, text := s.clock(t, `{"advance": "4h"}`)
	require.Equal(t, 200, status, text)
	ended := map[string]int{}
	for name, seconds := range l.started {
		ended[l.requireWhole(t, s, machine, name, seconds)]++
	}
	say("soak: killed %d times with %d requests acknowledged: all of %d executions are there, ended %v; %d answers and %d stops kept",
		*kills, l.acknowledged.Load(), len(l.started), ended, len(l.answered), len(l.stopped))
}

// requireWhole checks an execution and its history, and returns the status.
func (l *ledger) requireWhole(t *testing.T, s *serving, machine, name string, seconds int) (status string) {
	t.Helper()
	arn := executionARN(machine, name)
	var x struct {
		Status string `json:"status"`
		Output string `json:"output"`
		Error  string `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(callAPI(t, s.endpoint, "DescribeExecution", fmt.Sprintf(`{"executionArn": %q}`, arn))), &x))
	var history struct {
		Events []struct {
			ID        int     `json:"id"`
			Previous  int     `json:"previousEventId"`
			Type      string  `json:"type"`
			Timestamp float64 `json:"timestamp"`
		} `json:"events"`
	}
	require.NoError(t, json.Unmarshal([]byte(callAPI(t, s.endpoint, "GetExecutionHistory", fmt.Sprintf(`{"executionArn": %q, "maxResults": 1000}`, arn))), &history))
	last := map[string]string{"SUCCEEDED": "ExecutionSucceeded", "FAILED": "ExecutionFailed", "ABORTED": "ExecutionAborted"}[x.Status]
	require.NotEmpty(t, last, "%s is %s", name, x.Status)
	entered := 0.0
	for i, e := range history.Events {
		require.Equal(t, i+1, e.ID, name)
		require.LessOrEqual(t, e.Previous, i, name)
		require.Equal(t, i == 0, e.Type == "ExecutionStarted", name)
		require.Equal(t, i == len(history.Events)-1, e.Type == last, "%s: event %d is %s", name, e.ID, e.Type)
		require.True(t, i == 0 || e.Timestamp >= history.Events[i-1].Timestamp, "%s: time goes back before event %d", name, e.ID)
		switch e.Type {
		case "WaitStateEntered":
			entered = e.Timestamp
		case "WaitStateExited":
			require.InDelta(t, seconds, e.Timestamp-entered, 0.002, "%s waits as long as it says, over all lives of the server", name)
		}
	}
	switch {
	case l.stopped[name]:
		require.Equal(t, "ABORTED", x.Status, name)
	case l.answered[name]:
		require.Equal(t, `"answered"`, x.Output, name)
	case seconds > 0 && x.Status != "ABORTED": // a stop without an answer may have counted
		require.Equal(t, `"done"`, x.Output, name)
	case x.Status == "FAILED":
		require.Equal(t, "States.Timeout", x.Error, name)
	}
	return x.Status
}
