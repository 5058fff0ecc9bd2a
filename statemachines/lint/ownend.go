package lint

import (
	"maps"
	"slices"
)

// takeOwnEnd takes the meanings from the machine where it waits for a later end than all judges do: each success
// of theirs polls on, and a rule leads out another status that no entry of the catalogue names. A booked contact is
// a success of groundstation:ContactScheduled, and still to come for a machine that waits for COMPLETED. Who says himself what
// is a success waits for that.
func (r *reading) takeOwnEnd() {
	own := r.ownEnds()
	if len(own) == 0 {
		return
	}
	judges := make([]*judge, len(r.judges))
	for i, j := range r.judges {
		later := *j
		later.meanings, later.stated, later.taken = maps.Clone(j.meanings), maps.Clone(j.stated), map[string]bool{}
		for value, means := range j.meanings {
			if means == MeansSuccess {
				later.meanings[value] = MeansRunning
				delete(later.stated, value)
			}
		}
		for _, value := range own {
			later.meanings[value] = MeansSuccess
		}
		judges[i] = &later
	}
	r.judges = judges
}

// ownEnds are the statuses by which the machine alone goes on as after a success; none where a success of a judge
// leaves the loop.
func (r *reading) ownEnds() []string {
	var own []string
	waits := false
	isStated := func(value string) bool {
		return slices.ContainsFunc(r.status.judges, func(j *judge) bool { return j.stated[value] })
	}
	for _, value := range r.status.values {
		end := endOf(r.routes[value])
		if means := r.status.meaning(r.judges, value); means == MeansSuccess || means == MeansUnclear {
			if end != PollsOn || r.ByName && isStated(value) {
				return nil
			}
			waits = true
			continue
		}
		if (end == EndsSuccess || end == GoesOn || end == NextJob) && r.named[value] && !isStated(value) && !endName().MatchString(value) && !isGoing(value) {
			own = append(own, value)
		}
	}
	if !waits {
		return nil
	}
	return own
}
