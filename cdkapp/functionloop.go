package cdkapp

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// functionLoop is the definition of a FunctionPoller that is limited by time.
//
//go:embed functionloop.asl.json
var functionLoop string

// stopJobKey is the placeholder of the function that stops a job.
const stopJobKey = "StopJobFunction"

// deadline is the JSONata of the moment at which the wait is over, in milliseconds.
// A redrive gives the job new time.
const deadline = "$max([$toMillis($startedAt), $states.context.Execution.RedriveTime ? $toMillis($states.context.Execution.RedriveTime) : 0])" +
	" + $maxWaitSeconds * 1000"

// besidesWait is more than the calls before the wait and behind it take with all their
// retries, so that the execution times out only if it hangs.
const besidesWait = time.Hour

// loopFor is the definition for waits of this length at most, with the state that
// stops a job, or without.
func loopFor(longest time.Duration, stops bool) string {
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	definition := strings.NewReplacer(
		"${MaxWaitSeconds}", seconds(longest), "${Deadline}", deadline,
		"${TimeoutSeconds}", seconds(min(longest+besidesWait, asl.MaxStandardTime)),
	).Replace(functionLoop)
	if stops {
		return definition
	}
	front, rest, _ := strings.Cut(definition, `    "StopJob": {`)
	_, rest, _ = strings.Cut(rest, "\n    },\n")
	definition = strings.Replace(front, `"Next": "StopJob"`, `"Next": "JobTimedOut"`, 1) + rest
	if !json.Valid([]byte(definition)) {
		panic("cdkapp: the function loop without StopJob is not JSON") // a test makes both
	}
	return definition
}
