package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// taskAnswers are what answers the Tasks of a run. What is named for a state wins over a
// Lambda function, that over what is named for a resource or its service, and that
// over what is named for all.
type taskAnswers struct {
	options  *runOptions
	machine  *source.Machine
	progress *progress
	calls    *liveCalls
	stderr   io.Writer

	callers   map[place]*caller
	bench     *bench               // of the run-job and check-status that run here; nil for none
	collector *localloop.Collector // of the command's own functions; nil for none
	closers   []func() error
}

// close ends what was started for the run.
func (a *taskAnswers) close() error {
	var errs []error
	for _, closer := range slices.Backward(a.closers) {
		errs = append(errs, closer())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// addTo puts the answers into the options of a run, those that win last.
func (a *taskAnswers) addTo(ctx context.Context, options *sim.Options, input []byte, in io.Reader) error {
	mocks, answered, err := a.readMocks(in)
	if err != nil {
		return err
	}
	if err := errors.Join(a.checkPollers(answered), a.checkFunctions()); err != nil {
		return err
	}
	functions, err := a.functions(ctx, options, input)
	if err != nil {
		return err
	}
	simulated, err := a.options.simulated.states(a.machine.StateMachine)
	if err != nil {
		return err
	}
	called, err := a.callServices(ctx, options, slices.Concat(answered, simulated), functions)
	if err != nil {
		return err
	}
	if err := a.simulate(options, slices.Concat(answered, called)); err != nil {
		return err
	}
	a.invokeFunctions(options, functions)
	if mocks != nil { // a test case fails the Tasks that nothing answers until here
		if err := mocks.Apply(a.machine.StateMachine, a.options.testCase, options); err != nil {
			return usage("%s: %w", a.options.mocks, err)
		}
	}
	return nil
}

// readMocks reads the file of mocks, and the states and resources that it answers.
func (a *taskAnswers) readMocks(in io.Reader) (*mock.Config, []string, error) {
	o := a.options
	if o.mocks == "" {
		return nil, nil, nil
	}
	text, err := readText(o.mocks, in)
	if err != nil {
		return nil, nil, err
	}
	mocks, err := mock.Read(text)
	if err != nil {
		return nil, nil, usage("%s: %w", o.mocks, err)
	}
	names, err := mocks.Names(o.testCase)
	if err != nil {
		return nil, nil, usage("%s: %w", o.mocks, err)
	}
	return mocks, names, nil
}

// simulate lets simulated jobs answer the Tasks that nothing else answers.
func (a *taskAnswers) simulate(options *sim.Options, answered []string) error {
	o := a.options
	if !o.simulated.isGiven() {
		return nil
	}
	plan, err := o.simulated.plan(a.machine.StateMachine, answered)
	if err != nil {
		return err
	}
	if err := o.unknown(a.machine, plan); err != nil {
		return err
	}
	simulated, err := plan.Mocks()
	if err != nil {
		return &exitError{exitFailed, err}
	}
	if err := simulated.Apply(a.machine.StateMachine, "", options); err != nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

// resources are those that Tasks call, with the states that call them, and those that
// distributed Maps read and write objects with.
func (a *taskAnswers) resources() map[string][]*asl.State {
	all := map[string][]*asl.State{}
	for s := range a.machine.All {
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
// flags say so, and returns the states of which they say it.
func (a *taskAnswers) callServices(
	ctx context.Context, options *sim.Options, answered []string, functions map[string]sim.LambdaFunction,
) (called []string, err error) {
	if err := a.options.services.reach(ctx); err != nil {
		return nil, err
	}
	var lacking strings.Builder
	calls := map[string][]string{} // of --aws, by the URL that the settings have instead
	resources := a.resources()
	for _, resource := range slices.Sorted(maps.Keys(resources)) {
		states := slices.DeleteFunc(resources[resource], func(s *asl.State) bool {
			return slices.Contains(answered, s.Name) || slices.Contains(answered, resource)
		})
		if len(states) == 0 {
			continue
		}
		lambda := isInvoke(resource) || isFunction(resource) || a.isCollected(resource)
		if lambda && len(functions) > 0 {
			called = append(called, namesOf(states)...)
		}
		at, key, err := a.placeOf(resource)
		if err != nil {
			return nil, err
		}
		if at == nil {
			continue
		}
		handler, err := a.handler(ctx, *at, resource)
		if errors.Is(err, servicetask.ErrNotCallable) && (lambda || asl.IsPlaceholderText(resource)) {
			continue
		}
		if err != nil {
			for _, s := range states {
				where := a.machine.Definition.LocatePosition(resourcePosition(s))
				terminal.Fprintf(&lacking, "%s:%d:%d: %s %q: %s\n", a.machine.Definition.File, where.Line, where.Column, s.Type, s.Name, err)
			}
			continue
		}
		if options.Handlers == nil {
			options.Handlers = map[string]sim.Handler{}
		}
		if options.Handlers[resource], err = a.calls.of(resource, handler); err != nil {
			return nil, err
		}
		called = append(called, namesOf(states)...)
		if err := a.noteCall(calls, *at, key, resource); err != nil { //nolint:contextcheck // it calls nothing
			return nil, err
		}
	}
	if lacking.Len() > 0 {
		return nil, usage("%sAnswer these states with --mocks", terminal.Lines(lacking.String()))
	}
	if err := a.refusePlaceholders(called); err != nil {
		return nil, err
	}
	a.announce(calls)
	return called, nil
}

// resourcePosition is where a state names its resource.
func resourcePosition(s *asl.State) asl.Position {
	if s.Task != nil {
		return s.Task.ResourcePosition
	}
	return s.Position
}

// noteCall notes a call of --aws, for announce.
func (a *taskAnswers) noteCall(calls map[string][]string, at place, key, resource string) error {
	if !at.isAWS() {
		return nil
	}
	base, err := a.callers[at].base(key)
	if err != nil {
		return err
	}
	calls[base] = append(calls[base], key+":"+asl.ParseResource(servicetask.CallOf(resource)).Action)
	return nil
}

// announce says which calls go to AWS, or where else the user's settings send them.
func (a *taskAnswers) announce(calls map[string][]string) {
	for _, base := range slices.Sorted(maps.Keys(calls)) {
		slices.Sort(calls[base])
		names := strings.Join(slices.Compact(calls[base]), ", ")
		if base == "" {
			terminal.Fprintf(a.stderr, "calls AWS, which AWS charges for: %s\n", names)
		} else {
			terminal.Fprintf(a.stderr, "calls %s instead of AWS, as AWS_ENDPOINT_URL or the AWS configuration says: %s\n", base, names)
		}
	}
}

// placeOf is where the calls of a resource go; nil for nowhere.
func (a *taskAnswers) placeOf(resource string) (*place, string, error) {
	key, err := servicetask.Service(resource)
	if err != nil {
		return nil, "", err
	}
	at, ok := a.options.services.places.of(key)
	if !ok {
		return nil, "", nil
	}
	return &at, key, nil
}

// caller calls services at one place, with its configuration.
type caller struct {
	*servicetask.Caller

	cfg aws.Config
}

// base is the URL that the configuration has for a service; empty for AWS itself.
func (c *caller) base(service string) (string, error) {
	s, err := models.Load(service)
	if err != nil {
		return "", err
	}
	return baseOf(&c.cfg, s)
}

// warnOfJob tells of a job that a Task has left.
func (a *taskAnswers) warnOfJob(state string, why error) {
	a.progress.above(a.stderr, func(out io.Writer) {
		terminal.Fprintf(out, "warning: the job of %q may run on: %v\n", state, why)
	})
}

// handler calls the service of a resource.
func (a *taskAnswers) handler(ctx context.Context, at place, resource string) (sim.Handler, error) {
	if a.callers == nil {
		a.callers = map[place]*caller{}
	}
	if a.callers[at] == nil {
		cfg, err := a.options.services.configuration(ctx, at, a.options.verbose)
		if err != nil {
			return nil, err
		}
		a.callers[at] = &caller{servicetask.New(cfg, servicetask.Hooks{Polled: a.progress.followPoll, Left: a.warnOfJob}), cfg}
	}
	return a.callers[at].Handler(resource) //nolint:contextcheck // it calls nothing
}

func namesOf(states []*asl.State) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.Name
	}
	return names
}
