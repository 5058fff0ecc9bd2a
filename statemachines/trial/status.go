package trial

import (
	"context"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// findStatuses makes a Task in a loop whose answers nobody knows a poll, if the machine
// polls on with some of the values that it compares, and ends with others.
func (p *pair) findStatuses(ctx context.Context, role string, input []byte) error {
	c := p.callee(role)
	state := stateOf(p.before.machine, role)
	if p.loops[role] == nil || c.running != nil || state == nil ||
		!slices.ContainsFunc(p.before.unknown, func(u simulate.Unknown) bool { return u.State == role }) {
		return nil
	}
	var all []answer
	other := typecheck.Draw(typecheck.Unknown(), p.demands.Result(state), typecheck.DrawOptions{Name: role, Seed: 1})
	for n := range mostCompared + 1 {
		drawn := other
		if n > 0 {
			drawn = typecheck.Draw(typecheck.Unknown(), p.demands.Result(state), typecheck.DrawOptions{Name: role, Seed: 1, Compared: n})
		}
		value := strings.Join(changes(other, drawn), ", ")
		if n == 0 {
			value = UnknownValue
		}
		a := answer{kind: Kind{Task: role, Sort: Status, Value: value}, text: textOf(drawn)}
		if slices.ContainsFunc(all, func(b answer) bool { return a.text == b.text }) {
			continue
		}
		o, err := p.play(ctx, p.before, &script{task: role, answers: []answer{a}, forever: true, events: fewEvents}, input, usual)
		if err != nil {
			return err
		}
		a.runs = o.visited(role) > 1
		a.ended = !a.runs
		all = append(all, a)
	}
	running := slices.IndexFunc(all, func(a answer) bool { return a.runs })
	ended := slices.IndexFunc(all, func(a answer) bool { return a.ended })
	if running < 0 || ended < 0 {
		return nil
	}
	for _, s := range []*subject{p.before, p.after} {
		for name, c := range s.callees {
			if s.role(name) == role {
				c.running, c.usual, c.answers = &all[running], all[ended], all
			}
		}
	}
	return nil
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
