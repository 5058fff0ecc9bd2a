package statemachines

import (
	"fmt"
	"math"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
)

// expression is a field's JSONata.
func expression(text string) string { return "{% " + text + " %}" }

// begin are the states before the first call.
func (p *poller) begin(first string) states {
	var all states
	if p.initial > 0 {
		all = states{{p.name("InitialWait"), object{"Type": "Wait", "Seconds": p.initial, "Next": first}}}
		first = all[0].name
	}
	assign := object{p.variable("startedAt"): expression("$toMillis($states.context.State.EnteredTime)")}
	if p.options.Strategy == Variables {
		assign[p.variable("attempt")] = 0
	}
	given := func(arguments map[string]any) any {
		if arguments == nil {
			return expression("$states.input")
		}
		return arguments
	}
	if s := p.call.Start; s == nil {
		assign[p.variable("arguments")] = given(p.call.Arguments)
	} else {
		if assign[p.variable("request")] = given(s.Arguments); s.Token != "" {
			assign[p.variable("token")] = expression("$uuid()")
		}
		all = append(states{p.startTask(first)}, all...)
		first = all[0].name
	}
	return append(states{{p.name("Start"), object{"Type": "Pass", "Assign": assign, "Next": first}}}, all...)
}

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
	goesOn := p.ambiguous() != nil || slices.ContainsFunc(p.catches, func(c catch) bool { return c.state == pollcore.Retry })
	task["Catch"] = p.catchers(again)
	all := append(p.begin(describe), state{describe, task})

	early := fmt.Sprintf("$millis() < $%s + %d", p.variable("startedAt"), p.total*1000)
	var choices []object
	for _, r := range p.rules {
		switch r.state {
		case pollcore.Success:
			choices = append(choices, object{"Condition": expression(r.condition), "Output": p.ended("SUCCEEDED", r.reason), "Next": p.exit(pollcore.Succeeded)})
		case pollcore.Failure:
			choices = append(choices, object{"Condition": expression(r.condition), "Output": p.ended("FAILED", r.reason), "Next": p.exit(pollcore.Failed)})
		case pollcore.Retry:
			choices = append(choices,
				object{"Condition": expression("(" + r.condition + ") and " + early), "Output": object{}, "Next": wait},
				object{"Condition": expression(r.condition), "Output": p.ended("TIMED_OUT", p.lateReason()), "Next": p.late()})
		}
	}
	choices = append(choices, object{"Condition": expression(early), "Output": object{}, "Next": wait})
	all = append(all, state{check, object{
		"Type": "Choice", "Choices": choices, "Output": p.ended("TIMED_OUT", p.lateReason()), "Default": p.late(),
	}})
	all = append(all, p.lookAtError(again)...)
	if goesOn {
		all = append(all, state{again, object{
			"Type":    "Choice",
			"Choices": []object{{"Condition": expression(early), "Output": object{}, "Next": wait}},
			"Output":  expression("$states.input"),
			"Default": p.late(),
		}})
	}
	all = append(all, state{wait, object{"Type": "Wait", "Seconds": expression(p.delay()), "Next": describe}})
	return append(all, p.ends()...)
}

// counted counts a call.
func (p *poller) counted() object {
	return object{p.variable("attempt"): expression("$" + p.variable("attempt") + " + 1")}
}

// late is the state that follows when the time is over.
func (p *poller) late() string {
	if p.call.Stop != nil {
		return p.name(p.call.Stop.Operation)
	}
	return p.exit(pollcore.TimedOut)
}

// lateReason is the reason of a time-out.
func (p *poller) lateReason() string {
	reason := text(fmt.Sprintf("not finished after %s", p.options.MaxWait))
	if p.seen == "" {
		return reason
	}
	return reason + ` & "; seen " & ` + p.seen
}

// ended is the result of a wait.
func (p *poller) ended(status, reason string) object {
	o := p.outcome(status, reason)
	o["output"] = expression(p.root())
	return o
}

func (p *poller) outcome(status, reason string) object {
	started := "$" + p.variable("startedAt")
	return object{
		"status": status, "reason": expression(reason),
		"attempt":        expression(p.attempt()),
		"startedAt":      expression("$fromMillis(" + started + ")"),
		"elapsedSeconds": expression("$floor(($millis() - " + started + ") / 1000)"),
	}
}

// attempt is the number of calls that have been counted.
func (p *poller) attempt() string {
	if p.options.Strategy == RetryTask {
		return "$states.context.State.RetryCount + 1"
	}
	return "$" + p.variable("attempt")
}

// caught is the result where an error has the verdict. The attempt that failed
// is not yet counted when it is written.
func (p *poller) caught(c catch) object {
	status, reason := p.verdictOnError(c, "$states.errorOutput")
	o := p.outcome(status, reason)
	if p.options.Strategy == Variables {
		o["attempt"] = expression("$" + p.variable("attempt") + " + 1")
	}
	o["error"] = expression("$states.errorOutput")
	return o
}

// delay is the time to the next call, in seconds: a draw between the waiter's
// minimum and a ceiling that doubles with each call, cut so that the last call
// starts at the deadline and the one before leaves it a minimum delay.
func (p *poller) delay() string {
	draw := fmt.Sprintf("$draw := %d; ", p.low)
	if p.hi > p.low {
		doublings := int(math.Log2(float64(p.hi) / float64(p.low)))
		draw = fmt.Sprintf("$ceiling := $%s > %d ? %d : %d * $power(2, $%[1]s - 1); $draw := %[4]d + $floor($random() * ($ceiling - %d)); ",
			p.variable("attempt"), doublings+1, p.hi, p.low, p.low-1)
	}
	return fmt.Sprintf("($left := $ceil(($%s + %d - $millis()) / 1000); %s"+
		"$left - $draw >= %d ? $draw : $left <= %d ? $max([$left, 0]) : $max([%[4]d, $left - %[4]d]))",
		p.variable("startedAt"), p.total*1000, draw, p.low, p.hi)
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
	fail := func(status pollcore.Status, code string) state {
		return state{p.exit(status), object{"Type": "Fail", "Error": code, "Cause": expression("$states.input.reason")}}
	}
	return append(all, state{p.exit(pollcore.Succeeded), object{"Type": "Succeed"}},
		fail(pollcore.Failed, "JobPoller.Failed"), fail(pollcore.TimedOut, "JobPoller.TimedOut"))
}
