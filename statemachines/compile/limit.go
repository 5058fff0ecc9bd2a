package compile

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// limit is the TimeoutSeconds of a whole machine. It ends an execution that hangs,
// and no other: it is longer than the max wait with all that can come besides, where
// each attempt takes its whole time and every retry is needed. It has whole hours, and
// leaves a margin to Step Functions itself. A redrive has the limit anew.
func (p *plan) limit(all states) int {
	const margin, hour = 10 * 60, 60 * 60
	seconds := p.total + p.hi + p.jitter + margin     // a delay may begin right before the deadline
	if ends := endsOf(0, p.phases()); len(ends) > 0 { // an Output that never sees the clock has the last phase whole
		seconds += int(ends[len(ends)-1] / time.Second)
	}
	if p.collected {
		seconds += backstop
	}
	for _, s := range all {
		if s.fields["Type"] != "Task" {
			continue
		}
		times := 1 // behind the deadline
		if p.delays == even && s.fields["Resource"] == resource(p.call.Operation) {
			times = p.calls() // it counts, and has no clock
		}
		retriers, _ := s.fields["Retry"].([]retrier)
		call := callTimeout
		if p.own != nil && s.fields["Resource"] == p.own.resource() {
			retriers, call = retriersOf(p.ownFaults()), callLasts(s.fields)
		}
		seconds += times * lasts(retriers, call)
	}
	return min((seconds+hour-1)/hour*hour, int(asl.MaxStandardTime/time.Second))
}

// lasts is how long a call that may take so many seconds can take with its retries, in seconds.
func lasts(retriers []retrier, call int) int {
	seconds := call
	for _, r := range retriers {
		if !r.clocked {
			seconds += r.MaxAttempts*call + r.lasts()
		}
	}
	return seconds
}
