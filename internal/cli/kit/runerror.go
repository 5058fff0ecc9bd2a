package kit

import (
	"errors"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// RunError tells an input or definition that cannot be run from a failure on
// the way.
func RunError(m *source.Machine, err error) error {
	if _, ok := CodeOf(err); ok {
		return err
	}
	err = m.Definition.LocateError(err)
	if _, ok := errors.AsType[*sim.ModelError](err); ok {
		return Usage("%w\nTo run it all the same, pass --lenient", err)
	}
	if _, ok := errors.AsType[*sim.InputSizeError](err); ok {
		return Usage("%w", err)
	}
	if _, ok := errors.AsType[diag.Problems](err); ok {
		if m.Definition.File != "" { // not the shipped one
			err = terminal.Errorf("%s: %w", m.Definition.File, err)
		}
		return Usage("%w%s", err, SubstituteHint(OpenPlaceholders(m.StateMachine, true)))
	}
	return WithCode(ExitFailed, err)
}
