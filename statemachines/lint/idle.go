package lint

import "fmt"

// sayIdle says which Choice of a loop compares what looks like a bound and ends nothing, and notes it in the tables;
// empty if none does. advice is empty if any bound will do.
func (c *checker) sayIdle(b *bounds, open *loop, tables []*reading) (idle, advice string) {
	for _, r := range tables {
		if idle, advice = b.sayReversed(open); idle == "" {
			idle, advice = c.sayNever(b, open, r)
		}
		if idle == "" {
			idle, advice = b.sayLost(open)
		}
		if idle == "" {
			idle = r.sayStill(open)
		}
		if idle != "" {
			r.Bound.Idle = idle
			return idle, advice
		}
	}
	return "", ""
}

// sayNever says which Choice of a loop compares the clock with a time that never comes; empty if none does.
func (c *checker) sayNever(b *bounds, open *loop, r *reading) (idle, advice string) {
	if !b.never {
		return "", ""
	}
	bound := Bound{Kind: ByTime}
	if bound.At, bound.By = c.placeIn(b.loop, r, open, &bound); len(bound.At) == 0 {
		return "", ""
	}
	return fmt.Sprintf("the time%s does not come within a year", bound.place()), "compare times of one unit, or set an earlier time"
}
