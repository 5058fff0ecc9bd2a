package plan

import (
	"iter"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Cost is what a schedule costs for a distribution of durations. Lateness is the time
// from the end of a job to the poll that sees it. Calls take no time.
type Cost struct {
	// Calls is the mean number of calls for a job.
	Calls float64
	// Mean, P50 and P95 are statistics of the lateness.
	Mean, P50, P95 time.Duration
	// Worst is the lateness that no job exceeds. Jobs of a length that the distribution
	// does not have can be seen later: up to the longest delay.
	Worst time.Duration
	// MeanShare, P50Share and P95Share are the same statistics of the lateness as a
	// share of the job's own length, as in [Goal].
	MeanShare, P50Share, P95Share float64
	// Missed is the share of the jobs that run longer than the schedule waits. Calls
	// counts theirs too; the lateness is of the others.
	Missed float64
}

// paths is how many times draws of random delays are drawn, and drawnPolls how many
// polls they have in all.
const (
	paths      = 400
	drawnPolls = 100_000
)

// Measure computes what a schedule costs. It draws random delays many times, always
// the same ones. Without durations that are known, the cost is 0.
func Measure(d Distribution, s pollcore.Schedule) Cost {
	if !d.IsKnown() {
		return Cost{}
	}
	if s.Planned != nil && s.Planned.Jitter > 0 {
		return measureJitter(d, s)
	}
	if s.Random == nil {
		random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the figures must be the same in every run
		s.Random = func(lo, hi time.Duration) time.Duration {
			return lo + time.Duration(random.Int64N(max(1, int64(hi-lo)+1)))
		}
	}
	all := []polls{walk(&d, delaysOf(s)), walk(&d, delaysOf(s))}
	if slices.Equal(all[0].times, all[1].times) {
		all = all[:1]
	}
	for count := 2 * len(all[0].times); len(all) > 1 && len(all) < paths && count < drawnPolls; count += len(all[len(all)-1].times) {
		all = append(all, walk(&d, delaysOf(s)))
	}
	for i := range all {
		if all[i].then > 0 {
			all[i].until = max(s.Total.Seconds(), all[i].times[len(all[i].times)-1])
		}
	}
	return measure(&d, all)
}

// measureJitter computes what a planned schedule costs with its jitter.
func measureJitter(d Distribution, s pollcore.Schedule) Cost {
	undrawn, jitter := *s.Planned, s.Planned.Jitter
	undrawn.Jitter = 0
	s.Planned = &undrawn
	if d.Quantile(1) < s.Total-jitter {
		return Measure(*d.lessJitter(jitter.Seconds()), s)
	}
	// Some jobs run on when the schedule ends, which is not later with the jitter.
	var all []polls
	for phase := range phases {
		moved := undrawn
		moved.Delays = slices.Clone(undrawn.Delays)
		moved.Delays[0] += jitter * time.Duration(2*phase+1) / (2 * phases)
		s.Planned = &moved
		all = append(all, walk(&d, delaysOf(s)))
	}
	return measure(&d, all)
}

// MeasureDelays computes what a schedule costs that is not a [pollcore.Schedule], such
// as a retrier's backoff: the delay before the first call, before the second, and so on.
// Of several such lists, each a draw of random delays, it is the mean.
func MeasureDelays(d Distribution, delays ...iter.Seq[time.Duration]) Cost {
	if !d.IsKnown() || len(delays) == 0 {
		return Cost{}
	}
	all := make([]polls, len(delays))
	for i, one := range delays {
		all[i] = walk(&d, one)
	}
	return measure(&d, all)
}

// MeasurePlanned computes what a planned schedule costs that goes on until each job ends.
func MeasurePlanned(d Distribution, p pollcore.Planned) Cost {
	if !d.IsKnown() {
		return Cost{}
	}
	return MeasureDelays(*d.lessJitter(p.Jitter.Seconds()), func(yield func(time.Duration) bool) {
		n := 1
		for yield(p.Before(n)) {
			n++
		}
	})
}

// none is a share of the jobs that is as good as none.
const none = 1e-9

// measure is the mean cost of several lists of polls.
func measure(d *Distribution, all []polls) Cost {
	var mean sum
	n := float64(len(all))
	for _, p := range all {
		s := p.cost(d)
		mean.calls += s.calls / n
		mean.late += s.late / n
		mean.share += s.share / n
		mean.seen += s.seen / n
		mean.longest = max(mean.longest, s.longest)
	}
	cost := Cost{Calls: mean.calls, Missed: max(0, 1-mean.seen)}
	if cost.Missed < rarest {
		cost.Missed = 0
	}
	if mean.seen <= 0 {
		return cost
	}
	// quantile is the lateness that a share of the jobs that are seen exceeds.
	quantile := func(exceeding float64, later func(polls, float64) float64, high float64) float64 {
		low := 0.0
		for range 50 { // halves the longest delay, months even, to less than a nanosecond
			middle, sum := (low+high)/2, 0.0
			for _, p := range all {
				sum += later(p, middle) / n
			}
			if sum > exceeding*mean.seen {
				low = middle
			} else {
				high = middle
			}
		}
		return high
	}
	seconds := func(p polls, late float64) float64 { return p.later(d, late, 0) }
	share := func(p polls, late float64) float64 { return p.later(d, 0, late) }
	cost.Mean = duration(mean.late / mean.seen)
	cost.P50 = duration(quantile(0.5, seconds, mean.longest))
	cost.P95 = duration(quantile(0.05, seconds, mean.longest))
	cost.Worst = duration(quantile(none, seconds, mean.longest)).Round(time.Millisecond)
	cost.MeanShare = max(0, mean.share/mean.seen)
	cost.P50Share = quantile(0.5, share, mean.longest/shortest)
	cost.P95Share = quantile(0.05, share, mean.longest/shortest)
	return cost
}
