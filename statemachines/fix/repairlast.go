package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// tellLast lets the Fail state of a bound say the last status, where the loop polls on for statuses that nobody names: they
// may be failures. The status must be there in each run that comes to the state; else the edits stay as they are.
func (b *boundEdit) tellLast(edits []edit.Edit, r *repairer) []edit.Edit {
	i := slices.IndexFunc(edits, func(e edit.Edit) bool { return e.Name == b.fail })
	path, err := jsonpath.Parse(b.lastStatus())
	if i < 0 || err != nil {
		return edits
	}
	after, err := edit.Apply(b.file, r.read, edits...)
	if err != nil {
		return edits
	}
	bounded, err := r.load(after)
	if err != nil {
		return edits
	}
	fail := stateOf(bounded.machine, b.fail)
	always, scalar := bounded.options.Types.AlwaysSelects(fail, path)
	node, err := jsontree.Parse(edits[i].Value)
	if err != nil || !always {
		return edits
	}
	says, selected := node.Root.Get("Cause").Text+"; its last status was ", path.String()
	name, cause := "CausePath", fmt.Sprintf("States.Format('%s{}', %s)", says, selected)
	switch {
	case fail.QueryLanguage == asl.JSONata:
		if path.Variable() == "" {
			selected = "$states.input" + strings.TrimPrefix(selected, "$")
		}
		name, cause = "Cause", fmt.Sprintf("{%% '%s' & %s %%}", says, selected)
	case !scalar: // whatever it is
		cause = fmt.Sprintf("States.Format('%s{}', States.JsonToString(%s))", says, selected)
	}
	told := slices.Clone(edits)
	told[i].Value = value("Type", "Fail", "Error", node.Root.Get("Error").Text, name, cause)
	return told
}

// lastStatus is the path of what a Choice compares that polls on for each status that no rule names; empty if it compares
// several things, or does not pass on what it gets.
func (b *boundEdit) lastStatus() string {
	for _, f := range b.findings {
		s := b.stateAt(f)
		if f.Rule != lint.LoopingDefault || s == nil || s.Choice == nil || !b.inside[s.Name] {
			continue
		}
		state := nodeAt(b.root, s.Position.Pointer)
		if state.Get("InputPath") != nil || state.Get("OutputPath") != nil || state.Get("Output") != nil {
			continue
		}
		var operands []string
		for _, rule := range state.Get("Choices").Items {
			operands = append(operands, operandsOf(rule)...)
		}
		slices.Sort(operands)
		if operands = slices.Compact(operands); len(operands) == 1 {
			if rest, ok := strings.CutPrefix(operands[0], "$states.input"); ok {
				return "$" + rest
			}
			return operands[0]
		}
	}
	return ""
}
