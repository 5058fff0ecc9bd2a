package sim

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// budget is what all executions of a run may still come to.
type budget struct {
	steps int64 // events, and attempts that leave none
	bytes int64 // of payloads
}

// wholeBudget is that of a run. A Standard execution of 25,000 events with
// payloads of the largest size is within it; loops inside of hundreds of child
// executions are not.
var wholeBudget = budget{steps: 10_000_000, bytes: 4 << 30}

// spend takes steps and bytes from the budget, and refuses what is too much.
func (b *budget) spend(steps, bytes int) error {
	b.steps, b.bytes = b.steps-int64(steps), b.bytes-int64(bytes)
	switch {
	case b.steps < 0:
		return fmt.Errorf("%w: it has more events and attempts than a run may have; use fewer items, or loops that end", ErrTooMuch)
	case b.bytes < 0:
		return fmt.Errorf("%w: its payloads have more bytes than a run may have; use fewer or smaller items, or loops that end", ErrTooMuch)
	default:
		return nil
	}
}

// mostMade is how many bytes the functions and expressions of one template may
// make before the next is evaluated: 16 times what any state may give.
const mostMade = 16 * asl.MaxPayloadBytes

// room is what is left of mostMade.
type room struct{ left int }

func newRoom() *room { return &room{mostMade} }

func (r *room) full() bool { return r.left < 0 }

// take counts a value that is made.
func (r *room) take(value any) { r.left -= jsonSize(value) }
