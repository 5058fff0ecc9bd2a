package typecheck

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// instant is the time that the clock of an execution shows, and when the execution and the state
// began.
type instant struct {
	start, entry, now time.Time

	drawn *float64 // by each $random() of the Wait that is asked for its time; nil elsewhere
}

// StartedAt finds the types of the same machine in executions that start at a time. Their
// clock stands still until SetElapsed: what a state computes with it is known.
func (c *Checker) StartedAt(start time.Time) (*Checker, error) {
	return New(c.machine, Options{Models: c.models, Input: c.start, Results: c.results, started: start})
}

// SetElapsed sets the clock of the executions to so long after their start, for all later calls of Step. It does
// nothing without StartedAt.
func (c *Checker) SetElapsed(since time.Duration) {
	if c.clock != nil {
		c.clock.entry = c.clock.start.Add(since)
		c.clock.now = c.clock.entry
	}
}

// PassTime is for how long the state that is entered has waited when it computes what it leaves, for
// all calls of Step until SetElapsed.
func (c *Checker) PassTime(waited time.Duration) {
	if c.clock != nil {
		c.clock.now = c.clock.entry.Add(waited)
	}
}

// timestamp is a time as Step Functions writes it.
func timestamp(t time.Time) Value { return textOf(t.UTC().Format("2006-01-02T15:04:05.000Z")) }

// started and entered are what the context object says of the execution and the state.
func (i *instant) started() Value {
	if i == nil {
		return anyText
	}
	return timestamp(i.start)
}

func (i *instant) entered() Value {
	if i == nil {
		return anyText
	}
	return timestamp(i.entry)
}

// read is what a function of JSONata says of the time, where that is known.
func (i *instant) read(name string, arguments int) (Value, bool) {
	switch {
	case i == nil || arguments > 0:
		return Value{}, false
	case name == "millis":
		return numberOf(float64(i.now.UnixMilli())), true
	case name == "now":
		return timestamp(i.now), true
	case name == "random" && i.drawn != nil:
		return numberOf(*i.drawn), true
	default:
		return Value{}, false
	}
}

// orderTimes compares two times that are known; not ok if one is not.
func orderTimes(c *asl.Condition, value, expected Value) (holds, ok bool) {
	left, ok := timeOf(value)
	if !ok {
		return false, false
	}
	right, isLiteral := c.Value.(time.Time)
	if !isLiteral {
		if right, ok = timeOf(expected); !ok {
			return false, false
		}
	}
	switch order := left.Compare(right); c.Operator {
	case asl.TimestampEquals:
		return order == 0, true
	case asl.TimestampLessThan:
		return order < 0, true
	case asl.TimestampLessThanEquals:
		return order <= 0, true
	case asl.TimestampGreaterThan:
		return order > 0, true
	case asl.TimestampGreaterThanEquals:
		return order >= 0, true
	default:
		return false, false
	}
}

// timeOf is the one time that a value is.
func timeOf(v Value) (time.Time, bool) {
	words, ok := v.Literals()
	if !ok || len(words) != 1 {
		return time.Time{}, false
	}
	t, err := asl.ParseTimestamp(words[0])
	return t, err == nil
}
