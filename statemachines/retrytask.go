package statemachines

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
)

const evaluationError = "States.QueryEvaluationError"

// retryTask are the states of the strategy RetryTask. The Output of its Task is
// the result of the wait, or an error while the job runs, which the Task
// retries.
func (p *poller) retryTask() states {
	describe, outcome := p.name(p.call.Operation.Name), p.name("Outcome")
	pending, late := p.pending()
	task := object{
		"Comment": "While the job runs, Output raises " + evaluationError + ", and its retries are the polls.",
		"Type":    "Task", "Resource": resource(p.call.Operation), "Arguments": expression("$" + p.variable("arguments")),
		"TimeoutSeconds": callTimeout,
		"Output":         expression(p.guard(late)),
		"Retry":          append(p.faults(p.call.Operation), pending),
		"Next":           outcome,
	}
	catchers := []object{{"ErrorEquals": []string{evaluationError}, "Output": p.caught(catch{state: pollcore.Retry}), "Next": p.late()}}
	for _, c := range p.catches {
		if c.state == pollcore.Retry {
			task["Retry"] = append(task["Retry"].([]object), p.waits(c.names, p.errorWait()))
		}
	}
	task["Catch"] = append(catchers, p.catchers(p.late())...)
	choose := func(status pollcore.Status) object {
		return object{"Condition": expression(`$states.input.status = "` + string(status) + `"`), "Output": expression("$states.input"), "Next": p.exit(status)}
	}
	all := append(p.begin(describe), state{describe, task}, state{outcome, object{
		"Type":    "Choice",
		"Choices": []object{choose(pollcore.Succeeded), choose(pollcore.Failed)},
		"Output":  expression("$states.input"),
		"Default": p.late(),
	}})
	all = append(all, p.lookAtError("")...)
	return append(all, p.ends()...)
}

// errorWait is how long errors may be retried, in seconds, of a waiter that
// retries any: a quarter of the time. They cannot look at the clock.
func (p *poller) errorWait() int {
	for _, c := range p.catches {
		if c.state == pollcore.Retry {
			return p.total / 4
		}
	}
	return 0
}

// pending is the retrier that is the loop, and the time in seconds after which
// the job is late.
func (p *poller) pending() (retrier object, late int) {
	late = p.total - p.errorWait()
	return p.waits([]string{evaluationError}, late), late
}

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

// guard is the Output of the Task.
func (p *poller) guard(late int) string {
	started := "$" + p.variable("startedAt")
	early := fmt.Sprintf("$millis() < %s + %d", started, late*1000)
	var b strings.Builder
	fmt.Fprintf(&b, `($end := function($status, $reason){ {"status": $status, "reason": $reason, "attempt": $states.context.State.RetryCount + 1, `+
		`"startedAt": $fromMillis(%[1]s), "elapsedSeconds": $floor(($millis() - %[1]s) / 1000), "output": $states.result} }; `, started)
	fmt.Fprintf(&b, `$goOn := function(){ %s ? $error("RUNNING") : $end("TIMED_OUT", %s) }; `, early, p.lateReason())
	for _, r := range p.rules {
		then := "$goOn()"
		switch r.state {
		case pollcore.Success:
			then = `$end("SUCCEEDED", ` + r.reason + ")"
		case pollcore.Failure:
			then = `$end("FAILED", ` + r.reason + ")"
		case pollcore.Retry:
		}
		fmt.Fprintf(&b, "%s ? %s : ", r.condition, then)
	}
	b.WriteString("$goOn())")
	return b.String()
}
