package sim

import (
	"iter"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkDefinition refuses what cannot be run.
func checkDefinition(m *asl.StateMachine, o *Options) error {
	if err := openProblems(m, o).Err(); err != nil {
		return err
	}
	return checkResources(m.All, o)
}

// openProblems are what the definition leaves open, and what the type of the
// workflow does not allow.
func openProblems(m *asl.StateMachine, o *Options) diag.Problems {
	var problems diag.Problems
	for _, h := range m.Placeholders {
		if h.Needed {
			problems = append(problems, m.Problem(h.Position.Pointer, "the placeholder \"${%s}\" needs a value to run the definition", h.Name))
		}
	}
	if o.Express {
		problems = append(problems, asl.ExpressProblems(m)...)
	}
	return problems
}

func checkResources(states iter.Seq[*asl.State], o *Options) error {
	if o.Handler != nil {
		return nil // it answers all
	}
	have := slices.Sorted(maps.Keys(o.Handlers))
	have = slices.DeleteFunc(have, func(name string) bool { return o.Handlers[name] == nil })
	e := &ResourceError{Handlers: have}
	check := func(s *asl.State, resource string, position asl.Position) {
		own := func(of string) Handler { return o.ownHandler(s.Name, of) }
		if h, _ := o.objectHandler(resource, own); h != nil && s.Map != nil || o.handler(s.Name, resource) != nil {
			return
		}
		task := ResourceProblem{State: s.Name, Resource: resource, Position: position}
		if len(e.Tasks) < diag.MaxShown {
			task.Suggestion = nearest.Word(resource, have)
		}
		e.Tasks = append(e.Tasks, task)
	}
	for s := range states {
		if s.Task != nil {
			check(s, s.Task.Resource, s.Task.ResourcePosition)
		}
		if s.Map != nil && s.Map.ItemReader != nil {
			check(s, s.Map.ItemReader.Resource, s.Map.ItemReader.ResourcePosition)
		}
	}
	if len(e.Tasks) > 0 {
		return e
	}
	return nil
}

// check refuses a machine that cannot be run, whatever the execution.
func (m *machineData) check(machine *asl.StateMachine, o *Options) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := 0
	if o.Express {
		i = 1
	}
	if !m.checked[i] {
		m.problems[i], m.checked[i] = openProblems(machine, o).Err(), true
	}
	return m.problems[i]
}
