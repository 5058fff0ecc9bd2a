// Package statemachines holds the state machine definitions that jobpoller
// ships, as Amazon States Language documents that can be deployed as they are.
package statemachines

import _ "embed"

// The names under which the shipped definitions invoke the two Lambda
// functions (see lambdas/runjob and lambdas/checkstatus).
const (
	RunJobFunction      = "jobpoller-runjob"
	CheckStatusFunction = "jobpoller-checkstatus"
)

// LambdaPoller runs a job and waits for it: RunJob, then Wait, CheckStatus and
// Choice in a loop. Its input is a request (see lambdas/handler), its output
// the result of the last poll. It ends in Fail states with the errors
// JobPoller.Failed and JobPoller.TimedOut.
//
// It needs 3 state transitions and 9 history events a poll, so one execution can
// make some 2,770 polls before its 25,000 events are used up. A redrive cannot help:
// it re-enters the Fail state.
func LambdaPoller() string { return lambdaPoller }

//go:embed lambda-loop.asl.json
var lambdaPoller string
