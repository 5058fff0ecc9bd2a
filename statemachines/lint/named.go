package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/derived"
	"github.com/jobpoller/jobpoller/pollcore/catalog/statusname"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// meaningOfName is what the name of a status says of a job: nothing where that is not sure.
func meaningOfName(status string) Meaning { return Meaning(statusname.Of(status)) }

// judgeByName says what the names of statuses mean. Which of several changes CREATE_FAILED and UPDATE_FAILED are about,
// nobody knows.
func judgeByName(values []string) *judge {
	j := &judge{meanings: map[string]Meaning{}, stated: map[string]bool{}, taken: map[string]bool{}, second: map[string]string{}}
	failures := statusname.FailuresIn(values)
	for _, value := range values {
		j.meanings[value] = meaningOfName(value)
		if j.meanings[value] == MeansFailure && !slices.Contains(failures, value) {
			j.meanings[value] = MeansUnknown
		}
	}
	return j
}

// judgeDerived says what values of a status mean: what the user says, or else what a derived entry makes of them. Those that
// it leaves out are of other changes, or nobody knows what they are of: only an end that is unclear stays one.
func (c *checker) judgeDerived(poll *asl.State, e *catalog.Entry, values []string) *judge {
	j := judgeByName(values)
	for _, value := range values {
		switch {
		case slices.Contains(e.Job.Success, value):
			j.meanings[value] = MeansSuccess
		case slices.Contains(e.Job.Failure, value):
			j.meanings[value] = MeansFailure
		case !slices.Contains(e.Job.Running, value) && j.meanings[value] != MeansUnclear:
			j.meanings[value] = MeansUnknown
		}
	}
	c.takeSaid(poll, values, j)
	return j
}

// derivedOf is the derived entry of the operation that a Task of a loop calls, if the machine makes the call that starts its
// job, and none before the poll that stops or deletes something of the service; nil if there is none.
func (c *checker) derivedOf(l *loop, poll *asl.State) *catalog.Entry {
	operation := c.types.Operation(poll)
	if operation == nil {
		return nil
	}
	e := derived.Of(operation)
	if e == nil {
		return nil
	}
	ahead, starts := c.statesBefore(l.flow, poll), false
	for s := range c.machine.All {
		if s.Task == nil {
			continue
		}
		call := c.types.Operation(s)
		if call == nil || call.Service.Key != e.Service.Key {
			continue
		}
		if verb := catalog.VerbOf(call.Name); verb != nil && verb.Aim != catalog.AimReady && ahead[s] {
			return nil
		}
		starts = starts || call.Name == e.Name
	}
	if !starts {
		return nil
	}
	return e
}

// judgeAsked says what values of a status mean: what the user says, or else what their names do.
func (c *checker) judgeAsked(poll *asl.State, values []string) *judge {
	j := judgeByName(values)
	c.takeSaid(poll, values, j)
	return j
}

// takeSaid takes the meanings that the user gives to values.
func (c *checker) takeSaid(poll *asl.State, values []string, j *judge) {
	for _, value := range values {
		for _, key := range []string{poll.Name + ":" + value, value} {
			if means, said := c.said[key]; said {
				j.meanings[value], j.stated[value], j.taken[value] = means, true, means == MeansSuccess
				break
			}
		}
	}
}
