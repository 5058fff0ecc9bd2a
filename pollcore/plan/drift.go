package plan

import (
	"cmp"
	"math"
	"slices"
)

// Drift is the result of a Kolmogorov-Smirnov test of whether later jobs take as long as
// the distribution, or the earlier jobs, say.
type Drift struct {
	// Distance is the largest difference between the shares of jobs up to a duration.
	Distance float64
	// Chance is how often jobs that did not drift are as distant or more.
	Chance float64
}

// DriftFrom tests jobs against a distribution that was stated before them. Its chance
// takes Stephens's correction for few jobs (J. R. Statist. Soc. B 32 (1970), 115-122). An
// interval counts at its nearest to the distribution, so that it never seems a drift.
//
// The error is [ErrNoSamples] or a [SampleError]. Where nothing is known, nothing drifts.
func DriftFrom(d Distribution, later []Sample) (Drift, error) {
	if err := checkSamples(later); err != nil {
		return Drift{}, err
	}
	if !d.IsKnown() {
		return Drift{Chance: 1}, nil
	}
	n, distance := float64(len(later)), 0.0
	least, most := bounds(later)
	c := cursor{d: &d}
	for i, x := range least {
		distance = max(distance, c.share(x)-float64(i)/n)
	}
	c = cursor{d: &d}
	for i, x := range most {
		distance = max(distance, float64(i+1)/n-c.share(x))
	}
	root := math.Sqrt(n)
	return Drift{distance, exceeding((root + 0.12 + 0.11/root) * distance)}, nil
}

// DriftBetween tests later jobs against earlier ones. Its chance is Smirnov's, of many
// jobs. Intervals count as in [DriftFrom].
//
// The error is [ErrNoSamples] or a [SampleError].
func DriftBetween(earlier, later []Sample) (Drift, error) {
	if err := cmp.Or(checkSamples(earlier), checkSamples(later)); err != nil {
		return Drift{}, err
	}
	firstLeast, firstMost := bounds(earlier)
	thenLeast, thenMost := bounds(later)
	distance := max(ahead(firstMost, thenLeast), ahead(thenMost, firstLeast))
	n, m := float64(len(earlier)), float64(len(later))
	return Drift{distance, exceeding(math.Sqrt(n*m/(n+m)) * distance)}, nil
}

// bounds are the shortest and the longest times that jobs can have taken, in seconds and
// in order.
func bounds(samples []Sample) (least, most []float64) {
	for _, s := range samples {
		least, most = append(least, s.From.Seconds()), append(most, s.To.Seconds())
	}
	slices.Sort(least)
	slices.Sort(most)
	return least, most
}

// ahead is by how much the share of a up to a time exceeds that of b at most.
func ahead(a, b []float64) float64 {
	distance, j := 0.0, 0
	for i, x := range a {
		for j < len(b) && b[j] <= x {
			j++
		}
		distance = max(distance, float64(i+1)/float64(len(a))-float64(j)/float64(len(b)))
	}
	return distance
}

// exceeding is the share of Kolmogorov's distribution above x.
func exceeding(x float64) float64 {
	const small, terms = 0.2, 100
	if x < small { // where the sum alternates for long, and the share is 1
		return 1
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= terms; k++ {
		sum += sign * math.Exp(-2*k*k*x*x)
		sign = -sign
	}
	return min(max(2*sum, 0), 1)
}
