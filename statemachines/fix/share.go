package fix

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// share is the part of a history that a new loop may fill where it does not have the history alone.
type share struct {
	events int    // 0 where it has the history alone
	why    string // it does not
	each   string // "item of the Map", or a round, where nobody can count them and all share the history; else empty
}

// findShare leaves a new loop what the others of its history do not use. Those that are replaced with it are to
// have as much. Where nobody knows how many items or rounds share the history, a new loop takes no more of it
// than the old one did at most: as many have room.
func (l *loop) findShare(o Options) share {
	c := &checked{machine: l.machine, root: l.root, options: o.lint(), loops: lint.Loops(l.machine, o.lint())}
	for _, other := range o.pollLoops(l.machine) {
		c.replaced = append(c.replaced, other.Poll.Name)
	}
	r := c.roomOf(l.poll.Name)
	if l.express || r.events >= roomyEvents {
		return share{}
	}
	s := share{events: r.events, why: r.String()}
	if s.events == 0 {
		s.events = -1 // no room, and not a whole history
	}
	switch {
	case r.items > 0:
		s.each = "item of the Map"
	case r.rounds.number == lint.ManyRounds:
		s.each = "round of " + r.rounds.around
	default:
		return s
	}
	if l.bound.Events == 0 || !l.isBounded() {
		return s
	}
	s.events = min(l.bound.Events, roomyEvents)
	s.why = fmt.Sprintf("each %s takes %s events at most, as with the old loop: all share the %s events of the history",
		s.each, thousands(s.events), thousands(asl.MaxEvents))
	return s
}

// describe adds to a text of the compiler why the share is no whole history.
func (s share) describe(text string) string {
	if text == "" || s.why == "" {
		return text
	}
	return text + " (" + s.why + ")"
}

// growsHistory says of a job as long as those of the trials what one item or round takes of the history before and
// after, where it takes more; empty elsewhere.
func (f *fragment) growsHistory(trials []Trial) string {
	if f.share.each == "" || f.turnEvents == 0 || len(trials) == 0 {
		return ""
	}
	t := trials[0]
	before, after := t.Before.Calls*float64(f.turnEvents), t.After.Calls*float64(f.report.EventsPerPoll)
	if after <= before {
		return ""
	}
	return fmt.Sprintf("each %s with a job of these trials takes about %.0f of the %s events of the history, which all share -> about %.0f",
		f.share.each, before, thousands(asl.MaxEvents), after)
}

// isReplaced tells whether a compiled loop takes the place of another in the same run.
func (c *checked) isReplaced(l *lint.Loop) bool {
	return l.Poll != nil && slices.Contains(c.replaced, l.Poll.Name)
}
