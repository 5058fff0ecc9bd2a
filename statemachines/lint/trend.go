package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// boundsOf returns the bounds of a loop, which it looks for once.
func (c *checker) boundsOf(l *loop) *bounds {
	if l.bounds == nil {
		clock := c.readsClock()
		trends := map[*loop]map[*asl.State]typecheck.Env{l: {}}
		if clock {
			trends[l] = c.findTrends(l)
		}
		renewed := false
		l.bounds = newBounds(l, func(s *asl.State, rule int) typecheck.Trend {
			if trend := c.types.Trend(s, rule, trends[l][s]); trend != typecheck.NoTrend && trend != typecheck.Stays || !clock {
				return trend
			}
			inner := l.innermost(s, c.waysOf(l.flow).before) // a deadline that an outer loop sets anew ends each of its rounds
			if trends[inner] == nil {
				trends[inner] = c.findTrends(inner)
			}
			trend := c.types.Trend(s, rule, trends[inner][s])
			renewed = renewed || trend == typecheck.Grows || trend == typecheck.Falls || trend == typecheck.Moves
			return trend
		}, func(s *asl.State, rule int) counters { return c.answeredIn(l, s, rule) })
		l.bounds.renewed = renewed
		l.bounds.clock = clock
		c.closeUntaken(l.bounds)
		l.bounds.closeProgress()
	}
	return l.bounds
}

// closeUntaken closes the ways that no turn of a loop takes: those of rules that ask whether a value is there, and never
// hold. Other rules that never hold may be meant otherwise, such as one that compares a misspelt member.
func (c *checker) closeUntaken(b *bounds) {
	for s, passes := range b.passes {
		in := c.types.Input(s)
		if !in.IsReachable() {
			continue
		}
		ways := c.types.Step(s, in, typecheck.Unknown())
		taken := func(way asl.Transition) bool {
			return slices.ContainsFunc(ways, func(w typecheck.Way) bool { return w.Transition == way })
		}
		all := s.Transitions()
		for i, way := range all {
			if way.Kind == asl.TransitionRule && !taken(way) && asksPresence(&s.Choice.Rules[way.Rule]) && slices.ContainsFunc(all[i+1:], taken) {
				passes[way] = true
			}
		}
	}
}

// asksPresence tells whether a rule is about nothing but whether a value is there.
func asksPresence(r *asl.ChoiceRule) bool {
	if r.Expression == nil {
		t := readCondition(&r.Condition)
		return t.exists && len(t.all)+len(t.any) == 0
	}
	if r.Expression.Expression == nil {
		return false
	}
	part := r.Expression.Expression.Part()
	for part.Kind == jsonata.PartCall && part.Text == "not" && len(part.Parts) == 1 {
		part = part.Parts[0]
	}
	return part.Kind == jsonata.PartCall && part.Text == "exists"
}

// readsClock tells whether a state of the machine reads the time that goes on, or whether
// somebody has redriven the execution.
func (c *checker) readsClock() bool {
	return c.mentions("EnteredTime") || c.mentions("$now(") || c.mentions("$millis(") || c.mentions("Redrive")
}

// mostVisits is how often a state is entered by findTrends.
const mostVisits = 8

// findTrends returns the environment in which each state of a loop is entered, over all laps.
// Values that change with the clock have their trend in it.
func (c *checker) findTrends(l *loop) map[*asl.State]typecheck.Env {
	envs, visits := map[*asl.State]typecheck.Env{}, map[*asl.State]int{}
	open := c.entriesOf(l)
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		s, env := next.state, next.env.At(typecheck.SomeTime)
		if before, known := envs[s]; known {
			if env = before.Widen(env); env.Equal(before) {
				continue
			}
		}
		envs[s] = env
		if visits[s]++; visits[s] > mostVisits {
			continue
		}
		for _, way := range c.types.Step(s, env, c.types.Result(s)) {
			if l.inside[way.To] {
				open = append(open, entry{l.flow.State(way.To), way.Env})
			}
		}
	}
	return envs
}

// entry is how a flow comes into a loop.
type entry struct {
	state *asl.State
	env   typecheck.Env
}

// entriesOf are the ways into a loop.
func (c *checker) entriesOf(l *loop) []entry { return c.entriesBy(c.types, l) }

// entriesBy are the ways into a loop by the types of an execution.
func (c *checker) entriesBy(types *typecheck.Checker, l *loop) []entry {
	var out []entry
	if s := l.flow.State(l.flow.StartAt); l.inside[s.Name] {
		out = append(out, entry{s, types.Entry(l.flow)})
	}
	var before []*asl.State
	for _, s := range l.states {
		for _, from := range c.waysOf(l.flow).before[s.Name] {
			if !l.inside[from.Name] && !slices.Contains(before, from) {
				before = append(before, from)
			}
		}
	}
	for _, s := range before {
		for _, way := range types.Step(s, types.Input(s), types.Result(s)) {
			if l.inside[way.To] {
				out = append(out, entry{l.flow.State(way.To), way.Env})
			}
		}
	}
	return out
}
