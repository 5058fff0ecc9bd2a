package sim

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The reasons why an execution cannot be redriven.
var (
	ErrRedriveSucceeded = errors.New("the execution succeeded; only one that failed, timed out or was aborted can be redriven")
	ErrRedriveTooLate   = errors.New("the execution ended more than 14 days ago; it can no longer be redriven")
	ErrRedriveFull      = errors.New("the history of the execution is full; it cannot be redriven")
	ErrRedriveExpress   = errors.New("an Express workflow cannot be redriven")
)

// redrivePeriod is how long after its end an execution can be redriven.
const redrivePeriod = 14 * 24 * time.Hour

// Redrive goes on with an execution that did not succeed, as AWS does: the
// states that failed or were aborted run again with the input and the EnteredTime
// that they had, those that succeeded do not, counts of retries start anew, and
// the time limit of the machine too. A Fail state fails again. The result has the whole history and
// takes the place of the one before, which must not be used any more. m and o
// are those of the run, and o.Clock has to go on where that stopped. Besides
// those of Run, its errors are ErrRedriveSucceeded and its kin.
func Redrive(ctx context.Context, m *asl.StateMachine, failed *Result, o Options) (*Result, error) {
	if o.Clock == nil {
		o.Clock = NewVirtualClock(failed.Stop)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := checkDefinition(m, &o); err != nil {
		return nil, err
	}
	switch now := o.Clock.Now(); {
	case failed.Status == StatusSucceeded:
		return nil, ErrRedriveSucceeded
	case o.Express:
		return nil, ErrRedriveExpress
	case now.Sub(failed.Stop) > redrivePeriod:
		return nil, ErrRedriveTooLate
	case len(failed.Events) >= o.MaxEvents-1:
		return nil, ErrRedriveFull
	}
	r := &run{machine: m, options: o, clock: o.Clock, random: failed.random}
	return r.drive(ctx, func() { r.restart(failed) }) //nolint:contextcheck // handlers and expressions get the run's own context
}

// restart goes on where the execution stopped.
func (r *run) restart(failed *Result) {
	x := failed.root.x
	x.run, x.over, x.limit, x.onEvent = r, false, r.options.MaxEvents, r.options.OnEvent
	x.ended = func() { r.stop() }
	r.root = x
	x.redrive()
	r.limitTime()
}

// redrive records the redrive and goes on with what did not succeed.
func (x *execution) redrive() {
	x.result.Status, x.result.Error, x.result.Cause = "", "", ""
	x.result.redriveCount++
	object := maps.Clone(x.result.context)
	object["RedriveCount"] = json.Number(strconv.Itoa(x.result.redriveCount))
	object["RedriveTime"] = formatTime(x.run.clock.Now())
	x.result.context = object
	x.bill()
	x.record(ExecutionRedriven, x.lastEvent(), Details{RedriveCount: x.result.redriveCount})
	s := x.result.root
	x.follow(s)
	s.last = x.lastEvent()
	s.resume()
}

// resume goes on with a strand that did not finish: with the branches of its
// state that did not, or with its state from the beginning.
func (s *strand) resume() {
	s.dead, s.over, s.pending, s.attempt = false, false, nil, nil
	c := s.inner
	switch {
	case c != nil:
	case s.inside: // its EnteredTime stays
		s.after(0, func() { s.enterSince(s.enteredTime) })
		return
	default:
		s.after(0, s.enter)
		return
	}
	s.retryCount, s.retries = 0, nil
	c.next, c.running, c.failures, c.ended = 0, 0, 0, false
	if c.mapRun != nil {
		c.mapRun.redriven++
		s.record(MapRunRedriven, Details{MapRunArn: c.mapRun.arn, RedriveCount: c.mapRun.redriven})
	}
	s.after(0, func() { s.broke(c.begin()) })
}
