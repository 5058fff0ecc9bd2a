package trial

import (
	"context"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// findStatuses makes a Task in a loop, whose job nobody knows, a poll, if both machines poll on with some of the values
// of a member that they compare, and end with others. The values are those of the API's model; where no model says what
// the Task answers, those that the machine compares.
func (p *pair) findStatuses(ctx context.Context, role string, input []byte) error {
	c := p.callee(role)
	if state := stateOf(p.before.machine, role); p.loops[role] == nil || c.running != nil || state == nil || c.known.Statuses != nil {
		return nil
	}
	if slices.ContainsFunc(p.before.unknown, func(u simulate.Unknown) bool { return u.State == role }) {
		_, err := p.takeStatuses(ctx, role, p.drawStatuses(role), input)
		return err
	}
	compared := p.compared(role)
	for _, m := range c.known.Modelled(c.api.Output) {
		if found, err := p.takeStatuses(ctx, role, c.modelStatuses(m, compared), input); found || err != nil {
			return err
		}
	}
	return nil
}

// drawStatuses are answers with each of some values that the machine compares.
func (p *pair) drawStatuses(role string) []answer {
	demand := p.demands.Result(stateOf(p.before.machine, role))
	other := typecheck.Draw(typecheck.Unknown(), demand, typecheck.DrawOptions{Name: role, Seed: 1})
	var all []answer
	for n := range mostCompared + 1 {
		drawn, value := other, UnknownValue
		if n > 0 {
			drawn = typecheck.Draw(typecheck.Unknown(), demand, typecheck.DrawOptions{Name: role, Seed: 1, Compared: n})
			value = strings.Join(changes(other, drawn), ", ")
		}
		a := answer{kind: Kind{Task: role, Sort: Status, Value: value}, text: textOf(drawn)}
		if !slices.ContainsFunc(all, func(b answer) bool { return a.text == b.text }) {
			all = append(all, a)
		}
	}
	return all
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

// takeStatuses takes answers for those of a poll, if some tell that the job runs, and others that it has ended. A job
// has ended where the new machine does not ask again, and runs where neither ends.
func (p *pair) takeStatuses(ctx context.Context, role string, all []answer, input []byte) (found bool, err error) {
	good := -1
	for i := range all {
		a := &all[i]
		before, after, err := p.playBoth(ctx, &script{task: role, answers: []answer{*a}, forever: true, events: fewEvents}, input)
		if err != nil {
			return false, err
		}
		a.runs = before.visited(role) > 1 && after.visited(role) > 1
		a.ended = after.visited(role) == 1 && after.Status != PollsOn
		if a.ended && good < 0 && after.Status == string(sim.StatusSucceeded) {
			good = i
		}
	}
	running := slices.IndexFunc(all, func(a answer) bool { return a.runs })
	if good < 0 {
		good = slices.IndexFunc(all, func(a answer) bool { return a.ended })
	}
	if running < 0 || good < 0 {
		return false, nil
	}
	for _, s := range []*subject{p.before, p.after} {
		for name, c := range s.callees {
			if s.role(name) == role {
				c.running, c.usual, c.answers = &all[running], all[good], all
			}
		}
	}
	return true, nil
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
