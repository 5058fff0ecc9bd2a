package cdkapp

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"
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

// loopFor is the definition for waits of this length at most, with the state that
// stops a job, or without.
func loopFor(longest time.Duration, stops bool) string {
	definition := strings.NewReplacer(
		"${MaxWaitSeconds}", strconv.Itoa(int(longest/time.Second)), "${Deadline}", deadline,
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
