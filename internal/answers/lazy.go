package answers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// Prepare puts what answers into the options of an execution of any machine: its Tasks
// are looked at when they call. test is a test case, as "machine#case"; empty for none. said is
// what statuses mean to simulated jobs of the machine.
func (r *Router) Prepare(m *asl.StateMachine, test string, said map[string]lint.Meaning, o *sim.Options) error {
	o.Handler = r.answer
	plan, err := r.plan(m, said)
	if err != nil {
		return err
	}
	if plan != nil {
		if err := plan.Apply(m, o); err != nil {
			return err
		}
	}
	for _, f := range r.options.Mocks {
		if err := f.Mocks.Only(m).Apply(m, "", o); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	mocked := map[string]bool{}
	for name := range o.StateHandlers {
		mocked[name] = true
	}
	for name := range o.Handlers {
		mocked[name] = true
	}
	if test != "" {
		if err := r.applyCase(m, test, o, mocked); err != nil {
			return fmt.Errorf("%s: %w", r.options.Cases.Name, err)
		}
	}
	for resource, handler := range o.Handlers {
		o.Handlers[resource] = r.functionOr(handler)
	}
	o.Repeat = func(call sim.Call) bool {
		return mocked[call.State] || mocked[call.Resource] && r.findFunction(call) == nil
	}
	return nil
}

// functionOr lets a function of --lambda answer before what is named for its resource.
func (r *Router) functionOr(handler sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if r.findFunction(call) != nil {
			return r.answer(ctx, call)
		}
		return handler(ctx, call)
	}
}

// findFunction returns the function of --lambda that a Task invokes; nil for any other Task.
func (r *Router) findFunction(call sim.Call) sim.LambdaFunction {
	if isInvoke(call.Resource) || isFunction(call.Resource) {
		return r.options.Functions.resolve(r.functions, functionOfCall(call.Resource, call))
	}
	return nil
}

// applyCase puts the answers of a test case into the options, and their names to those
// that are mocked.
func (r *Router) applyCase(m *asl.StateMachine, test string, o *sim.Options, mocked map[string]bool) error {
	names, err := r.options.Cases.Mocks.Names(test)
	if err != nil {
		return err
	}
	for _, name := range names {
		mocked[name] = true
	}
	return r.options.Cases.Mocks.Apply(m, test, o)
}

// plan returns the answers of simulated jobs for the Tasks of a machine that nothing
// else answers; nil without --simulate.
func (r *Router) plan(m *asl.StateMachine, said map[string]lint.Meaning) (*simulate.Plan, error) {
	if !r.options.Simulated.IsGiven() {
		return nil, nil //nolint:nilnil // there is none
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.plans[m]; ok && maps.Equal(p.said, said) {
		return p.plan, nil
	}
	own := r.options.Simulated.only(m)
	own.Said = said
	named, err := own.states(m)
	if err != nil {
		return nil, err
	}
	var answered []string
	for _, f := range r.options.Mocks {
		names, err := f.Mocks.Only(m).Names("")
		if err != nil {
			return nil, err
		}
		answered = append(answered, names...)
	}
	for s := range m.All {
		reached := s.Task != nil && r.reaches(s) || slices.ContainsFunc(sim.ObjectResources(s), r.reachesService)
		if reached && !slices.Contains(named, s.Name) {
			answered = append(answered, s.Name)
		}
	}
	plan, err := own.Plan(m, answered)
	if err != nil {
		return nil, err
	}
	// A client sends the token that a Task waits for, or works for an activity, and what
	// is forwarded has an answer.
	plan.Unknown = slices.DeleteFunc(plan.Unknown, func(u simulate.Unknown) bool {
		resource := asl.ParseResource(u.Resource)
		_, _, somewhere, err := r.placeOf(u.Resource)
		return resource.WaitsForToken() || resource.Service == "activity" || somewhere && err == nil
	})
	// Other machines of the server may have jobs that end so.
	if err := own.checkEnds(plan, r.options.Mocks); err != nil && len(answered) > 0 {
		r.hooks.Warn(err.Error())
	}
	r.hooks.warnUnsimulated(plan)
	if len(plan.Unknown) > 0 {
		r.hooks.Drawn(plan.Unknown)
	}
	if len(r.plans) >= mostKept {
		clear(r.plans)
	}
	r.plans[m] = planned{plan, said}
	return plan, nil
}

// reaches tells whether a Task calls a function that there is, or a service that a flag names.
func (r *Router) reaches(s *asl.State) bool {
	resource := strings.TrimSuffix(s.Task.Resource, tokenPattern)
	if isInvoke(resource) || isFunction(resource) {
		if r.options.LambdaEndpoint != "" {
			return true
		}
		reference := resource
		if isInvoke(resource) {
			reference = functionArgument(s)
		}
		if name, _ := sim.FunctionName(reference); r.options.Functions.resolve(r.functions, name) != nil {
			return true
		}
	}
	return r.reachesService(resource)
}

// reachesService tells whether a resource calls a service that a flag names.
func (r *Router) reachesService(resource string) bool {
	key, err := servicetask.Service(resource)
	if err != nil || key == "" {
		return false
	}
	_, ok := r.options.Services.Places.Of(key)
	return ok
}

// errUnanswered is why a Task fails that no flag answers.
var errUnanswered = errors.New("nothing answers the Task")

// answer calls the function or the service of a Task.
func (r *Router) answer(ctx context.Context, call sim.Call) (sim.Reply, error) {
	resource, waits := strings.CutSuffix(call.Resource, tokenPattern)
	handler, err := r.handler(ctx, resource, call)
	if waits && errors.Is(err, errUnanswered) {
		r.hooks.Waits(call.State, call.Resource)
		return sim.Reply{Never: true}, nil
	}
	if err != nil {
		return sim.Reply{}, err
	}
	reply, err := handler(ctx, call)
	if err != nil || !waits {
		return reply, err
	}
	return sim.Reply{Never: true, Submitted: reply.Output}, nil
}

// handler is what answers the Tasks of a resource.
func (r *Router) handler(ctx context.Context, resource string, call sim.Call) (sim.Handler, error) {
	if isInvoke(resource) || isFunction(resource) {
		if function, ok, err := r.function(resource, call); ok || err != nil {
			return function, err
		}
	}
	at, key, ok, err := r.placeOf(resource)
	if err != nil {
		return nil, err
	}
	if key == "" || !ok {
		return nil, fmt.Errorf("%w %q (%s): %s", errUnanswered, call.State, call.Resource, hint(resource, key, call))
	}
	if at.IsAWS() {
		if name := CallName(resource); name != "" {
			if _, told := r.told.LoadOrStore(name, true); !told {
				r.hooks.CallsAWS(name)
			}
		}
	}
	h, err := r.service(ctx, at, resource)
	if err != nil && errors.Is(err, servicetask.ErrNotCallable) {
		return nil, fmt.Errorf("%w: answer the Task with --mocks", err)
	}
	return h, err
}

// function is what invokes the function of a Task, if a flag names it.
func (r *Router) function(resource string, call sim.Call) (sim.Handler, bool, error) {
	name := functionOfCall(resource, call)
	function := r.options.Functions.resolve(r.functions, name)
	if function == nil {
		var err error
		if function, err = r.remoteFunction(name); function == nil || err != nil {
			return nil, false, err
		}
	}
	if isFunction(resource) {
		return sim.LambdaDirect(function), true, nil
	}
	return sim.LambdaInvoke(map[string]sim.LambdaFunction{name: function}), true, nil
}

// remoteFunction is a function behind LambdaEndpoint; nil without one.
func (r *Router) remoteFunction(name string) (sim.LambdaFunction, error) {
	if r.options.LambdaEndpoint == "" || !IsFunctionName(name) {
		return nil, nil //nolint:nilnil // there is none
	}
	return newRemote(name, r.options.LambdaEndpoint, http.DefaultTransport, r.starter.settings)
}

// hint says which flag answers a Task.
func hint(resource, service string, call sim.Call) string {
	mocks := fmt.Sprintf("--mocks with a file such as {%q: {\"return\": {}}}", call.State)
	switch {
	case isInvoke(resource) || isFunction(resource):
		name := functionOfCall(resource, call)
		return fmt.Sprintf("start the server with --lambda %s=./bootstrap, --lambda-endpoint, or %s", name, mocks)
	case service == "":
		return "start the server with " + mocks
	}
	return fmt.Sprintf("start the server with --endpoint-url %s=http://..., --simulate 10m, --aws=%s, or %s", service, service, mocks)
}
