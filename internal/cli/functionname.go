package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// reference is what a template puts in for a placeholder, such as Function.Arn.
func (m *machine) reference(placeholder string) string {
	if name, ok := m.definition.References[placeholder]; ok {
		return name
	}
	return placeholder
}

// functionOf is the NAME of --lambda for the function that a Task invokes: its own, or
// its logical ID in the template. It is empty where only the run says it, and for any
// other Task; invokes tells the two apart.
func (m *machine) functionOf(s *asl.State) (name string, invokes bool) {
	return m.functionIn(s, s.Task.Resource)
}

// functionIn is functionOf, of a Task with a resource.
func (m *machine) functionIn(s *asl.State, resource string) (name string, invokes bool) {
	text := resource
	switch {
	case isInvoke(text):
		text = functionArgument(s)
	case !isFunction(text) && !asl.IsPlaceholderText(text):
		return "", false
	}
	if i := strings.Index(text, "}"); strings.HasPrefix(text, "${") && i > 0 { // also with an alias behind it
		id, _, _ := strings.Cut(m.reference(text[len("${"):i]), ".")
		text = idIn(m.definition.Functions(), id)
	}
	if name, _ = sim.FunctionName(text); !lambdaName().MatchString(name) {
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

// checkFunctions refuses functions of --lambda that no Task invokes.
func (a *taskAnswers) checkFunctions() error {
	var problems []error
	for _, problem := range a.options.functions.findUnused(a.machine) {
		problems = append(problems, errors.New(problem))
	}
	if err := errors.Join(problems...); err != nil {
		return usage("%s: %w", cmp.Or(a.machine.definition.File, stateMachineName), err)
	}
	return nil
}

// findUnused says which functions of --lambda no Task of the machines invokes. Where the run
// alone says what a Task invokes, any may be the one.
func (l localFunctions) findUnused(machines ...*machine) (problems []string) {
	known, used := map[string]bool{}, map[string]bool{}
	for _, m := range machines {
		for s := range m.All {
			if s.Task == nil {
				continue
			}
			name, invokes := m.functionOf(s)
			switch {
			case invokes && name == "":
				return nil
			case invokes:
				known[name], used[l.find(name)] = true, true
			}
		}
	}
	names := slices.Sorted(maps.Keys(known))
	there := "it invokes no function"
	if len(machines) > 1 {
		there = "they invoke no function"
	}
	if len(names) > 0 {
		there = "there are " + strings.Join(names, ", ")
	}
	for _, name := range l.names() {
		if !used[name] {
			problems = append(problems, fmt.Sprintf("--lambda %s: no Task invokes %s%s; %s", name, name, nearest.DidYouMean(name, names), there))
		}
	}
	return problems
}

// checkPollers refuses run-job without check-status, and the other way round: both work on
// one start record, with the drivers of one program. States that mocks answer call none.
func (a *taskAnswers) checkPollers(answered []string) error {
	of := a.options.functions
	lacks := map[string]bool{}
	var given []string
	for s := range a.machine.All {
		if s.Task == nil || slices.Contains(answered, s.Name) || slices.Contains(answered, s.Task.Resource) {
			continue
		}
		resource, waits := strings.CutSuffix(s.Task.Resource, tokenPattern)
		name, _ := a.machine.functionIn(s, resource)
		handler := of.handlerOf(name)
		by := of.find(name)
		switch {
		case !isPollerHandler(handler) || name == "":
		case by == "":
			lacks[handler] = true
		case waits:
			return usage("%s: the Task %q waits for the collector, which run starts for its own functions alone: test it with package handlertest",
				cmp.Or(a.machine.definition.File, stateMachineName), s.Name)
		default:
			given = append(given, by)
		}
	}
	if len(given) == 0 || len(lacks) == 0 {
		return of.checkRecords(given)
	}
	other := slices.Sorted(maps.Keys(lacks))[0]
	return usage("--lambda %s: the Tasks of %s work on the same start records: pass --lambda %s=%s, too", given[0], other, other, of.byName[given[0]].what)
}

// lambdaHint tells how the function of a state would run here; empty for a state that
// invokes none by name.
func (m *machine) lambdaHint(state string) string {
	for s := range m.All {
		if s.Task == nil || s.Name != state {
			continue
		}
		if name, _ := m.functionOf(s); name != "" {
			return ": to invoke a function here, pass --lambda " + name + "=./bootstrap or --lambda " + name + "=http://..."
		}
	}
	return ""
}
