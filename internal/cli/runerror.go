package cli

import (
	"errors"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// runError tells an input or definition that cannot be run from a failure on
// the way.
func runError(m *source.Machine, err error) error {
	if _, ok := codeOf(err); ok {
		return err
	}
	err = m.Definition.LocateError(err)
	if _, ok := errors.AsType[*sim.ModelError](err); ok {
		return usage("%w\nTo run it all the same, pass --lenient", err)
	}
	if _, ok := errors.AsType[*sim.InputSizeError](err); ok {
		return usage("%w", err)
	}
	if _, ok := errors.AsType[diag.Problems](err); ok {
		if m.Definition.File != "" { // not the shipped one
			err = errorf("%s: %w", m.Definition.File, err)
		}
		return usage("%w%s", err, substituteHint(openPlaceholders(m.StateMachine, true)))
	}
	return withCode(exitFailed, err)
}
