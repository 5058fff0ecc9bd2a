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
	quantile := func(exceeding, high float64, later func(late float64) float64) float64 {
		return findFall(high, func(late float64) float64 { return later(late) - exceeding*mean.seen })
	}
	var every, drawn []sightings
	for _, p := range all {
		every, drawn = append(every, p.meet(d)), append(drawn, p.draw(d)...)
	}
	seconds := func(late float64) float64 { return later(every, late, 0) }
	share := func(late float64) float64 { return later(drawn, 0, late) }
	cost.Mean = duration(mean.late / mean.seen)
	cost.P50 = duration(quantile(0.5, mean.longest, seconds))
	cost.P95 = duration(quantile(0.05, mean.longest, seconds))
	cost.Worst = duration(quantile(none, mean.longest, seconds)).Round(time.Millisecond)
	cost.MeanShare = max(0, mean.share/mean.seen)
	cost.P50Share = quantile(0.5, mean.longest/shortest, share)
	cost.P95Share = quantile(0.05, mean.longest/shortest, share)
	return cost
}
