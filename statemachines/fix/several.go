package fix

import (
	"regexp"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkSeveral refuses a loop that may ask for several jobs at once, where the entry looks at the
// first item of the answer alone: the others may still run.
func (l *loop) checkSeveral(o Options) error {
	several, err := l.mayAskForSeveral(o)
	if err != nil {
		return err
	}
	if several {
		return refuse("%q may ask for several jobs, and a compiled loop looks at one: it would go on when the first has ended. "+
			"Replace a loop that asks for one job, such as one in a Map over the jobs", l.poll.Name)
	}
	return nil
}

// mayAskForSeveral tells whether an answer may list several jobs while the entry looks at the first alone.
func (l *loop) mayAskForSeveral(o Options) (bool, error) {
	if !looksAtFirst(l.entry, `\w+`) {
		return false, nil
	}
	responses, _, err := simulate.Responses(l.machine, simulate.Options{Models: o.Models, Polls: map[string]*catalog.Entry{l.poll.Name: l.entry}})
	if err != nil {
		return false, err
	}
	response := responses[l.poll.Name]
	if response == nil {
		return false, nil
	}
	for _, list := range response.Lists {
		if looksAtFirst(l.entry, regexp.QuoteMeta(list.String())) {
			return true, nil
		}
	}
	return l.listsInArguments(o)
}

// listsInArguments tells whether an argument of the poll is [$v] of a list $v: JSONata passes the list itself.
func (l *loop) listsInArguments(o Options) (bool, error) {
	if l.poll.Arguments == nil {
		return false, nil
	}
	types, err := typecheck.New(l.machine, typecheck.Options{Models: o.Models})
	if err != nil {
		return false, err
	}
	variables := types.Input(l.poll)
	return slices.ContainsFunc(l.poll.Arguments.Object, func(m asl.TemplateMember) bool {
		if m.Value.Expression == nil {
			return false
		}
		part := m.Value.Expression.Part()
		if part.Kind != jsonata.PartArray || len(part.Parts) != 1 {
			return false
		}
		inner := part.Parts[0]
		return inner.Kind == jsonata.PartVariable && len(inner.Filters) == 0 && variables.Variable(inner.Text).IsArray()
	}), nil
}

// looksAtFirst tells whether an entry reads the first item of a list of the answer, which a regular
// expression names.
func looksAtFirst(e *catalog.Entry, list string) bool {
	first := regexp.MustCompile(`(?i)^(?:.*\W)?` + list + `\[0\]`)
	return slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		return a.Matcher.Output != nil && first.MatchString(a.Matcher.Output.Path)
	})
}
