package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
)

// simulate draws jobs that end evenly between two times, in seconds, and returns
// the means of their polls and of the seconds from their end to the poll that
// sees it.
func simulate(p timing, by delays, from, to float64, jobs int) (polls, lateness float64) {
	source := rand.New(rand.NewPCG(1, 1))
	s := p.rule()
	delay := func(n int, now float64) float64 {
		return s.Next(pollcore.Retry, pollcore.Progress{Attempts: n, Elapsed: time.Duration(now * float64(time.Second))}).Delay.Seconds()
	}
	switch by {
	case even:
		delay = func(int, float64) float64 { return float64(p.low) }
	case undrawn, picked:
		s.Random, s.Total = middle, math.MaxInt64
		if by == undrawn || p.planned == nil {
			break
		}
		next := delay
		delay = func(n int, now float64) float64 {
			least := next(n, now)
			for _, d := range append(p.planned.Delays[1:], p.planned.Then) {
				if left := float64(p.total) - now; d.Seconds() >= left && d.Seconds() < least {
					least = d.Seconds()
				}
			}
			return least
		}
	case drawn:
		s.Random = func(lo, hi time.Duration) time.Duration {
			return (lo + time.Duration(source.Int64N(int64(hi-lo)+1))).Round(time.Second)
		}
	}
	for range jobs {
		end := from + source.Float64()*(to-from)
		now, n := float64(p.initial), 1
		for ; now < end && now < float64(p.total); n++ {
			now += delay(n, now)
		}
		polls += float64(n)
		lateness += max(0, now-end)
	}
	return polls / float64(jobs), lateness / float64(jobs)
}

// The closed form gives what jobs take that are drawn one by one.
func TestExpectedIsTheMeanOfJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ total, initial, low, hi, from, to int }{
		{2400, 0, 20, 60, 0, 2400},
		{7200, 0, 20, 60, 0, 7200},
		{3600, 30, 2, 60, 0, 3600},
		{3600, 30, 2, 60, 900, 1200},
		{3600, 0, 5, 600, 100, 3000},
		{86400, 0, 15, 120, 3600, 86400},
		{3600, 600, 20, 60, 60, 900},
		{600, 0, 30, 30, 0, 600},
		{601, 0, 20, 30, 0, 600},
		{1800, 0, 20, 60, 0, 3600},
		{1800, 0, 20, 60, 777, 777},
		{1800, 0, 30, 30, 600, 600},
		{20, 0, 20, 20, 0, 20},
		{5, 0, 20, 60, 0, 5},
		{3600, 0, 1, 1, 0, 3600},
	} {
		for _, by := range []delays{drawn, undrawn, even} {
			t.Run(fmt.Sprint(c, by), func(t *testing.T) {
				t.Parallel()
				p := timing{total: c.total, initial: c.initial, low: c.low, hi: c.hi}
				from, to := float64(c.from), float64(c.to)
				polls, late := expect(p.pace(by), from, to)
				const jobs = 4000
				wantPolls, wantLate := simulate(p, by, from, to, jobs)
				require.InEpsilon(t, wantPolls, polls, 0.03)
				require.InDelta(t, wantLate, late, 0.03*wantLate+0.2)
			})
		}
	}
}

// A schedule has the delays that it lists, and the last one is the strategy's.
func TestExpectedOfASchedule(t *testing.T) {
	t.Parallel()
	planned := pollcore.Planned{Delays: seconds(60, 10, 10, 300, 45, 45, 45, 20, 100), Then: 150 * time.Second}
	for _, total := range []int{400, 590, 700, 900, 3000} {
		for _, by := range []delays{drawn, undrawn, picked} {
			t.Run(fmt.Sprint(total, by), func(t *testing.T) {
				t.Parallel()
				p := newTiming(pollcore.Schedule{Total: time.Duration(total) * time.Second, Planned: &planned})
				const jobs = 20_000
				polls, late := expect(p.pace(by), 0, float64(total))
				wantPolls, wantLate := simulate(p, by, 0, float64(total), jobs)
				require.InEpsilon(t, wantPolls, polls, 0.01)
				require.InEpsilon(t, wantLate, late, 0.02)
			})
		}
	}
}

// The longest wait with the shortest delay needs a few stretches alone.
func TestPaceIsShort(t *testing.T) {
	t.Parallel()
	p := timing{total: 365 * 24 * 3600, low: 1, hi: 60}
	require.Less(t, len(p.pace(drawn)), 50)
	p.hi = p.total
	require.Less(t, len(p.pace(drawn)), 150)
}
