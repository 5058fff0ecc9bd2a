package compile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

const (
	evaluationError = "States.QueryEvaluationError"
	// retryCount is the number of the attempt, in the Task.
	retryCount = "$states.context.State.RetryCount + 1"
)

// retryTask are the states of the strategy RetryTask. The Output of its Task says
// which acceptor matches, or is an error while the job runs, which the Task
// retries. The Choice behind it makes the result.
//
// The time is over by the clock in Output, before the retries are used up: their
// delays add up to all of it. So the Catch of the error is for an Output that
// cannot be evaluated, and its Cause says why.
func (p *poller) retryTask() states {
	describe, outcome := p.name(p.call.Operation.Name), p.name("Outcome")
	task := object{
		"Comment": "While the job runs, Output raises " + evaluationError + ", and its retries are the polls.",
		"Type":    "Task", "Resource": resource(p.call.Operation), "Arguments": expression("$" + p.variable("arguments")),
		"TimeoutSeconds": callTimeout,
		"Output":         judgement{expression(p.matched()), expression(retryCount), expression(p.judged())},
		"Next":           outcome,
	}
	if p.retriesErrors() && p.total-p.initial == 1 {
		p.refuse("it goes on after errors, whose retries need a second that they do not share with those of responses: " +
			"MaxWait must be 2 s above InitialDelay at least")
	}
	retriers := append(p.faults(p.call.Operation), p.pending())
	for _, c := range p.catches {
		if c.state == pollcore.Retry {
			retriers = append(retriers, p.erring(c))
		}
	}
	broken := object{"ErrorEquals": []string{evaluationError}, "Output": p.caught(catch{state: pollcore.Retry}), "Next": p.afterDeadline()}
	task["Retry"], task["Catch"] = retriers, append([]object{broken}, p.catchers(p.afterDeadline())...)
	var choices []object
	for _, r := range p.rules {
		if r.state != pollcore.Retry {
			choices = append(choices, p.choice(fmt.Sprintf("$states.input.matched = %d", r.number), r))
		}
	}
	ends := object{"Type": "Choice", "Choices": choices, "Output": p.ended(p.late), "Default": p.afterDeadline()}
	if choices == nil { // only errors end the wait
		ends = object{"Type": "Pass", "Output": p.ended(p.late), "Next": p.afterDeadline()}
	}
	all := append(p.begin(describe), state{describe, task}, state{outcome, ends})
	all = append(all, p.lookAtError("")...)
	return append(all, p.ends()...)
}

// judgement is the Output of the Task: the number of the acceptor that matches,
// or 0 when the time is over.
type judgement struct {
	Matched string `json:"matched"`
	Attempt string `json:"attempt"`
	Output  string `json:"output"`
}

// matched is the number of the acceptor that matches, or the error that goes on.
func (p *poller) matched() string {
	goOn := p.early() + " ? $error('RUNNING') : 0"
	var b strings.Builder
	for _, r := range p.rules {
		then := fmt.Sprint(r.number)
		if r.state == pollcore.Retry {
			then = "(" + goOn + ")"
		}
		if r.condition == always {
			return b.String() + then // and no rule behind it matters
		}
		b.WriteString(r.condition + " ? " + then + " : ")
	}
	return b.String() + goOn
}

// errorWait is how long errors may be retried, in seconds, of a waiter that
// retries any: a quarter of the time after the initial delay. They cannot look at
// the clock.
func (p *poller) errorWait() int {
	left := p.total - p.initial
	if left == 0 || !p.retriesErrors() {
		return 0
	}
	return max(1, left/4)
}

func (p *poller) retriesErrors() bool {
	return slices.ContainsFunc(p.catches, func(c catch) bool { return c.state == pollcore.Retry })
}

// pending is the retrier that is the loop. The clock ends it, so its attempts may
// be too many: they are counted as if Step Functions, which does not say what it
// makes of a part of a second, left it out.
func (p *poller) pending() object {
	return p.waits([]string{evaluationError}, p.wholeAttempts(p.lastCall()-p.initial))
}

// wholeAttempts are the attempts that pass so many seconds with delays cut to
// whole ones.
func (p *poller) wholeAttempts(seconds int) int {
	return p.count(time.Duration(seconds)*time.Second, func(lo, hi time.Duration) time.Duration { return undrawn(lo, hi).Truncate(time.Second) })
}

// erring is the retrier of errors that an acceptor retries.
func (p *poller) erring(c catch) object {
	return p.waits(c.names, p.count(time.Duration(p.errorWait())*time.Second, undrawn))
}

// waits is a retrier with the schedule's delays, without a draw.
func (p *poller) waits(names []string, attempts int) object {
	o := object{"ErrorEquals": names, "IntervalSeconds": p.low, "MaxAttempts": attempts, "BackoffRate": 1}
	if p.hi > p.low {
		o["BackoffRate"], o["MaxDelaySeconds"] = pollcore.Growth, p.hi
	}
	return o
}
