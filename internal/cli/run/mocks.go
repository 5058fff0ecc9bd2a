package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// NewMocks is "jobpoller mocks init", the old name of "jobpoller run --write-mocks".
func NewMocks() *cobra.Command {
	c := &cobra.Command{
		Use:     "mocks",
		Short:   "Make the file that answers the Tasks of a run",
		Long:    "Mocks is the old name of jobpoller run --write-mocks, which has its description.",
		Example: "  jobpoller run poller.asl.json --write-mocks poller.mocks.json",
		Hidden:  true,
	}
	c.AddCommand(newMocksInitCommand())
	return c
}

func newMocksInitCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:     "init FILE",
		Short:   "Write the mocks that run --simulate would use, to be edited",
		Long:    "Init is the old name of jobpoller run --write-mocks, which has its description.",
		Example: "  jobpoller run poller.asl.json --write-mocks poller.mocks.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return kit.Usage("mocks init needs a definition, such as: jobpoller mocks init poller.asl.json")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.definition = args[0]
			if o.writeMocks == "" {
				o.writeMocks = kit.Stdin
			}
			return writeMocks(c, o, "output")
		},
	}
	kit.AddSimulated(c.Flags(), &o.simulated)
	c.Flags().StringVarP(&o.writeMocks, "output", "o", "", "`FILE` to write, which must be new, instead of standard output")
	kit.AddSubstitutes(c.Flags(), &o.substitutes)
	kit.CompleteNothing(c, "simulate", "ends", "substitute")
	kit.Must(c.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}))
	c = kit.Moved(c, "run FILE --write-mocks MOCKS")
	c.Hidden = false // mocks is
	return c
}

// checkWriteMocks refuses flags that would change nothing: --write-mocks runs nothing.
func (o *runOptions) checkWriteMocks(c *cobra.Command) error {
	if o.definition == "" {
		return kit.Usage("--write-mocks needs a definition, such as: jobpoller run poller.asl.json --write-mocks poller.mocks.json")
	}
	var problems []error
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"write-mocks", "simulate", "ends", "substitute", "color"}, f.Name) {
			problems = append(problems, fmt.Errorf("--%s is for a run, and --write-mocks runs nothing: remove one of them", f.Name))
		}
	})
	if err := errors.Join(problems...); err != nil {
		return kit.Usage("%w", err)
	}
	return nil
}

// writeMocks writes what --simulate would answer to the file that a flag names.
func writeMocks(c *cobra.Command, o runOptions, flag string) error {
	if !o.simulated.IsGiven() {
		o.simulated.Specs = []string{"10m"}
	}
	if err := o.simulated.Check(""); err != nil {
		return kit.Usage("%w", err)
	}
	machine, err := o.readDefinition(c.Context(), c.InOrStdin())
	if err != nil {
		return err
	}
	if err := o.addStatuses(machine); err != nil {
		return err
	}
	plan, err := o.simulated.Plan(machine.StateMachine, nil)
	if err != nil {
		return err
	}
	text, err := plan.JSON()
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if o.writeMocks == kit.Stdin {
		_, err = c.OutOrStdout().Write(text)
	} else if err = kit.WriteNew(o.writeMocks, text); errors.Is(err, kit.ErrExists) {
		return kit.Usage("--%s %s: the file exists: remove it, or write to another", flag, o.writeMocks)
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	return nil
}
