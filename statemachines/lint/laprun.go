package lint

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// laps are what a job that never ends makes a loop do.
type laps struct {
	polls, events, transitions int
	waits                      int     // of Wait states
	ahead, seconds             float64 // before the smallest loop around the poll, and in it
	untold                     bool    // a Wait lasts as long as nobody knows
	atMost                     bool    // other ways take less
	inTime                     bool    // a time ends them
	notAlone                   bool    // a time ends them only if something else holds that is not known
	end                        lapsEnd
	exits                      []string // the states that the loop goes to behind the last
}

// lapsEnd is how laps end.
type lapsEnd string

const (
	lapsLeave   lapsEnd = "leave"
	lapsRepeat  lapsEnd = "repeat" // the poll is entered with what it was entered with before
	lapsGoOn    lapsEnd = "go on"  // after as many laps as were tried
	lapsUnclear lapsEnd = "unclear"
)

// join keeps the larger numbers of two ways through a loop.
func (n *laps) join(o *laps) {
	n.untold = n.untold || o.untold
	n.atMost = n.atMost || o.atMost || n.polls != o.polls || n.events != o.events || n.seconds != o.seconds
	n.polls, n.events = max(n.polls, o.polls), max(n.events, o.events)
	n.waits, n.transitions, n.seconds = max(n.waits, o.waits), max(n.transitions, o.transitions), max(n.seconds, o.seconds)
	n.ahead = max(n.ahead, o.ahead)
	n.exits = slices.Compact(slices.Sorted(slices.Values(slices.Concat(n.exits, o.exits))))
}

// endByCount tells whether a count ends the laps before the history is full: after so many polls.
func (n *laps) endByCount(most int) bool { return n.end == lapsLeave && !n.inTime && n.polls <= most }

// lasts is how long it takes from the start of the execution to the end of the laps.
func (n *laps) lasts() time.Duration {
	return time.Duration(min(n.ahead+n.seconds, asl.MaxStandardTime.Seconds()) * float64(time.Second))
}

// path is a way through a loop, up to a state.
type path struct {
	laps

	at   entry
	last typecheck.Env // at the last poll
	in   bool          // it has come to that loop
	turn *entered      // the last of the states since the last poll
}

// entered is a state that a path has entered since the last poll.
type entered struct {
	entry

	times  int // of this state
	before *entered
}

// mostTurns is how often a path may enter a state without a poll.
const mostTurns = 200

// enter notes that the path enters its state. It is false if the path turns without a poll.
func (p *path) enter() bool {
	times := 1
	for v := p.turn; v != nil; v = v.before {
		if v.state == p.at.state {
			if times = v.times + 1; times > mostTurns || v.env.Equal(p.at.env) {
				return false
			}
			break
		}
	}
	p.turn = &entered{p.at, times, p.turn}
	return true
}

const (
	// mostPaths are how many ways a loop may have open at once.
	mostPaths = 8
	// fartherThanHistory is for how many histories a count is followed: then it is known
	// whether it ends the loop too late, or never.
	fartherThanHistory = 2
)

// lapRun follows a status of the job through a loop, and an error if there is one.
type lapRun struct {
	loop    *loop
	reading *reading
	value   string             // any if empty
	types   *typecheck.Checker // those of the checker if nil
	error   caught
	ahead   float64 // seconds from the start of the execution to the entry
	endless bool    // no time ends it, as is known
	ticks   bool    // the clock of types goes on with each Wait
	stays   bool    // a job stays while a rule with a count lets it
	given   bool    // the count of the input does not end the first lap
	strict  bool    // it is not clear where a lap goes that may both leave and stay

	open, polling []*path          // polling come to the next poll
	left          *laps            // of those that have left the loop
	taken         []asl.Transition // in this lap: each state, and the ways out of it
	notAlone      bool             // see laps
	doubted       bool             // a rule that looks at a bound may hold or not
}

// runLaps runs from an entry on.
func (c *checker) runLaps(run lapRun, from entry, most int) laps {
	b := c.boundsOf(run.loop)
	if !b.clock {
		return c.countLaps(&run, from, most)
	}
	late := c.runLate(run, from)
	switch {
	case late.end == lapsLeave:
		before, behind := run, run
		from.env = from.env.At(typecheck.Early)
		early := c.countLaps(&before, from, late.polls+1)
		if early.end != lapsLeave || early.polls > late.polls {
			return late
		}
		from.env = from.env.At(typecheck.Late)
		if overdue := c.countLaps(&behind, from, late.polls+fewLaps); (overdue.end == lapsRepeat || overdue.end == lapsGoOn) && !c.setsReversed(b) {
			return overdue // a time that is still ahead ends it, and none that is over
		}
		return early
	case late.end == lapsUnclear && b.time:
		return late
	}
	run.endless = late.end == lapsGoOn
	from.env = from.env.At(typecheck.SomeTime)
	return c.countLaps(&run, from, most)
}

// runLate runs a few laps early, and then some late: what they leave by is a time.
func (c *checker) runLate(run lapRun, from entry) laps {
	from.env = from.env.At(typecheck.Early)
	run.follow(&path{laps: laps{ahead: run.ahead}, at: from})
	for n := range 3 * fewLaps {
		if !run.lap(c) {
			return laps{end: lapsUnclear, notAlone: run.notAlone && n > fewLaps}
		}
		if len(run.polling) == 0 {
			run.left.end, run.left.inTime = lapsLeave, n > fewLaps
			return *run.left
		}
		for _, p := range run.polling {
			if p.polls++; n == fewLaps {
				p.at.env = p.at.env.At(typecheck.Late)
			}
		}
		run.open, run.polling, run.taken = run.polling, nil, nil
	}
	return laps{end: lapsGoOn}
}

// lap follows the open paths to the next poll, unless there are too many or a bound is not
// clear.
func (run *lapRun) lap(c *checker) bool {
	for len(run.open) > 0 {
		if len(run.open) > mostPaths || !run.step(c) {
			return false
		}
	}
	return len(run.polling) <= mostPaths
}

// countLaps counts the laps from an entry on.
func (c *checker) countLaps(run *lapRun, from entry, most int) laps {
	run.follow(&path{laps: laps{ahead: run.ahead}, at: from})
	for {
		if !run.lap(c) {
			return laps{end: lapsUnclear}
		}
		repeats, tried := 0, false
		for _, p := range run.polling {
			if p.polls > 0 && (!run.given || p.polls > 1) && p.at.env.Equal(p.last) {
				repeats++
			}
			tried = tried || p.polls == most || p.events > fartherThanHistory*asl.MaxEvents
		}
		switch goOn := len(run.polling); {
		case goOn == 0:
			run.left.end = lapsLeave
			return *run.left
		case repeats == goOn && run.left == nil:
			return laps{end: lapsRepeat}
		case repeats > 0:
			return laps{end: lapsUnclear}
		case tried && run.left == nil:
			return laps{end: lapsGoOn}
		case tried:
			return laps{end: lapsUnclear}
		case goOn == 1 && run.left == nil && run.goesOnAnyhow(c, run.polling[0]):
			return laps{end: lapsGoOn}
		}
		for _, p := range run.polling {
			p.polls++
			p.last = p.at.env
		}
		run.open, run.polling, run.taken = run.polling, nil, nil
	}
}

// goesOnAnyhow tells whether a path takes the lap behind it again whatever it has counted: then
// no count ends the loop. It is asked now and then, as the first laps may differ.
func (run *lapRun) goesOnAnyhow(c *checker, p *path) bool {
	if p.polls < fewLaps || bits.OnesCount(uint(p.polls)) != 1 {
		return false
	}
	before, now := p.last, p.at.env
	for range fewLaps {
		wider := before.Widen(now)
		if wider.Equal(before) {
			return true
		}
		again := lapRun{loop: run.loop, reading: run.reading, value: run.value, error: run.error, endless: run.endless, open: []*path{{at: entry{p.at.state, wider}}}}
		if !again.lap(c) || again.left != nil || len(again.polling) != 1 || !slices.Equal(again.taken, run.taken) {
			return false
		}
		before, now = wider, again.polling[0].at.env
	}
	return false
}

// counted is the state whose visits are laps.
func (run *lapRun) counted() *asl.State { return cmp.Or(run.error.at, run.reading.polled()) }

// follow goes on with a path. Of two that come to the poll with the same, one is enough.
func (run *lapRun) follow(p *path) {
	if p.at.state != run.counted() {
		run.open = append(run.open, p)
		return
	}
	p.at.env, p.turn = p.at.env.NextLap(), nil
	for _, other := range run.polling {
		if other.at.env.Equal(p.at.env) {
			other.join(&p.laps)
			return
		}
	}
	run.polling = append(run.polling, p)
}

// step follows one of the open paths out of its state, unless it is not clear whether a
// bound is reached there.
func (run *lapRun) step(c *checker) bool {
	p := run.open[len(run.open)-1]
	run.open = run.open[:len(run.open)-1]
	if !p.enter() {
		return false
	}
	events, transitions := visit(p.at.state)
	seconds, timed := run.tick(c, p)
	ways, exits, known := run.ways(c, p)
	if !known || !timed {
		return false
	}
	if p.in = p.in || run.reading.inner.inside[p.at.state.Name]; p.in {
		p.events, p.transitions, p.seconds = p.events+events, p.transitions+transitions, p.seconds+seconds
		if p.at.state.Wait != nil {
			p.waits++
		}
	} else {
		p.ahead += seconds
	}
	for _, way := range ways {
		next := *p
		next.at = entry{run.loop.flow.State(way.To), way.Env}
		run.follow(&next)
	}
	switch p.exits = exits; {
	case len(ways) > 0:
	case run.left == nil:
		run.left = &p.laps
	default:
		run.left.join(&p.laps)
	}
	return true
}

// tick returns how long a path stays in its state, and sets the clock of a run that has one to when it leaves the
// state; not ok if the clock would not be known.
func (run *lapRun) tick(c *checker, p *path) (seconds float64, ok bool) {
	types := cmp.Or(run.types, c.types)
	if run.ticks {
		types.SetElapsed(time.Duration((p.ahead + p.seconds) * float64(time.Second)))
	}
	if p.at.state.Wait == nil {
		return 0, !run.ticks || !passesTime(p.at.state)
	}
	waits, most, ok := types.WaitTime(p.at.state, p.at.env)
	p.atMost = p.atMost || waits != most // with the shortest waits, there are the most polls
	if run.ticks {
		types.PassTime(waits)
	}
	p.untold = p.untold || !ok
	return waits.Seconds(), ok || !run.ticks
}

// ways returns the ways that stay in the loop, and the exits. known is false if a bound may be
// reached or not.
func (run *lapRun) ways(c *checker, p *path) (stay []typecheck.Way, exits []string, known bool) {
	at := p.at
	ways := run.stepFrom(c, at)
	b, fixed := c.boundsOf(run.loop), false
	if run.given && at.state.Choice != nil && c.types.FailsRule(at.state, at.env) {
		return nil, nil, false
	}
	if run.stays && at.state.Choice != nil {
		if inside := b.inside(ways); len(inside) > 0 {
			return inside, nil, !b.mayLeave(at.state, ways)
		}
		if exit := b.exitBehind(at.state, ways); exit != "" {
			return nil, []string{exit}, true
		}
	}
	for n, way := range ways {
		if n+1 == len(ways) || !b.limits[at.state][way.Transition] {
			continue
		}
		run.doubted = true
		if run.reading.isFixed(at.state, way.Rule) {
			fixed = true
			continue
		}
		trend := typecheck.NoTrend
		if b.clock {
			trend = c.types.Trend(at.state, way.Rule, at.env)
		}
		timed := isTimed(trend, b.loop.inside[way.To])
		if inside := b.inside(ways); run.given && p.polls <= 1 && trend == typecheck.NoTrend && len(inside) > 0 {
			return inside, nil, true
		}
		if b.unsure[at.state][way.Transition] && trend == typecheck.NoTrend || !run.endless && timed {
			run.notAlone = timed && trend != typecheck.Moves && run.value != ""
			return nil, nil, false
		}
	}
	stay, exits = run.split(at.state, ways)
	if run.strict && len(stay) > 0 && len(exits) > 0 {
		return nil, nil, false
	}
	if fixed && len(stay) > 0 {
		exits = nil // it is taken in each lap or in none
	}
	return stay, exits, true
}

// split tells the ways of a state that stay in the loop from the exits.
func (run *lapRun) split(s *asl.State, ways []typecheck.Way) (stay []typecheck.Way, exits []string) {
	for _, way := range ways {
		switch {
		case way.End:
			exits = append(exits, s.Name)
		case run.loop.inside[way.To]:
			stay = append(stay, way)
		default:
			exits = append(exits, way.To)
		}
	}
	return stay, exits
}

// stepFrom returns the ways from an entry by the answer of the run, or by its error, and notes that they are taken.
func (run *lapRun) stepFrom(c *checker, at entry) []typecheck.Way {
	types := cmp.Or(run.types, c.types)
	result := types.Result(at.state)
	if at.state == run.reading.Poll && run.value != "" {
		at.env, result = run.reading.single.enter(at.env), run.reading.narrow(result, run.reading.status, run.value)
	}
	ways := slices.DeleteFunc(types.Step(at.state, at.env, result), func(way typecheck.Way) bool {
		if at.state == run.error.at {
			return way.Transition != run.error.way
		}
		return way.Kind == asl.TransitionCatch
	})
	run.taken = append(run.taken, asl.Transition{To: at.state.Name})
	for _, way := range ways {
		run.taken = append(run.taken, way.Transition)
	}
	return ways
}

// polled is the Task that polls, or else the first that the loop turns through, or its Wait.
func (r *reading) polled() *asl.State {
	if r.Poll != nil {
		return r.Poll
	}
	for _, name := range r.Turn.States {
		if s := r.Flow.State(name); s.Task != nil {
			return s
		}
	}
	return r.Waits[0]
}
