package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// roomForLoops are the events of a history without some for what comes before, between and after its loops.
const roomForLoops = asl.MaxEvents - 20

// shareHistories tells the tables which of their loops fill one history. That of an Express
// workflow has no limit.
func (c *checker) shareHistories() {
	histories := c.machine.Histories()
	groups := GroupLoops(c.tables, histories)
	for i := range c.tables {
		l := &c.tables[i]
		if l.Express {
			continue
		}
		together := groups.Of(l)
		bounded := 0 // events of all that are
		for _, other := range together {
			if other == l || other.Bound.Kind != Unbounded {
				bounded += other.Bound.Events
			}
		}
		if len(together) > 1 && (l.Bound.Kind == Unbounded || l.Bound.Events > 0 && bounded > roomForLoops) {
			l.Bound.Loops = len(together)
		}
		l.Bound.Items = histories.ForItems(l.TurnsAt())
	}
}

// Groups are the loops of a machine that one execution may turn in, all of them.
type Groups struct {
	fullest   []*Loop // by the part of a history that they fill
	histories *asl.Histories
	found     map[*Loop]group
}

// group are loops that fill one history.
type group struct {
	loops    []*Loop
	excluded []*Loop // fuller ones, which exclude the first
}

// GroupLoops groups the loops of one machine by its histories.
func GroupLoops(loops []Loop, histories *asl.Histories) *Groups {
	return &Groups{fullest: fullestFirst(loops), histories: histories, found: map[*Loop]group{}}
}

// Of are a loop and those that fill its history with it. Of loops that exclude each other it
// has the one that fills most of the history.
func (g *Groups) Of(l *Loop) []*Loop {
	known, found := g.found[l]
	if found && !slices.ContainsFunc(known.excluded, func(other *Loop) bool { return !g.exclude(l, other) }) {
		return known.loops
	}
	made, seen := group{loops: []*Loop{l}}, false
	for _, other := range g.fullest {
		seen = seen || other == l
		switch {
		case other == l:
		case !slices.ContainsFunc(made.loops, func(in *Loop) bool { return g.exclude(in, other) }):
			made.loops = append(made.loops, other)
		case !seen:
			made.excluded = append(made.excluded, other)
		}
	}
	for _, in := range made.loops {
		if _, found := g.found[in]; !found || in == l {
			g.found[in] = made
		}
	}
	return made.loops
}

// exclude tells whether no history has both loops, or both have the same laps.
func (g *Groups) exclude(a, b *Loop) bool {
	return turnsWith(a, b) || !g.histories.Share(a.TurnsAt(), b.TurnsAt())
}

// fullestFirst are the loops by the part of a history that they fill: a loop without a count
// takes what others leave, half of it.
func fullestFirst(loops []Loop) []*Loop {
	all := make([]*Loop, len(loops))
	for i := range loops {
		all[i] = &loops[i]
	}
	fills := func(l *Loop) int {
		if l.Bound.Kind == ByCount {
			return l.Bound.Events
		}
		return asl.MaxEvents / 2 //nolint:mnd // half
	}
	slices.SortStableFunc(all, func(a, b *Loop) int { return fills(b) - fills(a) })
	return all
}

// TurnsAt is a state of the loop.
func (l *Loop) TurnsAt() *asl.State {
	switch {
	case l.Poll != nil:
		return l.Poll
	case len(l.Waits) > 0:
		return l.Waits[0]
	default:
		return l.States[0]
	}
}

// turnsWith tells whether two loops are polls of the same laps.
func turnsWith(a, b *Loop) bool {
	return slices.Contains(a.States, b.TurnsAt()) && slices.Contains(b.States, a.TurnsAt())
}

// isShared tells whether something else fills the history of the loop, too.
func (b *Bound) isShared() bool { return b.Loops > 1 || b.Items }

// events says how many there are, and who fills them with the loop.
func (b *Bound) events() string {
	all := thousands(asl.MaxEvents) + " events"
	loops := fmt.Sprintf("%d loops", b.Loops)
	switch {
	case b.Loops > 1 && b.Items:
		return all + " that " + loops + " and all items of the Map share"
	case b.Loops > 1:
		return all + " that " + loops + " share"
	case b.Items:
		return all + " that all items of the Map share"
	default:
		return all
	}
}

// earlier says where the history of a loop that has a bound may be full before; empty where
// nothing else fills it.
func (b *Bound) earlier() string {
	switch {
	case b.fillsInRounds() && b.Rounds == ManyRounds:
		return ", or earlier at " + thousands(asl.MaxEvents) + " events that all rounds of the outer loop share"
	case b.fillsInRounds():
		return fmt.Sprintf(", or earlier at %s events that up to %d rounds of the outer loop share", thousands(asl.MaxEvents), b.Rounds)
	case b.Kind == ByTime && !b.isShared() && b.Events > mostEvents: // with the shortest of waits that are drawn
		return ", or earlier at " + b.events()
	case b.Events == 0 || !b.isShared():
		return ""
	}
	return ", or earlier at " + b.events()
}

// inRounds says that each round of an outer loop counts anew, where earlier does not.
func (b *Bound) inRounds() string {
	switch {
	case b.Shared:
		return ", counted over all rounds of the outer loop"
	case b.Rounds > 1 && !b.fillsInRounds():
		return fmt.Sprintf(", in each of up to %d rounds of the outer loop", b.Rounds)
	default:
		return ""
	}
}

// fillsInRounds tells whether the rounds of an outer loop may fill the history, each with as
// many events as the bound allows.
func (b *Bound) fillsInRounds() bool {
	return b.Rounds == ManyRounds || b.Rounds*b.Events > roomForLoops
}
