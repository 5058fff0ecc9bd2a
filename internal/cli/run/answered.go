package run

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/internal/terminal"
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
	if !o.Named && o.usesMocks() {
		o.Name = localrun.NameOf(machine.Definition.Title())
	}
	clock, err := o.NewClock()
	if err != nil {
		return err
	}
	calls, err := newLiveCalls(&o, clock.Now)
	if err != nil {
		return err
	}
	o.Express = o.Express || machine.Definition.Type == asl.Express
	if err := kit.WarnUnusedStatusesOf(c, machine.StateMachine, o.Express, o.Views.Said); err != nil {
		return err
	}
	if err := o.addStatuses(machine); err != nil {
		return err
	}
	if err := o.checkInput(c.ErrOrStderr(), machine, input); err != nil {
		return err
	}
	r := localrun.New(c, &o.Options, machine, input, clock)
	options := r.NewSimOptions()
	a := &taskAnswers{options: &o, machine: machine, run: r, calls: calls, stderr: c.ErrOrStderr()}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.addTo(c.Context(), &options, input, c.InOrStdin()); err != nil {
		if c.Context().Err() != nil {
			return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted"))
		}
		return err
	}
	options.OnMisfit = a.passMisfit
	return r.Execute(c.Context(), input, options, localrun.Ends{
		Explain: func(err error) error { return calls.breakOff(mockError(o, machine, err)) },
		Kept:    a.endCalls, Report: r.ReportSimulation,
	})
}

// endCalls forgets the calls of a run whose history is kept. Of one that was cut off it
// tells the jobs that may run on.
func (a *taskAnswers) endCalls(result *sim.Result, err error) error {
	if err == nil {
		err = a.calls.end()
	}
	if result.Status == sim.StatusAborted {
		a.calls.warn(a.stderr)
	}
	return err
}

// passMisfit lets the run go on if a service answered in a way that its model does not
// have, and prints a warning.
func (a *taskAnswers) passMisfit(misfit *sim.ModelError) bool {
	problems, ok := a.calls.pass(misfit)
	for _, problem := range problems {
		a.run.Above(a.stderr, func(out io.Writer) {
			terminal.Fprintf(out, "warning: %s answered what its model does not have: %s\n", answers.CallName(misfit.Resource), problem)
		})
	}
	return ok
}
