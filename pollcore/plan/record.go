package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Record returns the distribution of past durations as they were, for what schedules
// would have cost these jobs. [Learn] allows for jobs that were not seen; plan with that.
// A job is as likely to have ended at any time of its interval.
//
// The error is [ErrNoSamples] or a [SampleError].
func Record(samples []Sample) (Distribution, error) {
	if err := checkSamples(samples); err != nil {
		return Distribution{}, err
	}
	longest := 0.0
	for _, s := range samples {
		longest = max(longest, s.From.Seconds())
		if s.To != Forever {
			longest = max(longest, s.To.Seconds())
		}
	}
	// At a time, jobs of this length end, and intervals begin or end.
	type step struct {
		at, jobs, rate float64
		intervals      int
	}
	var steps []step
	each := 1 / float64(len(samples))
	for _, s := range samples {
		from, to := max(instant, s.From.Seconds()), max(instant, s.To.Seconds())
		if s.To == Forever {
			to = beyond * max(instant, longest)
		}
		if from == to {
			steps = append(steps, step{at: to * (1 - moment)}, step{at: to, jobs: each})
			continue
		}
		rate := each / (to - from)
		steps = append(steps, step{at: from, rate: rate, intervals: 1}, step{at: to, rate: -rate, intervals: -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	var edges, below []float64
	sum, rate, intervals := 0.0, 0.0, 0
	for _, s := range steps {
		if n := len(edges); n == 0 {
			edges, below = []float64{s.at}, []float64{0}
		} else if edges[n-1] < s.at {
			sum += rate * (s.at - edges[n-1])
			edges, below = append(edges, s.at), append(below, sum)
		}
		sum += s.jobs
		below[len(below)-1] = sum
		if intervals += s.intervals; intervals == 0 {
			rate = 0 // without what rounding leaves
		} else {
			rate += s.rate
		}
	}
	d := histogram(fmt.Sprintf("%d durations", len(samples)), edges, below)
	d.learned = true
	return d, nil
}
