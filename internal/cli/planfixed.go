package cli

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// fixedDelay is a delay between all polls, in seconds, and the statistic of its lateness.
type fixedDelay struct{ delay, late float64 }

// findAsLate is the fixed delay that sees past jobs as late as another schedule does, by
// the statistic of the goal: the nearest of those that are no later. The fixed delay of a
// plan is as late as its schedule only with the jobs that the plan allows for.
func (c coster) findAsLate(goal plan.Goal, other pollcore.Planned) pollcore.Planned {
	const tries = 20 // candidates are of a sample
	most := statisticOf(goal, plan.MeasurePlanned(c.durations, other))
	all := c.tryFixed(goal, most, other.Jitter)
	for _, f := range all[:min(tries, len(all))] {
		s := f.schedule(other.Jitter)
		if statisticOf(goal, plan.MeasurePlanned(c.durations, s)) <= most*(1+exact) {
			return s
		}
	}
	return all[0].schedule(other.Jitter)
}

// statisticOf is the lateness that the goal is about: seconds, or a share of the length.
func statisticOf(goal plan.Goal, cost plan.Cost) float64 {
	late, share := cost.Mean, cost.MeanShare
	switch goal.At {
	case plan.P50:
		late, share = cost.P50, cost.P50Share
	case plan.P95:
		late, share = cost.P95, cost.P95Share
	case plan.Mean, plan.Worst: // of Worst no plan has a fixed delay
	}
	if goal.Share > 0 {
		return share
	}
	return late.Seconds()
}

// tryFixed are fixed delays, the nearest first to a lateness that they do not exceed. It
// stops where they are clearly later: one that is near the length of most jobs can be in
// time again, by chance.
func (c coster) tryFixed(goal plan.Goal, most float64, jitter time.Duration) (all []fixedDelay) {
	const clearly = 2
	unit := 1.0 // a second of lateness, in what the goal counts
	if goal.Share > 0 {
		unit = 1 / max(shortestShare, c.durations.Mean().Seconds())
	}
	jobs := c.sample()
	// A delay is no later than it is long. As a share, the shortest job counts most.
	first := most / clearly
	if goal.Share > 0 {
		first *= shortestShare
	}
	longest := (pollcore.MaxPlannedDelay - jitter).Seconds()
	for delay := max(1, math.Floor(first)); delay <= longest; delay += max(1, math.Floor(delay/1000)) { //nolint:mnd // as fine as the sample
		f := fixedDelay{delay: delay}
		f.late = f.measure(jobs, goal, jitter)
		all = append(all, f)
		if f.late > clearly*max(most, unit) {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b fixedDelay) int {
		over := func(f fixedDelay) float64 { return max(0, f.late-most) }
		return cmp.Or(cmp.Compare(over(a), over(b)), cmp.Compare(b.late, a.late), cmp.Compare(b.delay, a.delay))
	})
	return all
}

// shortestShare is what shorter jobs count as in a share of their length: see [plan.Goal].
const shortestShare = 10

// sample are the lengths of some jobs, in seconds and in order.
func (c coster) sample() []float64 {
	jobs := make([]float64, 1000) //nolint:mnd // a percent of the mean is exact enough
	for i := range jobs {
		jobs[i] = c.durations.Quantile((float64(i) + 0.5) / float64(len(jobs))).Seconds() //nolint:mnd // the middle
	}
	return jobs
}

// measure is the statistic of the lateness with jobs that take turns in all of the jitter.
func (f fixedDelay) measure(jobs []float64, goal plan.Goal, jitter time.Duration) float64 {
	first := f.schedule(jitter).Before(1).Seconds()
	late, sum := make([]float64, len(jobs)), 0.0
	for i, took := range jobs {
		_, turn := math.Modf((float64(i) + 0.5) * math.Phi) //nolint:mnd // an even sequence
		left := took - first - turn*jitter.Seconds()
		late[i] = max(0, math.Ceil(left/f.delay))*f.delay - left
		if goal.Share > 0 {
			late[i] /= max(shortestShare, took)
		}
		sum += late[i]
	}
	if goal.At == plan.Mean {
		return sum / float64(len(late))
	}
	slices.Sort(late)
	at := 0.5 //nolint:mnd // the median
	if goal.At == plan.P95 {
		at = 1 - overP95
	}
	return late[int(math.Ceil(at*float64(len(late))))-1]
}

// schedule is the delay as a schedule. With a jitter its first poll is as late on average.
func (f fixedDelay) schedule(jitter time.Duration) pollcore.Planned {
	delay := seconds(f.delay)
	first := max(time.Second, delay-(jitter/2).Round(time.Second)) //nolint:mnd // the middle
	return pollcore.Planned{Delays: []time.Duration{first}, Then: delay, Jitter: jitter}
}
