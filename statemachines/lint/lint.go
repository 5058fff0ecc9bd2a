// Package lint finds what is valid in a state machine and yet goes wrong:
// above all poll loops that never end, that the first throttled call kills, or
// that fill the history before the job is done.
package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The rules.
const (
	UnboundedLoop  = "unbounded-loop"
	UnretriedTask  = "unretried-task"
	LoopingDefault = "looping-default"
	EventBudget    = "event-budget"
	HotLoop        = "hot-loop"
)

// Rule is a rule and what it is about.
type Rule struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{
		{UnboundedLoop, "a poll loop that nothing ends: no TimeoutSeconds, no count of polls, no deadline"},
		{UnretriedTask, "a Task in a loop that one throttled call or fault of the service fails: no Retry takes it"},
		{LoopingDefault, "a Choice that goes on polling for every status that it does not name"},
		{EventBudget, "a loop that may fill the history of 25,000 events before its bound"},
		{HotLoop, "a loop on a status without a Wait in it"},
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
	c := &checker{machine: m, options: o}
	c.flow(&m.Flow)
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.findings
}

type checker struct {
	machine  *asl.StateMachine
	options  Options
	findings []Finding
}

// report adds a finding at a field of a state, or at the state itself.
func (c *checker) report(rule string, s *asl.State, field, format string, args ...any) {
	if slices.Contains(c.options.Off, rule) {
		return
	}
	p := c.machine.Problem(s.Position.Pointer+field, format, args...)
	p.Severity = diag.Warning
	c.findings = append(c.findings, Finding{Problem: p, Rule: rule})
}

func (c *checker) flow(f *asl.Flow) {
	for _, l := range loops(f) {
		c.loop(l)
	}
	for _, s := range f.States {
		for _, inner := range s.Flows() {
			c.flow(inner)
		}
	}
}

func (c *checker) loop(l *loop) {
	polls := l.first(asl.TypeWait) != nil
	if polls {
		c.bound(l)
	}
	c.hot(l)
	for _, s := range l.states {
		if s.Task != nil && polls {
			c.retry(s)
		}
		if s.Choice != nil && (polls || !l.waits()) {
			c.defaultOf(l, s)
		}
	}
}

// bound checks that something ends a poll loop, and does so before its history
// is full.
func (c *checker) bound(l *loop) {
	wait := l.first(asl.TypeWait)
	turn := l.turn(wait)
	b := l.bound()
	timeout := time.Duration(c.machine.TimeoutSeconds) * time.Second
	lasts := turn.Wait * time.Duration(turn.Turns())
	full := ""
	if turn.Wait > 0 && !c.options.Express {
		full = fmt.Sprintf("; it ends when the history is full, after %s", roughly(lasts))
	}
	switch {
	case !b.bounded() && timeout == 0 && !c.options.Express:
		c.report(UnboundedLoop, wait, "", "nothing ends the loop %s if the job never does%s: "+
			"set \"TimeoutSeconds\" of the state machine, or count the polls and leave the loop", turn.path(), full)
	case c.options.Express || turn.Wait == 0:
	case b.most > turn.Turns():
		c.report(EventBudget, wait, "", "the loop %s may turn %d times, and each turn takes %d events: the history of 25,000 is full after %d, about %s",
			turn.path(), b.most, turn.Events, turn.Turns(), roughly(lasts))
	case b.most == 0 && !b.test.time && timeout > lasts:
		c.report(EventBudget, wait, "", "\"TimeoutSeconds\" lets the loop %s turn for %s, and each turn takes %d events: the history of 25,000 is full after %s; "+
			"wait longer, or go on in a new execution", turn.path(), roughly(timeout), turn.Events, roughly(lasts))
	}
}

// path writes a turn.
func (t Turn) path() string { return strings.Join(append(t.States, t.States[0]), " > ") }

// roughly writes a duration for people.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%.0f days", d.Hours()/day.Hours())
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.1f hours", d.Hours())
	default:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
}

// bounds are what ends a loop.
type bounds struct {
	test test
	most int // turns, if the definition says
}

func (b bounds) bounded() bool { return b.most > 0 || b.test.time || b.test.ends || b.test.number }

// bound looks for a Choice that leaves the loop because of a count or a time.
func (l *loop) bound() bounds {
	var b bounds
	counted := slices.ContainsFunc(l.states, counts)
	for _, s := range l.states {
		if s.Choice == nil {
			continue
		}
		leaves := !l.inside[s.Choice.Default] && s.Choice.Default != ""
		for i := range s.Choice.Rules {
			r := &s.Choice.Rules[i]
			t := tested(r)
			if t.number && !counted {
				t.number, t.most = false, 0
			}
			if out := !l.inside[r.Next]; !out && !leaves {
				continue
			}
			b.test = b.test.add(t)
			b.most = max(b.most, t.most)
		}
	}
	return b
}

// hot checks that time passes in a loop on a status.
func (c *checker) hot(l *loop) {
	wait := l.first(asl.TypeWait)
	if wait != nil {
		seconds := wait.Wait.Seconds
		if seconds != nil && seconds.Literal == int64(0) {
			c.report(HotLoop, wait, "/Seconds", "the loop around does not wait: it polls as fast as it can, and fills the history within minutes")
		}
		return
	}
	if l.waits() || l.first(asl.TypeTask) == nil {
		return
	}
	for _, s := range l.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			if tested(&s.Choice.Rules[i]).status {
				c.report(HotLoop, s, "", "the loop %s looks at a status and does not wait: it polls as fast as it can; put a Wait into it", l.turn(s).path())
				return
			}
		}
	}
}

// retry checks that a throttled call does not end hours of waiting.
func (c *checker) retry(s *asl.State) {
	if len(s.Retry) == 0 {
		c.report(UnretriedTask, s, "", "the Task is called again and again, and the first throttled call or fault of the service fails it: "+
			"add a \"Retry\" of \"States.TaskFailed\" or of the errors of the service")
		return
	}
	for _, r := range s.Retry {
		if r.MaxAttempts > 0 && slices.ContainsFunc(r.ErrorEquals, func(name string) bool { return takesFaults(s, name) }) {
			return
		}
	}
	c.report(UnretriedTask, s, "/Retry", "no retrier takes a throttled call or a fault of the service: "+
		"add \"States.TaskFailed\" or the errors of the service")
}

// faults are parts of the names of errors that come from a throttled call or a
// fault.
var faults = []string{"Throttl", "TooManyRequests", "Exceeded", "ServiceException", "SdkClientException", "Unavailable", "InternalServer"}

// takesFaults tells whether the name of an error is that of a throttled call or
// a fault.
func takesFaults(s *asl.State, name string) bool {
	if name == asl.ErrorAll || name == asl.ErrorTaskFailed {
		return true
	}
	if slices.ContainsFunc(faults, func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	prefix := asl.ParseResource(s.Task.Resource).ErrorPrefix()
	return prefix != "" && name == prefix+"."+prefix+"Exception"
}

// defaultOf checks that a status that is not known does not go on polling.
func (c *checker) defaultOf(l *loop, s *asl.State) {
	next := l.flow.State(s.Choice.Default)
	if next == nil || !l.inside[next.Name] || next.Choice != nil {
		return
	}
	status := false
	for i := range s.Choice.Rules {
		t := tested(&s.Choice.Rules[i])
		if t.number || t.time {
			return
		}
		status = status || t.status
	}
	if status {
		c.report(LoopingDefault, s, "/Default", "every status that no rule names leads back to %q: a failure that is not listed is polled for ever; "+
			"name those that go on, and let \"Default\" lead to a Fail state", s.Choice.Default)
	}
}
