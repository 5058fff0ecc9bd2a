package jsonpath

import "iter"

// bounds are those of a slice, [from:to]. One alone counts from the end of the array if
// it is below zero; of two, Jayway's library counts neither from there.
type bounds struct {
	from, to       int
	hasFrom, hasTo bool
}

// indices returns those of an array of this length that the slice selects.
func (b bounds) indices(length int) iter.Seq[int] {
	from, to := 0, length
	if b.hasFrom {
		from = b.from
		if from < 0 && !b.hasTo {
			from += length
		}
	}
	if b.hasTo {
		to = b.to
		if to < 0 && !b.hasFrom {
			to += length
		}
	}
	return func(yield func(int) bool) {
		for i := max(from, 0); i < min(to, length); i++ {
			if !yield(i) {
				return
			}
		}
	}
}
