package fix

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// object is a JSON object of a definition.
type object = map[string]any

// fragment is the compiled loop that takes the place of another.
type fragment struct {
	*loop

	strategy compile.Strategy
	chosen   string // what the compiler chose, and why
	observed *observed
	maxWait  time.Duration
	waitNote string // what to know of maxWait
	prefix   string
	start    string   // the first state
	order    []string // of the states
	states   map[string]object

	named    map[string]string          // the states, by the names that Compile gives
	success  string                     // where a success leads
	handler  string                     // where a failure leads that the loop did not know; empty for a new Fail state
	timedOut string                     // where the end of the time leads; empty for a new Fail state
	computed any                        // the arguments of a poll that are one expression; nil for others
	entered  bool                       // whether something needs the input of the loop
	added    map[pollcore.Status]string // Fail states

	share      share
	report     compile.Report
	callFailed string   // the Fail state of errors that the new loop does not retry; empty if there is none
	warnings   []string // of the compiler
}

// The exits that are compiled, before they become states of the machine.
var exitNames = map[pollcore.Status]string{
	pollcore.Succeeded: "(succeeded)", pollcore.Failed: "(failed)", pollcore.TimedOut: "(timed out)",
}

// compile makes the fragment.
func (l *loop) compile(before *observed, o Options) (*fragment, error) {
	f := &fragment{loop: l, observed: before, prefix: l.newPrefix(), added: map[pollcore.Status]string{}}
	f.maxWait, f.waitNote = l.maxWait(o)
	if err := f.chooseExits(); err != nil {
		return nil, err
	}
	if err := l.checkTime(o); err != nil {
		return nil, err
	}
	if len(l.aside) > 0 && !o.strategy().TakesTask() {
		return nil, refuse("%q runs after each poll, and the strategy %s has no states there: take %s", l.aside[0].Name, o.strategy(), compile.Variables)
	}
	if l.own && !o.strategy().TakesTask() {
		return nil, refuse("%q polls with a Task of your own, which the strategy %s does not take: take %s", l.poll.Name, o.strategy(), compile.Variables)
	}
	options := compile.Options{
		Strategy: o.strategy(), MaxWait: f.maxWait, MaxDelay: o.MaxDelay, InitialDelay: time.Duration(l.first) * time.Second,
		Prefix: f.prefix, Fit: o.MaxDelay == 0, UnmodeledFails: true,
	}
	if o.Schedule != nil {
		options.Schedule, options.MaxDelay, options.InitialDelay, options.Fit = o.Schedule, 0, 0, false
	}
	if !o.strategy().Waits() {
		f.share = l.findShare(o)
		options.Events = l.leaveRoom(f.share.events)
		if f.share.events < 0 {
			return nil, refuse("the history has no room for the loop: %s", f.share.why)
		}
	}
	call := l.call()
	adapt, err := f.prepare(&call, &options)
	if err != nil {
		return nil, err
	}
	c, err := compile.Compile(l.waiter, call, options)
	if err == nil {
		f.named = f.names(c)
		options.Names = f.named
		c, err = compile.Compile(l.waiter, call, options)
	}
	if refused, ok := errors.AsType[*compile.NotCompiledError](err); ok {
		reason := refused.Reasons[0]
		if refused.Events > 0 {
			reason = f.share.describe(reason)
		}
		return nil, refuse("the strategy %s cannot wait for %s: %s", refused.Strategy, l.about(), reason)
	} else if err != nil {
		return nil, refuse("it cannot be compiled: %s", err)
	}
	if err := f.read(c); err != nil {
		return nil, err
	}
	f.strategy, f.chosen, f.warnings, f.report = c.Strategy, f.share.describe(c.Choice), c.Warnings, c.Report()
	if f.starter != nil {
		f.warnDropped()
	}
	f.keepResource()
	f.keepCallTime()
	return f, adapt()
}

// prepare completes the call and the options of a strategy, and returns what leads
// its states into the machine.
func (f *fragment) prepare(call *compile.Call, options *compile.Options) (adapt func() error, err error) {
	if options.Strategy.Language() == asl.JSONPath {
		return f.prepareJSONPath(call, options)
	}
	options.Exits = exitNames
	if f.starter != nil {
		if f.entry.Job.SyncArguments != nil && f.timedOut != "" {
			return nil, refuse("%q needs the job's id when the time is over, which %s does not tell then", f.timedOut, f.entry.Job.Sync)
		}
		call.Start = &compile.Start{Operation: f.starter.operation, Describe: f.entry.Job.Arguments}
		call.Start.Arguments, err = f.argumentsOf(f.starter.State, "$states.input")
	} else if err = f.completeTask(call); call.Task == nil && err == nil {
		err = f.prepareArguments(call)
	}
	return func() error {
		result := "$states.input"
		if f.strategy.PollsByRetry() {
			result += ".output" // beside the number of the acceptor
		}
		return f.adaptJSONata(result)
	}, err
}

// newPrefix is what the names of the fragment's variables begin with.
func (l *loop) newPrefix() string {
	var b strings.Builder
	up := false
	for _, r := range l.poll.Name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) || b.Len() == 0 && !unicode.IsLetter(r):
			up = b.Len() > 0
		case b.Len() == 0:
			b.WriteRune(unicode.ToLower(r))
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	const longest = 40
	name := []rune(b.String())
	if len(name) == 0 {
		name = []rune("poll")
	}
	prefix := string(name[:min(len(name), longest)])
	for n, base := 2, prefix; l.uses(prefix); n++ {
		prefix = base + strconv.Itoa(n)
	}
	return prefix
}

// variable finds the variables that a definition names.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$"]([\p{L}\p{N}_]+)`) })

// uses tells whether a variable of the machine begins as those of a fragment would.
func (l *loop) uses(prefix string) bool {
	for _, found := range variable().FindAllSubmatch(l.root.Raw(), -1) {
		if rest, ok := strings.CutPrefix(string(found[1]), prefix); ok && slices.Contains(variableNames, rest) {
			return true
		}
	}
	return false
}

// variableNames are what the names of a fragment's variables end with.
var variableNames = []string{"Input", "Arguments", "Attempt", "Deadline", "StartedAt", "Calls", "CountedFrom", "Reason", "Failure", "Request"}

// names give the compiled states the names of those that they replace.
func (f *fragment) names(c *compile.Compiled) map[string]string {
	taken := map[string]bool{}
	for s := range f.machine.All {
		taken[s.Name] = true
	}
	names := map[string]string{}
	for _, s := range c.Machine.States {
		own, ok := strings.CutPrefix(s.Name, f.prefix)
		if !ok {
			continue // an exit
		}
		switch {
		case own == f.entry.Operation.Name:
			names[own] = f.poll.Name
		case f.starter != nil && own == f.entry.Name:
			names[own] = f.starter.Name
		case own == "Check", own == "Outcome":
			names[own] = f.choice.Name
		case own == "Wait" && f.wait != nil:
			names[own] = f.wait.Name
		default:
			names[own] = f.newName(f.subjectOf(own), parts[own], taken)
		}
	}
	return names
}

// parts are what the states of a fragment are called behind the name of the poll.
var parts = map[string]string{
	"Start": "begins", "InitialWait": "waits first", "BeforeDeadline": "has time left", "CallsLeft": "has calls left", "CheckError": "looks at the error",
	"Wait": "waits", "JobEnded": "ended", "Failed": "failed", "TimedOut": "timed out",
}

// subjectOf is the state of the old machine that a compiled one is named after.
func (f *fragment) subjectOf(own string) string {
	if f.starter != nil && (own == "Start" || own == "JobEnded") {
		return f.starter.Name
	}
	return f.poll.Name
}

// newName is a name that no state of the machine has.
func (*fragment) newName(subject, part string, taken map[string]bool) string {
	if part == "" {
		part = "goes on"
	}
	base := []rune(subject)
	base = base[:min(len(base), asl.MaxNameLength-len(part)-4)]
	name := string(base) + " " + part
	for n := 2; taken[name]; n++ {
		name = string(base) + " " + part + " " + strconv.Itoa(n)
	}
	taken[name] = true
	return name
}

// read takes the states of the compiled machine apart.
func (f *fragment) read(c *compile.Compiled) error {
	var machine struct {
		States map[string]object `json:"States"`
	}
	if err := json.Unmarshal(asl.Print(c.Machine), &machine); err != nil {
		return err
	}
	f.start, f.states = c.StartAt, map[string]object{}
	for _, s := range c.Machine.States {
		if slices.Contains(slices.Collect(maps.Values(exitNames)), s.Name) {
			continue
		}
		f.order = append(f.order, s.Name)
		f.states[s.Name] = machine.States[s.Name]
		if old := f.flow.State(s.Name); old != nil && f.inside[s.Name] && old.Comment != "" {
			f.states[s.Name]["Comment"] = old.Comment
		}
	}
	return nil
}

// chooseExits finds where the new loop leads.
func (f *fragment) chooseExits() error {
	if exit, polls := f.observed.givesUp(); exit != "" {
		if s := f.flow.State(exit); f.flow.Leads(s, f.poll) {
			return refuse("the loop does more than poll: %q is a %s, to which a job leads that still runs at poll %d", exit, s.Type, polls)
		}
		return refuse("a job that still runs at poll %d leads to %q there, and the loop does not ask again, so no run shows where a success of a later poll leads: "+
			"repair the loop first, without --replace", polls, exit)
	}
	successes, failures := f.observed.exitsOf(pollcore.Success), f.observed.exitsOf(pollcore.Failure)
	if len(successes) == 0 {
		var statuses []string
		for _, s := range f.observed.seen {
			if s.verdict == pollcore.Success && s.err != "" {
				return refuse("no success of %s leaves the loop: with %s it fails with %s", f.about(), s.status, s.err)
			}
			if s.verdict == pollcore.Success {
				statuses = append(statuses, s.status)
			}
		}
		return refuse("no success of %s leaves the loop: with %s it polls on. Compare the statuses that its Choice names: jobpoller lint",
			f.about(), strings.Join(statuses, ", "))
	}
	f.success = successes[0]
	if f.flow.State(f.success).Type == asl.TypeFail {
		if routes := f.routesOf(f.succeedsBy(f.success)); len(routes) > 1 {
			return refuseMore(f.succeedsBy(f.success), routes)
		}
		return refuse("the success %s of %s leads to the Fail state %q", f.succeedsBy(f.success), f.about(), f.success)
	}
	if f.onlyFails(f.success) {
		return refuse("the success %s of %s leads to %q, from where the execution can only fail: repair the loop first, without --replace",
			f.succeedsBy(f.success), f.about(), f.success)
	}
	if err := f.checkMembers(); err != nil {
		return err
	}
	failures = slices.DeleteFunc(failures, func(name string) bool { return name == f.success })
	f.handler, f.timedOut = f.handlerOf(failures), f.lateExit()
	return nil
}

// succeedsBy is the first status of a success that leads to a state of exitsOf.
func (f *fragment) succeedsBy(exit string) string {
	for _, s := range f.observed.seen {
		if s.verdict == pollcore.Success && s.exit == exit && !s.later {
			return s.status
		}
	}
	return ""
}

// onlyFails tells whether all ways from a state behind the loop end in Fail states.
func (f *fragment) onlyFails(exit string) bool {
	seen := map[string]bool{}
	for left := []string{exit}; len(left) > 0; {
		s := f.flow.State(left[0])
		left = left[1:]
		switch {
		case s == nil || seen[s.Name]:
			continue
		case f.staysIn(s.Name), s.End, s.Type == asl.TypeSucceed:
			return false
		}
		seen[s.Name] = true
		for _, way := range s.Transitions() {
			left = append(left, way.To)
		}
	}
	return true
}

// handlerOf is the state for failures among those that failures lead to, most of them to the first.
// Of several Fail states, each may tell of its failure alone: one of them has to be that of most. Where
// none leads anywhere, it is that of statuses which the loop does not know.
func (f *fragment) handlerOf(failures []string) string {
	switch {
	case len(failures) == 0 && f.otherwise != f.lateExit() && f.otherwise != f.success:
		return f.otherwise
	case len(failures) == 0:
		return ""
	}
	first := failures[0]
	if f.flow.State(first).Type == asl.TypeFail && len(failures) > 1 &&
		f.observed.leadTo(first, pollcore.Failure) == f.observed.leadTo(failures[1], pollcore.Failure) {
		return ""
	}
	return first
}

// wayOut is the state of the machine that a verdict by an acceptor leads to; empty for a Fail
// state of the fragment.
func (f *fragment) wayOut(status pollcore.Status, acceptor int) string {
	switch status {
	case pollcore.Succeeded:
		return cmp.Or(f.exitBy(acceptor, pollcore.Success), f.success)
	case pollcore.Failed:
		return cmp.Or(f.exitBy(acceptor, pollcore.Failure), f.handler)
	default:
		return f.timedOut
	}
}

// exitBy is where the old loop left with a status that an acceptor tells, one that only a later
// call leads to last; empty if it did not, or took a failure for a success.
func (f *fragment) exitBy(acceptor int, verdict pollcore.Verdict) string {
	if acceptor == pollcore.NoAcceptor {
		return ""
	}
	if f.judges != nil {
		acceptor = f.judges[acceptor]
	}
	exit := ""
	for _, s := range f.observed.seen {
		if s.acceptor != acceptor || s.verdict != verdict || s.exit == "" || verdict != pollcore.Success && !f.keepsWay(s.status, s.exit) {
			continue
		}
		if !s.later {
			return s.exit
		}
		exit = cmp.Or(exit, s.exit)
	}
	return exit
}

// keepsWay tells whether the new loop leads a failure where the old one did, which did not take
// it for a success.
func (f *fragment) keepsWay(status, exit string) bool { return exit != f.success || f.apart[status] }

// acceptorNumber finds which acceptor a reason is of.
var acceptorNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(acceptor (\d+) of \d+\)`) })

// acceptorOf is the index of the acceptor that a reason is of; pollcore.NoAcceptor if it is of
// none.
func acceptorOf(reason string) int {
	match := acceptorNumber().FindStringSubmatch(reason)
	if match == nil {
		return pollcore.NoAcceptor
	}
	n, err := strconv.Atoi(match[1])
	if err != nil {
		return pollcore.NoAcceptor
	}
	return n - 1
}
