package plan

import (
	"math"
)

// shape is a distribution of durations, in seconds, that two numbers describe.
type shape interface {
	// below is the share of the durations up to x.
	below(x float64) float64
	// quantile is the duration that the share p of them does not exceed.
	quantile(p float64) float64
}

type constant struct{ value float64 }

func (s constant) quantile(float64) float64 { return s.value }

func (s constant) below(x float64) float64 {
	if x < s.value {
		return 0
	}
	return 1
}

type uniform struct{ low, high float64 }

func (s uniform) quantile(p float64) float64 { return s.low + p*(s.high-s.low) }

func (s uniform) below(x float64) float64 {
	return min(1, max(0, (x-s.low)/(s.high-s.low)))
}

type lognormal struct{ median, sigma float64 }

func (s lognormal) quantile(p float64) float64 {
	return s.median * math.Exp(s.sigma*math.Sqrt2*math.Erfinv(2*p-1))
}

func (s lognormal) below(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return math.Erfc(-math.Log(x/s.median)/(s.sigma*math.Sqrt2)) / 2
}

// weibull is exponential where its power is 1.
type weibull struct{ scale, power float64 }

func (s weibull) quantile(p float64) float64 {
	return s.scale * math.Pow(-math.Log1p(-p), 1/s.power)
}

func (s weibull) below(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return -math.Expm1(-math.Pow(x/s.scale, s.power))
}

// part is a share of the durations that have one shape.
type part struct {
	share float64
	shape shape
}

// cells is how many cells a shape has between its 0.1 % and 99.9 % quantiles. A
// sixth as many on each side go on to the one job in ten million.
const cells = 1200

// moment is the share of a duration within which all jobs end that take as long.
const moment = 1e-9

// rarest is the share of the durations that is left out at each end of a shape.
const rarest = 1e-7

// edges are the quantiles of a shape, from the rarest short one to the rarest long one.
func edges(s shape) []float64 {
	if c, ok := s.(constant); ok {
		return []float64{c.value * (1 - moment), c.value}
	}
	var all []float64
	const bulk = 1e-3
	tail := cells / 6
	for i := range tail {
		all = append(all, s.quantile(rarest*math.Pow(bulk/rarest, float64(i)/float64(tail))))
	}
	for i := range cells {
		all = append(all, s.quantile(bulk+(1-2*bulk)*float64(i)/cells))
	}
	for i := range tail + 1 {
		all = append(all, s.quantile(1-bulk*math.Pow(rarest/bulk, float64(i)/float64(tail))))
	}
	return all
}
