package plan_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// kind draws how long a job takes, in seconds. What follows is a referee that shares no
// code with the package: it draws, polls and searches by itself.
type kind struct {
	name string
	draw func(*rand.Rand) float64
	// calls of a plan from 1,000 jobs, at most.
	calls float64
	// before is what plans from 10 jobs did when one job in ten counted as of an unseen
	// length, however many had been seen.
	before outcome
	// one is whether the jobs are alike: then a plan is near the optimum.
	one bool
}

func normal(mean, deviation float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return max(1, mean+deviation*r.NormFloat64()) }
}

func logNormal(median, sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return median * math.Exp(sigma*r.NormFloat64()) }
}

// either draws from the first with the given chance, else from the second.
func either(chance float64, first, second func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < chance {
			return first(r)
		}
		return second(r)
	}
}

var kinds = []kind{
	{"N(25m, 1m)", normal(1500, 60), 3.3, outcome{8.6, 16}, true},
	{"lognormal(15m, 0.25)", logNormal(900, 0.25), 7.6, outcome{9.9, 30}, true},
	{"exponential(20m)", func(r *rand.Rand) float64 { return 1200 * r.ExpFloat64() }, 20.5, outcome{20.7, 31}, false},
	{"70 % N(90s, 9s), 30 % N(40m, 4m)", either(0.7, normal(90, 9), normal(2400, 240)), 9, outcome{10, 25}, false},
	{"70 % lognormal(90s, 0.25), 30 % lognormal(40m, 0.25)", either(0.7, logNormal(90, 0.25), logNormal(2400, 0.25)), 9, outcome{11, 27}, false},
	{"uniform(15m, 30m)", func(r *rand.Rand) float64 { return 900 + 900*r.Float64() }, 8.6, outcome{12.8, 25}, true},
	{"lognormal(15m, 0.5)", logNormal(900, 0.5), 13.5, outcome{13.9, 33}, true},
	{"weibull(1343s, 3)", func(r *rand.Rand) float64 { return 1343 * math.Cbrt(r.ExpFloat64()) }, 15.8, outcome{17, 28}, true},
	{"uniform(0, 40m)", func(r *rand.Rand) float64 { return 2400 * r.Float64() }, 20.6, outcome{18, 39}, false},
	{"pareto(5m, 1.5)", func(r *rand.Rand) float64 { return min(86400, 300*math.Pow(1-r.Float64(), -1/1.5)) }, 11.5, outcome{11.5, 30}, false},
}

func drawJobs(k kind, r *rand.Rand, n int) []float64 {
	jobs := make([]float64, n)
	for i := range jobs {
		jobs[i] = k.draw(r)
	}
	return jobs
}

func samplesOf(jobs []float64) []plan.Sample {
	samples := make([]plan.Sample, len(jobs))
	for i, took := range jobs {
		samples[i] = plan.Exactly(time.Duration(took * float64(time.Second)))
	}
	return samples
}

// outcome is calls and seconds late, on average.
type outcome struct{ calls, late float64 }

// poll waits for each job by a schedule.
func poll(s pollcore.Planned, jobs []float64, factor float64) outcome {
	var sum outcome
	for _, took := range jobs {
		at, n := s.Before(1).Seconds(), 1
		for at < took*factor {
			n++
			at += s.Before(n).Seconds()
		}
		sum.calls += float64(n)
		sum.late += at - took*factor
	}
	n := float64(len(jobs))
	return outcome{sum.calls / n, sum.late / n}
}

// pollFixed waits for each job by a first wait and a fixed delay, of any length.
func pollFixed(first, delay float64, jobs []float64) outcome {
	var sum outcome
	for _, took := range jobs {
		more := max(0, math.Ceil((took-first)/delay))
		sum.calls += 1 + more
		sum.late += first + more*delay - took
	}
	n := float64(len(jobs))
	return outcome{sum.calls / n, sum.late / n}
}

// delayAsLate is the longest delay after a first wait that is as late as allowed on jobs.
func delayAsLate(first, late float64, jobs []float64) (delay float64, found bool) {
	low, high := 1.0, 20*late
	if pollFixed(first, low, jobs).late > late {
		return 0, false
	}
	for range 30 {
		if middle := (low + high) / 2; pollFixed(first, middle, jobs).late <= late {
			low = middle
		} else {
			high = middle
		}
	}
	return low, true
}

// bestFirst is the fewest calls of a first wait and a delay that are as late on jobs.
func bestFirst(jobs []float64, late float64) float64 {
	calls := math.Inf(1)
	for p := range 70 {
		wait := late
		if p > 0 {
			wait = jobs[len(jobs)*p/100]
		}
		if delay, ok := delayAsLate(wait, late, jobs); ok {
			calls = min(calls, pollFixed(wait, delay, jobs).calls)
		}
	}
	return calls
}

// optimum is the fewest calls that any schedule takes of jobs, which it knows beforehand,
// and is as late: a dynamic programme over their ends. Between the schedules of two prices
// of a second, it draws a line: below it is none.
func optimum(jobs []float64, late float64) float64 {
	n := len(jobs)
	value, next := make([]float64, n+1), make([]int, n+1)
	at := func(price float64) outcome {
		for i := n - 1; i >= 0; i-- {
			value[i] = math.Inf(1)
			waiting := 0.0
			for j := i; j < n; j++ { // a poll when job j ends, for those from i on
				if j > i {
					waiting += float64(j-i) * (jobs[j] - jobs[j-1])
				}
				cost := float64(n-i) + price*waiting
				if cost > value[i] {
					break
				}
				if cost += value[j+1]; cost < value[i] {
					value[i], next[i] = cost, j+1
				}
			}
		}
		var sum outcome
		for i := 0; i < n; i = next[i] {
			sum.calls += float64(n - i)
			for _, took := range jobs[i:next[i]] {
				sum.late += jobs[next[i]-1] - took
			}
		}
		return outcome{sum.calls / float64(n), sum.late / float64(n)}
	}
	low, high := 1e-6, 1e3
	dear, cheap := at(high), at(low)
	for range 24 {
		middle := math.Sqrt(low * high)
		if o := at(middle); o.late > late {
			low, cheap = middle, o
		} else {
			high, dear = middle, o
		}
	}
	if cheap.late <= late || dear.late >= cheap.late {
		return dear.calls
	}
	return dear.calls + (cheap.calls-dear.calls)*(late-dear.late)/(cheap.late-dear.late)
}

// verdict is what plans from so many past jobs do to fresh ones: the mean of several times.
type verdict struct {
	plan      outcome
	longer    float64 // seconds late with jobs 1.5, 2 or 3 times as long, the most of them
	hindsight float64 // calls of the best first wait for the fresh jobs, and a delay as late
	optimum   float64 // calls of the best schedule for the fresh jobs that is as late
}

// goal is how late the plans may be.
const goal = 30 * time.Second

// judge learns and plans several times from what seen makes of past jobs.
func judge(t *testing.T, k kind, n, times int, seen func([]float64) []plan.Sample) (mean verdict) {
	t.Helper()
	const fresh = 3000
	for seed := range times {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
		past, jobs := drawJobs(k, r, n), drawJobs(k, r, fresh)
		d, err := plan.Learn(seen(past))
		require.NoError(t, err)
		p, err := plan.Best(d, plan.Goal{Late: goal}, plan.Limits{})
		require.NoError(t, err)
		requireNoGaps(t, p.Schedule, slices.Min(past))
		slices.Sort(jobs)
		v := verdict{plan: poll(p.Schedule, jobs, 1)}
		for _, factor := range []float64{1.5, 2, 3} {
			v.longer = max(v.longer, poll(p.Schedule, jobs, factor).late)
		}
		v.hindsight = bestFirst(jobs, v.plan.late)
		v.optimum = optimum(jobs, v.plan.late)
		each := 1 / float64(times)
		mean.plan.calls += v.plan.calls * each
		mean.plan.late += v.plan.late * each
		mean.longer += v.longer * each
		mean.hindsight += v.hindsight * each
		mean.optimum += v.optimum * each
	}
	t.Logf("%d jobs: %.2f calls, %.1f s late, longer jobs %.1f s; a first wait and a delay %.2f calls, optimum %.2f",
		n, mean.plan.calls, mean.plan.late, mean.longer, mean.hindsight, mean.optimum)
	return mean
}

// requireNoGaps expects a job of any length to be found soon, once the first of the others
// has ended: within half of the time that it has run, or a delay for the goal, or
// little more.
func requireNoGaps(t *testing.T, s pollcore.Planned, first float64) {
	t.Helper()
	at := s.Before(1)
	for n := range s.Delays {
		next := s.Before(n + 2)
		if at.Seconds() > first {
			require.LessOrEqual(t, next.Seconds(), max(2*goal.Seconds(), at.Seconds()/2)*1.1, "after %s: %v", at, s)
		}
		at += next
	}
}

// someKinds are the kinds of which a run without -all takes few.
func someKinds() []kind {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return kinds[:len(some(names))]
}

// A plan from past jobs was beaten by a first wait and a fixed delay on jobs of one kind:
// 7.4 calls of N(25m, 1m), 15 s late where 30 s were asked, however many the past jobs.
func TestPlansFromPastJobsOnFreshOnes(t *testing.T) {
	t.Parallel()
	// The fewer the jobs, the less they tell how far others spread.
	bounds := map[int]struct{ hindsight, late float64 }{30: {1.2, 36}, 100: {1.05, 33}, 1000: {1.02, 33}}
	counts, times := []int{30, 100, 1000}, 6
	if !*all {
		counts, times = counts[2:], 2
	}
	for _, k := range someKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range counts {
				v := judge(t, k, n, times, samplesOf)
				require.LessOrEqual(t, v.plan.calls, v.hindsight*bounds[n].hindsight, "%d jobs", n)
				require.LessOrEqual(t, v.plan.late, bounds[n].late, "%d jobs", n)
				require.LessOrEqual(t, v.longer, 2*goal.Seconds(), "%d jobs", n)
				if k.one {
					require.LessOrEqual(t, v.plan.calls, v.optimum*1.5, "%d jobs", n)
				}
				if n == 1000 {
					require.LessOrEqual(t, v.plan.calls, k.calls)
				}
			}
		})
	}
}

// Ten jobs do not tell how far others spread: a plan from them has about as many calls as
// before at most, and is about as late as before, or as asked.
func TestPlansFromTenJobs(t *testing.T) {
	t.Parallel()
	for _, k := range someKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			v := judge(t, k, 10, 6, samplesOf)
			require.LessOrEqual(t, v.plan.calls, 1.05*k.before.calls)
			require.LessOrEqual(t, v.plan.late, 1.12*max(goal.Seconds(), k.before.late))
			require.LessOrEqual(t, v.longer, 2*goal.Seconds())
		})
	}
}

// rounded are durations as a log has them.
func rounded(unit float64) func([]float64) []plan.Sample {
	return func(jobs []float64) []plan.Sample {
		all := slices.Clone(jobs)
		for i := range all {
			all[i] = math.Round(all[i]/unit) * unit
		}
		return samplesOf(all)
	}
}

// What past jobs look like in practice makes a plan little worse.
func TestPlansFromImperfectDurations(t *testing.T) {
	t.Parallel()
	looks := []struct {
		name string
		seen func([]float64) []plan.Sample
		// gaps is whether some jobs are so long that others between are found by a share
		// of their length.
		gaps bool
	}{
		{"in seconds", rounded(1), false},
		{"in minutes", rounded(60), false},
		{"each three times", func(jobs []float64) []plan.Sample {
			return samplesOf(slices.Concat(jobs[:len(jobs)/3], jobs[:len(jobs)/3], jobs[:len(jobs)/3]))
		}, false},
		{"one in a hundred ten times as long", func(jobs []float64) []plan.Sample {
			all := slices.Clone(jobs)
			for i := 0; i < len(all); i += 100 {
				all[i] *= 10
			}
			return samplesOf(all)
		}, true},
		{"seen by polls every minute", func(jobs []float64) []plan.Sample {
			all := samplesOf(jobs)
			for i, s := range all {
				from := s.From.Truncate(time.Minute)
				all[i] = plan.Sample{From: from, To: from + time.Minute}
			}
			return all
		}, false},
		{"one in twenty still runs", func(jobs []float64) []plan.Sample {
			all := samplesOf(jobs)
			for i := 0; i < len(all); i += 20 {
				all[i] = plan.Sample{From: all[i].From / 2, To: plan.Forever}
			}
			return all
		}, false},
	}
	for _, k := range someKinds() {
		for _, look := range looks {
			t.Run(k.name+" "+look.name, func(t *testing.T) {
				t.Parallel()
				v := judge(t, k, 300, 2, look.seen)
				require.LessOrEqual(t, v.plan.late, 1.2*goal.Seconds())
				if look.gaps {
					require.LessOrEqual(t, v.plan.calls, v.hindsight*1.5)
					return
				}
				require.LessOrEqual(t, v.plan.calls, v.hindsight*1.25)
				require.LessOrEqual(t, v.longer, 2*goal.Seconds())
			})
		}
	}
}

// All jobs took as long, as far as the log says: few polls find the next ones.
func TestPlansFromEqualDurations(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 10, 1000} {
		equal := slices.Repeat([]float64{1500}, n)
		d, err := plan.Learn(samplesOf(equal))
		require.NoError(t, err)
		p, err := plan.Best(d, plan.Goal{Late: goal}, plan.Limits{})
		require.NoError(t, err)
		got := poll(p.Schedule, equal, 1)
		require.LessOrEqual(t, got.calls, map[int]float64{1: 14, 3: 10, 10: 6, 1000: 2}[n], "%d: %v", n, p.Schedule)
		require.LessOrEqual(t, got.late, 2*goal.Seconds(), "%d: %v", n, p.Schedule)
		// A minute more or less is found as well.
		require.LessOrEqual(t, poll(p.Schedule, []float64{1440, 1560}, 1).late, 3*goal.Seconds(), "%d: %v", n, p.Schedule)
	}
}
