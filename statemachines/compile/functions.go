package compile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// lambdaFaults are errors of invocations that say nothing of the job. Both
// functions may be invoked again: a job is started at most once.
var lambdaFaults = slices.Concat(
	[]string{"Lambda.ClientExecutionTimeoutException"},
	asl.Resource{Service: "lambda"}.PassingErrors(false),
	[]string{"Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", asl.ErrorTimeout, "JobPoller.ServiceUnavailable", "JobPoller.StoreUnavailable"},
)

func faultRetrier() retrier { return retryFaults(lambdaFaults) }

// request is what RunJob is asked for.
func (d *draft) request() object {
	arguments := any(expression(machineInput))
	if d.call.Arguments != nil {
		arguments = d.call.Arguments
	}
	r := object{
		"job": d.call.Job, "arguments": arguments, "maxWaitSeconds": d.total, "waiter": d.escape(d.waiter),
	}
	if planned := d.rule().Planned; planned != nil {
		r["schedule"] = planned
	} else {
		r["minDelay"], r["maxDelay"], r["initialDelay"] = d.low, d.hi, d.initial
	}
	if d.leaves {
		r["onTimeout"] = "leave"
	}
	if d.retryBlock {
		r["onRunning"] = "error"
		if d.planned != nil {
			r["onRunning"] = "delay"
		}
		if d.options.Exits == nil {
			r["endAs"] = "error"
		}
	}
	return r
}

// escape is a value whose texts are none of JSONata, also where they look
// so.
func (d *draft) escape(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		d.refuse("%s", err)
	}
	if !bytes.Contains(text, []byte(`"{%`)) {
		return v
	}
	root, err := jsontree.Parse(text)
	if err != nil {
		d.refuse("%s", err)
		return v
	}
	return escapeTexts(root.Root.Value())
}

func escapeTexts(v any) any {
	switch v := v.(type) {
	case string:
		return phrase{text: v}.field()
	case []any:
		for i, item := range v {
			v[i] = escapeTexts(item)
		}
	case map[string]any:
		for name, item := range v {
			v[name] = escapeTexts(item)
		}
	}
	return v
}

// What the functions read of the context object.
const (
	executionContext = "'Execution': {'Id': $states.context.Execution.Id, 'StartTime': $states.context.Execution.StartTime, " +
		"'RedriveCount': $states.context.Execution.RedriveCount, 'RedriveTime': $states.context.Execution.RedriveTime}"
	stateContext = "'Name': $states.context.State.Name, 'RetryCount': $states.context.State.RetryCount"
	shortContext = "{" + executionContext + ", 'State': {" + stateContext + "}}"
)

// invoke is a Task that calls one of the two functions.
func (d *draft) invoke(function string, input any, scope string) object {
	return d.invokeWith(shortContext, function, input, scope)
}

// invokeWith is invoke with more of the context object. The input may be nil.
func (d *draft) invokeWith(context, function string, input any, scope string) object {
	event := object{"Context": expression(context), "Poller": d.pollerName()}
	if input != nil {
		event["Input"] = input
	}
	if scope != "" {
		event["Scope"] = scope
	}
	task := object{
		"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
		"Arguments":      object{"FunctionName": function, "Payload": event},
		"TimeoutSeconds": callTimeout,
		"Output":         expression("$states.result.Payload"),
	}
	if catchers := d.catchFailure(); catchers != nil {
		task["Catch"] = catchers
	}
	return task
}

// catchFailure leads errors of a function to the exit of a fragment; nil in a whole
// machine, which fails with them.
func (d *draft) catchFailure() []object {
	if d.options.Exits == nil {
		return nil
	}
	failed := object{
		"status": "FAILED", "error": expression("$states.errorOutput"),
		"reason": expression("$states.errorOutput.Error & ': ' & $states.errorOutput.Cause"),
	}
	return []object{{"ErrorEquals": []string{"States.ALL"}, "Output": failed, "Next": d.exit(pollcore.Failed)}}
}

// pollerName tells this poller from others of the execution.
func (d *draft) pollerName() string {
	if d.options.Prefix != "" {
		return d.options.Prefix
	}
	return phrase{text: d.waiter.Name}.field()
}

// takeFunctions refuses what the Lambda functions cannot do. They judge the form
// of an SDK integration, in which timestamps are strings, and do not know its
// types.
func (d *draft) takeFunctions() {
	for _, r := range pollcore.Readings(d.waiter, d.shapes.Members["input"], d.shapes.Members["output"]) {
		for _, m := range r.Members {
			if m.Type != nil && m.Type.Timestamp {
				d.refuse("acceptor %d reads the timestamp %s, which is a number in the waiter and a string in the Lambda functions", r.Acceptor+1, m.Path[len(m.Path)-1])
			}
		}
	}
	if d.call.Job == "" || !strings.Contains(d.call.Job, ":") {
		d.refuse("the strategies with Lambda functions need the name of a job that has a driver, such as %q", "dynamodb:ExportTableToPointInTime")
	}
}

// runJob are the states that start the job, and the scope for later calls.
func (d *draft) runJob(check string) (all states, scope string) {
	run, scope := d.runTask(shortContext)
	all = states{{d.name("RunJob"), run}}
	run["Next"] = check
	if d.waitsFirst() {
		run["Next"] = d.name("InitialWait")
		all = append(all, state{d.name("InitialWait"), object{"Type": "Wait", "Seconds": expression("$states.input.waitSeconds"), "Next": check}})
	}
	return all, scope
}

// runTask is the Task of the function run-job, and the scope for later calls.
func (d *draft) runTask(context string) (run object, scope string) {
	scope = d.options.Scope
	run = d.invokeWith(context, d.options.RunJobFunction, d.request(), scope)
	if scope != "" { // CheckStatus has another input
		run["Assign"] = object{d.variable("scope"): scope}
		scope = expression("$" + d.variable("scope"))
	}
	run["Retry"] = []retrier{faultRetrier(), inProgressRetrier()}
	return run, scope
}

// inProgressRetrier waits for another run-job that is starting the job.
func inProgressRetrier() retrier {
	return retrier{ErrorEquals: []string{"JobPoller.JobStartInProgress"}, IntervalSeconds: 5, MaxAttempts: 12, BackoffRate: 1}
}

// jobStatus is the Choice by the status that a function returns. What follows RUNNING
// is the strategy's.
func (d *draft) jobStatus(name string, running ...object) state {
	ended := expression("$states.input")
	if d.selection != nil {
		ended = expression("$exists($states.input.output) ? $merge([$states.input, {'output': " + d.selectOutput("$states.input.output") + "}]) : $states.input")
	}
	choices := []object{
		ifStatus(pollcore.Succeeded, ended, d.exit(pollcore.Succeeded)), ifStatus(pollcore.Failed, ended, d.exit(pollcore.Failed)),
		ifStatus(pollcore.TimedOut, ended, d.exit(pollcore.TimedOut)),
	}
	return state{name, object{"Type": "Choice", "Choices": append(choices, running...), "Default": d.name("UnexpectedStatus")}}
}

// ifStatus is a rule of that Choice.
func ifStatus(s pollcore.Status, output, next string) object {
	return object{"Condition": expression("$states.input.status = " + text(string(s))), "Output": output, "Next": next}
}

// functionEnds are the ends of a machine whose functions judge.
func (d *draft) functionEnds() states {
	const broken = "CheckStatus returned an unknown status: this definition is for another version of the function."
	unexpected := d.name("UnexpectedStatus")
	if d.options.Exits != nil {
		return states{{unexpected, object{"Type": "Pass", "Output": object{"status": "FAILED", "reason": broken}, "Next": d.exit(pollcore.Failed)}}}
	}
	// The functions cut the reason themselves.
	return append(states{{unexpected, object{"Type": "Fail", "Error": "JobPoller.UnexpectedStatus", "Cause": broken}}},
		d.ends(expression("$states.input.reason"))...)
}
