package statemachines

import (
	"fmt"
	"slices"
	"strings"

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
			retriers = append(retriers, p.waits(c.names, p.errorWait()))
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

// pending is the retrier that is the loop.
func (p *poller) pending() object { return p.waits([]string{evaluationError}, p.lastCall()-p.initial) }

// waits is a retrier that tries until so many seconds have passed: with the
// waiter's delays, which double, as far as a Retry block can have them.
func (p *poller) waits(names []string, seconds int) object {
	attempts, passed := 0, 0
	for delay := p.low; passed < seconds; delay = min(2*delay, p.hi) {
		attempts++
		passed += delay
	}
	o := object{"ErrorEquals": names, "IntervalSeconds": p.low, "MaxAttempts": attempts, "BackoffRate": 1}
	if p.hi > p.low {
		o["BackoffRate"], o["MaxDelaySeconds"] = 2, p.hi
	}
	return o
}
