package scale_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/processortest"
)

var jobCount = flag.Int("jobs", 0, "how many jobs run at once for an hour; 0: a few")

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// hour is jobs that run at once for an hour: most of them for nearly all of it, a tenth
// for less, some for longer than their Tasks wait, and some end in the same second.
func hour(delay int, told bool) setting {
	const starts, waits = 300, 4000
	return setting{
		shares: map[string]int{"athena:StartQueryExecution": 45, "codebuild:StartBuild": 25, "batch:SubmitJob": 20, "ec2:CreateSnapshot": 9, trainingJob: 1},
		starts: starts, delay: delay, maxWait: waits, told: told, faults: 0.01,
		lasts: func(random *rand.Rand, number int) int64 {
			switch draw := random.IntN(100); {
			case draw == 0:
				return waits + 1000
			case draw < 5:
				return 3600 - int64(number/starts)
			case draw < 15:
				return 1 + random.Int64N(3000)
			default:
				return 3000 + random.Int64N(600)
			}
		},
	}
}

// Jobs run at once for an hour, and each Task gets one answer. What is lost, comes twice
// or comes early changes nothing of that. No service throttles more than one call in a
// thousand: its quota is a bucket, which takes a peak of one second. Where so many jobs end
// in one second that Step Functions throttles their answers, each is sent once more. Time and
// memory have limits where the flag -jobs says how many.
func TestHour(t *testing.T) { //nolint:paralleltest // it measures time and memory
	const whole = 100_000         // the jobs for which there are limits of time
	for _, tt := range []struct { //nolint:paralleltest // as above
		name  string
		of    setting
		few   int
		limit time.Duration
	}{
		{"events, and a poll in 15 minutes", hour(900, true), 1000, time.Minute},
		{"a poll a minute", hour(60, false), 100, 8 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, cmp.Or(*jobCount, tt.few), tt.of)
			began, used := time.Now(), processortest.Time(t)
			w.run(t)
			took := time.Since(began)
			used = processortest.Time(t) - used
			w.requireEnds(t)
			t.Logf("%d jobs, %d visits in %d invocations: %s, %s of processors, %.0f visits a second; %d events lost, %d deliveries doubled",
				len(w.jobs), w.visits, w.invocations, took.Round(100*time.Millisecond), used.Round(100*time.Millisecond),
				float64(w.visits)/took.Seconds(), w.lost, w.doubled)
			for _, name := range sortedKeys(w.services) {
				m := w.services[name].meter
				m.report(t, name)
				require.LessOrEqual(t, 1000*m.throttled, m.calls, name)
			}
			m := w.tasks.meter
			m.report(t, "answers of Tasks")
			require.LessOrEqual(t, m.throttled, max(0, m.peak-m.most), "each answer that the bucket has no room for is sent once more")
			for _, line := range w.compare(t) {
				t.Log(line)
			}
			if *jobCount == 0 {
				return
			}
			requireMemory(t)
			if len(w.jobs) <= whole {
				require.LessOrEqual(t, took, tt.limit)
			}
		})
	}
}

// report prints what came of a quota.
func (m *meter) report(t *testing.T, of string) {
	t.Helper()
	t.Logf("%s: %d calls, at most %d in a second; the quota is %d a second, and %d at once; %d throttled",
		of, m.calls, m.peak, m.perSecond, m.most, m.throttled)
}

// compare returns how late the jobs' Tasks are answered, and after how many transitions,
// and what the strategies take that poll in the machine, for some of the same jobs.
func (w *world) compare(t *testing.T) []string {
	t.Helper()
	const some = 40
	own := w.usage()
	own.transitions = compileMachine(t, compile.LambdaEvents, w.delay, w.maxWait).sample(t, w.jobs, len(w.jobs)/some).transitions
	lines := []string{}
	add := func(name string, u usage) {
		lines = append(lines, fmt.Sprintf("%-10s  %5.1f transitions a job, late %4.1f s on average", name, u.transitions, u.late))
	}
	add("events", own)
	for _, strategy := range []compile.Strategy{compile.Loop, compile.RetryTask} {
		add(string(strategy), compileMachine(t, strategy, 60, w.maxWait).sample(t, w.jobs, len(w.jobs)/some))
	}
	return lines
}

// requireMemory requires that the process has never had more than 2 GB.
func requireMemory(t *testing.T) {
	t.Helper()
	if bytes, ok := processortest.PeakMemory(t); ok {
		t.Logf("peak of memory: %d MB", bytes>>20)
		require.Less(t, bytes, int64(2<<30))
	}
}
