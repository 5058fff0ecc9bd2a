package fixtruth

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Frame is when a changed machine may do something else, as fix declares it.
type Frame struct {
	// Statuses and Errors are answers to a poll, and AnyOther stands for statuses that
	// nothing names, and for none.
	Statuses []string
	Errors   []string
	AnyOther bool
	// Above is how long a job must last at least; 0 for no such frame.
	Above time.Duration
	// Breaks tells that each run may differ that never ends or breaks in the engine: a
	// spelling is corrected, or what may be absent is no more read.
	Breaks bool
}

// Declared is what fix says of the loops of a machine.
type Declared struct {
	Frames []Frame
	// Replaced tells that a loop was replaced: its pace is not kept then.
	Replaced bool
	// Refused are the reasons of the loops that stay.
	Refused []string
}

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
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Scenario, d.Kind, d.Text) }

// Judgement is what became of a machine.
type Judgement struct {
	Changed    bool
	Undeclared []Difference
	// Shown counts the runs in which the machine's faults show: it does not do what its
	// intact twin does. Of these, Mended do so after the change, Left do what they did,
	// and the others do a third thing.
	Shown, Mended, Left, Third int
	// Rows counts the runs that were right, and that a replaced loop changes as a row says.
	Rows int
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
		j.Undeclared = []Difference{{Invalid, "", err.Error()}}
		return j, nil //nolint:nilerr // what is not valid is what became of the machine
	}
	for _, name := range placeholder.FindAllString(string(d.Text), -1) {
		if !strings.Contains(string(after), name) {
			j.Undeclared = append(j.Undeclared, Difference{Placeholder, "", name})
		}
	}
	for _, s := range d.plan.scenarios() {
		if err := d.judge(ctx, j, machines{before, changed, twin}, s, declared); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return j, nil
}

var placeholder = regexp.MustCompile(`\$\{\w+\}`)

type machines struct{ before, after, twin *asl.StateMachine }

func (d *Drawn) judge(ctx context.Context, j *Judgement, m machines, s scenario, declared Declared) error {
	runs := map[*asl.StateMachine]*observed{}
	if known := d.twins[s.String()]; known != nil {
		runs[m.twin] = known
	}
	for _, machine := range []*asl.StateMachine{m.before, m.after, m.twin} {
		if runs[machine] != nil {
			continue
		}
		o, err := d.plan.run(ctx, machine, d.Input, s, usual)
		if err != nil {
			return err
		}
		runs[machine] = o
	}
	before, after, twin := runs[m.before], runs[m.after], runs[m.twin]
	three := ran{before, after, twin}
	// differ is compare, with a second run where the first looks as if it differs.
	differ := func(machine *asl.StateMachine, with *observed) ([]Difference, error) {
		o := runs[machine]
		found := compare(o, o, with, declared.Replaced)
		if len(found) == 0 {
			return nil, nil
		}
		again, err := d.plan.run(ctx, machine, d.Input, s, other)
		if err != nil {
			return nil, err
		}
		return compare(o, again, with, declared.Replaced), nil
	}
	differences, err := differ(m.before, after)
	if err != nil {
		return err
	}
	shows, err := differ(m.twin, before)
	if err != nil {
		return err
	}
	if len(shows) > 0 {
		j.Shown++
		missed, err := differ(m.twin, after)
		if err != nil {
			return err
		}
		switch {
		case len(missed) == 0, d.hasOwnEnd(twin, after):
			j.Mended++
		case len(differences) == 0:
			j.Left++
		default:
			j.Third++
		}
	}
	for _, difference := range d.undeclared(j, declared, s, three, differences, len(shows) > 0) {
		difference.Scenario = s.String()
		j.Undeclared = append(j.Undeclared, difference)
	}
	return nil
}

// ran is what a machine, the changed one and the twin did in a scenario.
type ran struct{ before, after, twin *observed }

// stopsBreaking tells whether a run broke before and does not now, or polls on as the twin
// does.
func (r ran) stopsBreaking() bool {
	return (r.before.endless || isBroken(r.before.err)) && (r.after.endless && r.twin.endless || !r.after.endless && !isBroken(r.after.err))
}

// undeclared leaves the differences of a run that nothing declares. faulty tells that the
// machine's faults show in the run.
func (d *Drawn) undeclared(j *Judgement, declared Declared, s scenario, r ran, differences []Difference, faulty bool) []Difference {
	switch {
	case declared.breaks() && r.stopsBreaking():
		return nil
	case declared.allows(s.given(d.plan.op)) && (faulty || s.fails() || d.plan.op.debates(s)):
		return nil
	case declared.above(r.before):
		return ownTimeOut(r.before, r.after, differences)
	case declared.allows(s.given(d.plan.op)) && declared.Replaced:
		if len(differences) > 0 {
			j.Rows++
		}
		return nil // who replaces a loop takes what the rows say, while a repair leaves what was right
	}
	return differences
}

// debates tells whether an answer of the scenario is a success that others take for a
// failure.
func (o *operation) debates(s scenario) bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool { return slices.Contains(o.debated, a.status) })
}

// allows tells whether a frame names one of the answers.
func (d Declared) allows(answers []answer) bool {
	for _, f := range d.Frames {
		for _, a := range answers {
			if slices.Contains(f.Statuses, a.status) || a.err != "" && (slices.Contains(f.Errors, a.err) || slices.Contains(f.Errors, "States.ALL")) ||
				f.AnyOther && a.err == "" && (a.status == "" || a.status == unknownStatus) {
				return true
			}
		}
	}
	return false
}

// breaks tells whether a frame has each run that breaks.
func (d Declared) breaks() bool {
	return slices.ContainsFunc(d.Frames, func(f Frame) bool { return f.Breaks })
}

// above tells whether a run lasted longer than a frame says that it may.
func (d Declared) above(before *observed) bool {
	for _, f := range d.Frames {
		if f.Above > 0 && (before.endless || before.took > f.Above) {
			return true
		}
	}
	return false
}

// ownTimeOut keeps the differences of a new time-out that it must not make: it fails, in
// a state of its own, and calls nothing that was not called before.
func ownTimeOut(before, after *observed, differences []Difference) []Difference {
	if len(differences) == 0 {
		return nil
	}
	var kept []Difference
	if after.endless || after.status == history.StatusSucceeded || isBroken(after.err) {
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

// isBroken tells whether an error is the machine's own mistake.
func isBroken(err string) bool {
	return slices.Contains([]string{
		"States.Runtime", "States.QueryEvaluationError", "States.NoChoiceMatched",
		"States.ParameterPathFailure", "States.ResultPathMatchFailure", "States.IntrinsicFailure",
	}, err)
}

// hasOwnEnd tells whether a changed machine fails as its twin does, but in a state of
// its own: for a bound or a failure that the machine had no state for.
func (d *Drawn) hasOwnEnd(twin, after *observed) bool {
	own := twin.err == "Wait.TimedOut" && slices.Contains(d.Faults, "no bound") || twin.err == "Job.Failed" && slices.Contains(d.Faults, "all failures forgotten")
	if !own || after.endless || after.status == history.StatusSucceeded || isBroken(after.err) {
		return false
	}
	for place, f := range after.flows {
		had := twin.flows[place].names()
		if slices.ContainsFunc(f.names(), func(name string) bool { return !slices.Contains(had, name) }) {
			return false
		}
	}
	return true
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
	add := func(k Kind, format string, arguments ...any) {
		found = append(found, Difference{Kind: k, Text: fmt.Sprintf(format, arguments...)})
	}
	if before.endless && after.endless {
		return nil
	}
	switch {
	case before.status != after.status || before.endless != after.endless:
		add(End, "%s %s, was %s %s", after.status, after.err, before.status, before.err)
	case before.err != after.err:
		add(Error, "%s, was %s", after.err, before.err)
	case !sameValue(before.cause, again.cause, after.cause):
		add(Cause, "%q, was %q", after.cause, before.cause)
	case !sameValue(before.output, again.output, after.output):
		add(Data, "%s, was %s", show(after.output), show(before.output))
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
			add(Added, "%v in %s", a.names(), place)
		}
	}
	return found
}

// compareFlows compares the calls of a flow. One that a failure beside it cut comes as
// far as time lets it.
func compareFlows(before, again, after *flow, replaced bool) []Difference {
	var found []Difference
	n := len(before.calls)
	cut := before.cut && after.cut
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
			})
		}
	}
	for i, asked := range before.polled {
		j := slices.IndexFunc(after.polled, func(v any) bool { return reflect.DeepEqual(asked, v) })
		switch {
		case j < 0 && !cut:
			found = append(found, Difference{Kind: Polled, Text: show(asked) + " no more"})
		case j >= 0 && after.first[j] < before.first[i]:
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

func at[T any](list []T, i int, otherwise T) T {
	if i < len(list) {
		return list[i]
	}
	return otherwise
}

func containsValue(list []any, value any) bool {
	return slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(v, value) })
}

// sameValue compares JSON values, by their types where before and again differ. Texts of
// JSON are values.
func sameValue(before, again, after any) bool {
	before, again, after = opened(before), opened(again), opened(after)
	if b, is := before.(map[string]any); is {
		a, is := after.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		c, _ := again.(map[string]any)
		for k, v := range b {
			w, has := a[k]
			x, known := c[k]
			if !known {
				x = v
			}
			if !has || !sameValue(v, x, w) {
				return false
			}
		}
		return true
	}
	if b, is := before.([]any); is {
		a, is := after.([]any)
		if !is || len(a) != len(b) {
			return false
		}
		c, _ := again.([]any)
		for i := range b {
			if !sameValue(b[i], at(c, i, b[i]), a[i]) {
				return false
			}
		}
		return true
	}
	if before != again {
		return reflect.TypeOf(before) == reflect.TypeOf(after)
	}
	return reflect.DeepEqual(before, after)
}

// opened is the value of a text of JSON that is an object or an array.
func opened(value any) any {
	text, is := value.(string)
	if !is || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return value
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return value
	}
	return v
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
