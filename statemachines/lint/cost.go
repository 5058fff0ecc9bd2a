package lint

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Turn is one time around a loop.
type Turn struct {
	States []string
	// Events is how many events of the history it takes, and Transitions how
	// many transitions are billed, without retries.
	Events, Transitions int
	// Wait is how long its Wait states wait, as far as each waits as long every
	// time; 0 if none does.
	Wait time.Duration
	// retries are the delays before the retries of the first state, in a turn of a call that fails.
	retries []time.Duration
	// called are the events of a retry until its call is made.
	called int
	// Longest is the longest time between two polls, if it grows from Wait on.
	Longest time.Duration
	// Shortest is the shortest time between two polls where a count chooses between several Waits, and Wait the time behind
	// the first polls, for which first stands; else 0.
	Shortest time.Duration
	first    firstLaps
	// perTransition is what a transition costs; 0: as in asl.DefaultRegion.
	perTransition float64
}

// mostEvents are those that a history has room for before the end of the execution.
const mostEvents = asl.MaxEvents - 1

// DollarsPerDay returns what the transitions of a day of turns cost at the
// price of a Standard workflow in the region of Options; 0 if the definition does not
// say how long the loop waits.
func (t Turn) DollarsPerDay() float64 {
	if t.Wait == 0 {
		return 0
	}
	return cmp.Or(t.perTransition, asl.TransitionCost(1)) * float64(24*time.Hour) / float64(t.Wait) * float64(t.Transitions)
}

// perTransition is what a transition costs in a region.
func perTransition(region string) float64 {
	if usd, err := asl.TransitionPrice(region); err == nil {
		return usd
	}
	return asl.TransitionCost(1)
}

// setPrices sets what loops cost in the region of the options: they were counted at the price of
// asl.DefaultRegion.
func (c *checker) setPrices() {
	if c.perTransition == asl.TransitionCost(1) {
		return
	}
	set := map[*Bound]bool{} // those that several loops have
	var price func(b *Bound)
	price = func(b *Bound) {
		if b != nil && !set[b] {
			set[b] = true
			b.USD *= c.perTransition / asl.TransitionCost(1)
			price(b.Beside)
			price(b.Running)
		}
	}
	for i := range c.tables {
		c.tables[i].Turn.perTransition = c.perTransition
		price(&c.tables[i].Bound)
	}
}

// most is more turns than a history has room for.
func (t Turn) most() int { return asl.MaxEvents / max(t.Events, 1) }

// until says what ends a loop that nothing bounds and that lasts some time, for people.
func until(lasts time.Duration) string {
	switch lasts {
	case 0:
		return fmt.Sprintf("until the history is full, at %s events", thousands(asl.MaxEvents))
	case asl.MaxStandardTime:
		return "until the execution ends, after a year"
	default:
		return "until the history is full, after " + span(lasts)
	}
}

// path writes a turn.
func (t Turn) path() string { return strings.Join(append(t.States, t.States[0]), " -> ") }

// turnOf measures a turn along a path.
func (c *checker) turnOf(path []*asl.State) Turn {
	var t Turn
	for _, s := range path {
		t.States = append(t.States, s.Name)
		events, transitions := visit(s)
		t.Events += events
		t.Transitions += transitions
		t.Wait += c.steadyWait(s)
	}
	return t
}

// ofParallel are the events of a Parallel or Map itself: it is entered, starts, succeeds and is exited.
const ofParallel = 4

// visit returns how many events of the history a visit of a state takes and
// how many transitions are billed, if nothing is retried, as counted in
// histories recorded at AWS. What is inside of a Map is counted once, and of
// alternatives inside all.
func visit(s *asl.State) (events, transitions int) {
	// A state is entered and exited; a Task is scheduled, started and succeeds,
	// and one that ends later is submitted.
	const simple, fail, task, later, iteration, run = 2, 1, 5, 6, 2, 6
	switch {
	case s.Type == asl.TypeFail:
		return fail, 1
	case s.Task != nil:
		if asl.ParseResource(s.Task.Resource).Pattern != "" {
			return later, 1
		}
		return task, 1
	case s.Map != nil && s.Map.Distributed:
		return run, 1 // the items have executions of their own
	case s.Map != nil:
		events = ofParallel + iteration
	case s.Parallel != nil:
		events = ofParallel
	default:
		return simple, 1
	}
	transitions = 1
	for _, f := range s.Flows() {
		for _, inner := range f.States {
			e, n := visit(inner)
			events += e
			transitions += n
		}
	}
	return events, transitions
}

// noteSteadyWaits notes in the tables which Waits of the machine wait as long each time.
func (c *checker) noteSteadyWaits() {
	steady := map[*asl.State]time.Duration{}
	for s := range c.machine.All {
		if waits, ok := c.types.SteadyWait(s); ok {
			steady[s] = waits
		}
	}
	for i := range c.tables {
		c.tables[i].Steady = steady
	}
}

// steadyWait is how long a Wait waits each time; 0 if that differs, or is not known.
func (c *checker) steadyWait(s *asl.State) time.Duration {
	waits, _ := c.types.SteadyWait(s)
	return waits
}
