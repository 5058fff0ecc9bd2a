package serve

import (
	"context"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

// compareStrategies runs a poll loop, and what each strategy would have in its place, on
// a simulated job of the same length. A strategy that cannot take the place has no trial.
func compareStrategies(ctx context.Context, c page.Comparison) []page.Trial {
	var all []page.Trial
	for _, strategy := range fix.Strategies() {
		_, loops, err := fix.Apply(ctx, []byte(c.Definition), fix.Options{
			Only: []string{c.Task}, Strategy: strategy, JobRuns: c.Runs, Express: c.Express, Models: models.Load,
		})
		if err != nil {
			continue
		}
		for i := range loops {
			l := &loops[i]
			if l.Poll != c.Task || l.Refused != "" || len(l.Trials) == 0 {
				continue
			}
			if len(all) == 0 {
				all = append(all, newTrial("this loop", &l.Trials[0].Before))
			}
			all = append(all, newTrial(string(strategy), &l.Trials[0].After))
		}
	}
	return all
}

func newTrial(name string, m *fix.Measure) page.Trial {
	return page.Trial{Name: name, Late: m.Late, Calls: int(m.Calls), Transitions: int(m.Transitions), // of one job
		USD: m.USD}
}
