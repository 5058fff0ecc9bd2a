package run

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// runFunctions runs a definition that needs no Lambda functions but the shipped ones.
func runFunctions(c *cobra.Command, o runOptions) error {
	if o.definition == "" && o.input == "" {
		return localrun.RunSample(c, &o.Options, o.sample, o.functionOptions())
	}
	machine, err := o.readDefinition(c.Context(), c.InOrStdin())
	if err != nil {
		return err
	}
	if o.definition != "" {
		if err := o.addStatuses(machine); err != nil {
			return err
		}
	}
	input, err := o.readInput(c)
	if err != nil {
		return err
	}
	if err := o.checkInput(c.ErrOrStderr(), machine, input); err != nil {
		return err
	}
	return localrun.RunFunctions(c, &o.Options, machine, input, o.functionOptions(), func(err error) error {
		return mockError(o, machine, err)
	})
}

// functionOptions are those of the functions that the command has itself.
func (o *runOptions) functionOptions() shipped.Options {
	with := o.NewFunctionOptions()
	with.Services, with.Simulated, with.Functions = o.services, o.simulated, o.functions
	return with
}

// nameDemo says that demo runs the sample job now: run gives it up in the next release.
func nameDemo(c *cobra.Command, o *runOptions) {
	if o.definition == "" && o.input == "" {
		terminal.Fprintf(c.ErrOrStderr(), "warning: run without FILE or --input is removed in the next release. Use jobpoller demo\n")
		return
	}
	var given []string
	for _, flag := range localrun.SampleFlags() {
		if c.Flags().Changed(flag) {
			given = append(given, "--"+flag)
		}
	}
	if len(given) > 0 {
		terminal.Fprintf(c.ErrOrStderr(), "warning: %s: removed from run in the next release. "+
			"jobpoller demo runs the sample job; for another definition, pass its request as --input\n", strings.Join(given, ", "))
	}
}
