// Package lint finds mistakes in valid state machines. Above all it finds poll
// loops that never end, that the first throttled call kills, or that fill the
// history before the job is done.
package lint

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// The rules.
const (
	UnboundedLoop  = "unbounded-loop"
	UnretriedTask  = "unretried-task"
	LoopingDefault = "looping-default"
	EventBudget    = "event-budget"
	EarlyBound     = "early-bound"
	BoundFirst     = "bound-first"
	HotLoop        = "hot-loop"
	ShortInterval  = "short-interval"
	RepeatedStart  = "repeated-start"
	IdleRetrier    = "idle-retrier"
	HiddenFailure  = "hidden-failure"
	FailingBranch  = "failing-branch"

	StatusPollsOn   = "status-polls-on"
	StatusMisread   = "status-misread"
	StatusUnhandled = "status-unhandled"
	StatusUnclear   = "status-unclear"
	StartRace       = "start-race"
	PollNeedless    = "poll-needless"
	LargeAnswer     = "large-answer"
	CallbackTimeout = "callback-without-timeout"
	RedriveRestarts = "redrive-restarts"
)

// Suspicious is of what asl.Validate warns of: Check does not look for it.
const Suspicious = "suspicious"

// Rule is a rule and what it is about.
type Rule struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{
		{UnboundedLoop, "a poll loop without a bound: no TimeoutSeconds, no count of polls, no deadline, no branch that fails in time"},
		{UnretriedTask, "a Task in a poll loop that does not retry throttled calls and service faults"},
		{LoopingDefault, "a Choice that keeps polling for every status that it does not name, or a Catch that does so after every error"},
		{EventBudget, "a loop that may fill the history of 25,000 events before it reaches its bound"},
		{EarlyBound, "a bound before the second poll, such as seconds where JSONata counts milliseconds, or a count that one job leaves to the next"},
		{BoundFirst, "a loop that looks at its bound before the status: the answer of the last poll is lost"},
		{HotLoop, "a loop that checks a status and has no Wait, or one that waits for the same time in each turn"},
		{ShortInterval, "a loop that polls every few seconds for more than an hour: its cost, and when the history is full"},
		{RepeatedStart, "a start call that runs again: after any error without a token, beside a job that runs, after each failure without a bound, " +
			"or in each turn by one name"},
		{IdleRetrier, "a retrier that says when to retry, with MaxAttempts 0"},
		{HiddenFailure, "a Task in a poll loop, or a Map or Parallel around the loop, that turns every error into a success, " +
			"or a bound that takes a job that still runs for one"},
		{FailingBranch, "a Parallel around a poll loop whose other branch always fails, also when the job has succeeded"},
		{StatusPollsOn, "a status that ends the job, and the loop polls on"},
		{StatusMisread, "a status of success that leads to a failure, of failure that leads to a success, or of a running job that leads to either"},
		{StatusUnhandled, "a status of a job that runs, which no rule names and which leaves the loop"},
		{StatusUnclear, "a status that alone does not say how the job ended, and goes on as a success"},
		{StartRace, "an error that the poll may get just after the start, which AWS's waiter retries and the loop does not"},
		{PollNeedless, "a loop that polls a job whose end .sync or an event tells"},
		{LargeAnswer, "a poll whose answer has beside the status a list that nothing limits, and may exceed 262,144 bytes"},
		{CallbackTimeout, "a Task that waits for a callback and has no TimeoutSeconds or HeartbeatSeconds"},
		{RedriveRestarts, "a .sync Task with TimeoutSeconds: a redrive starts a second job beside the first"},
		{typecheck.UnknownOperation, "a Task that calls an operation that its service does not have"},
		{typecheck.UnknownArgument, "an argument that the operation does not have"},
		{typecheck.MissingArgument, "a call without an argument that the operation requires"},
		{typecheck.ArgumentType, "an argument of another type than the operation takes, or a field than the state takes"},
		{typecheck.EnumValue, "a value that the service's model does not list, as an argument or in a comparison, or a status nearly as the catalogue spells it"},
		{typecheck.UnknownMember, "a path to a member that the response or the input never has"},
		{typecheck.NeverHolds, "a comparison that never holds, or that fails the state, because of the types of its values or the known ones"},
		{typecheck.UnreachableRule, "a Choice rule that never applies, because of the rules before it"},
		{typecheck.AbsentMember, "a member of the answer about a job that is there only later, such as the reason of a failure"},
		{typecheck.UnsetVariable, "a variable that may have no value where a state reads it"},
	}
}

// Finding is a place where a rule does not hold.
type Finding struct {
	diag.Problem

	Rule string
	// Subjects are what it is about in its state: the statuses of a job, the text of a comparison, or a member.
	// They are nil where the rule and the place say it.
	Subjects []string
}

// Advice is the part of the message that says what to do; empty if it has none.
func (f Finding) Advice() string {
	quoted := false
	for i, r := range f.Message {
		if r == '"' {
			quoted = !quoted
		}
		if advice, found := strings.CutPrefix(f.Message[i:], "; "); found && !quoted {
			return advice
		}
	}
	return ""
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
	Off  []string // rules not to check
	Only []string // states: loops without any of them are not looked at; nil: all are
	// Said are the meanings that the user gives to statuses of operations without an entry in the catalogue: by the status, for
	// all Tasks, or by the Task and the status, "Look:done".
	Said map[string]Meaning
	// Fitting are statuses that the tables of loops follow, too, which compare one with patterns, beside a text for each
	// pattern, whatever its name says. Without them, tables have the texts alone whose names say something.
	Fitting []string
	// Region is that of the prices; asl.DefaultRegion where it is empty, or its price is not known.
	Region  string
	Express bool // the machine runs as an Express workflow, whose history has no limit
	// Rate says which severity a finding has in the tables of loops, and whether it counts at all;
	// nil: as it is found.
	Rate func(f Finding) (severity diag.Severity, counts bool)
	// Types are those of the machine, by the models of the services that it calls.
	// Without them the rules about types find nothing.
	Types *typecheck.Checker
}

// Check returns what the rules find, in the order of the text.
func Check(m *asl.StateMachine, o Options) []Finding {
	findings, _ := CheckLoops(m, o)
	return findings
}

// Loops returns the poll loops of a machine, those inside of Parallel and Map states
// too: loops around a Task that polls an operation of the catalogue, and others
// with a Wait. What the rules find in them is in them.
func Loops(m *asl.StateMachine, o Options) []Loop {
	c := look(m, o)
	rate(c.tables, o.Rate)
	return c.tables
}

// CheckLoops returns what Check and Loops do, and reads the machine once.
func CheckLoops(m *asl.StateMachine, o Options) ([]Finding, []Loop) {
	c := look(m, o)
	c.checkTypes(o.Types)
	c.checkStatusWords()
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	rate(c.tables, o.Rate)
	return c.findings, c.tables
}

// look finds what there is to say of the states of a machine.
func look(m *asl.StateMachine, o Options) *checker {
	c := newChecker(m, o)
	c.enterFlows(&m.Flow)
	c.flow(&m.Flow, o.Express)
	c.shareHistories()
	c.noteSteadyWaits()
	c.setPrices()
	return c
}

// checkTypes adds what is wrong with the types of the machine.
func (c *checker) checkTypes(types *typecheck.Checker) {
	if types == nil {
		return
	}
	for _, f := range types.Findings() {
		if !slices.Contains(c.off, f.Rule) {
			f = c.noteSpare(f)
			c.findings = append(c.findings, aboutWord(f))
		}
	}
}

// flow checks a flow, which may run as an Express workflow.
func (c *checker) flow(f *asl.Flow, express bool) {
	if !f.Open {
		for _, l := range loops(f, f.States, every) {
			if !c.neverTurns(l) {
				c.loop(l, express)
			}
		}
		c.retryLoops(f, express)
	}
	for _, s := range f.States {
		c.recovery(f, s)
		before := len(c.tables)
		for _, inner := range s.Flows() {
			c.flow(inner, express || s.Map != nil && s.Map.Distributed && s.Map.ExecutionType == asl.Express)
		}
		if len(s.Flows()) > 0 {
			c.hidesInside(f, s, c.tables[before:])
			c.failsInBranch(s, c.tables[before:])
			c.repeatsInside(s)
		}
	}
}

func (c *checker) loop(l *loop, express bool) {
	if slices.ContainsFunc(l.states, hasOpenRule) || !slices.ContainsFunc(l.states, c.isLookedAt) {
		return
	}
	before := len(c.findings)
	c.hot(l)
	c.checkSameName(l)
	tables := c.readAll(l, express)
	c.checkAbsentMembers(l, express)
	polls := l.first(asl.TypeWait) != nil
	if polls && !express && !slices.ContainsFunc(tables, func(r *reading) bool { return r.Bound.Error != "" }) {
		c.bound(l, tables)
	}
	for _, s := range l.states {
		around := l.innermost(s, c.waysOf(l.flow).before)
		if reset := c.findReset(l); reset != nil && reset.inside[s.Name] {
			around = reset
		}
		if s.Task != nil && polls && (c.operations.of(s) != nil || around.passesTime() && (!Changes(s) || !around.turnsAroundPolls())) {
			c.poll(l, s, slices.ContainsFunc(tables, func(r *reading) bool { return r.Poll == s }))
		}
		if polls && len(s.Retry) == 0 && !slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return takesAll(k.ErrorEquals) }) {
			c.pollInside(l, s)
		}
		if s.Choice != nil && !inTable(tables, s) && (polls || l.first(asl.TypeTask) != nil && !slices.ContainsFunc(l.states, passesTime)) {
			c.defaultOf(l, s, express)
		}
	}
	for _, s := range l.states {
		c.checkCodes(l, s)
	}
	for _, r := range tables {
		r.Findings = slices.DeleteFunc(slices.Clone(c.findings[before:]), func(f Finding) bool { return !r.has(f) })
		c.tables = append(c.tables, r.Loop)
	}
}

// readAll reads and checks the loops around Tasks that poll, or else what there is to
// say of a loop with a Wait.
func (c *checker) readAll(l *loop, express bool) []*reading {
	var tables []*reading
	for _, s := range l.states {
		if r := c.read(l, s, express); r != nil {
			tables = append(tables, r)
		}
	}
	judged := slices.ContainsFunc(tables, func(r *reading) bool { return r.status != nil })
	named, over := c.readNamed(l, express, !judged)
	if !judged && len(named) > 0 {
		tables = named
	} else {
		for _, r := range named { // another Task of the loop tells the end
			r.fill()
			c.checkStatuses(r)
		}
	}
	for _, r := range tables {
		c.checkTable(l, r)
	}
	if wait := l.first(asl.TypeWait); len(tables) == 0 && wait != nil {
		r := &reading{inner: l}
		r.Flow, r.Waits, r.Turn, r.Express = l.flow, []*asl.State{wait}, c.turn(l, wait), express
		r.States, r.Unjudged = l.states, c.sayNotInCatalogue(l)
		if over {
			r.Unjudged = tooMuch
		}
		c.tryLaps(l, r)
		if reset := c.findReset(l); reset != nil {
			c.boundsOf(l).opened, r.Turn = []*loop{reset}, c.turn(reset, reset.first(asl.TypeWait))
		}
		r.Hot = c.isHot(l)
		r.Bound = c.boundOf(l, r)
		r.firstWait = c.findFirstWait(l, r)
		c.checkEarly(l, r)
		c.checkAllRounds(l, r)
		tables = append(tables, r)
	}
	return tables
}

// checkTable makes and checks the table of a loop.
func (c *checker) checkTable(l *loop, r *reading) {
	r.fill()
	c.addWholes(r)
	r.RetriedBy = c.retriedBy(r.Flow)
	r.Errors = c.caughtErrors(r)
	c.findLaps(r)
	c.settleLaps(l, r)
	c.tryLaps(l, r)
	r.Hot = c.isHot(r.inner)
	r.Rounds = c.findRounds(l, r)
	r.Bound = c.boundOf(l, r)
	r.Bound.Past = r.pastBound()
	if reset := c.findReset(l); reset != nil && reset.inside[r.Poll.Name] && r.Bound.Kind == ByCount {
		r.Bound.Anew = reset.resets.Name
	}
	r.firstWait = c.findFirstWait(l, r)
	c.checkEarly(l, r)
	c.checkAllRounds(l, r)
	c.checkLast(r)
	c.checkGivenUp(l, r)
	c.checkStatuses(r)
	c.checkGates(l, r)
	c.checkLostInput(r)
	if r.ByName {
		return
	}
	c.checkChange(r)
	c.checkSecond(r)
	c.checkDefault(r)
	c.checkRace(r)
	c.checkNeed(r)
	c.checkSize(r)
	c.checkAbsent(r)
	c.markLacking(r)
}

// inTable tells whether a Choice is read in a table that has all statuses.
func inTable(tables []*reading, s *asl.State) bool {
	return slices.ContainsFunc(tables, func(r *reading) bool { return !r.ByName && slices.Contains(r.Choices, s) })
}
