package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkByName warns of failures for which a loop polls on, and of members that an answer may lack, of operations
// without an entry in the catalogue: the service's model lists the statuses, and names alone say what they mean.
func (c *checker) checkByName(l *loop, express bool) {
	for _, poll := range l.states {
		p := c.listedBy(poll)
		if p == nil {
			continue
		}
		r := c.readAs(l, poll, p, express)
		if r == nil {
			continue
		}
		if r.status != nil && !c.waitsUntilGone(r) {
			r.fill()
			c.reportByName(r)
		}
		c.checkAbsentByName(r, p, c.types.Operation(poll).Output)
	}
}

// reportByName reports the failures for which a loop polls on.
func (c *checker) reportByName(r *reading) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Meaning != MeansFailure || row.FailsAt != "" || row.Ends != PollsOn || r.worksOn(r.routes[row.Values[0]]) || c.isMisspelt(r, row) {
			continue
		}
		is := "is an end by its name"
		if len(row.Values) > 1 {
			is = "are ends by their names"
		}
		s, field := r.decisionOf(r.wrong(row))
		c.reportStatuses(row.Values, diag.Warning, StatusPollsOn, s, field, "%s", r.sayWrongEnd(fmt.Sprintf("%s of %s %s, but ", list(row.Values), r.Operation, is),
			row.Meaning, row.Ends, first(r.targetsOf(r.wrong(row), r.trunk()))))
	}
}

// waitsUntilGone tells whether a loop seems to wait until a resource is deleted, which may have failed before that:
// a call before it deletes something of the service, the loop leaves when the poll finds nothing, or with DELETED.
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

// missingName matches the name of an error that says that something is not there.
var missingName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`NotFound|DoesNotExist|NoSuch`) })
