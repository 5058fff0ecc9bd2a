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
// after the deadline. LambdaRetry takes the shortest delay of the schedule for it that
// reaches the deadline. Loop counts its calls, so what it draws of a jitter makes its last
// poll that much later.
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
	var delays []string
	for _, ph := range listPhases(append(slices.Clone(listBetween(held)), held.Then)) {
		delays = append(delays, short(ph.delay))
	}
	return fmt.Sprintf("%s holds at most %d delays between polls: the machine polls every %s, the means of the schedule's delays; "+
		"plan --strategy %[1]s says what that costs, and the other strategies poll when the schedule says",
		p.options.Strategy, p.traits.phases, strings.Join(delays, ", then every "))
}
