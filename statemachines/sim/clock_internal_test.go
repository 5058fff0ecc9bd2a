package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On a clock that moves by itself, what was due before a new timer, and was not looked at
// yet, is due with it.
func TestWhatWasDueBeforeIsDueFirst(t *testing.T) {
	t.Parallel()
	c := NewRealClock()
	r := &run{clock: c, world: &World{}}
	r.actor.run = r
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	before := &timer{at: now.Add(-time.Second), actor: &r.actor, sequence: 1}
	c.timers.push(before)
	asked := &timer{at: now, actor: &r.actor, index: -1}
	c.schedule(asked)
	require.Equal(t, dueTimers{before, asked}, r.actor.due)
	require.Empty(t, c.timers)
}

// Timers leave the heap by time and then by registration, wherever others are taken out.
func TestTimerHeap(t *testing.T) {
	t.Parallel()
	random := newRandom(7)
	for range 200 {
		var h timerHeap
		var all []*timer
		for i := range 100 {
			t := &timer{at: DefaultStart().Add(time.Duration(random.IntN(20)) * time.Second), sequence: uint64(i), index: -1}
			all = append(all, t)
			h.push(t)
		}
		for _, i := range []int{3, 50, 99, 98, 20, 21, 22} {
			require.Same(t, all[i], h.remove(int(all[i].index)))
			require.EqualValues(t, -1, all[i].index)
		}
		last := h.remove(0)
		for len(h) > 0 {
			for i, e := range h {
				require.EqualValues(t, i, e.timer.index)
			}
			next := h.remove(0)
			require.True(t, last.before(next))
			last = next
		}
	}
}
