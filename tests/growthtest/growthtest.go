// Package growthtest tells, in tests, how the processor time of something grows with the
// number of things that there are. It compares times of one process in one run, so it
// says the same on a slow machine as on a fast one.
package growthtest

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/processortest"
	"github.com/jobpoller/jobpoller/tests/race"
)

// The numbers of things: each is four times the one before.
const (
	Few  = 1_000
	Some = 4_000
	Many = 16_000
)

const (
	// mostLinear is how many times longer four times as many things may take. A scan for
	// each thing makes it 16.
	mostLinear = 8
	// mostFlat is how many times longer a request may take where there are 16 times as
	// many things. One that goes through all of them takes 16 times as long.
	mostFlat = 4
	// tries is how often the times are taken: what else the machine does only adds to them.
	tries = 5
)

// Linear fails the test if what prepare returns takes more than twice as long for each of
// Many things as for each of Some. The test must not be parallel, and nor must one that
// runs meanwhile: the times are those of the process.
func Linear(t testing.TB, prepare func(n int) (work func())) {
	t.Helper()
	compare(t, mostLinear, Some, Many, prepare)
}

// Flat fails the test if what prepare returns, which does not depend on the number of
// things, takes longer the more there are.
func Flat(t testing.TB, prepare func(n int) (work func())) {
	t.Helper()
	compare(t, mostFlat, Few, Many, prepare)
}

func compare(t testing.TB, most float64, few, many int, prepare func(n int) (work func())) {
	t.Helper()
	if race.Enabled { // the times would be those of the detector
		prepare(Few / 10)()
		return
	}
	short, long := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range tries {
		short = min(short, measure(t, prepare(few)))
		long = min(long, measure(t, prepare(many)))
		if ratio(long, short) <= most {
			break
		}
	}
	t.Logf("%d things: %s, %d: %s, ratio %.1f", few, short, many, long, ratio(long, short))
	require.LessOrEqual(t, ratio(long, short), most, "%d things take %s of processor time, %d take %s", few, short, many, long)
}

func ratio(long, short time.Duration) float64 {
	return float64(long) / float64(max(short, time.Microsecond))
}

// measure returns the processor time of the work, without that of collecting garbage:
// that depends on what the tests before have left.
func measure(t testing.TB, work func()) time.Duration {
	t.Helper()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mostMemory = 3 << 30 // work that grows too fast must not fill the machine
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostMemory))
	before := processortest.Time(t)
	work()
	return processortest.Time(t) - before
}
