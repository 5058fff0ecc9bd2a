package fix

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
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
	err     string // of an execution that failed inside the loop
	visits  map[string]int
}

// observed is what a loop does.
type observed struct {
	*trial

	seen []seen
}

// trial is a machine of a loop alone.
type trial struct {
	machine *asl.StateMachine
	input   []byte
	exits   []string // states that the loop leads to
}

// begin is the state that a loop is tried from.
const begin = "(begin)"

// runsFor is how long a job runs in a trial: some turns of the loop.
func (l *loop) runsFor() time.Duration {
	const least, most, turns = 10 * time.Second, 12 * time.Minute, 4
	if l.turn == 0 {
		return most
	}
	return min(max(turns*l.turn, least), most)
}

// observe tries the loop with every status.
func (l *loop) observe(ctx context.Context, o Options) (*observed, error) {
	states := map[string]json.RawMessage{}
	for _, s := range l.states {
		states[s.Name] = nodeAt(l.plain, s.Position.Pointer).Raw()
	}
	entry := l.flow.StartAt
	if !l.inside[entry] {
		entry = l.entryState()
	}
	return l.try(ctx, states, entry, mostEvents, o)
}

// entryState is the state of the loop that others lead to.
func (l *loop) entryState() string {
	for _, s := range l.flow.States {
		for _, way := range s.Transitions() {
			if !l.inside[s.Name] && l.inside[way.To] {
				return way.To
			}
		}
	}
	return l.poll.Name
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
	all := &observed{trial: tried}
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
func (l *loop) harness(states map[string]json.RawMessage, entry string) (*trial, error) {
	sample := newSample()
	for _, s := range l.states {
		sample.state(s)
	}
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
	return &trial{m, input, exits}, err
}

// mostEvents bounds a trial: a loop that polls on reaches it, and one that ends
// does not.
const mostEvents = 3000

func (l *loop) tryStatus(ctx context.Context, t *trial, s simulate.Status, events int, o Options) (seen, error) {
	out := seen{status: s.Name, verdict: s.Verdict}
	r, err := l.run(ctx, t, s.Name, l.runsFor(), events, o)
	if err != nil {
		return out, err
	}
	out.exit, out.output, out.visits = t.exit(r), string(r.Output), r.Visits
	if r.Status != sim.StatusSucceeded && !strings.Contains(r.Cause, "maximum number of history events") {
		out.err = r.Error + ": " + r.Cause
	}
	return out, nil
}

// run runs the loop on a job that lasts for a time and ends in the status.
func (l *loop) run(ctx context.Context, t *trial, status string, runs time.Duration, events int, o Options) (*sim.Result, error) {
	plan, err := simulate.New(t.machine, simulate.Options{
		Specs: []simulate.Spec{{Spread: mock.Exactly(runs)}}, Ends: status, Models: o.Models,
		Polls: map[string]*catalog.Entry{l.poll.Name: l.entry}, Reader: l.machine,
	})
	if err != nil {
		return nil, err
	}
	mocks, err := plan.Mocks()
	if err != nil {
		return nil, err
	}
	options := sim.Options{MaxEvents: events, Seed: 1, Express: o.Express}
	if err := mocks.Apply(t.machine, "", &options); err != nil {
		return nil, err
	}
	r, err := sim.Run(ctx, t.machine, t.input, options)
	if err != nil {
		return nil, refuse("the loop cannot be tried: %s", err)
	}
	return r, nil
}

// exit is the state that a run led to; empty if it polled on.
func (t *trial) exit(r *sim.Result) string {
	for _, name := range t.exits {
		if r.Visits[name] > 0 {
			return name
		}
	}
	return ""
}

// sample is an input, and variables, with what states read.
type sample struct {
	document  map[string]any
	variables map[string]any
}

func newSample() *sample { return &sample{map[string]any{}, map[string]any{}} }

const sampleText = "sample"

var (
	readInput = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$states\.(?:input|context\.Execution\.Input)((?:\.\w+)*)`)
	})
	readVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$([A-Za-z_]\w*)((?:\.\w+)*)(\()?`) })
)

// state adds what a state reads.
func (s *sample) state(state *asl.State) {
	for _, t := range []*asl.Template{state.Parameters, state.Arguments, state.Output, state.Assign} {
		s.template(t)
	}
	s.path(state.InputPath, nil)
	if w := state.Wait; w != nil {
		for _, scalar := range []*asl.Scalar{w.Seconds} {
			if scalar != nil && scalar.Path != nil {
				s.path(scalar.Path, 30)
			}
		}
	}
	for _, name := range state.Variables() {
		if s.variables[name] == nil {
			s.variables[name] = sampleText
		}
	}
}

func (s *sample) template(t *asl.Template) {
	if t == nil {
		return
	}
	switch {
	case t.Path != nil:
		s.path(t.Path, sampleText)
	case t.Intrinsic != nil:
		for _, p := range t.Intrinsic.Paths() {
			s.path(p, sampleText)
		}
	case t.Expression != nil:
		s.expression(t.Expression.String())
	}
	for _, m := range t.Object {
		s.template(m.Value)
	}
	for _, item := range t.Array {
		s.template(item)
	}
}

func (s *sample) path(p *jsonpath.Path, value any) {
	if p == nil {
		return
	}
	var names []string
	for _, step := range p.Steps() {
		if step.Deep || step.Kind != jsonpath.StepName && step.Kind != jsonpath.StepIndex {
			break
		}
		if step.Kind == jsonpath.StepIndex {
			names = append(names, "[]")
		} else {
			names = append(names, step.Names[0])
		}
	}
	switch {
	case p.Context():
		if len(names) > 2 && names[0] == "Execution" && names[1] == "Input" {
			put(s.document, names[2:], value)
		}
	case p.Variable() != "":
		put(s.variables, append([]string{p.Variable()}, names...), value)
	case len(names) > 0:
		put(s.document, names, value)
	}
}

func (s *sample) expression(text string) {
	for _, match := range readInput().FindAllStringSubmatch(text, -1) {
		if match[1] != "" {
			put(s.document, strings.Split(match[1][1:], "."), sampleText)
		}
	}
	for _, match := range readVariable().FindAllStringSubmatch(text, -1) {
		if match[1] != "states" && match[3] == "" && match[2] != "" {
			put(s.variables, append([]string{match[1]}, strings.Split(match[2][1:], ".")...), sampleText)
		}
	}
}

// put sets a value in a document, unless something is there.
func put(in map[string]any, names []string, value any) {
	name, rest := names[0], names[1:]
	list := len(rest) > 0 && rest[0] == "[]"
	if list {
		rest = rest[1:]
	}
	child, _ := in[name].(map[string]any)
	if items, ok := in[name].([]any); ok {
		child, _ = items[0].(map[string]any)
	}
	switch {
	case len(rest) == 0 && in[name] != nil:
		return
	case len(rest) == 0 && value == nil:
		in[name] = map[string]any{}
		return
	case len(rest) == 0:
		in[name] = value
		if list {
			in[name] = []any{value}
		}
		return
	case child == nil:
		child = map[string]any{}
	}
	in[name] = child
	if list {
		in[name] = []any{child}
	}
	put(child, rest, value)
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
