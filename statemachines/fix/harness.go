package fix

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// seen is what a loop makes of a status.
type seen struct {
	polled

	status   string
	verdict  pollcore.Verdict
	acceptor int    // that tells the status
	later    bool   // only a later call leads to it
	exit     string // the state behind the loop; empty if it polls on
	output   string // what that state gets
	err      string // of an execution that failed inside the loop
	visits   map[string]int
}

// name names the status.
func (s *seen) name() string {
	if s.status == simulate.OtherStatus {
		return "any other"
	}
	return s.status
}

// route is where the status leads; empty if the loop polls on.
func (s *seen) route() string {
	if s.ended > 1 { // the exit is that of its bound
		return ""
	}
	return s.exit
}

// observed is what a loop does.
type observed struct {
	*bench

	seen []seen
}

// givesUp is where the loop leads each job at the same poll, whatever its status is: the bound is over before
// the job ends. It is empty if a status decides.
func (o *observed) givesUp() (exit string, polls int) {
	first := o.seen[0]
	if slices.ContainsFunc(o.seen, func(s seen) bool { return s.exit != first.exit || s.calls != first.calls }) {
		return "", 0
	}
	return first.exit, first.calls
}

// bench is a machine of a loop alone.
type bench struct {
	machine *asl.StateMachine
	input   []byte
	exits   []string       // states that the loop leads to
	polls   []string       // Tasks: a schedule can have one for each of its phases
	cast    *simulate.Cast // see prepare
}

// longestDrawn is how long a Wait lasts at most that the definition does not say, in seconds.
const longestDrawn = 60

// begin is the state that a loop is tried from.
const begin = "(begin)"

// runsFor is how long a job runs in a trial: some turns of the loop.
func (l *loop) runsFor() time.Duration {
	const least, most, turns = 10 * time.Second, 12 * time.Minute, 4
	runs := most
	if l.turn > 0 {
		runs = min(max(turns*l.turn, least), most)
	}
	switch { // the loop has to poll on behind the end, before it gives up
	case l.bound.After > 0:
		runs = min(runs, l.bound.After/2) //nolint:mnd // as often as before it
	case l.bound.Polls > 0:
		runs = least
	}
	if l.express { // both loops have to see the end in time
		runs = max(0, min(runs, asl.MaxExpressTime-2*max(l.turn, time.Minute)-least))
	}
	return runs
}

// mostDraws is how many answers of the user's own Task are drawn at most to find one of a job that runs.
const mostDraws = 8

// observe tries the loop with every status. Where the first drawn answer of the user's own Task ends it, whatever the status
// is, another may not.
func (l *loop) observe(ctx context.Context, o Options) (*observed, error) {
	first, err := l.observeDrawn(ctx, o)
	if err != nil || !l.own {
		return first, err
	}
	if exit, _ := first.givesUp(); exit == "" {
		return first, nil
	}
	for l.draw = 1; l.draw <= mostDraws; l.draw++ {
		before, err := l.observeDrawn(ctx, o)
		if err != nil {
			return nil, err
		}
		if exit, _ := before.givesUp(); exit == "" {
			return before, nil
		}
	}
	l.draw = 0
	return first, nil
}

func (l *loop) observeDrawn(ctx context.Context, o Options) (*observed, error) {
	states := map[string]json.RawMessage{}
	for _, s := range l.states {
		states[s.Name] = nodeAt(l.plain, s.Position.Pointer).Raw()
	}
	l.addAside(states, l.machine, l.plain)
	before, err := l.try(ctx, states, l.begins().Name, o)
	if err != nil {
		return nil, err
	}
	// A loop that polls with what the last answer says does so from the first turn on:
	// the input has the same then.
	for _, s := range before.seen {
		if len(s.arguments) > 1 {
			l.told = differences(s.arguments[0], s.arguments[1])
			return l.try(ctx, states, l.begins().Name, o)
		}
	}
	return before, nil
}

// tellBehind finds the failures that leave the loop as a success does, and that a state behind
// it tells from that: with all states of the flow they lead to others. Those after which a part of the
// work can be used may lead there, too: its author knows whether it is enough.
func (l *loop) tellBehind(ctx context.Context, before *observed, o Options) error {
	l.apart = map[string]bool{}
	if job := l.entry.Job; job != nil {
		for _, status := range job.Partial {
			l.apart[status] = true
		}
	}
	successes, failures := before.exitsOf(pollcore.Success), before.exitsOf(pollcore.Failure)
	if !slices.ContainsFunc(failures, func(exit string) bool { return slices.Contains(successes, exit) }) {
		return nil
	}
	states := map[string]json.RawMessage{}
	for _, s := range l.flow.States {
		if s == l.begins() || l.flow.Leads(l.begins(), s) {
			states[s.Name] = nodeAt(l.plain, s.Position.Pointer).Raw()
		}
	}
	whole, err := l.try(ctx, states, l.begins().Name, o)
	if _, refused := reasonOf(err); refused {
		return nil // the loop alone can be tried
	} else if err != nil {
		return err
	}
	ways := map[string]bool{} // of successes
	for i := range whole.seen {
		if s := &whole.seen[i]; s.verdict == pollcore.Success {
			ways[l.wayBehind(s)] = true
		}
	}
	for i := range whole.seen {
		if s := &whole.seen[i]; s.verdict == pollcore.Failure && !isReserved(s.err) {
			l.apart[s.status] = l.apart[s.status] || !ways[l.wayBehind(s)]
		}
	}
	return nil
}

// wayBehind names the states behind the loop that a run visited.
func (l *loop) wayBehind(s *seen) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.visits)) {
		if s.visits[name] > 0 && !l.staysIn(name) {
			names = append(names, name)
		}
	}
	return list(names)
}

// differences are the texts of a JSON value by those at the same places of another.
func differences(from, to string) map[string]string {
	found := map[string]string{}
	var walk func(a, b any)
	walk = func(a, b any) {
		switch a := a.(type) {
		case string:
			if text, ok := b.(string); ok && text != a {
				found[a] = text
			}
		case []any:
			list, _ := b.([]any)
			for i := range min(len(a), len(list)) {
				walk(a[i], list[i])
			}
		case map[string]any:
			members, _ := b.(map[string]any)
			for name, value := range a {
				walk(value, members[name])
			}
		}
	}
	var a, b any
	if json.Unmarshal([]byte(from), &a) == nil && json.Unmarshal([]byte(to), &b) == nil {
		walk(a, b)
	}
	return found
}

// try runs states alone, with every status of the job: each state that they lead to
// is one that ends.
func (l *loop) try(ctx context.Context, states map[string]json.RawMessage, entry string, o Options) (*observed, error) {
	statuses, err := simulate.Statuses(l.entry, o.Models)
	if err != nil {
		return nil, err
	}
	if len(statuses) == 0 {
		return nil, refuse("no answers can be made up for %s, so nothing shows that a new loop is right", l.about())
	}
	tried, err := l.harness(states, entry, o)
	if err != nil {
		return nil, err
	}
	all := &observed{bench: tried}
	for _, s := range statuses {
		one, err := l.tryStatus(ctx, tried, s, o)
		if err != nil {
			return nil, err
		}
		all.seen = append(all.seen, one)
	}
	return all, nil
}

// tell puts the texts of answers in the place of drawn ones.
func (l *loop) tell(value any) any {
	switch v := value.(type) {
	case string:
		return cmp.Or(l.told[v], v)
	case []any:
		for i, item := range v {
			v[i] = l.tell(item)
		}
	case object:
		for name, member := range v {
			v[name] = l.tell(member)
		}
	}
	return value
}

// begins is the state that the loop begins with.
func (l *loop) begins() *asl.State {
	if len(l.entries) > 0 {
		return l.entries[0]
	}
	return l.poll
}

// harness is a machine of states alone, which begins with what the states of the loop, and
// those behind it, read.
func (l *loop) harness(states map[string]json.RawMessage, entry string, o Options) (*bench, error) {
	demands, err := typecheck.FindDemands(l.begins(), l.machine, o.Models)
	if err != nil {
		return nil, err
	}
	draw := func(name string, d *typecheck.Demand) any {
		return l.tell(typecheck.Draw(typecheck.Unknown(), d, typecheck.DrawOptions{Name: name, LongestWait: longestDrawn, Items: l.items()}))
	}
	variables := object{}
	for _, name := range demands.Variables() {
		variables[name] = draw(name, demands.Variable(name))
	}
	known := l.known[0]
	l.beginAs(variables)
	for name, value := range variables {
		variables[name] = settle(value, known.Variable(name))
	}
	input := l.tell(trial.DrawInput(demands, typecheck.DrawOptions{LongestWait: longestDrawn, Items: l.items()}))
	l.beginCounts(input)
	input = settle(input, known.Input)
	if members, ok := input.(object); ok {
		members["unread"] = "unread"
	}
	first := object{"Type": asl.TypePass, "QueryLanguage": asl.JSONata, "Output": input, "Assign": variables, "Next": entry}
	all := map[string]any{begin: first}
	for name, text := range states {
		all[name] = l.withoutChild(text)
	}
	var exits []string
	for _, text := range states {
		document, err := jsontree.Parse(text)
		if err != nil {
			return nil, err
		}
		for _, target := range transitionsOf(document.Root) {
			if all[target.Text] == nil {
				all[target.Text] = map[string]any{"Type": "Pass", "End": true}
				exits = append(exits, target.Text)
			}
		}
	}
	text, err := json.Marshal(object{"QueryLanguage": l.machine.QueryLanguage, "StartAt": begin, "States": all})
	if err != nil {
		return nil, err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, refuse("the loop cannot be tried alone: %s", err)
	}
	t := &bench{machine: m, input: mustJSON(draw("execution", demands.Execution)), exits: exits}
	if poll := m.State(l.poll.Name); poll != nil && poll.Task != nil {
		for _, s := range m.States {
			if s.Task != nil && s.Task.Resource == poll.Task.Resource && !l.isAside(s.Name) {
				t.polls = append(t.polls, s.Name)
			}
		}
	}
	return t, nil
}

// A trial is bounded by mostEvents, or by enoughEvents where it is known when the loop sees the
// end of the job: a loop that polls on reaches them, and one that ends does not.
const mostEvents, enoughEvents = 3000, 1000

func (l *loop) tryStatus(ctx context.Context, t *bench, s simulate.Status, o Options) (seen, error) {
	passing, _ := l.entry.Passing(s.Name)
	out := seen{status: s.Name, verdict: s.Verdict, acceptor: s.Acceptor, later: passing == catalog.PassingLater || l.isLater(s.Name)}
	events := mostEvents
	if l.turn > 0 {
		events = enoughEvents
	}
	r, asked, err := l.run(ctx, t, s.Name, l.runsFor(), events, o)
	if err != nil {
		return out, err
	}
	out.exit, out.output, out.visits, out.polled = t.exit(r), l.withoutCounts(string(r.Output)), r.Visits, *asked
	if out.exit != "" && out.exit == l.lateExit() && out.ended > 1 && !out.later {
		out.exit = "" // it polled on to its bound
	}
	if r.Status == sim.StatusTimedOut {
		out.err = asl.ErrorTimeout + ": the execution ends before the loop sees the end of the job"
	} else if full := strings.Contains(r.Cause, "maximum number of history events"); full && r.Duration() < l.runsFor() {
		out.err = fmt.Sprintf("a full history after %s, before the job ends: wait longer between polls", r.Duration())
	} else if r.Status != sim.StatusSucceeded && !full {
		out.err = r.Error + ": " + r.Cause
	}
	return out, nil
}

// polled is what a run asked for.
type polled struct {
	arguments []string      // of the polls, each once
	first     time.Duration // since the start
	calls     int
	ended     int // calls that see the end of the job
}

// note notes the calls of a Task that polls a job of a length.
func (p *polled) note(describe sim.Handler, runs time.Duration) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if p.calls == 0 {
			p.first = call.Time.Sub(sim.DefaultStart())
		}
		p.calls++
		if call.Time.Sub(sim.DefaultStart()) >= p.first+runs {
			p.ended++
		}
		if text := string(mustJSON(call.Arguments)); !slices.Contains(p.arguments, text) {
			p.arguments = append(p.arguments, text)
		}
		return describe(ctx, call)
	}
}

// run runs the loop on a job that lasts for a time and ends in the status.
func (l *loop) run(ctx context.Context, t *bench, status string, runs time.Duration, events int, o Options) (*sim.Result, *polled, error) {
	p := &polled{}
	r, err := trial.Play(ctx, t.machine, trial.Job{Input: t.input, Seed: 1, MaxEvents: events, Answer: func(options *sim.Options) error {
		cast, err := t.prepare(l, o)
		if err != nil {
			return err
		}
		plan, err := cast.Plan(mock.Exactly(runs), status)
		if err != nil {
			return err
		}
		if err := plan.Apply(t.machine, options); err != nil {
			return err
		}
		options.KeepEvents = sim.KeepNoEvents
		for _, name := range t.polls {
			options.StateHandlers[name] = p.note(options.StateHandlers[name], runs)
		}
		return nil
	}}, trial.Options{Models: o.Models, Express: l.express})
	switch {
	case err != nil && l.starter != nil:
		return nil, nil, refuse("%q does not poll the job that %q starts", l.poll.Name, l.starter.Name)
	case err != nil:
		return nil, nil, refuse("the loop cannot be tried: %s", err)
	}
	return r, p, nil
}

// prepare finds what answers the Tasks of the machine, once for all runs.
func (t *bench) prepare(l *loop, o Options) (_ *simulate.Cast, err error) {
	if t.cast == nil {
		t.cast, err = simulate.Prepare(t.machine, simulate.Options{
			Models: o.Models, Polls: map[string]*catalog.Entry{l.poll.Name: l.entry},
			Running: map[string][]string{l.poll.Name: l.polledOn}, Reader: l.machine, Items: l.items(), Draw: l.draw,
		})
	}
	return t.cast, err
}

// exit is the state that a run led to; empty if it polled on.
func (t *bench) exit(r *sim.Result) string {
	for _, name := range t.exits {
		if r.Visits[name] > 0 {
			return name
		}
	}
	return ""
}

// exitsOf are the states that values of a verdict lead to, those that most of them
// lead to first. What only a later call leads to has no say.
func (o *observed) exitsOf(verdict pollcore.Verdict) []string {
	count := map[string]int{}
	var names []string
	for _, s := range o.seen {
		if s.verdict != verdict || s.exit == "" || s.later {
			continue
		}
		if count[s.exit]++; count[s.exit] == 1 {
			names = append(names, s.exit)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	return names
}

// leadTo is how many values of a verdict lead to a state.
func (o *observed) leadTo(exit string, verdict pollcore.Verdict) int {
	n := 0
	for _, s := range o.seen {
		if s.verdict == verdict && s.exit == exit && !s.later {
			n++
		}
	}
	return n
}
