package simulate

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// OtherStatus is a status that nobody names, for all that a service or a function may add. It has no ending or word that
// machines look for in a status, such as "ING".
const OtherStatus = "UNHEARD_OF"

// isOwn tells whether an entry is the caller's own, for a Task whose result no model has.
func isOwn(e *catalog.Entry) bool { return e.Service.Key == "" }

// drawOwn finds what a machine reads of the Task that polls an entry of the caller's own. The members come from the
// Reader's Task of that name, if there is a Reader.
func (j *job) drawOwn(m *asl.StateMachine, t *task, o *Options) error {
	if o.Reader != nil {
		m = o.Reader
	}
	demands, err := typecheck.FindDemands(m.State(m.StartAt), m, o.Models)
	if err != nil {
		return err
	}
	u := t.untold("")
	u.items, u.number = o.Items, o.Draw
	for s := range m.All {
		if s.Name == t.name() {
			u.demand = demands.Result(s)
		}
	}
	j.drawn = &u
	return nil
}

// ownBehaviour makes the answers of an entry of the caller's own: each has the members that the machine reads, and a word
// of its waiter, or one for which the machine asks again.
func (j *job) ownBehaviour(a *answers) *behaviour {
	b := &behaviour{entry: j.entry, polledOn: j.polledOn}
	check, err := pollcore.Compile[any, any](j.entry.Waiter)
	if err != nil {
		return b
	}
	var at place
	add := func(name string, value any) {
		answer := at.putEach(j.ownAnswer(a), value)
		result := check.Check(nil, answer, nil)
		if !slices.ContainsFunc(b.statuses, func(s status) bool { return s.name == name }) {
			b.statuses = append(b.statuses, status{name: name, verdict: result.Verdict, answer: answer, stated: true, acceptor: result.Acceptor})
		}
	}
	for _, acceptor := range j.entry.Waiter.Acceptors {
		if m := acceptor.Matcher.Output; m != nil {
			at = placeOf(m.Path)
			if m.Comparator == pollcore.BooleanEquals {
				add("true", true)
				add("false", false)
				continue
			}
			add(m.Expected, m.Expected)
		}
	}
	if at == nil || slices.ContainsFunc(b.statuses, func(s status) bool { return s.name == "true" }) {
		return b
	}
	for _, word := range j.polledOn {
		add(word, word)
	}
	add(OtherStatus, OtherStatus)
	return b
}

// placeOf is the place at a path of the caller's own entry; the whole answer has none of a name.
func placeOf(path string) place {
	if path == "@" {
		return place{}
	}
	return parsePlace(path)
}

// ownAnswer is what is drawn for the result of the Task that polls.
func (j *job) ownAnswer(a *answers) any {
	if j.drawn == nil {
		return nil
	}
	if !j.drawn.demand.IsRead() {
		return j.drawn.Skeleton()
	}
	return j.drawn.Around(typecheck.Draw(typecheck.Unknown(), j.drawn.demand, typecheck.DrawOptions{
		Name: j.drawn.State, Seed: 1 + uint64(j.drawn.number), Absent: a.bare, Items: j.drawn.items, Compared: j.drawn.number, //nolint:gosec // from 0
	}))
}
