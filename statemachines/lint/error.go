package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// caughtErrors are where the catchers of a poll lead, and what their errors mean to those
// who judge the loop.
func (c *checker) caughtErrors(r *reading) []ErrorRow {
	if len(r.Poll.Catch) == 0 {
		return nil
	}
	rows := make([]ErrorRow, len(r.Poll.Catch))
	for _, way := range c.types.Step(r.Poll, c.types.Input(r.Poll), c.types.Result(r.Poll)) {
		if way.Kind != asl.TransitionCatch {
			continue
		}
		names := r.Poll.Catch[way.Rule].ErrorEquals
		w := &walk{router: c.newRouter(r), on: map[string]bool{r.Poll.Name: true}}
		w.enter(r.Poll, way, route{path: []string{way.To}})
		row := ErrorRow{Names: names, Meaning: r.meaningOfErrors(names), Routes: []string{way.To}, Ends: EndsUnknown}
		if len(w.found) > 0 && w.steps <= maxSteps {
			row.Ends = endOf(w.found)
		}
		rows[way.Rule] = row
	}
	return slices.DeleteFunc(rows, func(row ErrorRow) bool { return row.Names == nil })
}

// meaningOfErrors is what the judges of a loop say of errors; unknown if they do not
// agree, or a name is that of several errors.
func (r *reading) meaningOfErrors(names []string) Meaning {
	meaning := Meaning("")
	for _, name := range names {
		for _, j := range r.judges {
			means := j.meaningOfError(name)
			if meaning != "" && means != meaning {
				return MeansUnknown
			}
			meaning = means
		}
	}
	if meaning == "" {
		return MeansUnknown
	}
	return meaning
}

// meaningOfError is what the acceptors of an entry say of an error of its describe call.
func (j *judge) meaningOfError(name string) Meaning {
	if j.entry == nil {
		return MeansUnknown
	}
	for _, a := range j.entry.Waiter.Acceptors {
		if a.Matcher.ErrorType == nil || !slices.Contains(j.errorNames(*a.Matcher.ErrorType), name) {
			continue
		}
		switch a.State {
		case pollcore.Success:
			return MeansSuccess
		case pollcore.Failure:
			return MeansFailure
		default:
			return MeansRunning
		}
	}
	return MeansUnknown
}

// errorNames are the names by which Step Functions shows an error of the describe call
// and no other; none if its model does not declare it.
func (j *judge) errorNames(errorType string) []string {
	var names []string
	op, code := j.entry.Operation, smithy.ShapeName(errorType)
	for _, e := range op.Errors {
		if e.Shape != "" && (e.Shape == code || e.Code == code) {
			names = append(names, op.Service.ErrorName(e.Shape))
		}
	}
	return names
}

// raisesRunning tells whether a poll computes an error of some status.
func (c *checker) raisesRunning(s *asl.State, p *polled) bool {
	for _, status := range p.statuses {
		for _, value := range status.values {
			if c.types.Raises(s, c.types.Input(s), typecheck.Narrow(c.types.Result(s), status.steps, value)) {
				return true
			}
		}
	}
	return false
}
