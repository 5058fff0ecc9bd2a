package fix

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// verify reads the new definition, and tries its loop with every status: a success leads
// where it led before, with the same data, and a failure elsewhere. What else both machines
// do is compared by tryChange.
func (f *fragment) verify(ctx context.Context, before, changed *document, o Options) (*observed, error) {
	text := changed.Text
	as := asl.Standard
	if o.Express {
		as = asl.Express
	}
	for _, p := range asl.Validate(text, as) {
		if p.Severity == diag.Error {
			return nil, refuse("the new definition is not valid: %s", p.Message)
		}
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, err
	}
	document, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := f.checkFunctions(document.Root); err != nil {
		return nil, err
	}
	if err := f.checkFindings(before, changed, o); err != nil {
		return nil, err
	}
	states := map[string]json.RawMessage{}
	for name := range f.states {
		states[name] = nodeAt(document.Root, stateOf(m, name).Position.Pointer).Raw()
	}
	f.addAside(states, m, document.Root)
	after, err := f.try(ctx, states, f.start, o)
	if err != nil {
		return nil, err
	}
	for i, b := range f.observed.seen {
		if err := f.compare(b, &after.seen[i]); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// ofCalls are the rules about a call that the new loop makes as the old one does, and about a bound that leads where the
// old one led.
var ofCalls = []string{lint.RepeatedStart, lint.LargeAnswer, ofBound}

// ofBound stands for the rule hidden-failure where it is about a bound, and not about a Catch.
const ofBound = "hidden-failure of a bound"

// about is the rule of a finding.
func (f *finding) about() string {
	if f.Rule == lint.HiddenFailure && isOfBound(f.Finding) {
		return ofBound
	}
	return f.Rule
}

// isOfBound tells whether a finding of hidden-failure stands at a Choice.
func isOfBound(f lint.Finding) bool {
	return strings.Contains(f.Pointer, "/Choices/") || strings.HasSuffix(f.Pointer, "/Default")
}

// checkFindings refuses a loop in which lint finds something, and one with which it finds
// elsewhere what cannot work, and did before.
func (f *fragment) checkFindings(before, after *document, o Options) error {
	old, err := before.look(o)
	if err != nil {
		return err
	}
	known, inside := map[[2]string]bool{}, map[string]bool{} // rules and states, and rules of the old loop
	for _, l := range old {
		known[[2]string{l.Rule, l.state}] = true
		inside[l.about()] = inside[l.about()] || f.inside[l.state]
	}
	all, err := after.look(o)
	if err != nil {
		return err
	}
	for _, l := range all {
		if f.states[l.state] == nil || l.ofTypes || l.Severity == diag.Note || inside[l.about()] && slices.Contains(ofCalls, l.about()) {
			continue
		}
		where := "in the new loop"
		if inside[l.about()] {
			where += ", as in the old one"
		}
		return refuse("lint finds %s %s: %s", l.Rule, where, l.Message)
	}
	for _, l := range all {
		if f.states[l.state] == nil && l.Severity <= diag.Danger && !known[[2]string{l.Rule, l.state}] {
			return refuse("with the new loop, lint finds %s at %q: %s", l.Rule, l.state, l.Message)
		}
	}
	return nil
}

// stateNameAt is the name of the state that a finding stands in; empty for none.
func stateNameAt(m *asl.StateMachine, f lint.Finding) string {
	s := m.StateAt(f.Pointer)
	if s == nil {
		return ""
	}
	return s.Name
}

// finding is one of lint, by the types of answers, too.
type finding struct {
	lint.Finding

	state   string // that it stands in; empty for none
	ofTypes bool   // the types alone tell it
}

// look finds what lint does in the definition, once.
func (d *document) look(o Options) ([]finding, error) {
	if d.looked {
		return d.findings, nil
	}
	m, err := d.Parse()
	if err != nil {
		return nil, err
	}
	types, err := typecheck.New(m, typecheck.Options{Models: o.Models})
	if err != nil {
		return nil, err
	}
	rules := o.lint()
	rules.Types = types
	for _, l := range lint.Check(m, rules) {
		ofTypes := slices.ContainsFunc(types.Findings(), func(t typecheck.Finding) bool {
			return t.Rule == l.Rule && t.Pointer == l.Pointer && t.Message == l.Message
		})
		d.findings = append(d.findings, finding{l, stateNameAt(m, l), ofTypes})
	}
	d.looked = true
	return d.findings, nil
}

// checkLeftOver refuses a loop without which nothing leads to a state any more.
func (f *fragment) checkLeftOver() error {
	left := f.leftOver()
	if len(left) == 0 {
		return nil
	}
	const repair = "repair the loop first, without --replace"
	failures, job := f.observed.exitsOf(pollcore.Failure), f.about()
	if i := slices.IndexFunc(left, func(name string) bool { return slices.Contains(failures, name) }); i >= 0 {
		status := f.statusesOf(func(s seen) bool { return s.exit == left[i] })
		return refuse("nothing leads to %q any more: %s takes %s for the same failure as another status, and a new loop leads both to one state. "+
			"Lead the other status to %[1]q, too", left[i], job, status)
	}
	if missed := f.statusesOf(f.missesFailure); missed != "" {
		return refuse("nothing leads to %q any more: the old loop leads no failure of %s there, and polls on with %s: %s", left[0], job, missed, repair)
	}
	if broken := f.statusesOf(isBroken); broken != "" {
		return refuse("nothing leads to %q any more, and the old loop breaks with %s: %s", left[0], broken, repair)
	}
	going := f.statusesOf(func(s seen) bool { return s.exit == left[0] })
	if going != "" && !f.isBounded() && f.leadsByCount(left[0]) {
		return refuse("the loop leads to %q by a count for %s alone, and nothing bounds it for other statuses: "+
			"put a Choice on the way back that looks at the count alone", left[0], going)
	}
	if going != "" {
		return refuse("nothing leads to %q any more: the old loop leads %s of %s there, with which the new one polls on. "+
			"Lead a failure or a bound of the loop there, too", left[0], going, job)
	}
	if more := f.leadsByMore(left[0]); more != "" {
		return refuse("%s may lead to %q by more than the status, which is all that a new loop looks at", more, left[0])
	}
	return refuse("nothing leads to %q any more: in a trial, no status of %s alone leads there, and a new loop looks at nothing else. "+
		"Remove the way to %[1]q, or lead a bound of the loop there", left[0], job)
}

// leadsByCount tells whether a rule of the old loop leads to a state by a count.
func (f *fragment) leadsByCount(exit string) bool {
	for _, s := range f.loop.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			if s.Choice.Rules[i].Next == exit && f.readsCount(f.node(s).Get("Choices").Items[i].Raw()) {
				return true
			}
		}
	}
	return false
}

// leadsByMore is a status that may lead to a state, and that the old loop was not seen to lead there; empty for none.
func (f *fragment) leadsByMore(exit string) string {
	for _, row := range f.rows {
		if len(row.Values) > 0 && slices.Contains(row.Routes, exit) {
			return row.Values[0]
		}
	}
	return ""
}

// statusesOf lists the statuses that the old loop was seen to treat in a way; empty if there are none.
func (f *fragment) statusesOf(is func(seen) bool) string {
	var all []string
	for _, s := range f.observed.seen {
		if is(s) {
			all = append(all, s.status)
		}
	}
	return strings.Join(all, ", ")
}

// missesFailure tells whether the old loop polls on with a failure that is no step to another end.
func (f *fragment) missesFailure(s seen) bool {
	passing, _ := f.entry.Passing(s.status)
	return s.verdict == pollcore.Failure && s.exit == "" && !isBroken(s) && passing != catalog.PassingEnding
}

// isBroken tells whether an error of the engine ends the old loop at a status.
func isBroken(s seen) bool {
	name, _, _ := strings.Cut(s.err, ":")
	return trial.IsEngineError(name)
}

// leftOver are the states of the flow to which nothing leads with the new loop.
func (f *fragment) leftOver() []string {
	reached := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if f.inside[name] && f.states[name] == nil {
			name = f.start // what led to the old loop leads to the new one
		}
		if reached[name] {
			return
		}
		reached[name] = true
		if own := f.states[name]; own != nil {
			if document, err := jsontree.Parse(mustJSON(own)); err == nil {
				for _, target := range transitionsOf(document.Root) {
					walk(target.Text)
				}
			}
			return
		}
		if s := f.flow.State(name); s != nil {
			for _, way := range s.Transitions() {
				walk(way.To)
			}
		}
	}
	walk(f.flow.StartAt)
	var left []string
	for _, s := range f.flow.States {
		if !reached[s.Name] && !f.inside[s.Name] {
			left = append(left, s.Name)
		}
	}
	return left
}

// failIn is the new Fail state that a run visited; empty for none.
func (f *fragment) failIn(visits map[string]int) string {
	for name, s := range f.states {
		if s["Type"] == string(asl.TypeFail) && visits[name] > 0 {
			return name
		}
	}
	return ""
}

// compare tells whether a status ends as it should. A new Fail state is the exit of
// an execution that failed in it.
func (f *fragment) compare(before seen, after *seen) error {
	after.exit = cmp.Or(after.exit, f.failIn(after.visits))
	same := before.exit == after.exit
	wrong := func(what string) error {
		return refuse("with the status %s the new loop %s: it %s, and the old one %s", before.status, what, after.describe(), before.describe())
	}
	switch {
	case len(before.arguments) > 1:
		return refuse("%q polls with other arguments in each turn: %s, then %s", f.poll.Name, before.arguments[0], before.arguments[1])
	case before.verdict == pollcore.Retry && after.calls > 1:
		return nil // it polls on
	case after.exit == "":
		return wrong("does not end")
	case before.verdict == pollcore.Success && !same && !slices.Contains(f.observed.exitsOf(pollcore.Success), after.exit):
		return wrong("does not lead to a success")
	case before.verdict == pollcore.Failure && after.exit == f.success && (!same || !f.apart[before.status]):
		return wrong("leads to a success")
	case before.verdict != pollcore.Retry && before.exit != "" && f.keepsWay(before.status, before.exit) && !same:
		return wrong("leads elsewhere")
	case before.verdict != pollcore.Retry && same && !equalJSON(before.output, after.output):
		return wrong("gives other data")
	default:
		return nil
	}
}

// describe says where a status leads, and with which data.
func (s *seen) describe() string {
	switch {
	case s.exit != "" && s.output != "":
		return fmt.Sprintf("leads to %q with %s", s.exit, s.output)
	case s.exit != "":
		return fmt.Sprintf("leads to %q", s.exit)
	case s.err != "":
		return "fails with " + s.err
	default:
		return "polls on"
	}
}

// equalJSON compares two texts as values.
func equalJSON(a, b string) bool {
	var left, right any
	if json.Unmarshal([]byte(a), &left) != nil || json.Unmarshal([]byte(b), &right) != nil {
		return false
	}
	x, _ := json.Marshal(left)
	y, _ := json.Marshal(right)
	return string(x) == string(y)
}

func stateOf(m *asl.StateMachine, name string) *asl.State {
	for s := range m.All {
		if s.Name == name {
			return s
		}
	}
	return nil
}
