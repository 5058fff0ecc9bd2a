package fix

import (
	"slices"
	"strings"

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

// sameLoop is the loop of the same poll in another text; nil if there is none.
func (c *checked) sameLoop(l *lint.Loop) *lint.Loop {
	i := slices.IndexFunc(c.loops, func(other lint.Loop) bool { return other.Poll != nil && other.Poll.Name == l.Poll.Name })
	if i < 0 {
		return nil
	}
	return &c.loops[i]
}

// restarts are the statuses of a loop that lead to the start of the job.
func restarts(l *lint.Loop) []string {
	var all []string
	for _, row := range l.Rows {
		if row.Ends == lint.StartsAgain {
			all = append(all, row.Values...)
		}
	}
	return all
}
