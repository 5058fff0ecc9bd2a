package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkAbsentMembers warns of members that an answer may lack, of operations without an entry in the catalogue: the
// service's model lists the statuses, and names alone say what they mean.
func (c *checker) checkAbsentMembers(l *loop, express bool) {
	for _, poll := range l.states {
		if p := c.listedBy(l, poll); p != nil {
			if r := c.readAs(l, poll, p, express); r != nil {
				c.checkAbsentByName(r, p, c.types.Operation(poll).Output)
			}
		}
	}
}

// mayJudge tells whether what is known of a row's values is enough for a finding about where they lead. Names are: of a
// failure, of a success that fails, and of an end that polls on. A machine that waits until something is gone, or keeps records of its own, may give
// another meaning to them.
func (c *checker) mayJudge(r *reading, row *Row) bool {
	switch {
	case !r.ByName || row.By == ByUser:
		return true
	case row.By == "" || row.FailsAt != "" || keepsRecords(r.inner) || c.waitsUntilGone(r):
		return false
	case row.Ends == PollsOn && slices.ContainsFunc(r.routes[row.Values[0]], func(way route) bool { return asksMoved(r.Poll, way.hops) }):
		return false // the next poll may be about another job
	default:
		return row.Meaning == MeansFailure || row.Meaning == MeansSuccess && row.Ends == EndsFailure || row.Meaning == MeansUnclear && row.Ends == PollsOn
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
