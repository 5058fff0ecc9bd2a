package compile

import (
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Hold returns the schedule that a machine has where this one is asked for, and whether
// that is the same. Only RetryTask changes one: it holds the first delay, with its jitter,
// and a few others, each for a stretch of calls.
func (s Strategy) Hold(p pollcore.Planned) (held pollcore.Planned, same bool) {
	between, most := listBetween(p), s.traits().phases
	if len(between) == 0 || most == 0 {
		return p, true
	}
	held = pollcore.Planned{Delays: p.Delays[:1:1], Then: p.Then, Jitter: p.Jitter}
	same = true
	for _, ph := range divide(between, p.Then, most-1) {
		held.Delays = append(held.Delays, slices.Repeat([]time.Duration{ph.delay}, ph.calls)...)
	}
	for n := 2; n <= len(p.Delays); n++ {
		same = same && held.Before(n) == p.Before(n)
	}
	if same {
		return p, true
	}
	return held, false
}

// PhaseEnds are the times since the start at which a machine goes on to its next phase, if
// nothing ends the wait before: the times of the last call of each phase but the last. They
// are those of the middle of the jitter. Each takes the Phase of [Strategy.Steps].
func (s Strategy) PhaseEnds(p pollcore.Planned) []time.Duration {
	if s.traits().phases == 0 {
		return nil
	}
	held, _ := s.Hold(p)
	return endsOf(held.Before(1)+held.Jitter/2, listPhases(append(slices.Clone(listBetween(held)), held.Then)))
}

// listBetween are the delays between calls that a schedule lists, without those at
// the end that are as all later ones.
func listBetween(p pollcore.Planned) []time.Duration {
	between := p.Delays[1:]
	for len(between) > 0 && between[len(between)-1] == p.Then {
		between = between[:len(between)-1]
	}
	return between
}

// phase is a stretch of calls with the same delay before each.
type phase struct {
	delay time.Duration
	calls int
}

// span is the time from the call before the phase to its last one.
func (ph phase) span() time.Duration { return time.Duration(ph.calls) * ph.delay }

// listPhases are the phases of delays. Two neighbours differ in their delay.
func listPhases(delays []time.Duration) []phase {
	var all []phase
	for _, d := range delays {
		if n := len(all); n > 0 && all[n-1].delay == d {
			all[n-1].calls++
			continue
		}
		all = append(all, phase{d, 1})
	}
	return all
}

// endsOf are the times of the last calls of all phases but the last, after an initial
// delay.
func endsOf(initial time.Duration, phases []phase) []time.Duration {
	var ends []time.Duration
	for _, ph := range phases[:max(0, len(phases)-1)] {
		initial += ph.span()
		ends = append(ends, initial)
	}
	return ends
}

// divide puts delays into a number of phases at most, each with the mean of its delays
// in whole seconds, before those that are left to the delay of all later calls. The
// integral over time of the square of log(delay / delay of its phase) is the least there
// is; of divisions with the same integral it takes one with the fewest phases.
func divide(delays []time.Duration, then time.Duration, most int) []phase {
	const alike = 1e-6 // what an integral may miss by its rounding
	n := len(delays)
	sums, logs, squares := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for i, d := range delays {
		seconds, log := d.Seconds(), math.Log(d.Seconds())
		sums[i+1], logs[i+1], squares[i+1] = sums[i]+seconds, logs[i]+seconds*log, squares[i]+seconds*log*log
	}
	mean := func(from, to int) float64 { return math.Round((sums[to] - sums[from]) / float64(to-from)) }
	cost := func(from, to int, delay float64) float64 {
		log := math.Log(delay)
		return max(0, squares[to]-squares[from]-2*log*(logs[to]-logs[from])+(sums[to]-sums[from])*log*log)
	}
	// least[to] is that of the first delays in the phases so far, and begins says
	// where the last of them begins, by the number of phases.
	least := slices.Repeat([]float64{math.Inf(1)}, n+1)
	least[0] = 0
	begins := [][]int{nil}
	best, end, phases := cost(0, n, then.Seconds()), 0, 0
	for k := 1; k <= min(most, n); k++ {
		next, from := slices.Repeat([]float64{math.Inf(1)}, n+1), make([]int, n+1)
		for to := k; to <= n; to++ {
			for at := k - 1; at < to; at++ {
				if c := least[at] + cost(at, to, mean(at, to)); c < next[to] {
					next[to], from[to] = c, at
				}
			}
			if c := next[to] + cost(to, n, then.Seconds()); c < best-alike {
				best, end, phases = c, to, k
			}
		}
		least, begins = next, append(begins, from)
	}
	var all []phase
	for k := phases; k > 0; k-- {
		from := begins[k][end]
		all = append(all, phase{time.Duration(mean(from, end)) * time.Second, end - from})
		end = from
	}
	slices.Reverse(all)
	return all
}
