package plan

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// What is learned is smoothed, as past jobs do not show all that can happen.
const (
	// unseenShare is the share of the jobs, at most, that a plan takes to be of any length
	// around the others.
	unseenShare = 0.1
	// unseenSigma is the deviation of the logarithm of their lengths, at least.
	unseenSigma = 1.5
	// guess is the deviation of the logarithm before the first sample. It counts as
	// one sample.
	guess = 0.3
	// bins is how many lengths are told apart, evenly in the logarithm.
	bins = 8192
	// margin is how far, in the logarithm, the bins go on at both sides.
	margin = 8
	// instant is the duration, in seconds, that shorter ones count as.
	instant = 0.1
	// beyond times the longest duration is where a job that still ran may end.
	beyond = 4
)

// Learn returns the distribution of past durations: a kernel estimate of the
// logarithms. Intervals count by Turnbull's estimator (J. R. Statist. Soc. B 38 (1976),
// 290-295). A plan for it also allows for lengths that were not seen: see
// [Distribution.WithUnseen].
//
// The error is [ErrNoSamples] or a [SampleError].
func Learn(samples []Sample) (Distribution, error) {
	k, err := newKernel(samples)
	if err != nil {
		return Distribution{}, err
	}
	share := min(unseenShare, 1/float64(len(samples)+1))
	wide := lognormal{math.Exp(k.middle), max(unseenSigma, k.deviation)}
	edges, seen, all := make([]float64, bins+1), make([]float64, bins+1), make([]float64, bins+1)
	for i, jobs := range k.smooth {
		seen[i+1] = seen[i] + jobs
	}
	for i := range edges {
		edges[i] = math.Exp(k.low + float64(i)*k.step)
		all[i] = (1-share)*seen[i] + share*wide.below(edges[i])
	}
	text := fmt.Sprintf("learned from %d durations", len(samples))
	d, mixed := histogram(text, edges, seen), histogram(text, edges, all)
	d.learned, mixed.learned = true, true
	d.unseen, d.mixed = share, &mixed
	return d, nil
}

// WithUnseen returns the distribution with the jobs of other lengths that a plan for it
// allows for, and their share. After n jobs the next one is of another kind with the
// chance 1/(n+1), by the rule of succession, but at most one in ten: such jobs are
// lognormal around the others. A stated distribution has none.
func (d Distribution) WithUnseen() (all Distribution, share float64) {
	if d.mixed == nil {
		return d, 0
	}
	return *d.mixed, d.unseen
}

// kernel is the estimate of the logarithms of durations, in bins.
type kernel struct {
	low, step float64
	// raw is the share of the samples in each bin, smooth the same after smoothing.
	raw, smooth       []float64
	middle, deviation float64 // of the logarithms
	width             float64 // of the smoothing
}

func logarithm(d time.Duration) float64 { return math.Log(max(instant, d.Seconds())) }

func newKernel(samples []Sample) (*kernel, error) {
	if err := checkSamples(samples); err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range samples {
		low, high = min(low, logarithm(s.From)), max(high, logarithm(s.From))
		if s.To != Forever {
			high = max(high, logarithm(s.To))
		}
	}
	k := &kernel{low: low - margin}
	k.step = (high - low + 2*margin) / bins
	k.place(samples, high+math.Log(beyond))
	k.describe(len(samples))
	k.blur()
	return k, nil
}

func (k *kernel) bin(x float64) int {
	return min(max(0, int((x-k.low)/k.step)), bins-1)
}

func (k *kernel) center(i int) float64 { return k.low + (float64(i)+0.5)*k.step }

// place puts the samples into bins, intervals by Turnbull's rule: a job is as likely
// in one bin of its interval as the estimate so far has jobs there.
func (k *kernel) place(samples []Sample, longest float64) {
	exact := make([]float64, bins)
	type interval struct{ from, to int }
	intervals := map[interval]float64{}
	each := 1 / float64(len(samples))
	for _, s := range samples {
		i := interval{k.bin(logarithm(s.From)), k.bin(longest)}
		if s.To != Forever {
			i.to = k.bin(logarithm(s.To))
		}
		if i.from < i.to { // it still ran at From: else neighbours share a bin, which takes all
			i.from++
		}
		if i.from == i.to {
			exact[i.from] += each
		} else {
			intervals[i] += each
		}
	}
	k.raw = exact
	if len(intervals) == 0 {
		return
	}
	const rounds = 100
	now, sums, change := make([]float64, bins), make([]float64, bins+1), make([]float64, bins+1)
	for i := range now {
		now[i] = 1.0 / bins
	}
	for range rounds {
		for i, p := range now {
			sums[i+1] = sums[i] + p
		}
		clear(change)
		for i, share := range intervals {
			inside := sums[i.to+1] - sums[i.from]
			if inside <= 0 {
				continue
			}
			change[i.from] += share / inside
			change[i.to+1] -= share / inside
		}
		factor := 0.0
		for i := range now {
			factor += change[i]
			now[i] = exact[i] + now[i]*max(0, factor)
		}
	}
	k.raw = now
}

// describe finds the middle and the spread of the samples, and the width of smoothing
// for so many of them: Silverman's rule (Density Estimation (1986), 3.31), with the
// guess as one more sample. Of two kinds of jobs the quartiles lie apart, and the shortest
// half in one of them. Few samples lie closer together than the jobs do: 2/n corrects both.
func (k *kernel) describe(count int) {
	mean, square := 0.0, 0.0
	for i, share := range k.raw {
		mean += share * k.center(i)
		square += share * k.center(i) * k.center(i)
	}
	k.middle, k.deviation = mean, math.Sqrt(max(0, square-mean*mean))
	n := float64(count)
	spread := min(k.deviation, k.shortest(0.5+2/n)/1.35) * (1 + 2/n)
	spread = math.Sqrt(((n-1)*spread*spread + guess*guess) / n)
	k.width = max(0.9*spread*math.Pow(n, -0.2), k.step)
}

// shortest is the length of the shortest interval that holds a share of the samples.
func (k *kernel) shortest(share float64) float64 {
	best, sum, from := bins, 0.0, 0
	for i, s := range k.raw {
		sum += s
		for sum-k.raw[from] >= share {
			sum -= k.raw[from]
			from++
		}
		if sum >= share {
			best = min(best, i-from)
		}
	}
	return float64(best) * k.step
}

// blur smooths the bins.
func (k *kernel) blur() {
	reach := int(4*k.width/k.step) + 1
	weights, sum := make([]float64, 2*reach+1), 0.0
	for i := range weights {
		z := float64(i-reach) * k.step / k.width
		weights[i] = math.Exp(-z * z / 2)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	k.smooth = make([]float64, bins)
	for i, share := range k.raw {
		if share == 0 {
			continue
		}
		for j, w := range weights {
			k.smooth[min(max(0, i+j-reach), bins-1)] += share * w
		}
	}
}

// modes are the logarithms at which the estimate has a peak: one that holds a share of
// the jobs worth naming, with a valley to the next that is half as high at most.
func (k *kernel) modes() []float64 {
	const least = 0.05
	var found []float64
	peak, valley, sum := 0, math.Inf(1), 0.0
	end := func() {
		if sum >= least {
			found = append(found, k.center(peak))
		}
	}
	rising := true
	for i, h := range k.smooth {
		switch {
		case rising && h > k.smooth[peak]:
			peak = i
		case rising && h < k.smooth[peak]/2:
			rising, valley = false, h
		case !rising && h < valley:
			valley = h
		case !rising && h > 2*valley && h > 1e-9:
			end()
			rising, peak, sum = true, i, 0
		}
		sum += h
	}
	end()
	return slices.Clip(found)
}
