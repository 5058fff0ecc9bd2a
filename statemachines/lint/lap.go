package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// fewLaps are enough to see that nothing changes from lap to lap.
const fewLaps = 3

// runFirstAndLater runs laps. What the input counts may let the first lap stay: if each lap sets it anew, no later one leaves.
func (c *checker) runFirstAndLater(run lapRun, from entry, most int) laps {
	ran := c.runLaps(run, from, most)
	if ran.end != lapsUnclear {
		return ran
	}
	run.given = true
	if behind := c.runLaps(run, from, most); behind.end == lapsRepeat || behind.end == lapsGoOn {
		return behind
	}
	return ran
}

// tryLaps follows a job that never ends through a loop, lap after lap: then it is known
// what ends the loop, and after how many polls, however the counter is written.
func (c *checker) tryLaps(l *loop, r *reading) {
	if r.Operation == checkStatus.name { // the function says TIMED_OUT
		return
	}
	b, most := c.boundsOf(l), fartherThanHistory*r.Turn.most()
	values, least := r.pollingValues(), 0
	only := slices.Clone(values)
	if values[0] == "" {
		least = 1 // what never turns is not read as it is meant
	}
	var longest laps
	ahead := c.leadTo(l.flow, l.inside).wait.Seconds()
	leaves, stays, inTime, notAlone := true, false, false, false
	for _, value := range values {
		for _, from := range c.entriesOf(l) {
			ran := c.runFirstAndLater(lapRun{loop: l, reading: r, value: value, ahead: ahead}, from, most)
			leaves = leaves && ran.end == lapsLeave
			stays = stays || ran.end == lapsRepeat || ran.end == lapsGoOn
			only = slices.DeleteFunc(only, func(v string) bool { return v == value && !ran.endByCount(r.Turn.most()) })
			inTime, notAlone = inTime || ran.inTime, notAlone || ran.notAlone
			exits := slices.Concat(longest.exits, ran.exits)
			if ran.polls > longest.polls {
				longest = ran
			}
			longest.exits = exits
		}
	}
	if stays && values[0] != "" {
		b.only = only
	}
	switch {
	case stays && len(b.open()) == 0:
		b.opened = []*loop{r.inner}
	case leaves && inTime && c.neverComes(l, r):
		b.time, b.never = false, true
		if b.tried = c.countEarly(l, r); b.tried == nil {
			b.opened = []*loop{r.inner}
		}
	case leaves && inTime:
		b.opened, b.time = c.findErring(l, r, r.Turn.most()), true
		b.length, b.lasting = c.findLength(l, r)
		b.timed = c.countByClock(l, r)
		if early := c.countEarly(l, r); early != nil && b.length > 0 && early.lasts() <= b.lasts() {
			b.tried, b.time = early, false
		}
	case leaves && longest.polls == least && least == 1:
		b.once = longest.exits
	case leaves && longest.polls > least:
		b.opened, b.tried = c.findErring(l, r, r.Turn.most()), &longest
	case notAlone:
		b.time = false
	case !b.time && len(b.open()) == 0 && r.looksAtStill():
		b.opened = []*loop{r.inner}
	case !b.time && !leaves && !stays && values[0] == "":
		if b.tried = c.countStaying(l, r, ahead); b.tried != nil {
			b.opened = c.findErring(l, r, r.Turn.most())
		}
	}
}

// countStaying counts the polls of a job that stays in a loop while a rule with a count lets it, where nobody knows
// which status it has then; nil if no count ends the loop.
func (c *checker) countStaying(l *loop, r *reading, ahead float64) *laps {
	var longest laps
	for _, from := range c.entriesOf(l) {
		from.env = from.env.At(typecheck.Early)
		ran := c.countLaps(&lapRun{loop: l, reading: r, ahead: ahead, stays: true}, from, fartherThanHistory*r.Turn.most())
		if ran.end != lapsLeave || ran.polls < 2 { //nolint:mnd // what never turns is not read as it is meant
			return nil
		}
		exits := slices.Concat(longest.exits, ran.exits)
		if ran.polls > longest.polls {
			longest = ran
		}
		longest.exits = exits
	}
	if longest.polls == 0 {
		return nil
	}
	return &longest
}

// caught is an error that a state raises in each lap, and the way that its Catch takes.
type caught struct {
	at  *asl.State // nil for no error
	way asl.Transition
}

// findErring returns the loops that are open by their form and that a Catch closes, where
// laps with its error do not leave. A job that never ends says nothing of them.
func (c *checker) findErring(l *loop, r *reading, most int) []*loop {
	found := []*loop{}
	for _, open := range c.boundsOf(l).open() {
		for _, s := range open.states {
			stays := func(from *asl.State, way asl.Transition) bool {
				return open.taken(from, way) && (way.Kind == asl.TransitionCatch) == (from == s) &&
					(from != s || !c.leavesOn(l, r, caught{s, way}, most))
			}
			for _, erring := range loops(open.flow, open.states, stays) {
				if erring.inside[s.Name] {
					erring.catches = s
					found = append(found, erring)
				}
			}
		}
	}
	return found
}

// leavesOn tells whether laps with an error leave the loop, whatever the status of the job.
func (c *checker) leavesOn(l *loop, r *reading, e caught, most int) bool {
	for _, value := range r.pollingValues() {
		for _, from := range c.entriesOf(l) {
			if c.runLaps(lapRun{loop: l, reading: r, value: value, error: e}, from, most).end != lapsLeave {
				return false
			}
		}
	}
	return true
}

// findLaps finds the laps of a job that runs, if they take different events.
func (c *checker) findLaps(r *reading) {
	if r.status == nil || r.Retries {
		return
	}
	var laps []Turn
	for _, value := range r.pollingValues() {
		for _, route := range r.routes[value] {
			if route.ends != PollsOn {
				continue
			}
			path := []*asl.State{r.Poll}
			for _, name := range route.path {
				if name != r.Poll.Name {
					path = append(path, r.Flow.State(name))
				}
			}
			if lap := c.turnOf(path); !slices.ContainsFunc(laps, func(t Turn) bool { return slices.Equal(t.States, lap.States) }) {
				laps = append(laps, lap)
			}
		}
	}
	if len(laps) > 1 {
		r.Laps = laps
	}
}
