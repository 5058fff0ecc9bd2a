package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkSize warns of a poll whose answer has, beside the status, a page of a list that may be
// of any length: the call does not limit it, and neither does the service's model. Step Functions measures what the
// service answers, before a ResultSelector or an Output selects a part of it.
func (c *checker) checkSize(r *reading) {
	if !c.complete || r.status == nil || len(r.status.steps) != 1 {
		return // the catalogue knows no maxima, and a status in an item is in an answer about that item
	}
	operation := c.types.Operation(r.Poll)
	if operation == nil {
		return
	}
	items, limit := pageOf(operation)
	if limit == "" || !c.types.Arguments(r.Poll).Member(limit).IsMissing() || catchesSize(r.Poll) {
		return
	}
	c.report(LargeAnswer, r.Poll, "", "nothing limits how many %s an answer has: above %s bytes the state fails with %s, though the job may have succeeded; "+
		"add %q, which is 1 where only %s is read", items, thousands(asl.MaxPayloadBytes), dataLimit, limit, r.Status)
}

// dataLimit is the error of an answer that is too large.
const dataLimit = "States.DataLimitExceeded"

// catchesSize tells whether a Task has a Catch for that error by its name.
func catchesSize(s *asl.State) bool {
	return slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return slices.Contains(k.ErrorEquals, dataLimit) })
}

// What the models call the token of a page and the most items of one, in lower case.
var (
	tokenNames = []string{"nexttoken", "nextpagetoken", "pagetoken", "marker", "nextmarker"}
	limitNames = []string{"maxresults", "maxitems", "maxrecords", "limit", "pagesize"}
)

// pageOf returns the list that the answers of an operation have page by page, and the
// argument that says how many items a page has, as Step Functions spells it: one for which
// the model knows no maximum. Empty if there is none.
func pageOf(operation *catalog.Operation) (items, limit string) {
	if operation.Input == nil || operation.Output == nil {
		return "", ""
	}
	isPaged := slices.ContainsFunc(operation.Output.Members, func(m catalog.Member) bool {
		return slices.Contains(tokenNames, strings.ToLower(m.Name)) && operation.Input.Member(m.Name) != nil
	})
	at := slices.IndexFunc(operation.Input.Members, func(m catalog.Member) bool {
		return slices.Contains(limitNames, strings.ToLower(m.Name)) && m.Shape.Type == catalog.Integer && m.Shape.Max == ""
	})
	of := slices.IndexFunc(operation.Output.Members, func(m catalog.Member) bool {
		return m.Shape.Type == catalog.List && m.Shape.Element.Shape.Type == catalog.Structure
	})
	if !isPaged || at < 0 || of < 0 {
		return "", ""
	}
	return javasdk.MemberName(operation.Output.Members[of].Name), javasdk.MemberName(operation.Input.Members[at].Name)
}
