package run

import (
	"errors"
	"strings"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// mockError is the error of a run with mocks.
func mockError(o runOptions, m *source.Machine, err error) error {
	if unmocked, ok := errors.AsType[*mock.UnmockedError](err); ok {
		return kit.Usage("%s: %w", o.mocks, unmocked)
	}
	unanswered, ok := errors.AsType[*sim.ResourceError](m.Definition.LocateError(err))
	if !ok {
		return kit.RunError(m, err)
	}
	var b strings.Builder
	for _, t := range unanswered.Tasks {
		hint := ""
		if !o.usesMocks() {
			hint = answers.LambdaHint(m, t.State)
		}
		terminal.Fprintf(&b, "%s:%d:%d: nothing answers the Task %q (%s)%s\n", m.Definition.File, t.Position.Line, t.Position.Column, t.State, t.Resource,
			hint)
	}
	first := unanswered.Tasks[0].State
	if o.mocks == "" {
		return kit.Usage("%sSay what answers: --simulate 10m, --mocks with a file such as {%q: {\"return\": {}}}, --endpoint-url URL of an emulator, "+
			"--aws, or --lambda for functions%s", terminal.Lines(b.String()), first, kit.SubstituteHint(kit.OpenPlaceholders(m.StateMachine, false)))
	}
	return kit.Usage("%sAdd mocks to %s, such as %q: {\"return\": {}}", terminal.Lines(b.String()), o.mocks, first)
}
