package conformance_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// So many executions of each strategy start at once, with a jitter of one of so many
// seconds. Pearson's test of an even spread over ten is wrong about one in a thousand.
const (
	spreadRuns    = 400
	spreadSeconds = 10
	mostSpread    = 27.88
)

// A case is a strategy. It passes if the first polls are spread evenly over the jitter,
// the others follow as listed, and each execution reaches the verdict of the job.
var spreadSuites = []suite{{name: "spread", cases: len(strategies), run: runSpread}}

func runSpread(t *testing.T, _ string) result {
	t.Helper()
	all := entries(t)
	entry := all[slices.IndexFunc(all, func(e *catalog.Entry) bool { return e.Name == "ExportTableToPointInTime" })]
	r := result{failures: map[string]string{}}
	var mu sync.Mutex
	t.Run("spread", func(t *testing.T) {
		for _, s := range strategies {
			t.Run(string(s.name), func(t *testing.T) {
				t.Parallel()
				problem := spread(t, entry, s)
				mu.Lock()
				defer mu.Unlock()
				r.total++
				if problem != "" {
					r.failures[string(s.name)] = problem
				}
			})
		}
	})
	r.notes = append(r.notes, fmt.Sprintf("seed %d, %d executions each that start at once", *seed, spreadRuns))
	return r
}

// spread says where executions of a machine do not draw as their schedule says.
func spread(t *testing.T, entry *catalog.Entry, s strategy) string {
	t.Helper()
	planned := pollcore.Planned{Delays: []time.Duration{time.Minute, 20 * time.Second}, Then: 20 * time.Second, Jitter: (spreadSeconds - 1) * time.Second}
	m, err := newMachine(entry, s, compile.Options{MaxWait: time.Hour, Schedule: &planned}, false, whole)
	if err != nil {
		return err.Error()
	}
	q := jobThatEnds(t, entry)
	q.End = 100 * time.Second
	counts := make([]int, spreadSeconds)
	for n := range uint64(spreadRuns) {
		r := m.run(t, q, whole, *seed+n)
		drawn := r.first - planned.Before(1)
		if drawn < 0 || drawn > planned.Jitter || drawn%time.Second != 0 {
			return fmt.Sprintf("execution %d polls first after %s", n, r.first)
		}
		counts[drawn/time.Second]++
		if one := m.compiled[true].Schedule(); one.Planned.Jitter != planned.Jitter {
			return fmt.Sprintf("its schedule has a jitter of %s", one.Planned.Jitter)
		}
		calls, at, _ := seeEnd(pollcore.Schedule{Total: time.Hour, Planned: new(planned.Draw(func(_, _ time.Duration) time.Duration { return drawn }))}, q.End)
		if r.status != pollcore.Succeeded || r.attempts != calls || r.elapsed != at {
			return fmt.Sprintf("execution %d is %s, is polled %d times and seen at %s, want %d and %s: %s", n, r.status, r.attempts, r.elapsed, calls, at, r.reason)
		}
	}
	const even = float64(spreadRuns) / spreadSeconds
	distance := 0.0
	for _, count := range counts {
		distance += (float64(count) - even) * (float64(count) - even) / even
	}
	if distance > mostSpread {
		return fmt.Sprintf("first polls are not even over the jitter: %v", counts)
	}
	return ""
}
