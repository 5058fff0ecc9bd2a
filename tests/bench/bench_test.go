// Package bench_test compares what the budgets of docs/design.md are about
// with named peers in one run, and prints how they relate:
//
//	go test ./tests/bench -run '^$' -ratios
//
// The Lambda functions are compared by make bench-lambda, which builds them first.
package bench_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var suites = flag.String("suites", "", "write the table of suites of docs/bench.md from this file, which timed wrote")

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
	// parallel: it is about many processors. All others are compared on one, where the
	// garbage that a side makes costs its time, and not that of a processor that is free.
	parallel bool
}

// pairs are all that is measured. A file of this package lists its own.
var pairs = slices.Concat(jmespathPairs, pollcorePairs, catalogPairs, jsontreePairs, worldPairs)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 {
		code = measure()
	}
	os.Exit(code)
}

// measure measures what the flags name, and returns 1 if a budget was missed.
func measure() int {
	if *plans {
		return benchPlans(os.Stdout)
	}
	if *schedules {
		fmt.Fprint(os.Stdout, scheduleTables())
	}
	r := newReport(os.Stdout)
	ctx := context.Background()
	if *suites != "" {
		if err := writeSuites(*suites, benchPage); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	var failed error
	if *ratios {
		r.measureRatios()
		r.measureSim()
		r.measureLint()
		r.measureFix()
	}
	if *command != "" {
		failed = r.measureCommand(ctx, *command)
	}
	if *lambdas != "" {
		failed = errors.Join(failed, r.measureLambdas(ctx, *lambdas))
	}
	if *writePage && failed == nil {
		failed = r.write(benchPage)
	}
	if failed != nil {
		fmt.Fprintln(os.Stderr, failed)
	}
	if failed != nil || r.missed {
		return 1
	}
	return 0
}

func (r *report) measureRatios() {
	for _, p := range pairs {
		ours, peer, allocs, bytes := compareTimes(p)
		ratio, budget, within := peer/ours, fmt.Sprintf("at least %g times as fast", p.bound), peer/ours >= p.bound
		word := "fast"
		if p.slower {
			ratio, budget, within = ours/peer, fmt.Sprintf("at most %g times as slow", p.bound), ours/peer <= p.bound
			word = "slow"
		}
		r.add(sectionRatios, row{
			what: p.name, figure: fmt.Sprintf("%.2f times as %s", ratio, word),
			beside: fmt.Sprintf("%s against %s, allocations: %d, of %d bytes", tellTime(ours), tellTime(peer), allocs, bytes),
			budget: fmt.Sprintf("%s, allocations: %d", budget, p.allocs), missed: !within || allocs > p.allocs,
		})
	}
}

// tellTime is a time in digits that count.
func tellTime(nanoseconds float64) string {
	if nanoseconds < 1000 { //nolint:mnd // a microsecond
		return fmt.Sprintf("%.1f ns", nanoseconds)
	}
	d := time.Duration(nanoseconds)
	return d.Round(max(1, d/1000)).String() //nolint:mnd // a part in a thousand
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
	if !p.parallel {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
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
