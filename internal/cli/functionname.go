package cli

import (
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
	text := s.Task.Resource
	switch {
	case isInvoke(text):
		text = functionArgument(s)
	case !isFunction(text) && !asl.IsPlaceholderText(text):
		return "", false
	}
	if i := strings.Index(text, "}"); strings.HasPrefix(text, "${") && i > 0 { // also with an alias behind it
		id, _, _ := strings.Cut(m.reference(text[len("${"):i]), ".")
		text = id
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
	known := map[string]bool{}
	for s := range a.machine.All {
		if s.Task == nil {
			continue
		}
		name, invokes := a.machine.functionOf(s)
		if invokes && name == "" {
			return nil // any may be the one
		}
		known[name] = invokes
	}
	delete(known, "")
	names := slices.Sorted(maps.Keys(known))
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(a.options.functions)) {
		if known[name] {
			continue
		}
		there := "the definition invokes no function"
		if len(names) > 0 {
			there = "there are " + strings.Join(names, ", ")
		}
		problems = append(problems, fmt.Errorf("--lambda %s: no Task invokes %s%s; %s", name, name, nearest.DidYouMean(name, names), there))
	}
	if err := errors.Join(problems...); err != nil {
		return usage("%s: %w", a.machine.definition.File, err)
	}
	return nil
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
