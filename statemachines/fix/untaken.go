package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Untaken says of each loop of a definition that Apply does not look at why it is none to replace.
func Untaken(m *asl.StateMachine, o Options) []string {
	var reasons []string
	add := func(reason string) {
		if reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	taken := o.pollLoops(m)
	known := lint.Loops(m, o.lint())
	for _, l := range known {
		if !slices.ContainsFunc(taken, func(one lint.Loop) bool { return one.Poll == l.Poll || l.Poll != nil && one.Poll.Name == l.Poll.Name }) {
			add(untaken(m, &l, o))
		}
	}
	for s := range m.All {
		isLoop := slices.ContainsFunc(known, func(l lint.Loop) bool { return l.Retries && slices.Contains(l.States, s) })
		if !isLoop && len(s.Flows()) > 0 && slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool { return r.MaxAttempts > usualRounds }) {
			if poll := polledInside(s); poll != nil {
				add(fmt.Sprintf("the retries of %q make the polls of %q: fix replaces a cycle of states alone", s.Name, poll.Name))
			}
		}
	}
	return reasons
}

// untaken says why a loop is none to replace; empty if fix does not know what it polls.
func untaken(m *asl.StateMachine, l *lint.Loop, o Options) string {
	switch {
	case l.Retries && l.Poll != nil:
		return fmt.Sprintf("%q polls by its Retry: fix replaces a cycle of states alone", l.Poll.Name)
	case l.Poll != nil && isCompiled(m, l.Poll):
		return fmt.Sprintf("the loop of %q is a compiled one", l.Poll.Name)
	case l.Poll == nil && l.Unjudged != "":
		return l.Unjudged
	}
	for _, s := range l.States {
		if s.Task == nil {
			if poll := polledInside(s); poll != nil {
				return fmt.Sprintf("%q polls inside of %q: fix replaces a loop that has the Task itself as a state", poll.Name, s.Name)
			}
			continue
		}
		if service := asl.ParseResource(s.Task.Resource).Service; service == "lambda" || service == "http" {
			return uncompared(m, s, o)
		}
	}
	return ""
}

// uncompared says why lint has no table of a Task that no model describes.
func uncompared(m *asl.StateMachine, task *asl.State, o Options) string {
	if asl.ParseResource(task.Task.Resource).Pattern == ".waitForTaskToken" {
		return fmt.Sprintf("%q gets its answer when somebody sends its task token: fix replaces loops whose Task answers at once", task.Name)
	}
	demands, err := typecheck.FindDemands(m.State(m.StartAt), m, o.Models)
	if err != nil {
		return ""
	}
	if demands.Result(task).IsParsed() {
		return fmt.Sprintf("the machine reads a text in the answer of %q as JSON, and fix follows no status out of there: let the Task return its members", task.Name)
	}
	return fmt.Sprintf("fix cannot follow what %q returns to a Choice of the loop that compares it", task.Name)
}

// polledInside is the first Task inside of a state that calls an operation which the catalogue
// polls; nil if there is none.
func polledInside(s *asl.State) *asl.State {
	for _, f := range s.Flows() {
		for inner := range f.All {
			if inner.Task != nil && isPolled(asl.ParseResource(inner.Task.Resource)) {
				return inner
			}
		}
	}
	return nil
}

// isPolled tells whether an entry of the catalogue polls what a resource calls.
func isPolled(r asl.Resource) bool {
	service, ok := r.SDK()
	if !ok || r.Action == "" {
		return false
	}
	all, err := entriesOf(service + ":" + strings.ToUpper(r.Action[:1]) + r.Action[1:])
	return err == nil && len(all) > 0
}
