// Package answers decides who answers the Tasks of executions: mocks, Lambda functions,
// services, or simulated jobs. What is named for a state wins over a function, that over
// what is named for a resource or its service, and that over what is named for all.
//
// A Router serves one state machine or many. Of one it looks at all Tasks before the run,
// and finds those that have no answer. Of many it looks at a Task when that calls.
package answers

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// StateMachine is the name of a state machine that has none of its own.
const StateMachine = "jobpoller"

// Options say who may answer.
type Options struct {
	Services  Services
	Functions Functions
	// LambdaEndpoint is the URL of a Lambda service that has all functions which no flag
	// names; empty for none.
	LambdaEndpoint string
	// Forward is the URL that calls of services go to which no flag names; empty for none.
	Forward   string
	Simulated Simulated
	Mocks     []MockFile
	// Cases are the test cases of a MockConfigFile.json; the zero MockFile for none.
	Cases MockFile

	// Verbose shows the logs of functions that run here.
	Verbose bool
	// Environ is the environment of these functions, and Places say where their calls go.
	Environ []string
	Places  Places
}

// Hooks are told what happens. Those that are nil are not.
type Hooks struct {
	// Log gets what functions and their processes write.
	Log io.Writer
	// Above writes whole lines between what else is shown.
	Above func(out io.Writer, write func(out io.Writer))
	// Store gives run-job, check-status and the collector the store of start records in
	// their environment.
	Store func(ctx context.Context, env []string) ([]string, error)
	// Polled is told what the poll of a Task that ends with its job was answered.
	Polled func(entry *catalog.Entry, answer any, err error)
	// Left is told why the job of a Task that has ended may run on.
	Left func(state string, why error)
	// CallsAWS is told of the calls that AWS charges for, before they are sent, each once.
	CallsAWS func(call string)
	// Calls wraps what calls a resource of one machine.
	Calls func(resource string, handler sim.Handler) (sim.Handler, error)
	// Invokes is told of a function of --lambda that one machine invokes. Its error fails
	// the Task instead.
	Invokes func(state, function string) error
	// Crashed is told of a function's process that died or hung, and why.
	Crashed func(state, cause string)
	// Drawn is told of the Tasks of one machine whose answers nobody can know, and that are
	// drawn where jobs are simulated.
	Drawn func(tasks []simulate.Unknown)
	// Warn is told of a flag that does nothing for a machine.
	Warn func(text string)
	// Waits is told of a Task that calls nothing and waits for its token.
	Waits func(state, resource string)
}

// complete has something that does nothing for what is nil.
func (h *Hooks) complete() {
	if h.Log == nil {
		h.Log = io.Discard
	}
	if h.Above == nil {
		h.Above = func(out io.Writer, write func(io.Writer)) { write(out) }
	}
	if h.CallsAWS == nil {
		h.CallsAWS = func(string) {}
	}
	if h.Calls == nil {
		h.Calls = func(_ string, handler sim.Handler) (sim.Handler, error) { return handler, nil }
	}
	if h.Invokes == nil {
		h.Invokes = func(string, string) error { return nil }
	}
	if h.Crashed == nil {
		h.Crashed = func(string, string) {}
	}
	if h.Drawn == nil {
		h.Drawn = func([]simulate.Unknown) {}
	}
	if h.Warn == nil {
		h.Warn = func(string) {}
	}
	if h.Waits == nil {
		h.Waits = func(string, string) {}
	}
}

// Router decides who answers. It is safe for concurrent use.
type Router struct {
	options   Options
	hooks     Hooks
	starter   *starter
	functions map[string]sim.LambdaFunction // by the names of --lambda, and those of the command's own

	collector *localloop.Collector // of the command's own functions; nil for none
	told      sync.Map             // calls that CallsAWS was told

	mu       sync.Mutex
	callers  map[Place]*caller
	handlers map[string]sim.Handler        // of services, by resource
	plans    map[*asl.StateMachine]planned // of simulated jobs
}

// planned is a plan for what is said of statuses.
type planned struct {
	plan *simulate.Plan
	said map[string]lint.Meaning
}

// mostKept bounds the plans and the handlers that are kept.
const mostKept = 1000

// New starts the functions. Whatever it started is stopped if it fails.
func New(ctx context.Context, o Options, h Hooks) (*Router, error) {
	h.complete()
	r := &Router{
		options: o, hooks: h, functions: map[string]sim.LambdaFunction{},
		callers: map[Place]*caller{}, handlers: map[string]sim.Handler{}, plans: map[*asl.StateMachine]planned{},
		starter: &starter{
			settings: newLocalSettings(&o.Services), places: o.Places, env: o.Environ, verbose: o.Verbose,
			stderr: h.Log, above: h.Above, addStore: h.Store,
		},
	}
	if err := r.starter.startAll(ctx, o.Functions, r.functions); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close ends the functions.
func (r *Router) Close() error { return r.starter.close() }

// Own has functions that the command has itself.
type Own struct {
	Functions map[string]sim.LambdaFunction // by the names that definitions have for them
	Collector *localloop.Collector          // answers Tasks that wait for run-job; nil for none
	// Follow wraps a function of --lambda that takes the place of one of these.
	Follow func(name string, function sim.LambdaFunction) sim.LambdaFunction
}

// AddOwn adds the command's own functions, before the first Task is answered. Those of
// --lambda win.
func (r *Router) AddOwn(own Own) {
	r.collector = own.Collector
	for name, function := range own.Functions {
		if r.functions[name] == nil {
			r.functions[name] = function
		}
	}
	for _, name := range r.options.Functions.Names() {
		if shipped := shippedNames[r.options.Functions.handlerOf(name)]; shipped != "" {
			r.functions[name] = own.Follow(shipped, r.functions[name])
		}
	}
}

// caller calls services at one place, with its configuration.
type caller struct {
	*servicetask.Caller

	cfg aws.Config
}

// caller returns what calls services at a place. Tasks that are the first there may load
// the configuration together: it is not held up for others.
func (r *Router) caller(ctx context.Context, at Place) (*caller, error) {
	r.mu.Lock()
	known := r.callers[at]
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	cfg, err := r.options.Services.configuration(ctx, at, r.options.Verbose)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.callers[at] == nil {
		r.callers[at] = &caller{servicetask.New(cfg, servicetask.Hooks{Polled: r.hooks.Polled, Left: r.hooks.Left}), cfg}
	}
	return r.callers[at], nil
}

// placeOf is where the calls of a resource go; false for nowhere.
func (r *Router) placeOf(resource string) (at Place, service string, ok bool, err error) {
	if service, err = servicetask.Service(resource); err != nil {
		return Place{}, "", false, err
	}
	if at, ok = r.options.Services.Places.Of(service); !ok && r.options.Forward != "" { // as clients' own calls of the service
		at, ok = Place{r.options.Forward}, true
	}
	return at, service, ok, nil
}

// service returns what calls the service of a resource at a place.
func (r *Router) service(ctx context.Context, at Place, resource string) (sim.Handler, error) {
	r.mu.Lock()
	h := r.handlers[resource]
	r.mu.Unlock()
	if h != nil {
		return h, nil
	}
	to, err := r.caller(ctx, at)
	if err != nil {
		return nil, err
	}
	if h, err = to.Handler(resource); err != nil { //nolint:contextcheck // it calls nothing
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.handlers) >= mostKept { // each function has an ARN
		clear(r.handlers)
	}
	r.handlers[resource] = h
	return h, nil
}
