package plan

import (
	"math"
	"slices"
	"time"
)

// Summary says what past durations look like. An interval counts as its middle, a job
// that still ran as the time that it had run.
type Summary struct {
	Count int
	// Intervals is how many of the durations are not known exactly.
	Intervals int
	Mean      time.Duration
	// Shortest to Longest are the quantiles 0, 5, 25, 50, 75, 95 and 100 %: of two in the
	// middle the median is the mean.
	Shortest, P5, P25, P50, P75, P95, Longest time.Duration
	// Variation is the standard deviation as a share of the mean.
	Variation float64
	// Modes are the durations around which jobs gather, shortest first: one for most
	// jobs, two where some jobs find nothing to do.
	Modes []time.Duration
}

// Summarize describes durations. The error is [ErrNoSamples] or a [SampleError].
func Summarize(samples []Sample) (Summary, error) {
	k, err := newKernel(samples)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Count: len(samples)}
	sorted, sum := make([]time.Duration, len(samples)), 0.0
	for i, one := range samples {
		if sorted[i] = one.From; one.From != one.To {
			s.Intervals++
			if one.To != Forever {
				sorted[i] += (one.To - one.From) / 2
			}
		}
		sum += sorted[i].Seconds()
	}
	slices.Sort(sorted)
	at := func(percent int) time.Duration { // the shortest that so many percent do not exceed
		return sorted[max(0, (len(sorted)*percent+99)/100-1)] //nolint:mnd // percent, rounded up
	}
	s.Shortest, s.P5, s.P25, s.P50, s.P75, s.P95, s.Longest = at(0), at(5), at(25), at(50), at(75), at(95), at(100)
	if n := len(sorted); n%2 == 0 {
		s.P50 += (sorted[n/2] - s.P50) / 2 //nolint:mnd // half of the distance
	}
	mean, variance := sum/float64(len(sorted)), 0.0
	for _, d := range sorted {
		variance += (d.Seconds() - mean) * (d.Seconds() - mean) / float64(len(sorted))
	}
	if s.Mean = duration(mean); mean > 0 {
		s.Variation = math.Sqrt(variance) / mean
	}
	for _, mode := range k.modes() {
		s.Modes = append(s.Modes, duration(math.Exp(mode)))
	}
	return s, nil
}
