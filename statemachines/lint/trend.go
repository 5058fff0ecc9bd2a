package lint

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// readsClock tells whether a state of the machine reads the time that goes on, or whether
// somebody has redriven the execution.
func (c *checker) readsClock() bool {
	return c.mentions("EnteredTime") || c.mentions("$now(") || c.mentions("$millis(") || c.mentions("Redrive")
}

// mostVisits is how often a state is entered by findTrends.
const mostVisits = 8

// findTrends returns what is known where the states of a loop are entered in any lap, with
// the trends of what follows the clock.
func (c *checker) findTrends(l *loop) map[*asl.State]typecheck.Env {
	envs, visits := map[*asl.State]typecheck.Env{}, map[*asl.State]int{}
	open := c.entriesOf(l)
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		s, env := next.state, next.env.At(typecheck.SomeTime)
		if before, known := envs[s]; known {
			if env = before.Widen(env); env.Equal(before) {
				continue
			}
		}
		envs[s] = env
		if visits[s]++; visits[s] > mostVisits {
			continue
		}
		for _, way := range c.types.Step(s, env, c.types.Result(s)) {
			if l.inside[way.To] {
				open = append(open, entry{l.flow.State(way.To), way.Env})
			}
		}
	}
	return envs
}
