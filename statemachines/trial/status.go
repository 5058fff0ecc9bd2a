package trial

import (
	"context"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// findUsual finds what polls answer whose jobs nobody knows, and with which success of each the old machine goes on. A poll
// behind another loop is met once the answers of that are known.
func (p *pair) findUsual(ctx context.Context, input []byte) error {
	for more := true; more; {
		more = false
		for _, role := range p.tasks {
			known := p.callee(role).running != nil
			if err := p.findStatuses(ctx, role, input); err != nil {
				return err
			}
			if !known && p.callee(role).running != nil {
				more = true
			}
		}
	}
	return p.chooseUsual(ctx, input)
}

// findStatuses makes a Task in a loop, whose job nobody knows, a poll, if both machines poll on with some of the values
// of a member that they compare, and end with others. The values are those of the API's model; where no model says what
// the Task answers, those that the machine compares.
func (p *pair) findStatuses(ctx context.Context, role string, input []byte) error {
	c := p.callee(role)
	if p.loops[role] == nil || c.running != nil {
		return nil
	}
	if slices.ContainsFunc(p.before.unknown, func(u simulate.Unknown) bool { return u.State == role }) {
		_, err := p.takeStatuses(ctx, role, p.drawStatuses(role), nil, input)
		return err
	}
	compared := p.compared(role)
	for _, m := range c.known.Modelled(c.api.Output) {
		whole := func(a answer) answer {
			a.text = textOf(m.Put(c.known.Whole, a.kind.Value))
			return a
		}
		if found, err := p.takeStatuses(ctx, role, c.modelStatuses(m, compared), whole, input); found || err != nil {
			return err
		}
	}
	for _, part := range compared { // the model does not list its values
		if m, _ := c.known.MemberAt(part.Path); len(part.Texts) > 0 && m.Has(c.known.Usual) {
			if found, err := p.takeStatuses(ctx, role, c.modelStatuses(m, compared), nil, input); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// drawStatuses are answers with each of some values that either machine compares. All have the members that both read.
func (p *pair) drawStatuses(role string) []answer {
	demands := p.demandsOf(role)
	draw := func(d *typecheck.Demand, compared int) any {
		return typecheck.Draw(typecheck.Unknown(), d, typecheck.DrawOptions{Name: role, Seed: 1, Compared: compared})
	}
	var other any
	for _, d := range demands {
		other = addMembers(other, draw(d, 0))
	}
	all := []answer{{kind: Kind{Task: role, Sort: Status, Value: UnknownValue}, text: textOf(other)}}
	for _, d := range demands {
		for n := range mostCompared {
			drawn := addMembers(draw(d, n+1), other)
			a := answer{kind: Kind{Task: role, Sort: Status, Value: strings.Join(slices.Compact(changes(other, drawn)), ", ")}, text: textOf(drawn)}
			if !slices.ContainsFunc(all, func(b answer) bool { return a.text == b.text }) {
				all = append(all, a)
			}
		}
	}
	for _, v := range pairsOf(p.compared(role)) {
		drawn := addMembers(typecheck.Draw(v, demands[0], typecheck.DrawOptions{Name: role, Seed: 1}), other)
		a := answer{kind: Kind{Task: role, Sort: Status, Value: strings.Join(slices.Compact(changes(other, drawn)), ", ")}, text: textOf(drawn)}
		if !slices.ContainsFunc(all, func(b answer) bool { return a.text == b.text }) {
			all = append(all, a)
		}
	}
	return all
}

// addMembers adds to a value the members that another one has alone.
func addMembers(to, from any) any {
	if to == nil {
		return from
	}
	members, isObject := to.(map[string]any)
	if !isObject {
		return to
	}
	others, _ := from.(map[string]any)
	for name, value := range others {
		members[name] = addMembers(members[name], value)
	}
	return members
}

// mostPairs are how many pairs of texts are tried for the answers of one Task.
const mostPairs = 64

// pairsOf are answers in which one member has a text that the machine compares it with, alone or with another member that
// has one: a Choice may look at both.
func pairsOf(compared []typecheck.Compared) []typecheck.Value {
	var all []typecheck.Value
	texts := slices.DeleteFunc(slices.Clone(compared), func(c typecheck.Compared) bool { return len(c.Texts) == 0 || slices.Contains(c.Steps, "0") })
	for i, one := range texts {
		for _, text := range one.Texts {
			v := typecheck.Narrow(typecheck.Unknown(), one.Steps, text)
			all = append(all, v)
			for _, other := range texts[i+1:] {
				for _, beside := range other.Texts {
					all = append(all, typecheck.Narrow(v, other.Steps, beside))
				}
			}
		}
	}
	return all[:min(len(all), mostPairs)]
}

// modelStatuses are answers with each value that the model has of a member, with the texts that the machine compares
// it with, and with one that nobody knows.
func (c *callee) modelStatuses(m simulate.Member, compared []typecheck.Compared) []answer {
	values := slices.Clone(m.Values)
	for _, part := range compared {
		if part.Path == m.String() {
			values = append(values, part.Texts...)
		}
	}
	var all []answer
	for _, value := range append(values, UnknownValue) {
		a := answer{kind: Kind{Task: c.state.Name, Sort: Status, Value: value}, text: textOf(m.Put(c.known.Usual, value))}
		if !slices.ContainsFunc(all, func(b answer) bool { return a.text == b.text }) {
			all = append(all, a)
		}
	}
	return all
}

// chooseUsual gives the successes of polls the values of other members with which the old machine goes on, where it fails
// with those that were drawn: behind that failure nothing would be tried.
func (p *pair) chooseUsual(ctx context.Context, input []byte) error {
	play := func(s *script) (*observed, error) { // a poll outside of the cut may be the one
		return p.before.run(ctx, s, input, usual, part{whole: p.whole}, p.options)
	}
	drawn, err := p.play(ctx, p.before, &script{events: fewEvents}, input, usual)
	if err != nil || drawn.Status != failed || drawn.IsBroken() {
		return err
	}
	polls := sortedCallees(p.before)
	for _, c := range polls {
		for _, a := range c.likeUsual(p.words, p.compared(c.state.Name)) {
			o, err := play(&script{task: c.state.Name, answers: []answer{a}, forever: true, events: fewEvents})
			if err != nil {
				return err
			}
			farther := slices.ContainsFunc(polls, func(other *callee) bool {
				return o.visited(other.state.Name) > 0 && drawn.visited(other.state.Name) == 0
			})
			if o.Status == string(sim.StatusSucceeded) || farther {
				p.answerUsually(c.state.Name, a.text)
				drawn = o
				break
			}
		}
		if drawn.Status == string(sim.StatusSucceeded) {
			return nil
		}
	}
	return nil
}

// likeUsual are the usual answer of a poll with other values of members that either machine compares.
func (c *callee) likeUsual(w *words, compared []typecheck.Compared) []answer {
	varied := &callee{state: c.state}
	varied.addBeside(c.known, w, compared)
	return slices.DeleteFunc(varied.beside, func(a answer) bool { return c.usual.kind.Sort != Status || a.kind.Value != c.usual.kind.Value })
}

// answerUsually takes another text for the usual answer of a Task.
func (p *pair) answerUsually(role, text string) {
	p.cut.forget()
	for _, s := range []*subject{p.before, p.after} {
		for name, c := range s.callees {
			if s.role(name) == role {
				c.usual.text = text
			}
		}
	}
}

// takeStatuses takes answers for those of a poll, if some tell that the job runs, and others that it has ended. A job
// has ended where the new machine does not ask again, and runs where neither ends: an edit that leads a job to an end, or
// away from it, shows so. If the old machine takes no status for a running job, one runs with which the new machine
// asks again. whole adds to an answer the members that may come after an end; nil if nobody knows them.
func (p *pair) takeStatuses(ctx context.Context, role string, all []answer, whole func(answer) answer, input []byte) (found bool, err error) {
	var bare []answer
	good, elsewhere, running, asked := -1, -1, -1, -1 // elsewhere leads to another loop, whose answers are not known yet
	for i := range all {
		before, after, less, err := p.tryStatus(ctx, role, &all[i], whole, input)
		if err != nil {
			return false, err
		}
		bare = append(bare, less...)
		a, asksAgain := &all[i], after.asked > 1
		a.runs = asksAgain && before.asked > 1
		a.ended = after.asked == 1
		switch {
		case a.ended && good < 0 && after.Status == string(sim.StatusSucceeded):
			good = i
		case a.ended && elsewhere < 0 && after.Status == PollsOn:
			elsewhere = i
		case a.runs && running < 0:
			running = i
		case asksAgain && asked < 0 && a.kind.Value != UnknownValue:
			asked = i
		}
	}
	if running < 0 {
		running = asked
	}
	if good < 0 {
		good = elsewhere
	}
	if good < 0 {
		good = slices.IndexFunc(all, func(a answer) bool { return a.ended })
	}
	if running < 0 || good < 0 {
		return false, nil
	}
	all[running].runs = true
	p.cut.forget()
	for _, s := range []*subject{p.before, p.after} {
		for name, c := range s.callees {
			if s.role(name) == role {
				c.running, c.usual, c.answers = &all[running], all[good], all
				c.bare = append(slices.Clip(c.bare), bare...)
			}
		}
	}
	return true, nil
}

// tryStatus plays a Task in both machines that always answers the same. Where the new machine breaks at an answer for want
// of a member that may come after an end, the answer gets it, and less is the one without it.
func (p *pair) tryStatus(
	ctx context.Context, role string, a *answer, whole func(answer) answer, input []byte,
) (before, after *observed, less []answer, err error) {
	play := func(a answer) (before, after *observed, err error) {
		return p.playBoth(ctx, &script{task: role, answers: []answer{a}, forever: true, events: fewEvents}, input)
	}
	if before, after, err = play(*a); err != nil || whole == nil || !after.IsBroken() {
		return before, after, nil, err
	}
	more := whole(*a)
	b, filled, err := play(more)
	if err != nil || filled.IsBroken() {
		return before, after, nil, err
	}
	a.ended = after.asked == 1
	less = append(less, *a)
	*a = more
	return b, filled, less, nil
}

// changes are the values that one has otherwise than another, as JSON but for texts.
func changes(from, to any) []string {
	var all []string
	switch to := to.(type) {
	case map[string]any:
		old, _ := from.(map[string]any)
		for name, value := range to {
			all = append(all, changes(old[name], value)...)
		}
		slices.Sort(all)
	case []any:
		old, _ := from.([]any)
		for i, value := range to {
			if i < len(old) {
				all = append(all, changes(old[i], value)...)
			}
		}
	case string:
		if to != from {
			all = append(all, to)
		}
	default:
		if text := textOf(to); text != textOf(from) {
			all = append(all, text)
		}
	}
	return all
}
