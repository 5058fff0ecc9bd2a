package compile

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// begin are the states before the first call.
func (p *poller) begin(first string) states {
	var all states
	if p.initial > 0 {
		all = states{{p.name("InitialWait"), object{
			"Type": "Wait", "Seconds": p.initial, "Next": first,
			// A redrive here waits once more, and leaves that much more time.
			"Assign": object{p.variable("deadline"): expression(p.deadlineAfter(p.lastCall()))},
		}}}
		first = all[0].name
	}
	const entered = "$states.context.State.EnteredTime"
	assign := object{
		p.variable("startedAt"): expression(entered),
		p.variable("deadline"):  expression(fmt.Sprintf("$toMillis(%s) + %d", entered, p.lastCall()*1000)),
	}
	if p.options.Strategy == Variables {
		assign[p.variable("attempt")] = 0
	}
	switch {
	case p.call.Start != nil:
		assign[p.variable("request")] = p.startArguments()
		all = append(states{p.startTask(first)}, all...)
		first = all[0].name
	case p.call.Arguments != nil:
		assign[p.variable("arguments")] = p.call.Arguments
	default:
		assign[p.variable("arguments")] = expression(machineInput)
	}
	return append(states{{p.name("Start"), object{"Type": "Pass", "Assign": assign, "Next": first}}}, all...)
}

// machineInput is the input without members that are not for the service: AWS tells
// a machine that starts another one to pass AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID
// to it (https://docs.aws.amazon.com/step-functions/latest/dg/concepts-nested-workflows.html).
// Without the merge, nothing would be what $sift leaves of an input without others.
const machineInput = "$merge([{}, $sift($states.input, function($value, $name){ $substring($name, 0, 19) != 'AWS_STEP_FUNCTIONS_' })])"

// variables are the states of the strategy Variables.
func (p *poller) variables() states {
	describe, check, wait := p.name(p.call.Operation.Name), p.name("Check"), p.name("Wait")
	again := p.name("BeforeDeadline")
	task := object{
		"Type": "Task", "Resource": resource(p.call.Operation), "Arguments": expression("$" + p.variable("arguments")),
		"TimeoutSeconds": callTimeout,
		"Assign":         p.counted(),
		"Next":           check,
	}
	task["Retry"] = p.faults(p.call.Operation)
	goesOn := p.ambiguous() != nil || p.retriesErrors()
	task["Catch"] = p.catchers(again)
	all := append(p.begin(describe), state{describe, task})

	onward := func(condition string) object {
		return object{"Condition": expression(condition), "Output": object{}, "Next": wait}
	}
	var choices []object
	for _, r := range p.rules {
		if r.state == pollcore.Retry {
			choices = append(choices, onward("("+r.condition+") and "+p.early()), p.choice(r.condition, p.late))
		} else {
			choices = append(choices, p.choice(r.condition, r))
		}
	}
	all = append(all, state{check, object{
		"Type": "Choice", "Choices": append(choices, onward(p.early())), "Output": p.ended(p.late), "Default": p.afterDeadline(),
	}})
	all = append(all, p.lookAtError(again)...)
	if goesOn {
		all = append(all, state{again, object{
			"Type":    "Choice",
			"Choices": []object{onward(p.early())},
			"Output":  expression("$states.input"),
			"Default": p.afterDeadline(),
		}})
	}
	all = append(all, state{wait, object{"Type": "Wait", "Seconds": expression(p.delay()), "Next": describe}})
	return append(all, p.ends()...)
}

// counted counts a call.
func (p *poller) counted() object {
	return object{p.variable("attempt"): expression("$" + p.variable("attempt") + " + 1")}
}

// choice is the rule of a Choice in which a wait ends.
func (p *poller) choice(condition string, r rule) object {
	next := p.afterDeadline()
	if r.state != pollcore.Retry {
		next = p.exit(statusOf[r.state])
	}
	return object{"Condition": expression(condition), "Output": p.ended(r), "Next": next}
}

// lastCall is the time, in seconds, from which on a call is the last one.
func (p *poller) lastCall() int {
	if p.options.Strategy == RetryTask {
		return p.total - p.errorWait()
	}
	return p.total
}

// early is the condition that there is time left.
func (p *poller) early() string { return "$millis() < " + p.deadline() }

// deadline is the time, in milliseconds, at which the time is over: that of the
// first state, or of a redrive that came later. A redrive runs the state again
// that failed or was stopped, whichever that is, with the EnteredTime that it had.
// Behind the initial delay there is that much less time left.
func (p *poller) deadline() string {
	return p.deadlineAfter(p.lastCall() - p.initial)
}

// deadlineAfter leaves so many seconds after a redrive.
func (p *poller) deadlineAfter(seconds int) string {
	return fmt.Sprintf("$max([$%s, $toMillis($states.context.Execution.RedriveTime) + %d])", p.variable("deadline"), seconds*1000)
}

// afterDeadline is the state that follows when the time is over.
func (p *poller) afterDeadline() string {
	if p.call.Stop != nil {
		return p.name(p.call.Stop.Operation)
	}
	return p.exit(pollcore.TimedOut)
}

// delay is the time to the next call, in seconds, by the rule of
// [pollcore.Schedule]: a draw around a delay that grows with each call, cut so that
// the last call starts at the deadline and the one before leaves it a minimum delay.
func (p *poller) delay() string {
	// The deadline may pass between the Choice and the Wait.
	left := fmt.Sprintf("$max([0, $ceil((%s - $millis()) / 1000)])", p.deadline())
	if p.hi == p.low {
		return fmt.Sprintf("$min([%d, %s])", p.low, left)
	}
	leaves := fmt.Sprintf("$left - %d", p.low)
	if p.hi < 2*p.low {
		leaves = fmt.Sprintf("$max([%d, %s])", p.low, leaves)
	}
	// A power of any attempt could be too large for a number.
	grown := fmt.Sprintf("$min([%d, %d * $power(%g, $min([$%s - 1, %d]))])", p.hi, p.low, pollcore.Growth, p.variable("attempt"), p.growing())
	return fmt.Sprintf("($left := %s; $delay := %s; $spread := $min([%g * $delay, $delay - %d, %d - $delay]); "+
		"$draw := $round($delay + $spread * (2 * $random() - 1)); $left - $draw >= %[4]d ? $draw : $left > %[5]d ? %[6]s : $left)",
		left, grown, pollcore.Spread, p.low, p.hi, leaves)
}

// exit is the state that follows a status.
func (p *poller) exit(status pollcore.Status) string {
	if p.options.Exits != nil {
		return p.options.Exits[status]
	}
	return p.name(map[pollcore.Status]string{pollcore.Succeeded: "Succeeded", pollcore.Failed: "Failed", pollcore.TimedOut: "TimedOut"}[status])
}

// ends are the states in which a whole machine ends, after the call that stops
// a job.
func (p *poller) ends() states {
	all := p.stopTask()
	if p.options.Exits != nil {
		return all
	}
	why := cause("$states.input.reason")
	if p.throughLambda() { // the functions cut it themselves
		why = expression("$states.input.reason")
	}
	fail := func(status pollcore.Status, code string) state {
		return state{p.exit(status), object{"Type": "Fail", "Error": code, "Cause": why}}
	}
	return append(all, state{p.exit(pollcore.Succeeded), object{"Type": "Succeed"}},
		fail(pollcore.Failed, "JobPoller.Failed"), fail(pollcore.TimedOut, "JobPoller.TimedOut"))
}

// cause is the Cause of a Fail state by its reason, which can be longer than a
// cause.
func cause(reason string) string {
	return expression(fmt.Sprintf("$substring(%s, 0, %d)", reason, asl.MaxCauseLength))
}
