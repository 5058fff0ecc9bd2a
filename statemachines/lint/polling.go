package lint

import "slices"

// pollingValues are the statuses in which a job may stay while the loop polls on: of those that run; else of the ends
// that a rule names; else of all ends. Where names alone tell, and none is of a job that runs, they are those that mean
// nothing, with any other. The empty text stands for any status where none is known, and for a flag or a number: who sets it
// may count.
func (r *reading) pollingValues() []string {
	if r.status == nil || r.status.complete {
		return []string{""}
	}
	var stays, ends, unknown []string
	for _, value := range r.status.values {
		if !endsIn(r.routes[value], PollsOn) {
			continue
		}
		switch means := r.status.meaning(r.judges, value); {
		case means == MeansRunning, means == MeansEnding && r.named[value]:
			stays = append(stays, value)
		case means == MeansEnding:
			ends = append(ends, value)
		case r.ByName && means == MeansUnknown && pollsOnForJob(r.routes[value]):
			unknown = append(unknown, value)
		}
	}
	if r.ByName && pollsOnForJob(r.routes[otherValue]) {
		unknown = append(unknown, otherValue)
	}
	for _, values := range [][]string{stays, ends, unknown} {
		if len(values) > 0 {
			return values
		}
	}
	return []string{""}
}

// pollsOnForJob tells whether a status polls on as long as the loop is at the same job, as a bound alone may lead to the next
// one, or start it.
func pollsOnForJob(routes []route) bool {
	return endsIn(routes, PollsOn) && !slices.ContainsFunc(routes, func(way route) bool {
		return way.ends != PollsOn && way.ends != NextJob && way.ends != StartsAgain
	})
}
