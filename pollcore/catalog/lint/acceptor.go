package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// errorTypes reports errors that the operation does not declare.
func (c *checker) errorTypes() {
	if c.operation == nil {
		return
	}
	var declared []string
	for _, e := range c.operation.Errors {
		// One without a shape is what the catalogue knows an HTTP status by.
		for _, name := range []string{e.Shape, e.Code} {
			if name != "" {
				declared = append(declared, name)
			}
		}
	}
	for i, a := range c.waiter.Acceptors {
		if a.Matcher.ErrorType == nil {
			continue
		}
		name := smithy.ShapeName(*a.Matcher.ErrorType)
		if slices.Contains(declared, name) {
			continue
		}
		p := diag.Problem{Severity: diag.Warning, Pointer: at(i, "/matcher/errorType")}
		if status, ok := strings.CutPrefix(name, statusError); ok {
			p.Severity = diag.Note
			p.Message = fmt.Sprintf("the model declares no error of HTTP status %s for %s, so it is unknown which errors this matches; name them with the matcher error",
				status, c.operation.Name)
		} else if len(declared) == 0 {
			p.Severity = diag.Note
			p.Message = fmt.Sprintf("the model declares no errors for %s, so %q cannot be checked, and Step Functions may not pass its name on", c.operation.Name, name)
		} else {
			p.Message = fmt.Sprintf("expected an error that %s declares (%s), found %q; it matches only if the service sends this undeclared code",
				c.operation.Name, list(declared), name)
			p = p.Suggest(name, declared...)
		}
		c.add(UnmodeledError, p)
	}
}

// implicit reports acceptors for what the specification does without them: an
// error that no acceptor handles is a failure, and a response is a retry.
func (c *checker) implicit() {
	acceptors := c.waiter.Acceptors
	for i, a := range acceptors {
		m := a.Matcher
		later := func(takes func(pollcore.Matcher) bool) bool {
			return slices.ContainsFunc(acceptors[i+1:], func(b pollcore.Acceptor) bool { return b.State != a.State && takes(b.Matcher) })
		}
		const best = "the specification advises against acceptors for it: they are never complete; remove this one"
		switch {
		case a.State == pollcore.Failure && a.Message == "" && (m.ErrorType != nil || m.Success != nil && !*m.Success):
			if !later(func(b pollcore.Matcher) bool {
				return b.Success != nil && !*b.Success || b.ErrorType != nil && (m.ErrorType == nil || *b.ErrorType == *m.ErrorType)
			}) {
				c.report(Implicit, diag.Note, at(i, ""), "an error that no acceptor handles is a failure anyway; "+best)
			}
		case a.State == pollcore.Retry && m.Success != nil && *m.Success:
			if !later(func(b pollcore.Matcher) bool { return b.ErrorType == nil && (b.Success == nil || *b.Success) }) {
				c.report(Implicit, diag.Note, at(i, ""), "a response that no acceptor handles is a retry anyway; "+best)
			}
		}
	}
}

// quantifiers reports what all and any are likely not meant for.
func (c *checker) quantifiers() {
	lists, empty := 0, false
	for i, a := range c.waiter.Acceptors {
		m, pointer := pathOf(a)
		if m == nil {
			continue
		}
		switch {
		case a.State == pollcore.Failure && m.Comparator == pollcore.AllStringEquals:
			c.report(Quantifier, diag.Warning, at(i, pointer+"/comparator"), fmt.Sprintf(
				"it is a failure only once all of %s are %q: with one such item among others the waiter goes on; anyStringEquals is likely meant", m.Path, m.Expected))
		case a.State == pollcore.Success && m.Comparator == pollcore.AnyStringEquals && !strings.HasPrefix(c.waiter.Name, "Any"):
			c.report(Quantifier, diag.Warning, at(i, pointer+"/comparator"), fmt.Sprintf(
				"it is a success as soon as one item of %s is %q; if you mean all items, use allStringEquals", m.Path, m.Expected))
		}
		if a.State == pollcore.Success && m.Comparator == pollcore.AllStringEquals {
			lists++
		}
		empty = empty || m.Comparator == pollcore.BooleanEquals && strings.Contains(m.Path, "length(")
	}
	if lists == 0 || empty {
		return
	}
	for i, a := range c.waiter.Acceptors {
		if m, pointer := pathOf(a); m != nil && a.State == pollcore.Success && m.Comparator == pollcore.AllStringEquals {
			c.report(EmptyList, diag.Note, at(i, pointer+"/comparator"), fmt.Sprintf(
				"allStringEquals does not hold for an empty list: if %s can be empty, the waiter polls until its deadline; "+
					"length(...) == `0` with booleanEquals says what that means", m.Path))
			return
		}
	}
}

// checkOperation reports an operation that changes something.
func (c *checker) checkOperation() {
	if c.operation == nil || c.operation.Reads() {
		return
	}
	c.report(PollsWrite, diag.Danger, "", fmt.Sprintf(
		"expected an operation that reads, found %s, which by its name changes something with each call; poll a describe operation",
		c.operation.Name))
}

// startsWithWord tells whether a name in UpperCamelCase starts with a word.
func startsWithWord(name, word string) bool {
	rest, ok := strings.CutPrefix(name, word)
	return ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
}

// called are words for what a waiter does, which its name does not need.
var called = []string{"Check", "Describe", "Get", "Head", "List", "Poll", "Until", "Wait"}

// name reports a waiter that has the name of the call instead of what is
// waited for.
func (c *checker) name() {
	const advice = "name it after the resource and the state to wait for, such as ExportCompleted"
	name := c.waiter.Name
	if c.operation != nil && name == c.operation.Name {
		c.report(Name, diag.Note, "", fmt.Sprintf("%q is the name of the operation; %s", name, advice))
		return
	}
	for _, word := range called {
		if startsWithWord(name, word) {
			c.report(Name, diag.Note, "", fmt.Sprintf("%q starts with what is done (%s); %s", name, word, advice))
			return
		}
	}
	if strings.HasSuffix(name, "Waiter") && name != "Waiter" {
		c.report(Name, diag.Note, "", fmt.Sprintf("%q ends with what it is; %s", name, advice))
	}
}
