package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// mostCompared is how many of the literals that a machine compares with are drawn.
const mostCompared = 4

// mostInputs is how many inputs the scripts are run on.
const mostInputs = 3

// inputs are those with which a run gets to a Task that varies: one that has all that states
// read, one without what need not be there, and one with what Choices compare. It draws what
// nobody knows the answer of, too, so that runs get there.
func (p *pair) inputs(ctx context.Context) ([][]byte, error) {
	demands := p.demands
	items := p.options.Items
	draws := []typecheck.DrawOptions{{Seed: 1, Items: items}, {Seed: 1, Absent: true, Items: items}}
	for n := 1; n <= mostCompared; n++ {
		draws = append(draws, typecheck.DrawOptions{Seed: 1, Compared: n, Items: items})
	}
	var found [][]byte
	for _, answers := range draws {
		p.drawAnswers(demands, answers)
		for _, draw := range draws {
			input := p.options.Input
			if input == nil {
				input = []byte(textOf(DrawInput(demands, draw)))
			}
			if len(found) == mostInputs || slices.ContainsFunc(found, func(text []byte) bool { return string(text) == string(input) }) {
				continue
			}
			arrives, err := p.arrives(ctx, input)
			if err != nil {
				return nil, err
			}
			if arrives {
				found = append(found, input)
			}
			if p.options.Input != nil {
				break
			}
		}
		if len(found) > 0 {
			return p.leadTurning(ctx, found)
		}
	}
	p.drawAnswers(demands, draws[0])
	if p.options.Input != nil {
		return [][]byte{p.options.Input}, nil
	}
	return [][]byte{[]byte(textOf(DrawInput(demands, draws[0])))}, nil
}

// mostSeeds is how many inputs are drawn for one with which a loop turns.
const mostSeeds = 8

// leadTurning puts an input in front with which a loop polls a running job again, where no other input
// does that: the draw may begin a count above the limit that stands in the same input.
func (p *pair) leadTurning(ctx context.Context, found [][]byte) ([][]byte, error) {
	for _, input := range found {
		if turns, err := p.turns(ctx, input); turns || err != nil {
			return found, err
		}
	}
	for seed := uint64(2); seed <= mostSeeds && p.options.Input == nil; seed++ {
		input := []byte(textOf(DrawInput(p.demands, typecheck.DrawOptions{Seed: seed, Items: p.options.Items})))
		turns, err := p.turns(ctx, input)
		if err != nil {
			return nil, err
		}
		if turns {
			return append([][]byte{input}, found[:min(len(found), mostInputs-1)]...), nil
		}
	}
	return found, nil
}

// turns tells whether a loop polls a running job again, or no loop waits for a job that can run.
func (p *pair) turns(ctx context.Context, input []byte) (bool, error) {
	waits := false
	for _, role := range p.tasks {
		c := p.callee(role)
		if p.loops[role] == nil || c.running == nil {
			continue
		}
		waits = true
		way, err := p.wayToCut(ctx, p.before, input, usual)
		if err != nil {
			return false, err
		}
		if way != nil && way.left == nil {
			continue
		}
		o, err := p.before.run(ctx, c.lasting(role), input, usual, part{after: way}, p.options)
		if err != nil {
			return false, err
		}
		if o.asked > 1 {
			return true, nil
		}
	}
	return !waits, nil
}

// DrawInput draws the input of an execution, or of the state that demands are from: an object,
// unless it is read as something else.
func DrawInput(demands *typecheck.Demands, o typecheck.DrawOptions) any {
	o.Name = "input"
	drawn := typecheck.Draw(typecheck.Unknown(), demands.Input, o)
	if _, isText := drawn.(string); isText && !demands.Input.IsText() {
		return map[string]any{}
	}
	return drawn
}

// drawAnswers draws what the Tasks return whose answer nobody knows.
func (p *pair) drawAnswers(demands *typecheck.Demands, o typecheck.DrawOptions) {
	if p.cut != nil {
		clear(p.cut.before) // runs with other answers
	}
	for _, s := range []*subject{p.before, p.after} {
		for _, u := range s.unknown {
			state := p.before.states[u.State]
			if state == nil {
				continue
			}
			o.Name = u.State
			drawn := typecheck.Draw(typecheck.Unknown(), demands.Result(state), o)
			if text, isText := drawn.(string); isText && text != "" {
				drawn = u.Skeleton()
			}
			drawn = u.Around(drawn)
			if c := s.callees[u.State]; c != nil && c.running != nil && c.known.Statuses == nil {
				continue // findStatuses knows it
			} else if c != nil {
				c.usual.text = textOf(drawn)
				continue
			}
			s.readers[u.State] = textOf(drawn)
		}
	}
}

// arrives tells whether a run in which all goes well gets to a Task that varies.
func (p *pair) arrives(ctx context.Context, input []byte) (bool, error) {
	varies := func(state string) bool { return slices.Contains(p.tasks, state) }
	way, err := p.wayToCut(ctx, p.before, input, usual)
	if err != nil || way != nil && way.left == nil {
		return false, err
	}
	if way != nil && varies(way.left.State) {
		return true, nil
	}
	o, err := p.before.run(ctx, &script{}, input, usual, part{after: way, leaves: varies}, p.options)
	if err != nil {
		return false, err
	}
	return o.left != nil || slices.ContainsFunc(p.tasks, func(name string) bool { return o.visits[name] > 0 }), nil
}

// mostItems is how many items an inline Map works on at once.
const mostItems = 40

// manyItems is an input whose lists are as long as an inline Map has room for; nil if that
// changes nothing, or the items are not open. The items share one history.
func (p *pair) manyItems(input []byte) []byte {
	inline := func(s *asl.State) bool { return s.Map != nil && !s.Map.Distributed }
	if p.options.Input != nil || !slices.ContainsFunc(slices.Collect(p.before.machine.All), inline) {
		return nil
	}
	var extend func(value any) any
	extend = func(value any) any {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				v[name] = extend(member)
			}
		case []any:
			for i := range v {
				v[i] = extend(v[i])
			}
			for n := len(v); n > 0 && len(v) < mostItems; {
				v = append(v, v[len(v)%n])
			}
			return v
		}
		return value
	}
	text := textOf(extend(readJSON(string(input))))
	if text == textOf(readJSON(string(input))) {
		return nil
	}
	return []byte(text)
}

// tryMany runs the scripts of jobs that never end with many items.
func (p *pair) tryMany(ctx context.Context, input []byte) error {
	for _, role := range p.tasks {
		for _, s := range p.callee(role).scripts(role, p.loops[role] != nil) {
			if !s.never || !s.whole {
				continue
			}
			s.title = fmt.Sprintf("%s, with %d items", s.title, mostItems)
			p.report.Of++
			if _, _, _, err := p.run(ctx, s, input); err != nil {
				return err
			}
		}
	}
	return nil
}
