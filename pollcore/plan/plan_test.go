package plan_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

func drawGoal(t *rapid.T) plan.Goal {
	at := plan.Statistic(rapid.IntRange(int(plan.Mean), int(plan.Worst)).Draw(t, "at"))
	switch rapid.IntRange(0, 2).Draw(t, "goal") {
	case 0:
		return plan.Goal{Late: time.Duration(rapid.Int64Range(1, int64(2*time.Hour)).Draw(t, "late")), At: at}
	case 1:
		return plan.Goal{Share: rapid.Float64Range(0.001, 10).Draw(t, "share"), At: at}
	default:
		return plan.Goal{Price: rapid.Float64Range(0.0001, 10).Draw(t, "price")}
	}
}

var stated = []string{
	"constant(10m)", "uniform(15m, 30m)", "lognormal(15m, 0.25)", "lognormal(10m, 1)", "lognormal(5m, 1.5)", "exponential(20m)", "weibull(20m, 0.7)", "weibull(20m, 3)",
	"mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))", "uniform(3s, 5s)", "mix(50% constant(30s), 50% exponential(2h))",
}

// lateness is the statistic of a cost that a goal is about, in its unit.
func lateness(g plan.Goal, c plan.Cost) (got, most float64) {
	if g.Share > 0 {
		return map[plan.Statistic]float64{plan.Mean: c.MeanShare, plan.P50: c.P50Share, plan.P95: c.P95Share}[g.At], g.Share
	}
	return map[plan.Statistic]time.Duration{plan.Mean: c.Mean, plan.P50: c.P50, plan.P95: c.P95}[g.At].Seconds(), g.Late.Seconds()
}

// drawLimits leaves out each limit as often as not.
func drawLimits(t *rapid.T) plan.Limits {
	seconds := func(name string, most int) time.Duration {
		if rapid.Bool().Draw(t, "no "+name) {
			return 0
		}
		return time.Duration(rapid.IntRange(1, most).Draw(t, name)) * time.Second
	}
	return plan.Limits{
		MinDelay: seconds("shortest", 100), MaxDelay: seconds("longest", 2000), Jitter: seconds("jitter", 120),
		Delays: rapid.IntRange(0, 50).Draw(t, "delays"),
	}
}

// For stated and learned durations: the goal is met within the limits, and with no more
// calls than a fixed delay needs.
func TestBestMeetsTheGoalWithFewCalls(t *testing.T) {
	t.Parallel()
	durations := append([]string{"constant(1s)", "uniform(1ms, 3s)", "exponential(1000h)"}, stated...)
	rapid.Check(t, func(t *rapid.T) {
		d, err := plan.Parse(rapid.SampledFrom(durations).Draw(t, "durations"))
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "learned") {
			d, err = plan.Learn(draw(d, rapid.IntRange(1, 50).Draw(t, "count")))
			require.NoError(t, err)
		}
		g := drawGoal(t)
		limits := drawLimits(t)
		p, err := plan.Best(d, g, limits)
		if err != nil {
			require.ErrorIs(t, err, plan.ErrUnreachable)
			return
		}
		require.NoError(t, p.Schedule.Validate())
		most := cmp.Or(limits.Delays, 100)
		if limits.Delays == 0 && p.Method == plan.Hazard { // where they save 10 % of the calls
			most = pollcore.MaxPlannedDelays
		}
		require.LessOrEqual(t, len(p.Schedule.Delays), most)
		delays := slices.Concat(p.Schedule.Delays, []time.Duration{p.Schedule.Then})
		require.GreaterOrEqual(t, slices.Min(delays), max(time.Second, limits.MinDelay))
		if limits.MaxDelay > 0 && (p.Method == plan.Hazard || p.Method == plan.Exact) {
			require.LessOrEqual(t, slices.Max(delays), max(limits.MinDelay, limits.MaxDelay))
		}
		require.LessOrEqual(t, p.Cost.Worst, slices.Max(append(delays, p.Schedule.Delays[0]+p.Schedule.Jitter)))
		switch {
		case g.At == plan.Worst && g.Price == 0:
			if g.Share == 0 {
				require.LessOrEqual(t, p.Cost.Worst, g.Late)
			}
		case g.Price > 0:
			all, _ := d.WithUnseen() // a price is for all jobs, also those of unseen lengths
			score := func(s pollcore.Planned) float64 {
				c := plan.MeasurePlanned(all, s)
				return c.Calls + g.Price*c.Mean.Seconds()
			}
			require.LessOrEqual(t, score(p.Schedule), score(p.Fixed)*1.0001)
		default:
			got, most := lateness(g, p.Cost)
			within := 1.001
			if d.IsLearned() { // past jobs do not tell a mean to a percent
				within = 1.01
			}
			require.LessOrEqual(t, got, most*within+1e-6)
			require.LessOrEqual(t, p.Cost.Calls, p.FixedCost.Calls*1.0001)
		}
	})
}

// Who allows more lateness pays no more calls.
func TestCallsFallWithLateness(t *testing.T) {
	t.Parallel()
	// The simplest schedule may take 10 % more calls than the best one. Many delays of a few
	// seconds lose some by their rounding, and by the limit of the list.
	methods := map[plan.Method]float64{"": 1 / 0.9, plan.Hazard: 1 / 0.9, plan.Initial: 1, plan.Fixed: 1}
	for _, text := range some([]string{"constant(10m)", "uniform(15m, 30m)", "lognormal(10m, 1)", "weibull(20m, 3)", "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))"}) {
		for method, more := range methods {
			t.Run(text+" "+string(method), func(t *testing.T) {
				t.Parallel()
				if method == plan.Hazard && strings.HasPrefix(text, "mix") {
					return // with gaps between its jobs, the rule gives polls that are late by luck
				}
				for _, goal := range []func(late time.Duration) plan.Goal{
					func(late time.Duration) plan.Goal { return plan.Goal{Late: late} },
					func(late time.Duration) plan.Goal { return plan.Goal{Late: late, At: plan.P95} },
					func(late time.Duration) plan.Goal { return plan.Goal{Share: late.Minutes() / 10} },
				} {
					calls := 1e18
					for late := 5 * time.Second; late < 5*time.Minute; late += late / 2 {
						p, err := plan.Best(parse(t, text), goal(late), plan.Limits{Method: method})
						require.NoError(t, err)
						require.LessOrEqual(t, p.Cost.Calls, calls*more+1e-6, "%s", goal(late))
						calls = min(calls, p.Cost.Calls)
					}
				}
			})
		}
	}
}

// Ten times longer jobs and lateness have ten times longer delays.
func TestPlansAreFreeOfScale(t *testing.T) {
	t.Parallel()
	for _, texts := range [][2]string{
		{"uniform(15m, 30m)", "uniform(150m, 300m)"},
		{"lognormal(15m, 0.25)", "lognormal(150m, 0.25)"},
		{"lognormal(15m, 0.5)", "lognormal(150m, 0.5)"},
		{"weibull(20m, 3)", "weibull(200m, 3)"},
	} {
		for _, method := range []plan.Method{plan.Fixed, plan.Initial, plan.Hazard, plan.Exact} {
			small, err := plan.Best(parse(t, texts[0]), plan.Goal{Late: 60 * time.Second}, plan.Limits{Method: method})
			require.NoError(t, err)
			large, err := plan.Best(parse(t, texts[1]), plan.Goal{Late: 600 * time.Second}, plan.Limits{Method: method})
			require.NoError(t, err)
			require.InEpsilon(t, small.Cost.Calls, large.Cost.Calls, 0.03, "%s %s", texts[0], method)
			require.InDelta(t, small.Bound, large.Bound, 1e-3)
			if method != plan.Fixed {
				continue
			}
			require.InEpsilon(t, 10*small.Schedule.Then.Seconds(), large.Schedule.Then.Seconds(), 0.02)
		}
	}
	for _, count := range []int{1, 10, 100} {
		samples := draw(parse(t, "lognormal(20m, 0.3)"), count)
		longer := make([]plan.Sample, count)
		for i, s := range samples {
			longer[i] = plan.Exactly(10 * s.From)
		}
		var calls []float64
		for i, s := range [][]plan.Sample{samples, longer} {
			d, err := plan.Learn(s)
			require.NoError(t, err)
			factor := []time.Duration{time.Minute, 10 * time.Minute}[i]
			p, err := plan.Best(d, plan.Goal{Late: factor}, plan.Limits{Method: plan.Hazard, MaxDelay: 10 * factor})
			require.NoError(t, err)
			calls = append(calls, p.Cost.Calls)
		}
		require.InEpsilon(t, calls[0], calls[1], 0.03)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	tests := []struct {
		durations string
		goal      string
		want      plan.Method
		why       string
	}{
		{"exponential(20m)", "30s", plan.Initial, "A fixed delay after an initial delay is as good as any schedule: knowledge of the durations saves 0 % of the calls at most."},
		{"lognormal(15m, 0.25)", "30s", plan.Initial, "saves less than 10 % of the calls"},
		{"uniform(15m, 30m)", "30s", plan.Exact, "Polls gather where jobs end"},
		{"mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))", "30s", plan.Exact, "Polls gather where jobs end"},
		{"uniform(15m, 30m)", "5% worst", plan.Growth, "no job is seen later than 5% of its length, or a delay of 1s"},
		{"uniform(15m, 30m)", "30s worst", plan.Fixed, "needs no knowledge"},
	}
	for _, tt := range tests {
		g, err := plan.ParseGoal(tt.goal)
		require.NoError(t, err)
		p, err := plan.Best(parse(t, tt.durations), g, plan.Limits{})
		require.NoError(t, err)
		require.Equal(t, tt.want, p.Method, tt.durations)
		require.Contains(t, p.Why, tt.why)
	}
}

// Delays are whole seconds: half a second is what a delay of one is late.
func TestTheShortestDelayIsHalfASecondLate(t *testing.T) {
	t.Parallel()
	d := parse(t, "lognormal(15m, 0.5)")
	p, err := plan.Best(d, plan.Goal{Late: time.Second / 2}, plan.Limits{})
	require.NoError(t, err)
	require.Equal(t, time.Second, p.Fixed.Then)
	// What the spread allows is then an initial delay, and the formula without a
	// shortest delay says 27 %.
	require.Greater(t, p.Bound, 0.9)
	require.LessOrEqual(t, p.Bound*p.FixedCost.Calls, p.Cost.Calls*1.001)
	for text, want := range map[string]string{"400ms": "with delays of 1s, the shortest, it is 500ms. Allow more", "400ms worst": "it is 1s", "400ms p95": "it is 950ms"} {
		g, err := plan.ParseGoal(text)
		require.NoError(t, err)
		_, err = plan.Best(d, g, plan.Limits{})
		require.ErrorIs(t, err, plan.ErrUnreachable)
		require.ErrorContains(t, err, want)
	}
	_, err = plan.Best(plan.Distribution{}, plan.Goal{Late: 1}, plan.Limits{})
	require.ErrorContains(t, err, "does not reach a lateness of 1ns mean: delays of 1s or more are later")
}

// Where the distribution has no jobs, or few, a job is found as late as the goal
// justifies: a long delay there saves no calls.
func TestTailsAreNoLongerThanTheGoal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		durations, goal string
		method          plan.Method
		most            time.Duration
	}{
		{"constant(10m)", "30s", "", time.Minute},
		{"constant(10m)", "30s", plan.Initial, time.Minute},
		{"constant(10m)", "5m", "", 10 * time.Minute},
		{"constant(10m)", "5%", "", time.Minute},
		{"constant(10m)", "30s p50", "", time.Minute},
		{"constant(10m)", "30s p95", "", 31 * time.Second},
		{"constant(20s)", "1h", "", 2 * time.Hour},
		{"mix(96% constant(1m), 4% constant(10h))", "5%", "", 61 * time.Minute},
		{"mix(96% constant(1m), 4% constant(10h))", "30s p95", "", 32 * time.Second},
		{"uniform(9m, 10m)", "30s", "", time.Minute},
		{"uniform(15m, 30m)", "30s", plan.Hazard, time.Minute},
		{"mix(99% lognormal(10m, 0.01), 1% exponential(10m))", "30s", plan.Exact, time.Minute},
		{"lognormal(15m, 0.1)", "30s", plan.Hazard, time.Minute},
		{"lognormal(15m, 0.5)", "30s", plan.Exact, time.Minute},
	}
	for _, tt := range tests {
		g, err := plan.ParseGoal(tt.goal)
		require.NoError(t, err)
		p, err := plan.Best(parse(t, tt.durations), g, plan.Limits{Method: tt.method})
		require.NoError(t, err)
		require.LessOrEqual(t, p.Schedule.Then, tt.most, "%s %s %s: %v", tt.durations, tt.goal, tt.method, p.Schedule)
	}
	// And no shorter: nearly all jobs have ended, and the others need not be polled every second.
	for _, jitter := range []time.Duration{0, time.Minute} {
		for _, method := range []plan.Method{plan.Hazard, plan.Exact} {
			for _, text := range []string{"uniform(15m, 30m)", "weibull(20m, 10)"} {
				p, err := plan.Best(parse(t, text), plan.Goal{Late: 30 * time.Second}, plan.Limits{Method: method, Jitter: jitter})
				require.NoError(t, err)
				require.GreaterOrEqual(t, p.Schedule.Then, 30*time.Second, "%s %s: %v", text, method, p.Schedule)
			}
		}
	}
	for text, goal := range map[string]time.Duration{"constant(1s)": 5 * time.Minute, "uniform(1s, 2s)": 10 * time.Minute, "constant(1ns)": 30 * time.Second, "constant(20s)": time.Hour} {
		for _, method := range []plan.Method{"", plan.Initial, plan.Hazard, plan.Exact} {
			p, err := plan.Best(parse(t, text), plan.Goal{Late: goal}, plan.Limits{Method: method})
			if method == plan.Initial && text == "constant(1ns)" {
				require.ErrorIs(t, err, plan.ErrUnreachable)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, 2*goal, p.Schedule.Then, "%s %s: %v", text, method, p.Schedule)
		}
	}
	// A price justifies the fixed delay that is best for it.
	p, err := plan.Best(parse(t, "constant(10m)"), plan.Goal{Price: 1.0 / 3}, plan.Limits{})
	require.NoError(t, err)
	require.LessOrEqual(t, p.Schedule.Then, time.Minute)
	// Jobs of a second kind need many more calls with it.
	p, err = plan.Best(parse(t, "mix(90% constant(1m), 10% uniform(100h, 200h))"), plan.Goal{Late: time.Minute}, plan.Limits{Method: plan.Initial})
	require.NoError(t, err)
	require.Greater(t, p.Schedule.Then, 2*time.Minute)
}

// What is said of jobs that take as long.
func TestOnePollIsEnough(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{25 * time.Second, time.Minute, 2 * time.Minute, 10 * time.Minute} {
		p, err := plan.Best(parse(t, "constant("+took.String()+")"), plan.Goal{Late: 30 * time.Second}, plan.Limits{})
		require.NoError(t, err)
		require.Equal(t, took, p.Schedule.Before(1))
		require.Less(t, p.Cost.Mean, time.Millisecond)
	}
	const alike, enough = "All jobs take as long: one poll when they end.", "One poll is enough: nearly all jobs have ended by then."
	for _, tt := range [][2]string{
		{"constant(10m)", alike}, {"uniform(9m55s, 10m5s)", enough}, {"uniform(3s, 5s)", enough}, {"mix(50% constant(600s), 50% constant(601s))", alike},
	} {
		text, want := tt[0], tt[1]
		p, err := plan.Best(parse(t, text), plan.Goal{Late: 30 * time.Second}, plan.Limits{})
		require.NoError(t, err)
		require.Equal(t, want, p.Why)
		// However little durations vary, a job needs a poll.
		require.InEpsilon(t, 1/p.FixedCost.Calls, p.Bound, 0.01, text)
	}
}

// A goal of a quantile does not make the other jobs very late.
func TestQuantilesLeaveNoJobVeryLate(t *testing.T) {
	t.Parallel()
	for _, durations := range some([]string{"mix(60% constant(1m), 40% lognormal(1h, 0.5))", "lognormal(15m, 0.5)", "uniform(15m, 30m)", "exponential(20m)"}) {
		for _, at := range []plan.Statistic{plan.P50, plan.P95} {
			p, err := plan.Best(parse(t, durations), plan.Goal{Late: 30 * time.Second, At: at}, plan.Limits{})
			require.NoError(t, err)
			require.LessOrEqual(t, p.Cost.Mean.Seconds(), 1.001*max(30, p.FixedCost.Mean.Seconds()), "%s %v: %v", durations, at, p.Schedule)
		}
	}
	// Where a fixed delay meets the ends by chance, others need not.
	_, err := plan.Best(parse(t, "mix(80% constant(1m), 20% constant(1h))"), plan.Goal{Share: 0.05, At: plan.P50}, plan.Limits{Method: plan.Initial})
	require.NoError(t, err)
	p, err := plan.Best(parse(t, "lognormal(15m, 0.5)"), plan.Goal{Late: 30 * time.Second, At: plan.P50}, plan.Limits{Method: plan.Initial})
	require.NoError(t, err)
	require.Less(t, p.Cost.P95, 65*time.Second)
}

// The exact programme trusts that jobs of other lengths do not exist.
func TestExactTakesNoLearnedDurations(t *testing.T) {
	t.Parallel()
	d, err := plan.Learn(draw(parse(t, "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))"), 30))
	require.NoError(t, err)
	_, err = plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{Method: plan.Exact})
	require.ErrorIs(t, err, plan.ErrLearned)
	p, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{})
	require.NoError(t, err)
	require.Equal(t, plan.Hazard, p.Method)
}

// Nothing is known: a fixed delay, or one that grows with the job.
func TestBestWithoutDurations(t *testing.T) {
	t.Parallel()
	minutes := func(n int) pollcore.Planned {
		return pollcore.Planned{Delays: []time.Duration{time.Duration(n) * time.Minute}, Then: time.Duration(n) * time.Minute}
	}
	var nothing plan.Distribution
	for at, want := range map[plan.Statistic]pollcore.Planned{plan.Mean: minutes(2), plan.P50: minutes(2), plan.P95: minutes(1), plan.Worst: minutes(1)} {
		p, err := plan.Best(nothing, plan.Goal{Late: time.Minute, At: at}, plan.Limits{})
		require.NoError(t, err)
		require.Equal(t, want, p.Schedule)
		require.Equal(t, plan.Fixed, p.Method)
		require.Equal(t, 1.0, p.Bound)
		require.Zero(t, p.Cost)
	}
	p, err := plan.Best(nothing, plan.Goal{Share: 0.05}, plan.Limits{})
	require.NoError(t, err)
	require.Equal(t, plan.Growth, p.Method)
	_, err = plan.Best(nothing, plan.Goal{Price: 1}, plan.Limits{})
	require.ErrorContains(t, err, "needs a distribution")
	_, err = plan.Best(parse(t, "uniform(15m, 30m)"), plan.Goal{Late: time.Minute}, plan.Limits{Method: plan.Growth})
	require.ErrorContains(t, err, "method growth needs a lateness as a share of the job's length, such as 5%")
}

// Each job is seen at most the share of its length later, or a second, for ever.
func TestGrowthKeepsItsPromise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0.01, 2).Draw(t, "e")
		p, err := plan.Best(plan.Distribution{}, plan.Goal{Share: e, At: plan.Worst}, plan.Limits{Delays: rapid.IntRange(0, 200).Draw(t, "delays")})
		require.NoError(t, err)
		now := time.Duration(0)
		for n := 1; n < 300 && now < 100*365*24*time.Hour; n++ {
			delay := p.Schedule.Before(n)
			require.LessOrEqual(t, delay.Seconds(), max(1, e*max(10, now.Seconds())))
			now += delay
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	d := parse(t, "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))")
	for _, method := range []plan.Method{plan.Hazard, plan.Exact} {
		p, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{MinDelay: 20*time.Second + 1, MaxDelay: 5 * time.Minute, Delays: 10, Method: method})
		require.NoError(t, err)
		require.LessOrEqual(t, len(p.Schedule.Delays), 10)
		for n := range 12 {
			delay := p.Schedule.Before(n + 1)
			require.GreaterOrEqual(t, delay, 21*time.Second)
			require.LessOrEqual(t, delay, 5*time.Minute)
		}
	}
	_, err := plan.Best(d, plan.Goal{Late: 5 * time.Second}, plan.Limits{MinDelay: time.Minute})
	require.ErrorIs(t, err, plan.ErrUnreachable)
	require.ErrorContains(t, err, "method fixed does not reach a lateness of 5s mean: with delays of 1m0s, the shortest, it is 28.611s. Allow more")
	for _, limits := range []plan.Limits{{MinDelay: -1}, {MaxDelay: -1}, {Delays: -1}, {Delays: 1001}, {MinDelay: plan.Forever}, {Method: "best"}} {
		_, err := plan.Best(d, plan.Goal{Late: time.Minute}, limits)
		require.Error(t, err, "%+v", limits)
	}
}

// No plan lists more delays than it may, however much better more would be, and none is
// shorter than allowed. With these, two that are joined would be the best.
func TestPlansKeepTheLimitOfDelays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		durations string
		delays    int
		late      time.Duration
	}{
		{"weibull(20m, 0.7)", 2, 20 * time.Second},
		{"mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))", 3, 100 * time.Second},
		{"uniform(15m, 30m)", 5, 47 * time.Second},
		{"lognormal(10m, 1)", 1, 47 * time.Second},
	}
	for _, tt := range tests {
		for _, method := range []plan.Method{plan.Hazard, plan.Exact} {
			const least = 7 * time.Second
			p, err := plan.Best(parse(t, tt.durations), plan.Goal{Late: tt.late}, plan.Limits{Method: method, Delays: tt.delays, MinDelay: least})
			require.NoError(t, err)
			require.LessOrEqual(t, len(p.Schedule.Delays), tt.delays, "%s %s", tt.durations, method)
			require.GreaterOrEqual(t, slices.Min(append(p.Schedule.Delays, p.Schedule.Then)), least, "%s %s", tt.durations, method)
		}
	}
}

// Of long jobs that are alike all polls come after the first 100: a longer list saves most
// of them. Where it does not, there is none.
func TestLongJobsHaveLongLists(t *testing.T) {
	t.Parallel()
	for _, text := range some([]string{"lognormal(24h, 0.02)", "lognormal(8h, 0.02)", "lognormal(48h, 0.02)"}) {
		d, err := plan.Learn(draw(parse(t, text), 60))
		require.NoError(t, err)
		for _, method := range []plan.Method{"", plan.Hazard} {
			p, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{Method: method})
			require.NoError(t, err)
			require.Equal(t, plan.Hazard, p.Method, text)
			require.Less(t, p.Cost.Calls, 0.4*p.FixedCost.Calls, "%s: %d delays", text, len(p.Schedule.Delays))
			require.NoError(t, p.Schedule.Validate())
		}
		few, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{Delays: 100})
		require.NoError(t, err)
		require.LessOrEqual(t, len(few.Schedule.Delays), 100)
	}
	d, err := plan.Learn(draw(parse(t, "lognormal(15m, 0.5)"), 60))
	require.NoError(t, err)
	p, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{})
	require.NoError(t, err)
	require.LessOrEqual(t, len(p.Schedule.Delays), 100)
}

// At a price, no other delay after the listed ones is better.
func TestThenIsTheBestForItsPrice(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"lognormal(15m, 0.5)", "exponential(20m)", "mix(90% lognormal(1m, 0.1), 10% exponential(1h))"} {
		const price = 0.1
		d := parse(t, text)
		for _, method := range []plan.Method{plan.Initial, plan.Hazard, plan.Exact} {
			p, err := plan.Best(d, plan.Goal{Price: price}, plan.Limits{Method: method})
			require.NoError(t, err)
			for _, factor := range []float64{0.5, 0.8, 1.25, 2, 10} {
				other := p.Schedule
				other.Then = time.Duration(factor*other.Then.Seconds()+0.5) * time.Second
				cost := plan.MeasurePlanned(d, other)
				require.LessOrEqual(t, p.Cost.Calls+price*p.Cost.Mean.Seconds(), 1.006*(cost.Calls+price*cost.Mean.Seconds()), "%s %s: %v", text, method, other)
			}
		}
	}
}

// A delay is one that a schedule may have, also where the goal would have a longer one.
func TestCheapSecondsKeepTheLongestDelay(t *testing.T) {
	t.Parallel()
	for _, method := range []plan.Method{"", plan.Fixed, plan.Initial, plan.Hazard, plan.Exact} {
		p, err := plan.Best(parse(t, "exponential(8760h)"), plan.Goal{Price: 1e-12}, plan.Limits{Method: method, Jitter: plan.MaxJitter})
		require.NoError(t, err)
		require.NoError(t, p.Schedule.Validate(), "%s: %v", method, p.Schedule)
	}
}

// A method that the goal or the distribution does not admit is refused, not replaced.
func TestMethodsAreNotReplaced(t *testing.T) {
	t.Parallel()
	known := parse(t, "uniform(15m, 30m)")
	for _, tt := range []struct {
		d      plan.Distribution
		goal   string
		method plan.Method
		want   string
	}{
		{plan.Distribution{}, "30s", plan.Hazard, "method hazard needs a distribution of the durations, and a lateness that is a mean, p50 or p95"},
		{plan.Distribution{}, "30s", plan.Initial, "method initial needs a distribution"},
		{known, "30s worst", plan.Exact, "method exact needs a distribution"},
		{known, "5% worst", plan.Fixed, "method fixed needs a lateness in seconds where it must hold for any duration: use method growth"},
		{plan.Distribution{}, "30s", "best", `"best" is not a method: expected fixed, initial, hazard, exact or growth`},
		{known, "30s worst", "best", `"best" is not a method`},
	} {
		g, err := plan.ParseGoal(tt.goal)
		require.NoError(t, err)
		_, err = plan.Best(tt.d, g, plan.Limits{Method: tt.method})
		require.ErrorContains(t, err, tt.want)
	}
	p, err := plan.Best(known, plan.Goal{Late: 30 * time.Second, At: plan.Worst}, plan.Limits{Method: plan.Fixed})
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, p.Schedule.Then)
}

// Where lateness is a share of the job's length, a second counts for less in longer jobs.
// The rule of the hazard knows that as well as the search for the best polls.
func TestSharesAreWeighed(t *testing.T) {
	t.Parallel()
	for text, bound := range map[string]float64{"exponential(20m)": 0.542, "lognormal(5m, 1.5)": 0.348} {
		var calls []float64
		fixed, err := plan.Best(parse(t, text), plan.Goal{Share: 0.05}, plan.Limits{Method: plan.Fixed})
		require.NoError(t, err)
		require.InDelta(t, bound, fixed.Bound, 0.001)
		for _, method := range []plan.Method{plan.Exact, plan.Hazard} {
			p, err := plan.Best(parse(t, text), plan.Goal{Share: 0.05}, plan.Limits{Method: method})
			require.NoError(t, err)
			require.LessOrEqual(t, p.Bound, min(fixed.Bound, p.Cost.Calls/p.FixedCost.Calls))
			calls = append(calls, p.Cost.Calls)
		}
		require.InEpsilon(t, calls[0], calls[1], 0.02, text)
	}
	// Learned jobs have the rule alone.
	d, err := plan.Learn(draw(parse(t, "uniform(15m, 30m)"), 100))
	require.NoError(t, err)
	p, err := plan.Best(d, plan.Goal{Share: 0.05}, plan.Limits{Method: plan.Hazard})
	require.NoError(t, err)
	require.Less(t, p.Cost.Calls, 0.6*p.FixedCost.Calls)
}

func TestParseGoal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]plan.Goal{
		"30s":        {Late: 30 * time.Second},
		"1m30s p95":  {Late: 90 * time.Second, At: plan.P95},
		" 5%  p50 ":  {Share: 0.05, At: plan.P50},
		"12.5% mean": {Share: 0.125},
		"5% worst":   {Share: 0.05, At: plan.Worst},
	} {
		got, err := plan.ParseGoal(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		again, err := plan.ParseGoal(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	for text, want := range map[string]string{
		"":        `lateness "" is not a time or a share`,
		"30":      `lateness "30" is not a time such as 30s`,
		"soon":    `lateness "soon" is not a time such as 30s`,
		"x%":      `lateness "x%" is not a number of percent`,
		"NaN%":    `lateness "NaN%" is not a number of percent, such as 5%`,
		"1e400%":  "between 0.1% and 1000%, got 1e400%",
		"Inf%":    "between 0.1% and 1000%, got +Inf%",
		"0%":      "lateness must be above 0, got 0%: pass a time such as 30s, or a share of the job's length such as 5%",
		"-5%":     "lateness must be above 0, got -5%: pass",
		"0.01%":   "between 0.1% and 1000%, got 0.01%",
		"5% p 95": "is not a time or a share",
		"30s p96": `"p96" is not a statistic of lateness: expected mean, p50, p95, worst (did you mean "p95"?)`,
		"-30s":    "lateness must be above 0, got -30s",
		"0s":      "lateness must be above 0, got 0s: pass",
	} {
		_, err := plan.ParseGoal(text)
		require.ErrorContains(t, err, want, text)
	}
	require.Error(t, plan.Goal{}.Validate())
	require.Error(t, plan.Goal{Late: 1, Price: 1}.Validate())
	require.ErrorContains(t, plan.Goal{Late: 1, At: 9}.Validate(), "statistic 9")
}

// The budget is 200 ms of processor time for 10,000 durations.
func BenchmarkBestOfTenThousandDurations(b *testing.B) {
	samples := draw(parse(b, "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.5))"), 10_000)
	for _, goal := range []string{"30s", "5%", "30s p95", "40% p95"} {
		for _, jitter := range []time.Duration{0, time.Minute} {
			b.Run(goal+" jitter "+jitter.String(), func(b *testing.B) {
				g, err := plan.ParseGoal(goal)
				require.NoError(b, err)
				for b.Loop() {
					d, err := plan.Learn(samples)
					require.NoError(b, err)
					_, err = plan.Best(d, g, plan.Limits{Jitter: jitter})
					require.NoError(b, err)
				}
			})
		}
	}
}
