package run

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// taskAnswers are what answers the Tasks of a run.
type taskAnswers struct {
	options *runOptions
	machine *source.Machine
	run     *localrun.Run
	calls   *liveCalls
	stderr  io.Writer
	closers []func() error
}

// close ends what was started for the run.
func (a *taskAnswers) close() error {
	var errs []error
	for _, closer := range slices.Backward(a.closers) {
		errs = append(errs, closer())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// addTo puts the answers into the options of a run.
func (a *taskAnswers) addTo(ctx context.Context, options *sim.Options, input []byte, in io.Reader) error {
	o := a.options
	mocks, err := a.readMocks(in)
	if err != nil {
		return err
	}
	router, err := a.start(ctx, options, input, mocks, answers.Hooks{
		Polled: a.run.FollowPoll, Left: a.warnOfJob, Calls: a.calls.of,
		Invokes: func(state, function string) error {
			_, err := a.calls.begin(state, "lambda "+function, true)
			return err
		},
		Crashed: a.run.NoteCrash,
		Drawn:   a.tellDrawn,
		Warn:    func(text string) { terminal.Fprintf(a.stderr, "%s\n", text) },
	})
	if err != nil {
		return err
	}
	called, err := router.Resolve(ctx, a.machine, o.testCase, options)
	if err != nil {
		return kit.AsFailure(err)
	}
	if err := a.refusePlaceholders(called.States); err != nil {
		return err
	}
	a.announce(called.AWS)
	return nil
}

// start starts the functions of the run: the command's own where the machine names one,
// and those of --lambda.
func (a *taskAnswers) start(
	ctx context.Context, options *sim.Options, input []byte, mocks []answers.MockFile, hooks answers.Hooks,
) (*answers.Router, error) {
	o := a.options
	var answered []string
	for _, f := range mocks {
		names, err := f.Targets(o.testCase)
		if err != nil {
			return nil, err
		}
		answered = append(answered, names...)
	}
	if err := errors.Join(o.functions.CheckPollers(a.machine, answered), o.functions.CheckUsed(a.machine)); err != nil {
		return nil, err
	}
	var b *shipped.Functions
	if !o.usesMocks() || o.mocks == "" {
		var err error
		if b, err = shipped.StartFor(ctx, a.machine.StateMachine, input, o.functionOptions(), options, a.stderr); err != nil {
			return nil, kit.AsFailure(err)
		}
	}
	if b != nil {
		a.closers = append(a.closers, b.Close)
		if o.Records.Data != "" {
			o.TellAccess(a.stderr, b)
		}
		hooks.Store = b.AddStore
	}
	hooks.Log, hooks.Above = a.stderr, a.run.Above
	router, err := answers.New(ctx, answers.Options{
		Services: o.services, Functions: o.functions, Simulated: o.simulated, Mocks: mocks,
		Verbose: o.Verbose, Environ: os.Environ(), Places: o.services.Places,
	}, hooks)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, router.Close)
	if b != nil {
		router.AddOwn(b.Own(a.run.Record))
	}
	return router, nil
}

// readMocks reads the file of mocks, if there is one.
func (a *taskAnswers) readMocks(in io.Reader) ([]answers.MockFile, error) {
	if a.options.mocks == "" {
		return nil, nil
	}
	text, err := kit.ReadText(a.options.mocks, in)
	if err != nil {
		return nil, err
	}
	file, err := answers.ReadMocks(a.options.mocks, text)
	if err != nil {
		return nil, err
	}
	return []answers.MockFile{file}, nil
}

// announce says which calls go to AWS, or where else the user's settings send them.
func (a *taskAnswers) announce(calls map[string][]string) {
	for _, base := range slices.Sorted(maps.Keys(calls)) {
		slices.Sort(calls[base])
		names := strings.Join(slices.Compact(calls[base]), ", ")
		if base == "" {
			terminal.Fprintf(a.stderr, "calls AWS, which AWS charges for: %s\n", names)
		} else {
			terminal.Fprintf(a.stderr, "calls %s instead of AWS, as AWS_ENDPOINT_URL or the AWS configuration says: %s\n", base, names)
		}
	}
}

// warnOfJob tells of a job that a Task has left.
func (a *taskAnswers) warnOfJob(state string, why error) {
	a.run.Above(a.stderr, func(out io.Writer) {
		terminal.Fprintf(out, "warning: the job of %q may run on: %v\n", state, why)
	})
}

// tellDrawn tells of Tasks whose answers are drawn.
func (a *taskAnswers) tellDrawn(tasks []simulate.Unknown) {
	terminal.Fprintf(a.stderr, "%s (--mocks says what they return)\n", kit.DrawnText(tasks))
}
