package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Execute runs a command line, and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	// What people read goes through these alone: see the package terminal.
	human, complaints := terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	defer complaints.Flush() //nolint:errcheck // who reads has gone
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
		err = &ExitError{ExitFailed, fmt.Errorf("write the output: %w", unwritten)}
	}
	if err == nil {
		return ExitSucceeded
	}
	coded, ok := errors.AsType[*ExitError](err)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && (!ok || coded.Code != ExitInterrupted) {
		coded = &ExitError{ExitInterrupted, errors.New("interrupted")}
	} else if code, known := CodeOf(err); !ok && known {
		coded = &ExitError{code, err}
	} else if !ok {
		coded = &ExitError{ExitUsage, fmt.Errorf("%w"+helpHint, err, root.CommandPath())}
	}
	if coded.Err != nil {
		terminal.Fprintf(complaints, "jobpoller: %s\n", terminal.ErrorText(coded.Err))
	}
	return coded.Code
}

// NewRoot is the command jobpoller with some of its commands.
func NewRoot(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: "jobpoller", Version: Version(), SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(printUsage)
	root.AddCommand(commands...)
	root.SetHelpCommand(newHelpCommand(root))
	for _, c := range append(root.Commands(), root) {
		if c.HasSubCommands() {
			refuseOtherCommands(c)
		}
	}
	return root
}

// refuseOtherCommands lets a command that only has subcommands tell an unknown one
// from them: it takes no arguments.
func refuseOtherCommands(c *cobra.Command) {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return Usage("there is no command %q%s"+helpHint, args[0], commandMeant(c, args[0]), c.CommandPath())
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
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
			return Usage("completion: expected bash, fish, powershell or zsh, found %q", args[0])
		}
		return Usage("completion needs a shell: bash, fish, powershell or zsh, such as: jobpoller completion bash")
	}
	c.Args = cobra.ArbitraryArgs
}
