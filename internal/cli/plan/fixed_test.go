package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/tests/race"
)

// The rows of past jobs can be compared: the fixed delay meets the goal with these jobs, or
// is as late as the schedule that was planned, which allows for others, too.
func TestPlanComparesAFixedDelayForTheGoal(t *testing.T) {
	t.Parallel()
	d, err := plan.Parse("lognormal(15m, 0.5)")
	require.NoError(t, err)
	var spread, two []plan.Sample
	for i := range 400 {
		spread = append(spread, plan.Exactly(d.Quantile((float64(i)+0.5)/400).Truncate(time.Second)))
	}
	for i := range 40 {
		two = append(two, plan.Exactly([]time.Duration{time.Minute, time.Minute, time.Minute, time.Hour}[i%4]))
	}
	nightly := make([]plan.Sample, 40)
	for i := range nightly {
		nightly[i] = plan.Exactly(time.Duration(880+i) * time.Second)
	}
	jitters := race.OneIn(2, []time.Duration{0, time.Minute}) // a jitter takes nearly all of the time
	for _, c := range []struct {
		name  string
		jobs  []plan.Sample
		least float64 // of the lateness of the planned schedule, less a second
	}{{"spread", spread, 0.85}, {"nightly", nightly, 0.5}, {"two lengths", two, 0}} {
		for _, late := range []string{"30s", "30s p50", "5%", "5% p95"} {
			for _, jitter := range jitters {
				goal, err := plan.ParseGoal(late)
				require.NoError(t, err)
				past := &pastjobs.Jobs{}
				for _, s := range c.jobs {
					past.Ended = append(past.Ended, pastjobs.Job{Sample: s})
				}
				known, err := learn("past", past)
				require.NoError(t, err)
				report, err := newPlanReport(planOptions{strategy: "variables", region: "us-east-1", jitter: jitter}, goal, &planSubject{}, known)
				require.NoError(t, err)
				of := func(name string) float64 {
					i := slices.IndexFunc(report.Schedules, func(s plannedSchedule) bool { return s.Name == name })
					require.Equal(t, jitter, report.Schedules[i].Schedule.Jitter)
					late, share := statisticsOf(goal, plan.MeasurePlanned(known.recorded, report.Schedules[i].Schedule))
					if goal.Share > 0 {
						return share
					}
					return late.Seconds()
				}
				fixed, planned, second := of(fixedName), of(plannedName), 1.0
				if goal.Share > 0 {
					second /= (15 * time.Minute).Seconds()
				}
				most := max(planned, goal.Late.Seconds(), goal.Share)
				require.LessOrEqual(t, fixed, most*1.0001, "%s, %s, jitter %s", c.name, late, jitter)
				if c.least == 0 {
					continue // it is in time by leaps
				}
				require.GreaterOrEqual(t, fixed, most*c.least-second, "%s, %s, jitter %s", c.name, late, jitter)
			}
		}
	}
}
