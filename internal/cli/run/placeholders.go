package run

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// readAnswered reads the definition of a run whose Tasks are answered. Where services
// or functions are called, placeholders get the values that the run has for them.
func (o *runOptions) readAnswered(ctx context.Context, in io.Reader) (*source.Machine, error) {
	if o.definition == "" { // with run-job and check-status of --lambda
		return localrun.ReadShipped()
	}
	if o.usesMocks() {
		return kit.ReadMachine(ctx, o.definition, in, o.substitutes, o.deployed())
	}
	var text []byte
	if o.definition == kit.Stdin {
		var err error
		if text, err = kit.ReadText(kit.Stdin, in); err != nil {
			return nil, err
		}
	}
	m, err := kit.ReadMachine(ctx, o.definition, bytes.NewReader(text), o.substitutes, o.deployed())
	if err != nil {
		return nil, err
	}
	o.functions.Templates = m.Definition.Functions()
	values, err := o.valuesOf(ctx, m)
	if err != nil || len(values) == 0 {
		return m, err
	}
	return kit.ReadMachine(ctx, o.definition, bytes.NewReader(text), slices.Concat(o.substitutes, values), o.deployed())
}

// valuesOf are the values that a run has for placeholders: its region, and the
// functions of --lambda by their logical IDs, as a template names them. The account is
// not known.
func (o *runOptions) valuesOf(ctx context.Context, m *source.Machine) (kit.Substitutions, error) {
	var values kit.Substitutions
	open := kit.OpenPlaceholders(m.StateMachine, false)
	if len(open) == 0 {
		return nil, nil
	}
	cfg, err := o.services.Local(ctx)
	if err != nil {
		return nil, kit.Usage("%w", err)
	}
	for _, name := range open {
		reference := m.Definition.Reference(name)
		id, attribute, _ := strings.Cut(reference, ".")
		function := answers.IDIn(o.functions.Templates, id)
		switch {
		case reference == "AWS::Region":
			values = append(values, name+"="+cfg.Region)
		case reference == "AWS::Partition":
			values = append(values, name+"="+awscall.PartitionOf(cfg.Region).Name)
		case o.functions.Find(id) != "" && (attribute == "Arn" || attribute == "" && function != id):
			values = append(values, name+"=arn:"+awscall.PartitionOf(cfg.Region).Name+":lambda:"+cfg.Region+":"+sim.DefaultAccount+":function:"+function)
		case o.functions.Find(id) != "" && attribute == "":
			values = append(values, name+"="+id)
		}
	}
	return values, nil
}

// refusePlaceholders refuses a definition with placeholders that would go to a service
// or a function as they are: those of Tasks that call one, and of states that make
// data. A name that the user gave a value has it, even if that looks the same.
func (a *taskAnswers) refusePlaceholders(called []string) error {
	if len(called) == 0 {
		return nil
	}
	given, err := kit.Substitutions(a.options.substitutes).Values()
	if err != nil {
		return err
	}
	var lines strings.Builder
	var names []string
	for _, h := range a.machine.Placeholders {
		state := stateAround(a.machine.StateMachine, h.Position.Pointer)
		if _, ok := given[h.Name]; ok || state == nil || state.Task != nil && !slices.Contains(called, state.Name) {
			continue
		}
		at := a.machine.Definition.LocatePosition(h.Position)
		terminal.Fprintf(&lines, "%s:%d:%d: state %q: ${%s} has no value, and calls send no placeholders%s\n",
			a.machine.Definition.File, at.Line, at.Column, state.Name, h.Name, answers.LambdaHint(a.machine, state.Name))
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return kit.Usage("%s%s", terminal.Lines(strings.TrimSuffix(lines.String(), "\n")), kit.SubstituteHint(names))
}

// stateAround is the innermost state in which a pointer is; nil for none.
func stateAround(m *asl.StateMachine, pointer string) *asl.State {
	var found *asl.State
	for s := range m.All {
		if strings.HasPrefix(pointer, s.Position.Pointer+"/") && (found == nil || len(s.Position.Pointer) > len(found.Position.Pointer)) {
			found = s
		}
	}
	return found
}
