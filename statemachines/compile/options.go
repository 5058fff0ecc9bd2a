package compile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Options are how a waiter is compiled. MaxWait is required.
type Options struct {
	// Strategy is how to poll; if it is empty, Variables, or RetryTask where the history
	// has room for that alone.
	Strategy Strategy
	// MaxWait is how long the job may take, in whole seconds, a year at most.
	MaxWait time.Duration
	// MinDelay and MaxDelay replace the waiter's, InitialDelay is waited before
	// the first call; in whole seconds. A MaxDelay below the waiter's minimum stands
	// for both. The delays of the strategy Loop are MinDelay.
	MinDelay, MaxDelay, InitialDelay time.Duration
	// Schedule has all delays instead of these three. RetryTask holds its first delay
	// and a few others: see [Strategy.Hold]. SyncTask takes none.
	Schedule *pollcore.Planned
	// CausePatterns tell errors apart that the service's model does not declare,
	// by their codes: Step Functions gives all of them one name, and a Cause with
	// the message but not the code. A pattern is a text that the Cause has
	// somewhere; * stands for any text, \* for an asterisk, \\ for a backslash.
	// Those of [catalog.Operation.Causes] have a source and are taken for codes that have
	// none here. The strategies with Lambda functions know the codes and do without.
	CausePatterns map[string]string
	// UnmodeledFails lets an error fail the wait whose code the service's model does
	// not declare, for which there is no pattern, and for which the waiter has another
	// verdict. Without it the waiter is refused. A warning names the errors.
	UnmodeledFails bool
	// Prefix stands before the names of states and, where there are any, of
	// variables: then it is a letter, and letters, digits and _. Names of
	// variables begin with a small letter, so two
	// fragments of one machine need prefixes that differ in more than the case of
	// the first.
	Prefix string
	// Names are names of states instead of those that Compile gives, by the
	// latter without Prefix: {"DescribeExport": "Is the export done?"}.
	Names map[string]string
	// Output is a JMESPath expression that selects the output of the result from
	// the response of the polled operation, in the model's spelling. Default: the
	// whole response, with members in PascalCase. States pass on 256 KiB at most.
	// Where the path finds nothing, the output is null. The strategy Loop takes only
	// member paths such as a.b, and omits the output where there is nothing.
	Output string
	// Exits makes a fragment of it: states to be merged into those of another
	// machine, which goes on in the states of these names.
	Exits map[pollcore.Status]string
	// Events is the poller's share of the 25,000 events of an execution;
	// DefaultEvents if 0. Delays that can need more grow: the longest, or else the
	// shortest. One that MinDelay or MaxDelay names grows only with Fit.
	Events int
	Fit    bool
	// RunJobFunction and CheckStatusFunction are names or ARNs of the two Lambda
	// functions; those of the shipped definitions if empty. Scope is the
	// scope of the start record, for a poller inside a Map: an expression over
	// the item, which is the input, that differs for each.
	RunJobFunction, CheckStatusFunction, Scope string
	// JobFrom and JobTo are how long the job takes, for the report; 0 and
	// MaxWait if JobTo is 0.
	JobFrom, JobTo time.Duration
}

// DefaultEvents leaves some of the 25,000 events of an execution to others.
const DefaultEvents = 24_000

// choice is the text of Compiled.Choice.
func choice(what, chosen, otherwise string, events, share int) string {
	return fmt.Sprintf("the %s is %s, not %s: with %[3]s the wait could take %d events of the history, and its share is %d",
		what, chosen, otherwise, events, share)
}

// OptionErrors is all that is wrong with the options and the call of a waiter,
// whatever the strategy. errors.As finds each [*OptionError] in it.
type OptionErrors []*OptionError

func (e OptionErrors) Error() string {
	texts := make([]string, len(e))
	for i, o := range e {
		texts[i] = o.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the errors.
func (e OptionErrors) Unwrap() []error {
	all := make([]error, len(e))
	for i, o := range e {
		all[i] = o
	}
	return all
}

// OptionError is what is wrong with one field.
type OptionError struct {
	// Field is the name of the field of [Options], or else of [Call] or [Start]. Who
	// has another name for it, such as a flag, writes that and the problem.
	Field string
	// Problem follows the name of the field: "must be above 0, got 0s".
	Problem string
	// Err is the cause; nil if Problem says all.
	Err error
}

func (e *OptionError) Error() string { return e.Field + " " + e.Problem }

func (e *OptionError) Unwrap() error { return e.Err }

// Relabel writes the problems of the fields with the names that a surface has for
// them: each [*OptionError] in err gets the name that label gives to its field.
// Other errors stay as they are.
func Relabel(err error, label func(field string) string) error {
	all, ok := errors.AsType[OptionErrors](err)
	if !ok {
		return err
	}
	named := make(OptionErrors, len(all))
	for i, o := range all {
		named[i] = &OptionError{Field: label(o.Field), Problem: o.Problem, Err: o.Err}
	}
	return named
}

// checks collects what is wrong with fields.
type checks struct{ found OptionErrors }

func (c *checks) wrong(field, format string, args ...any) {
	err := fmt.Errorf(format, args...) //nolint:err113 // the text is the problem, and %w the cause
	c.found = append(c.found, &OptionError{field, err.Error(), errors.Unwrap(err)})
}

func (c *checks) err() error {
	if c.found == nil {
		return nil
	}
	return c.found
}

// check finds what is wrong with a call and options by themselves.
func check(w *pollcore.Waiter, call Call, o Options) error {
	var c checks
	if w == nil {
		c.wrong("Waiter", "is missing: give the waiter to compile")
	}
	c.strategy(o)
	if call.Operation == nil && call.Task == nil {
		c.wrong("Operation", "is missing: give the operation that the waiter polls")
	}
	if c.found != nil {
		return c.err()
	}
	if call.Task != nil {
		c.task(call, o)
	}
	c.call(call, o.Strategy)
	c.options(o)
	return c.err()
}

// Validate finds all that is wrong with the options by themselves, before there
// is a waiter. The error is [OptionErrors]. Compile does it, too.
func (o Options) Validate() error {
	var c checks
	c.strategy(o)
	c.options(o)
	return c.err()
}

// share is how many events of the history the wait may take.
func (o Options) share() int { return cmp.Or(o.Events, DefaultEvents) }

func (c *checks) strategy(o Options) {
	if o.Strategy == "" || o.Strategy.Valid() {
		return
	}
	names := list(Strategies())
	c.wrong("Strategy", "must be one of %s, is %q%s", names, o.Strategy, nearest.DidYouMean(string(o.Strategy), strings.Split(names, ", ")))
}

func list[S ~string](names []S) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = string(name)
	}
	return strings.Join(all, ", ")
}

// call finds what is wrong with a call.
func (c *checks) call(call Call, s Strategy) {
	functions, paths := s.UsesFunctions(), s.Language() == asl.JSONPath
	call.Operation = call.operation()
	if call.Start != nil && call.Start.Operation == nil && !functions {
		c.wrong("Start", "must have the operation that starts the job")
	}
	if call.Start != nil && call.Arguments != nil {
		c.wrong("Arguments", "must be nil: the start call determines the arguments of %s; give the arguments of the start call in Start", call.Operation.Name)
	}
	switch stop := call.Stop; {
	case stop == nil:
	case call.Operation.Service.Operations[stop.Operation] == nil:
		c.wrong("Stop", "names the operation %q, but the catalogue has no such operation of %s", stop.Operation, call.Operation.Service.Key)
	case call.Start == nil && !functions:
		c.wrong("Stop", "needs Start: its arguments come from the start call")
	}
	switch {
	case !call.SelfFeeding:
	case !paths:
		c.wrong("SelfFeeding", "is for strategies in JSONPath: %s keeps the arguments in a variable", s)
	case call.Start != nil || call.Arguments == nil:
		c.wrong("SelfFeeding", "needs Arguments and no Start")
	}
}

// task finds what is wrong with the caller's own Task.
func (c *checks) task(call Call, o Options) {
	if err := CheckTask(call.Task); err != nil {
		c.wrong("Task", "%s", err.Error())
		return
	}
	resource, _ := call.Task["Resource"].(string)
	r := asl.ParseResource(resource)
	catch, isList := listOf(call.Task["Catch"])
	switch {
	case !isList:
		c.wrong("Task", "must have a list of objects in Catch")
	case !o.Strategy.traits().ownTask:
		c.wrong("Task", "is not for the strategy %s: take %s", o.Strategy, defaultStrategy)
	case call.Start != nil || call.Stop != nil || call.Arguments != nil:
		c.wrong("Task", "must be without Start, Stop and Arguments of the call: it has arguments of its own")
	case r.Pattern != "" && call.Task["TimeoutSeconds"] == nil, r.Service == "activity" && call.Task["TimeoutSeconds"] == nil:
		c.wrong("Task", "must have TimeoutSeconds: %s may take any time", resource)
	case o.Exits == nil && len(catch) > 0:
		c.wrong("Task", "has a Catch, which leads to states of another machine: set Exits")
	}
}

// times finds what is wrong with durations and the share of the history.
func (c *checks) times(o Options) {
	before := len(c.found)
	for _, given := range []struct {
		field    string
		d, least time.Duration
	}{
		{"MaxWait", o.MaxWait, time.Second},
		{"MinDelay", o.MinDelay, 0},
		{"MaxDelay", o.MaxDelay, 0},
		{"InitialDelay", o.InitialDelay, 0},
		{"JobFrom", o.JobFrom, 0},
		{"JobTo", o.JobTo, 0},
	} {
		switch {
		case given.field == "MaxWait" && given.d == 0:
			c.wrong(given.field, "is missing: say how long to wait at most, such as 2h")
		case given.d%time.Second != 0 && given.field != "JobFrom" && given.field != "JobTo":
			c.wrong(given.field, "must be whole seconds, because Step Functions waits whole seconds, is %s", short(given.d))
		case given.d < given.least:
			c.wrong(given.field, "must be at least %s, is %s", short(given.least), short(given.d))
		case given.d > asl.MaxStandardTime:
			c.wrong(given.field, "must be at most the year that an execution can last, is %s", short(given.d))
		}
	}
	if o.Events < 0 || o.Events > asl.MaxEvents {
		c.wrong("Events", "must be from 1 to the %d events of an execution, is %d", asl.MaxEvents, o.Events)
	}
	if len(c.found) > before {
		return
	}
	if o.Schedule != nil {
		c.schedule(o)
	}
	if o.MaxDelay > 0 && o.MaxDelay < o.MinDelay {
		c.wrong("MaxDelay", "must be at least the minimum delay, %s, is %s", short(o.MinDelay), short(o.MaxDelay))
	}
	if o.InitialDelay > o.MaxWait {
		c.wrong("InitialDelay", "must be at most the max wait, %s, is %s", short(o.MaxWait), short(o.InitialDelay))
	}
	if o.MinDelay > o.MaxWait {
		c.wrong("MinDelay", "must be at most the max wait, %s, is %s", short(o.MaxWait), short(o.MinDelay))
	}
	if o.JobTo > 0 && o.JobTo < o.JobFrom {
		c.wrong("JobTo", "must be at least the shortest time that the job takes, %s, is %s", short(o.JobFrom), short(o.JobTo))
	}
	if o.JobTo == 0 && o.JobFrom > o.MaxWait {
		c.wrong("JobFrom", "must be at most the longest time that the job takes, %s, is %s", short(o.MaxWait), short(o.JobFrom))
	}
}

// schedule finds what is wrong with a schedule.
func (c *checks) schedule(o Options) {
	if err := o.Schedule.Validate(); err != nil {
		c.wrong("Schedule", "is not valid: %w", err)
		return
	}
	for _, other := range []struct {
		field string
		d     time.Duration
	}{{"MinDelay", o.MinDelay}, {"MaxDelay", o.MaxDelay}, {"InitialDelay", o.InitialDelay}} {
		if other.d != 0 {
			c.wrong(other.field, "must be left out, because the schedule has all delays")
		}
	}
	if o.Fit {
		c.wrong("Fit", "must be left out, because it would change the delays of the schedule")
	}
	if first := o.Schedule.Before(1) + o.Schedule.Jitter; first > o.MaxWait {
		with := ""
		if o.Schedule.Jitter > 0 {
			with = " with its jitter"
		}
		c.wrong("Schedule", "must have a first delay of at most the max wait, %s, has %s%s", short(o.MaxWait), short(first), with)
	}
}

// short writes a duration without parts that are 0: 2h for 2h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// options finds what is wrong with options by themselves.
func (c *checks) options(o Options) {
	c.times(o)
	if o.Scope != "" && !o.Strategy.UsesFunctions() {
		c.wrong("Scope", "is for the strategies with Lambda functions: with %s each iteration of a Map has its own variables", o.Strategy)
	}
	if strings.Contains(o.Scope, "$states.context.Map") {
		c.wrong("Scope", "must not read $states.context.Map, which exists only in the ItemSelector of a Map: "+
			"pass Item.Index on there as a member of the item, such as index, and give %q", expression("$states.input.index"))
	}
	if o.Prefix != "" && !o.Strategy.UsesFunctions() {
		if first, _ := utf8.DecodeRuneInString(o.Prefix); !unicode.IsLetter(first) || strings.ContainsFunc(o.Prefix, notInVariable) {
			c.wrong("Prefix", "must be a letter, then letters, digits and _, because names of variables begin with it, is %q", o.Prefix)
		}
	}
	if o.Exits == nil {
		return
	}
	statuses := []pollcore.Status{pollcore.Succeeded, pollcore.Failed, pollcore.TimedOut}
	for _, status := range statuses {
		if name := o.Exits[status]; name == "" || utf8.RuneCountInString(name) > asl.MaxNameLength {
			c.wrong("Exits", "must have a state for %s, with a name of %d characters at most, is %q", status, asl.MaxNameLength, name)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(o.Exits)) {
		if !slices.Contains(statuses, status) {
			c.wrong("Exits", "must have a state for each of %s, and has one for %s", list(statuses), status)
		}
	}
}

func notInVariable(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// checkNames finds names of states that options make too long, or the same.
func (d *draft) checkNames(all states) error {
	var c checks
	o, own := d.options, map[string]bool{}
	for _, s := range all {
		if n := utf8.RuneCountInString(s.name); n > asl.MaxNameLength {
			c.wrong("Prefix", "makes the name of the state %q %d characters long, and it may have %d: shorten it", s.name, n, asl.MaxNameLength)
		}
		for _, status := range slices.Sorted(maps.Keys(o.Exits)) {
			if o.Exits[status] == s.name {
				c.wrong("Exits", "gives %s the name of a state of the fragment, %q: set a prefix", status, s.name)
			}
		}
		if own[s.name] {
			c.wrong("Names", "gives two states the name %q", s.name)
		}
		own[s.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(o.Names)) {
		if o.Names[name] == "" || !d.used[name] || !own[o.Names[name]] {
			c.wrong("Names", "gives the name %q to %q, but this machine has no such state", o.Names[name], name)
		}
	}
	return c.err()
}
