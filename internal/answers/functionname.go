package answers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// functionOf is the NAME of --lambda for the function that a Task invokes: its own, or
// its logical ID in the template. It is empty where only the run says it, and for any
// other Task; invokes tells the two apart.
func functionOf(m *source.Machine, s *asl.State) (name string, invokes bool) {
	return functionIn(m, s, s.Task.Resource)
}

// functionIn is functionOf, of a Task with a resource.
func functionIn(m *source.Machine, s *asl.State, resource string) (name string, invokes bool) {
	text := resource
	switch {
	case isInvoke(text):
		text = functionArgument(s)
	case !isFunction(text) && !asl.IsPlaceholderText(text):
		return "", false
	}
	if i := strings.Index(text, "}"); strings.HasPrefix(text, "${") && i > 0 { // also with an alias behind it
		id, _, _ := strings.Cut(m.Definition.Reference(text[len("${"):i]), ".")
		text = IDIn(m.Definition.Functions(), id)
	}
	if name, _ = sim.FunctionName(text); !IsFunctionName(name) {
		name = ""
	}
	return name, true
}

// functionArgument is the FunctionName that a Task is written with; empty for one that
// is computed.
func functionArgument(s *asl.State) string {
	for _, t := range []*asl.Template{s.Parameters, s.Arguments} {
		if t == nil {
			continue
		}
		if literal, ok := t.Literal.(map[string]any); ok {
			text, _ := literal["FunctionName"].(string)
			return text
		}
		for _, member := range t.Object {
			if text, ok := member.Value.Literal.(string); ok && member.Name == "FunctionName" {
				return text
			}
		}
	}
	return ""
}

// CheckUsed refuses functions of --lambda that no Task invokes.
func (l Functions) CheckUsed(m *source.Machine) error {
	var problems []error
	for _, problem := range l.FindUnused(m) {
		problems = append(problems, errors.New(problem))
	}
	if err := errors.Join(problems...); err != nil {
		return commandline.Errorf("%s: %w", cmp.Or(m.Definition.File, StateMachine), err)
	}
	return nil
}

// FindUnused says which functions of --lambda no Task of the machines invokes. Where the run
// alone says what a Task invokes, any may be the one.
func (l Functions) FindUnused(machines ...*source.Machine) (problems []string) {
	known, used := map[string]bool{}, map[string]bool{}
	for _, m := range machines {
		for s := range m.All {
			if s.Task == nil {
				continue
			}
			name, invokes := functionOf(m, s)
			switch {
			case invokes && name == "":
				return nil
			case invokes:
				known[name], used[l.Find(name)] = true, true
			}
		}
	}
	names := slices.Sorted(maps.Keys(known))
	there := "the definition invokes no function"
	if len(machines) > 1 {
		there = "the definitions invoke no function"
	}
	if len(names) > 0 {
		there = "there are " + strings.Join(names, ", ")
	}
	for _, name := range l.Names() {
		if !used[name] {
			problems = append(problems, fmt.Sprintf("--lambda %s: no Task invokes %s%s; %s", name, name, nearest.DidYouMean(name, names), there))
		}
	}
	return problems
}

// CheckPollers refuses run-job without check-status, and the other way round: both work on
// one start record, with the drivers of one program. States that mocks answer call none.
func (l Functions) CheckPollers(m *source.Machine, answered []string) error {
	lacks := map[string]bool{}
	var given []string
	for s := range m.All {
		if s.Task == nil || slices.Contains(answered, s.Name) || slices.Contains(answered, s.Task.Resource) {
			continue
		}
		resource, waits := strings.CutSuffix(s.Task.Resource, tokenPattern)
		name, _ := functionIn(m, s, resource)
		handler := l.handlerOf(name)
		by := l.Find(name)
		switch {
		case !isPoller(handler) || name == "":
		case by == "":
			lacks[handler] = true
		case waits:
			return commandline.Errorf("%s: the Task %q waits for the collector, which run starts for its own functions alone: test it with package handlertest",
				cmp.Or(m.Definition.File, StateMachine), s.Name)
		default:
			given = append(given, by)
		}
	}
	if len(given) == 0 || len(lacks) == 0 {
		return l.CheckRecords(given)
	}
	other := slices.Sorted(maps.Keys(lacks))[0]
	return commandline.Errorf("--lambda %s: the Tasks of %s work on the same start records: pass --lambda %s=%s, too",
		given[0], other, other, l.ByName[given[0]].What)
}

// LambdaHint tells how the function of a state would run here; empty for a state that
// invokes none by name.
func LambdaHint(m *source.Machine, state string) string {
	for s := range m.All {
		if s.Task == nil || s.Name != state {
			continue
		}
		if name, _ := functionOf(m, s); name != "" {
			return ": to invoke a function here, pass --lambda " + name + "=./bootstrap or --lambda " + name + "=http://..."
		}
	}
	return ""
}

// functionOfCall is the name of the function that a Task invokes.
func functionOfCall(resource string, call sim.Call) string {
	if isInvoke(resource) {
		arguments, _ := call.Arguments.(map[string]any)
		resource, _ = arguments["FunctionName"].(string)
	}
	name, _ := sim.FunctionName(resource)
	return name
}
