package lint

import "slices"

// pollingValues are the statuses for which the loop may poll on, and in which a job may stay: it runs, or
// ends. An empty one is any, where none is known.
func (r *reading) pollingValues() []string {
	if r.status == nil {
		return []string{""}
	}
	var out []string
	for _, value := range r.status.values {
		means := r.status.meaning(r.judges, value)
		if (means == MeansRunning || means == MeansEnding) && slices.ContainsFunc(r.routes[value], func(way route) bool { return way.ends == PollsOn }) {
			out = append(out, value)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}
