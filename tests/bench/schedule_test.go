package bench_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyrand "github.com/aws/smithy-go/rand"
	"github.com/aws/smithy-go/waiter"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
)

var (
	schedules   = flag.Bool("schedules", false, "print how late, and in how many calls, schedules find the end of a job")
	updateBench = flag.Bool("update", false, "write the schedules' tables into docs/bench.md")
)

// jobsPerFigure is how many jobs a figure is the mean of, each with a duration and
// draws of its own.
const jobsPerFigure = 40_000

// scheduled is a rule that gives the delay after a number of calls.
type scheduled struct {
	name  string
	delay func(least time.Duration, random *rand.Rand) func(calls int) time.Duration
}

// A waiter of AWS with no maxDelay has one of 120 seconds.
const slowest = pollcore.DefaultMaxDelay * time.Second

// ours is the schedule of a waiter, drawn as is said.
func ours(draw func(random *rand.Rand, lo, hi time.Duration) time.Duration) func(time.Duration, *rand.Rand) func(int) time.Duration {
	return func(least time.Duration, random *rand.Rand) func(int) time.Duration {
		w := &pollcore.Waiter{Name: "W", MinDelay: int(least / time.Second)}
		s := pollcore.NewSchedule(w, 1000*time.Hour)
		s.Random = func(lo, hi time.Duration) time.Duration { return draw(random, lo, hi) }
		return func(calls int) time.Duration {
			return s.Next(pollcore.Retry, pollcore.Progress{Attempts: calls}).Delay
		}
	}
}

func uniform(random *rand.Rand, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(random.Int64N(int64(hi-lo)+1))
}

// fixedDelay is the same delay each time: least if it is 0.
func fixedDelay(d time.Duration) func(time.Duration, *rand.Rand) func(int) time.Duration {
	return func(least time.Duration, _ *rand.Rand) func(int) time.Duration {
		return func(int) time.Duration {
			if d == 0 {
				return least
			}
			return d
		}
	}
}

var scheduleRules = []scheduled{
	{"jobpoller: `pollcore.Wait`, `wait`", ours(uniform)},
	{"jobpoller: functions, `variables`, `lambda-loop`", ours(func(random *rand.Rand, lo, hi time.Duration) time.Duration {
		return uniform(random, lo, hi).Round(time.Second)
	})},
	{"jobpoller: `retry-task`, `lambda-retry`", ours(func(_ *rand.Rand, lo, hi time.Duration) time.Duration { return (lo + hi) / 2 })},
	{"AWS SDK for Go (`waiter.ComputeDelay`)", func(least time.Duration, random *rand.Rand) func(int) time.Duration {
		smithyrand.Reader = reader{random}
		return func(calls int) time.Duration {
			d, err := waiter.ComputeDelay(int64(calls), least, max(least, slowest), 1000*time.Hour)
			if err != nil {
				panic(err)
			}
			return d
		}
	}},
	{"botocore, AWS CLI (always minDelay)", fixedDelay(0)},
	{"fixed 30 s", fixedDelay(30 * time.Second)},
	{"fixed 60 s", fixedDelay(time.Minute)},
}

// reader is random bytes for the SDK, which draws by them.
type reader struct{ random *rand.Rand }

func (r reader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.random.Uint32())
	}
	return len(p), nil
}

// durations are between what jobs last, all equally likely.
var durations = [][2]time.Duration{
	{10 * time.Second, 120 * time.Second}, {2 * time.Minute, 15 * time.Minute}, {15 * time.Minute, 30 * time.Minute},
}

// figures are what a rule takes for jobs: calls, and seconds from the end of a job
// to the call that finds it, on average and in 19 of 20 jobs.
type figures struct{ calls, mean, p95 float64 }

func (f figures) String() string { return fmt.Sprintf("%.1f / %.0f / %.0f", f.calls, f.mean, f.p95) }

func measureSchedule(rule scheduled, least time.Duration, job [2]time.Duration) figures {
	random := rand.New(rand.NewPCG(20, uint64(job[0])))
	delay := rule.delay(least, random)
	late := make([]float64, jobsPerFigure)
	var f figures
	for i := range late {
		end, now, calls := uniform(random, job[0], job[1]), time.Duration(0), 1
		for ; now < end; calls++ {
			now += delay(calls)
		}
		late[i] = (now - end).Seconds()
		f.calls += float64(calls) / jobsPerFigure
		f.mean += late[i] / jobsPerFigure
	}
	slices.Sort(late)
	f.p95 = late[jobsPerFigure*95/100]
	return f
}

// scheduleTables is the table of docs/bench.md.
var scheduleTables = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("| calls / mean / p95 late, in seconds | job of 10 to 120 s | of 2 to 15 min | of 15 to 30 min |\n|---|---|---|---|\n")
	for _, rule := range scheduleRules {
		fmt.Fprintf(&b, "| %s |", rule.name)
		for _, job := range durations {
			fmt.Fprintf(&b, " %s |", measureSchedule(rule, 20*time.Second, job))
		}
		b.WriteString("\n")
	}
	return b.String()
})

// The schedule is as good as a well-chosen fixed delay, whatever a job takes. The
// targets have three digits at most, so a figure may be half of the last one above:
// that is five times what 40,000 jobs leave to chance in the calls and twice in p95.
func TestScheduleFindsTheEndInTime(t *testing.T) { //nolint:paralleltest // the SDK's source of random bytes is one for all
	targets := []figures{{4.3, 15, 30}, {13.4, 29, 57}, {27.4, 30, 58}}
	for _, rule := range scheduleRules[:3] {
		for i, job := range durations {
			got := measureSchedule(rule, 20*time.Second, job)
			require.LessOrEqual(t, got.calls, targets[i].calls+0.05, "%s, %v", rule.name, job)
			require.LessOrEqual(t, got.mean, targets[i].mean+0.5, "%s, %v", rule.name, job)
			require.LessOrEqual(t, got.p95, targets[i].p95+0.5, "%s, %v", rule.name, job)
		}
	}
}

// Whole seconds do not keep short delays from growing: they cost no calls and no
// lateness.
func TestScheduleOfWholeSecondsIsAsGood(t *testing.T) { //nolint:paralleltest // as above
	for _, seconds := range []int{1, 2, 5, 15, 30, 60} {
		least := time.Duration(seconds) * time.Second
		for _, job := range durations {
			exact, whole := measureSchedule(scheduleRules[0], least, job), measureSchedule(scheduleRules[1], least, job)
			require.InEpsilon(t, exact.calls, whole.calls, 0.01, "minDelay %s, %v", least, job)
			require.InDelta(t, exact.mean, whole.mean, 0.5, "minDelay %s, %v", least, job)
			require.InDelta(t, exact.p95, whole.p95, 1, "minDelay %s, %v", least, job)
		}
	}
}

func TestScheduleTablesAreDocumented(t *testing.T) { //nolint:paralleltest // as above
	const section = "schedules"
	if *updateBench {
		require.NoError(t, writeSection(benchPage, section, scheduleTables()))
		return
	}
	_, table, _, err := cutSection(benchPage, section)
	require.NoError(t, err)
	require.Equal(t, scheduleTables(), table, "go test ./tests/bench -run %s -update writes it anew", t.Name())
}
