package lint

import "slices"

// pollingValues are the statuses in which a job may stay while the loop polls on: of those that run; else of the ends
// that a rule names; else of all ends. The empty text stands for any status where none is known.
func (r *reading) pollingValues() []string {
	if r.status == nil {
		return []string{""}
	}
	var stays, ends []string
	for _, value := range r.status.values {
		if !slices.ContainsFunc(r.routes[value], func(way route) bool { return way.ends == PollsOn }) {
			continue
		}
		switch means := r.status.meaning(r.judges, value); {
		case means == MeansRunning, means == MeansEnding && r.named[value]:
			stays = append(stays, value)
		case means == MeansEnding:
			ends = append(ends, value)
		}
	}
	switch {
	case len(stays) > 0:
		return stays
	case len(ends) > 0:
		return ends
	}
	return []string{""}
}
