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
	most, limit := l.longestWait(o)
	least := max(time.Minute, time.Duration(l.first+1)*time.Second)
	if o.MaxWait > 0 {
		wait = max(o.MaxWait.Truncate(time.Second), least)
		if limit > 0 && wait > most {
			note = fmt.Sprintf("the machine ends %s after its start, maybe before this loop does with its max wait of %s", spell(limit), spell(wait))
		}
		return wait, note
	}
	old := l.bound.After
	if wait = old; l.bound.Kind == lint.Unbounded || old == 0 {
		wait = min(cmp.Or(old, unbounded), unbounded)
	}
	wait = max(min(wait, most).Truncate(time.Second), least)
	switch {
	case old == 0:
		note = fmt.Sprintf("the definition does not say how long the old loop waited. The new one waits %s: change that with --max-wait", spell(wait))
	case wait < old && limit > 0 && wait == max(most, least):
		note = fmt.Sprintf("the new loop waits %s, to end before the machine does, %s after its start: change that with --max-wait", spell(wait), spell(limit))
	case wait < old.Truncate(time.Second):
		note = fmt.Sprintf("the new loop waits %s, the old one %s, until its history was full: change that with --max-wait", spell(wait), spell(old))
	}
	return wait, note
}

// longestWait leaves some of the machine's time to the end of the loop: the last delay
// and call with its retries, and the states around it. The limit is that of the machine; 0
// if it has none.
func (l *loop) longestWait(o Options) (most, limit time.Duration) {
	const end, share, express = 10 * time.Minute, 4, 30 * time.Second
	limit = time.Duration(l.machine.TimeoutSeconds) * time.Second
	switch {
	case o.Express && (limit == 0 || limit >= asl.MaxExpressTime):
		return asl.MaxExpressTime - express, asl.MaxExpressTime
	case limit == 0:
		return asl.MaxStandardTime, 0
	default:
		return limit - min(limit/share, end), limit
	}
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
