package lint

import (
	"fmt"
	"slices"
)

// sayReversed says which Choice of a loop compares a time the wrong way round; empty if none does.
func (b *bounds) sayReversed(open *loop) (idle, advice string) {
	if b.reversed == nil || !open.inside[b.reversed.Name] {
		return "", ""
	}
	operands := b.reversedOperands()
	if len(operands) == 0 {
		return "", ""
	}
	return fmt.Sprintf("%q compares %s the wrong way round: it leaves the loop before that time and not after it", b.reversed.Name, list(operands)),
		"turn the comparison round"
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
