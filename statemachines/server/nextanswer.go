package server

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// nextAnswers are what a person has set for the next calls of Tasks.
type nextAnswers struct {
	mu      sync.Mutex
	answers map[taskOf]answer
}

// taskOf is a Task of an execution.
type taskOf struct{ execution, state string }

// answer is what a Task gets.
type answer struct {
	output  any
	failure *sim.TaskError // nil for a success
}

// mostAnswers is how many are kept that no Task has asked for.
const mostAnswers = 1_000

// set sets the next answer to a Task. Those to executions that do not run make room.
func (n *nextAnswers) set(execution, state string, a answer, runs func(execution string) bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[taskOf]answer{}
	}
	key := taskOf{execution, state}
	if _, has := n.answers[key]; !has && len(n.answers) >= mostAnswers {
		maps.DeleteFunc(n.answers, func(t taskOf, _ answer) bool { return !runs(t.execution) })
	}
	if _, has := n.answers[key]; !has && len(n.answers) >= mostAnswers {
		return fmt.Errorf("%d answers wait already for a Task that asks", mostAnswers)
	}
	n.answers[key] = a
	return nil
}

// take returns the answer to a Task, and forgets it.
func (n *nextAnswers) take(execution, state string) (answer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := taskOf{execution, state}
	a, found := n.answers[key]
	delete(n.answers, key)
	return a, found
}

// executionOf is the ARN of the execution that calls: of a child execution its own.
func executionOf(call sim.Call) string {
	execution, _ := call.Context["Execution"].(map[string]any)
	arn, _ := execution["Id"].(string)
	return arn
}

// wrap lets all handlers of an execution look for an answer first.
func (n *nextAnswers) wrap(o *sim.Options) {
	before := func(h sim.Handler) sim.Handler {
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if a, found := n.take(executionOf(call), call.State); found {
				if a.failure != nil {
					return sim.Reply{}, a.failure
				}
				return sim.Reply{Output: a.output}, nil
			}
			return h(ctx, call)
		}
	}
	o.Handlers, o.StateHandlers = maps.Clone(o.Handlers), maps.Clone(o.StateHandlers)
	for _, handlers := range []map[string]sim.Handler{o.Handlers, o.StateHandlers} {
		for name, h := range handlers {
			handlers[name] = before(h)
		}
	}
	if o.Handler != nil {
		o.Handler = before(o.Handler)
	}
}
