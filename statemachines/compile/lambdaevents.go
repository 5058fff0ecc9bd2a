package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// LambdaEvents lets one Task of the Lambda function run-job wait for a callback: the function
// collector polls the job, is told of its end by events, and answers the Task. It takes
// what their drivers can do, and the same few transitions however long the job lasts.
const LambdaEvents Strategy = "events"

type lambdaEvents struct{}

// backstop is how long after the max wait the Task ends by itself, in seconds. Until
// then the collector, which ends the wait at the deadline, may be late.
const backstop = 20 * 60

func (lambdaEvents) traits() traits {
	return traits{
		summary:  "one Task waits while the function collector polls and is told by events.",
		language: asl.JSONata, functions: true, collected: true, delays: drawn,
	}
}

func (lambdaEvents) take(d *draft) { d.takeFunctions() }

// turn has the cost of an execution whose Task the collector has lost. Polls of the
// collector are no states.
func (lambdaEvents) turn(*plan) turn { return turn{steps{0, 0}, steps{4, 16}, steps{3, 12}, steps{}} }

func (lambdaEvents) polls(p *plan) int { return p.pollsByDraw() }

func (lambdaEvents) states(d *draft) states {
	check, status := d.name("CheckStatus"), d.name("JobStatus")
	run, scope := d.runTask("{" + executionContext + ", 'State': {" + stateContext + ", 'EnteredTime': $states.context.State.EnteredTime}, " +
		"'Task': {'Token': $states.context.Task.Token}}")
	run["Comment"] = "The function collector answers when the job has ended."
	run["Resource"], run["TimeoutSeconds"] = "arn:aws:states:::lambda:invoke.waitForTaskToken", d.total+backstop
	delete(run, "Output") // the answer has no envelope
	lost := object{"ErrorEquals": []string{asl.ErrorTimeout}, "Output": object{}, "Next": check}
	if assigned, ok := run["Assign"]; ok { // of a Task that succeeds
		lost["Assign"] = assigned
	}
	faults := faultRetrier()
	faults.ErrorEquals = slices.DeleteFunc(slices.Clone(lambdaFaults), func(name string) bool { return name == asl.ErrorTimeout })
	run["Retry"], run["Catch"], run["Next"] = []retrier{faults, inProgressRetrier()}, append([]object{lost}, d.catchFailure()...), status

	last := d.invoke(d.options.CheckStatusFunction, nil, scope)
	last["Comment"] = "No answer came: the job is described once more."
	last["Retry"], last["Next"] = []retrier{faultRetrier()}, status
	late := expression(fmt.Sprintf("$merge([$states.input, {'status': %s, 'waitSeconds': 0, 'reason': %s & $states.input.reason}])",
		text(string(pollcore.TimedOut)), text(d.notFinished()+": ")))
	return append(states{
		{d.name("RunJob"), run}, {check, last}, d.jobStatus(status, ifStatus(pollcore.Running, late, d.exit(pollcore.TimedOut))),
	}, d.functionEnds()...)
}

// eventNote says how the collector learns of the end.
func (p *plan) eventNote() string {
	_, name, _ := strings.Cut(p.call.Job, ":")
	job := p.call.Operation.Service.Jobs[name]
	if job == nil || job.Event == nil {
		return "AWS sends no event of its end that jobpoller knows: the collector's polls find it."
	}
	return fmt.Sprintf("The collector sees the end at once if an EventBridge rule sends it its events (%s: %s). Else it polls, and is as late as shown.",
		job.Event.Source, strings.Join(job.Event.DetailTypes, ", "))
}
