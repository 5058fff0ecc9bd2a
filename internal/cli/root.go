package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Exit codes, for scripts.
const (
	exitSucceeded   = 0
	exitFailed      = 1
	exitUsage       = 2
	exitTimedOut    = 3
	exitUnknown     = 4 // nothing could be learned of the job
	exitInterrupted = 130
)

// exitError ends the program with a code; a nil err has been reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is an error of what the user typed or of a file that the user named.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, errorf(format, args...)}
}

// errorf is fmt.Errorf whose strings are quoted, for the name of a file may have a
// newline and forge a line. What may have lines is of the type terminal.Lines.
func errorf(format string, args ...any) error {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = terminal.Quote(text)
		}
	}
	return fmt.Errorf(format, args...)
}

// helpHint is for a command line that is wrong.
const helpHint = "\nRun '%s --help' for usage"

// version is that of the module, where the build knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// strictCompletion lets "completion" without a shell, or with one that it does not
// know, be wrong usage: a shell would otherwise read the help as its script.
func strictCompletion(root *cobra.Command) {
	c, _, err := root.Find([]string{"completion"})
	if err != nil || c == root {
		return
	}
	c.Example = "  source <(jobpoller completion bash)\n  jobpoller completion zsh >\"${fpath[1]}/_jobpoller\""
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage("completion knows bash, fish, powershell and zsh, and no %q", args[0])
		}
		return usage("completion needs a shell: bash, fish, powershell or zsh")
	}
	c.Args = cobra.ArbitraryArgs
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "jobpoller",
		Short: "Make, run, test, check and draw AWS Step Functions state machines, and wait for AWS jobs",
		Long: `jobpoller runs, tests, checks and draws AWS Step Functions state machines, above
all job pollers, on this machine. It knows AWS's waiters and the jobs that have
none, says what they make of a response, waits for them, and makes state machines
that do.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 4 nothing learned of
the job, 130 interrupted.`,
		Example: `  jobpoller list dynamodb
  jobpoller wait dynamodb ExportCompleted --timeout 1h --input '{"ExportArn": "arn:aws:dynamodb:..."}'
  jobpoller compile dynamodb ExportCompleted --max-wait 2h
  jobpoller run --job-seconds 6
  jobpoller lint poller.asl.json
  jobpoller graph poller.asl.json --out poller.svg`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// What people read goes through these alone: see the package terminal.
	human, complaints := terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	defer human.Flush()      //nolint:errcheck // who reads has gone
	defer complaints.Flush() //nolint:errcheck // who reads has gone
	stdout, stderr = human, complaints
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if _, ok := errors.AsType[*strconv.NumError](err); ok {
			flag, _, _ := strings.Cut(err.Error(), " flag: ") // and what strconv calls it
			err = errors.New(flag + " flag: it must be a whole number")
		} else if flag, _, ok := strings.Cut(err.Error(), " flag: time: "); ok {
			err = errors.New(flag + " flag: it must be a duration with units, such as 90s, 30m or 1h30m")
		}
		return usage("%w"+helpHint, err, c.CommandPath())
	})
	root.AddCommand(newLintCommand(), newGraphCommand(), newListCommand(), newCheckCommand())
	root.AddCommand(newRunCommand(), newShowCommand(), newCompileCommand(), newWaitCommand()) //nolint:contextcheck // a command carries its context
	root.InitDefaultCompletionCmd(args...)
	strictCompletion(root)
	// Cobra reports an unknown command or a wrong number of arguments before
	// any of our code runs: everything without a code of its own until then is
	// a usage error.
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitSucceeded
	}
	coded, ok := errors.AsType[*exitError](err)
	if !ok {
		coded = &exitError{exitUsage, fmt.Errorf("%w"+helpHint, err, root.CommandPath())}
	}
	if coded.err != nil {
		terminal.Fprintf(stderr, "jobpoller: %s\n", terminal.ErrorText(coded.err))
	}
	return coded.code
}
