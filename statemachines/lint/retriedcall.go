package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// pollAround checks the calls inside of a Map or Parallel whose Retry polls: an error that no retrier takes ends the
// whole wait.
func (c *checker) pollAround(s *asl.State) {
	for _, f := range s.Flows() {
		for _, inner := range f.States {
			if len(inner.Catch) > 0 {
				continue
			}
			if inner.Task != nil && (c.operations.of(inner) != nil || readsService(inner)) && !slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool {
				return r.MaxAttempts > 0 && slices.ContainsFunc(r.ErrorEquals, func(name string) bool { return c.takesThrottling(inner, name) })
			}) {
				c.poll(&loop{flow: f, states: []*asl.State{inner}}, inner)
			}
		}
	}
}
