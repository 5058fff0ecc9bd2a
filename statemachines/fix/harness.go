package fix

import (
	"context"
	"encoding/json"
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
)

// seen is what a loop makes of a status.
type seen struct {
	status  string
	verdict pollcore.Verdict
	exit    string // the state behind the loop; empty if it polls on
	output  string // what that state gets
	atOnce  string // what it gets of a job that has ended before the first poll
	err     string // of an execution that failed inside the loop
	visits  map[string]int
	polls   int
	asked   []string // the arguments of the polls, each once
}

// route is where the status leads; empty if the loop polls on.
func (s *seen) route() string {
	if s.verdict == pollcore.Retry && s.polls > 1 {
		return ""
	}
	return s.exit
}

// observed is what a loop does.
type observed struct {
	*bench

	seen []seen
}

// trial is a machine of a loop alone.
type bench struct {
	machine *asl.StateMachine
	input   []byte
	exits   []string // states that the loop leads to
}

// begin is the state that a loop is tried from.
const begin = "(begin)"

// runsFor is how long a job runs in a trial: some turns of the loop.
func (l *loop) runsFor(o Options) time.Duration {
	const least, most, turns = 10 * time.Second, 12 * time.Minute, 4
	runs := most
	if l.turn > 0 {
		runs = min(max(turns*l.turn, least), most)
	}
	if o.Express { // both loops have to see the end in time
		runs = max(0, min(runs, asl.MaxExpressTime-2*max(l.turn, time.Minute)-least))
	}
	return runs
}

// observe tries the loop with every status.
func (l *loop) observe(ctx context.Context, o Options) (*observed, error) {
	states := map[string]json.RawMessage{}
	for _, s := range l.states {
		states[s.Name] = nodeAt(l.plain, s.Position.Pointer).Raw()
	}
	entry := l.poll.Name
	if len(l.entries) > 0 {
		entry = l.entries[0].Name
	}
	before, err := l.try(ctx, states, entry, mostEvents, o)
	if err != nil {
		return nil, err
	}
	// A loop that polls with what the last answer says does so from the first turn on:
	// the input has the same then.
	for _, s := range before.seen {
		if len(s.asked) > 1 {
			l.told = differences(s.asked[0], s.asked[1])
			return l.try(ctx, states, entry, mostEvents, o)
		}
	}
	return before, nil
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
func (l *loop) try(ctx context.Context, states map[string]json.RawMessage, entry string, events int, o Options) (*observed, error) {
	statuses, err := simulate.Statuses(l.entry, o.Models)
	if err != nil {
		return nil, err
	}
	if len(statuses) == 0 {
		return nil, refuse("no answers can be made up for %s, so nothing shows that a new loop is right", l.entry.FullName())
	}
	tried, err := l.harness(states, entry)
	if err != nil {
		return nil, err
	}
	all := &observed{bench: tried}
	waited := false
	for _, s := range statuses {
		most := events
		if s.Verdict == pollcore.Retry {
			if waited {
				most = mostEvents // all that wait alike do so to the end
			}
			waited = true
		}
		one, err := l.tryStatus(ctx, tried, s, most, o)
		if err != nil {
			return nil, err
		}
		all.seen = append(all.seen, one)
	}
	return all, nil
}

// harness is a machine of states alone, and an input that has what they read.
func (l *loop) harness(states map[string]json.RawMessage, entry string) (*bench, error) {
	sample := l.sample()
	sample.tell(l.told)
	first := map[string]any{"Type": "Pass", "Next": entry}
	if len(sample.variables) > 0 {
		first["Assign"] = sample.variables
	}
	all := map[string]any{begin: first}
	for name, text := range states {
		all[name] = text
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
	text, err := json.Marshal(map[string]any{"QueryLanguage": l.machine.QueryLanguage, "StartAt": begin, "States": all})
	if err != nil {
		return nil, err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, refuse("the loop cannot be tried alone: %s", err)
	}
	input, err := json.Marshal(sample.document)
	return &bench{m, input, exits}, err
}

// mostEvents bounds a trial: a loop that polls on reaches it, and one that ends
// does not.
const mostEvents = 3000

func (l *loop) tryStatus(ctx context.Context, t *bench, s simulate.Status, events int, o Options) (seen, error) {
	out := seen{status: s.Name, verdict: s.Verdict}
	r, asked, err := l.run(ctx, t, s.Name, l.runsFor(o), events, o)
	if err != nil {
		return out, err
	}
	out.exit, out.output, out.visits, out.polls, out.asked = t.exit(r), string(r.Output), r.Visits, asked.calls, asked.arguments
	if s.Verdict != pollcore.Retry {
		first, _, err := l.run(ctx, t, s.Name, 0, events, o)
		if err != nil {
			return out, err
		}
		out.atOnce = string(first.Output)
	}
	if r.Status == sim.StatusTimedOut {
		out.err = asl.ErrorTimeout + ": the execution ends before the loop sees the end of the job"
	} else if r.Status != sim.StatusSucceeded && !strings.Contains(r.Cause, "maximum number of history events") {
		out.err = r.Error + ": " + r.Cause
	}
	return out, nil
}

// polled is what a run asked for.
type polled struct {
	arguments []string      // of the polls, each once
	first     time.Duration // since the start
	calls     int
}

// run runs the loop on a job that lasts for a time and ends in the status.
func (l *loop) run(ctx context.Context, t *bench, status string, runs time.Duration, events int, o Options) (*sim.Result, *polled, error) {
	plan, err := simulate.New(t.machine, simulate.Options{
		Specs: []simulate.Spec{{Spread: mock.Exactly(runs)}}, Ends: status, Models: o.Models,
		Polls: map[string]*catalog.Entry{l.poll.Name: l.entry}, Reader: l.machine,
	})
	if err != nil {
		return nil, nil, err
	}
	mocks, err := plan.Mocks()
	if err != nil {
		return nil, nil, err
	}
	options := sim.Options{MaxEvents: events, Seed: 1, Express: o.Express}
	if err := mocks.Apply(t.machine, "", &options); err != nil {
		return nil, nil, err
	}
	p := &polled{}
	if options.StateHandlers[l.poll.Name] == nil {
		return nil, nil, refuse("no answers can be made up for %q", l.poll.Name)
	}
	resource := "" // of the poll in this machine
	for s := range t.machine.All {
		if s.Name == l.poll.Name && s.Task != nil {
			resource = s.Task.Resource
		}
	}
	for s := range t.machine.All { // a schedule can have a Task for each of its phases
		describe := options.StateHandlers[s.Name]
		if describe == nil || s.Task == nil || s.Task.Resource != resource {
			continue
		}
		options.StateHandlers[s.Name] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if p.calls == 0 {
				p.first = call.Time.Sub(sim.DefaultStart())
			}
			p.calls++
			if text := string(mustJSON(call.Arguments)); !slices.Contains(p.arguments, text) {
				p.arguments = append(p.arguments, text)
			}
			return describe(ctx, call)
		}
	}
	r, err := sim.Run(ctx, t.machine, t.input, options)
	switch {
	case err != nil && l.starter != nil:
		return nil, nil, refuse("%q does not poll the job that %q starts", l.poll.Name, l.starter.Name)
	case err != nil:
		return nil, nil, refuse("the loop cannot be tried: %s", err)
	}
	return r, p, nil
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
// lead to first.
func (o *observed) exitsOf(verdict pollcore.Verdict) []string {
	count := map[string]int{}
	var names []string
	for _, s := range o.seen {
		if s.verdict != verdict || s.exit == "" {
			continue
		}
		if count[s.exit]++; count[s.exit] == 1 {
			names = append(names, s.exit)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	return names
}
