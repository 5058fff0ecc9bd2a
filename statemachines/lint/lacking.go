package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// setRoutes keeps the routes of a value, found for each of its answers: those by what the fields are written for, and
// those taken, where fields on the way select nothing.
func (r *reading) setRoutes(value string, found [][]route) {
	r.routes[value] = r.written(found)
	var taken []route
	fails := false
	for _, routes := range found {
		holding := slices.DeleteFunc(slices.Clone(routes), func(way route) bool { return way.fails })
		taken, fails = addRoutes(taken, r.inTime(holding)), fails || len(holding) < len(routes)
	}
	if fails {
		r.taken[value] = taken
		r.lacking[value] = !slices.ContainsFunc(taken, func(way route) bool { return !way.lost || way.caught })
	}
}

// takenBy are the routes that a value takes.
func (r *reading) takenBy(value string) []route {
	if taken := r.taken[value]; taken != nil {
		return taken
	}
	return r.routes[value]
}

// addLacking adds the routes of values on which a state fails as the answer does not have, with
// these, a member that it has with others.
func (c *checker) addLacking(r *reading, follow func(answer typecheck.Value) []route) {
	operation := operationNamed(r.Operation)
	if operation == nil || r.Retries || r.ByName {
		return
	}
	verdicts := map[Meaning]pollcore.Verdict{
		MeansRunning: pollcore.Retry, MeansSuccess: pollcore.Success, MeansFailure: pollcore.Failure, MeansUnclear: pollcore.Failure,
	}
	answer := c.types.Result(r.Poll)
	for _, value := range r.status.values {
		verdict, known := verdicts[r.status.meaning(r.judges, value)]
		if !known || slices.ContainsFunc(r.taken[value], func(way route) bool { return way.failed == r.Poll && !way.lost }) {
			continue
		}
		without, lacks := answer, false
		for _, path := range operation.Later() {
			if steps, _ := spellSteps(operation.Output, path); !operation.Presence[path].Has(verdict) && c.mentions(steps[len(steps)-1]) {
				without, lacks = typecheck.Without(without, steps), true
			}
		}
		if !lacks {
			continue
		}
		found := follow(r.narrow(without, r.status, value))
		atPoll := slices.ContainsFunc(found, func(way route) bool { return way.failed == r.Poll && !way.lost })
		if (r.taken[value] == nil || atPoll) && slices.ContainsFunc(found, func(way route) bool { return way.fails }) {
			r.taken[value] = r.inTime(slices.DeleteFunc(found, func(way route) bool { return way.fails }))
			r.lacking[value] = !slices.ContainsFunc(r.taken[value], func(way route) bool { return way.caught }) // else its Catch leads it
		}
	}
}

// operationNamed is the operation of a name such as "athena:GetQueryExecution"; nil if the
// catalogue does not have it.
func operationNamed(name string) *catalog.Operation {
	key, action, _ := strings.Cut(name, ":")
	service, err := catalog.AWS().Service(key)
	if err != nil {
		return nil
	}
	return service.Operations[action]
}
