package fixtruth

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Kind is what differs.
type Kind string

// The kinds of differences.
const (
	Invalid     Kind = "not valid"
	Placeholder Kind = "placeholder lost"
	Lost        Kind = "call lost"
	Added       Kind = "call added"
	Arguments   Kind = "arguments"
	Polled      Kind = "another job polled"
	FirstPoll   Kind = "first poll earlier"
	Pace        Kind = "shorter wait"
	End         Kind = "end"
	Error       Kind = "error"
	Cause       Kind = "cause"
	Data        Kind = "data"
	TimeOut     Kind = "time-out takes a way of the user's"
)

// Difference is something that a change did.
type Difference struct {
	Kind     Kind
	Scenario string
	Text     string
	// Members are the names of members that differ: of arguments, of the output, or
	// CausePath.
	Members []string
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Scenario, d.Kind, d.Text) }

// Judgement is what became of a machine.
type Judgement struct {
	Changed    bool
	Undeclared []Difference
	// Shown counts the runs in which the machine's faults show: it does not end as its
	// intact twin, or calls other Tasks. Of these, Framed are in a frame of the change.
	// Debated are those that no frame has: others take an answer for a failure that is a success,
	// or the twin breaks, too, and a repair may mend that.
	Shown, Framed, Debated int
	// Missed are the runs in a frame in which the changed machine does not do what the twin
	// does, either.
	Missed []Difference
}

// Judge compares what a machine does before and after a change on all its scenarios.
func (d *Drawn) Judge(ctx context.Context, after []byte, declared Declared) (*Judgement, error) {
	j := &Judgement{Changed: !slices.Equal(d.Text, after)}
	twin, err := parse(d.Twin)
	if err != nil {
		return nil, err
	}
	before, err := parse(d.Text)
	if err != nil {
		return nil, err
	}
	changed := before
	if j.Changed {
		changed, err = parse(after)
	}
	if err != nil {
		j.Undeclared = []Difference{{Kind: Invalid, Text: err.Error()}}
		return j, nil //nolint:nilerr // what is not valid is what became of the machine
	}
	for _, name := range placeholder.FindAllString(string(d.Text), -1) {
		if !strings.Contains(string(after), name) {
			j.Undeclared = append(j.Undeclared, Difference{Kind: Placeholder, Text: name})
		}
	}
	declared = d.withUnnamed(declared)
	for _, s := range d.plan.scenarios() {
		if err := d.judge(ctx, j, machines{before, changed, twin}, s, declared); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return j, nil
}

// withUnnamed adds to frames of any other status those that no condition of the machine names, where a loop is replaced whose statuses
// the machine alone says.
func (d *Drawn) withUnnamed(declared Declared) Declared {
	if !declared.Replaced || d.plan.op.via == "" {
		return declared
	}
	declared.Frames = slices.Clone(declared.Frames)
	for i := range declared.Frames {
		f := &declared.Frames[i]
		for _, status := range slices.Concat(d.plan.op.success, d.plan.op.failure, d.plan.op.running, d.plan.op.ending) {
			if named := d.plan.takes(answer{status: status}); f.AnyOther && !named[0] && !named[1] && !named[2] {
				f.Statuses = append(slices.Clip(f.Statuses), status)
			}
		}
	}
	return declared
}

var placeholder = regexp.MustCompile(`\$\{\w+\}`)

type machines struct{ before, after, twin *asl.StateMachine }

func (d *Drawn) judge(ctx context.Context, j *Judgement, m machines, s scenario, declared Declared) error {
	var r ran
	var err error
	if r.before, err = d.did(ctx, d.befores, m.before, s); err != nil {
		return err
	}
	if r.twin, err = d.did(ctx, d.twins, m.twin, s); err != nil {
		return err
	}
	if r.after = r.before; j.Changed {
		if r.after, err = d.plan.run(ctx, m.after, d.Input, s, usual); err != nil {
			return err
		}
	}
	if !d.behaves(r.before, r.twin, 0) {
		j.Shown++
		if d.plan.op.debates(s) || isBroken(r.twin.err) {
			j.Debated++
		}
		if !isBroken(r.twin.err) && d.framed(declared, s, r.before) {
			j.Framed++
			if (!j.Changed || !d.takesErrors(declared, s)) && !d.behaves(r.after, r.twin, declared.longest()) {
				j.Missed = append(j.Missed, Difference{Kind: End, Scenario: s.String(), Text: fmt.Sprintf("%s, the twin %s, before %s", r.after, r.twin, r.before)})
			}
		}
	}
	if !j.Changed {
		return nil
	}
	// differ is compare, with a second run where values look as if they differ.
	differ := func(machine *asl.StateMachine, o, with *observed) ([]Difference, error) {
		found := compare(o, o, with, declared.Replaced)
		if !slices.ContainsFunc(found, Difference.isOfValues) {
			return found, nil
		}
		again, err := d.plan.run(ctx, machine, d.Input, s, other)
		if err != nil {
			return nil, err
		}
		return compare(o, again, with, declared.Replaced), nil
	}
	differences, err := differ(m.before, r.before, r.after)
	differences = slices.DeleteFunc(differences, declared.widens)
	if err != nil || len(differences) == 0 {
		return err
	}
	shows, err := differ(m.twin, r.twin, r.before)
	if err != nil {
		return err
	}
	if r.respelt, err = d.respell(ctx, declared, s); err != nil {
		return err
	}
	for _, difference := range d.undeclared(declared, s, r, differences, len(shows) > 0) {
		difference.Scenario = s.String()
		j.Undeclared = append(j.Undeclared, difference)
	}
	return nil
}

// did is what a machine does in a scenario: it runs once.
func (d *Drawn) did(ctx context.Context, known map[string]*observed, m *asl.StateMachine, s scenario) (*observed, error) {
	o := known[s.String()]
	if o != nil {
		return o, nil
	}
	o, err := d.plan.run(ctx, m, d.Input, s, usual)
	if err != nil {
		return nil, err
	}
	known[s.String()] = o
	return o, nil
}

// isOfValues tells whether a difference is of values, which may be volatile.
func (d Difference) isOfValues() bool {
	return slices.Contains([]Kind{Cause, Data, Arguments, Polled}, d.Kind)
}

// ran is what a machine, the changed one and the twin did in a scenario; and the machine with the right member
// in the place of a misspelt one, and its other faults, if the change makes that, else nil.
type ran struct{ before, after, twin, respelt *observed }

// respell runs the machine without the fault of a misspelt member, if that is what is declared.
func (d *Drawn) respell(ctx context.Context, declared Declared, s scenario) (*observed, error) {
	if d.plan.statusMember == "" || !declared.has(func(f Frame) bool { return f.Spelled == d.StatusMember() && !f.Partly }) {
		return nil, nil //nolint:nilnil // there is no such machine
	}
	plan := *d.plan
	plan.statusMember = ""
	m, err := parse(plan.write())
	if err != nil {
		return nil, err
	}
	return d.did(ctx, d.respelt, m, s)
}

// stopsBreaking tells whether a run broke before and does not now, or polls on as the twin
// does.
func (r ran) stopsBreaking() bool {
	return r.before.breaks() && (r.after.endless && r.twin.endless || !r.after.endless && !isBroken(r.after.err))
}

// breaksLater tells whether a run that broke gets farther on the way of the twin, to where another mistake
// breaks it.
func (r ran) breaksLater() bool {
	if !r.before.breaks() || !isBroken(r.after.err) || r.after.polls <= r.before.polls {
		return false
	}
	for place, f := range r.after.flows {
		names, twins := f.names(), r.twin.flows[place].names()
		if len(names) > len(twins) || !slices.Equal(names, twins[:len(names)]) {
			return false
		}
	}
	return true
}

// undeclared leaves the differences of a run that nothing declares. faulty tells that the
// machine's faults show in the run.
func (d *Drawn) undeclared(declared Declared, s scenario, r ran, differences []Difference, faulty bool) []Difference {
	switch {
	case declared.breaks() && (r.stopsBreaking() || r.breaksLater()), declared.respells() && faulty && d.behaves(r.after, r.twin, declared.longest()):
		return nil
	case r.respelt != nil && d.behaves(r.after, r.respelt, declared.longest()):
		return nil
	case declared.allows(s.given(d.plan.op)) && (faulty || s.fails() || d.plan.op.debates(s)), declared.allows(d.mistaken(s)):
		return nil
	case declared.above(r.before), declared.stays(s):
		return ownTimeOut(r.before, r.after, differences)
	case declared.allows(s.given(d.plan.op)) && declared.Replaced:
		return nil // who replaces a loop takes what the rows say, while a repair leaves what was right
	}
	return differences
}

// debates tells whether an answer of the scenario is a success that others take for a
// failure.
func (o *operation) debates(s scenario) bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool { return slices.Contains(o.debated, a.status) })
}

// ownTimeOut keeps the differences of a new time-out that it must not make: it fails, in
// a state of its own, and calls nothing that was not called before.
func ownTimeOut(before, after *observed, differences []Difference) []Difference {
	if len(differences) == 0 {
		return nil
	}
	var kept []Difference
	goesOn := after.status == history.StatusSucceeded && before.status != history.StatusSucceeded // and the author's bound did not
	if after.endless || goesOn || isBroken(after.err) {
		kept = append(kept, Difference{Kind: TimeOut, Text: fmt.Sprintf("%s %s", after.status, after.err)})
	}
	for place, f := range after.flows {
		had := before.flows[place].names()
		for _, name := range f.names() {
			if !slices.Contains(had, name) {
				kept = append(kept, Difference{Kind: TimeOut, Text: "calls " + name})
			}
		}
	}
	return kept
}

// breaks tells whether a run never ends by itself, or breaks in the engine.
func (o *observed) breaks() bool {
	return o.endless || o.status == history.StatusTimedOut || isBroken(o.err)
}

// isBroken tells whether an error is the machine's own mistake.
func isBroken(err string) bool {
	return slices.Contains([]string{
		"States.Runtime", "States.QueryEvaluationError", "States.NoChoiceMatched",
		"States.ParameterPathFailure", "States.ResultPathMatchFailure", "States.IntrinsicFailure",
	}, err)
}

// mistaken are the answers of a scenario that the machine takes otherwise than its twin, by
// the parameters of both.
func (d *Drawn) mistaken(s scenario) []answer {
	var found []answer
	for _, a := range s.given(d.plan.op) {
		if d.plan.takes(a) != d.intact.takes(a) {
			found = append(found, a)
		}
	}
	return found
}

// takes tells which conditions name an answer: those of success, of failure, and to poll on;
// whether the poll is made again; and whether a Default takes what has no status.
func (b *blueprint) takes(a answer) [5]bool {
	named := [5]bool{
		slices.Contains(b.success, a.status), slices.Contains(b.failure, a.status), slices.Contains(b.running, a.status),
		b.retried && slices.Contains(b.retriedErrors(), a.err),
	}
	named[4] = a.err == "" && !named[0] && !named[1] && !named[2] && !b.dropDefault
	return named
}

// framed tells whether a frame has a run, and each mistake that shows in it: a job that never ends
// shows a bound that is missing. A run without a poll has no answer.
func (d *Drawn) framed(declared Declared, s scenario, before *observed) bool {
	for _, a := range d.mistaken(s) {
		one := []answer{a}
		if !declared.allows(one) || d.plan.around == "second" && (!declared.of(poll).allows(one) || !declared.of(pollSecond).allows(one)) {
			return false // both loops have the mistake
		}
	}
	if s.endless && d.intact.counter != "" && d.plan.counter == "" && !declared.above(before) {
		return false
	}
	if d.plan.readsReason && !declared.has(func(f Frame) bool { return f.Absent }) {
		return false
	}
	if d.plan.statusMember != "" && !declared.has(func(f Frame) bool { return f.Spelled == d.StatusMember() && !f.Partly }) {
		return false
	}
	return !d.plan.op.debates(s) &&
		(before.polls > 0 && declared.allows(s.given(d.plan.op)) || declared.above(before) || declared.breaks() && before.breaks())
}

// turns is how often the flow polls.
func (f *flow) turns() int {
	n := 0
	for _, polls := range f.polls {
		n += polls
	}
	return n
}

// onceInARow is the flow with one call for several of the same Task, one after the other.
func (f *flow) onceInARow() *flow {
	once := *f
	once.calls = slices.CompactFunc(slices.Clone(f.calls), func(a, b call) bool { return a.resource == b.resource })
	return &once
}

// takesErrors tells whether a frame has an error of a run that is no mistake of the machine: a retrier of more errors than
// the twin's, or a Catch that leads elsewhere, is what its user accepts.
func (d *Drawn) takesErrors(declared Declared, s scenario) bool {
	mistaken := d.mistaken(s)
	return slices.ContainsFunc(s.answers, func(a answer) bool {
		return a.err != "" && declared.allows([]answer{a}) && !slices.Contains(mistaken, a)
	})
}

func (f *flow) names() []string {
	var names []string
	if f != nil {
		for _, c := range f.calls {
			names = append(names, c.resource)
		}
	}
	return names
}

// compare says what a run does otherwise than one before. What differs between the one
// before and again is volatile: its type is compared.
func compare(before, again, after *observed, replaced bool) []Difference {
	var found []Difference
	add := func(k Kind, members []string, format string, arguments ...any) {
		found = append(found, Difference{Kind: k, Text: fmt.Sprintf(format, arguments...), Members: members})
	}
	if before.endless && after.endless {
		return nil
	}
	switch {
	case before.status != after.status || before.endless != after.endless:
		add(End, nil, "%s %s, was %s %s", after.status, after.err, before.status, before.err)
	case before.err != after.err:
		add(Error, nil, "%s, was %s", after.err, before.err)
	case !sameValue(before.cause, again.cause, after.cause):
		add(Cause, []string{"CausePath"}, "%q, was %q", after.cause, before.cause)
	case !sameValue(before.output, again.output, after.output):
		add(Data, differing(before.output, again.output, after.output), "%s, was %s", show(after.output), show(before.output))
	}
	for place, b := range before.flows {
		a, c := after.flows[place], again.flows[place]
		if a == nil {
			a = &flow{}
		}
		if c == nil {
			c = b
		}
		found = append(found, compareFlows(b, c, a, replaced)...)
	}
	for place, a := range after.flows {
		if before.flows[place] == nil && !a.cut && len(a.calls)+len(a.polled) > 0 {
			add(Added, nil, "%v in %s", a.names(), place)
		}
	}
	return found
}

// compareFlows compares the calls of a flow. One that a failure beside it cut comes as
// far as time lets it. A loop that is replaced sees the end of its job at another time, and
// a job behind it begins then. To its bound, it polls more or less often, and so it tells its progress.
func compareFlows(before, again, after *flow, replaced bool) []Difference {
	var found []Difference
	if replaced && before.turns() != after.turns() {
		before, again, after = before.onceInARow(), again.onceInARow(), after.onceInARow()
	}
	n := len(before.calls)
	cut := after.cut && (before.cut || replaced) // another item may be the first to fail
	for i := range max(n, len(after.calls)) {
		switch {
		case i >= len(after.calls):
			if !cut {
				found = append(found, Difference{Kind: Lost, Text: before.calls[i].resource})
			}
		case i >= n:
			if !cut {
				found = append(found, Difference{Kind: Added, Text: after.calls[i].resource})
			}
		case before.calls[i].resource != after.calls[i].resource:
			return append(found, Difference{Kind: Lost, Text: fmt.Sprintf("%s: %s instead", before.calls[i].resource, after.calls[i].resource)})
		case !sameValue(before.calls[i].arguments, at(again.calls, i, before.calls[i]).arguments, after.calls[i].arguments):
			found = append(found, Difference{
				Kind: Arguments, Text: before.calls[i].resource + ": " + show(after.calls[i].arguments) + ", was " + show(before.calls[i].arguments),
				Members: differing(before.calls[i].arguments, at(again.calls, i, before.calls[i]).arguments, after.calls[i].arguments),
			})
		}
	}
	for i, asked := range before.polled {
		j := slices.IndexFunc(after.polled, func(v any) bool { return reflect.DeepEqual(asked, v) })
		switch {
		case j < 0 && !cut:
			found = append(found, Difference{Kind: Polled, Text: show(asked) + " no more"})
		case j >= 0 && after.first[j] < before.first[i] && (i == 0 || !replaced):
			found = append(found, Difference{Kind: FirstPoll, Text: fmt.Sprintf("after %s, was %s", after.first[j], before.first[i])})
		}
	}
	for _, asked := range after.polled {
		if !containsValue(before.polled, asked) && !cut {
			found = append(found, Difference{Kind: Polled, Text: show(asked)})
		}
	}
	if !replaced && after.pace != 0 && after.pace < before.pace {
		found = append(found, Difference{Kind: Pace, Text: fmt.Sprintf("%s, was %s", after.pace, before.pace)})
	}
	return found
}
