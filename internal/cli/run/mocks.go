package run

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// NewMocks is "jobpoller mocks".
func NewMocks() *cobra.Command {
	c := &cobra.Command{
		Use:   "mocks",
		Short: "Make the file that answers the Tasks of a run",
		Long: `Mocks makes the file of run --mocks, which says what the Tasks of a definition
answer. See docs/reference/mocks.md for its members.`,
		Example: "  jobpoller mocks init poller.asl.json -o poller.mocks.json",
	}
	c.AddCommand(newMocksInitCommand())
	return c
}

func newMocksInitCommand() *cobra.Command {
	var jobs answers.Simulated
	var file string
	var substitutes []string
	c := &cobra.Command{
		Use:   "init FILE",
		Short: "Write the mocks that run --simulate would use, to be edited",
		Long: `Init writes a file of mocks with every Task of a definition: what run --simulate
would answer. A Task that nobody but you knows, such as a Lambda function, has a
member "todo": write what it returns, and remove "todo". "-" reads standard input.

SPEC is ` + kit.SpecHelp + `
Without --simulate, jobs run for 10m and succeed.

Exit codes: 0 written; 1 not written; 2 wrong usage.`,
		Example: `  jobpoller mocks init poller.asl.json -o poller.mocks.json
  jobpoller mocks init poller.asl.json --simulate 'uniform(5m,30m)' --simulate Import=40m:FAILED`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return kit.Usage("mocks init needs a definition, such as: jobpoller mocks init poller.asl.json")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !jobs.IsGiven() {
				jobs.Specs = []string{"10m"}
			}
			machine, err := kit.ReadMachine(c.Context(), args[0], c.InOrStdin(), substitutes)
			if err != nil {
				return err
			}
			plan, err := jobs.Plan(machine.StateMachine, nil)
			if err != nil {
				return err
			}
			text, err := plan.JSON()
			if err != nil {
				return kit.WithCode(kit.ExitFailed, err)
			}
			if file == "" {
				_, err = c.OutOrStdout().Write(text)
			} else if err = kit.WriteNew(file, text); errors.Is(err, kit.ErrExists) {
				return kit.Usage("--output %s: the file exists: remove it, or write to another", file)
			}
			if err != nil {
				return kit.WithCode(kit.ExitFailed, err)
			}
			return nil
		},
	}
	kit.AddSimulated(c.Flags(), &jobs)
	c.Flags().StringVarP(&file, "output", "o", "", "`FILE` to write, which must be new, instead of standard output")
	kit.AddSubstitutes(c.Flags(), &substitutes)
	kit.CompleteNothing(c, "simulate", "ends", "substitute")
	kit.Must(c.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}))
	return c
}
