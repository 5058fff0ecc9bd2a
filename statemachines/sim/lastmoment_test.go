package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A World comes no further than the year 9999, and its journal stays whole.
func TestClockAtTheEndOfTime(t *testing.T) {
	t.Parallel()
	last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	const definition = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": true}}}`
	manual := func(start time.Time) *sim.Clock {
		clock, err := sim.NewClock(start, 0)
		require.NoError(t, err)
		return clock
	}
	for name, tt := range map[string]struct {
		clock *sim.Clock
		move  func(*sim.Clock) error
	}{
		"virtual": {sim.NewVirtualClock(last.Add(-90 * time.Second)), func(*sim.Clock) error { return nil }},
		"manual": {manual(last.Add(-90 * time.Second)), func(c *sim.Clock) error {
			require.ErrorContains(t, c.Advance(t.Context(), last.Add(time.Second)), "cannot show 10000-01-01T00:00:00Z")
			return c.Advance(t.Context(), last)
		}},
		"fast": {manual(last.Add(-90 * time.Second)), func(c *sim.Clock) error { return c.SetFactor(1e6) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &memory{}
			w := newWorld(t, sim.WorldOptions{Clock: tt.clock, Journal: j})
			ends := start(t, w, definition, `{}`, sim.Options{Execution: "ends"})
			require.NoError(t, tt.move(tt.clock))
			<-ends.Done()
			waits := start(t, w, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 99999999, "End": true}}}`, `{}`, sim.Options{Execution: "waits"})
			require.NoError(t, tt.clock.Advance(t.Context(), last))
			require.NoError(t, w.Err())
			require.Equal(t, sim.StatusRunning, waits.Status())
			require.Equal(t, last, tt.clock.Now().UTC())
			require.Zero(t, tt.clock.State().Next)
			_, err := waits.Stop("", "")
			require.NoError(t, err)
			require.NoError(t, w.Err())
		})
	}
}

// An execution of its own, without a World, ends behind that year, too.
func TestRunBehindTheEndOfTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := sim.Run(ctx, parse(t, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": true}}}`), nil,
		sim.Options{Clock: sim.NewVirtualClock(time.Date(9999, time.December, 31, 23, 59, 30, 0, time.UTC))})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status)
}
