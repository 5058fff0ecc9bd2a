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
// the result of the last check. It ends in Fail states with the errors
// JobPoller.Failed and JobPoller.TimedOut.
//
// It needs 3 state transitions and 9 history events a check, so one execution
// can make some 2,770 checks before its 25,000 events are used up. It is not redrivable, because a Fail
// state fails again on a redrive.
//
//go:embed lambda-loop.asl.json
var LambdaPoller string
