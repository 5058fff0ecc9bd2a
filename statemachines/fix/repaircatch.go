package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// showFailures are the edits by which a Catch that leads each error to a success leads it to a failure. A Catch that waits
// until a resource is gone keeps the error that says so.
func (c *checked) showFailures(s *asl.State, f lint.Finding) []candidate {
	var at int
	if _, err := fmt.Sscanf(strings.TrimPrefix(f.Pointer, s.Position.Pointer), "/Catch/%d/Next", &at); err != nil || c.callsBehind(s, s.Catch[at].Next) {
		return nil
	}
	l := c.loopOf(s)
	if l == nil || l.Poll != s {
		return c.leadErrors(s, at, "JobFailed", c.failsBeside(s))
	}
	if gone := l.GoneErrors(); len(gone) > 0 && !slices.ContainsFunc(l.Rows, func(row lint.Row) bool { return row.Ends == lint.EndsSuccess }) {
		return []candidate{{
			class: Sure, about: fmt.Sprintf("an error of %q other than %s", s.Name, strings.Join(gone, ", ")),
			frame: []trial.Kind{{Task: s.Name, Sort: trial.Fails}},
			edits: []edit.Edit{{Op: edit.Replace, At: fmt.Sprintf("%s/Catch/%d/ErrorEquals", s.Position.Pointer, at), Value: listOf(gone)}},
			mended: func(r *trial.Run) bool {
				return r.After.Status == string(sim.StatusFailed) && !slices.Contains(gone, r.After.Error)
			},
		}}
	}
	return c.leadErrors(s, at, errorName(l, "Failed"), append(failureRoutes(l), c.failsBeside(s)...))
}

// leadErrors leads a catcher to the first of some states that takes its errors, or to a new Fail state with an error.
func (c *checked) leadErrors(s *asl.State, at int, newError string, routes []string) []candidate {
	one := candidate{
		class: Offered, mended: failsByItself, also: "only you know whether an error may be a success",
		about: fmt.Sprintf("an error of %q that its Catch takes", s.Name),
	}
	if s.Task == nil {
		one.about = fmt.Sprintf("a failure in %q", s.Name)
	}
	for inner := range c.machine.All {
		switch {
		case inner.Task != nil && inner == s:
			one.frame = append(one.frame, trial.Kind{Task: s.Name, Sort: trial.Fails})
		case inner.Task != nil && s.Task == nil && c.isInside(inner, s): // any answer may be a failure there
			one.frame = append(one.frame, trial.Kind{Task: inner.Name})
		}
	}
	next := fmt.Sprintf("%s/Catch/%d/Next", s.Position.Pointer, at)
	var all []candidate
	for _, to := range routes {
		lead := one
		lead.edits = []edit.Edit{{Op: edit.Replace, At: next, Value: jsonOf(to)}}
		all = append(all, lead)
	}
	name := c.newName(s.Name + " failed")
	fail := value("Type", "Fail", "Error", newError, "Cause", fmt.Sprintf("%s failed", s.Name))
	one.edits = []edit.Edit{{Op: edit.Replace, At: next, Value: jsonOf(name)}, {Op: edit.Before, At: s.Position.Pointer, Name: name, Value: fail}}
	return append(all, one)
}

// isInside tells whether a state is in a flow of a Map or Parallel.
func (*checked) isInside(s, around *asl.State) bool {
	return slices.ContainsFunc(around.Flows(), func(f *asl.Flow) bool { return f.State(s.Name) == s || f.Holder(s) != nil })
}

// failsBeside are the Fail states in the flow of a state.
func (c *checked) failsBeside(s *asl.State) []string {
	var names []string
	for _, other := range c.flowOf(s).States {
		if other.Type == asl.TypeFail {
			names = append(names, other.Name)
		}
	}
	return names
}

// callsBehind tells whether a Task, Map or Parallel comes behind a way out of a state: it may clean up.
func (c *checked) callsBehind(s *asl.State, to string) bool {
	flow := c.flowOf(s)
	first := flow.State(to)
	return slices.ContainsFunc(flow.States, func(other *asl.State) bool {
		return (other.Task != nil || len(other.Flows()) > 0) && (other == first || flow.Leads(first, other))
	})
}
