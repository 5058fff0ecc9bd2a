package lint

import "slices"

// pollingValues are the statuses for which the loop may poll on, and in which a job may stay: it runs, or it ends
// and a rule names the status, or else it ends. An empty one is any, where none is known.
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
