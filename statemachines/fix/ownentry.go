package fix

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// makeEntry makes the entry of a loop whose job the catalogue does not know, of the rows of its table: each status ends the
// wait, or does not, as it did. A failure by its name that polled on fails, and what the user says counts before all.
func (l *loop) makeEntry(table *lint.Loop, o Options) error {
	w, err := l.makeWaiter(table)
	if err != nil {
		return err
	}
	l.entry = &catalog.Entry{Name: l.poll.Name, Waiter: w}
	r := asl.ParseResource(l.poll.Task.Resource)
	op, err := typecheck.FindOperation(l.poll.Task.Resource, o.Models)
	if err != nil {
		return err
	}
	if _, isSDK := strings.CutPrefix(r.Service, "aws-sdk:"); isSDK && r.Pattern == "" && op != nil && r.Service != "aws-sdk:lambda" {
		l.entry.Operation, l.entry.Service = op, op.Service
		return nil
	}
	if err := l.checkEachCall(); err != nil {
		return err
	}
	l.own, l.faults = true, faultNames(l.poll.Task.Resource, op, false)
	l.entry.Service = &catalog.Service{}
	l.entry.Operation = &catalog.Operation{Name: compile.TaskName, Service: l.entry.Service}
	return nil
}

// checkEachCall refuses arguments that are others for each poll.
func (l *loop) checkEachCall() error {
	for _, field := range []string{"Arguments", "Parameters"} {
		if arguments := l.node(l.poll).Get(field); arguments != nil {
			if each := eachCall().FindString(string(arguments.Raw())); each != "" {
				return refuse("%q computes %s anew for each poll, and a new loop computes the arguments once, before the first", l.poll.Name, each)
			}
		}
	}
	return nil
}

// isListed tells whether the catalogue has the entry.
func (l *loop) isListed() bool {
	return l.entry.Job != nil || l.entry.Service.Waiters[l.entry.Name] != nil
}

// about names what the loop waits for.
func (l *loop) about() string {
	if !l.isListed() {
		return strconv.Quote(l.poll.Name)
	}
	return l.entry.FullName()
}

// makeWaiter makes the waiter of the rows of a table.
func (l *loop) makeWaiter(table *lint.Loop) (*pollcore.Waiter, error) {
	path := table.Status
	if path == "$" {
		path = "@"
	}
	if path != "@" && !plainStatus().MatchString(path) {
		return nil, refuse("a new loop cannot read the status at %s of what %q returns: let the Task select it", table.Status, l.poll.Name)
	}
	if table.Together && !itemStatus().MatchString(path) {
		return nil, refuse("%q looks at several jobs, and %s does not say which list in what %q returns has them: select the items, and then their status, "+
			"such as jobs[status = 'FAILED']", l.choice.Name, table.Status, l.poll.Name)
	}
	w := &pollcore.Waiter{Name: "Own"}
	var rest *lint.Row // what leads any other value
	for i := range table.Rows {
		row := &table.Rows[i]
		if err := l.checkRoutes(table, row); err != nil {
			return nil, err
		}
		if len(row.Values) == 0 {
			rest = row
			continue
		}
		for _, value := range row.Values {
			m, err := l.matcherOf(table, path, value, row)
			if err != nil {
				return nil, err
			}
			if m != nil {
				w.Acceptors = append(w.Acceptors, pollcore.Acceptor{State: l.verdictOf(table, row), Matcher: pollcore.Matcher{Output: m}})
			}
		}
	}
	if rest != nil && l.leaves(rest) && (!rest.Mixed || l.verdictOf(table, rest) != pollcore.Retry) {
		always := true
		w.Acceptors = append(w.Acceptors, pollcore.Acceptor{State: l.verdictOf(table, rest), Matcher: pollcore.Matcher{Success: &always}})
	}
	if !slices.ContainsFunc(w.Acceptors, func(a pollcore.Acceptor) bool { return a.State == pollcore.Success }) {
		return nil, refuse("no status of %q leads to a success: say which does, with --status 'STATUS=success'", l.poll.Name)
	}
	return w, nil
}

// plainStatus is a path that leads to one value, through members and first items.
var plainStatus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\[0\])*(\.[A-Za-z_]\w*(\[0\])*)*$`) })

// itemStatus is a path to a member of the first item of one list.
var itemStatus = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\[0\](\.[A-Za-z_]\w*)+$`)
})

// checkRoutes refuses a row of which more than the status says where it leads, but for the bound of the loop. Where the other
// jobs of an answer decide, too, a trial tells how.
func (l *loop) checkRoutes(table *lint.Loop, row *lint.Row) error {
	if table.Together {
		if row.Mixed && len(row.Values) > 0 && row.Meaning == lint.MeansUnknown && row.Ends == lint.EndsUnknown {
			return refuse("%q leads %s to %s by the other jobs: say what it means, with --status '%[2]s=success' or another meaning",
				l.choice.Name, row.Values[0], list(row.Routes))
		}
		return nil
	}
	routes := l.inTime(row)
	if len(routes) < 2 || !slices.ContainsFunc(routes, func(name string) bool { return !l.staysIn(name) }) {
		return nil
	}
	value := "any other status"
	if len(row.Values) > 0 {
		value = row.Values[0]
	}
	return l.refuseRow(value, routes)
}

// inTime are the routes of a row until the bound of the loop is reached.
func (l *loop) inTime(row *lint.Row) []string {
	routes := slices.DeleteFunc(slices.Clone(row.Routes), func(name string) bool { return l.isBounded() && name == l.bound.Route })
	if len(routes) == 0 { // it leads where the bound does
		return row.Routes
	}
	return routes
}

// leaves tells whether a row leads out of the loop in time.
func (l *loop) leaves(row *lint.Row) bool {
	return slices.ContainsFunc(l.inTime(row), func(name string) bool { return !l.staysIn(name) })
}

// matcherOf is how a new loop finds a value of the status; nil if it need not.
func (l *loop) matcherOf(table *lint.Loop, path, value string, row *lint.Row) (*pollcore.PathMatcher, error) {
	literal, isLiteral := table.Literals[value]
	switch literal := literal.(type) {
	case bool:
		return &pollcore.PathMatcher{Path: path, Comparator: pollcore.BooleanEquals, Expected: fmt.Sprint(literal)}, nil
	case nil:
		if !isLiteral {
			return &pollcore.PathMatcher{Path: path, Comparator: pollcore.StringEquals, Expected: value}, nil
		}
		if l.leaves(row) {
			return nil, refuse("%q leads an answer without %s to %s, and a new loop compares what is there", l.choice.Name, table.Status, list(row.Routes))
		}
		return nil, nil //nolint:nilnil // a new loop polls on, too
	default:
		return nil, refuse("%q asks for %s of %s, and a new loop compares texts and booleans: let the Task return a status", l.choice.Name, value, table.Status)
	}
}

// verdictOf is what a row of a table means for a new loop.
func (l *loop) verdictOf(table *lint.Loop, row *lint.Row) pollcore.Verdict {
	byMeaning := map[lint.Meaning]pollcore.Verdict{
		lint.MeansSuccess: pollcore.Success, lint.MeansFailure: pollcore.Failure, lint.MeansRunning: pollcore.Retry, lint.MeansEnding: pollcore.Retry,
	}
	verdict, means := byMeaning[row.Meaning]
	switch {
	case row.By == lint.ByUser && means:
		return verdict
	case row.Mixed:
		return l.verdictBeside(row)
	case !l.leaves(row):
		if row.Meaning == lint.MeansFailure {
			l.byName = append(l.byName, *row)
			return pollcore.Failure
		}
		return pollcore.Retry
	case row.Ends == lint.EndsFailure:
		return pollcore.Failure
	case !leadsLikeSuccess(table, row):
		l.byName = append(l.byName, *row)
		return pollcore.Failure
	default:
		return pollcore.Success
	}
}

// verdictBeside is what a row means where the other jobs of an answer decide, too: what its name says, or the end of all its ways.
func (l *loop) verdictBeside(row *lint.Row) pollcore.Verdict {
	stays := slices.ContainsFunc(row.Routes, l.staysIn)
	switch {
	case row.Meaning == lint.MeansSuccess:
		return pollcore.Success
	case row.Meaning == lint.MeansFailure, row.Ends == lint.EndsFailure && !stays:
		return pollcore.Failure
	case row.Meaning == lint.MeansRunning, row.Meaning == lint.MeansEnding, stays:
		return pollcore.Retry
	default:
		return pollcore.Success
	}
}

// leadsLikeSuccess tells whether a row of a table is no failure, or leads where one does that is none.
func leadsLikeSuccess(table *lint.Loop, row *lint.Row) bool {
	return slices.ContainsFunc(table.Rows, func(other lint.Row) bool {
		return other.Meaning != lint.MeansFailure && slices.Equal(other.Routes, row.Routes)
	})
}

// noteByName says which statuses a new loop takes for a failure by their names alone; empty for none.
func (l *loop) noteByName() string {
	var values []string
	for _, row := range l.byName {
		values = append(values, row.Values...)
	}
	if values == nil {
		return ""
	}
	return fmt.Sprintf("%s of %q: a failure by name. If not, pass --status '%s=running' or another meaning", strings.Join(values, ", "), l.poll.Name, values[0])
}

// checkArguments refuses a loop whose own Task gets what it answered last: nobody knows whether that is what it got first.
func (l *loop) checkArguments(before *observed) error {
	for _, s := range before.seen {
		if l.own && len(s.arguments) > 1 {
			return refuse("%q gets its own last answer when it polls again: %s, then %s. Keep what it needs beside the answer, by ResultPath or in a variable",
				l.poll.Name, s.arguments[0], s.arguments[1])
		}
	}
	return nil
}

// noteRetried says which errors of an HTTP API the new loop retries: no model lists them, so no run has them. It is empty elsewhere.
func (f *fragment) noteRetried() string {
	if !f.own || asl.ParseResource(f.poll.Task.Resource).Service != "http" {
		return ""
	}
	passing := asl.ParseResource(f.poll.Task.Resource).PassingErrors(false)
	names := slices.DeleteFunc(passing, func(name string) bool { return retrierOf(f.poll.Retry, name) != nil })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%q is called again after %s, %d times at most", f.poll.Name, strings.Join(names, ", "), compile.FaultRetrier(names).MaxAttempts)
}

// withoutChild is the JSON of a state that calls the poll's resource without a wait for the child: the simulated job is what the
// answers tell of, and each answer comes at once.
func (l *loop) withoutChild(state json.RawMessage) json.RawMessage {
	resource := l.poll.Task.Resource
	if r := asl.ParseResource(resource); !l.own || !strings.HasPrefix(r.Pattern, ".sync") {
		return state
	}
	plain := resource[:strings.LastIndex(resource, ".sync")]
	return json.RawMessage(strings.Replace(string(state), string(mustJSON(resource)), string(mustJSON(plain)), 1))
}

// eachCall finds what is another for each call of a Task.
var eachCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:uuid|now|millis|random|shuffle)\(\s*\)?|States\.(?:UUID|MathRandom)|(?:\$\$|\$states\.context)\.(?:Task|State)\.\w+`)
})

// call is what a new loop calls, without its arguments.
func (l *loop) call() compile.Call {
	if !l.own {
		return compile.Call{Operation: l.entry.Operation}
	}
	return compile.Call{Task: object{"Resource": l.poll.Task.Resource}}
}

// completeTask gives the user's own Task its arguments and times. Its Retry, Catch and Credentials come with adaptPoll.
func (f *fragment) completeTask(call *compile.Call) error {
	if call.Task == nil {
		return nil
	}
	arguments, err := f.taskArguments()
	if err != nil {
		return err
	}
	call.Task["Arguments"] = arguments
	if len(f.faults) > 0 && asl.ParseResource(f.poll.Task.Resource).PassingErrors(false) == nil {
		call.Task["Retry"] = []any{retrierValue(f.faults)}
	}
	node := f.node(f.poll)
	if seconds := node.Get("HeartbeatSeconds"); seconds != nil {
		call.Task["HeartbeatSeconds"] = seconds.Value()
	}
	switch r := asl.ParseResource(f.poll.Task.Resource); {
	case node.Get("TimeoutSecondsPath") != nil || node.Get("HeartbeatSecondsPath") != nil:
		return refuse("%q has a time that a path gives: give it in seconds", f.poll.Name)
	case node.Get("TimeoutSeconds") != nil:
		call.Task["TimeoutSeconds"] = node.Get("TimeoutSeconds").Value()
	case r.Pattern != "" || r.Service == "activity":
		call.Task["TimeoutSeconds"] = int(f.maxWait.Seconds()) // it may hang for as long as nothing else ends it
	}
	return nil
}
