package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkAllRounds reports a count that no job of an outer loop sets anew, where each job is started when the one before
// has ended: the polls of a job are missing to those behind it.
func (c *checker) checkAllRounds(l *loop, r *reading) {
	inner := l.innermost(r.polled(), c.waysOf(l.flow).before)
	if r.Bound.Kind != ByCount && r.Bound.Kind != ByOther || r.boundGoesOn || r.Bound.Error != "" || len(inner.states) == len(l.states) {
		return
	}
	outer := slices.DeleteFunc(slices.Clone(l.states), func(s *asl.State) bool { return inner.inside[s.Name] })
	start := slices.IndexFunc(outer, Changes)
	if start < 0 || !c.takesNext(l, r, outer) {
		return
	}
	states, counts := c.placeIn(l, r, inner, &Bound{Kind: ByCount})
	if len(states) != 1 || len(counts) != 1 {
		return
	}
	choice, count := l.flow.State(states[0]), counts[0]
	leaves := func(way asl.Transition) bool { return !l.inside[way.To] }
	resets := func(s *asl.State) bool { return setsToOther(s, lastName(count)) }
	gives := func(s *asl.State) bool { return mayGive(s, lastName(count)) }
	if !slices.ContainsFunc(choice.Transitions(), leaves) || slices.ContainsFunc(outer, gives) || slices.ContainsFunc(inner.states, resets) {
		return
	}
	c.report(EarlyBound, choice, "", "%s counts the polls of all jobs of the outer loop, as no state sets it anew: "+
		"a later job has only the polls that earlier jobs leave, and may be given up at its first poll; set it anew in %q, before each job", count, outer[start].Name)
}

// takesNext tells whether an outer loop goes on to the next of several jobs: after a success, or until a list is empty.
func (c *checker) takesNext(l *loop, r *reading, outer []*asl.State) bool {
	if r.status == nil {
		b := c.boundsOf(l)
		return slices.ContainsFunc(outer, func(s *asl.State) bool {
			return s.Choice != nil && slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return b.limits[s][way] }) && looksAtList(b, s)
		})
	}
	return slices.ContainsFunc(r.status.values, func(value string) bool {
		return r.status.meaning(r.judges, value) == MeansSuccess && slices.ContainsFunc(r.routes[value], func(way route) bool {
			return slices.ContainsFunc(outer, func(s *asl.State) bool { return slices.Contains(way.path, s.Name) })
		})
	})
}

// looksAtList tells whether a rule of a Choice looks at a list that gets shorter.
func looksAtList(b *bounds, s *asl.State) bool {
	for i := range s.Choice.Rules {
		for _, o := range operandsOfRule(&s.Choice.Rules[i]) {
			if name := lastName(o.String()); b.lists[name] || b.used[name] {
				return true
			}
		}
	}
	return false
}

// setsToOther tells whether a state may give a name a value that does not follow from its own.
func setsToOther(s *asl.State, called string) bool {
	if s.Pass != nil && s.Pass.HasResult {
		return true
	}
	for _, t := range templatesOf(s) {
		if m := memberOf(t, called); m != nil && (m.Literal != nil || m.Path != nil) {
			return true
		}
		other := false
		forExpressions("", t, func(name, text string) { other = other || name == called && !holdsItself(called, text) })
		if other {
			return true
		}
	}
	return false
}
