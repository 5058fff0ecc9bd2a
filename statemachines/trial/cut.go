package trial

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// cut is the part of two machines that scripts are run in. What comes before it runs once
// for each input, and what follows once for each place and data that it is left with: there
// all goes well, and both machines do the same.
type cut struct {
	inside map[string]bool // states of the outermost flow
	top    map[string]bool // all of them
	before map[string]*observed
	behind map[string]*observed
	read   map[string]bool // variables that the rest reads
}

// part is a part of a run: after what was seen, until it leaves.
type part struct {
	after  *observed // nil: it begins at StartAt
	leaves func(state string) bool
	whole  bool // it runs to its end, even if its laps are equal
}

// errLeft ends a run that is at the end of its stretch.
var errLeft = errors.New("the run left its part of the machine")

// newCut finds the states that scripts are run in: those near a change, those between them,
// and the first behind. It is nil where the rest may depend on more than data and variables.
func (p *pair) newCut() *cut {
	if p.whole || p.options.Express {
		return nil
	}
	c := &cut{read: map[string]bool{}, inside: map[string]bool{}, top: map[string]bool{}, before: map[string]*observed{}, behind: map[string]*observed{}}
	after, before := map[string][]string{}, map[string][]string{}
	behind, outside := map[string]bool{}, 0
	for _, s := range []*subject{p.before, p.after} {
		for _, state := range s.machine.States {
			c.top[state.Name] = true
			for _, way := range state.Transitions() {
				after[state.Name] = append(after[state.Name], way.To)
				before[way.To] = append(before[way.To], state.Name)
			}
			eachWithin(state, func(inner *asl.State) {
				c.inside[state.Name] = c.inside[state.Name] || p.near[inner.Name]
				if p.exits[inner.Name] {
					behind[state.Name] = true
					for _, name := range p.loops[state.Name] { // whole, or it is left in a lap
						behind[name] = true
					}
				}
			})
		}
	}
	reached, reaches := map[string]bool{}, map[string]bool{}
	for name := range c.inside {
		if c.inside[name] {
			visit(name, after, reached, func(string) {})
			visit(name, before, reaches, func(string) {})
		}
	}
	for name := range c.top {
		if c.inside[name] = reached[name] && reaches[name] || behind[name]; !c.inside[name] {
			outside++
		}
	}
	if outside < 2 { //nolint:mnd // an end is no gain
		return nil
	}
	c.findRead(p.before, p.after)
	return c
}

// findRead finds the variables that the rest reads.
func (c *cut) findRead(subjects ...*subject) {
	for _, s := range subjects {
		for _, state := range s.machine.States {
			eachWithin(state, func(inner *asl.State) {
				for _, name := range inner.Variables() {
					c.read[name] = c.read[name] || !c.inside[state.Name]
				}
			})
		}
	}
}

// eachWithin calls yield for a state and those of the flows in it.
func eachWithin(s *asl.State, yield func(*asl.State)) {
	yield(s)
	for _, flow := range s.Flows() {
		for _, inner := range flow.States {
			eachWithin(inner, yield)
		}
	}
}

// play runs a script in one of the machines: its part of it, if that is enough.
func (p *pair) play(ctx context.Context, s *subject, sc *script, input []byte, at circumstances) (*observed, error) {
	c, all := p.cut, part{whole: p.whole}
	if c == nil {
		return s.run(ctx, sc, input, at, all, p.options)
	}
	parts := []*observed{}
	within := part{leaves: func(state string) bool { return c.top[state] && !c.inside[state] }}
	if !c.inside[s.machine.StartAt] {
		first, err := remember(c.before, at.execution+string(input), func() (*observed, error) {
			return p.before.run(ctx, &script{}, input, at, part{leaves: func(state string) bool { return c.inside[state] }}, p.options)
		})
		if err != nil {
			return nil, err
		}
		if first.left == nil {
			return s.run(ctx, sc, input, at, all, p.options)
		}
		within.after, parts = first, append(parts, first)
	}
	middle, err := s.run(ctx, sc, input, at, within, p.options)
	if err != nil {
		return nil, err
	}
	parts = append(parts, middle)
	joined := join(middle, parts...)
	if middle.left != nil {
		maps.DeleteFunc(middle.left.Variables, func(name string, _ json.RawMessage) bool { return !c.read[name] })
		last, err := remember(c.behind, at.execution+textOf(middle.left), func() (*observed, error) {
			return p.before.run(ctx, &script{}, input, at, part{after: &observed{left: middle.left}}, p.options)
		})
		if err != nil {
			return nil, err
		}
		joined = join(middle, append(parts, last)...)
	}
	limit := time.Duration(s.machine.TimeoutSeconds) * time.Second
	isLate := limit > 0 && joined.Lasts >= limit && joined.Status != string(sim.StatusTimedOut)
	if isLate || middle.left != nil && joined.events >= asl.MaxEvents {
		return s.run(ctx, sc, input, at, all, p.options)
	}
	return joined, nil
}

func remember(all map[string]*observed, key string, run func() (*observed, error)) (*observed, error) {
	if found := all[key]; found != nil {
		return found, nil
	}
	found, err := run()
	if err == nil {
		all[key] = found
	}
	return found, err
}

// join makes one run of its parts, which ends as the last one. The script is that of the
// middle.
func join(middle *observed, parts ...*observed) *observed {
	seen := *parts[len(parts)-1]
	seen.flow, seen.asked, seen.parts = middle.flow, middle.asked, parts
	seen.Polls, seen.Lasts, seen.events, seen.usual = 0, 0, 0, nil
	seen.visits = middle.visits // no other part is varied
	for _, o := range parts {
		seen.events += o.events
		seen.Polls += o.Polls
		seen.Lasts += o.Lasts
		seen.usual = append(seen.usual, o.usual...)
	}
	return &seen
}

// whole has the calls and polls of all parts.
func (o *observed) whole() *observed {
	if o.parts == nil {
		return o
	}
	all := *o
	all.calls, all.polls = nil, map[string][]any{}
	for _, part := range o.parts {
		all.calls = append(all.calls, part.calls...)
		maps.Copy(all.polls, part.polls)
	}
	return &all
}

// apart has the calls and polls of the parts that another run does not share: those of the
// middle, if it made as many calls.
func (o *observed) apart(other *observed) *observed {
	n := len(o.parts)
	if n == 0 || n != len(other.parts) {
		return o.whole()
	}
	apart := *o
	apart.parts = nil
	for i, part := range o.parts {
		if part != other.parts[i] {
			if len(part.calls) != len(other.parts[i].calls) {
				return o.whole()
			}
			apart.parts = append(apart.parts, part)
		}
	}
	return apart.whole()
}

// tracker follows a run until it leaves its part.
type tracker struct {
	part

	machine   *asl.StateMachine
	stop      func(error)
	events    int
	at        time.Time
	variables map[string]json.RawMessage
	left      *sim.Beginning
}

// follow returns the details of the events of a state.
func (t *tracker) follow(e sim.Event) (d sim.Details) {
	if t.left != nil {
		return d
	}
	t.events++
	t.at = e.Timestamp
	enters := strings.HasSuffix(string(e.Type), "StateEntered")
	if !enters && !strings.HasSuffix(string(e.Type), "StateExited") {
		return d
	}
	d = e.Details()
	if t.machine.State(d.Name) != nil {
		for name, value := range d.AssignedVariables {
			t.variables[name] = slices.Clone(value.JSON())
		}
	}
	if enters && t.leaves != nil && t.leaves(d.Name) {
		t.left = &sim.Beginning{State: d.Name, Input: slices.Clone(d.Input.JSON()), Variables: maps.Clone(t.variables)}
		t.stop(errLeft)
	}
	return d
}
