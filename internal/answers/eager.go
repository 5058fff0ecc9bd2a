package answers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Called is what the run of a machine will call.
type Called struct {
	States []string // that call functions or services
	// AWS are the calls that AWS charges for, by the URL that the user's settings have
	// instead; empty for AWS itself.
	AWS map[string][]string
}

// Resolve puts what answers the Tasks of one machine into the options of its run, those
// that win last. It refuses a Task that calls a service which cannot do it; a Task that
// nothing answers gets no handler, so that the run refuses it. test is a test case; empty
// for none.
func (r *Router) Resolve(ctx context.Context, m *source.Machine, test string, o *sim.Options) (*Called, error) {
	var answered []string
	for _, f := range r.options.Mocks {
		names, err := f.Targets(test)
		if err != nil {
			return nil, err
		}
		answered = append(answered, names...)
	}
	simulated, err := r.options.Simulated.states(m.StateMachine)
	if err != nil {
		return nil, err
	}
	called, err := r.callServices(ctx, m, o, slices.Concat(answered, simulated))
	if err != nil {
		return nil, err
	}
	if err := r.simulate(m.StateMachine, o, slices.Concat(answered, called.States)); err != nil {
		return nil, err
	}
	r.invokeFunctions(m.StateMachine, o)
	for _, f := range r.options.Mocks { // a test case fails the Tasks that nothing answers until here
		if err := f.Mocks.Apply(m.StateMachine, test, o); err != nil {
			return nil, commandline.Errorf("%s: %w", f.Name, err)
		}
	}
	return called, nil
}

// simulate lets simulated jobs answer the Tasks that nothing else answers.
func (r *Router) simulate(m *asl.StateMachine, o *sim.Options, answered []string) error {
	if !r.options.Simulated.IsGiven() {
		return nil
	}
	plan, err := r.options.Simulated.Plan(m, answered)
	if err != nil {
		return err
	}
	if err := r.options.Simulated.checkEnds(plan, r.options.Mocks); err != nil {
		return commandline.Errorf("%w", err)
	}
	r.hooks.warnUnsimulated(plan)
	if len(plan.Unknown) > 0 {
		r.hooks.Drawn(plan.Unknown)
	}
	return plan.Apply(m, o)
}

// resourcesOf are those that Tasks call, with the states that call them, and those that
// distributed Maps read and write objects with.
func resourcesOf(m *asl.StateMachine) map[string][]*asl.State {
	all := map[string][]*asl.State{}
	for s := range m.All {
		if s.Task != nil {
			all[s.Task.Resource] = append(all[s.Task.Resource], s)
		}
		for _, resource := range sim.ObjectResources(s) {
			all[resource] = append(all[resource], s)
		}
	}
	return all
}

// callServices lets the Tasks that nothing else answers call the services where the
// flags say so.
func (r *Router) callServices(ctx context.Context, m *source.Machine, o *sim.Options, answered []string) (*Called, error) {
	if err := r.options.Services.reach(ctx); err != nil {
		return nil, err
	}
	var lacking strings.Builder
	called := &Called{AWS: map[string][]string{}}
	resources := resourcesOf(m.StateMachine)
	for _, resource := range slices.Sorted(maps.Keys(resources)) {
		states := slices.DeleteFunc(resources[resource], func(s *asl.State) bool {
			return slices.Contains(answered, s.Name) || slices.Contains(answered, resource)
		})
		if len(states) == 0 {
			continue
		}
		lambda := isInvoke(resource) || isFunction(resource) || r.isCollected(resource)
		if lambda && len(r.functions) > 0 {
			called.States = append(called.States, namesOf(r.withFunctions(m, resource, states))...)
		}
		at, service, ok, err := r.placeOf(resource)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		handler, err := r.service(ctx, at, resource)
		if errors.Is(err, servicetask.ErrNotCallable) && (lambda || asl.IsPlaceholderText(resource)) {
			continue
		}
		if err != nil {
			for _, s := range states {
				where := m.Definition.LocatePosition(resourcePosition(s))
				terminal.Fprintf(&lacking, "%s:%d:%d: %s %q: %s\n", m.Definition.File, where.Line, where.Column, s.Type, s.Name, err)
			}
			continue
		}
		if o.Handlers == nil {
			o.Handlers = map[string]sim.Handler{}
		}
		if o.Handlers[resource], err = r.hooks.Calls(resource, handler); err != nil {
			return nil, err
		}
		called.States = append(called.States, namesOf(states)...)
		if err := r.noteCall(ctx, called, at, service, resource); err != nil {
			return nil, err
		}
	}
	if lacking.Len() > 0 {
		return nil, commandline.Errorf("%sAnswer these states with --mocks", terminal.Lines(lacking.String()))
	}
	return called, nil
}

// withFunctions are the Tasks of a resource that may invoke a function that there is.
func (r *Router) withFunctions(m *source.Machine, resource string, states []*asl.State) []*asl.State {
	return slices.DeleteFunc(slices.Clone(states), func(s *asl.State) bool {
		name, _ := functionIn(m, s, resource)
		return name != "" && !r.isCollected(resource) && r.options.Functions.resolve(r.functions, name) == nil
	})
}

// resourcePosition is where a state names its resource.
func resourcePosition(s *asl.State) asl.Position {
	if s.Task != nil {
		return s.Task.ResourcePosition
	}
	return s.Position
}

// noteCall notes a call that AWS charges for.
func (r *Router) noteCall(ctx context.Context, called *Called, at Place, service, resource string) error {
	if !at.IsAWS() {
		return nil
	}
	to, err := r.caller(ctx, at)
	if err != nil {
		return err
	}
	s, err := models.Load(service)
	if err != nil {
		return err
	}
	base, err := awssettings.BaseOf(&to.cfg, s.Name) //nolint:contextcheck // it calls nothing
	if err != nil {
		return err
	}
	called.AWS[base] = append(called.AWS[base], service+":"+asl.ParseResource(servicetask.CallOf(resource)).Action)
	return nil
}

// invokeFunctions lets Tasks invoke the functions that there are, unless something is
// named for their states. What names other functions goes where it would have gone.
func (r *Router) invokeFunctions(m *asl.StateMachine, o *sim.Options) {
	if len(r.functions) == 0 {
		return
	}
	handlers := maps.Clone(o.StateHandlers)
	if handlers == nil {
		handlers = map[string]sim.Handler{}
	}
	for resource, states := range resourcesOf(m) {
		handler := r.functionHandler(o, resource)
		for _, s := range states {
			if handler != nil && handlers[s.Name] == nil {
				handlers[s.Name] = handler
			}
		}
	}
	o.StateHandlers = handlers
}

// functionHandler lets functions answer the Tasks of a resource; nil if none of them can.
func (r *Router) functionHandler(o *sim.Options, resource string) sim.Handler {
	of := r.options.Functions
	invoke := of.invoker(r.functions)
	name, _ := sim.FunctionName(resource)
	switch {
	case r.isCollected(resource):
		return r.collector.Handler(invoke)
	case isInvoke(resource):
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			name := functionOfCall(resource, call)
			if others := o.Handlers[resource]; of.resolve(r.functions, name) == nil && others != nil {
				return others(ctx, call)
			}
			return r.invoke(ctx, name, invoke, call)
		}
	case isFunction(resource) && of.resolve(r.functions, name) != nil:
		direct := sim.LambdaDirect(of.resolve(r.functions, name))
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) { return r.invoke(ctx, name, direct, call) }
	default:
		return nil
	}
}

// invoke lets a function answer a Task. Run-job starts a job once, however often a run of
// a name begins, and check-status starts none: nobody is told of them.
func (r *Router) invoke(ctx context.Context, name string, handler sim.Handler, call sim.Call) (sim.Reply, error) {
	of := r.options.Functions
	if own := of.Find(name); own != "" && !isPoller(of.handlerOf(own)) {
		if err := r.hooks.Invokes(call.State, name); err != nil {
			return sim.Reply{}, err
		}
	}
	reply, err := handler(ctx, call)
	if failure, ok := errors.AsType[*sim.TaskError](err); ok && slices.Contains(outputTells, failure.Name) {
		r.hooks.Crashed(call.State, failure.Cause)
	}
	return reply, err
}

// isCollected tells whether the collector answers the Tasks of a resource.
func (r *Router) isCollected(resource string) bool {
	return r.collector != nil && resource == InvokeForToken
}

func namesOf(states []*asl.State) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.Name
	}
	return names
}
