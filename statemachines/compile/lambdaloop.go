package compile

import (
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// LambdaLoop invokes the Lambda function run-job, and then check-status in a
// loop of Task, Choice and Wait. It takes what their drivers can do.
const LambdaLoop Strategy = "lambda-loop"

type lambdaLoop struct{}

func (lambdaLoop) traits() traits {
	return traits{summary: "the Lambda functions run-job and check-status in a loop", language: asl.JSONata, functions: true, delays: drawn}
}

func (lambdaLoop) take(d *draft) { d.takeFunctions() }

func (lambdaLoop) turn(*plan) turn { return turn{steps{3, 9}, steps{3, 11}, steps{1, 7}, steps{}} }

func (lambdaLoop) polls(p *plan) int { return p.pollsByDraw() }

func (lambdaLoop) states(d *draft) states {
	check, status, wait := d.name("CheckStatus"), d.name("JobStatus"), d.name("WaitForJob")
	all, scope := d.runJob(check)
	task := d.invoke(d.options.CheckStatusFunction, expression("$states.input"), scope)
	task["Retry"], task["Next"] = []retrier{faultRetrier()}, status
	all = append(all, state{check, task}, d.jobStatus(status, ifStatus(pollcore.Running, expression("$states.input"), wait)),
		state{wait, object{"Type": "Wait", "Seconds": expression("$states.input.waitSeconds"), "Next": check}})
	return append(all, d.functionEnds()...)
}
