package trial

import (
	"context"
	"errors"
	"maps"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Job is a run of one machine for as long as its jobs take, to see when it polls and what
// that costs.
type Job struct {
	Input []byte
	// Answer puts what answers the Tasks into the options of the run.
	Answer func(*sim.Options) error
	// Seed is that of all that is drawn.
	Seed uint64
	// MaxEvents ends a run that polls on; 0 for what a history has room for. The history
	// of an Express workflow has no limit: its time ends it.
	MaxEvents int
}

// mostCalls bounds the calls of a run: a history bounds the events of one execution.
const mostCalls = 50_000

// errManyCalls ends a run that would not end.
var errManyCalls = errors.New("it makes more than 50,000 calls")

// Play runs a machine on jobs.
func Play(ctx context.Context, m *asl.StateMachine, j Job, o Options) (*sim.Result, error) {
	options := sim.Options{
		Execution: usual.execution, Seed: j.Seed, Express: o.Express, MaxEvents: j.MaxEvents, Models: o.Models, Lenient: true,
		Clock: sim.NewVirtualClock(sim.DefaultStart()),
	}
	if err := j.Answer(&options); err != nil {
		return nil, err
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	calls := 0
	counted := func(handler sim.Handler) sim.Handler {
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if calls++; calls > mostCalls {
				stop(errManyCalls)
			}
			return handler(ctx, call)
		}
	}
	if options.Handler != nil {
		options.Handler = counted(options.Handler)
	}
	for _, handlers := range []map[string]sim.Handler{options.Handlers, options.StateHandlers} {
		for name, handler := range maps.Clone(handlers) {
			handlers[name] = counted(handler)
		}
	}
	r, err := sim.Run(running, m, j.Input, options)
	if why := context.Cause(running); why != nil {
		return nil, why
	}
	return r, err
}
