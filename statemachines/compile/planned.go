package compile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Schedule says when the machine polls. Where Options.Schedule asks for delays that
// the strategy cannot hold, it has those that the machine has instead. The strategies
// Loop, RetryTask and LambdaRetry do not cut the last delay: their last poll comes
// after the deadline.
func (c *Compiled) Schedule() pollcore.Schedule { return c.plan.rule() }

// selectDelay is JSONata for the delay after $attempt calls, from an array of them:
// the last one is that of all later calls.
func (d *draft) selectDelay() string {
	between := slices.Concat(d.planned.Delays[1:], []time.Duration{d.planned.Then})
	seconds := make([]string, len(between))
	for i, delay := range between {
		seconds[i] = fmt.Sprint(int(delay / time.Second))
	}
	return fmt.Sprintf("[%s][$min([$%s - 1, %d])]", strings.Join(seconds, ", "), d.variable("attempt"), len(seconds)-1)
}

// Hold returns the schedule that a machine has where this one is asked for, and whether
// that is the same. A Retry block holds the first delay and one other: the mean of those
// that the schedule lists.
func (s Strategy) Hold(p pollcore.Planned) (held pollcore.Planned, same bool) {
	between := listBetween(p)
	if len(between) == 0 || !s.PollsByRetry() {
		return p, true
	}
	sum := time.Duration(0)
	for _, d := range between {
		sum += d
	}
	mean := (sum / time.Duration(len(between))).Round(time.Second)
	return pollcore.Planned{Delays: p.Delays[:1], Then: mean}, false
}

// listBetween are the delays between calls that a schedule lists, without those at
// the end that are as all later ones.
func listBetween(p pollcore.Planned) []time.Duration {
	between := p.Delays[1:]
	for len(between) > 0 && between[len(between)-1] == p.Then {
		between = between[:len(between)-1]
	}
	return between
}

// tellDelays says what the strategy makes of a schedule that it cannot hold; empty
// where it can.
func (p *plan) tellDelays() string {
	if p.options.Schedule == nil {
		return ""
	}
	held, same := p.options.Strategy.Hold(*p.options.Schedule)
	if same {
		return ""
	}
	return fmt.Sprintf("the Retry block of one Task has one delay: the machine polls every %s, the mean of the schedule's delays; "+
		"variables, loop and lambda-loop poll when the schedule says", short(held.Then))
}
