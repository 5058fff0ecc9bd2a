package lint

import "slices"

// pollingValues are the statuses for which the loop may poll on, and in which a job may stay: it runs, or it ends
// and a rule names the status. An empty one is any, where none is known.
func (r *reading) pollingValues() []string {
	if r.status == nil {
		return []string{""}
	}
	var out []string
	for _, value := range r.status.values {
		means := r.status.meaning(r.judges, value)
		stays := means == MeansRunning || means == MeansEnding && r.named[value]
		if stays && slices.ContainsFunc(r.routes[value], func(way route) bool { return way.ends == PollsOn }) {
			out = append(out, value)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}
