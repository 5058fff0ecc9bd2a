package lint

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const (
	// fewLaps are enough to see that nothing changes from lap to lap, and triedLaps show
	// whether a count ends the loop as its form says.
	fewLaps, triedLaps = 3, 200
)

// tryLaps follows a job that never ends through a loop, lap after lap, where the machine
// alone says the way: then it is known what ends the loop, however the counter is
// written.
func (c *checker) tryLaps(l *loop, r *reading) {
	if r.status == nil || r.Operation == checkStatus.name { // the function says TIMED_OUT
		return
	}
	b, most := l.findBounds(), triedLaps
	switch {
	case len(b.open()) > 0:
		most = r.Turn.Turns()
	case b.time:
		most = fewLaps
	}
	var longest laps
	leaves, stays := true, false
	for _, value := range r.pollingValues() {
		for _, from := range c.entriesOf(l) {
			ran := c.runLaps(l, r, value, from, most, caught{})
			goesOn := func() bool { return ran.end == lapsGoOn && b.most > 0 && b.most < most }
			if goesOn() { // a count in an inner loop may end it later
				ran = c.runLaps(l, r, value, from, max(most, r.Turn.Turns()), caught{})
			}
			leaves = leaves && ran.end == lapsLeave
			stays = stays || ran.end == lapsRepeat || goesOn()
			if ran.polls > longest.polls {
				longest = ran
			}
		}
	}
	switch {
	case stays && len(b.open()) == 0:
		b.opened = []*loop{r.inner}
	case leaves && longest.polls > 0:
		b.opened, b.tried = c.findErring(l, r, most), &longest
	}
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
	for _, open := range l.findBounds().open() {
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
			if c.runLaps(l, r, value, from, most, e).end != lapsLeave {
				return false
			}
		}
	}
	return true
}

// findLaps finds the laps of a job that runs, if they take different events.
func (r *reading) findLaps() {
	if r.status == nil || r.Retries {
		return
	}
	var laps []Turn
	for _, value := range r.pollingValues() {
		for _, route := range r.routes[value] {
			path := []*asl.State{r.Poll}
			for _, name := range route.path {
				if name != r.Poll.Name {
					path = append(path, r.Flow.State(name))
				}
			}
			if lap := turnOf(path); !slices.ContainsFunc(laps, func(t Turn) bool { return slices.Equal(t.States, lap.States) }) {
				laps = append(laps, lap)
			}
		}
	}
	if len(laps) > 1 {
		r.Laps = laps
	}
}

// pollingValues are the statuses in which a job may stay, as the loop polls on for them.
func (r *reading) pollingValues() []string {
	var out []string
	for _, value := range r.status.values {
		if r.status.meaning(r.judges, value) == MeansRunning && endOf(r.routes[value]) == PollsOn {
			out = append(out, value)
		}
	}
	return out
}

// entry is how a flow comes into a loop.
type entry struct {
	state *asl.State
	env   typecheck.Env
}

// entriesOf are the ways into a loop.
func (c *checker) entriesOf(l *loop) []entry {
	var out []entry
	if s := l.flow.State(l.flow.StartAt); l.inside[s.Name] {
		out = append(out, entry{s, c.types.Entry(l.flow)})
	}
	var before []*asl.State
	for _, s := range l.states {
		for _, from := range c.waysOf(l.flow).before[s.Name] {
			if !l.inside[from.Name] && !slices.Contains(before, from) {
				before = append(before, from)
			}
		}
	}
	for _, s := range before {
		for _, way := range c.types.Step(s, c.types.Input(s), c.types.Result(s)) {
			if l.inside[way.To] {
				out = append(out, entry{l.flow.State(way.To), way.Env})
			}
		}
	}
	return out
}

// laps are what a job that never ends makes a loop do.
type laps struct {
	polls, events, transitions int
	seconds                    float64
	end                        lapsEnd
}

// lapsEnd is how laps end.
type lapsEnd string

const (
	lapsLeave   lapsEnd = "leave"
	lapsRepeat  lapsEnd = "repeat" // the poll is entered with what it was entered with before
	lapsGoOn    lapsEnd = "go on"  // after as many laps as were tried
	lapsUnclear lapsEnd = "unclear"
)

// runLaps follows a status of the job from an entry on, and an error if there is one.
func (c *checker) runLaps(l *loop, r *reading, value string, at entry, most int, e caught) laps {
	answer := typecheck.Narrow(c.types.Result(r.Poll), r.status.steps, value)
	counted := cmp.Or(e.at, r.Poll)
	var before typecheck.Env
	ran := laps{end: lapsUnclear}
	for range (most + 1) * len(l.states) {
		result := c.types.Result(at.state)
		if at.state == r.Poll {
			result = answer
		}
		if at.state == counted {
			switch {
			case ran.polls > 0 && at.env.Equal(before):
				ran.end = lapsRepeat
				return ran
			case ran.polls == most:
				ran.end = lapsGoOn
				return ran
			}
			ran.polls++
			before = at.env
		}
		ways := slices.DeleteFunc(c.types.Step(at.state, at.env, result), func(way typecheck.Way) bool {
			if at.state == e.at {
				return way.Transition != e.way
			}
			return way.Kind == asl.TransitionCatch
		})
		if len(ways) > 1 {
			return ran
		}
		turn := turnOf([]*asl.State{at.state})
		ran.events, ran.transitions, ran.seconds = ran.events+turn.Events, ran.transitions+turn.Transitions, ran.seconds+turn.Wait.Seconds()
		if len(ways) == 0 || ways[0].End || !l.inside[ways[0].To] {
			ran.end = lapsLeave
			return ran
		}
		at = entry{l.flow.State(ways[0].To), ways[0].Env}
	}
	return ran
}
