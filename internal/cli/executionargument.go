package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// executionWanted is the argument of a command about one execution.
const executionWanted = "the ARN of an execution, such as arn:aws:states:us-east-1:123456789012:execution:MACHINE:NAME"

// noExecution is the error of an argument that is not the ARN of an execution.
func noExecution(found string) error {
	if strings.Contains(found, ":stateMachine:") {
		return usage("%s is the ARN of a state machine: pass that of one of its executions", found)
	}
	return usage("expected %s, found %s", executionWanted, found)
}

// recordError is the error of a call about an execution.
func recordError(arn string, err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitInterrupted}
	}
	refused, ok := errors.AsType[*stepfunctions.CallError](err)
	if !ok {
		return withCode(exitUnknown, err)
	}
	if newCallError(refused.Err).Code == "ExecutionDoesNotExist" {
		return withCode(exitUnknown, errorf("%s: there is no such execution: check the account and the region. Step Functions keeps executions for 90 days", arn))
	}
	return withCode(exitUnknown, fmt.Errorf("%s: %s", terminal.Quote(arn), endReason([]string{refused.Action}, refused.Err)))
}

// oneArgument is the check of a command with one argument.
func oneArgument(what string) cobra.PositionalArgs { return someArguments(1, 1, what) }

// someArguments is the check of a command with so many arguments.
func someArguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage("expected %s, found %s", what, plural(len(args), "argument"))
		}
		return nil
	}
}
