package kit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// ExecutionWanted is the argument of a command about one execution.
const ExecutionWanted = "the ARN of an execution, such as arn:aws:states:us-east-1:123456789012:execution:MACHINE:NAME"

// NoExecution is the error of an argument that is not the ARN of an execution.
func NoExecution(found string) error {
	if strings.Contains(found, ":stateMachine:") {
		return Usage("%s is the ARN of a state machine: pass that of one of its executions", found)
	}
	return Usage("expected %s, found %s", ExecutionWanted, found)
}

// RecordError is the error of a call about an execution.
func RecordError(arn string, err error) error {
	if errors.Is(err, context.Canceled) {
		return &ExitError{Code: ExitInterrupted}
	}
	refused, ok := errors.AsType[*stepfunctions.CallError](err)
	if !ok {
		return WithCode(ExitUnknown, err)
	}
	if NewCallError(refused.Err).Code == "ExecutionDoesNotExist" {
		return WithCode(ExitUnknown, terminal.Errorf("%s: there is no such execution: check the account and the region. "+
			"Step Functions keeps executions for 90 days", arn))
	}
	return WithCode(ExitUnknown, fmt.Errorf("%s: %s", terminal.Quote(arn), EndReason([]string{refused.Action}, refused.Err)))
}

// OneArgument is the check of a command with one argument.
func OneArgument(what string) cobra.PositionalArgs { return SomeArguments(1, 1, what) }

// SomeArguments is the check of a command with so many arguments.
func SomeArguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Usage("expected %s, found %s", what, Plural(len(args), "argument"))
		}
		return nil
	}
}
