package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ErrWrongOptions means that the call does not fit the waiter, or that call or
// options contradict themselves or what Step Functions can do: no strategy takes
// them.
var ErrWrongOptions = errors.New("wrong options")

// wrongOptionError is an ErrWrongOptions that says what is wrong.
type wrongOptionError struct{ error }

func (wrongOptionError) Is(target error) bool { return target == ErrWrongOptions }

func (w wrongOptionError) Unwrap() error { return w.error }

func wrong(format string, args ...any) error { return wrongOptionError{fmt.Errorf(format, args...)} }

// check finds what is wrong with options by themselves.
func (o Options) check() error {
	switch {
	case !slices.Contains([]Strategy{LambdaLoop, LambdaRetry, Loop, Variables, RetryTask}, o.Strategy):
		return wrong("there is no strategy %q", o.Strategy)
	case o.MaxWait > asl.MaxStandardTime:
		return wrong("MaxWait must not be above the year that an execution can last, got %s", o.MaxWait)
	case o.Events < 0 || o.Events > asl.MaxEvents:
		return wrong("Events must be between 0 and the %d events that an execution can have, got %d", asl.MaxEvents, o.Events)
	case o.JobFrom < 0 || o.JobTo < 0 || o.JobTo > 0 && o.JobTo < o.JobFrom || o.JobTo == 0 && o.JobFrom > o.MaxWait:
		return wrong("a job takes between JobFrom and JobTo, got %s and %s", o.JobFrom, o.JobTo)
	case o.Scope != "" && o.Strategy != LambdaLoop && o.Strategy != LambdaRetry:
		return wrong("Scope is of the strategies with Lambda functions; in %s each iteration of a Map has variables of its own", o.Strategy)
	}
	if strings.Contains(o.Scope, "$states.context.Map") {
		return wrong("Scope must not name $states.context.Map, which Step Functions knows in the ItemSelector of a Map alone: "+
			"pass its Item.Index on there as a member of the item, such as index, and give %q", expression("$states.input.index"))
	}
	if o.Exits == nil {
		return nil
	}
	statuses := []pollcore.Status{pollcore.Succeeded, pollcore.Failed, pollcore.TimedOut}
	for _, status := range statuses {
		if name := o.Exits[status]; name == "" || utf8.RuneCountInString(name) > asl.MaxNameLength {
			return wrong("a fragment needs a state to go on with for each status, with a name of %d characters at most; Exits has %q for %s", asl.MaxNameLength, name, status)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(o.Exits)) {
		if !slices.Contains(statuses, status) {
			return wrong("no fragment ends in the status %s that Exits has; it can be %v", status, statuses)
		}
	}
	return nil
}

// check finds what is wrong with a call by itself, for a strategy.
func (c Call) check(s Strategy) error {
	throughLambda := s == LambdaLoop || s == LambdaRetry
	switch {
	case c.Operation == nil:
		return wrong("compile needs a waiter and the operation that it polls")
	case c.Start != nil && c.Start.Operation == nil && !throughLambda:
		return wrong("Start needs the operation that starts the job")
	case c.Start != nil && c.Arguments != nil:
		return wrong("the arguments of %s come from the start call: leave Arguments nil, and give those of the start call in Start", c.Operation.Name)
	case c.Stop != nil && c.Operation.Service.Operations[c.Stop.Operation] == nil:
		return wrong("the catalogue does not have the operation %q of %s, which Stop calls", c.Stop.Operation, c.Operation.Service.Key)
	case c.Stop != nil && c.Start == nil && !throughLambda:
		return wrong("Stop needs Start: what start and stop have in common is not known otherwise")
	case c.SelfFeeding && s != Loop:
		return wrong("SelfFeeding is of the strategy %s; in %s the arguments outlive the calls", Loop, s)
	case c.SelfFeeding && (c.Start != nil || c.Arguments == nil):
		return wrong("SelfFeeding needs Arguments, and no Start")
	}
	return nil
}

// checkNames refuses names that Options make too long, twice the same, or none
// of a variable.
func (p *poller) checkNames(all states) error {
	w, o := p.waiter.Name, p.options
	if first, _ := utf8.DecodeRuneInString(o.Prefix); o.Prefix != "" && !p.throughLambda() &&
		(!unicode.IsLetter(first) || strings.ContainsFunc(o.Prefix, notInVariable)) {
		return wrong("%s: the prefix %q begins names of variables, so it must be a letter, then letters, digits and _", w, o.Prefix)
	}
	own := map[string]bool{}
	for _, s := range all {
		own[s.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(o.Names)) {
		if o.Names[name] == "" || !p.named[name] || !own[o.Names[name]] {
			return wrong("%s: Names gives the name %q to %q, which is no state of this machine", w, o.Names[name], name)
		}
	}
	known := map[string]bool{}
	for _, s := range all {
		if n := utf8.RuneCountInString(s.name); n > asl.MaxNameLength {
			return wrong("%s: the state %q would have a name of %d characters, and it may have %d: shorten the prefix", w, s.name, n, asl.MaxNameLength)
		}
		for _, status := range slices.Sorted(maps.Keys(o.Exits)) {
			if o.Exits[status] == s.name {
				return wrong("%s: the exit for %s has the name of a state of the fragment, %q: a prefix sets them apart", w, status, s.name)
			}
		}
		if known[s.name] {
			return wrong("%s: two states would have the name %q", w, s.name)
		}
		known[s.name] = true
	}
	return nil
}

func notInVariable(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
