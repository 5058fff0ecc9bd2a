package lint

import "slices"

// findReversed finds a Choice of a loop that compares a time the wrong way round, and what it compares. choice is
// empty if there is none.
func findReversed(open *loop, tables []*reading) (choice string, operands []string) {
	for _, r := range tables {
		if r.bounds == nil || r.bounds.reversed == nil || !open.inside[r.bounds.reversed.Name] {
			continue
		}
		operands = r.bounds.reversedOperands()
		if len(operands) > 0 {
			r.Bound.Still = operands
			return r.bounds.reversed.Name, operands
		}
	}
	return "", nil
}

// reversedOperands are what the Choice compares that leaves the loop before a time.
func (b *bounds) reversedOperands() (operands []string) {
	for i := range b.reversed.Choice.Rules {
		for _, part := range partsOf(&b.reversed.Choice.Rules[i]) {
			if part.timed && !b.loop.inside[b.reversed.Choice.Rules[i].Next] {
				operands = append(operands, part.operands...)
			}
		}
	}
	return operands
}

// setsReversed tells whether the machine computes the time before which a loop is left: then that is ahead at
// the first poll.
func (c *checker) setsReversed(b *bounds) bool {
	return b.reversed != nil && slices.ContainsFunc(b.reversedOperands(), c.isTime)
}
