package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkByName warns of failures for which a loop polls on, of operations without an entry in the catalogue:
// the service's model lists the statuses, and their names alone say what they mean.
func (c *checker) checkByName(l *loop, express bool) {
	for _, poll := range l.states {
		if p := c.listedBy(poll); p != nil {
			if r := c.readAs(l, poll, p, express); r != nil && r.status != nil && !c.waitsUntilGone(r) {
				r.fill()
				c.reportByName(r)
			}
		}
	}
}

// reportByName reports the failures for which a loop polls on.
func (c *checker) reportByName(r *reading) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Meaning != MeansFailure || row.FailsAt != "" || row.Ends != PollsOn || r.worksOn(row) || c.isMisspelt(r, row) {
			continue
		}
		is := "is an end by its name"
		if len(row.Values) > 1 {
			is = "are ends by their names"
		}
		s, field := r.decisionOf(r.wrong(row))
		c.report(StatusPollsOn, s, field, "%s", r.sayWrongEnd(fmt.Sprintf("%s of %s %s, but ", list(row.Values), r.Operation, is),
			row.Meaning, row.Ends, first(r.targetsOf(r.wrong(row), r.trunk()))))
	}
}

// waitsUntilGone tells whether a loop seems to wait until a resource is deleted, which may have failed before that:
// a call before it deletes something of the service, the poll goes on after what is not there, or it ends with DELETED.
func (c *checker) waitsUntilGone(r *reading) bool {
	isGone := func(name string) bool { return strings.Contains(strings.ToLower(name), "delet") }
	if slices.ContainsFunc(r.Poll.Catch, func(k asl.Catcher) bool {
		return slices.ContainsFunc(k.ErrorEquals, missingName().MatchString) && c.waysOf(r.Flow).end(r.Flow.State(k.Next)) != EndsFailure
	}) ||
		slices.ContainsFunc(r.status.values, func(value string) bool { return isGone(value) && endOf(r.routes[value]) == EndsSuccess }) {
		return true
	}
	service, _ := asl.ParseResource(r.Poll.Task.Resource).SDK()
	before := c.waysOf(r.Flow).before
	seen := map[*asl.State]bool{r.Poll: true}
	for queue := []*asl.State{r.Poll}; len(queue) > 0 && len(seen) <= maxBefore; queue = queue[1:] {
		for _, s := range before[queue[0].Name] {
			if seen[s] {
				continue
			}
			seen[s] = true
			queue = append(queue, s)
			if s.Task == nil {
				continue
			}
			call := asl.ParseResource(s.Task.Resource)
			verb := catalog.VerbOf(javasdk.Capitalize(call.Action))
			if of, _ := call.SDK(); of == service && verb != nil && verb.Aim == catalog.AimGone {
				return true
			}
		}
	}
	return false
}

// missingName matches the name of the error of what is not there.
var missingName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`NotFound|DoesNotExist|NoSuch`) })

// listedBy is the operation that a Task calls with the statuses that its model lists; nil if an entry of the
// catalogue polls it, or if no status has the name of a failure.
func (c *checker) listedBy(s *asl.State) *polled {
	if s.Task == nil || c.operations.of(s) != nil || changes(s) {
		return nil
	}
	r := asl.ParseResource(s.Task.Resource)
	operation := c.types.Operation(s)
	if _, sdk := r.SDK(); !sdk || r.Pattern != "" || operation == nil {
		return nil
	}
	p := &polled{name: operation.Service.Key + ":" + operation.Name}
	listStatuses(operation.Output, "", func(path string, listed *catalog.Shape) {
		if len(failuresIn(listed.Enum)) == 0 {
			return
		}
		status := &status{path: path, values: slices.Clone(listed.Enum), listed: true, judges: []*judge{judgeByName(listed.Enum)}}
		status.steps, _ = spellSteps(operation.Output, path)
		p.statuses = append(p.statuses, status)
	})
	if len(p.statuses) == 0 {
		return nil
	}
	return p
}

// judgeByName says what the names of statuses mean.
func judgeByName(values []string) *judge {
	j := &judge{meanings: map[string]Meaning{}, stated: map[string]bool{}, taken: map[string]bool{}, second: map[string]string{}}
	failures := failuresIn(values)
	for _, value := range values {
		switch {
		case slices.Contains(failures, value):
			j.meanings[value] = MeansFailure
		case isGoing(value):
			j.meanings[value] = MeansRunning
		default:
			j.meanings[value] = MeansUnknown
		}
	}
	return j
}

// listStatuses finds the members of an answer that are called a status and whose values the model lists, with
// "[]" for the items of lists.
func listStatuses(s *catalog.Shape, path string, add func(path string, listed *catalog.Shape)) {
	const deepest = 4 // shapes may lead back to themselves
	if s == nil || len(memberPath().FindAllString(path, -1)) > deepest {
		return
	}
	for _, m := range s.Members {
		at := m.Name
		if path != "" {
			at = path + "." + m.Name
		}
		shape := m.Shape
		if shape.Type == catalog.List && shape.Element != nil {
			at, shape = at+"[]", shape.Element.Shape
		}
		if len(shape.Enum) > 0 && statusName().MatchString(m.Name) {
			add(at, shape)
		}
		listStatuses(shape, at, add)
	}
}

// statusName matches the name of a member that is a status.
var statusName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(status|state)$`) })

// failuresIn are the values of a list that have the name of a failed job, and not of the way to one. Which of
// several changes CREATE_FAILED and UPDATE_FAILED are about, nobody knows.
func failuresIn(values []string) []string {
	all := slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return !failureName().MatchString(value) || isOnItsWay(value) || strings.Contains(strings.ToLower(value), "progress")
	})
	ofChange := func(value string) bool { return changeFailed().MatchString(value) }
	if plain := slices.DeleteFunc(slices.Clone(all), ofChange); len(all)-len(plain) > 1 {
		return plain
	}
	return all
}

var (
	// failureName matches the name of a failure. Who waits for STOPPED or DELETED may wait for just that.
	failureName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(fail(ed|ure)|error|cancell?ed|aborted|timed_?out|rejected)|(fail(ed|ures?)|errors?|cancell?ed|aborted|timed_?out|rejected)$`)
	})
	// changeFailed matches the name of a failure that tells what has failed.
	changeFailed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i).failed$|^failed.`) })
)
