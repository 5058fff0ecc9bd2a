package pollcore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var (
	waiterName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	// A relative or absolute shape ID, or an unmodeled wire code, some of
	// which hold dots (InvalidInstanceID.NotFound).
	errorName = regexp.MustCompile(`^([A-Za-z_][\w.]*#)?[A-Za-z_][\w.-]*$`)

	comparators = []string{string(StringEquals), string(BooleanEquals), string(AllStringEquals), string(AnyStringEquals)}
	verdicts    = []string{string(Success), string(Failure), string(Retry)}
)

// mostAcceptors is how many acceptors a waiter may have. Those of AWS have some ten,
// and each is compared with all before it.
const mostAcceptors = 200

// Validate checks the waiter against the rules of the specification that need
// no model. All problems are reported at once, as a [diag.Problems].
func (w *Waiter) Validate() error { return w.problems().Err() }

func (w *Waiter) problems() diag.Problems {
	var found diag.Problems
	report := func(pointer, format string, args ...any) *diag.Problem {
		found = append(found, diag.Problem{Pointer: pointer, Message: fmt.Sprintf(format, args...), OwnWords: diag.OwnWords(format, args...)})
		return &found[len(found)-1]
	}
	if !waiterName.MatchString(w.Name) {
		report("", "waiter name %q must be UpperCamelCase: a capital, then letters and digits", w.Name)
	}
	if w.MinDelay < 0 {
		report("/minDelay", "minDelay must be at least 1 second, got %d", w.MinDelay)
	}
	if w.MaxDelay < 0 {
		report("/maxDelay", "maxDelay must be at least 1 second, got %d", w.MaxDelay)
	}
	if lo, hi := w.delays(); w.MinDelay >= 0 && w.MaxDelay >= 0 && lo > hi {
		report("/minDelay", "minDelay (%d) must not be above maxDelay (%d%s)", lo, hi, ifZero(w.MaxDelay, ", the default"))
	}
	// An unknown state is told of below; it may be a misspelt success.
	if !slices.ContainsFunc(w.Acceptors, func(a Acceptor) bool { return a.State == Success || !slices.Contains(verdicts, string(a.State)) }) {
		report("/acceptors", "no acceptor has the state success, so the waiter could never succeed")
	}
	if n := len(w.Acceptors); n > mostAcceptors {
		report("/acceptors", "a waiter has at most %d acceptors, found %d", mostAcceptors, n)
		return found
	}
	for i, a := range w.Acceptors {
		a.problems("/acceptors/"+strconv.Itoa(i), report)
	}
	return found
}

// reporter adds a problem to a list, where it can still be changed.
type reporter func(pointer, format string, args ...any) *diag.Problem

// stateWords are words of other waiters for states.
var stateWords = map[string]Verdict{
	"error": Failure, "fail": Failure, "failed": Failure, "succeed": Success, "succeeded": Success,
	"pending": Retry, "running": Retry, "wait": Retry,
}

func (a Acceptor) problems(at string, report reporter) {
	if word := string(a.State); !slices.Contains(verdicts, word) {
		p := report(at+"/state", "state must be success, failure or retry, got %q", word)
		if *p = p.Suggest(word, verdicts...); p.Suggestion == "" {
			p.Suggestion = string(stateWords[strings.ToLower(word)])
		}
	}
	if a.Message != "" && a.State != Failure {
		report(at+"/message", "message is allowed on failure acceptors alone, this one's state is %q", a.State)
	}
	set := 0
	for _, isSet := range []bool{a.Matcher.Output != nil, a.Matcher.InputOutput != nil, a.Matcher.Success != nil, a.Matcher.ErrorType != nil} {
		if isSet {
			set++
		}
	}
	if set != 1 {
		report(at+"/matcher", "matcher must have exactly one of output, inputOutput, success and errorType, this one has %d", set)
	}
	if m := a.Matcher.Output; m != nil {
		m.problems(at+"/matcher/output", report)
	}
	if m := a.Matcher.InputOutput; m != nil {
		m.problems(at+"/matcher/inputOutput", report)
	}
	if e := a.Matcher.ErrorType; e != nil && !errorName.MatchString(*e) {
		report(at+"/matcher/errorType", "errorType must be an error code or shape name, got %q", *e)
	}
}

func (m PathMatcher) problems(at string, report reporter) {
	if m.Path == "" {
		report(at+"/path", "path must be a JMESPath expression, got an empty string")
	}
	switch {
	case !slices.Contains(comparators, string(m.Comparator)):
		report(at+"/comparator", "comparator must be one of stringEquals, booleanEquals, allStringEquals, anyStringEquals, got %q", m.Comparator)
	case m.Comparator == BooleanEquals && m.Expected != "true" && m.Expected != "false":
		report(at+"/expected", `expected must be "true" or "false" with booleanEquals, got %q`, m.Expected)
	}
}

// delays returns the bounds of the delay in seconds with defaults applied.
func (w *Waiter) delays() (lo, hi int) {
	lo, hi = w.MinDelay, w.MaxDelay
	if lo == 0 {
		lo = DefaultMinDelay
	}
	if hi == 0 {
		hi = DefaultMaxDelay
	}
	return lo, hi
}

func ifZero(n int, s string) string {
	if n == 0 {
		return s
	}
	return ""
}
