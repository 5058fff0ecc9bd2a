package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// otherValue is one status that nobody names. anyOther is each of these: they need not lead
// the same way, as a condition may look for a part of a text.
const (
	otherValue = "jobpoller: any other value"
	anyOther   = "jobpoller: all other values"
)

// reading is a table in the making.
type reading struct {
	Loop

	inner  *loop
	judges []*judge
	// routes are those of values, of otherValue and of anyOther.
	status *status
	flags  []flag    // beside the status
	change *underway // that the loop waits for, if it is known
	routes map[string][]route
	// taken are those of values for which a state fails: see setRoutes. Of lacking, the answer
	// does not have what the state reads.
	taken   map[string][]route
	lacking map[string]bool
	named   map[string]bool // by a rule of a Choice
	// spelled are those of named that a rule spells out, not a regular expression.
	spelled map[string]bool
	// meant are statuses that a rule means by a wrong word.
	meant map[string]bool
	// followBoth follows a status with a second member.
	followBoth func(value string, second []string, how string) []route
	bounds     *bounds // of the whole loop
	// boundGoesOn tells that the bound leads to the next round of an outer loop.
	boundGoesOn bool
	outside     outside // of the flow
	// onRunning are the ways out of states that a job may take which has not ended.
	onRunning map[hop]bool
	// running are the routes of a job that is known to run.
	running []route
	// followAll follows a status, on the ways that a bound of the loop takes, too.
	followAll func(value string) []route
	// compared are values that the machine alone knows.
	compared []string
	// given are the arguments of Start.
	given typecheck.Value
	// doubtful tells that the ends of the loop fit other judges than the call before it.
	doubtful bool
}

// read reads the loop of a Task that polls; nil if it is none: if it does not come
// back, or no time passes before it does.
func (c *checker) read(l *loop, poll *asl.State, express bool) *reading {
	p := c.operations.of(poll)
	if p == nil {
		return nil
	}
	r := c.readAs(l, poll, p, express)
	if r != nil && r.status == nil {
		r.Unjudged = c.sayUnjudged(r.inner, p)
	}
	return r
}

// readAs reads the loop of a Task, by the statuses of the poll; nil where read gives nil.
func (c *checker) readAs(l *loop, poll *asl.State, p *polled, express bool) *reading {
	inner := l.innermost(poll, c.waysOf(l.flow).before)
	if !slices.ContainsFunc(inner.states, passesTime) {
		return nil
	}
	r := &reading{inner: inner}
	r.Flow, r.Poll, r.Operation, r.Express = l.flow, poll, p.name, express
	r.outside = c.outsideOf(l.flow)
	r.Turn, r.States = inner.turn(poll), inner.states
	for _, s := range inner.states {
		if s.Wait != nil {
			r.Waits = append(r.Waits, s)
		}
	}
	statuses := c.startedFirst(r, p.statuses)
	for _, alike := range []bool{false, true} {
		if slices.ContainsFunc(statuses, func(s *status) bool { return c.readStatus(l, r, s, alike) }) {
			break
		}
	}
	return r
}

// readStatus reads the routes of the values of a status, and tells whether the loop
// looks at it. Where alike is set, it does so too if a Choice reads the status and all
// values poll on the same way.
func (c *checker) readStatus(l *loop, r *reading, s *status, alike bool) bool {
	r.judges, r.Start = c.judgesOf(r, s)
	if r.Start != nil {
		r.given = c.types.Arguments(r.Start)
	}
	r.Entry, r.flags, r.change = nil, c.flagsOf(s), c.changeUnderway(r)
	r.nameEntry(s)
	if !r.Retries {
		r.bounds = c.boundsOf(l)
	}
	follows := c.newRouter(r)
	answer := r.keepStays(c.types.Result(r.Poll), s)
	r.followBoth = func(value string, second []string, how string) []route {
		return r.inTime(asWritten(follows.follow(typecheck.Narrow(r.narrow(answer, s, value), second, how))))
	}
	r.followAll = func(value string) []route { return follows.follow(r.narrow(answer, s, value)) }
	r.noteRoutesOfRunning(s, follows)
	r.routes, r.taken, r.lacking = map[string][]route{}, map[string][]route{}, map[string]bool{}
	for _, value := range append([]string{otherValue}, s.values...) {
		if r.setRoutes(value, r.followAll(value)); r.routes[value] == nil {
			return false
		}
	}
	routes := r.routes
	stays, leaves, differs := false, false, false
	// A second member may say where all values lead, or a status of something else than the job.
	tellsMore := r.startStates() || r.change.keeps(s) || slices.ContainsFunc(r.judges, func(j *judge) bool { return len(j.second) > 0 })
	for _, value := range s.values {
		end := endOf(routes[value])
		stays, leaves = stays || r.taken[value] != nil || end == PollsOn || end == NextJob || tellsMore && mayPollOn(routes[value]), leaves || end != PollsOn
		differs = differs || pathsOf(routes[value]) != pathsOf(routes[otherValue])
	}
	if !r.Retries && !stays && endOf(routes[otherValue]) != PollsOn || !leaves && !stays {
		return false
	}
	if !differs && (!alike || !r.allPollOn() || !follows.looksAt(r.narrow(answer, s, otherValue))) || r.losesStatus(s) {
		return false
	}
	r.status, r.Status = s, s.path
	r.chooseFitting()
	r.nameChosen(s)
	r.takeOwnEnd()
	r.addOthers(func(value string) []route { return r.inTime(asWritten(r.followAll(value))) })
	c.addLacking(r, follows.follow)
	return true
}

// noteRoutesOfRunning notes the routes of the values of a status with which the job has not ended.
func (r *reading) noteRoutesOfRunning(s *status, follows *router) {
	r.onRunning, r.running = map[hop]bool{}, nil
	r.noteRunning(r.followAll(otherValue))
	for _, value := range s.values {
		means := s.meaning(r.judges, value)
		if means == MeansSuccess || means == MeansFailure || means == MeansUnclear {
			continue
		}
		routes := r.followAll(value)
		r.noteRunning(routes)
		if means == MeansRunning || means == MeansEnding {
			r.running = append(r.running, routes...)
		}
		if means == MeansRunning && !r.Retries {
			follows.noteUsual(routes)
		}
	}
}

// nameChosen finds the Choices on the routes, and the values that they name.
func (r *reading) nameChosen(s *status) {
	r.named = map[string]bool{}
	for _, found := range r.routes {
		for _, route := range found {
			for _, d := range route.chosen {
				if !slices.Contains(r.Choices, d.choice) {
					r.Choices = append(r.Choices, d.choice)
					nameValues(d.choice, r.named)
				}
			}
		}
	}
	r.spelled = maps.Clone(r.named)
	for _, choice := range r.Choices {
		nameByPattern(choice, s.values, r.named)
	}
	slices.SortFunc(r.Choices, func(a, b *asl.State) int { return slices.Index(r.Flow.States, a) - slices.Index(r.Flow.States, b) })
}

// startedFirst are some statuses, those first by which a job is judged that the machine starts: the
// State of a function says nothing of an update, unlike its LastUpdateStatus.
func (c *checker) startedFirst(r *reading, all []*status) []*status {
	var first, rest []*status
	for _, s := range all {
		of := &reading{Loop: r.Loop}
		if of.judges, of.Start = c.judgesOf(of, s); of.startStates() {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(first, rest...)
}

// startStates tells whether the machine starts a job that is judged by the status.
func (r *reading) startStates() bool {
	return r.Start != nil && slices.ContainsFunc(r.judges, func(j *judge) bool { return len(j.stated) > 0 })
}

// addOthers adds the routes of what neither the model nor the catalogue knows: of each
// value that the machine compares with, if no model lists the values, and of all others,
// among which are texts that a condition finds a part of.
func (r *reading) addOthers(follow func(string) []route) {
	usual := pathsOf(r.routes[otherValue])
	isKnown := func(word string) bool {
		return slices.ContainsFunc(r.status.values, func(value string) bool { return strings.EqualFold(value, word) })
	}
	others := r.routes[otherValue]
	for _, text := range textsLike(r.inner.states) {
		if isKnown(text) {
			continue
		}
		for _, way := range follow(text) {
			if !slices.ContainsFunc(others, func(o route) bool { return slices.Equal(o.path, way.path) }) {
				others = append(slices.Clip(others), way)
			}
		}
	}
	r.routes[anyOther] = others
	if len(others) == len(r.routes[otherValue]) && r.taken[otherValue] != nil {
		r.taken[anyOther] = r.taken[otherValue]
	}
	for _, word := range slices.Sorted(maps.Keys(r.named)) {
		if r.status.listed || isKnown(word) || slices.ContainsFunc(around(word), func(text string) bool { return pathsOf(follow(text)) != usual }) {
			continue // a part of a text is no value
		}
		if found := follow(word); found != nil && pathsOf(found) != usual {
			r.routes[word] = found
			r.compared = append(r.compared, word)
		}
	}
}

// newRouter is what follows answers of a poll.
func (c *checker) newRouter(r *reading) *router {
	starts := func(s *asl.State) bool {
		return s.Task != nil && slices.ContainsFunc(r.judges, func(j *judge) bool { return c.startsJob(s, j) || c.makes(s, r, j) })
	}
	return &router{usual: map[string]bool{}, types: c.types, poll: r.Poll, inner: r.inner, bounds: r.bounds, ways: c.waysOf(r.Flow), starts: starts}
}

// judgesOf returns those who judge a status: the jobs that the machine starts, if
// it starts any, else all; those that wait until something is gone only where the
// poll catches errors.
func (c *checker) judgesOf(r *reading, s *status) (judges []*judge, start *asl.State) {
	known := false
	for _, j := range s.judges {
		found, byID := c.startOf(r, j)
		switch {
		case found == nil || known && !byID:
			continue
		case byID && !known:
			judges, known = nil, true
		}
		judges, start = append(judges, j), found
	}
	if len(judges) > 0 {
		return judges, start
	}
	for _, j := range s.judges {
		if !j.gone || len(r.Poll.Catch) > 0 {
			judges = append(judges, j)
		}
	}
	return c.chooseAimed(r, judges), nil
}

// chooseFitting leaves, of several judges, the one that fits where the loop leads, and
// notes where it is another than the call before the loop tells.
func (r *reading) chooseFitting() {
	fitting := slices.DeleteFunc(slices.Clone(r.status.judges), func(j *judge) bool { return j.entry == nil || !r.fits(j) })
	both := slices.DeleteFunc(slices.Clone(r.judges), func(j *judge) bool { return !slices.Contains(fitting, j) })
	switch {
	case len(both) == 1 && len(r.judges) > 1:
		r.judges = both
	case len(both) == 0 && len(r.judges) == 1 && len(fitting) > 0 && r.Start == nil:
		r.doubtful = true
	}
	r.nameEntry(r.status)
}

// nameEntry keeps the entry of a status that is left.
func (r *reading) nameEntry(s *status) {
	if len(r.judges) == 1 {
		r.Entry = r.judges[0].entry
		r.Chosen = r.Entry != nil && len(s.judges) > 1
	}
}

// fits tells whether the loop goes on after what is a success to a judge, and neither
// after its failures nor after what runs.
func (r *reading) fits(j *judge) bool {
	goesOn := false
	for value, means := range j.meanings {
		if !j.stated[value] {
			continue
		}
		switch end := endOf(r.routes[value]); means {
		case MeansSuccess:
			if end == PollsOn || end == EndsFailure {
				return false
			}
			goesOn = true
		case MeansFailure, MeansRunning:
			if end == EndsSuccess {
				return false
			}
		default:
		}
	}
	return goesOn
}

// allPollOn tells whether each value that is known, and any other, leads back to the poll.
func (r *reading) allPollOn() bool {
	for _, routes := range r.routes {
		if endOf(routes) != PollsOn {
			return false
		}
	}
	return !r.Retries
}

// lateExits are the states that a job leads to which runs until a bound of the loop is reached.
func (r *reading) lateExits() []string {
	var out []string
	if r.status == nil || r.Retries {
		return nil
	}
	for _, value := range r.pollingValues() {
		if value == "" {
			return nil
		}
		for _, way := range r.followAll(value) {
			if i := slices.IndexFunc(way.path, func(name string) bool { return !r.inner.inside[name] }); i >= 0 {
				out = append(out, way.path[i])
			}
		}
	}
	return out
}

// losesStatus tells whether a value leads several ways by an expression that nobody can follow
// without its values, such as a sort, or a failure seems to pass as a success by a text or a list that mixes the
// status with other values: then it is not known that more than the status decides.
func (r *reading) losesStatus(s *status) bool {
	for value := range r.routes {
		routes := r.takenBy(value)
		if s.meaning(r.judges, value) == MeansFailure && endOf(routes) == GoesOn && slices.ContainsFunc(routes, r.mixesStatus) {
			return true
		}
		if value == anyOther || !mayPollOn(routes) || endOf(routes) == PollsOn || endOf(routes) == NextJob {
			continue
		}
		for _, way := range routes {
			if slices.ContainsFunc(way.hops, func(h hop) bool { return !isFollowed(h.state) }) {
				return true
			}
		}
	}
	return false
}

// mayPollOn tells whether one of some routes leads back to the poll.
func mayPollOn(routes []route) bool {
	return endsIn(routes, PollsOn)
}

func pathsOf(routes []route) string {
	var b strings.Builder
	for _, r := range routes {
		b.WriteString(strings.Join(r.path, "\x00") + "\x01")
	}
	return b.String()
}

// trunk is how many states all values go through first.
func (r *reading) trunk() int {
	first := r.routes[otherValue][0].path
	n := len(first)
	for _, routes := range r.routes {
		for _, route := range routes {
			for n > 0 && (len(route.path) < n || !slices.Equal(route.path[:n], first[:n])) {
				n--
			}
		}
	}
	if n < len(first) {
		return n
	}
	n = 0 // all values go the same way: the last Choice on it leads them on
	for i, name := range first {
		if s := r.Flow.State(name); s != nil && s.Choice != nil {
			n = i + 1
		}
	}
	return n
}

// targetsOf are the states that ways lead to: the first behind what all values go through
// that is not a Choice.
func (r *reading) targetsOf(routes []route, trunk int) []string {
	var out []string
	for _, route := range routes {
		rest := route.path[min(trunk, len(route.path)):]
		if route.caught && !slices.Equal(route.path[:min(trunk, len(route.path))], r.routes[otherValue][0].path[:trunk]) {
			rest = route.path
		}
		i := slices.IndexFunc(rest, func(name string) bool { return r.Flow.State(name).Choice == nil })
		if i >= 0 && !slices.Contains(out, rest[i]) {
			out = append(out, rest[i])
		}
	}
	slices.Sort(out)
	return out
}

// has tells whether a finding is about a state of the loop or the start of its job.
func (r *reading) has(f Finding) bool {
	states := r.inner.states
	if r.Start != nil {
		states = append(slices.Clip(states), r.Start)
	}
	return slices.ContainsFunc(states, func(s *asl.State) bool {
		return isBelow(f.Pointer, s.Position.Pointer)
	})
}

// isBelow tells whether a JSON pointer is another, or leads on from it.
func isBelow(pointer, from string) bool {
	rest, found := strings.CutPrefix(pointer, from)
	return found && (rest == "" || rest[0] == '/')
}

// isStated tells whether the catalogue states what a value means.
func (r *reading) isStated(value string) bool {
	return slices.ContainsFunc(r.judges, func(j *judge) bool { return j.stated[value] })
}
