package fix

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// unbounded is the max wait in place of a loop that only a full history ends, or a time
// that the definition does not show: nobody has chosen how long such a loop waits.
const unbounded = 24 * time.Hour

// maxWait is how long the new loop waits: as long as the old one did, but for one that
// nobody has bounded. It stays below the limit of the machine, which would end the
// execution before the loop does. The note says where it differs from the old loop, and
// is empty elsewhere.
func (l *loop) maxWait(o Options) (wait time.Duration, note string) {
	most, limit, lead := l.longestWait(o)
	least := l.leastWait()
	if o.MaxWait > 0 {
		wait = max(o.MaxWait.Truncate(time.Second), least)
		switch {
		case limit == 0 || wait <= most:
		case l.isBounded() && !fits(wait, limit, lead): // nothing would get to where the old bound leads
			note = fmt.Sprintf("the new loop waits %s, and not %s, to end before the %s does, %s after its start%s",
				spell(max(most, least)), spell(wait), l.execution(), spell(limit), lead)
			wait = max(most, least)
		default:
			note = fmt.Sprintf("the %s ends %s after its start%s, maybe before this loop does with its max wait of %s", l.execution(), spell(limit), lead, spell(wait))
		}
		return wait, note
	}
	old := cmp.Or(l.bound.Deadline, l.bound.After)
	old = max(0, old-l.bound.Ahead)
	if l.bound.Kind == lint.ByBranch && old > 0 {
		old += max(old/4, 10*time.Minute) //nolint:mnd // the branch goes on to end the loop
	}
	if wait = old; l.bound.Kind == lint.Unbounded || old == 0 {
		wait = min(cmp.Or(old, unbounded), unbounded)
	}
	if !l.keepsBound(limit, lead) {
		wait = min(wait, most)
	}
	wait = max(wait.Truncate(time.Second), least)
	switch {
	case old == 0 && l.bound.Kind == lint.ByBranch:
		note = fmt.Sprintf("the branch with %q may end the new loop earlier, as it ends the old one: change its max wait of %s with --max-wait",
			l.bound.At[0], spell(wait))
	case old == 0:
		note = fmt.Sprintf("the definition does not say how long the old loop waited%s. "+
			"The new one waits %s: change that with --max-wait", l.mostPolls(), spell(wait))
	case wait < old && limit > 0 && wait == max(most, least):
		note = fmt.Sprintf("the new loop waits %s, to end before the %s does, %s after its start%s%s. "+
			"The loop gives up a job that ends later: change that with --max-wait",
			spell(wait), l.execution(), spell(limit), lead, l.ownWait(limit))
	case wait < old.Truncate(time.Second):
		note = fmt.Sprintf("the new loop waits %s, the old one %s, until its history was full: change that with --max-wait", spell(wait), spell(old))
	}
	return wait, note
}

// mostPolls says how often the old loop polled at most; empty if it counted nothing.
func (l *loop) mostPolls() string {
	if l.bound.Kind != lint.ByCount || l.bound.Polls == 0 {
		return ""
	}
	return fmt.Sprintf(" for its %d polls", l.bound.Polls)
}

// keepsBound tells whether the old loop has a bound of its own, behind which the execution has time left
// for the last call.
func (l *loop) keepsBound(limit time.Duration, before lead) bool {
	return l.isBounded() && l.bound.After > 0 && !l.express && fits(l.bound.After-l.bound.Ahead, limit, before)
}

// fits tells whether an execution has time for a wait, and for the last call behind it.
func fits(wait, limit time.Duration, before lead) bool {
	return before.loops == 1 && wait+before.lasts+time.Minute <= limit
}

// ownWait says how long the old loop waited, where that ended before the execution; empty elsewhere.
func (l *loop) ownWait(limit time.Duration) string {
	if !l.isBounded() || l.bound.After >= limit {
		return ""
	}
	return "; the old one waited " + spell(l.bound.After-l.bound.Ahead)
}

// checkTime refuses a loop for which the execution has no time left, unless the user says how long it
// waits.
func (l *loop) checkTime(o Options) error {
	most, limit, lead := l.longestWait(o)
	if o.MaxWait > 0 || most >= l.leastWait() {
		return nil
	}
	change := "raise TimeoutSeconds"
	if limit == asl.MaxExpressTime && l.express {
		change = "wait less before it"
	}
	if lead.lasts >= limit { // which no max wait changes
		return refuse("the %s ends %s after its start, before the loop begins: %s", l.execution(), spell(limit), change)
	}
	return refuse("the %s ends %s after its start%s, too early for a loop of %s: %s, or pass --max-wait",
		l.execution(), spell(limit), lead, spell(l.leastWait()), change)
}

// leastWait is how long a new loop has to wait at least.
func (l *loop) leastWait() time.Duration {
	return max(time.Minute, time.Duration(l.first+1)*time.Second)
}

// longestWait leaves some of the execution's time to the states around the loop, to other loops,
// and to the end of this one: its last delay and call with retries. The limit is that of the
// execution, 0 if it has none.
func (l *loop) longestWait(o Options) (most, limit time.Duration, before lead) {
	const end, share, express = 10 * time.Minute, 4, 30 * time.Second
	limit = time.Duration(l.machine.TimeoutSeconds) * time.Second
	least := end
	switch {
	case l.express && (limit == 0 || limit >= asl.MaxExpressTime):
		limit, least = asl.MaxExpressTime, express
	case limit == 0:
		return asl.MaxStandardTime, 0, before
	}
	before = l.findLead(o)
	left := max(0, limit-before.lasts) / time.Duration(before.loops)
	return left - min(left/share, least), limit, before
}

// execution names what ends at the limit.
func (l *loop) execution() string {
	if l.child {
		return "child execution"
	}
	return "machine"
}

// spell writes a time as flags take it: "24h", "1h50m".
func spell(d time.Duration) string {
	text := d.Truncate(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
