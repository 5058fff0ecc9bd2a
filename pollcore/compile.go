package pollcore

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// CompileOption changes what [Compile] accepts.
type CompileOption func(*compiler)

// Strict makes warnings errors, for waiters that are checked before they are
// shipped.
func Strict() CompileOption { return func(c *compiler) { c.strict = true } }

// Compile resolves the waiter against the input and output types of its
// describe call: SDK types or pointers to them, or any for JSON values.
//
// Everything wrong is reported at once as a [diag.Problems]: an invalid waiter, a
// member that a type does not have, a comparator that the type of its path can
// never satisfy, a message that is not text. What may be meant so is a warning,
// which [Check.Warnings] returns and [Strict] makes an error: an expected value
// that is not in the SDK's enum (services add values), an acceptor that an
// earlier one leaves nothing to match, a comparison that always gives the same.
func Compile[In, Out any](w *Waiter, options ...CompileOption) (*Check[In, Out], error) {
	if w == nil {
		return nil, diag.Problems{{Message: "no waiter to compile: it is nil"}}
	}
	c := &compiler{waiter: w, out: goSubject(reflect.TypeFor[Out](), ""), both: goSubject(reflect.TypeFor[inputOutput[In, Out]](), both)}
	for _, option := range options {
		option(c)
	}
	c.compile()
	warnings, err := c.verdict()
	if err != nil {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, err)
	}
	return &Check[In, Out]{waiter: w, acceptors: c.acceptors, both: c.usesInput, warnings: warnings}, nil
}

// Analyze reports everything that [Compile] has to say of a waiter and types
// that are known only at run time, with its severities. A nil type stands for
// JSON values.
func Analyze(w *Waiter, in, out reflect.Type) diag.Problems {
	if w == nil {
		return diag.Problems{{Message: "no waiter to analyze: it is nil"}}
	}
	if in == nil {
		in = reflect.TypeFor[any]()
	}
	if out == nil {
		out = reflect.TypeFor[any]()
	}
	root := reflect.StructOf([]reflect.StructField{{Name: "Input", Type: in}, {Name: "Output", Type: out}})
	c := &compiler{waiter: w, out: goSubject(out, ""), both: goSubject(root, both)}
	c.compile()
	return c.problems
}

// inputOutput is what an inputOutput matcher's path is evaluated on.
type inputOutput[In, Out any] struct {
	Input  In
	Output Out
}

// both is what messages call the value of an inputOutput matcher's path.
const both = "a path over input and output"

// subject checks a path against the type that it is evaluated on. The program
// is nil if that is no Go type.
type subject func(*jmespath.Expr) (*jmespath.Program, *jsontype.Type, diag.Problems)

// goSubject is a Go type. One of this package's own, which nobody knows, has
// another name in messages.
func goSubject(t reflect.Type, name string) subject {
	return func(expr *jmespath.Expr) (*jmespath.Program, *jsontype.Type, diag.Problems) {
		program, findings := expr.Compile(t)
		if name != "" {
			for i := range findings {
				findings[i].Message = strings.ReplaceAll(findings[i].Message, t.String(), name)
			}
		}
		return program, program.Result(), findings
	}
}

// compiler collects the problems of one waiter.
type compiler struct {
	waiter    *Waiter
	out, both subject
	strict    bool
	problems  diag.Problems
	acceptors []acceptor
	usesInput bool
}

func (c *compiler) report(s diag.Severity, pointer, format string, args ...any) *diag.Problem {
	c.problems = append(c.problems, diag.Problem{Severity: s, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
	return &c.problems[len(c.problems)-1]
}

func (c *compiler) compile() {
	c.problems = c.waiter.problems()
	for i, a := range c.waiter.Acceptors {
		at := "/acceptors/" + strconv.Itoa(i)
		compiled := acceptor{Acceptor: a}
		switch m := a.Matcher; {
		case m.Output != nil:
			compiled.expect(m.Output, c.path(m.Output, at+"/matcher/output", c.out))
		case m.InputOutput != nil:
			c.usesInput, compiled.both = true, true
			compiled.expect(m.InputOutput, c.path(m.InputOutput, at+"/matcher/inputOutput", c.both))
		case m.Success != nil:
			compiled.test, compiled.truth = testSuccess, *m.Success
		case m.ErrorType != nil:
			compiled.test, compiled.expected = testError, smithy.ShapeName(*m.ErrorType)
			compiled.seen = compiled.expected
		}
		if a.Message != "" {
			compiled.message = c.message(a.Message, at+"/message")
		}
		c.reachable(i, at)
		c.acceptors = append(c.acceptors, compiled)
	}
}

// verdict parts the problems into warnings and the rest, which is an error.
func (c *compiler) verdict() (warnings diag.Problems, err error) {
	if c.strict {
		return nil, c.problems.Err()
	}
	var rest diag.Problems
	for _, p := range c.problems {
		if p.Severity == diag.Warning {
			warnings = append(warnings, p)
		} else {
			rest = append(rest, p)
		}
	}
	return warnings, rest.Err()
}

// path compiles the path of a matcher and checks it against the comparator.
func (c *compiler) path(m *PathMatcher, at string, on subject) *jmespath.Program {
	if m.Path == "" {
		return nil // Validate has told
	}
	e, ok := c.expression(m.Path, at+"/path", on)
	if !ok {
		return nil
	}
	result := e.result
	if want := m.Comparator.kind(); result.Kind != jsontype.Unknown && result.Kind != want && !e.absent {
		c.report(diag.Danger, at+"/comparator", "%s can never hold: it compares %s, but %s is %s",
			m.Comparator, want.Noun(), m.Path, result.Kind.Noun())
		return e.program
	}
	if result.Kind == jsontype.Array && result.Elem != nil {
		result = result.Elem
		if result.Kind != jsontype.Unknown && result.Kind != jsontype.String && !e.absent {
			c.report(diag.Danger, at+"/comparator", "%s can never hold: it compares strings, but an item of %s is %s",
				m.Comparator, m.Path, result.Kind.Noun())
		}
	}
	if values := result.Enum(); values != nil && !slices.Contains(values, m.Expected) {
		p := c.report(diag.Warning, at+"/expected", "%s is never %q", result, m.Expected)
		*p = p.Suggest(m.Expected, values...)
	}
	return e.program
}

// expression is a path that has been checked.
type expression struct {
	program *jmespath.Program
	result  *jsontype.Type
	// absent tells that something which it reads is not there, so that its
	// result says nothing.
	absent bool
}

// expression checks a path. It returns false if the text is none.
func (c *compiler) expression(text, at string, on subject) (e expression, ok bool) {
	expr, err := jmespath.Parse(text)
	if err != nil {
		if found, ok := errors.AsType[diag.Problems](err); ok {
			for _, p := range found {
				p.Pointer = at
				c.problems = append(c.problems, p)
			}
		}
		return e, false
	}
	var findings diag.Problems
	e.program, e.result, findings = on(expr)
	for _, p := range findings {
		p.Pointer = at
		e.absent = e.absent || p.Severity == diag.Danger
		c.problems = append(c.problems, p)
	}
	return e, true
}

// message compiles the message of a failure acceptor, which gives a string or
// a list of strings.
func (c *compiler) message(text, at string) *jmespath.Program {
	e, ok := c.expression(text, at, c.out)
	if !ok || e.absent {
		return e.program
	}
	result, what := e.result, "the message"
	if result.Kind == jsontype.Array && result.Elem != nil {
		result, what = result.Elem, "an item of the message"
	}
	if result.Kind != jsontype.String && result.Kind != jsontype.Unknown && result.Kind != jsontype.Array {
		c.report(diag.Error, at, "%s must be a string, but is %s", what, result.Kind.Noun())
	}
	return e.program
}

// reachable warns of an acceptor that can match only what an earlier one has
// matched already.
func (c *compiler) reachable(i int, at string) {
	m := c.waiter.Acceptors[i].Matcher
	for j, earlier := range c.waiter.Acceptors[:i] {
		if earlier.Matcher.covers(m) {
			c.report(diag.Warning, at, "can never match: acceptor %d (%s) matches first", j+1, earlier.Matcher)
			return
		}
	}
}

// covers tells whether the matcher matches whenever another does.
func (m Matcher) covers(other Matcher) bool {
	if m.Success != nil {
		onError := other.ErrorType != nil || other.Success != nil && !*other.Success
		return *m.Success != onError
	}
	if a, b := m.pathMatcher(), other.pathMatcher(); a != nil && b != nil && a.Comparator == AnyStringEquals {
		// A list of nothing but the string has it, too.
		weaker := *b
		weaker.Comparator = AnyStringEquals
		return b.Comparator.kind() == jsontype.Array && *a == weaker && (m.Output != nil) == (other.Output != nil)
	}
	return reflect.DeepEqual(m, other) ||
		m.ErrorType != nil && other.ErrorType != nil && smithy.ShapeName(*m.ErrorType) == smithy.ShapeName(*other.ErrorType)
}

// kind is the type of value that the comparator compares.
func (c Comparator) kind() jsontype.Kind {
	switch c {
	case StringEquals:
		return jsontype.String
	case BooleanEquals:
		return jsontype.Boolean
	default:
		return jsontype.Array
	}
}

// expect makes the acceptor compare what a path gives.
func (a *acceptor) expect(m *PathMatcher, path *jmespath.Program) {
	a.path, a.expected, a.truth, a.seen = path, m.Expected, m.Expected == "true", m.Expected
	switch m.Comparator {
	case BooleanEquals:
		a.test, a.seen = testBool, a.truth
	case AllStringEquals:
		a.test = testAll
	case AnyStringEquals:
		a.test = testAny
	case StringEquals:
		a.test = testString
	}
}
