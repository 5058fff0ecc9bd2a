package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// shareHistories tells the tables which of their loops fill one history.
func (c *checker) shareHistories() {
	histories := c.machine.Histories()
	for i := range c.tables {
		l := &c.tables[i]
		bounded := l.Bound.Events // of all that are, together
		loops := 1
		for n := range c.tables {
			other := &c.tables[n]
			if n == i || turnsWith(l, other) || !histories.Share(l.turnsAt(), other.turnsAt()) {
				continue
			}
			loops++
			if other.Bound.Kind != Unbounded {
				bounded += other.Bound.Events
			}
		}
		if loops > 1 && (l.Bound.Kind == Unbounded || l.Bound.Events > 0 && bounded > roomForTurns) {
			l.Bound.Loops = loops
		}
		l.Bound.Items = histories.ForItems(l.turnsAt())
	}
}

// turnsAt is a state of the loop.
func (l *Loop) turnsAt() *asl.State {
	if l.Poll != nil {
		return l.Poll
	}
	return l.Waits[0]
}

// turnsWith tells whether two loops are polls of the same laps.
func turnsWith(a, b *Loop) bool {
	return slices.Contains(a.States, b.turnsAt()) && slices.Contains(b.States, a.turnsAt())
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
	if b.Events == 0 || !b.isShared() {
		return ""
	}
	return ", or earlier at " + b.events()
}
