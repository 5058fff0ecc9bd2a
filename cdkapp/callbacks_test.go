//go:build e2e

package cdkapp_test

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// callbacks are the Tasks of executions that wait for an answer, by their tokens.
type callbacks struct {
	mu    sync.Mutex
	waits map[string]*waiting
	ready map[string]chan struct{} // by the names of executions
	// before is called before an answer to the Task of an execution; nil for nothing.
	before func(execution string)
}

// waiting is a Task that waits.
type waiting struct {
	execution, machine string // the name, and the ARN
	answer             func(sim.Reply, error) bool
}

func newCallbacks() *callbacks {
	return &callbacks{waits: map[string]*waiting{}, ready: map[string]chan struct{}{}}
}

// hold lets the Tasks of a handler wait for an answer once the handler has returned.
func (c *callbacks) hold(next sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		member := func(object, name string) string { return text(call.Context[object].(map[string]any)[name]) }
		execution := member("Execution", "Name")
		c.mu.Lock()
		c.waits[call.TaskToken] = &waiting{execution, member("StateMachine", "Id"), call.Answer}
		c.mu.Unlock()
		reply, err := next(ctx, call)
		if err != nil {
			return reply, err
		}
		close(c.started(execution))
		return sim.Reply{Submitted: reply.Output, Never: true}, nil
	}
}

// started is closed when run-job has returned in an execution.
func (c *callbacks) started(execution string) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready[execution] == nil {
		c.ready[execution] = make(chan struct{})
	}
	return c.ready[execution]
}

// service is Step Functions for the collector.
func (c *callbacks) service(iam *access) *scripted {
	s := &scripted{iam: iam, needs: map[string]func(map[string]any) []need{}}
	s.JSONService = jobstest.JSONService{Version: "1.0", Target: "AWSStepFunctions", Operations: map[string]func(map[string]any) (any, error){
		"SendTaskSuccess": func(in map[string]any) (any, error) {
			var output any
			if err := json.Unmarshal([]byte(text(in["output"])), &output); err != nil {
				return nil, jobstest.Refusal{Code: "InvalidOutput", Message: err.Error()}
			}
			return c.end(in, sim.Reply{Output: output}, nil)
		},
		"SendTaskFailure": func(in map[string]any) (any, error) {
			return c.end(in, sim.Reply{}, &sim.TaskError{Name: text(in["error"]), Cause: text(in["cause"])})
		},
	}}
	for operation := range s.Operations {
		s.needs[operation] = func(in map[string]any) []need {
			machine := "no state machine"
			if w := c.of(in); w != nil {
				machine = w.machine
			}
			return []need{{"states:" + operation, machine, ""}}
		}
	}
	return s
}

func (c *callbacks) of(in map[string]any) *waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits[text(in["taskToken"])]
}

func (c *callbacks) end(in map[string]any, reply sim.Reply, err error) (any, error) {
	w := c.of(in)
	if c.before != nil {
		c.before(w.execution)
	}
	if !w.answer(reply, err) {
		return nil, jobstest.Refusal{Code: "TaskTimedOut", Message: "Task Timed Out: 'Provided task does not exist anymore'"}
	}
	return struct{}{}, nil
}
