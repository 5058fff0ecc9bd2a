// Package cdkapp deploys pollers with the AWS CDK.
//
// [NewJobPoller] makes a state machine that waits for a job, with its role, log
// and alarms, and the Lambda functions if its strategy has any.
// [NewJobPollerFragment] makes states for a state machine of your own.
// [NewFunctionPoller] puts your own Lambda functions behind a loop.
// cdkapp/app is an app that deploys the definitions that jobpoller ships.
//
// Props are pointers as in the CDK, and props that cannot be used end the
// synthesis with an [*Error], as the CDK's own do: a panic.
package cdkapp

import (
	"fmt"
	"os"
	"strings"

	"github.com/aws/jsii-runtime-go"
)

// Error says which prop cannot be used, and what to do. The constructs panic
// with it, as those of the CDK do.
type Error struct {
	Path string // of the construct
	Prop string
	// Context is the key of a context value at fault, where it is not a prop.
	Context string
	// Problem says what was expected and what was found.
	Problem string
	Err     error // may be nil
	// Others are the other problems of the same construct.
	Others []*Error
}

// Error returns a line for each problem.
func (e *Error) Error() string {
	lines := []string{e.line()}
	for _, other := range e.Others {
		lines = append(lines, other.line())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns what the problem comes from.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) line() string {
	if e.Context != "" {
		return fmt.Sprintf("%s: context %s: %s", e.Path, e.Context, e.Problem)
	}
	return fmt.Sprintf("%s: prop %s: %s", e.Path, e.Prop, e.Problem)
}

// Close ends an app in place of jsii.Close: defer it first in main. It prints the
// problems of an [*Error] that the app has panicked with, without the stack of a
// goroutine, and exits with 1.
func Close() {
	switch thrown := recover().(type) {
	case nil:
		jsii.Close()
	case *Error:
		fmt.Fprintln(os.Stderr, thrown)
		jsii.Close()
		os.Exit(1)
	default:
		jsii.Close()
		panic(thrown)
	}
}
