package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// repeatedByName warns of a retrier that repeats a start call which the catalogue does not know: its model has no
// error by which the service refuses a second job, and a loop asks for the id in its answer.
func (c *checker) repeatedByName(f *asl.Flow, s *asl.State, retrier int) {
	operation := c.types.Operation(s)
	r := asl.ParseResource(s.Task.Resource)
	if _, sdk := r.SDK(); !sdk || operation == nil || findStarted(r) != nil || !startsByName(s, operation) {
		return
	}
	token := tokenIn(operation.Input)
	if token != nil && repeats(s, token.Name, token.Required) {
		return
	}
	poll := c.pollOf(f, s, operation)
	if poll == nil {
		return
	}
	lead := fmt.Sprintf("the retrier repeats a start call whose answer was lost, and a second job may start beside the one that %q polls", poll.Name)
	if token != nil {
		c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", retrier), "%s; give %q a value that is the same in each attempt, or retry only throttled calls",
			lead, javasdk.MemberName(token.Name))
		return
	}
	c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", retrier), "%s, as the call has no token; %s the job may have started",
		lead, adviseWrite(s, c.types.Service(s), "retry"))
}

// asker is a Task of a loop that asks for what a start call's answer names.
type asker struct {
	poll *asl.State
	loop *loop // the innermost
}

// pollOf is a Task of a loop behind a start call that reads what the call's answer alone names; nil if there is none.
func (c *checker) pollOf(f *asl.Flow, start *asl.State, operation *catalog.Operation) *asl.State {
	for _, a := range c.askersOf(f)[tagOf(start)] {
		if c.types.Operation(a.poll).Service.Key == operation.Service.Key && !a.loop.inside[start.Name] {
			return a.poll
		}
	}
	return nil
}

// askersOf are the Tasks of the loops of a flow that ask for a job, by the tag of the Task that starts it.
func (c *checker) askersOf(f *asl.Flow) map[string][]asker {
	if found := c.askers[f]; found != nil {
		return found
	}
	found, types := map[string][]asker{}, c.taggedTypes()
	for _, l := range loops(f, f.States, every) {
		for _, poll := range l.states {
			asks := types.Operation(poll)
			if asks == nil || !asks.Reads() || asks.Input == nil {
				continue
			}
			inner := l.innermost(poll, c.waysOf(f).before)
			if !slices.ContainsFunc(inner.states, passesTime) {
				continue
			}
			given := types.Arguments(poll)
			for i := range asks.Input.Members {
				if tag := tagIn(given.Member(javasdk.MemberName(asks.Input.Members[i].Name))); tag != "" {
					found[tag] = append(found[tag], asker{poll, inner})
				}
			}
		}
	}
	c.askers[f] = found
	return found
}
