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
	r := room{loops: 1}
	for n := range c.loops {
		other := &c.loops[n]
		switch {
		case n == i || inOneCycle(&c.loops[i], other) || !c.shareHistory(turnAt(&c.loops[i]), turnAt(other)):
			continue
		case c.countsInCommon(other):
			open, common = open+1, common+1
		case other.Bound.Kind == lint.ByCount && !c.sharesItems(other):
			left -= other.Bound.Events
		default:
			open++
		}
		r.loops++
	}
	r.events = left / open
	if common > 0 && c.countsInCommon(&c.loops[i]) {
		r.pool = left * (common + 1) / open
	}
	if c.sharesItems(&c.loops[i]) {
		r.items = usualItems
		r.events /= r.items
	}
	return r
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

// inOneCycle tells whether two loops are polls of the same laps.
func inOneCycle(a, b *lint.Loop) bool {
	return slices.Contains(a.States, turnAt(b)) && slices.Contains(b.States, turnAt(a))
}

// String says why the room is not a whole history; empty if it is.
func (r room) String() string {
	var why []string
	if r.loops > 1 && r.events < roomyEvents {
		why = append(why, fmt.Sprintf("%d loops share the %s events of the history", r.loops, thousands(asl.MaxEvents)))
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

// sharesItems tells whether a loop runs for each item of a Map, in the history of the
// machine: a child execution of a Distributed Map has its own.
func (c *checked) sharesItems(l *lint.Loop) bool {
	shares := false
	for s := range c.machine.All { // the outer ones first
		if s.Map != nil && isIn(turnAt(l).Position.Pointer, s.Position.Pointer) {
			shares = !s.Map.Distributed
		}
	}
	return shares
}

// shareHistory tells whether two states can run in one execution, one after the other or beside
// each other.
func (c *checked) shareHistory(a, b *asl.State) bool {
	for f := &c.machine.Flow; f != nil; {
		x, y := holder(f, a), holder(f, b)
		if x != y {
			return !isDistributedIn(x, a) && !isDistributedIn(y, b) && (leads(f, x, y) || leads(f, y, x))
		}
		i := slices.IndexFunc(x.Flows(), func(inner *asl.Flow) bool { return holder(inner, a) != nil })
		if i < 0 {
			return true // they are the same
		}
		if f = x.Flows()[i]; holder(f, b) == nil { // in another branch
			return !isDistributedIn(x, a) && !isDistributedIn(x, b)
		}
	}
	return false
}

// turnAt is a state of a loop.
func turnAt(l *lint.Loop) *asl.State {
	if l.Poll != nil {
		return l.Poll
	}
	return l.Waits[0]
}

// holder is the state of a flow that is a state, or has it inside.
func holder(f *asl.Flow, s *asl.State) *asl.State {
	for _, outer := range f.States {
		if isIn(s.Position.Pointer, outer.Position.Pointer) {
			return outer
		}
	}
	return nil
}

// isDistributedIn tells whether a state runs in an execution of its own, in a Distributed Map
// at or inside of another one.
func isDistributedIn(outer, s *asl.State) bool {
	for outer != nil && outer != s {
		if outer.Map != nil && outer.Map.Distributed {
			return true
		}
		var next *asl.State
		for _, f := range outer.Flows() {
			if found := holder(f, s); found != nil {
				next = found
			}
		}
		outer = next
	}
	return false
}

// leads tells whether a state comes before another one of its flow.
func leads(f *asl.Flow, from, to *asl.State) bool {
	seen := map[*asl.State]bool{from: true}
	for queue := []*asl.State{from}; len(queue) > 0; queue = queue[1:] {
		for _, way := range queue[0].Transitions() {
			s := f.State(way.To)
			if s == to {
				return true
			}
			if s != nil && !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return false
}
