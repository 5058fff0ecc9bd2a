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
}

// Check returns what the rules find, in the order of the text.
func Check(m *asl.StateMachine, o Options) []Finding {
	c := &checker{machine: m, off: o.Off, tokens: map[asl.Resource]string{}}
	c.flow(&m.Flow, o.Express)
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
