package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
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
			row.Whole = c.wholeOf(r, row.Ends, w.found)
		}
		rows[way.Rule] = row
		c.checkErrorStart(r, way, row.Ends)
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

// checkRace finds an error that the poll may get just after the machine has made what it
// asks for, as AWS's own waiter retries it, and that the poll does not take.
func (c *checker) checkRace(r *reading) {
	if r.Entry == nil || r.Start == nil && !c.makesBefore(r) {
		return
	}
	for _, names := range r.startErrors() {
		c.report(StartRace, r.Poll, "", "just after the start, %s may fail with %s, which AWS's own waiter retries, and the loop does not: "+
			"retry %q a few times, first in \"Retry\"", r.Operation, names.code, names.names[0])
		return
	}
}

// startError is an error that a poll may get just after the start, and its names in Step
// Functions.
type startError struct {
	code  string
	names []string
}

// StartErrors are the names of the errors that the poll may get just after the start, as
// AWS's own waiter retries them, and that it does not take.
func (l *Loop) StartErrors() []string {
	var names []string
	for _, e := range l.startErrors() {
		names = append(names, e.names...)
	}
	return names
}

func (l *Loop) startErrors() []startError {
	if l.Entry == nil {
		return nil
	}
	var all []startError
	j := judge{entry: l.Entry}
	for _, a := range l.Entry.Waiter.Acceptors {
		if a.State != pollcore.Retry || a.Matcher.ErrorType == nil {
			continue
		}
		names := j.errorNames(*a.Matcher.ErrorType)
		if len(names) == 0 {
			names = []string{l.Entry.Service.UnmodeledErrorName()}
		}
		if !takesError(l.Poll, names) && !awserror.ClassifyName(names[0], "").Passes() {
			all = append(all, startError{smithy.ShapeName(*a.Matcher.ErrorType), names})
		}
	}
	return all
}

// GoneErrors returns the errors of the poll by which a wait until the resource is gone succeeds, as Step Functions names
// them, of all entries for the operation.
func (l *Loop) GoneErrors() []string {
	p := readPolled(l.Operation)
	if p == nil {
		return nil
	}
	var all []string
	for _, s := range p.statuses {
		for _, j := range s.judges {
			if j.entry == nil || j.aim() != catalog.AimGone {
				continue
			}
			for _, a := range j.entry.Waiter.Acceptors {
				if a.State != pollcore.Success || a.Matcher.ErrorType == nil {
					continue
				}
				for _, name := range j.errorNames(*a.Matcher.ErrorType) {
					if !slices.Contains(all, name) {
						all = append(all, name)
					}
				}
			}
		}
	}
	return all
}

// makesBefore tells whether a Task shortly before the poll makes what it asks for: by a
// call of the service on the same noun, as SendCommand before GetCommandInvocation.
func (c *checker) makesBefore(r *reading) bool {
	service, describe, _ := strings.Cut(r.Operation, ":")
	_, noun := splitVerb(describe)
	before := c.waysOf(r.Flow).before
	seen := map[*asl.State]bool{r.Poll: true}
	for queue := []*asl.State{r.Poll}; len(queue) > 0 && len(seen) <= maxBefore; queue = queue[1:] {
		for _, from := range before[queue[0].Name] {
			if seen[from] {
				continue
			}
			seen[from] = true
			queue = append(queue, from)
			if from.Task == nil {
				continue
			}
			of, action, _ := strings.Cut(c.operations.call(from.Task.Resource), ":")
			verb, object := splitVerb(action)
			if of == service && object != "" && !slices.Contains(readVerbs, verb) && leadsToReady(action) &&
				(strings.Contains(noun, object) || strings.Contains(object, noun)) {
				return true
			}
		}
	}
	return false
}

// splitVerb is the first word of an operation and the rest, in small letters and without
// a plural: "send" and "command".
func splitVerb(operation string) (verb, noun string) {
	i := strings.IndexFunc(strings.TrimLeftFunc(operation, unicode.IsUpper), unicode.IsUpper)
	if i < 0 {
		return strings.ToLower(operation), ""
	}
	i += len(operation) - len(strings.TrimLeftFunc(operation, unicode.IsUpper))
	return strings.ToLower(operation[:i]), strings.TrimSuffix(strings.ToLower(operation[i:]), "s")
}

// raisesRunning tells whether a poll computes an error of some status, by $error or by a field
// that has no value for it and for others has.
func (c *checker) raisesRunning(s *asl.State, p *polled) bool {
	in := c.types.Input(s)
	for _, status := range p.statuses {
		fails, passes := false, false
		for _, value := range status.values {
			result := typecheck.Narrow(c.types.Result(s), status.steps, value)
			if c.types.Raises(s, in, result) {
				return true
			}
			for _, way := range c.types.Try(s, in, result) {
				fails, passes = fails || way.Fails, passes || !way.Fails && way.Kind != asl.TransitionCatch
			}
		}
		if fails && passes {
			return true
		}
	}
	return false
}
