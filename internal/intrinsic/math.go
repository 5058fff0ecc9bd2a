package intrinsic

import (
	"encoding/json"
	"math"
	"strconv"
)

// mathAdd adds two numbers, each rounded to a whole one first. AWS takes and
// gives numbers of 32 bits.
func mathAdd(e *evaluation) (any, error) {
	a, err := e.round(0)
	if err != nil {
		return nil, err
	}
	b, err := e.round(1)
	if err != nil {
		return nil, err
	}
	sum := a + b
	if sum < math.MinInt32 || sum > math.MaxInt32 {
		return nil, e.refuse("expected a sum of 32 bits, found %d", sum)
	}
	return decimal(sum), nil
}

// mathRandom gives a number from the first argument up to, without, the second.
// A third argument is a seed, for which it gives the number that AWS gives.
func mathRandom(e *evaluation) (any, error) {
	low, err := e.integer(0)
	if err != nil {
		return nil, err
	}
	high, err := e.integer(1)
	if err != nil {
		return nil, err
	}
	if high <= low {
		return nil, e.refuse("expected an end that is greater than the start, found %d to %d", low, high)
	}
	if len(e.arguments) < 3 {
		return decimal(low + e.env.Random.Int64N(high-low)), nil
	}
	seed, err := e.seed(2)
	if err != nil {
		return nil, err
	}
	return decimal(seedRandom(seed).between(low, high)), nil
}

// seed is an argument that is a number of 64 bits.
func (e *evaluation) seed(i int) (int64, error) {
	number, ok := e.arguments[i].(json.Number)
	if !ok {
		return 0, e.invalid(i, "a number")
	}
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return n, nil
	}
	f, err := number.Float64()
	if err != nil || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, e.invalid(i, "a number of 64 bits")
	}
	return int64(f), nil
}

// javaRandom is the state of java.util.Random, whose numbers for a seed are laid
// down: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/Random.html
type javaRandom uint64

const (
	javaMultiplier = 0x5DEECE66D
	javaBits       = 48
)

func seedRandom(seed int64) *javaRandom {
	r := javaRandom((uint64(seed) ^ javaMultiplier) & (1<<javaBits - 1)) //nolint:gosec // bits, not a value
	return &r
}

// next gives that many random bits, 32 at most, as a number.
func (r *javaRandom) next(bits int) int64 {
	*r = (*r*javaMultiplier + 0xB) & (1<<javaBits - 1)
	return int64(*r >> (javaBits - bits)) //nolint:gosec // 32 bits at most
}

// between is the first of ints(low, high) of the Java class.
func (r *javaRandom) between(low, high int64) int64 {
	span := high - low
	if span > math.MaxInt32 {
		for {
			if n := int64(int32(r.next(32))); n >= low && n < high { //nolint:gosec // as Java's int
				return n
			}
		}
	}
	if span&(span-1) == 0 {
		return low + span*r.next(31)>>31
	}
	for {
		// The last numbers of 31 bits that do not fill a span are left out.
		bits := r.next(31)
		if n := bits % span; bits-n+span-1 <= math.MaxInt32 {
			return low + n
		}
	}
}
