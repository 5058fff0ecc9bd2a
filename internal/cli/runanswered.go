package cli

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
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
		if input, err = readInput(o.input, c.InOrStdin()); err != nil {
			return err
		}
	}
	if !o.named && o.usesMocks() {
		o.name = executionOf(machine.title())
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
		Execution: o.name, StateMachine: stateMachineName, Seed: o.seed, Clock: clock, Models: models.Load,
		Lenient: o.lenient, Express: o.express || machine.definition.Type == asl.Express,
	}
	if err := o.checkInput(c.ErrOrStderr(), machine, input); err != nil {
		return err
	}
	p := newProgress(machine.StateMachine, options.Clock, waitLimit(input))
	a := &taskAnswers{options: &o, machine: machine, progress: p, calls: calls, stderr: c.ErrOrStderr()}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.addTo(c.Context(), &options, input, c.InOrStdin()); err != nil {
		if c.Context().Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted")}
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
	if err := joinFailures(err, kept, o.views.write(machine.StateMachine, result)); err != nil {
		return err
	}
	if code := exitCode(result); code != exitSucceeded {
		return &exitError{code: code}
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
			terminal.Fprintf(out, "warning: %s answered what its model does not have: %s\n", callName(misfit.Resource), problem)
		})
	}
	return ok
}

// ownFunctions are the functions that the command has itself.
var ownFunctions = []string{statemachines.RunJobFunction, statemachines.CheckStatusFunction, sampleJobFunction}

// startBench sets up the functions that the command has itself, if the machine names
// one.
func (a *taskAnswers) startBench(ctx context.Context, options *sim.Options, input []byte) (map[string]sim.LambdaFunction, error) {
	text := string(asl.Print(a.machine.StateMachine))
	o := *a.options
	needed := o.functions.runPollers()
	for _, name := range ownFunctions {
		needed = needed || strings.Contains(text, name) && o.functions.find(name) == ""
	}
	if !needed || o.usesMocks() && o.mocks != "" {
		return map[string]sim.LambdaFunction{}, nil
	}
	o.job, o.jobs = requestJob(input), jobsIn(text)
	switch {
	case o.functions.runPollers():
		o.job, o.jobs, o.processes = lambdajob.Name, nil, false // the jobs are those of the functions
	case o.simulated.isGiven() && o.job != lambdajob.Name:
		o.job, o.jobs = lambdajob.Name, append(o.jobs, o.job) // nothing calls AWS
	}
	b, err := newBench(ctx, o, options.Clock, a.stderr)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, b.Close)
	a.bench = b
	if access := b.access(); access != nil && o.data != "" && !o.quiet {
		terminal.Fprintf(a.stderr, "%s\n", access.text())
	}
	if !o.functions.runPollers() {
		a.collector = b.collector
	}
	if options.StartTime, err = b.claimStart(ctx, a.stderr); err != nil {
		return nil, err
	}
	return b.functions(a.progress.record), nil
}

// jobsIn are the jobs that a definition asks the functions for by name.
func jobsIn(definition string) []string {
	var found []string
	for _, match := range jobMember().FindAllStringSubmatch(definition, -1) {
		found = append(found, match[1])
	}
	return found
}

// jobMember is the member of a request that names a job of the catalogue.
var jobMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"job":\s*"([\w-]+:\w+)"`) })
