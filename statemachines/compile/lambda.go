package compile

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines"
)

// lambdaFaults are errors of invocations that say nothing of the job. Both
// functions may be invoked again: a job is started at most once.
var lambdaFaults = []string{
	"Lambda.ClientExecutionTimeoutException", "Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
	"Lambda.TooManyRequestsException", "Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", "States.Timeout",
	"JobPoller.ServiceUnavailable", "JobPoller.StoreUnavailable",
}

func faultRetrier() object {
	return object{"ErrorEquals": lambdaFaults, "IntervalSeconds": 2, "MaxAttempts": 6, "BackoffRate": 2, "MaxDelaySeconds": 60, "JitterStrategy": "FULL"}
}

// request is what RunJob is asked for.
func (p *poller) request() object {
	arguments := any(expression(machineInput))
	if p.call.Arguments != nil {
		arguments = p.call.Arguments
	}
	r := object{
		"job": p.call.Job, "arguments": arguments, "maxWaitSeconds": p.total, "waiter": p.unevaluated(p.waiter),
		"minDelay": p.low, "maxDelay": p.hi, "initialDelay": p.initial,
	}
	if p.leave {
		r["onTimeout"] = "leave"
	}
	if p.options.Strategy == LambdaRetry {
		r["onRunning"] = "error"
		if p.options.Exits == nil {
			r["endAs"] = "error"
		}
	}
	return r
}

// unevaluated is a value whose texts are none of JSONata, also where they look
// so.
func (p *poller) unevaluated(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		p.refuse("%s", err)
	}
	if !bytes.Contains(text, []byte(`"{%`)) {
		return v
	}
	root, err := jsontree.Parse(text)
	if err != nil {
		p.refuse("%s", err)
		return v
	}
	return quoted(root.Root.Value())
}

func quoted(v any) any {
	switch v := v.(type) {
	case string:
		return phrase{text: v}.field()
	case []any:
		for i, item := range v {
			v[i] = quoted(item)
		}
	case map[string]any:
		for name, item := range v {
			v[name] = quoted(item)
		}
	}
	return v
}

// invoke is a Task that calls one of the two functions.
func (p *poller) invoke(function string, input any, scope string) object {
	event := object{
		"Context": expression("{'Execution': {'Id': $states.context.Execution.Id, 'StartTime': $states.context.Execution.StartTime, " +
			"'RedriveCount': $states.context.Execution.RedriveCount, 'RedriveTime': $states.context.Execution.RedriveTime}, " +
			"'State': {'Name': $states.context.State.Name, 'RetryCount': $states.context.State.RetryCount}}"),
		"Input": input, "Poller": p.pollerName(),
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
	if p.options.Exits != nil {
		failed := object{
			"status": "FAILED", "error": expression("$states.errorOutput"),
			"reason": expression("$states.errorOutput.Error & ': ' & $states.errorOutput.Cause"),
		}
		task["Catch"] = []object{{"ErrorEquals": []string{"States.ALL"}, "Output": failed, "Next": p.exit(pollcore.Failed)}}
	}
	return task
}

// pollerName tells this poller from others of the execution.
func (p *poller) pollerName() string {
	if p.options.Prefix != "" {
		return p.options.Prefix
	}
	return phrase{text: p.waiter.Name}.field()
}

// lambda are the states of the strategies LambdaLoop and LambdaRetry.
func (p *poller) lambda() states {
	check, status, wait := p.name("CheckStatus"), p.name("JobStatus"), p.name("WaitForJob")
	scope := p.options.Scope
	run := p.invoke(p.options.RunJobFunction, p.request(), scope)
	if scope != "" { // CheckStatus has another input
		run["Assign"] = object{p.variable("scope"): scope}
		scope = expression("$" + p.variable("scope"))
	}
	run["Retry"] = []object{faultRetrier(), {
		"ErrorEquals": []string{"JobPoller.JobStartInProgress"}, "IntervalSeconds": 5, "MaxAttempts": 12, "BackoffRate": 1,
	}}
	all := states{{p.name("RunJob"), run}}
	run["Next"] = check
	if p.initial > 0 {
		run["Next"] = p.name("InitialWait")
		all = append(all, state{p.name("InitialWait"), object{"Type": "Wait", "Seconds": expression("$states.input.waitSeconds"), "Next": check}})
	}
	task := p.invoke(p.options.CheckStatusFunction, expression("$states.input"), scope)
	task["Retry"], task["Next"] = []object{faultRetrier()}, status
	if p.options.Strategy == LambdaRetry {
		// One more than the time has room for, so that the function says that it is over.
		running := p.waits([]string{"JobPoller.Running"}, p.wholeAttempts(p.total-p.initial+p.hi))
		task["Comment"] = "While the job runs, the function raises JobPoller.Running, and its retries are the polls."
		faults := faultRetrier()
		p.forAllPolls(faults, pollsPerFault, mostFaults)
		task["Retry"] = []object{running, faults}
	}
	all = append(all, state{check, task})
	ended := expression("$states.input")
	if p.selection != nil {
		ended = expression("$exists($states.input.output) ? $merge([$states.input, {'output': " + p.resultOutput("$states.input.output") + "}]) : $states.input")
	}
	choose := func(s pollcore.Status, next string) object {
		output := ended
		if s == pollcore.Running {
			output = expression("$states.input")
		}
		return object{"Condition": expression("$states.input.status = " + text(string(s))), "Output": output, "Next": next}
	}
	choices := []object{
		choose(pollcore.Succeeded, p.exit(pollcore.Succeeded)), choose(pollcore.Failed, p.exit(pollcore.Failed)),
		choose(pollcore.TimedOut, p.exit(pollcore.TimedOut)),
	}
	if p.options.Strategy == LambdaLoop {
		choices = append(choices, choose(pollcore.Running, wait))
	}
	unexpected := p.name("UnexpectedStatus")
	all = append(all, state{status, object{"Type": "Choice", "Choices": choices, "Default": unexpected}})
	if p.options.Strategy == LambdaLoop {
		all = append(all, state{wait, object{"Type": "Wait", "Seconds": expression("$states.input.waitSeconds"), "Next": check}})
	}
	broken := "CheckStatus returned a status that its contract does not have: the function is not the one this definition is for."
	if p.options.Exits != nil {
		return append(all, state{unexpected, object{"Type": "Pass", "Output": object{"status": "FAILED", "reason": broken}, "Next": p.exit(pollcore.Failed)}})
	}
	all = append(all, state{unexpected, object{"Type": "Fail", "Error": "JobPoller.UnexpectedStatus", "Cause": broken}})
	return append(all, p.ends()...)
}

// driverNeeded refuses what the Lambda functions cannot do. They judge the form
// of an SDK integration, in which timestamps are strings, and do not know its
// types.
func (p *poller) driverNeeded() {
	op := p.call.Operation
	for _, r := range pollcore.Readings(p.waiter, op.Input.Described().Respell(javasdk.MemberName), op.Output.Described().Respell(javasdk.MemberName)) {
		for _, m := range r.Members {
			if m.Type != nil && m.Type.Timestamp {
				p.refuse("acceptor %d reads the timestamp %s, which is a number to it and a string to the Lambda functions", r.Acceptor+1, m.Path[len(m.Path)-1])
			}
		}
	}
	if p.call.Job == "" || !strings.Contains(p.call.Job, ":") {
		p.refuse("the strategies with Lambda functions need the name of a job that has a driver, such as %q", "dynamodb:ExportTableToPointInTime")
	}
	for name, function := range map[string]*string{statemachines.RunJobFunction: &p.options.RunJobFunction, statemachines.CheckStatusFunction: &p.options.CheckStatusFunction} {
		if *function == "" {
			*function = name
		}
	}
}
