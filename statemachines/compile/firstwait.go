package compile

import "fmt"

// waitsFirst tells whether there is a wait before the first call.
func (t timing) waitsFirst() bool { return t.initial+t.jitter > 0 }

// firstDelay is that of a Wait state: seconds, or JSONata that draws them.
func (t timing) firstDelay() any {
	if t.jitter == 0 {
		return t.initial
	}
	return expression(fmt.Sprintf("%d + $floor($random() * %d)", t.initial, t.jitter+1))
}
