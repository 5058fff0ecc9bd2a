package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
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
