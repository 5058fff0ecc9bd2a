package responses

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	"github.com/jmespath-community/go-jmespath"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Judge says what a waiter makes of a call, from the text of the
// specification (https://smithy.io/2.0/additional-specs/waiters.html).
type Judge struct {
	waiter *pollcore.Waiter
	errors []catalog.Error
	// paths and messages are those of the acceptors, nil where there is none.
	paths, messages []jmespath.JMESPath
}

// Verdict is what a waiter makes of a call: the members of pollcore.Result of
// the same name.
type Verdict struct {
	State    pollcore.Verdict
	Acceptor int // pollcore.NoAcceptor if none matched
	Seen     any
	Message  string
}

// NewJudge prepares a judge of a waiter that polls the operation.
func NewJudge(w *pollcore.Waiter, o *catalog.Operation) (*Judge, error) {
	j := &Judge{waiter: w, errors: o.Errors}
	compile := func(i int, text string) (jmespath.JMESPath, error) {
		path, err := jmespath.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("acceptor %d: %s: %w", i+1, text, err)
		}
		return path, nil
	}
	for i, a := range w.Acceptors {
		var path, message jmespath.JMESPath
		var err error
		if p := either(a.Matcher); p != nil {
			path, err = compile(i, p.Path)
		}
		if err == nil && a.Message != "" {
			message, err = compile(i, a.Message)
		}
		if err != nil {
			return nil, err
		}
		j.paths, j.messages = append(j.paths, path), append(j.messages, message)
	}
	return j, nil
}

func either(m pollcore.Matcher) *pollcore.PathMatcher {
	if m.Output != nil {
		return m.Output
	}
	return m.InputOutput
}

// Verdict judges a call. The error says that the library could not evaluate a
// path at all, which is not the path's fault.
func (j *Judge) Verdict(c Case) (Verdict, error) {
	for i, a := range j.waiter.Acceptors {
		ok, seen, err := j.matches(i, c)
		if err != nil {
			return Verdict{}, fmt.Errorf("acceptor %d: %w", i+1, err)
		}
		if !ok {
			continue
		}
		v := Verdict{State: a.State, Acceptor: i, Seen: seen}
		if j.messages[i] != nil && c.Err == nil {
			text, err := search(j.messages[i], c.Output)
			if isPanic(err) {
				return Verdict{}, fmt.Errorf("message of acceptor %d: %w", i+1, err)
			}
			v.Message = message(text)
		}
		return v, nil
	}
	v := Verdict{State: pollcore.Retry, Acceptor: pollcore.NoAcceptor} // the specification's implicit verdicts
	if c.Err != nil {
		v.State = pollcore.Failure
	}
	return v, nil
}

// matches tells whether an acceptor matches and what it saw. A path that cannot
// be evaluated does not match.
func (j *Judge) matches(i int, c Case) (ok bool, seen any, err error) {
	m := j.waiter.Acceptors[i].Matcher
	switch {
	case m.Success != nil:
		return *m.Success == (c.Err == nil), nil, nil
	case m.ErrorType != nil:
		name := (*m.ErrorType)[strings.LastIndex(*m.ErrorType, "#")+1:]
		return j.hasName(c.Err, name), name, nil
	}
	if c.Err == nil {
		return j.compares(i, c)
	}
	return false, nil, nil
}

// compares tells whether the path of an acceptor gives what it expects.
func (j *Judge) compares(i int, c Case) (ok bool, seen any, err error) {
	seen, err = j.search(i, c)
	if isPanic(err) {
		return false, nil, err
	}
	return err == nil && equal(either(j.waiter.Acceptors[i].Matcher), seen), seen, nil
}

// equal compares what a path gave as the matcher says.
func equal(p *pollcore.PathMatcher, got any) bool {
	list, _ := got.([]any)
	count := 0
	for _, item := range list {
		if item == p.Expected {
			count++
		}
	}
	switch p.Comparator {
	case pollcore.BooleanEquals:
		truth, isBool := got.(bool)
		return isBool && truth == (p.Expected == "true")
	case pollcore.AllStringEquals:
		return len(list) > 0 && count == len(list)
	case pollcore.AnyStringEquals:
		return count > 0
	default: // stringEquals
		return got == p.Expected
	}
}

// hasName tells whether an error has the name: as its shape or as the code that
// stands for the shape in a message.
func (j *Judge) hasName(failure error, name string) bool {
	code := ErrorName(failure)
	return code != "" && (code == name || slices.ContainsFunc(j.errors, func(e catalog.Error) bool {
		return e.Code == code && e.Shape == name
	}))
}

// ErrorName is the code of an error without what protocols put around it, or
// empty if it has none
// (https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#operation-error-serialization).
func ErrorName(failure error) string {
	coded, ok := errors.AsType[smithy.APIError](failure)
	if !ok {
		return ""
	}
	code, _, _ := strings.Cut(coded.ErrorCode(), ":")
	return code[strings.LastIndex(code, "#")+1:]
}

// search evaluates the path of an acceptor.
func (j *Judge) search(i int, c Case) (any, error) {
	if j.waiter.Acceptors[i].Matcher.InputOutput != nil {
		return search(j.paths[i], map[string]any{"input": c.Input, "output": c.Output})
	}
	return search(j.paths[i], c.Output)
}

// panicError is a panic of the library.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("the library panics: %v", e.value) }

func isPanic(err error) bool {
	_, is := errors.AsType[*panicError](err)
	return is
}

func search(path jmespath.JMESPath, v any) (got any, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
		}
	}()
	return path.Search(v)
}

// message joins what a message expression gave.
func message(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var parts []string
	list, _ := v.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}
