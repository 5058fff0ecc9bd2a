package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// firstEnvs are the environments of the poll when an execution first comes to it; nil if they are not known.
func (c *checker) firstEnvs(l *loop, poll *asl.State) []typecheck.Env {
	var found []typecheck.Env
	var follow func(s *asl.State, env typecheck.Env, left int) bool
	follow = func(s *asl.State, env typecheck.Env, left int) bool {
		if s == poll {
			found = append(found, env)
			return true
		}
		for _, way := range c.types.Step(s, env, c.types.Result(s)) {
			if way.Kind != asl.TransitionCatch && !way.End && l.inside[way.To] && (left == 0 || !follow(l.flow.State(way.To), way.Env, left-1)) {
				return false
			}
		}
		return true
	}
	for _, from := range c.entriesOf(l) {
		if !follow(from.state, from.env, maxBack) {
			return nil
		}
	}
	return found
}

// noteLate notes which ways of an answer of a job that has not ended are taken only when a bound is reached, if a Choice
// mixes the bound with the status: the job polls on at the first poll.
func (r *router) noteLate(routes []route, answer typecheck.Value, firstEnvs func() []typecheck.Env) {
	if !slices.ContainsFunc(routes, func(way route) bool { return way.mixed }) {
		return
	}
	first := firstEnvs()
	if len(first) == 0 {
		return
	}
	for _, env := range first {
		ways := r.followFrom(env, answer)
		if len(ways) == 0 || slices.ContainsFunc(ways, func(way route) bool { return way.ends != PollsOn }) {
			return
		}
	}
	for i := range routes {
		routes[i].late = routes[i].late || routes[i].mixed && routes[i].ends != PollsOn
	}
}
