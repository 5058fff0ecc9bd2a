package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// noteRunning notes the ways out of states that a job may take before it has ended.
func (r *reading) noteRunning(routes []route) {
	for _, way := range routes {
		for _, h := range way.hops {
			r.onRunning[h] = true
		}
	}
}

// inTime leaves out the routes that ask for the next page of an answer, and those that a bound of
// the loop takes, if there are others. A rule that no job takes which runs, such as one for a success
// and a count, is no bound. What starts the job again, or asks for the next one, keeps the bound of the
// starts, or of the jobs.
func (r *reading) inTime(routes []route) []route {
	answers := unless(routes, func(way route) bool { return way.pages && way.ends == PollsOn })
	left := unless(answers, r.isLate)
	if end := endOf(answers); endOf(left) == StartsAgain || end == NextJob {
		return unless(answers, r.endsPolls)
	}
	return left
}

// endsPolls tells whether a route is taken only when a bound of the polls is reached: a job that runs takes
// it then, too.
func (r *reading) endsPolls(way route) bool {
	return way.late && slices.ContainsFunc(r.running, func(o route) bool { return slices.Equal(o.hops, way.hops) })
}

// isLate tells whether a route is taken only when a bound of the loop is reached.
func (r *reading) isLate(way route) bool {
	return way.late && (len(way.lateBy) == 0 || slices.ContainsFunc(way.lateBy, func(by hop) bool { return r.onRunning[by] || !r.countsRunning(by.state) }))
}

// countsRunning tells whether a job that runs comes to a Choice, or changes what it looks at.
func (r *reading) countsRunning(choice *asl.State) bool {
	var names []string
	for i := range choice.Choice.Rules {
		for _, o := range operandsOfRule(&choice.Choice.Rules[i]) {
			names = append(names, lastName(o.String()))
		}
	}
	for h := range r.onRunning {
		if h.state == choice || slices.ContainsFunc(names, func(name string) bool { return mayGive(h.state, name) }) {
			return true
		}
	}
	return false
}

// unless leaves out some routes, if there are others.
func unless(routes []route, out func(route) bool) []route {
	left := slices.DeleteFunc(slices.Clone(routes), out)
	if len(left) == 0 {
		return routes
	}
	return left
}

// written are the routes, found for each of several answers, by what the fields are written for; nil if there are none
// for one of them.
func (r *reading) written(found [][]route) []route {
	var all []route
	for _, routes := range found {
		in := r.inTime(asWritten(routes))
		if in == nil {
			return nil
		}
		all = addRoutes(all, in)
	}
	return all
}

// addRoutes adds routes to others that go another way.
func addRoutes(all, routes []route) []route {
	if all == nil {
		return routes
	}
	for _, way := range routes {
		if !slices.ContainsFunc(all, func(o route) bool { return slices.Equal(o.path, way.path) && o.ends == way.ends }) {
			all = append(slices.Clip(all), way)
		}
	}
	return all
}

// asWritten are the routes by what the fields are written for; nil if there are none.
func asWritten(found []route) []route {
	return slices.DeleteFunc(slices.Clone(found), func(way route) bool { return way.instead })
}

// isLate tells whether a Choice takes the way of that number only when the bound of the loop is reached.
func (w *walk) isLate(s *asl.State, ways []typecheck.Way, n int, mixed bool) bool {
	return w.bounds != nil && (!mixed && w.bounds.isLate(s, ways, n) || w.isOpenToBound(s, ways))
}

// isOpenBeside tells whether one of the rules of a Choice that look at a bound and stay in the loop compares something of
// the answer, too, that may not be there on the way to it: then another rule may take the answer at once.
func (w *walk) isOpenBeside(s *asl.State, env typecheck.Env, hops []hop, before []typecheck.Way) bool {
	return slices.ContainsFunc(before, func(way typecheck.Way) bool {
		if way.Kind != asl.TransitionRule || !w.bounds.limits[s][way.Transition] || !w.bounds.loop.inside[way.To] {
			return false
		}
		return slices.ContainsFunc(operandsOfRule(&s.Choice.Rules[way.Rule]), func(o operand) bool {
			name := lastName(o.String())
			value := readOperand(env, o)
			if w.bounds.counters[name] || w.bounds.flags[name] || !value.MayBeMissing() || value.IsMissing() {
				return false
			}
			return strings.Contains(traceBack(hops, o).text, "result of "+w.poll.Name+" ")
		})
	})
}

// isOpenToBound tells whether a Choice without Default has rules of the bound alone for an answer: until the
// bound is reached, no rule takes it.
func (w *walk) isOpenToBound(s *asl.State, ways []typecheck.Way) bool {
	if w.bounds == nil || s.Choice == nil || s.Choice.Default != "" || len(ways) == 0 {
		return false
	}
	return !slices.ContainsFunc(ways, func(way typecheck.Way) bool {
		return !w.bounds.limits[s][way.Transition] || w.bounds.loop.inside[way.To] && !w.goesOnAtBound(s, way)
	})
}

// goesOnAtBound tells whether a rule leads to the next job of an outer loop, out of the smallest loop around the poll, when a
// count of that one is reached.
func (w *walk) goesOnAtBound(s *asl.State, way typecheck.Way) bool {
	if way.Kind != asl.TransitionRule || w.inner.inside[way.To] {
		return false
	}
	if w.turns == nil {
		w.turns, _ = findCounters(w.inner.states)
	}
	return slices.ContainsFunc(operandsOfRule(&s.Choice.Rules[way.Rule]), func(o operand) bool { return w.turns[lastName(o.String())] })
}
