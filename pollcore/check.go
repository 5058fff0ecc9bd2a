package pollcore

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// NoAcceptor is Result.Acceptor where no acceptor matched and the verdict is
// one of the specification's two implicit ones.
const NoAcceptor = -1

// Check is a waiter compiled against the input and output types of its
// describe call. It holds no state: one Check serves many goroutines.
type Check[In, Out any] struct {
	waiter    *Waiter
	acceptors []acceptor
	both      bool // an acceptor reads the input too
	warnings  diag.Problems
}

// Result is what a Check says of one call.
type Result struct {
	Verdict  Verdict
	Acceptor int // index of the matched acceptor, or NoAcceptor
	// Seen is the value that matched: the path's value for a path matcher,
	// the error's name for errorType, else nil.
	Seen any
	// Message is the reason that a failure acceptor's message expression gave.
	Message string
	// Notes are the errors of paths that could not be evaluated; such a path
	// does not match.
	Notes []error
}

// acceptor is an Acceptor made ready for Check.
type acceptor struct {
	Acceptor

	test     test
	both     bool   // the path reads the input too
	expected string // of a comparison of strings, or the name of an error
	truth    bool   // that a boolean must be
	path     *jmespath.Program
	message  *jmespath.Program
	seen     any // Result.Seen where the value is the expected one
}

// test is what an acceptor tests of a call.
type test uint8

const (
	testString test = iota // the comparators
	testBool
	testAll
	testAny
	testSuccess
	testError
)

// Warnings returns what [Compile] found that may be meant so.
func (c *Check[In, Out]) Warnings() diag.Problems { return c.warnings }

// Check judges one call of the describe operation by the workflow of the
// specification: the first acceptor that matches gives the verdict; without a
// match an error is a failure and a response means to try again. The arguments
// are the call's input, its output, and its error or nil.
func (c *Check[In, Out]) Check(in In, out Out, opErr error) (r Result) {
	var output, both any = out, nil
	if c.both && opErr == nil {
		both = &inputOutput[In, Out]{in, out}
	}
	for i := range c.acceptors {
		a := &c.acceptors[i]
		value := output
		if a.both {
			value = both
		}
		ok, err := a.match(value, opErr)
		if err != nil {
			r.Notes = append(r.Notes, fmt.Errorf("acceptor %d: %w", i+1, err))
		}
		if ok {
			r.Verdict, r.Acceptor, r.Seen = a.State, i, a.seen
			if a.test == testAll || a.test == testAny || a.message != nil {
				a.explain(&r, value, output, opErr)
			}
			return r
		}
	}
	r.Acceptor, r.Verdict = NoAcceptor, Retry
	if opErr != nil {
		r.Verdict = Failure
	}
	return r
}

// Step judges a call and decides what follows: Check, and then the schedule's
// Next. It is one turn of a poll loop whose state, the progress, the caller
// keeps: p counts the call that is judged.
func (c *Check[In, Out]) Step(s Schedule, p Progress, in In, out Out, opErr error) (Result, Decision) {
	r := c.Check(in, out, opErr)
	return r, s.Next(r.Verdict, p)
}

// match tells whether the acceptor matches a call that returned the value.
func (a *acceptor) match(value any, opErr error) (bool, error) {
	if a.test == testSuccess {
		return a.truth == (opErr == nil), nil
	}
	if a.test == testError {
		return hasErrorName(opErr, a.expected), nil
	}
	if opErr == nil { // a path is not read of an error
		return a.compare(value)
	}
	return false, nil
}

// compare compares what the acceptor's path gives.
func (a *acceptor) compare(value any) (bool, error) {
	switch a.test {
	case testString:
		return a.path.EqualsString(value, a.expected)
	case testBool:
		return a.path.EqualsBool(value, a.truth)
	case testAll:
		return a.path.AllEqualString(value, a.expected)
	default:
		return a.path.AnyEqualString(value, a.expected)
	}
}

// explain adds what an acceptor that matched says besides its expected value.
func (a *acceptor) explain(r *Result, value, output any, opErr error) {
	if a.test == testAll || a.test == testAny {
		r.Seen, _ = a.path.Eval(value) // it has just been evaluated without an error
	}
	if a.message == nil || opErr != nil {
		return
	}
	text, err := a.message.Eval(output)
	if err != nil {
		r.Notes = append(r.Notes, fmt.Errorf("message of acceptor %d: %w", r.Acceptor+1, err))
	}
	r.Message = messageText(text)
}

// messageText joins what a message expression gives: a string or a list of
// strings.
func messageText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, "; ")
	default:
		return ""
	}
}

// pathMatcher is the member output or inputOutput, or nil.
func (m Matcher) pathMatcher() *PathMatcher {
	if m.Output != nil {
		return m.Output
	}
	return m.InputOutput
}

// hasErrorName reports whether an error in err's tree has the name: as the
// service's code or as the Go type's, which the SDK names after the shape.
func hasErrorName(err error, want string) bool {
	if err == nil || want == "" {
		return false
	}
	if coded, ok := err.(interface{ ErrorCode() string }); ok && errorCode(coded.ErrorCode()) == want {
		return true
	}
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == want {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself, to see every node
	case interface{ Unwrap() error }:
		return hasErrorName(e.Unwrap(), want)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if hasErrorName(inner, want) {
				return true
			}
		}
	}
	return false
}

// errorCode strips what protocols put around a code: a namespace before "#"
// and a URI after ":".
func errorCode(code string) string {
	code, _, _ = strings.Cut(code, ":")
	return smithy.ShapeName(code)
}
