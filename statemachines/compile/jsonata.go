package compile

import (
	"fmt"
	"maps"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
)

// jsonata writes states in JSONata that call services.
type jsonata struct {
	*draft

	// judged and response are paths of the response: where it is judged, and where
	// the result is made.
	judged, response string
	// attempt and failedAttempt are the number of the last call: where the result is
	// made, and where an error is caught.
	attempt, failedAttempt string
	counts                 bool // a variable counts the calls
	adds                   bool // a variable has the calls of the Tasks before
	last                   int  // seconds from which on a call is the last one
	// startStates are those that start the job; nil for one that calls and goes on.
	startStates func(next string) states
}

// begin are the states before the first call.
func (j *jsonata) begin(first string) states {
	var all states
	if j.waitsFirst() {
		all = states{{j.name("InitialWait"), object{
			"Type": "Wait", "Seconds": j.firstDelay(), "Next": first,
			// A redrive here waits once more, and leaves that much more time.
			"Assign": object{j.variable("deadline"): expression(j.deadlineAfter(j.last))},
		}}}
		first = all[0].name
	}
	const entered = "$states.context.State.EnteredTime"
	assign := object{
		j.variable("startedAt"): expression(entered),
		j.variable("deadline"):  expression(fmt.Sprintf("$toMillis(%s) + %d", entered, j.last*1000)),
	}
	if j.counts || j.adds {
		assign[j.variable("attempt")] = 0
	}
	switch {
	case j.call.Start != nil:
		assign[j.variable("request")] = j.startArguments()
		start := states{}
		if j.startStates != nil {
			start = j.startStates(first)
		} else {
			start = append(start, j.startTask(first))
		}
		all = append(start, all...)
		first = all[0].name
	case j.call.Arguments != nil:
		assign[j.variable("arguments")] = j.call.Arguments
	case j.own != nil && j.own.arguments != nil:
		assign[j.variable("arguments")] = j.own.arguments
	default:
		assign[j.variable("arguments")] = expression(machineInput)
	}
	return append(states{{j.name("Start"), object{"Type": "Pass", "Assign": assign, "Next": first}}}, all...)
}

// machineInput is the input without members that are not for the service: AWS tells
// a machine that starts another one to pass AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID
// to it (https://docs.aws.amazon.com/step-functions/latest/dg/concepts-nested-workflows.html).
// Without the merge, nothing would be what $sift leaves of an input without others.
const machineInput = "$merge([{}, $sift($states.input, function($value, $name){ $substring($name, 0, 19) != 'AWS_STEP_FUNCTIONS_' })])"

// early is the condition that there is time left.
func (j *jsonata) early() string { return "$millis() < " + j.deadline() }

// deadline is the time, in milliseconds, at which the time is over: that of the
// first state, or of a redrive that came later. A redrive runs the state again
// that failed or was stopped, whichever that is, with the EnteredTime that it had.
// Behind the initial delay there is that much less time left.
func (j *jsonata) deadline() string {
	return j.deadlineAfter(j.last - j.initial)
}

// deadlineAfter leaves so many seconds after a redrive.
func (j *jsonata) deadlineAfter(seconds int) string {
	return fmt.Sprintf("$max([$%s, $toMillis($states.context.Execution.RedriveTime) + %d])", j.variable("deadline"), seconds*1000)
}

// choice is the rule of a Choice in which a wait ends.
func (j *jsonata) choice(condition string, v pollcore.Verdict, reason phrase) object {
	next := j.afterDeadline()
	if v != pollcore.Retry {
		next = j.exit(statusOf[v])
	}
	return object{"Condition": expression(condition), "Output": j.endResult(v, reason), "Next": next}
}

// ends are the states in which a whole machine ends, after the call that stops
// a job.
func (j *jsonata) ends() states {
	return append(j.stopTask(), j.draft.ends(cause("$states.input.reason"))...)
}

// ends are the states in which a whole machine ends, with the Cause of a failure.
func (d *draft) ends(cause string) states {
	if d.options.Exits != nil {
		return nil
	}
	fail := func(status pollcore.Status, code string) state {
		return state{d.exit(status), object{"Type": "Fail", "Error": code, "Cause": cause}}
	}
	return states{
		{d.exit(pollcore.Succeeded), object{"Type": "Succeed"}},
		fail(pollcore.Failed, "JobPoller.Failed"), fail(pollcore.TimedOut, "JobPoller.TimedOut"),
	}
}

// startArguments are what the start call gets, in JSONata: with a token that is made once
// for all its retries, unless it has one.
func (j *jsonata) startArguments() any {
	s := j.call.Start
	token := javasdk.MemberName(s.Token)
	if j.told {
		token = "" // nobody has seen what a .sync Task makes of it
	}
	switch {
	case s.Arguments == nil && token != "":
		return expression(fmt.Sprintf("$merge([{%s: $uuid()}, %s])", text(token), machineInput))
	case s.Arguments == nil:
		return expression(machineInput)
	case token == "" || s.Arguments[token] != nil:
		return s.Arguments
	}
	withToken := maps.Clone(s.Arguments)
	withToken[token] = expression("$uuid()")
	return withToken
}

// startTask is the state that starts the job, in JSONata.
func (j *jsonata) startTask(next string) state {
	s := j.call.Start
	assign := object{j.variable("arguments"): expression(j.argumentsFromStart(j.call.Operation, s.Describe))}
	if j.call.Stop != nil {
		stop := j.stop()
		assign[j.variable("stop")] = expression(j.argumentsFromStart(stop, j.call.Stop.Arguments))
	}
	failed := object{
		"status": "FAILED", "attempt": 0,
		"reason": expression("'the job could not be started: ' & $states.errorOutput.Error & ': ' & $states.errorOutput.Cause"),
		"error":  expression("$states.errorOutput"),
	}
	return state{j.startName(), withRetry(object{
		"Type": "Task", "Resource": resource(s.Operation), "Arguments": expression("$" + j.variable("request")), "TimeoutSeconds": callTimeout,
		"Assign": assign, "Output": object{},
		"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "Output": failed, "Next": j.exit(pollcore.Failed)}},
		"Next":  next,
	}, j.startFaults())}
}

// stopTask is the state that stops the job, in JSONata. The poller has timed
// out whether or not it can be stopped.
func (j *jsonata) stopTask() states {
	if j.call.Stop == nil {
		return nil
	}
	op := j.stop()
	keep, next := expression("$states.input"), j.exit(pollcore.TimedOut)
	return states{{j.name(op.Name), object{
		"Type": "Task", "Resource": resource(op), "Arguments": expression("$" + j.variable("stop")), "TimeoutSeconds": callTimeout,
		"Output": keep, "Retry": j.faults(op),
		"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "Output": keep, "Next": next}},
		"Next":  next,
	}}}
}

// countCall counts a call.
func (j *jsonata) countCall() object {
	return object{j.variable("attempt"): expression("$" + j.variable("attempt") + " + 1")}
}
