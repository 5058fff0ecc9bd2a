// Package bench_test compares what the budgets of docs/design.md are about
// with named peers in one run, and prints how they relate:
//
//	go test ./tests/bench -run '^$' -ratios
//
// The Lambda functions are compared by make bench-lambda, which builds them first.
package bench_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var ratios = flag.Bool("ratios", false, "measure all pairs and print their ratios")

// pair is a measured thing and its peer. Both do the same work n times.
type pair struct {
	name string
	ours func(b *testing.B)
	peer func(b *testing.B)
	// slower says which way the ratio is printed: how much slower ours is
	// than the peer, else how much faster.
	slower bool
	// bound is the budget: at most, if slower, else at least.
	bound float64
	// allocs is how many allocations ours may make.
	allocs int64
}

// pairs are all that is measured. A file of this package lists its own.
var pairs = slices.Concat(jmespathPairs, pollcorePairs, catalogPairs, jsontreePairs, worldPairs)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && *ratios {
		code = printRatios()
		if !printSim() {
			code = 1
		}
		if !printLint() {
			code = 1
		}
	}
	if *command != "" && !printCommand(*command) {
		code = 1
	}
	if code == 0 && *plans {
		code = benchPlans(os.Stdout)
	}
	if code == 0 && *schedules {
		fmt.Fprint(os.Stdout, scheduleTables())
	}
	if code == 0 && *lambdas != "" {
		code = printLambdas(*lambdas)
	}
	os.Exit(code)
}

func printRatios() int {
	code := 0
	for _, p := range pairs {
		ours, peer, allocs, bytes := compareTimes(p)
		ratio, within := peer/ours, peer/ours >= p.bound
		word := "at least"
		if p.slower {
			ratio, within = ours/peer, ours/peer <= p.bound
			word = "at most"
		}
		verdict := "ok"
		if !within || allocs > p.allocs {
			verdict, code = "OVER BUDGET", 1
		}
		fmt.Fprintf(os.Stdout, "ratio %s: %.2f (%.1f ns against %.1f ns, %d allocs of %d bytes; budget %s %g, %d allocs: %s)\n",
			p.name, ratio, ours, peer, allocs, bytes, word, p.bound, p.allocs, verdict)
	}
	return code
}

// compareTimes returns the least time of an operation on each side, in nanoseconds, of
// many runs in turn: what else the machine does meets both sides alike, and some runs
// not at all. A run is long enough for the garbage of either side to be collected.
func compareTimes(p pair) (ours, peer float64, allocs, bytes int64) {
	const rounds, length, enough = 150, "15ms", 8 * time.Second
	benchtime := flag.Lookup("test.benchtime").Value
	defer benchtime.Set(benchtime.String())
	if err := benchtime.Set(length); err != nil {
		panic(err)
	}
	ours, peer = math.Inf(1), math.Inf(1)
	for round, start := 0, time.Now(); round < 3 || round < rounds && time.Since(start) < enough; round++ {
		r := testing.Benchmark(p.ours)
		ours, allocs, bytes = min(ours, timeOf(r)), r.AllocsPerOp(), r.AllocedBytesPerOp()
		peer = min(peer, timeOf(testing.Benchmark(p.peer)))
	}
	return ours, peer, allocs, bytes
}

// timeOf is the time of one operation, in nanoseconds.
func timeOf(r testing.BenchmarkResult) float64 { return float64(r.T.Nanoseconds()) / float64(r.N) }

// best is the least time of an operation in three runs, in nanoseconds: what
// else the machine does only adds to it.
func best(f func(b *testing.B)) (nanoseconds float64) {
	nanoseconds = math.Inf(1)
	for range 3 {
		nanoseconds = min(nanoseconds, timeOf(testing.Benchmark(f)))
	}
	return nanoseconds
}

// TestPairs runs each side once, so that a measurement that is wrong is found
// without measuring.
func TestPairs(t *testing.T) { //nolint:paralleltest // it sets a flag of the testing package
	before := flag.Lookup("test.benchtime").Value.String()
	require.NoError(t, flag.Set("test.benchtime", "1x"))
	t.Cleanup(func() { require.NoError(t, flag.Set("test.benchtime", before)) })
	for _, p := range pairs {
		require.Positive(t, testing.Benchmark(p.ours).N, "%s: ours failed", p.name)
		require.Positive(t, testing.Benchmark(p.peer).N, "%s: the peer failed", p.name)
	}
}
