package fix

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkSeveral refuses a loop that may ask for several jobs at once, where the entry looks at the
// first item of the answer alone: the others may still run.
func (l *loop) checkSeveral(o Options) error {
	responses, _, err := simulate.Responses(l.machine, simulate.Options{Models: o.Models, Polls: map[string]*catalog.Entry{l.poll.Name: l.entry}})
	if err != nil {
		return refuse("the change cannot be tried: %s", err)
	}
	response := responses[l.poll.Name]
	if response == nil {
		return nil
	}
	lists, err := l.listsInArguments(o)
	if err != nil {
		return refuse("the change cannot be tried: %s", err)
	}
	for _, list := range response.Lists {
		lists = append(lists, list.String())
	}
	for _, list := range lists {
		if looksAtFirst(l.entry, list) {
			return refuse("%q may ask for several jobs, and a compiled loop looks at one: it would go on when the first has ended. "+
				"Replace a loop that asks for one job, such as one in a Map over the jobs", l.poll.Name)
		}
	}
	return nil
}

// listsInArguments are the arguments of the poll that put one variable in brackets which holds a list:
// JSONata makes one list of both.
func (l *loop) listsInArguments(o Options) ([]string, error) {
	if l.poll.Arguments == nil {
		return nil, nil
	}
	types, err := typecheck.New(l.machine, typecheck.Options{Models: o.Models})
	if err != nil {
		return nil, err
	}
	var lists []string
	for _, m := range l.poll.Arguments.Object {
		if m.Value.Expression == nil {
			continue
		}
		part := m.Value.Expression.Part()
		if part.Kind != jsonata.PartArray || len(part.Parts) != 1 {
			continue
		}
		if inner := part.Parts[0]; inner.Kind == jsonata.PartVariable && len(inner.Filters) == 0 && types.Input(l.poll).Variable(inner.Text).IsArray() {
			lists = append(lists, m.Name)
		}
	}
	return lists, nil
}

// looksAtFirst tells whether an entry reads the first item of a list.
func looksAtFirst(e *catalog.Entry, list string) bool {
	first := strings.ToLower(list) + "[0]"
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher.Output; m != nil && strings.Contains(strings.ToLower(m.Path), first) {
			return true
		}
	}
	return false
}
