// Package fix replaces hand-written poll loops of a definition by compiled ones, and
// leaves the rest of the text as it is.
package fix

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Options are what is replaced, and by what.
type Options struct {
	// Only are the loops to replace, by the names of the Tasks that poll; all if
	// empty.
	Only []string
	// Strategy is how the new loops poll: one of Strategies. If it is empty, a ".sync"
	// Task takes the place of a loop and of the Task that starts its job, where one can
	// (compile.SyncTask), and compile.Variables that of all others: a loop for which the
	// history has no room by it stays, and the reason names a strategy that fits.
	Strategy compile.Strategy
	// MaxWait is how long the compiled loops wait. If it is 0, a loop waits as long
	// as the one that it replaces did, 24 hours at most where nothing but its history
	// ended that, and less than the TimeoutSeconds of the machine.
	MaxWait time.Duration
	// MaxDelay is the longest delay between polls, in whole seconds; 0 for the
	// waiter's, longer where the history would overflow. The strategy Loop keeps the delay of the loop that it replaces.
	MaxDelay time.Duration
	// Schedule has all delays instead, but for the strategies SyncTask and Loop.
	Schedule *pollcore.Planned
	// JobRuns is how long the job of the Trials lasts; if it is 0, they are the means over
	// jobs of many lengths.
	JobRuns time.Duration
	// Express tells that the machine runs as an Express workflow.
	Express bool
	// Said are the meanings that the user gives to statuses, as lint.Options has them.
	Said map[string]lint.Meaning
	// Models are the APIs of services, as models.Load of pollcore/catalog/models.
	Models typecheck.Models
}

// Loop is what became of a poll loop.
type Loop struct {
	// Poll is the Task that polls, and Operation what it polls:
	// "athena:GetQueryExecution".
	Poll      string `json:"poll"`
	Operation string `json:"operation"`
	// Refused says why the loop stays as it is; empty if it was replaced.
	Refused string `json:"refused,omitempty"`
	// Entry is the entry of the catalogue that the new loop is compiled from, empty if the
	// statuses that the machine compares are, and MaxWait how long it waits.
	Entry   string        `json:"entry,omitempty"`
	MaxWait time.Duration `json:"-"`
	// Strategy is how the new states wait for the job, and Notes what to know of them.
	Strategy compile.Strategy `json:"strategy,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
	// Uncounted are the members of the data in which the old loop counted, such as "turns.n": the new one
	// leaves them as they were. A note says so.
	Uncounted []string `json:"-"`
	// Routes are where each status leads, before and after.
	Routes []Route `json:"routes,omitempty"`
	// Changes are what an execution does otherwise, by the kind of answer to a poll, and
	// Runs on how many scripts both machines ran. NotTried says which Tasks no run got to.
	Changes []Change `json:"changes,omitempty"`
	// Besides are changes that no single answer shows: of retries, deadlines and the history.
	Besides  []string `json:"besides,omitempty"`
	Runs     int      `json:"runs,omitempty"`
	NotTried []string `json:"notTried,omitempty"`
	// Fragment is what took the place of the loop; nil if it was not replaced.
	Fragment *Fragment `json:"fragment,omitempty"`
	// Trials compare both loops on the Jobs, by how long these last: Options.JobRuns, or
	// else a spread of lengths.
	Trials []Trial         `json:"trials,omitempty"`
	Jobs   []time.Duration `json:"-"`
}

// Route is where a status of the job leads.
type Route struct {
	Status string `json:"status"`
	// Before and After are states behind the loop; empty if the loop polls on.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Meaning is what the status means for the new loop: success, failure, running, ending, or unknown where it
	// polls on with what it does not know.
	Meaning lint.Meaning `json:"meaning"`
}

// Strategies are those that can wait inside of a machine: all without Lambda
// functions, which start the job themselves.
func Strategies() []compile.Strategy {
	return slices.DeleteFunc(compile.Strategies(), compile.Strategy.UsesFunctions)
}

// ErrStrategy is that of a strategy that cannot stand inside of a machine.
var ErrStrategy = errors.New("the strategy cannot stand inside of a machine")

// ErrSchedule is that of a strategy that takes no schedule.
var ErrSchedule = errors.New("the strategy takes no schedule")

// TakesSchedule tells whether a loop by the strategy can follow a schedule. Loop keeps
// the delay of the loop that it replaces, and SyncTask has none.
func TakesSchedule(s compile.Strategy) bool { return !s.Waits() && s.Language() == asl.JSONata }

func (o Options) strategy() compile.Strategy { return cmp.Or(o.Strategy, compile.Variables) }

// Fragment is what takes the place of a loop, for those who put it there themselves.
type Fragment struct {
	// States is the JSON pointer to the object that it goes into.
	States string `json:"states"`
	// Replaces are the states that go, by name, and Leads those that stay and have
	// led to one of them: they lead to StartAt then. Begins tells that so does the
	// StartAt of the flow.
	Replaces []string `json:"replaces"`
	StartAt  string   `json:"startAt"`
	Leads    []string `json:"leads,omitempty"`
	Begins   bool     `json:"begins,omitempty"`
	// Members are the states that come, an object of JSON.
	Members json.RawMessage `json:"members"`
}

// Apply replaces the poll loops of a definition, in JSON, and returns its new text.
// The error is that of asl.Parse.
func Apply(ctx context.Context, text []byte, o Options) ([]byte, []Loop, error) {
	return ApplyFile(ctx, text, func(text []byte) (*source.Definition, error) {
		return source.LoadOne(ctx, source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
	}, o)
}

// ApplyFile replaces the poll loops of a definition in a file of JSON or YAML: its
// own, or a template that has it inline. It returns the new text of the file. read
// reads the definition out of a text of the file.
func ApplyFile(ctx context.Context, file []byte, read func(file []byte) (*source.Definition, error), o Options) ([]byte, []Loop, error) {
	if !slices.Contains(Strategies(), o.strategy()) {
		return nil, nil, fmt.Errorf("%w: expected one of %v, got %q", ErrStrategy, Strategies(), o.Strategy)
	}
	if s := o.strategy(); o.Schedule != nil && !TakesSchedule(s) {
		return nil, nil, fmt.Errorf("%w: %s", ErrSchedule, s)
	}
	d, err := newDocument(file, read)
	if err != nil {
		return nil, nil, err
	}
	m, err := d.Parse()
	if err != nil {
		return nil, nil, err
	}
	var found []Loop
	for _, l := range o.pollLoops(m) {
		changed, one, err := replaceBest(ctx, d, l.Poll.Name, o)
		if ctx.Err() != nil { // no reason why the loop stays
			return nil, nil, ctx.Err()
		}
		if reason, ok := reasonOf(err); ok {
			one.Refused = reason
		} else if err != nil {
			return nil, nil, err
		} else {
			d = changed
		}
		found = append(found, one)
	}
	return d.file, found, nil
}

// mostTried is how many loops CanReplace tries.
const mostTried = 4

// CanReplace tells whether ApplyFile replaces one of the first loops of a definition. The error is
// that of the context.
func CanReplace(ctx context.Context, file []byte, read func(file []byte) (*source.Definition, error), o Options) (bool, error) {
	d, err := newDocument(file, read)
	if err != nil {
		return false, ctx.Err()
	}
	m, err := d.Parse()
	if err != nil {
		return false, ctx.Err()
	}
	loops := o.pollLoops(m)
	for _, l := range loops[:min(len(loops), mostTried)] {
		if _, _, err := replaceBest(ctx, d, l.Poll.Name, o); err == nil || ctx.Err() != nil {
			return err == nil, ctx.Err()
		}
	}
	return false, nil
}

// pollLoops are the loops to replace: those whose statuses lint knows, by the catalogue or by what the machine
// compares, and that are not compiled ones.
func (o Options) pollLoops(m *asl.StateMachine) []lint.Loop {
	return slices.DeleteFunc(lint.Loops(m, o.lint()), func(l lint.Loop) bool {
		return l.Poll == nil || len(o.Only) > 0 && !slices.Contains(o.Only, l.Poll.Name) || l.Retries || l.Operation == "" || isCompiled(m, l.Poll) ||
			!l.ByName && asl.ParseResource(l.Poll.Task.Resource).Service == "lambda"
	})
}

// lint are the rules that a new loop is checked with. What a read of an absent member does is
// tried.
func (o Options) lint() lint.Options {
	return lint.Options{Express: o.Express, Off: []string{typecheck.AbsentMember}, Said: o.Said}
}

// refusal is why a loop is not replaced.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = onOneLine(err)
		}
	}
	return &refusal{fmt.Sprintf(format, args...)}
}

// onOneLine is an error without the places in a text that nobody has.
func onOneLine(err error) string {
	problems, ok := errors.AsType[diag.Problems](err)
	if !ok {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Message
	}
	return strings.Join(texts, "; ")
}

// reasonOf is the reason of a refusal.
func reasonOf(err error) (reason string, ok bool) {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return "", false
	}
	return refused.reason, true
}

// replaceBest replaces one loop of a document by the strategy of the options. If they name
// none, it tries a ".sync" Task first. Where the job has such a Task but it cannot take the
// place of the loop, a note says why.
func replaceBest(ctx context.Context, d *document, poll string, o Options) (*document, Loop, error) {
	if o.Strategy != "" || o.Schedule != nil {
		return replaceOne(ctx, d, poll, o)
	}
	sync := o
	sync.Strategy = compile.SyncTask
	changed, out, err := replaceOne(ctx, d, poll, sync)
	reason, refused := reasonOf(err)
	if !refused {
		return changed, out, err
	}
	started := out.Strategy != ""
	changed, out, err = replaceOne(ctx, d, poll, o)
	if started && err == nil {
		out.Notes = append(out.Notes, "a .sync Task cannot take the place of the loop: "+reason)
	}
	return changed, out, err
}

// replaceOne replaces one loop of a document.
func replaceOne(ctx context.Context, d *document, poll string, o Options) (*document, Loop, error) {
	out := Loop{Poll: poll}
	l, err := findLoop(ctx, d, poll, o)
	if l != nil {
		out.Operation = l.operation
		if !o.strategy().Waits() || l.canSync {
			out.Strategy = o.strategy()
		}
	}
	if err != nil {
		return nil, out, err
	}
	before, err := l.observe(ctx, o)
	if err != nil {
		return nil, out, err
	}
	if err := l.checkArguments(before); err != nil {
		return nil, out, err
	}
	if err := l.chooseWaiter(ctx, before, o); err != nil {
		return nil, out, err
	}
	if err := l.tellBehind(ctx, before, o); err != nil {
		return nil, out, err
	}
	if l.isListed() {
		out.Entry = l.entry.FullName()
	}
	f, err := l.compile(before, o)
	if err != nil {
		return nil, out, err
	}
	out.MaxWait, out.Strategy = f.maxWait, f.strategy
	if o.strategy().Waits() {
		out.Notes = f.warnings
	}
	out.Uncounted = f.countedMembers()
	for _, note := range []string{
		l.noteByName(), l.quorum, f.noteRetried(), f.noteAside(), f.waitNote, f.chosen, f.noteCounts(), f.noteVariables(), f.noteCallTime(),
	} {
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
	}
	if err := f.checkLeftOver(); err != nil {
		return nil, out, err
	}
	changed, err := d.edit(f, o)
	if err != nil {
		return nil, out, err
	}
	after, err := f.verify(ctx, d, changed, o)
	if err != nil {
		return nil, out, f.explain(err)
	}
	for i, b := range before.seen {
		out.Routes = append(out.Routes, Route{Status: b.name(), Before: b.route(), After: after.seen[i].route(), Meaning: l.meaningOf(&b)})
	}
	changes, report, err := f.tryChange(ctx, d, changed, o)
	if err != nil {
		return nil, out, f.explain(err)
	}
	out.Changes, out.Runs, out.NotTried = changes, report.Scripts, report.NotTried
	if out.Trials, out.Jobs, err = f.measure(ctx, before, after, o); err != nil {
		return nil, out, err
	}
	out.Besides = f.besides(report, out.Trials)
	out.Fragment, err = f.export()
	return changed, out, err
}

// explain adds to the reason of a refusal what the compiler chose.
func (f *fragment) explain(err error) error {
	if reason, ok := reasonOf(err); ok && f.chosen != "" {
		return refuse("%s (%s)", reason, f.chosen)
	}
	return err
}

// MarshalJSON writes the members, with MaxWait and Jobs in seconds.
func (l Loop) MarshalJSON() ([]byte, error) {
	type members Loop
	jobs := make([]float64, len(l.Jobs))
	for i, runs := range l.Jobs {
		jobs[i] = runs.Seconds()
	}
	return json.Marshal(struct {
		members

		MaxWaitSeconds float64   `json:"maxWaitSeconds,omitempty"`
		JobSeconds     []float64 `json:"jobSeconds,omitempty"`
	}{members(l), l.MaxWait.Seconds(), jobs})
}
