package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	// What people read goes through these alone: see the package terminal.
	human, complaints := terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	defer complaints.Flush() //nolint:errcheck // who reads has gone
	root := newRootCommand() //nolint:contextcheck // a command carries its context
	root.SetArgs(args)
	root.SetIn(&interruptible{ctx, os.Stdin})
	root.SetOut(human)
	root.SetErr(complaints)
	addColor(root, human, complaints)
	root.InitDefaultCompletionCmd(args...)
	refuseUnknownShell(root)
	// Cobra reports an unknown command or a wrong number of arguments before
	// any of our code runs: everything without a code of its own until then is
	// a usage error.
	err := root.ExecuteContext(ctx)
	if unwritten := human.Flush(); err == nil && unwritten != nil {
		err = &exitError{exitFailed, fmt.Errorf("write the output: %w", unwritten)}
	}
	if err == nil {
		return exitSucceeded
	}
	coded, ok := errors.AsType[*exitError](err)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && (!ok || coded.code != exitInterrupted) {
		coded = &exitError{exitInterrupted, errors.New("interrupted")}
	} else if code, known := codeOf(err); !ok && known {
		coded = &exitError{code, err}
	} else if !ok {
		coded = &exitError{exitUsage, fmt.Errorf("%w"+helpHint, err, root.CommandPath())}
	}
	if coded.err != nil {
		terminal.Fprintf(complaints, "jobpoller: %s\n", terminal.ErrorText(coded.err))
	}
	return coded.code
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "jobpoller",
		Short: "Check, test and build Step Functions poll loops",
		Long: `jobpoller checks, tests and builds Step Functions poll loops. It knows when 528 AWS
jobs and resources are done.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 4 could not reach
the job, 130 interrupted. More: jobpoller help exit-codes`,
		Example: `  jobpoller lint poller.asl.json
  jobpoller run poller.asl.json --virtual --mocks mocks.json --trace
  jobpoller compile athena StartQueryExecution --start --max-wait 30m
  jobpoller list dynamodb
  jobpoller start athena StartQueryExecution --param QueryString='SELECT 1' --wait
  jobpoller wait ec2 InstanceRunning i-0123456789abcdef0
  jobpoller graph poller.asl.json >poller.svg`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newLintCommand(), newGraphCommand(), newListCommand(), newCheckCommand())
	root.AddCommand(newServeCommand(), newRunCommand(), newShowCommand(), newCompileCommand(), newWaitCommand(), newMocksCommand(), newFixCommand())
	root.AddCommand(newStartCommand(), newStatusCommand(), newRecordsCommand(), newDoctorCommand())
	root.AddCommand(newReportCommand(), newWatchCommand(), newPlanCommand())
	root.AddCommand(newVersionCommand())
	root.AddCommand(helpTopics()...)
	root.SetHelpCommand(newHelpCommand(root))
	for _, c := range append(root.Commands(), root) {
		if c.HasSubCommands() {
			refuseOtherCommands(c)
		}
	}
	wrapFlags(root)
	return root
}

// refuseOtherCommands lets a command that only has subcommands tell an unknown one
// from them: it takes no arguments.
func refuseOtherCommands(c *cobra.Command) {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return usage("there is no command %q%s"+helpHint, args[0], commandMeant(c, args[0]), c.CommandPath())
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

// newHelpCommand is "help", which refuses what is not a command.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Show help for a command or a topic",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			c, rest, err := root.Find(args)
			if err == nil && c != root && c.HasSubCommands() && len(rest) > 0 {
				return c.Args(c, rest)
			}
			if err != nil || c == root {
				return usage("there is no command or topic %q%s"+helpHint, args[0], commandMeant(root, args[0]), root.CommandPath())
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

func commandNames(parent *cobra.Command) []cobra.Completion {
	var names []cobra.Completion
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// commandMeant is the command that an unknown name is near to.
func commandMeant(parent *cobra.Command, name string) string {
	return nearest.DidYouMean(name, commandNames(parent))
}

// refuseUnknownShell lets "completion" without a shell, or with one that it does
// not know, be wrong usage: a shell would otherwise read the help as its script.
func refuseUnknownShell(root *cobra.Command) {
	c, _, err := root.Find([]string{"completion"})
	if err != nil || c == root {
		return
	}
	c.Short = "Print a script that completes commands, flags and names in your shell"
	c.Example = "  source <(jobpoller completion bash)\n  jobpoller completion zsh >\"${fpath[1]}/_jobpoller\""
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage("completion: expected bash, fish, powershell or zsh, found %q", args[0])
		}
		return usage("completion needs a shell: bash, fish, powershell or zsh, such as: jobpoller completion bash")
	}
	c.Args = cobra.ArbitraryArgs
}
