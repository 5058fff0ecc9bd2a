package run

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// runAnswered runs a definition whose Tasks are answered as the flags say: by mocks,
// by simulated jobs, by services and by Lambda functions.
func runAnswered(c *cobra.Command, o runOptions) (err error) {
	machine, err := o.readAnswered(c.Context(), c.InOrStdin())
	if err != nil {
		return err
	}
	input := []byte(nil)
	if o.input != "" {
		if input, err = kit.ReadInput(o.input, c.InOrStdin()); err != nil {
			return err
		}
	}
	if !o.named && o.usesMocks() {
		o.name = executionOf(machine.Definition.Title())
	}
	clock, err := o.newClock()
	if err != nil {
		return err
	}
	calls, err := newLiveCalls(&o, clock.Now)
	if err != nil {
		return err
	}
	options := sim.Options{
		Execution: o.name, StateMachine: answers.StateMachine, Seed: o.seed, Clock: clock, Models: models.Load,
		Lenient: o.lenient, Express: o.express || machine.Definition.Type == asl.Express,
	}
	if err := o.checkInput(c.ErrOrStderr(), machine, input); err != nil {
		return err
	}
	p := newProgress(machine.StateMachine, options.Clock, kit.WaitLimit(input))
	a := &taskAnswers{options: &o, machine: machine, progress: p, calls: calls, stderr: c.ErrOrStderr()}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.addTo(c.Context(), &options, input, c.InOrStdin()); err != nil {
		if c.Context().Err() != nil {
			return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted"))
		}
		return err
	}
	reporter := newReporter(c.OutOrStdout(), o)
	start := options.Clock.Now()
	options.OnEvent = func(e sim.Event) {
		p.event(e)
		p.trace(c.ErrOrStderr(), o.views, start, e)
		reporter.event(e)
	}
	options.OnWait, options.OnMisfit = p.wait, a.passMisfit
	p.begin(c.ErrOrStderr(), o)
	result, err := o.execute(c.Context(), machine, input, options)
	p.close()
	if err != nil {
		err = calls.breakOff(mockError(o, machine, err))
	}
	if result == nil {
		return err
	}
	kept := a.keep(result)
	if err == nil {
		err = reporter.result(newSimulation(machine.StateMachine, result, p, &o))
	}
	if err := joinFailures(err, kept, o.views.Write(machine.StateMachine, result)); err != nil {
		return err
	}
	if code := exitCode(result); code != kit.ExitSucceeded {
		return &kit.ExitError{Code: code}
	}
	return nil
}

// keep keeps the history of a run, and forgets its calls. Of one that was cut off it
// tells the jobs that may run on.
func (a *taskAnswers) keep(result *sim.Result) error {
	err := a.options.keepHistory(result)
	if err == nil {
		err = a.calls.end()
	}
	if result.Status == sim.StatusAborted {
		a.calls.warn(a.stderr)
	}
	return err
}

// passMisfit lets the run go on with what a service answered, and tells of what its
// model does not have.
func (a *taskAnswers) passMisfit(misfit *sim.ModelError) bool {
	problems, ok := a.calls.pass(misfit)
	for _, problem := range problems {
		a.progress.above(a.stderr, func(out io.Writer) {
			terminal.Fprintf(out, "warning: %s answered what its model does not have: %s\n", answers.CallName(misfit.Resource), problem)
		})
	}
	return ok
}
