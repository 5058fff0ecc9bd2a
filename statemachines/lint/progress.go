package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// demandOf tells which parts of a state's result the machine reads; nil where that is not known.
func (c *checker) demandOf(s *asl.State) *typecheck.Demand {
	if c.demands == nil {
		if c.demands = c.types.Demands(); c.demands == nil {
			return nil
		}
	}
	return c.demands.Result(s)
}

// answeredIn are the names that a rule compares and that the answer of a poll of the loop gives, such as the percentage
// of a job that is done: only the job can change them. A function may count what each call gives back to it.
func (c *checker) answeredIn(l *loop, s *asl.State, rule int) counters {
	found := counters{}
	for _, o := range operandsOfRule(&s.Choice.Rules[rule]) {
		givers := c.giversOf(l, s, o, map[string]bool{})
		counts := func(giver *asl.State) bool { return !c.isPollOf(l, giver) || isForeign(giver) && readsAgain(giver, o) }
		if len(givers) > 0 && !slices.ContainsFunc(givers, counts) {
			found[lastName(o.String())] = true
		}
	}
	return found
}

// readsAgain tells whether the arguments of a call name an operand.
func readsAgain(s *asl.State, o operand) bool {
	t := argumentsOf(s)
	return t != nil && slices.ContainsFunc((scope{}).template(t, nil).operands, func(read operand) bool { return read.String() == o.String() })
}

// giversOf are the states of a loop of whose results a value is made that a state of the loop reads.
func (c *checker) giversOf(l *loop, reader *asl.State, o operand, seen map[string]bool) []*asl.State {
	key := reader.Name + " " + o.String()
	if seen[key] {
		return nil
	}
	seen[key] = true
	var givers []*asl.State
	for _, before := range c.waysOf(l.flow).before[reader.Name] {
		for _, way := range before.Transitions() {
			if way.To != reader.Name || !l.inside[before.Name] {
				continue
			}
			f := hop{before, way}.origin(o)
			if f.call {
				givers = append(givers, before)
			}
			for _, part := range f.operands {
				givers = append(givers, c.giversOf(l, before, part, seen)...)
			}
		}
	}
	return givers
}

// isPollOf tells whether a state asks for the job of a loop: it is the only one there that asks anything, or
// the machine compares texts of its answer, which no function that counts turns has.
func (c *checker) isPollOf(l *loop, s *asl.State) bool {
	if !mayAsk(s) {
		return false
	}
	if !slices.ContainsFunc(l.states, func(other *asl.State) bool { return other != s && mayAsk(other) }) {
		return true
	}
	demand := c.demandOf(s)
	return demand != nil && slices.ContainsFunc(demand.Compared(), func(part typecheck.Compared) bool { return len(part.Texts)+len(part.Patterns) > 0 })
}
