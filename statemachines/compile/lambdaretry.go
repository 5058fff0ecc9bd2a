package compile

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// LambdaRetry is LambdaLoop with a single Task whose Retry block is the loop:
// a third of the transitions and events. A redrive resumes it.
const LambdaRetry Strategy = "lambda-retry"

type lambdaRetry struct{}

func (lambdaRetry) traits() traits {
	return traits{
		summary:  "the same functions; the Retry block of one Task is the loop. A redrive resumes it.",
		language: asl.JSONata, functions: true, retryBlock: true, delays: picked, resumes: true,
	}
}

func (lambdaRetry) take(d *draft) { d.takeFunctions() }

func (lambdaRetry) turn(*plan) turn { return turn{steps{1, 3}, steps{4, 16}, steps{3, 13}, steps{}} }

func (lambdaRetry) polls(p *plan) int { return p.wholeAttempts(p.total-p.initial+p.hi) + 1 }

// attempts is one more than the time has room for, so that the function says that it is
// over: all of the time, which a redrive gives to the Task anew.
func (lambdaRetry) attempts(p *plan) int { return p.wholeAttempts(p.total + p.hi) }

// states has a retrier for each delay of a schedule: the function says which with the
// name of its error.
func (r lambdaRetry) states(d *draft) states {
	const running = "JobPoller.Running"
	check, status := d.name("CheckStatus"), d.name("JobStatus")
	all, scope := d.runJob(check)
	task := d.invoke(d.options.CheckStatusFunction, expression("$states.input"), scope)
	retriers := []retrier{d.waits([]string{running}, r.attempts(d.plan))}
	if d.planned != nil {
		retriers = nil
		for _, seconds := range d.differentDelays() {
			retriers = append(retriers, retrier{
				ErrorEquals: []string{fmt.Sprintf("%s.%d", running, seconds)}, IntervalSeconds: seconds, MaxAttempts: r.attempts(d.plan), BackoffRate: 1,
			})
		}
	}
	for i := range retriers {
		retriers[i].clocked = true
	}
	task["Comment"] = "While the job runs, the function raises " + running + ", and its retries are the polls."
	task["Retry"], task["Next"] = append(retriers, d.forPolls(allPolls, faultRetrier(), pollsPerFault, mostFaults)), status
	all = append(all, state{check, task}, d.jobStatus(status))
	return append(all, d.functionEnds()...)
}
