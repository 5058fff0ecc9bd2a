package pollcore

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// NoAcceptor is Result.Acceptor where no acceptor matched and the verdict is
// one of the specification's two implicit ones.
const NoAcceptor = -1

// Check is a waiter compiled against the input and output types of its
// describe call. It holds no state: one Check serves many goroutines.
type Check[In, Out any] struct {
	waiter    *Waiter
	acceptors []acceptor
}

// Result is what a Check says of one call.
type Result struct {
	Verdict  Verdict
	Acceptor int // index of the matched acceptor, or NoAcceptor
	// Seen is the value that matched: the path's value for a path matcher,
	// the error's code for errorType, else nil.
	Seen any
	// Message is the reason that a failure acceptor's message expression gave.
	Message string
	// Notes are the errors of paths that could not be evaluated; such a path
	// does not match.
	Notes []error
}

// acceptor is an Acceptor with its paths resolved.
type acceptor struct {
	Acceptor
	path    *jmespath.Program
	message *jmespath.Program
}

// Compile resolves the waiter's paths against Out: an SDK output type, or any
// for JSON values. All problems (an invalid waiter, a path that the type does
// not have, a comparator that can never hold) are reported at once as a
// [Problems]. Paths are dotted field names; other JMESPath and the inputOutput
// matcher are refused.
func Compile[In, Out any](w *Waiter) (*Check[In, Out], error) {
	problems := w.problems()
	if len(problems) > 0 {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, problems.Err())
	}
	out := reflect.TypeFor[Out]()
	c := &Check[In, Out]{waiter: w}
	for i, a := range w.Acceptors {
		at := fmt.Sprintf("/acceptors/%d", i)
		compiled := acceptor{Acceptor: a}
		if m := a.Matcher.InputOutput; m != nil {
			problems = append(problems, Problem{Pointer: at + "/matcher/inputOutput", Message: "the inputOutput matcher is not supported"})
		}
		if m := a.Matcher.Output; m != nil {
			compiled.path = resolve(m.Path, at+"/matcher/output/path", out, &problems)
			if compiled.path != nil && !canHold(m.Comparator, compiled.path.Result()) {
				problems = append(problems, Problem{
					Pointer: at + "/matcher/output/comparator",
					Message: fmt.Sprintf("%s can never hold: %s is %s", m.Comparator, m.Path, describe(compiled.path.Result())),
				})
			}
		}
		if a.Message != "" {
			compiled.message = resolve(a.Message, at+"/message", out, &problems)
		}
		c.acceptors = append(c.acceptors, compiled)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, problems)
	}
	return c, nil
}

// resolve parses and compiles a path and collects its problems under pointer.
func resolve(path, pointer string, out reflect.Type, problems *Problems) *jmespath.Program {
	expr, err := jmespath.Parse(path)
	found, _ := errors.AsType[Problems](err)
	var program *jmespath.Program
	if err == nil {
		var findings []jmespath.Finding
		program, findings = expr.Compile(out)
		for _, f := range findings {
			if f.Severity > jmespath.Warning {
				found = append(found, f.Problem)
			}
		}
	}
	for _, p := range found {
		p.Pointer = pointer
		*problems = append(*problems, p)
	}
	return program
}

// canHold reports whether a comparator can match values of a static type.
func canHold(c Comparator, t jmespath.Type) bool {
	is := func(t jmespath.Type, k jmespath.Kind) bool { return t.Kind == k || t.Kind == jmespath.Unknown }
	switch c {
	case StringEquals:
		return is(t, jmespath.String)
	case BooleanEquals:
		return is(t, jmespath.Boolean)
	default:
		return is(t, jmespath.Array) && (t.Elem == nil || is(*t.Elem, jmespath.String))
	}
}

// describe names a static type for a message.
func describe(t jmespath.Type) string {
	if t.Go != nil {
		return t.Go.String()
	}
	return t.Kind.String()
}

// Waiter returns the waiter that was compiled.
func (c *Check[In, Out]) Waiter() *Waiter { return c.waiter }

// Check judges one call of the describe operation by the workflow of the
// specification: the first acceptor that matches gives the verdict; without a
// match an error is a failure and a response means to try again. The arguments
// are the call's input, its output, and its error or nil.
func (c *Check[In, Out]) Check(_ In, out Out, opErr error) Result {
	r := Result{Acceptor: NoAcceptor, Verdict: Retry}
	for i := range c.acceptors {
		a := &c.acceptors[i]
		seen, ok, err := a.match(out, opErr)
		if err != nil {
			r.Notes = append(r.Notes, fmt.Errorf("acceptor %d: %w", i+1, err))
		}
		if !ok {
			continue
		}
		r.Verdict, r.Acceptor, r.Seen = a.State, i, seen
		if a.message != nil && opErr == nil {
			text, err := a.message.Eval(out)
			if err != nil {
				r.Notes = append(r.Notes, fmt.Errorf("message of acceptor %d: %w", i+1, err))
			}
			r.Message, _ = text.(string)
		}
		return r
	}
	if opErr != nil {
		r.Verdict = Failure
	}
	return r
}

// match tells whether the acceptor matches, and the value that made it.
func (a *acceptor) match(out any, opErr error) (seen any, ok bool, err error) {
	m := a.Matcher
	switch {
	case m.Success != nil:
		return nil, *m.Success == (opErr == nil), nil
	case m.ErrorType != nil:
		want := shapeName(*m.ErrorType)
		return want, hasErrorName(opErr, want), nil
	case opErr == nil:
		seen, err = a.path.Eval(out)
		return seen, err == nil && m.Output.holds(seen), err
	default: // a path is not read of an error
		return nil, false, nil
	}
}

// holds compares by the specification's table of comparators: a value of
// another type than the comparator's never matches.
func (m PathMatcher) holds(v any) bool {
	if m.Comparator == StringEquals {
		return v == m.Expected
	}
	if m.Comparator == BooleanEquals {
		return v == (m.Expected == "true")
	}
	list, _ := v.([]any)
	matches := 0
	for _, item := range list {
		if item == m.Expected {
			matches++
		}
	}
	if m.Comparator == AnyStringEquals {
		return matches > 0
	}
	return matches > 0 && matches == len(list)
}

// hasErrorName reports whether an error in err's tree has the name: as the
// service's code or as the Go type's, which the SDK names after the shape.
func hasErrorName(err error, want string) bool {
	if err == nil {
		return false
	}
	if coded, ok := err.(interface{ ErrorCode() string }); ok && errorCode(coded.ErrorCode()) == want {
		return true
	}
	if t := reflect.TypeOf(err); t.Kind() == reflect.Pointer && t.Elem().Name() == want || t.Name() == want {
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
	return shapeName(code)
}

// Reason says in words why the result is what it is: what was expected and
// what was seen, and by which acceptor.
func (c *Check[In, Out]) Reason(r Result, out Out, opErr error) string {
	if r.Acceptor == NoAcceptor {
		if opErr != nil {
			return fmt.Sprintf("no acceptor matches the error: %s", opErr)
		}
		return "no acceptor matched; seen " + c.observed(out)
	}
	a := c.acceptors[r.Acceptor]
	reason := fmt.Sprintf("%s (acceptor %d of %d)", a.Matcher, r.Acceptor+1, len(c.acceptors))
	if r.Message != "" {
		reason += ": " + r.Message
	}
	if opErr != nil && a.Matcher.Success != nil {
		reason += ": " + opErr.Error()
	}
	return reason
}

// observed lists the values of the paths that the waiter reads.
func (c *Check[In, Out]) observed(out Out) string {
	var parts []string
	seen := map[string]bool{}
	for _, a := range c.acceptors {
		if a.path == nil || seen[a.Matcher.Output.Path] {
			continue
		}
		path := a.Matcher.Output.Path
		seen[path] = true
		switch v, err := a.path.Eval(out); v := v.(type) {
		case string:
			parts = append(parts, fmt.Sprintf("%s = %q", path, v))
		case nil:
			if err != nil {
				parts = append(parts, err.Error())
			} else {
				parts = append(parts, path+" = null")
			}
		default:
			parts = append(parts, fmt.Sprintf("%s = %v", path, v))
		}
	}
	if len(parts) == 0 {
		return "a response"
	}
	return strings.Join(parts, ", ")
}
