package mock

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Targets are what the mocks of a state machine can be for: the states that
// call something, and the resources that they call.
type Targets struct {
	resources map[string]bool
	calling   map[string]bool     // states that call
	resource  map[string]string   // by state that calls
	objects   map[string][]string // what a state that reads objects also calls, by state
	others    map[string]asl.Type // states that do not
}

// TargetsOf returns the targets of a machine.
func TargetsOf(m *asl.StateMachine) *Targets {
	t := &Targets{
		resources: map[string]bool{}, calling: map[string]bool{},
		resource: map[string]string{}, objects: map[string][]string{}, others: map[string]asl.Type{},
	}
	for s := range m.All {
		switch {
		case s.Task != nil:
			t.calling[s.Name], t.resources[s.Task.Resource] = true, true
			t.resource[s.Name] = s.Task.Resource
		case s.Map != nil && s.Map.ItemReader != nil:
			t.calling[s.Name], t.resources[s.Map.ItemReader.Resource] = true, true
			t.resource[s.Name], t.objects[s.Name] = s.Map.ItemReader.Resource, sim.ObjectResources(s)
		default:
			t.others[s.Name] = s.Type
		}
	}
	return t
}

// Check returns an *UnknownNameError if the name is not that of a target.
func (t *Targets) Check(name string) error {
	if t.calling[name] || t.resources[name] {
		return nil
	}
	there := append(slices.Sorted(maps.Keys(t.calling)), slices.Sorted(maps.Keys(t.resources))...)
	e := &UnknownNameError{What: "state or resource", Name: name, Type: t.others[name], There: there}
	if e.Type == "" {
		e.Suggestion = nearest.Word(name, there)
	}
	return e
}

// CheckJob returns an error if a simulated job cannot answer the target: a Task
// that ends with its job, or with a token, is no call that can be repeated.
func (t *Targets) CheckJob(name string) error {
	if err := t.Check(name); err != nil {
		return err
	}
	if pattern := t.pattern(name); pattern != "" {
		return fmt.Errorf("mocks: a job answers start, describe and stop calls; %q is a %q Task, which ends with the job: "+
			"let it return or fail after so many seconds", name, pattern)
	}
	return nil
}

// UnmockedError is the error of a run in which a Task was called that the test
// case of a MockConfigFile.json does not name.
type UnmockedError struct{ State, Resource, TestCase string }

func (e *UnmockedError) Error() string {
	return fmt.Sprintf("the Task %q (%s) was called, and the test case %q has no response for it", e.State, e.Resource, e.TestCase)
}

// Bind puts handlers, each by the name of its target, into the options of a
// run, in addition to those there.
func (t *Targets) Bind(o *sim.Options, handlers map[string]sim.Handler) error {
	o.Handlers, o.StateHandlers = maps.Clone(o.Handlers), maps.Clone(o.StateHandlers)
	if o.Handlers == nil {
		o.Handlers = map[string]sim.Handler{}
	}
	if o.StateHandlers == nil {
		o.StateHandlers = map[string]sim.Handler{}
	}
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		if err := t.Check(name); err != nil {
			return err
		}
		if t.calling[name] {
			o.StateHandlers[name] = handlers[name]
		} else {
			o.Handlers[name] = handlers[name]
		}
	}
	return nil
}

// pattern is that of a target's resource, such as ".sync".
func (t *Targets) pattern(name string) string {
	resource := name
	if t.calling[name] {
		resource = t.resource[name]
	}
	return asl.ParseResource(resource).Pattern
}

// endsWithJob tells whether a target is a Task that ends with its job.
func (t *Targets) endsWithJob(name string) bool {
	return t.Check(name) == nil && strings.HasPrefix(t.pattern(name), ".sync")
}

// isFunction tells whether a target is a Task with the ARN of a Lambda function.
func (t *Targets) isFunction(name string) bool {
	resource := name
	if t.calling[name] {
		resource = t.resource[name]
	}
	return asl.ParseResource(resource).IsFunction()
}

// failOthers fails the calls of the states that have no handler.
func (t *Targets) failOthers(o *sim.Options, testCase string) {
	if o.Handler != nil { // of all
		return
	}
	for state := range t.calling {
		isAnswered := func(resource string) bool { return o.Handlers[resource] != nil }
		if o.StateHandlers[state] != nil || isAnswered(t.resource[state]) || slices.ContainsFunc(t.objects[state], isAnswered) {
			continue
		}
		o.StateHandlers[state] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			return sim.Reply{}, &UnmockedError{State: call.State, Resource: call.Resource, TestCase: testCase}
		}
	}
}

// UnknownNameError is the error of mocks for a state or resource that the state
// machine does not have or that calls nothing, or of a test case that a file
// does not have.
type UnknownNameError struct {
	What       string // "state or resource" or "single test case"
	Name       string
	Type       asl.Type // of the state that calls nothing
	Suggestion string
	There      []string
}

func (e *UnknownNameError) Error() string {
	text := fmt.Sprintf("mocks: there is no %s %q", e.What, e.Name)
	if e.Type != "" {
		text = fmt.Sprintf("mocks: the state %q is a %s, which makes no call", e.Name, e.Type)
	}
	text += nearest.Question(e.Suggestion)
	if len(e.There) == 0 {
		return text + "; there are none"
	}
	return text + "; there are " + strings.Join(e.There, ", ")
}
