package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ignoresBranch tells whether what follows a Parallel looks at the outputs of other branches, and
// surely not at that of one: its status goes by unseen. It is false where anything may look at it.
func ignoresBranch(f *asl.Flow, s *asl.State, branch int) bool {
	if s.Parallel == nil || len(s.Parallel.Branches) < 2 { //nolint:mnd // the branch and another
		return false
	}
	o := outputOf(s)
	if o == nil {
		return false
	}
	others := o.reads(o.text, func(step string) bool { return step != indexStep(branch) })
	if o.reads(o.text, takesIndex(branch)) {
		return false
	}
	for _, next := range f.States {
		if next == s {
			continue
		}
		operands, all := operandsOfState(next)
		if all || slices.ContainsFunc(operands, func(read operand) bool { return o.readBy(read, takesIndex(branch)) }) {
			return false
		}
		others = others || next.Choice != nil && slices.ContainsFunc(operands, func(read operand) bool {
			return o.readBy(read, func(step string) bool { return strings.HasPrefix(step, "[") && step != indexStep(branch) })
		})
	}
	return others
}

func indexStep(i int) string { return fmt.Sprintf("[%d]", i) }

// takesIndex returns a test for steps into a list that may take an item of it.
func takesIndex(i int) func(step string) bool {
	return func(step string) bool {
		return step == indexStep(i) || !strings.HasPrefix(step, "[") || strings.HasPrefix(step, "[-")
	}
}

// parallelOutput is where the outputs of branches are behind their Parallel.
type parallelOutput struct {
	name string
	at   []operand // the whole list
	text string    // of the formulas of the Parallel itself that read the list
}

// outputOf finds where the outputs of a Parallel are; nil if that is not clear.
func outputOf(s *asl.State) *parallelOutput {
	o := &parallelOutput{name: s.Name}
	if !isWhole(s) {
		return nil
	}
	here := scope{state: s, onResult: true}
	if s.Assign != nil {
		for _, m := range s.Assign.Object {
			if f := here.template(m.Value, nil); f.text == o.whole() {
				o.at = append(o.at, operand{variable: m.Name})
			} else {
				o.text += f.text + "\n"
			}
		}
	}
	switch {
	case s.QueryLanguage == asl.JSONata && s.Output == nil:
		o.at = append(o.at, operand{})
	case s.QueryLanguage == asl.JSONata:
		o.text += here.template(s.Output, nil).text
	case s.ResultSelector != nil:
		o.text += here.template(s.ResultSelector, nil).text
	case s.ResultPath != nil:
		steps, whole := stepsOf(s.ResultPath)
		if !whole {
			return nil
		}
		o.at = append(o.at, operand{steps: steps})
	}
	return o
}

// whole is the text of a formula that is the whole list.
func (o *parallelOutput) whole() string { return "result of " + o.name + " " }

// reads tells whether a formula of the Parallel reads a part of the list that a test takes.
func (o *parallelOutput) reads(text string, takes func(step string) bool) bool {
	for {
		_, rest, found := strings.Cut(text, o.whole())
		if !found {
			return false
		}
		steps := rest
		if i := strings.IndexAny(rest, " ()\n"); i >= 0 {
			steps = rest[:i]
		}
		if step, _, _ := strings.Cut(steps, "."); takes(step) {
			return true
		}
		text = rest
	}
}

// readBy tells whether an operand reads the list, or a part of it that a test takes.
func (o *parallelOutput) readBy(read operand, takes func(step string) bool) bool {
	return slices.ContainsFunc(o.at, func(at operand) bool {
		n := len(at.steps)
		switch {
		case !read.overlaps(at):
			return false
		case len(read.steps) <= n:
			return takes("")
		default:
			return takes(read.steps[n])
		}
	})
}

// operandsOfState are what a state reads of its input and the variables; all is set where it may
// read anything.
func operandsOfState(s *asl.State) (operands []operand, all bool) {
	arguments := argumentsOf(s)
	plain := s.Choice != nil || s.Type == asl.TypePass || s.Type == asl.TypeWait || s.Type == asl.TypeSucceed || s.Type == asl.TypeFail
	switch {
	case !isWhole(s), !plain && (arguments == nil || s.Map != nil):
		return nil, true
	case s.Fail != nil && (!isLiteral(s.Fail.Error) || !isLiteral(s.Fail.Cause)), s.Wait != nil && (!isLiteral(s.Wait.Seconds) || !isLiteral(s.Wait.Timestamp)):
		return nil, true
	}
	here := scope{state: s}
	for _, t := range templatesOf(s) {
		if (t == s.ResultSelector || t == s.Assign && s.QueryLanguage != asl.JSONata) && hasResult(s) {
			continue // of its own result
		}
		operands = append(operands, here.template(t, nil).operands...)
	}
	if s.Choice != nil {
		for i := range s.Choice.Rules {
			operands = append(operands, operandsOfRule(&s.Choice.Rules[i])...)
		}
	}
	return operands, false
}

// isWhole tells whether a state takes its whole input, and gives its whole output.
func isWhole(s *asl.State) bool {
	return s.QueryLanguage == asl.JSONata || s.Fail != nil || isRoot(s.InputPath) && isRoot(s.OutputPath)
}

func isRoot(p *jsonpath.Path) bool { return p != nil && p.String() == "$" }

// isLiteral tells whether a field computes nothing.
func isLiteral(s *asl.Scalar) bool { return s == nil || s.Literal != nil }
