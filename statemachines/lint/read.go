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
	// listing is how the answers list several jobs, if the loop looks at all of them; nil if it looks at one.
	// Then routes are those of jobs that are all alike, and mixed those beside others.
	listing *listing
	single  *single // the one job that the poll asks for by its id; nil if it may ask for several
	mixed   map[string][]mix
	// followBoth follows a status with a second member.
	followBoth func(value string, second []string, how string) []route
	bounds     *bounds // of the whole loop
	work       *work   // until the table is made
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
		if r.Unjudged = c.sayUnjudged(r.inner, p); r.work.isOver() {
			r.Unjudged = tooMuch
		}
	}
	return r
}

// readAs reads the loop of a Task, by the statuses of the poll; nil where read gives nil.
func (c *checker) readAs(l *loop, poll *asl.State, p *polled, express bool) *reading {
	inner := l.innermost(poll, c.waysOf(l.flow).before)
	if !slices.ContainsFunc(inner.states, passesTime) {
		return nil
	}
	r := &reading{inner: inner, work: workOn(inner)}
	r.Flow, r.Poll, r.Operation, r.Express = l.flow, poll, p.name, express
	r.Target, r.ByName = p.target, p.byName
	r.outside = c.outsideOf(l.flow)
	r.Turn, r.States = c.turn(inner, poll), inner.states
	for _, s := range inner.states {
		if s.Wait != nil {
			r.Waits = append(r.Waits, s)
		}
	}
	statuses := c.startedFirst(r, p.statuses)
	for _, how := range []manner{lookApart, lookAlike, lookTogether} {
		if slices.ContainsFunc(statuses, func(s *status) bool { return c.readStatus(l, r, s, how) }) {
			break
		}
	}
	return r
}

// manner is how a loop may look at a status.
type manner uint8

const (
	lookApart    manner = iota // its values lead several ways
	lookAlike                  // all poll on the same way, and a Choice reads the status
	lookTogether               // the values of several jobs in one answer lead several ways
)

// readNamed reads the loops around Tasks that ask for a status of which the catalogue knows nothing: by the model of the
// operation or, if that is asked for too, by what the machine compares. It tells whether one is too much to follow.
func (c *checker) readNamed(l *loop, express, compared bool) (all []*reading, over bool) {
	for _, s := range l.states {
		for _, p := range []*polled{c.listedBy(l, s), c.comparedBy(l, s, compared)} {
			if p == nil {
				continue
			}
			r := c.readAs(l, s, p, express)
			if r != nil && r.status != nil && len(r.Waits) > 0 {
				all = append(all, r)
				break
			}
			over = over || r != nil && r.work.isOver()
		}
	}
	return all, over
}

// readStatus reads the routes of the values of a status, and tells whether the loop
// looks at it so.
func (c *checker) readStatus(l *loop, r *reading, s *status, how manner) bool {
	c.findJudges(l, r, s)
	follows := c.newRouter(r)
	follows.work, follows.never = r.work, c.neverTaken(l, r.Poll)
	defer func() { follows.work = nil }() // what a table asks later is little
	answer := r.keepStays(c.types.Result(r.Poll), s)
	follow := func(of job) [][]route {
		narrow := r.narrowJob(answer, s, of, nil)
		found := follows.follow(narrow)
		if r.bounds != nil && r.mayStillRun(s, of[0].text) {
			follows.noteLate(found, narrow, func() []typecheck.Env { return c.firstEnvs(l, r.Poll) })
		}
		return [][]route{found}
	}
	if how == lookTogether {
		if r.listing = c.listJobs(l, r, s); r.listing == nil {
			return false
		}
		follow = func(of job) [][]route { return r.listing.followAlike(follows, answer, of) }
	}
	one := func(value string) job { return job{{s.steps, value}} }
	r.followBoth = func(value string, second []string, how string) []route {
		return r.written(follow(append(one(value), known{second, how})))
	}
	r.followAll = func(value string) []route { return slices.Concat(follow(one(value))...) }
	r.noteRoutesOfRunning(s, follows)
	r.routes, r.taken, r.lacking = map[string][]route{}, map[string][]route{}, map[string]bool{}
	for _, value := range append([]string{otherValue}, s.values...) {
		if r.setRoutes(value, follow(one(value))); r.routes[value] == nil {
			return false
		}
	}
	routes := r.routes
	stays, leaves, differs := r.compareRoutes(s, how)
	if !r.Retries && !stays && !pollsOnForJob(routes[otherValue]) || !leaves && !stays {
		return false
	}
	if !differs && (how != lookAlike || !r.allPollOn() || !follows.looksAt(r.narrow(answer, s, otherValue))) || r.losesStatus(s) {
		return false
	}
	r.settleOn(s, func(value string) []route { return r.written(follow(one(value))) })
	if r.listing != nil && !r.listing.addMixed(follows, answer) || r.work.isOver() {
		r.status, r.Status, r.Together, r.Choices = nil, "", false, nil
		return false
	}
	if r.listing != nil {
		return true
	}
	c.addLacking(r, follows.follow)
	return true
}

// findJudges finds by what the values of a status are judged, and what the loop knows beside it.
func (c *checker) findJudges(l *loop, r *reading, s *status) {
	r.listing, r.mixed, r.single = nil, nil, c.findSingle(r.Poll, s)
	r.judges, r.Start = c.judgesOf(r, s)
	if r.Start != nil {
		r.given = c.types.Arguments(r.Start)
	}
	r.Entry, r.flags, r.change = nil, c.flagsOf(s), c.changeUnderway(r)
	r.nameEntry(s)
	if !r.Retries {
		r.bounds = c.boundsOf(l)
	}
}

// settleOn takes a status for the one that the loop looks at, and adds what its rules and the values beside those of
// its model tell.
func (r *reading) settleOn(s *status, follow func(value string) []route) {
	r.status, r.Status, r.Literals, r.Together = s, s.path, s.literals, r.listing != nil && r.listing.most() > 1
	r.Derived = s.derived
	r.nameChosen(s)
	r.chooseFitting()
	r.takeOwnEnd()
	r.addOthers(follow)
}

// noteRoutesOfRunning notes the routes of the values of a status with which the job has not ended.
func (r *reading) noteRoutesOfRunning(s *status, follows *router) {
	r.onRunning, r.running = map[hop]bool{}, nil
	var laps []route
	other := r.followAll(otherValue)
	if r.noteRunning(other); r.ByName { // it may be the status of a job that runs
		laps = append(laps, other...)
	}
	for _, value := range s.values {
		means := s.meaning(r.judges, value)
		if means == MeansSuccess || means == MeansFailure || means == MeansUnclear {
			continue
		}
		routes := r.followAll(value)
		r.noteRunning(routes)
		if (means == MeansRunning || means == MeansEnding) && slices.ContainsFunc(routes, func(way route) bool { return way.ends == PollsOn }) {
			r.running = append(r.running, routes...)
		}
		if (means == MeansRunning || r.ByName) && !r.Retries {
			laps = append(laps, routes...)
		}
	}
	follows.noteUsual(laps)
}

// nameChosen finds the Choices on the routes, and the values that they name, and where the loop looks at several jobs
// those that the states before them name: they count jobs, or keep some.
func (r *reading) nameChosen(s *status) {
	r.named = map[string]bool{}
	computed := map[*asl.State]bool{}
	var expressions []string
	for _, found := range r.routes {
		for _, route := range found {
			for _, d := range route.chosen {
				if !slices.Contains(r.Choices, d.choice) {
					r.Choices = append(r.Choices, d.choice)
					nameValues(d.choice, r.named)
					expressions = append(expressions, expressionsOf(d.choice)...)
				}
			}
			for _, h := range route.hops {
				if r.listing != nil && !computed[h.state] {
					computed[h.state] = true
					expressions = appendComputed(expressions, h.state)
				}
			}
		}
	}
	if r.listing != nil {
		nameQuoted(expressions, r.named)
	}
	r.spelled = maps.Clone(r.named)
	nameByPattern(expressions, s.values, r.named)
	slices.SortFunc(r.Choices, func(a, b *asl.State) int { return slices.Index(r.Flow.States, a) - slices.Index(r.Flow.States, b) })
}

// compareRoutes tells whether a value of a status may stay in the loop, whether one may leave it, and whether one leads
// elsewhere than a value that nobody knows.
func (r *reading) compareRoutes(s *status, how manner) (stays, leaves, differs bool) {
	// A second member may say where all values lead, or a status of something else than the job.
	asksSecond := func(j *judge) bool { return len(j.second) > 0 }
	tellsMore := r.startStates() || r.ByName && how == lookAlike || r.change.keeps(s) || slices.ContainsFunc(r.judges, asksSecond)
	for _, value := range s.values {
		end := endOf(r.routes[value])
		stays = stays || r.taken[value] != nil || end == PollsOn || end == NextJob || tellsMore && mayPollOn(r.routes[value])
		leaves = leaves || end != PollsOn
		differs = differs || pathsOf(r.routes[value]) != pathsOf(r.routes[otherValue])
	}
	return stays, leaves, differs
}

// mayStillRun tells whether a status is that of a job that runs, ends or nobody knows.
func (r *reading) mayStillRun(s *status, value string) bool {
	return slices.Contains([]Meaning{MeansRunning, MeansEnding, MeansUnknown}, s.meaning(r.judges, value))
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
	switch same := len(others) == len(r.routes[otherValue]); {
	case r.taken[otherValue] == nil:
	case same:
		r.taken[anyOther], r.lacking[anyOther] = r.taken[otherValue], r.lacking[otherValue]
	case r.lacking[otherValue]: // one that polls on fails at the next poll
		r.taken[anyOther] = addRoutes(r.taken[otherValue], others[len(r.routes[otherValue]):])
	}
	for _, word := range slices.Sorted(maps.Keys(r.named)) {
		isUnusual := func(text string) bool { return pathsOf(follow(text)) != usual }
		if r.status.listed || isKnown(word) || isListOf(word, isKnown) || slices.ContainsFunc(around(word), isUnusual) {
			continue // a part of a text is no value
		}
		if found := follow(word); found != nil && pathsOf(found) != usual {
			r.routes[word] = found
			r.compared = append(r.compared, word)
		}
	}
}

// isListOf tells whether a text is a list of several words that are all known.
func isListOf(text string, isKnown func(string) bool) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;|/", r) })
	return len(words) > 1 && !slices.ContainsFunc(words, func(word string) bool { return !isKnown(word) })
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

// trunk is how many states all values go through first.
func (r *reading) trunk() int {
	first := r.routes[otherValue][0].path
	n := len(first)
	share := func(routes []route) {
		for _, route := range routes {
			for n > 0 && (len(route.path) < n || !slices.Equal(route.path[:n], first[:n])) {
				n--
			}
		}
	}
	for value, routes := range r.routes {
		share(routes)
		for _, m := range r.mixed[value] {
			share(m.routes)
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

// isStated tells whether the catalogue states what a value means.
func (r *reading) isStated(value string) bool {
	return slices.ContainsFunc(r.judges, func(j *judge) bool { return j.stated[value] })
}
