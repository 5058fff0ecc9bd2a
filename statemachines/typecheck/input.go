package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Misfits are the fields of a definition that cannot use the input of an execution.
type Misfits struct {
	// Certain are those of states that each execution with this input enters, and
	// that catch no error.
	Certain []Finding
	// Possible are the others: the execution may end before it reads them.
	Possible []Finding
}

// CheckInput returns the findings that a definition has with the input of the options,
// and not with any other. The error is that of the models.
func CheckInput(m *asl.StateMachine, o Options) (*Misfits, error) {
	given, err := New(m, o)
	if err != nil {
		return nil, err
	}
	o.Input = Value{}
	other, err := New(m, o)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{} // mistakes of the definition
	for _, f := range other.Findings() {
		known[f.Pointer] = true
	}
	entered := given.findEntered()
	out := &Misfits{}
	for _, f := range given.Findings() {
		switch {
		case known[f.Pointer] || !slices.Contains(inputRules, f.Rule):
		case entered[m.StateAt(f.Pointer)]:
			out.Certain = append(out.Certain, f)
		default:
			out.Possible = append(out.Possible, f)
		}
	}
	return out, nil
}

// inputRules are the rules that an input can break. That a comparison does not hold for
// one input is no mistake.
var inputRules = []string{UnknownMember, MissingArgument, UnknownArgument, ArgumentType}

// findEntered returns the states that each execution enters with the input of the options, as
// far as they catch no error.
func (c *Checker) findEntered() map[*asl.State]bool {
	states := map[*asl.State]bool{}
	c.enterEach(&c.machine.Flow, c.startEnv(), states)
	return states
}

// enterEach adds the states that a flow enters one after the other.
func (c *Checker) enterEach(f *asl.Flow, env Env, states map[*asl.State]bool) {
	s := f.State(f.StartAt)
	for s != nil && !states[s] && len(s.Catch) == 0 && !f.Open {
		states[s] = true
		if s.Parallel != nil {
			for i, start := range c.newScene(s, env, false).starts() {
				c.enterEach(s.Parallel.Branches[i], start, states)
			}
		}
		ways := c.Step(s, env, c.Result(s))
		if len(ways) != 1 || ways[0].End {
			return
		}
		s, env = f.State(ways[0].To), ways[0].Env
	}
}
