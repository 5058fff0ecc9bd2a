package lint

import "slices"

// pollingValues are the statuses in which a job may stay, as the loop may poll on for them; an
// empty one is any, where none is known.
func (r *reading) pollingValues() []string {
	if r.status == nil {
		return []string{""}
	}
	var out []string
	for _, value := range r.status.values {
		if r.status.meaning(r.judges, value) == MeansRunning && slices.ContainsFunc(r.routes[value], func(way route) bool { return way.ends == PollsOn }) {
			out = append(out, value)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}
