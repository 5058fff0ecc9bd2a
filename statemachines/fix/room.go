package fix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// room is the part of a history that a loop may fill.
type room struct {
	events int // alone
	pool   int // together with all loops that count the same variable; 0 if it cannot
	loops  int // that share the history, with the loop itself
	rounds rounds
	items  int // that share the events; 0 outside of a Map
}

// historyVariable counts the events of all loops of a machine that have a count in common.
const historyVariable = "loopEvents"

// roomOf leaves a loop what the others of its history do not use: the events of their bounds,
// or the same share as the loop's own where nothing says how many they take.
func (c *checked) roomOf(poll string) room {
	i := slices.IndexFunc(c.loops, func(l lint.Loop) bool { return l.Poll != nil && l.Poll.Name == poll })
	if i < 0 {
		return room{events: roomyEvents, loops: 1}
	}
	left, open, common := roomyEvents, 1, 0 // common are those that count with it
	if c.groups == nil {
		c.groups = lint.GroupLoops(c.loops, c.machine.Histories())
	}
	all := c.groups.Of(&c.loops[i])
	for _, other := range all {
		switch {
		case other == &c.loops[i]:
		case c.countsInCommon(other):
			open, common = open+1, common+1
		case c.isReplaced(other):
			open++
		case takesKnown(other) && !c.sharesItems(other):
			left -= other.Bound.Events
		default:
			open++
		}
	}
	r := room{events: left / open, loops: len(all), rounds: c.roundsOf(&c.loops[i])}
	switch n := r.rounds.number; {
	case n == lint.ManyRounds:
		r.events /= usualRounds
	case n > 1:
		r.events /= n
	}
	if common > 0 && c.countsInCommon(&c.loops[i]) {
		r.pool = left * (common + 1) / open
	}
	if c.sharesItems(&c.loops[i]) {
		r.items = usualItems
		r.events /= r.items
	}
	return r
}

// takesKnown tells whether it is known how many events a loop takes at most.
func takesKnown(l *lint.Loop) bool {
	return l.Bound.Kind == lint.ByCount || l.Bound.Kind == lint.ByTime && l.Bound.Events > 0
}

// countsInCommon tells whether a loop counts the events of all loops of the machine, or can.
func (c *checked) countsInCommon(l *lint.Loop) bool {
	if l.Flow != &c.machine.Flow || l.Retries || l.Poll == nil {
		return false
	}
	return l.Bound.Kind == lint.Unbounded && waitsAlike(l) || slices.ContainsFunc(l.States, func(s *asl.State) bool {
		return bytes.Contains(nodeAt(c.root, s.Position.Pointer).Raw(), []byte("$"+historyVariable))
	})
}

// String says why the room is not a whole history; empty if it is.
func (r room) String() string {
	var why []string
	if r.loops > 1 && r.events < roomyEvents {
		why = append(why, fmt.Sprintf("%d loops share the %s events of the history", r.loops, thousands(asl.MaxEvents)))
	}
	switch n := r.rounds.number; {
	case n == lint.ManyRounds:
		why = append(why, fmt.Sprintf("more than %d rounds of %s fill the history first", usualRounds, r.rounds.around))
	case n > 1:
		why = append(why, fmt.Sprintf("up to %d rounds of %s share the %s events of the history", n, r.rounds.around, thousands(asl.MaxEvents)))
	}
	if r.items > 0 {
		why = append(why, itemsThatFill(r.items))
	}
	return strings.Join(why, "; ")
}

// forItems says of how many items the room is one; empty outside of a Map.
func (r room) forItems() string {
	if r.items == 0 {
		return ""
	}
	return fmt.Sprintf(" for %d items", r.items)
}

func itemsThatFill(items int) string {
	if items < 2 { //nolint:mnd // of one, there are no more
		return "one item nearly fills the history"
	}
	return fmt.Sprintf("more than %d items fill the history first", items)
}

// sharesItems tells whether a loop runs for each item of a Map, in the history of the machine.
func (c *checked) sharesItems(l *lint.Loop) bool { return c.machine.Histories().ForItems(l.TurnsAt()) }
