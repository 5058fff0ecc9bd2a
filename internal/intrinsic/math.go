package intrinsic

import (
	"math/rand/v2"
)

// mathAdd adds two numbers, each rounded to a whole one first.
func mathAdd(e *evaluation) (any, error) {
	a, err := e.integer(0)
	if err != nil {
		return nil, err
	}
	b, err := e.integer(1)
	if err != nil {
		return nil, err
	}
	sum := a + b
	if (sum > a) != (b > 0) {
		return nil, e.fail("Invalid arguments in %s: the sum has more than 64 bits", e.call.function.name)
	}
	return whole(sum), nil
}

// mathRandom gives a number from the first argument up to, without, the second.
// A third argument makes it the same every time; it is not the number that AWS
// gives for it.
func mathRandom(e *evaluation) (any, error) {
	low, err := e.integer(0)
	if err != nil {
		return nil, err
	}
	high, err := e.integer(1)
	if err != nil {
		return nil, err
	}
	random := e.env.Random
	if len(e.arguments) > 2 {
		seed, err := e.integer(2)
		if err != nil {
			return nil, err
		}
		random = rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // repeatable by design
	}
	if high <= low || high-low <= 0 {
		return nil, e.fail("Invalid arguments in %s: the end (%d) has to be greater than the start (%d)", e.call.function.name, high, low)
	}
	return whole(low + random.Int64N(high-low)), nil
}
