package localrun

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// ReadShipped reads the shipped poller.
func ReadShipped() (*source.Machine, error) {
	m, err := asl.Parse([]byte(statemachines.LambdaPoller()))
	if err != nil {
		return nil, fmt.Errorf("the shipped definition: %w", err)
	}
	return &source.Machine{StateMachine: m, Definition: &source.Definition{}}, nil
}

// RunSample runs the shipped poller on the sample job.
func RunSample(c *cobra.Command, o *Options, job Sample, with shipped.Options) error {
	m, err := ReadShipped()
	if err != nil {
		return err
	}
	input, err := job.Request()
	if err != nil {
		return err
	}
	return RunFunctions(c, o, m, input, with, func(err error) error { return kit.RunError(m, err) })
}

// RunFunctions runs a state machine with the shipped Lambda functions, and reports how it
// ended.
func RunFunctions(c *cobra.Command, o *Options, m *source.Machine, input []byte, with shipped.Options, explain func(error) error) (err error) {
	clock, err := o.NewClock()
	if err != nil {
		return err
	}
	with.Job = shipped.RequestJob(input)
	functions, err := shipped.Start(c.Context(), with, clock, c.ErrOrStderr())
	if err != nil {
		return kit.AsFailure(err)
	}
	defer func() { err = errors.Join(err, functions.Close()) }()

	began, err := functions.ClaimStart(c.Context(), c.ErrOrStderr())
	if err != nil {
		return kit.AsFailure(err)
	}
	r := New(c, o, m, input, clock)
	options := r.NewSimOptions()
	options.StartTime, options.Express = began, m.Definition.Type == asl.Express
	router, err := answers.New(c.Context(), answers.Options{}, answers.Hooks{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, router.Close()) }()
	router.AddOwn(functions.Own(r.Record))
	if _, err := router.Resolve(c.Context(), m, "", &options); err != nil {
		return err
	}
	r.out.begin(accessOf(functions))
	if o.Records.Data != "" || o.Output != "text" {
		o.TellAccess(c.ErrOrStderr(), functions)
	}
	return r.Execute(c.Context(), input, options, Ends{
		Explain: explain,
		Report: func(result *sim.Result) Text {
			return newReport(context.WithoutCancel(c.Context()), functions, o, m.StateMachine, result, r.progress)
		},
		Hint: func() error { return hintPlaceholders(m.StateMachine) },
	})
}

// TellAccess tells how to reach the S3 server of a run while it lasts.
func (o *Options) TellAccess(stderr io.Writer, functions *shipped.Functions) {
	if access := accessOf(functions); access != nil && !o.Quiet {
		terminal.Fprintf(stderr, "%s\n", access.text())
	}
}
