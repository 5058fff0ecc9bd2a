// Package lint finds mistakes in valid state machines. Above all it finds poll
// loops that never end, that the first throttled call kills, or that fill the
// history before the job is done.
package lint

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// The rules.
const (
	UnboundedLoop  = "unbounded-loop"
	UnretriedTask  = "unretried-task"
	LoopingDefault = "looping-default"
	EventBudget    = "event-budget"
	HotLoop        = "hot-loop"
	ShortInterval  = "short-interval"
	RepeatedStart  = "repeated-start"
	IdleRetrier    = "idle-retrier"
	HiddenFailure  = "hidden-failure"
)

// Rule is a rule and what it is about.
type Rule struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{
		{UnboundedLoop, "a poll loop without a bound: no TimeoutSeconds, no count of polls, no deadline"},
		{UnretriedTask, "a Task in a poll loop that does not retry throttled calls and service faults"},
		{LoopingDefault, "a Choice that keeps polling for every status that it does not name"},
		{EventBudget, "a loop that may fill the history of 25,000 events before it reaches its bound"},
		{HotLoop, "a loop that checks a status and has no Wait"},
		{ShortInterval, "a loop that polls every few seconds for more than an hour: its cost, and when the history is full"},
		{RepeatedStart, "a start call that is retried after any error and has no token: the job may start twice"},
		{IdleRetrier, "a retrier that says when to retry, with MaxAttempts 0"},
		{HiddenFailure, "a Task in a poll loop that turns every error into a success"},
		{typecheck.UnknownOperation, "a Task that calls an operation that its service does not have"},
		{typecheck.UnknownArgument, "an argument that the operation does not have"},
		{typecheck.MissingArgument, "a call without an argument that the operation requires"},
		{typecheck.ArgumentType, "an argument of another type than the operation takes"},
		{typecheck.EnumValue, "a value that the service's model does not list, as an argument or in a comparison"},
		{typecheck.UnknownMember, "a path to a member that the response or the input never has"},
		{typecheck.NeverHolds, "a comparison that never holds, because of the value's type or its known values"},
		{typecheck.UnreachableRule, "a Choice rule that never applies, because of the rules before it"},
		{typecheck.UnsetVariable, "a variable that may have no value where a state reads it"},
	}
}

// Finding is a place where a rule does not hold.
type Finding struct {
	diag.Problem

	Rule string
}

// MarshalJSON writes the members of the problem and the rule.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		diag.Problem

		Rule string `json:"rule"`
	}{f.Problem, f.Rule})
}

// Options are what is checked.
type Options struct {
	Off     []string // rules not to check
	Express bool     // the machine runs as an Express workflow, whose history has no limit
	// Types are those of the machine, by the models of the services that it calls.
	// Without them the rules about types find nothing.
	Types *typecheck.Checker
}

// Check returns what the rules find, in the order of the text.
func Check(m *asl.StateMachine, o Options) []Finding {
	c := &checker{machine: m, off: o.Off, tokens: map[asl.Resource]string{}}
	c.flow(&m.Flow, o.Express)
	c.types(o.Types)
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.findings
}

type checker struct {
	machine  *asl.StateMachine
	off      []string
	findings []Finding
	tokens   map[asl.Resource]string // of starts, see startToken
}

// report adds a finding at a field of a state, or at the state itself.
func (c *checker) report(rule string, s *asl.State, field, format string, args ...any) {
	if slices.Contains(c.off, rule) {
		return
	}
	p := c.machine.Problem(s.Position.Pointer+field, format, args...)
	p.Severity = diag.Warning
	c.findings = append(c.findings, Finding{Problem: p, Rule: rule})
}

// types adds what is wrong with the types of the machine.
func (c *checker) types(types *typecheck.Checker) {
	if types == nil {
		return
	}
	for _, f := range types.Findings() {
		if !slices.Contains(c.off, f.Rule) {
			c.findings = append(c.findings, Finding{Problem: f.Problem, Rule: f.Rule})
		}
	}
}

// flow checks a flow, which may run as an Express workflow.
func (c *checker) flow(f *asl.Flow, express bool) {
	for _, l := range loops(f, f.States, every) {
		c.loop(l, express)
	}
	for _, s := range f.States {
		c.recovery(s)
		for _, inner := range s.Flows() {
			c.flow(inner, express || s.Map != nil && s.Map.Distributed && s.Map.ExecutionType == asl.Express)
		}
	}
}

func (c *checker) loop(l *loop, express bool) {
	c.hot(l)
	polls := l.first(asl.TypeWait) != nil
	if polls && !express {
		c.bound(l)
	}
	for _, s := range l.states {
		if s.Task != nil && polls {
			c.poll(l, s)
		}
		if s.Choice != nil && (polls || l.first(asl.TypeTask) != nil && !slices.ContainsFunc(l.states, passesTime)) {
			c.defaultOf(l, s)
		}
	}
}
