package sim

import (
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// redrive records the redrive and goes on with what did not succeed.
func (x *execution) redrive() {
	x.result.Status, x.result.Error, x.result.Cause = "", "", ""
	x.result.redriveCount++
	object := maps.Clone(x.result.context)
	object["RedriveCount"] = json.Number(strconv.Itoa(x.result.redriveCount))
	object["RedriveTime"] = formatTime(x.run.now)
	x.result.context = object
	x.result.redriveDate = x.run.now
	x.bill()
	x.tellStanding()
	x.record(ExecutionRedriven, x.lastEvent(), Details{RedriveCount: x.result.redriveCount})
	s := x.result.root
	x.follow(s)
	s.last = x.lastEvent()
	s.resume()
}

// refusal is why an execution cannot be redriven now, or nil.
func (x *execution) refusal(now time.Time) error {
	o := &x.run.options
	switch {
	case !x.over:
		return ErrRedriveRunning
	case x.result.Status == StatusSucceeded:
		return ErrRedriveSucceeded
	case o.Express:
		return ErrRedriveExpress
	case x != x.run.root:
		return ErrRedriveChild
	case x.result.Stop.Sub(x.result.Start) >= asl.MaxStandardTime:
		return ErrRedriveTooLong
	case now.Sub(x.result.Stop) > asl.RedriveWindow:
		return ErrRedriveTooLate
	case x.lastEvent() >= int64(x.limit)-1:
		return ErrRedriveFull
	}
	return nil
}

// RedriveStatus tells whether an execution can be redriven, in AWS's words.
type RedriveStatus string

// The redrive statuses.
const (
	Redrivable         RedriveStatus = "REDRIVABLE"
	NotRedrivable      RedriveStatus = "NOT_REDRIVABLE"
	RedrivableByMapRun RedriveStatus = "REDRIVABLE_BY_MAP_RUN" // a child execution of a Map
)

// redriveStatus is whether an execution can be redriven, and if not, why, in AWS's words.
func (x *execution) redriveStatus(now time.Time) (status RedriveStatus, reason string) {
	switch err := x.refusal(now); {
	case err == nil:
		return Redrivable, ""
	case errors.Is(err, ErrRedriveRunning):
		reason = "Execution is RUNNING and cannot be redriven"
	case errors.Is(err, ErrRedriveSucceeded):
		reason = "Execution is SUCCEEDED and cannot be redriven"
	case errors.Is(err, ErrRedriveTooLong):
		reason = "Execution has exceeded the max execution time"
	case errors.Is(err, ErrRedriveTooLate):
		reason = "Execution redrivable period exceeded"
	case errors.Is(err, ErrRedriveFull):
		reason = "Execution history event limit exceeded"
	case errors.Is(err, ErrRedriveChild):
		return RedrivableByMapRun, ""
	}
	return NotRedrivable, reason
}
