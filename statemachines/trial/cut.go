package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	alike  map[*observed]bool // parts of the second machine that do what those of the first do
	read   map[string]bool    // variables that the rest reads
	usual  map[joined][]Kind  // of runs that have parts
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
	c := &cut{
		read: map[string]bool{}, inside: map[string]bool{}, top: map[string]bool{}, usual: map[joined][]Kind{},
		before: map[string]*observed{}, behind: map[string]*observed{}, alike: map[*observed]bool{},
	}
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

// forget forgets what was seen: a usual answer is another one now.
func (c *cut) forget() {
	if c != nil {
		clear(c.before)
		clear(c.behind)
		clear(c.alike)
		clear(c.usual)
	}
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
	parts := parts{}
	within := part{leaves: func(state string) bool { return c.top[state] && !c.inside[state] }}
	first, err := p.first(ctx, s, sc, input, at)
	if err != nil {
		return nil, err
	}
	if first != nil {
		if first.left == nil {
			return s.run(ctx, sc, input, at, all, p.options)
		}
		within.after, parts.first = first, first
	}
	middle, err := s.run(ctx, sc, input, at, within, p.options)
	if err != nil {
		return nil, err
	}
	parts.middle = middle
	if middle.left != nil {
		maps.DeleteFunc(middle.left.Variables, func(name string, _ json.RawMessage) bool { return !c.read[name] })
		parts.last, err = remember(c.behind, at.execution+textOf(middle.left), func() (*observed, error) {
			return p.before.run(ctx, &script{}, input, at, part{after: &observed{left: middle.left}}, p.options)
		})
		if err != nil {
			return nil, err
		}
	}
	joined := c.join(parts)
	limit := time.Duration(s.machine.TimeoutSeconds) * time.Second
	isLate := limit > 0 && joined.Lasts >= limit && joined.Status != string(sim.StatusTimedOut)
	if isLate || middle.left != nil && joined.events >= asl.MaxEvents {
		return s.run(ctx, sc, input, at, all, p.options)
	}
	return joined, nil
}

// first is the part of a run that all scripts of a Task share: until it is entered, or the
// cut where another one leads there. It is nil if there is none.
func (p *pair) first(ctx context.Context, s *subject, sc *script, input []byte, at circumstances) (*observed, error) {
	c, key := p.cut, at.execution+string(input)
	way, err := p.wayToCut(ctx, s, input, at)
	if err != nil || way != nil && way.left == nil {
		return way, err
	}
	leaves := func(state string) bool { return s.callees[state] != nil && s.role(state) == sc.task }
	from := s.machine.StartAt
	if way != nil {
		from = way.left.State
	}
	if sc.lead != nil || !c.inside[sc.task] || leaves(from) || p.before.branches || p.after.branches {
		return way, nil
	}
	return remember(c.before, fmt.Sprintf("%s\x00%s\x00%t", key, sc.task, s == p.after), func() (*observed, error) {
		rest, err := s.run(ctx, &script{}, input, at, part{after: way, leaves: leaves}, p.options)
		if err != nil {
			return nil, err
		}
		return c.join(parts{first: way, middle: rest}), nil
	})
}

// wayToCut is a run of a machine until it enters the cut, the same for both; nil where a run starts in the cut, or
// there is none.
func (p *pair) wayToCut(ctx context.Context, s *subject, input []byte, at circumstances) (*observed, error) {
	c := p.cut
	if c == nil || c.inside[s.machine.StartAt] {
		return nil, nil //nolint:nilnil // there is none
	}
	return remember(c.before, at.execution+string(input), func() (*observed, error) {
		return p.before.run(ctx, &script{}, input, at, part{leaves: func(state string) bool { return c.inside[state] }}, p.options)
	})
}

// goesOnAlike tells whether the second machine does what a run of the first did from where
// its Task is entered: it got there as the first one, and no state differs from there on.
func (p *pair) goesOnAlike(ctx context.Context, sc *script, input []byte, o *observed) (bool, error) {
	a, middle := o.parts.first, o.parts.middle
	if middle == nil || a == nil || p.meetsChange(middle) {
		return false, nil
	}
	b, err := p.first(ctx, p.after, sc, input, usual)
	if err != nil || b == nil {
		return false, err
	}
	if _, known := p.cut.alike[b]; !known {
		p.cut.alike[b] = b.left != nil && a.left.State == b.left.State && string(a.left.Input) == string(b.left.Input) &&
			a.events == b.events && a.Outcome == b.Outcome && differ(a.whole(), b.whole(), nil) == nil
	}
	if !p.cut.alike[b] {
		return false, nil
	}
	for _, variables := range []map[string]json.RawMessage{a.left.Variables, b.left.Variables} { // each may lack some
		for name := range variables {
			same := string(a.left.Variables[name]) == string(b.left.Variables[name])
			if !same && (p.cut.read[name] || middle.reads(name, p.before.machine)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// reads tells whether a state of the outermost flow that the run visited reads a variable.
func (o *observed) reads(name string, m *asl.StateMachine) bool {
	for state, n := range o.visits {
		if n > 0 && slices.Contains(m.State(state).Variables(), name) {
			return true
		}
	}
	return false
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

// parts are those of a run, the first and last of which it may lack.
type parts struct{ first, middle, last *observed }

// each calls yield for the parts that there are.
func (p parts) each(yield func(*observed) bool) {
	for _, part := range []*observed{p.first, p.middle, p.last} {
		if part != nil && !yield(part) {
			return
		}
	}
}

// joined names the usual answers of a run by those of its parts.
type joined struct {
	first, last *observed
	middle      string
}

// join makes one run of its parts, which ends as the last one. The script is that of the
// middle.
func (c *cut) join(p parts) *observed {
	seen := *cmp.Or(p.last, p.middle)
	seen.flow, seen.asked, seen.First, seen.parts, seen.visits = p.middle.flow, p.middle.asked, p.middle.First, p, nil
	seen.Polls, seen.Lasts, seen.events, seen.usual = 0, 0, 0, c.usualOf(p)
	for o := range p.each {
		seen.events += o.events
		seen.Polls += o.Polls
		seen.Lasts += o.Lasts
	}
	return &seen
}

// usualOf are the usual answers of all parts. Most runs have the same, of many Tasks before and behind
// the cut.
func (c *cut) usualOf(p parts) []Kind {
	key := joined{first: p.first, last: p.last}
	for _, k := range p.middle.usual {
		key.middle += strings.Join([]string{k.Task, string(k.Sort), k.Value, k.Pattern, k.Beside, ""}, "\x00")
	}
	all, there := c.usual[key]
	if !there {
		for o := range p.each {
			all = uniteKinds(all, o.usual)
		}
		all = slices.Clip(all)
		c.usual[key] = all
	}
	return all
}

// visited tells how often the run entered a state.
func (o *observed) visited(state string) int {
	n := o.visits[state]
	for part := range o.parts.each {
		n += part.visited(state)
	}
	return n
}

// whole has the calls and polls of all parts.
func (o *observed) whole() *observed {
	if o.parts.middle == nil {
		return o
	}
	all := *o
	all.calls, all.polls = nil, map[string][]any{}
	for part := range o.parts.each {
		part = part.whole()
		all.calls = append(all.calls, part.calls...)
		for key, arguments := range part.polls {
			all.polls[key] = append(slices.Clip(all.polls[key]), arguments...)
		}
	}
	return &all
}

// apart has the calls and polls of the parts that another run does not share: those of the
// middle, if it made as many calls.
func (o *observed) apart(other *observed) *observed {
	x, y := o.parts, other.parts
	if x.middle == nil || y.middle == nil || x.first != y.first || x.last != y.last || len(x.middle.calls) != len(y.middle.calls) {
		return o.whole()
	}
	apart := *o
	apart.parts = parts{middle: x.middle}
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
