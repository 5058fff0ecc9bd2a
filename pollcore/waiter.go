// Package pollcore is the waiter engine. A [Waiter] says, as plain data in the
// form of the Smithy waiters specification, when a polled job is done and when
// it has failed. [Compile] turns it into a [Check] that judges one response of
// the describe call; a [Schedule] says when to call again and when to give up.
//
// Both are pure: no clock, no sleeping, no I/O. Lambda handlers, state machines
// and tests are different readings of the same data, so they give the same
// verdict. [Wait] drives both with a clock, and is the only part that sleeps.
package pollcore

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/smithy"
)

// Defaults of the Smithy waiters specification, in seconds.
const (
	DefaultMinDelay = 2
	DefaultMaxDelay = 120
)

// Waiter says what "done" means for a job. Its JSON form is the value of the
// Smithy `waitable` trait (https://smithy.io/2.0/additional-specs/waiters.html);
// the name is the key under which it stands there.
type Waiter struct {
	Name string `json:"-"`
	// Documentation is what the waiter waits for, in words.
	Documentation string `json:"documentation,omitempty"`
	// Acceptors are tried in order, and the first that matches wins.
	Acceptors []Acceptor `json:"acceptors"`
	// MinDelay is the shortest delay between calls, in seconds; without it, the specification's default.
	MinDelay int `json:"minDelay,omitempty"`
	// MaxDelay is the longest delay between calls, in seconds; without it, the specification's default.
	MaxDelay int `json:"maxDelay,omitempty"`
	// Deprecated tells that another waiter is better.
	Deprecated bool `json:"deprecated,omitempty"`
	// Tags are words to find the waiter by.
	Tags []string `json:"tags,omitempty"`
}

// Acceptor moves the waiter to State when Matcher matches. Acceptors are tried
// in order and the first match wins.
type Acceptor struct {
	// State is the verdict of what the matcher matches.
	State Verdict `json:"state"`
	// Matcher says which answers or errors the acceptor is for.
	Matcher Matcher `json:"matcher"`
	// Message is a JMESPath expression into the output that gives the reason
	// of a failure; allowed on failure acceptors alone.
	Message string `json:"message,omitempty"`
}

// Matcher is a union: exactly one member is set.
type Matcher struct {
	// Output compares a value of the answer.
	Output *PathMatcher `json:"output,omitempty"`
	// InputOutput compares a value of {"input": ..., "output": ...}, of the input and the answer.
	InputOutput *PathMatcher `json:"inputOutput,omitempty"`
	// Success matches any response (true) or any error (false).
	Success *bool `json:"success,omitempty"`
	// ErrorType matches an error by its code or shape name.
	ErrorType *string `json:"errorType,omitempty"`
}

// PathMatcher compares the value of a JMESPath expression with Expected.
type PathMatcher struct {
	// Path is a JMESPath expression.
	Path string `json:"path"`
	// Expected is the value to compare with: of booleanEquals, "true" or "false".
	Expected string `json:"expected"`
	// Comparator is how they are compared.
	Comparator Comparator `json:"comparator"`
}

// Comparator is how a PathMatcher compares.
type Comparator string

// The comparators of the specification.
const (
	StringEquals    Comparator = "stringEquals"
	BooleanEquals   Comparator = "booleanEquals"
	AllStringEquals Comparator = "allStringEquals"
	AnyStringEquals Comparator = "anyStringEquals"
)

// Verdict is what one call says about the job: the state of the matched
// acceptor, or an implicit one.
type Verdict string

// The verdicts, spelt as the specification's AcceptorState.
const (
	Success Verdict = "success"
	Failure Verdict = "failure"
	Retry   Verdict = "retry"
)

// Option sets a part of a waiter built in Go.
type Option func(*Waiter) error

// New builds a waiter and checks it. Its error is a [diag.Problems].
func New(name string, options ...Option) (*Waiter, error) {
	w := &Waiter{Name: name}
	for _, option := range options {
		if err := option(w); err != nil {
			return nil, fmt.Errorf("waiter %s: %w", name, err)
		}
	}
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("waiter %s: %w", name, err)
	}
	return w, nil
}

// MustNew is New for package variables: it panics on an invalid waiter.
func MustNew(name string, options ...Option) *Waiter {
	w, err := New(name, options...)
	if err != nil {
		panic("pollcore: " + err.Error())
	}
	return w
}

// Succeed adds an acceptor that ends the wait with success.
func Succeed(m Matcher) Option { return accept(Success, m) }

// Fail adds an acceptor that ends the wait with failure.
func Fail(m Matcher) Option { return accept(Failure, m) }

// FailWithMessage is Fail with a JMESPath expression into the output that gives
// the reason.
func FailWithMessage(m Matcher, path string) Option {
	return func(w *Waiter) error {
		w.Acceptors = append(w.Acceptors, Acceptor{State: Failure, Matcher: m, Message: path})
		return nil
	}
}

// Again adds an acceptor that keeps waiting, for an error that is expected
// while the job is young or for a value that a later acceptor would match.
func Again(m Matcher) Option { return accept(Retry, m) }

func accept(v Verdict, m Matcher) Option {
	return func(w *Waiter) error {
		w.Acceptors = append(w.Acceptors, Acceptor{State: v, Matcher: m})
		return nil
	}
}

// Delay sets the bounds of the delay between two calls, in whole seconds.
func Delay(minDelay, maxDelay time.Duration) Option {
	return func(w *Waiter) error {
		if minDelay%time.Second != 0 || maxDelay%time.Second != 0 {
			return fmt.Errorf("delays are whole seconds, got %s and %s", minDelay, maxDelay)
		}
		w.MinDelay, w.MaxDelay = int(minDelay/time.Second), int(maxDelay/time.Second)
		return nil
	}
}

// Path is a JMESPath expression about to be compared.
type Path struct {
	path string
	both bool // of input and output
}

// Output names a value of the describe call's output.
func Output(path string) Path { return Path{path: path} }

// InputOutput names a value of the call's input and output, which the
// expression reads as input and output.
func InputOutput(path string) Path { return Path{path: path, both: true} }

// Is matches if the value is this string.
func (p Path) Is(expected string) Matcher { return p.matcher(StringEquals, expected) }

// IsTrue matches if the value is the boolean true.
func (p Path) IsTrue() Matcher { return p.matcher(BooleanEquals, "true") }

// IsFalse matches if the value is the boolean false.
func (p Path) IsFalse() Matcher { return p.matcher(BooleanEquals, "false") }

// All matches if the value is a list, not empty, of nothing but this string.
func (p Path) All(expected string) Matcher { return p.matcher(AllStringEquals, expected) }

// Any matches if the value is a list that holds this string.
func (p Path) Any(expected string) Matcher { return p.matcher(AnyStringEquals, expected) }

func (p Path) matcher(c Comparator, expected string) Matcher {
	m := &PathMatcher{Path: p.path, Expected: expected, Comparator: c}
	if p.both {
		return Matcher{InputOutput: m}
	}
	return Matcher{Output: m}
}

// AnyResponse matches whatever the call returned, if it returned no error.
func AnyResponse() Matcher { return Matcher{Success: new(true)} }

// AnyError matches every error.
func AnyError() Matcher { return Matcher{Success: new(false)} }

// ErrorType matches an error, wrapped or not, by its code or shape name: by what its
// method ErrorCode() string returns, or by the name of its Go type. An absolute shape
// ID is matched by its name part.
func ErrorType(name string) Matcher { return Matcher{ErrorType: &name} }

// String says in words what the matcher expects.
func (m Matcher) String() string {
	switch {
	case m.Output != nil:
		return m.Output.String()
	case m.InputOutput != nil:
		return m.InputOutput.String()
	case m.Success != nil && *m.Success:
		return "any response"
	case m.Success != nil:
		return "any error"
	case m.ErrorType != nil:
		return "error " + smithy.ShapeName(*m.ErrorType)
	default:
		return "nothing"
	}
}

// String renders the comparison: ExportDescription.ExportStatus == "FAILED".
func (m PathMatcher) String() string {
	switch m.Comparator {
	case BooleanEquals:
		return m.Path + " == " + m.Expected
	case AllStringEquals:
		return fmt.Sprintf("all of %s == %q", m.Path, m.Expected)
	case AnyStringEquals:
		return fmt.Sprintf("any of %s == %q", m.Path, m.Expected)
	default:
		return fmt.Sprintf("%s == %q", m.Path, m.Expected)
	}
}
