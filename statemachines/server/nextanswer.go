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
	enabled bool
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

// enable lets executions that start from now on ask for answers.
func (n *nextAnswers) enable() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.enabled = true
}

// set sets the next answer to a Task.
func (n *nextAnswers) set(execution, state string, a answer) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[taskOf]answer{}
	}
	if len(n.answers) >= mostAnswers {
		return fmt.Errorf("%d answers wait already for a Task that asks", mostAnswers)
	}
	n.answers[taskOf{execution, state}] = a
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

// wrap lets all handlers of an execution look for an answer first.
func (n *nextAnswers) wrap(execution string, o *sim.Options) {
	n.mu.Lock()
	enabled := n.enabled
	n.mu.Unlock()
	if !enabled {
		return
	}
	before := func(h sim.Handler) sim.Handler {
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if a, found := n.take(execution, call.State); found {
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
