package tests_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/tests/race"
)

// What ten past jobs do not show, the exact programme finds late. The method that
// smooths them does not.
func TestExactPlanOfFewJobs(t *testing.T) {
	t.Parallel()
	const (
		past = 10
		late = 30 * time.Second
	)
	times := race.Of(60, 10)
	table := "\n| durations | exact: calls, seconds late | hazard: calls, seconds late |\n|---|---|---|\n"
	for i, text := range race.OneIn(4, []string{
		"uniform(15m, 30m)", "lognormal(15m, 0.25)", "lognormal(10m, 1)", "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))",
	}) {
		durations, err := plan.Parse(text)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(7, uint64(i)))
		var exact, hazard plan.Cost
		for range times {
			var seen []string
			var samples []plan.Sample
			for range past {
				took := durations.Quantile(random.Float64()).Round(time.Second)
				seen = append(seen, fmt.Sprintf("%d%% constant(%s)", 100/past, took))
				samples = append(samples, plan.Exactly(took))
			}
			stated, err := plan.Parse("mix(" + strings.Join(seen, ", ") + ")")
			require.NoError(t, err)
			learned, err := plan.Learn(samples)
			require.NoError(t, err)
			_, err = plan.Best(learned, plan.Goal{Late: late}, plan.Limits{Method: plan.Exact})
			require.ErrorIs(t, err, plan.ErrLearned)
			add := func(sum *plan.Cost, d plan.Distribution, method plan.Method) {
				p, err := plan.Best(d, plan.Goal{Late: late}, plan.Limits{Method: method})
				require.NoError(t, err)
				cost := plan.MeasurePlanned(durations, p.Schedule)
				sum.Calls += cost.Calls / float64(times)
				sum.Mean += cost.Mean / time.Duration(times)
			}
			add(&exact, stated, plan.Exact)
			add(&hazard, learned, plan.Hazard)
		}
		require.Greater(t, exact.Mean, 2*late, "%s: the exact programme is not dangerous", text)
		require.Less(t, hazard.Mean, late+late/2, "%s: what is learned is late", text)
		table += fmt.Sprintf("| `%s` | %.1f, %.0f | %.1f, %.0f |\n", text, exact.Calls, exact.Mean.Seconds(), hazard.Calls, hazard.Mean.Seconds())
	}
	if race.Enabled {
		return // the table has all of them
	}
	requireSection(t, "../docs/adr/0007-the-exact-plan-needs-a-stated-distribution.md", "exact", table+"\n")
}
