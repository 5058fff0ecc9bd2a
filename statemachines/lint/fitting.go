package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// judgesOf returns those who judge a status: the jobs that the machine starts, if
// it starts any, else all; those that wait until something is gone only where the
// poll catches errors.
func (c *checker) judgesOf(r *reading, s *status) (judges []*judge, start *asl.State) {
	known := false
	for _, j := range s.judges {
		found, byID := c.startOf(r, j)
		switch {
		case found == nil || known && !byID:
			continue
		case byID && !known:
			judges, known = nil, true
		}
		judges, start = append(judges, j), found
	}
	if len(judges) > 0 {
		return judges, start
	}
	for _, j := range s.judges {
		if !j.gone || len(r.Poll.Catch) > 0 {
			judges = append(judges, j)
		}
	}
	return c.chooseAimed(r, withoutOtherJobs(judges)), nil
}

// chooseFitting leaves, of several judges, those that fit where the loop leads, and notes
// where only others fit than the one that the call before the loop tells. Of several jobs, whose failures are
// easily lost in a count, those are left that fit the statuses that the loop names, if none fits all.
func (r *reading) chooseFitting() {
	fitting := slices.DeleteFunc(slices.Clone(r.status.judges), func(j *judge) bool { return j.entry == nil || !r.fits(j) })
	both := slices.DeleteFunc(slices.Clone(r.judges), func(j *judge) bool { return !slices.Contains(fitting, j) })
	named := slices.DeleteFunc(slices.Clone(r.judges), func(j *judge) bool { return r.listing == nil || j.entry == nil || !r.fitsNamed(j) })
	unclear := slices.DeleteFunc(slices.Clone(named), func(j *judge) bool { return !j.asksMore(both) })
	switch {
	case len(unclear) == 1:
		r.judges, r.doubtful = unclear, true
	case len(both) > 0 && len(both) < len(r.judges):
		r.judges = both
	case len(both) == 0 && len(r.judges) == 1 && r.Start == nil:
		other := r.waitsForOther(r.judges[0])
		if r.doubtful = len(fitting) > 0 || len(other) > 0; len(fitting) == 0 && slices.ContainsFunc(other, saysNothing) {
			r.judges, r.Entry, r.Chosen, r.doubtful = nil, nil, false, false
		}
	case len(fitting) == 0 && len(named) > 0:
		r.judges = named
	case len(both) == 0 && len(r.judges) == 1:
		if i := slices.IndexFunc(fitting, func(j *judge) bool { return r.takesMore(j, r.judges[0]) }); i >= 0 {
			r.judges = fitting[i : i+1]
		}
	}
	r.nameEntry(r.status)
}

// takesMore tells whether a waiter of AWS's takes some failures of a job for a success, too, which the loop names, and else
// judges as the job does: TrainingJobCompletedOrStopped takes Stopped. One to which all ends are successes waits only until the
// job is over.
func (r *reading) takesMore(j, of *judge) bool {
	if j.entry.Job != nil || of.entry == nil {
		return false
	}
	more, fails := false, false
	for value, means := range of.meanings {
		isSuccess := j.meanings[value] == MeansSuccess
		switch {
		case means == MeansSuccess && !isSuccess, means != MeansSuccess && means != MeansFailure && isSuccess:
			return false
		case means == MeansFailure && isSuccess && !r.names(value):
			return false
		}
		more = more || means == MeansFailure && isSuccess
		fails = fails || means == MeansFailure && j.meanings[value] == MeansFailure
	}
	return more && fails
}

// names tells whether the loop has a status in a rule, or in a text that it computes with.
func (r *reading) names(value string) bool {
	var computed []string
	for _, s := range r.inner.states {
		computed = appendComputed(computed, s)
	}
	words := map[string]bool{}
	nameQuoted(computed, words)
	return r.named[value] || words[value]
}

// saysNothing tells whether the name of a status says nothing of a job. Who takes DISABLED for a success where a job has
// other ones waits for something else; who takes FAILED for one has made a mistake.
func saysNothing(status string) bool { return meaningOfName(status) == MeansUnknown }

// waitsForOther are the statuses that the loop takes for a success and that are none to a job which the machine does not
// start; nil if it takes one that is.
func (r *reading) waitsForOther(j *judge) []string {
	if j.entry == nil || j.entry.Job == nil {
		return nil
	}
	var other []string
	for value, means := range j.meanings {
		if !j.stated[value] || endOf(r.routes[value]) != EndsSuccess {
			continue
		}
		if means == MeansSuccess || means == MeansUnclear {
			return nil
		}
		other = append(other, value)
	}
	return other
}

// asksMore tells whether a judge reads a second member to know how a job ended, where other judges take the status alone
// for a success. Those wait only until the job is over.
func (j *judge) asksMore(others []*judge) bool {
	if len(others) == 0 || len(j.second) == 0 || slices.Contains(others, j) && len(others) == 1 {
		return false
	}
	for value := range j.second {
		if slices.ContainsFunc(others, func(o *judge) bool { return o != j && o.meanings[value] != MeansSuccess }) {
			return false
		}
	}
	return true
}

// nameEntry keeps the entry of a status that is left.
func (r *reading) nameEntry(s *status) {
	if len(r.judges) == 1 {
		r.Entry = r.judges[0].entry
		r.Chosen = r.Entry != nil && len(s.judges) > 1
	}
}

// fits tells whether the loop goes on after what is a success to a judge, and neither
// after its failures nor after what runs, or is there before the change that the judge waits for.
func (r *reading) fits(j *judge) bool {
	goesOn := false
	for value, means := range j.meanings {
		end := endOf(r.routes[value])
		if passing, _ := j.entry.Passing(value); passing == catalog.PassingChange && end == EndsSuccess {
			return false
		}
		if !j.stated[value] {
			continue
		}
		switch means {
		case MeansSuccess:
			if end == PollsOn || end == EndsFailure {
				return false
			}
			goesOn = true
		case MeansFailure, MeansRunning:
			if end == EndsSuccess {
				return false
			}
		default:
		}
	}
	return goesOn
}

// fitsNamed tells whether the statuses that the loop names lead where a judge says; the judge states at least one of
// them. A loop that polls on during another change waits for something else.
func (r *reading) fitsNamed(j *judge) bool {
	agrees := false
	for value, means := range j.meanings {
		if !r.named[value] || !j.stated[value] && means != MeansUnclear {
			continue
		}
		end := endOf(r.routes[value])
		passing, _ := j.entry.Passing(value)
		switch {
		case passing == catalog.PassingChange,
			(means == MeansSuccess || means == MeansUnclear) && (end == PollsOn || end == EndsFailure),
			means == MeansFailure && (end == PollsOn || end == EndsSuccess),
			means == MeansRunning && end != PollsOn && end != EndsUnknown:
			return false
		}
		agrees = agrees || means != MeansUnknown
	}
	return agrees
}

// allPollOn tells whether each value that is known, and any other, leads back to the poll.
func (r *reading) allPollOn() bool {
	for _, routes := range r.routes {
		if endOf(routes) != PollsOn {
			return false
		}
	}
	return !r.Retries
}
