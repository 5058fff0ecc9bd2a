package plan

import (
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// findFixed is the fixed delay that meets the goal with past jobs, or is as late as the
// plan where that does not meet it. The plan's own fixed delay is for the jobs that the plan
// allows for.
func (c coster) findFixed(goal plan.Goal, p plan.Plan) pollcore.Planned {
	if p.Method == plan.Fixed {
		return p.Fixed
	}
	late, share := statisticsOf(goal, plan.MeasurePlanned(c.durations, p.Schedule))
	if goal.Share > 0 {
		goal.Share = max(goal.Share, share)
	} else {
		goal.Late = max(goal.Late, late)
	}
	best, err := plan.Best(c.durations, goal, plan.Limits{Method: plan.Fixed, Jitter: p.Schedule.Jitter})
	if err != nil { // no fixed delay is in time for these jobs
		return p.Fixed
	}
	return best.Schedule
}

// statisticsOf is the lateness that the goal is about, also as a share of the length.
func statisticsOf(goal plan.Goal, cost plan.Cost) (late time.Duration, share float64) {
	switch goal.At {
	case plan.P50:
		return cost.P50, cost.P50Share
	case plan.P95:
		return cost.P95, cost.P95Share
	case plan.Mean, plan.Worst: // of Worst no plan has a fixed delay
	}
	return cost.Mean, cost.MeanShare
}
