package jsonpath

import "iter"

// bounds are those of a slice, [from:to:step], as RFC 9535 has them: below
// zero they count from the end of the array.
type bounds struct {
	from, to, step int
	hasFrom, hasTo bool
}

// indices returns those of an array of this length that the slice selects.
func (b bounds) indices(length int) iter.Seq[int] {
	first, last := 0, length // the limits, and the defaults if step > 0
	if b.step < 0 {
		first, last = -1, length-1
	}
	from, to := first, last
	if b.step < 0 {
		from, to = last, first
	}
	clamp := func(bound int) int {
		if bound < 0 {
			bound += length
		}
		return min(max(bound, first), last)
	}
	if b.hasFrom {
		from = clamp(b.from)
	}
	if b.hasTo {
		to = clamp(b.to)
	}
	return func(yield func(int) bool) {
		for i := from; b.step > 0 && i < to || b.step < 0 && i > to; i += b.step {
			if !yield(i) {
				return
			}
		}
	}
}
