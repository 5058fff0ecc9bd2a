package lint

import (
	"fmt"
	"slices"
	"time"
)

// checkEarly reports a bound that a job reaches which runs for longer than one delay, or that is written in
// the wrong unit: nobody means that.
func (c *checker) checkEarly(l *loop, r *reading) {
	b := c.boundsOf(l)
	text := ""
	switch {
	case r.Bound.Kind == ByTime && b.length > 0:
		text = b.sayEarly(r)
	case r.Bound.Kind == ByTime:
		if n := c.findSlip(r); n > 0 {
			text = fmt.Sprintf("the time that ends the loop%s counts %d as milliseconds: ", r.Bound.place(), n) + adviseMillis(n)
		}
	case r.Poll != nil && len(r.Bound.At) > 0 && slices.Contains(b.once, r.Bound.Route),
		r.Bound.Kind == ByCount && r.status != nil && b.tried != nil && r.Bound.Polls == 1:
		if text = r.Bound.sayAtOnce(); b.reversed != nil && (len(r.Bound.At) == 0 || slices.Contains(r.Bound.At, b.reversed.Name)) {
			text = fmt.Sprintf("%q leaves the loop before the time that it compares, and so at the first poll: a job that runs then is given up; "+
				"turn the comparison round", b.reversed.Name)
		}
	}
	if text == "" {
		return
	}
	at := r.polled()
	if len(r.Bound.At) > 0 {
		at = r.Flow.State(r.Bound.At[0])
	}
	c.report(EarlyBound, at, "", "%s", text)
}

// sayAtOnce says that a bound ends a loop at the first poll. What to write instead is known of a count alone.
func (b *Bound) sayAtOnce() string {
	noun, advice := "bound", "let it end the loop at a later poll"
	if b.Kind == ByCount {
		noun, advice = "count", "compare it with a larger number"
	}
	return fmt.Sprintf("the %s%s ends the loop at the first poll: a job that runs then is given up; %s", noun, b.place(), advice)
}

// sayEarly says of the time that ends a loop that it comes too early; empty if it does not.
func (b *bounds) sayEarly(r *reading) string {
	length := b.length.Truncate(10 * time.Millisecond) // a comparison by ">" holds a millisecond later
	slips := isSlip(length) && !r.Express
	early := r.status != nil && b.timed != nil && b.timed.waits == 1 && length > 0 && length < b.timed.lasts()
	if !slips && !early {
		return ""
	}
	text := fmt.Sprintf("the time that ends the loop%s is over after %s s", r.Bound.place(), sayNumber(length.Seconds()))
	if early {
		text += fmt.Sprintf(", before the first delay of %s", pause(time.Duration(b.timed.seconds*float64(time.Second))))
	}
	text += ": a job that runs longer is given up; "
	if ofJSONata(r.States) && isSlip(length) {
		return text + "times of JSONata are in milliseconds: " + adviseMillis(length.Milliseconds())
	}
	return text + "set a later time"
}

// adviseMillis says how to write a number of seconds.
func adviseMillis(seconds int64) string {
	return fmt.Sprintf("if you mean %d seconds, write %d", seconds, time.Duration(seconds)*time.Second/time.Millisecond)
}
