package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// findReset finds a way around a loop on which a state sets anew what the loop counts, so that the count
// never ends it: such as back from a second poll to in front of the first. It is nil if there is none, or
// if the loop turns for ever in another way. It looks once.
func (c *checker) findReset(l *loop) *loop {
	b := c.boundsOf(l)
	if b.resetKnown || len(b.open()) > 0 || b.foreign {
		return b.reset
	}
	b.resetKnown = true
	for _, s := range l.states {
		given := func(name string) bool { return mayGive(s, name) }
		if !slices.ContainsFunc(b.counters.names(), given) {
			continue
		}
		cycles, _ := l.cycles(s)
		for _, hops := range cycles {
			if c.goesRoundAnyhow(b, hops) {
				b.reset = loopOf(l, hops)
				b.reset.resets, b.reset.counts = s, c.countsOn(b, hops)
				return b.reset
			}
		}
	}
	return nil
}

// goesRoundAnyhow tells whether a way around a loop can be taken again and again: it passes a bound, which
// holds on it for no value that its first state is entered with, and else depends on answers alone.
func (c *checker) goesRoundAnyhow(b *bounds, hops []hop) bool {
	env, passes, waits := c.types.Input(hops[0].state), false, false
	for i, h := range hops {
		if Changes(h.state) {
			return false
		}
		ways := c.types.Step(h.state, env, c.types.Result(h.state))
		taken := slices.IndexFunc(ways, func(way typecheck.Way) bool { return way.Transition == h.way })
		if taken < 0 {
			return false
		}
		limits := b.limits[h.state]
		for _, way := range ways[:taken] {
			if limits[way.Transition] {
				return false
			}
		}
		if limits[h.way] && taken+1 < len(ways) || h.state.Choice != nil && (!b.asksAnswers(hops, i) || !b.countsAnew(hops, i)) {
			return false
		}
		passes, waits = passes || b.passes[h.state][h.way], waits || passesTime(h.state)
		env = ways[taken].Env
	}
	return passes && waits
}

// asksAnswers tells whether the rules of a Choice on a way around a loop look only at answers of Tasks on
// that way, at bounds, and at values that no state on that way changes.
func (b *bounds) asksAnswers(hops []hop, at int) bool {
	choice, round := hops[at].state, slices.Concat(hops[at:], hops[:at])
	for _, way := range choice.Transitions() {
		if way.Kind != asl.TransitionRule || b.limits[choice][way] {
			continue
		}
		for _, o := range operandsOfRule(&choice.Choice.Rules[way.Rule]) {
			t := traceBack(round, o)
			if answers := len(t.from) == 0 && strings.Contains(t.text, "result of "); !answers && t.text != o.String() {
				return false
			}
		}
		if way == hops[at].way {
			break
		}
	}
	return true
}

// countsAnew tells whether all that the bounds of a Choice on a way count is set on the way before it.
func (b *bounds) countsAnew(hops []hop, at int) bool {
	choice := hops[at].state
	for way, limits := range b.limits[choice] {
		if !limits {
			continue
		}
		for _, o := range operandsOfRule(&choice.Choice.Rules[way.Rule]) {
			if t := traceBack(hops[:at], o); b.counters[lastName(o.String())] && (len(t.from) > 0 || strings.Contains(t.text, "nothing")) {
				return false
			}
		}
	}
	return true
}

// countsOn are the counts that the Choices on a way around a loop look at.
func (c *checker) countsOn(b *bounds, hops []hop) []string {
	var all []string
	for _, h := range hops {
		for _, way := range h.state.Transitions() {
			if !b.limits[h.state][way] {
				continue
			}
			for _, part := range partsOf(&h.state.Choice.Rules[way.Rule]) {
				all = append(all, c.operandsOfBound(b, ByCount, part)...)
			}
		}
	}
	return compact(all)
}

// loopOf is one way around a loop.
func loopOf(l *loop, hops []hop) *loop {
	one := &loop{flow: l.flow, inside: map[string]bool{}, taken: func(s *asl.State, way asl.Transition) bool {
		return slices.Contains(hops, hop{s, way})
	}}
	for _, s := range l.states {
		if slices.ContainsFunc(hops, func(h hop) bool { return h.state == s }) {
			one.states = append(one.states, s)
			one.inside[s.Name] = true
		}
	}
	return one
}
