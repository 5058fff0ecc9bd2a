// Package simtest tests state machines in go test: in virtual time, with
// scripted Tasks, and with assertions on what happened.
//
//	s := simtest.New(t, definition)
//	s.On("arn:aws:states:::aws-sdk:dynamodb:describeExport").Return(running).Times(3).Return(done)
//	s.Run(`{"id": "x"}`).RequireSucceeded().RequireElapsed(90 * time.Second)
package simtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// T is what simtest needs of a *testing.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Sim is a state machine under test.
type Sim struct {
	// Options are those of the runs; their handlers are added to the scripts.
	Options sim.Options

	t       T
	machine *asl.StateMachine
	scripts map[string]*mock.Script
	jobs    map[string]sim.Handler
	known   []string // states and resources
	visits  map[string]int
	edges   map[sim.Edge]int
}

// New returns the state machine of a definition for tests. A wrong definition
// fails the test.
func New(t T, definition string) *Sim {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	if err != nil {
		t.Fatalf("definition: %v", err)
		return nil
	}
	s := &Sim{
		t: t, machine: m, scripts: map[string]*mock.Script{}, jobs: map[string]sim.Handler{},
		visits: map[string]int{}, edges: map[sim.Edge]int{},
	}
	known := map[string]bool{}
	for state := range m.All {
		known[state.Name] = true
		if state.Task != nil {
			known[state.Task.Resource] = true
		}
		if state.Map != nil && state.Map.ItemReader != nil {
			known[state.Map.ItemReader.Resource] = true
		}
	}
	s.known = slices.Sorted(maps.Keys(known))
	return s
}

// File is New with the definition in a file.
func File(t T, name string) *Sim {
	t.Helper()
	text, err := os.ReadFile(name) //nolint:gosec // a test names its own file
	if err != nil {
		t.Fatalf("definition: %v", err)
		return nil
	}
	return New(t, string(text))
}

// On returns the script of a Task by the name of its state or by its resource
// as written in the definition; that of a state wins. The first call makes the
// script, further ones return the same.
func (s *Sim) On(name string) *mock.Script {
	s.t.Helper()
	s.mustKnow(name)
	if s.scripts[name] == nil {
		s.scripts[name] = mock.New()
	}
	return s.scripts[name]
}

// Job lets a simulated job answer its calls: describe, and start and stop if
// they are not empty, are states or resources.
func (s *Sim) Job(j *mock.Job, start, describe, stop string) {
	s.t.Helper()
	if err := j.Check(); err != nil {
		s.t.Fatalf("job: %v", err)
		return
	}
	for name, handler := range map[string]sim.Handler{start: j.Start, describe: j.Describe, stop: j.Stop} {
		if name != "" {
			s.mustKnow(name)
			s.jobs[name] = handler
		}
	}
}

// Run runs the machine once. The input is JSON text, as a string, []byte or
// json.RawMessage, or any other value that encoding/json takes; nil is {}.
func (s *Sim) Run(input any) *Run {
	s.t.Helper()
	text, err := jsonText(input)
	if err != nil {
		s.t.Fatalf("input: %v", err)
		return nil
	}
	r, err := sim.Run(s.t.Context(), s.machine, text, s.options())
	return s.ran(r, err)
}

// Redrive goes on with a run that did not succeed: see sim.Redrive.
func (s *Sim) Redrive(r *Run) *Run {
	s.t.Helper()
	result, err := sim.Redrive(s.t.Context(), s.machine, r.Result, s.options())
	return s.ran(result, err)
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
	if slices.Contains(s.known, name) {
		return
	}
	hint := ""
	if near := diag.Nearest(name, s.known); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	s.t.Fatalf("the definition has no state or resource %q%s; it has %s", name, hint, strings.Join(s.known, ", "))
}

func (s *Sim) options() sim.Options {
	o := s.Options
	o.Handlers, o.StateHandlers = maps.Clone(o.Handlers), maps.Clone(o.StateHandlers)
	if o.Handlers == nil {
		o.Handlers = map[string]sim.Handler{}
	}
	if o.StateHandlers == nil {
		o.StateHandlers = map[string]sim.Handler{}
	}
	handlers := maps.Clone(s.jobs)
	for name, script := range s.scripts {
		handlers[name] = script.Handle
	}
	for name, handler := range handlers {
		if strings.HasPrefix(name, "arn:") {
			o.Handlers[name] = handler
		} else {
			o.StateHandlers[name] = handler
		}
	}
	return o
}

func (s *Sim) ran(r *sim.Result, err error) *Run {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("the machine cannot be run: %v", err)
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

// jsonText is the JSON text of a value.
func jsonText(value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return []byte("{}"), nil
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	default:
		return json.Marshal(v)
	}
}

// compact is the compact text of JSON.
func compact(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}
