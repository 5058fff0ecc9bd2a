package fix

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// startsAgainBy says that a text leads statuses to the start of the job which another one leads elsewhere; empty if it
// does not. A trial run shows the last end alone.
func (c *checked) startsAgainBy(after *checked, f lint.Finding) string {
	l := c.loopOf(c.stateAt(f))
	if l == nil || l.Poll == nil || after.sameLoop(l) == nil {
		return ""
	}
	before, now := restarts(l), restarts(after.sameLoop(l))
	var added []string
	for _, status := range now {
		if !slices.Contains(before, status) {
			added = append(added, status)
		}
	}
	if len(added) == 0 {
		return ""
	}
	return "; with " + strings.Join(added, ", ") + " the machine may start another job first"
}

// losesRestart is a status with which an edit for a finding no longer lets the machine start the job again; empty for none.
func (c *checked) losesRestart(after *checked, f lint.Finding) string {
	l := c.loopOf(c.stateAt(f))
	if f.Rule == lint.RepeatedStart || l == nil || l.Poll == nil || after.sameLoop(l) == nil {
		return ""
	}
	kept := restarts(after.sameLoop(l))
	for _, status := range restarts(l) {
		if !slices.Contains(kept, status) {
			return status
		}
	}
	return ""
}

// sameLoop is the loop of the same poll in another text; nil if there is none.
func (c *checked) sameLoop(l *lint.Loop) *lint.Loop {
	i := slices.IndexFunc(c.loops, func(other lint.Loop) bool { return other.Poll != nil && other.Poll.Name == l.Poll.Name })
	if i < 0 {
		return nil
	}
	return &c.loops[i]
}

// leadUsedUp leads the way of a failure behind which the job is not started again where failures go, or to a new Fail: the
// starts stay.
func (e *statusEdit) leadUsedUp(f lint.Finding) {
	s, at := e.stateAt(f), nodeAt(e.root, f.Pointer)
	if s.Choice == nil || at == nil || at.Kind != jsontree.String || len(e.loop.Waits) == 0 {
		return
	}
	for _, next := range failureRoutes(e.loop) {
		e.add(edit.Edit{Op: edit.Replace, At: f.Pointer, Value: jsontree.Quote(next)})
	}
	name := e.newName(e.loop.Poll.Name + " failed")
	fail := value("Type", "Fail", "Error", errorName(e.loop, "Failed"))
	e.add(edit.Edit{Op: edit.Replace, At: f.Pointer, Value: jsontree.Quote(name)},
		edit.Edit{Op: edit.Before, At: e.loop.Waits[0].Position.Pointer, Name: name, Value: fail})
}

// restarts are the statuses of a loop that lead to the start of the job.
func restarts(l *lint.Loop) []string {
	var all []string
	for _, row := range l.Rows {
		if row.Ends == lint.StartsAgain || row.Restarts {
			all = append(all, row.Values...)
		}
	}
	return all
}
