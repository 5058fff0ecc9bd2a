// Package simtest tests state machines in go test: in virtual time, with
// scripted Tasks, and with assertions on what happened.
//
//	s := simtest.New(t, definition)
//	s.On("arn:aws:states:::aws-sdk:dynamodb:describeExport").Return(running).Times(3).Return(done)
//	s.Run(`{"id": "x"}`).RequireSucceeded().RequireElapsed(90 * time.Second)
package simtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// T is what simtest needs of a *testing.T. Fatalf must not return.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Sim is a state machine under test. It serves one goroutine.
type Sim struct {
	// Options are those of the runs, such as the Seed of what is random. If a
	// Clock is set, time goes on from run to run, and simulated jobs with it;
	// else each run has a clock of its own. Handlers are used for what neither
	// On nor Job answers. Without Models, arguments and responses are checked against
	// AWS's; Models that know no service turn that off, and Lenient lets pass what the
	// models do not know yet.
	Options sim.Options

	t       T
	machine *asl.StateMachine
	// definition knows where the machine stands in its file.
	definition *source.Definition
	targets    *mock.Targets
	file       *mock.Config // nil: none
	test       string       // test case of the file
	filed      sim.Options  // with the handlers of the file for the latest run
	scripts    map[string]*mock.Script
	jobs       map[string]jobCall
	visits     map[string]int
	edges      map[sim.Edge]int

	mu    sync.Mutex // of calls: on a real clock Tasks run at the same time
	calls []sim.Call
}

// jobCall is one of the calls of a job.
type jobCall struct {
	job    *mock.Job
	handle sim.Handler
}

// New returns the state machine of a definition for tests. A wrong definition
// fails the test.
func New[Text ~string | ~[]byte](t T, definition Text) *Sim {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	if err != nil {
		t.Fatalf("definition: %v", err)
		return nil
	}
	return newSim(t, m, &source.Definition{})
}

// File is New with the definition in a file: of JSON or YAML, or in a template, as
// in "template.yaml#Poller". A template that says so makes it an Express workflow.
func File(t T, name string) *Sim {
	t.Helper()
	d, err := source.LoadOne(t.Context(), name, source.Options{})
	if err != nil {
		t.Fatalf("definition: %v", err)
		return nil
	}
	m, err := d.Parse()
	if err != nil {
		t.Fatalf("%s: %v", d.File, err)
		return nil
	}
	s := newSim(t, m, d)
	s.Options.Express = d.Type == asl.Express
	return s
}

func newSim(t T, m *asl.StateMachine, d *source.Definition) *Sim {
	return &Sim{
		t: t, machine: m, definition: d, targets: mock.TargetsOf(m), scripts: map[string]*mock.Script{}, jobs: map[string]jobCall{},
		visits: map[string]int{}, edges: map[sim.Edge]int{},
	}
}

// On returns the script of a Task by the name of its state or by its resource
// as written in the definition; that of a state wins. The first call makes the
// script, in place of a Job if there is one, and further ones return the same. A
// script goes on from run to run.
func (s *Sim) On(name string) *mock.Script {
	s.t.Helper()
	s.mustKnow(name)
	if s.scripts[name] == nil {
		s.scripts[name] = mock.New()
		delete(s.jobs, name)
	}
	return s.scripts[name]
}

// Job lets a simulated job answer its calls, in place of what did so before:
// describe, and start and stop if they are not empty, are states or resources.
func (s *Sim) Job(j *mock.Job, start, describe, stop string) {
	s.t.Helper()
	if err := j.Check(); err != nil {
		s.t.Fatalf("job: %v", err)
		return
	}
	calls := []struct {
		name   string
		handle sim.Handler
	}{{start, j.Start}, {describe, j.Describe}, {stop, j.Stop}}
	for i, call := range calls {
		if call.name == "" && i != 1 {
			continue
		}
		s.mustKnow(call.name)
		if err := mock.TargetsOf(s.machine).CheckJob(call.name); err != nil {
			s.t.Fatalf("%v", err)
			return
		}
		for _, other := range calls[:i] {
			if other.name == call.name {
				s.t.Fatalf("job: %q can be one call of the job only", call.name)
			}
		}
		s.jobs[call.name] = jobCall{j, call.handle}
		delete(s.scripts, call.name)
	}
}

// MockFile takes answers from a file of mocks: see mock.Read. test names the
// test case if the file is AWS's MockConfigFile.json. They start anew with each
// run. What On or Job answers is not taken from the file.
func (s *Sim) MockFile(name, test string) {
	s.t.Helper()
	text, err := os.ReadFile(name) //nolint:gosec // a test names its own file
	if err != nil {
		s.t.Fatalf("mocks: %v", err)
		return
	}
	if s.file, err = mock.Read(text); err == nil {
		err = s.file.Apply(s.machine, test, &sim.Options{})
	}
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.test = test
}

// Calls returns the calls of a state or resource in all runs so far, with their
// arguments.
func (s *Sim) Calls(name string) []sim.Call {
	s.t.Helper()
	s.mustKnow(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []sim.Call
	for _, call := range s.calls {
		if call.State == name || call.Resource == name {
			out = append(out, call)
		}
	}
	return out
}

// Run runs the machine once. The input is JSON text, as a string, []byte or
// json.RawMessage, or any other value that encoding/json takes; nil is {}.
func (s *Sim) Run(input any) *Run {
	s.t.Helper()
	text, err := inputText(input)
	if err != nil {
		s.t.Fatalf("input: %v", err)
		return nil
	}
	if s.Options.Clock == nil {
		for _, call := range s.jobs {
			call.job.Reset()
		}
	}
	s.filed = sim.Options{}
	if s.file != nil {
		if err := s.file.Apply(s.machine, s.test, &s.filed); err != nil {
			s.t.Fatalf("%v", err)
		}
	}
	return s.drive(func(o sim.Options) (*sim.Result, error) {
		return sim.Run(s.t.Context(), s.machine, text, o)
	})
}

// Redrive goes on with a run that did not succeed: see sim.Redrive.
func (s *Sim) Redrive(r *Run) *Run {
	s.t.Helper()
	return s.drive(func(o sim.Options) (*sim.Result, error) {
		return sim.Redrive(s.t.Context(), s.machine, r.Result, o)
	})
}

// RequireCovered fails the test if a state was entered in none of the runs so
// far, but for those named.
func (s *Sim) RequireCovered(except ...string) {
	s.t.Helper()
	var missing []string
	for state := range s.machine.All {
		if s.visits[state.Name] == 0 && !slices.Contains(except, state.Name) {
			missing = append(missing, state.Name)
		}
	}
	if len(missing) > 0 {
		s.t.Fatalf("states that no run entered: %s", strings.Join(missing, ", "))
	}
}

// RequireTransitionsCovered fails the test if a way from one state to another
// was taken in none of the runs so far.
func (s *Sim) RequireTransitionsCovered() {
	s.t.Helper()
	var missing []string
	for state := range s.machine.All {
		for _, way := range state.Transitions() {
			if s.edges[sim.Edge{From: state.Name, To: way.To, Kind: way.Kind, Rule: way.Rule}] == 0 {
				missing = append(missing, fmt.Sprintf("%s -> %s (%s)", state.Name, way.To, wayName(way)))
			}
		}
	}
	if len(missing) > 0 {
		s.t.Fatalf("transitions that no run took:\n  %s", strings.Join(missing, "\n  "))
	}
}

func (s *Sim) mustKnow(name string) {
	s.t.Helper()
	if err := s.targets.Check(name); err != nil {
		s.t.Fatalf("%v", err)
	}
}

// options are those of a run: handlers of a file, then those of Options, then
// scripts and jobs.
func (s *Sim) options() (sim.Options, error) {
	o := s.Options
	if o.Models == nil {
		o.Models = models.Load
	}
	o.Handlers = merge(s.filed.Handlers, o.Handlers)
	o.StateHandlers = merge(s.filed.StateHandlers, o.StateHandlers)
	handlers := map[string]sim.Handler{}
	for name, call := range s.jobs {
		handlers[name] = call.handle
	}
	for _, name := range slices.Sorted(maps.Keys(s.scripts)) {
		if err := s.scripts[name].Check(); err != nil {
			return o, fmt.Errorf("the script of %q: %w", name, err)
		}
		handlers[name] = s.scripts[name].Handle
	}
	if err := s.targets.Bind(&o, handlers); err != nil {
		return o, err
	}
	for _, all := range []map[string]sim.Handler{o.Handlers, o.StateHandlers} {
		for name, handler := range all {
			if handler != nil {
				all[name] = s.record(handler)
			}
		}
	}
	return o, nil
}

func merge(first, second map[string]sim.Handler) map[string]sim.Handler {
	out := map[string]sim.Handler{}
	maps.Copy(out, first)
	maps.Copy(out, second)
	return out
}

// record returns a handler that keeps its calls.
func (s *Sim) record(h sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		s.mu.Lock()
		s.calls = append(s.calls, call)
		s.mu.Unlock()
		return h(ctx, call)
	}
}

// drive runs the machine, or goes on with it, and notes where it went.
func (s *Sim) drive(run func(o sim.Options) (*sim.Result, error)) *Run {
	s.t.Helper()
	o, err := s.options()
	if err != nil {
		s.t.Fatalf("%v", err)
		return nil
	}
	var events []sim.Event
	o.OnEvent = func(e sim.Event) {
		events = append(events, e)
		if s.Options.OnEvent != nil {
			s.Options.OnEvent(e)
		}
	}
	r, err := run(o)
	switch {
	case err != nil && len(events) > 0:
		trace := &sim.Result{Events: events, Start: events[0].Timestamp}
		s.t.Fatalf("the run broke off: %v\n\n%s", err, trace.Trace())
		return nil
	case err != nil:
		s.t.Fatalf("the machine cannot be run: %v%s", s.definition.LocateError(err), answerHint(err))
		return nil
	}
	for name, n := range r.Visits {
		s.visits[name] += n
	}
	for edge, n := range r.Edges {
		s.edges[edge] += n
	}
	return &Run{Result: r, t: s.t, machine: s.machine}
}

// answerHint says how a Task that nothing answers gets an answer.
func answerHint(err error) string {
	unanswered, ok := errors.AsType[*sim.ResourceError](err)
	if !ok {
		return ""
	}
	return fmt.Sprintf("\nanswer each Task with On or Job, such as On(%q).Return(...)", unanswered.Tasks[0].State)
}

func wayName(t asl.Transition) string {
	switch t.Kind {
	case asl.TransitionRule:
		return fmt.Sprintf("rule %d", t.Rule+1)
	case asl.TransitionDefault:
		return "Default"
	case asl.TransitionCatch:
		return fmt.Sprintf("catcher %d", t.Rule+1)
	default:
		return "Next"
	}
}
