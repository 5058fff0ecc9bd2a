package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/processortest"
	"github.com/jobpoller/jobpoller/tests/race"
)

const (
	// maxFixTime is what a loop may take, and maxFixExponent how fix may grow with the loops.
	maxFixTime     = 500 * time.Millisecond
	maxFixExponent = 1.2
)

// fixText repairs all loops of a definition, and returns how many repairs there are and how
// many runs they were tried on.
func fixText(tb testing.TB, text []byte) (repairs, runs int) {
	tb.Helper()
	_, found, err := fix.RepairFile(context.Background(), text, func(text []byte) (*source.Definition, error) {
		return source.LoadOne(context.Background(), source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
	}, fix.RepairOptions{Sure: true, Models: models.Load})
	require.NoError(tb, err)
	for _, r := range found {
		if r.Made {
			repairs, runs = repairs+1, runs+r.Runs
		}
	}
	return repairs, runs
}

func TestFixOfManyLoops(t *testing.T) {
	t.Parallel()
	one, tried := fixText(t, pollLoops(4))
	require.Positive(t, one)
	require.Positive(t, tried)
	loops := race.Of(12, 3)
	all, _ := fixText(t, pollLoops(4*loops))
	require.Equal(t, loops*one, all)
}

// measureFix measures the repairs of loops in a row, each of which is tried.
func (r *report) measureFix() {
	var first, last float64
	sizes := []int{1, 19, 75}
	for _, n := range sizes {
		text, runs := pollLoops(4*n), 0
		least := time.Duration(math.MaxInt64)
		testing.Benchmark(func(b *testing.B) {
			for range 2 {
				before := processortest.Time(b)
				_, runs = fixText(b, text)
				least = min(least, processortest.Time(b)-before)
			}
		})
		budget := time.Duration(n) * maxFixTime
		r.add(sectionRatios, row{
			what: fmt.Sprintf("fix of %d loops in a row", n), figure: least.Round(time.Millisecond).String(), beside: fmt.Sprintf("%d trial runs", runs),
			budget: fmt.Sprintf("at most %s", budget), missed: least > budget,
		})
		if n == 1 {
			continue // most of it is the models
		}
		if first == 0 {
			first = least.Seconds()
		}
		last = least.Seconds()
	}
	exponent := math.Log(last/first) / math.Log(float64(sizes[2])/float64(sizes[1]))
	r.add(sectionRatios, row{
		what: "fix of more loops", figure: fmt.Sprintf("grows with the power %.2f", exponent), beside: fmt.Sprintf("%d to %d loops", sizes[1], sizes[2]),
		budget: fmt.Sprintf("at most %.1f", maxFixExponent), missed: exponent > maxFixExponent,
	})
}
