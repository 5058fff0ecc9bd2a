package localrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Run is one execution of a state machine on this machine.
type Run struct {
	*progress

	options *Options
	machine *source.Machine
	out     *reporter
	stderr  io.Writer
}

// Text is a result that people can read; as JSON it is a contract.
type Text interface{ text(terminal.Colours) string }

// Ends are what a command does at the end of a run. Explain and Report are needed.
type Ends struct {
	Explain func(error) error                    // says more of the error that ended the run
	Kept    func(r *sim.Result, err error) error // follows the keeping of the history
	Report  func(r *sim.Result) Text
	Hint    func() error // for a run that did not succeed
}

// New is a run that has not begun.
func New(c *cobra.Command, o *Options, m *source.Machine, input []byte, clock *sim.Clock) *Run {
	return &Run{
		progress: newProgress(m.StateMachine, clock, kit.WaitLimit(input)), options: o, machine: m,
		out: newReporter(c.OutOrStdout(), o), stderr: c.ErrOrStderr(),
	}
}

// NewSimOptions are the engine's, without what answers the Tasks.
func (r *Run) NewSimOptions() sim.Options {
	o := r.options
	return sim.Options{
		Clock: r.clock, Execution: o.Name, StateMachine: answers.StateMachine, Seed: o.Seed, Models: models.Load,
		Lenient: o.Lenient, Express: o.Express,
	}
}

// ReportSimulation is the report of a run whose Tasks the flags answered.
func (r *Run) ReportSimulation(result *sim.Result) Text {
	return newSimulation(r.machine.StateMachine, result, r.progress, r.options)
}

// Execute runs the state machine, and reports how it ended.
func (r *Run) Execute(ctx context.Context, input []byte, options sim.Options, ends Ends) error {
	options.OnEvent = func(e sim.Event) {
		r.event(e)
		r.trace(r.stderr, r.options.Views, e)
		r.out.event(e)
	}
	options.OnWait = r.wait
	r.begin(r.stderr, r.options)
	result, err := r.options.execute(ctx, r.machine, input, options)
	r.close()
	if err != nil {
		err = ends.Explain(err)
	}
	if result == nil {
		return err
	}
	kept := r.options.keepHistory(result)
	if ends.Kept != nil {
		kept = ends.Kept(result, kept)
	}
	if err == nil {
		err = r.out.result(ends.Report(result))
	}
	if err := joinFailures(err, kept, r.options.Views.Write(r.machine.StateMachine, result)); err != nil {
		return err
	}
	if code := exitCode(result); code != kit.ExitSucceeded {
		var hint error
		if ends.Hint != nil {
			hint = ends.Hint()
		}
		return kit.WithCode(code, hint)
	}
	return nil
}

// joinFailures joins the failure of a run and those of writing what it came to. The
// first says with which code the command ends.
func joinFailures(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	code, ok := kit.CodeOf(errs[0])
	if !ok {
		code = kit.ExitFailed
	}
	return kit.WithCode(code, errors.Join(errs...))
}

// hintPlaceholders is a hint for a run that did not succeed: placeholders without a
// value, such as the name of a function, went into its calls. Nil if there are
// none.
func hintPlaceholders(m *asl.StateMachine) error {
	names := kit.OpenPlaceholders(m, false)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("these placeholders have no value: ${%s}%s", strings.Join(names, "}, ${"), kit.SubstituteHint(names))
}
