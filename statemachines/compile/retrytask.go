package compile

import (
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// RetryTask is a single Task in JSONata whose Retry block is the loop: a
// third of the transitions, and less than half of the events.
const RetryTask Strategy = "retry-task"

const (
	evaluationError = "States.QueryEvaluationError"
	// retryCount is the number of the attempt, in the Task.
	retryCount = "$states.context.State.RetryCount + 1"
)

type retryTask struct{}

func (retryTask) traits() traits {
	return traits{
		summary: "one Task in JSONata whose Retry block is the loop: a third of the transitions", language: asl.JSONata,
		retryBlock: true, delays: undrawn,
	}
}

func (retryTask) writer(d *draft) *jsonata {
	return &jsonata{
		draft: d, judged: "$states.result", response: "$states.input.output",
		attempt: "$states.input.attempt", failedAttempt: retryCount, last: d.total - errorWait(d.plan),
	}
}

func (r retryTask) take(d *draft) { r.writer(d).judge() }

func (retryTask) turn(*plan) turn { return turn{steps{1, 4}, steps{3, 12}, steps{3, 9}} }

func (retryTask) polls(p *plan) int {
	calls := pending(p).MaxAttempts + 1
	for _, c := range p.catches {
		if c.state == pollcore.Retry {
			calls += erring(p, c).MaxAttempts
		}
	}
	return calls
}

// states writes a Task whose Output says which acceptor matches, or is an error
// while the job runs, which the Task retries. The Choice behind it makes the result.
//
// The time is over by the clock in Output, before the retries are used up: their
// delays add up to all of it. So the Catch of the error is for an Output that
// cannot be evaluated, and its Cause says why.
func (r retryTask) states(d *draft) states {
	j := r.writer(d)
	rules, late := j.judge(), j.late()
	describe, outcome := j.name(j.call.Operation.Name), j.name("Outcome")
	task := object{
		"Comment": "While the job runs, Output raises " + evaluationError + ", and its retries are the polls.",
		"Type":    "Task", "Resource": resource(j.call.Operation), "Arguments": expression("$" + j.variable("arguments")),
		"TimeoutSeconds": callTimeout,
		"Output":         judgement{expression(j.matchExpression(rules)), expression(retryCount), expression(j.judged)},
		"Next":           outcome,
	}
	if j.retriesErrors() && j.total-j.initial == 1 {
		j.refuse("it goes on after errors, whose retries need a second that they do not share with those of responses: " +
			"MaxWait must be 2 s above InitialDelay at least")
	}
	retriers := append(j.faults(j.call.Operation), pending(j.plan))
	for _, c := range j.catches {
		if c.state == pollcore.Retry {
			retriers = append(retriers, erring(j.plan, c))
		}
	}
	broken := object{"ErrorEquals": []string{evaluationError}, "Output": j.errorResult(catch{state: pollcore.Retry}), "Next": j.afterDeadline()}
	task["Retry"], task["Catch"] = retriers, append([]object{broken}, j.catchers(j.afterDeadline())...)
	var choices []object
	for _, rule := range rules {
		if rule.state != pollcore.Retry {
			choices = append(choices, j.choice(fmt.Sprintf("$states.input.matched = %d", rule.number), rule.state, rule.says))
		}
	}
	ends := object{"Type": "Choice", "Choices": choices, "Output": j.endResult(pollcore.Retry, late), "Default": j.afterDeadline()}
	if choices == nil { // only errors end the wait
		ends = object{"Type": "Pass", "Output": j.endResult(pollcore.Retry, late), "Next": j.afterDeadline()}
	}
	all := append(j.begin(describe), state{describe, task}, state{outcome, ends})
	all = append(all, j.lookAtError("")...)
	return append(all, j.ends()...)
}

// judgement is the Output of the Task: the number of the acceptor that matches,
// or 0 when the time is over.
type judgement struct {
	Matched string `json:"matched"`
	Attempt string `json:"attempt"`
	Output  string `json:"output"`
}

// matchExpression is the number of the acceptor that matches, or the error that goes on.
func (j *jsonata) matchExpression(rules []judged) string {
	goOn := j.early() + " ? $error('RUNNING') : 0"
	var b strings.Builder
	for _, r := range rules {
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
func errorWait(p *plan) int {
	left := p.total - p.initial
	if left == 0 || !p.retriesErrors() {
		return 0
	}
	return max(1, left/4)
}

// pending is the retrier that is the loop. The clock ends it, so its attempts may
// be too many: they are counted as if Step Functions, which does not say what it
// makes of a part of a second, left it out.
func pending(p *plan) retrier {
	r := p.waits([]string{evaluationError}, p.wholeAttempts(p.total-errorWait(p)-p.initial))
	r.clocked = true
	return r
}

// erring is the retrier of errors that an acceptor retries.
func erring(p *plan, c catch) retrier {
	return p.waits(c.names, p.count(time.Duration(errorWait(p))*time.Second, middle))
}
