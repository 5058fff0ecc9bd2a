package fix

import (
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
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
	for _, list := range response.Lists {
		if looksAtFirst(l.entry, list.String()) {
			return refuse("%q may ask for several jobs, and a compiled loop looks at one: it would go on when the first has ended. "+
				"Replace a loop that asks for one job, such as one in a Map over the jobs", l.poll.Name)
		}
	}
	return nil
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
