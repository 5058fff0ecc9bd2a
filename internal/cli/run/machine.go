package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// runMachine runs the state machine and reports how it ended.
func runMachine(c *cobra.Command, o runOptions) (err error) {
	machine, err := o.readDefinition(c.Context(), c.InOrStdin())
	if err != nil {
		return err
	}
	input, err := o.readInput(c.InOrStdin())
	if err != nil {
		return err
	}
	if err := o.checkInput(c.ErrOrStderr(), machine, input); err != nil {
		return err
	}
	clock, err := o.newClock()
	if err != nil {
		return err
	}
	with := o.benchOptions()
	with.Job = shipped.RequestJob(input)
	bench, err := shipped.Start(c.Context(), with, clock, c.ErrOrStderr())
	if err != nil {
		return kit.AsFailure(err)
	}
	defer func() { err = errors.Join(err, bench.Close()) }()

	began, err := bench.ClaimStart(c.Context(), c.ErrOrStderr())
	if err != nil {
		return kit.AsFailure(err)
	}
	r := newReporter(c.OutOrStdout(), o)
	r.begin(accessOf(bench))
	if access := accessOf(bench); access != nil && !o.quiet && (o.records.Data != "" || o.output != "text") {
		terminal.Fprintf(c.ErrOrStderr(), "%s\n", access.text())
	}
	p := newProgress(machine.StateMachine, clock, kit.WaitLimit(input))
	p.begin(c.ErrOrStderr(), o)
	start := clock.Now()
	result, err := o.execute(c.Context(), machine, input, sim.Options{
		Clock: clock, Execution: o.name, StateMachine: answers.StateMachine, Seed: o.seed, Models: models.Load, Lenient: o.lenient,
		StartTime: began, Express: machine.Definition.Type == asl.Express,
		Handlers: bench.InvokeHandlers(p.record),
		OnEvent: func(e sim.Event) {
			p.event(e)
			p.trace(c.ErrOrStderr(), o.views, start, e)
			r.event(e)
		},
		OnWait: p.wait,
	})
	p.close()
	if err != nil {
		err = mockError(o, machine, err)
	}
	if result == nil {
		return err
	}
	kept := o.keepHistory(result)
	if err == nil {
		err = r.result(newReport(context.WithoutCancel(c.Context()), bench, &o, machine.StateMachine, result, p))
	}
	if err := joinFailures(err, kept, o.views.Write(machine.StateMachine, result)); err != nil {
		return err
	}
	if code := exitCode(result); code != kit.ExitSucceeded {
		return kit.WithCode(code, openArguments(machine.StateMachine))
	}
	return nil
}

// joinFailures joins the failure of a run and those of writing what it came to. The
// first has the exit code.
func joinFailures(errs ...error) error {
	all := errors.Join(errs...)
	if all == nil {
		return nil
	}
	code := kit.ExitFailed
	if own, ok := kit.CodeOf(all); ok {
		code = own
	}
	return kit.WithCode(code, all)
}

// openArguments is a hint for a run that did not succeed: placeholders without a
// value, such as the name of a function, went into its calls. Nil if there are
// none.
func openArguments(m *asl.StateMachine) error {
	names := kit.OpenPlaceholders(m, false)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("these placeholders have no value: ${%s}%s", strings.Join(names, "}, ${"), kit.SubstituteHint(names))
}
