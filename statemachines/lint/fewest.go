package lint

import (
	"container/heap"
	"maps"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// lead counts the events and the waits of an execution before it comes to a loop, on the way with the fewest events.
type lead struct {
	first  *asl.State    // of the loop; nil if nothing leads there
	events int           // from the start of the execution on
	wait   time.Duration // of Wait states that wait as long each time
	more   bool          // another way, or something on this one, may take more events
	longer bool          // or more time
}

// add adds the events and waits before or beside a way, and keeps its path.
func (l *lead) add(o lead) {
	l.events, l.wait, l.more, l.longer = l.events+o.events, l.wait+o.wait, l.more || o.more, l.longer || o.longer
}

// leads are the ways with the fewest events from the start of a flow to each of its states.
type leads struct {
	at    map[*asl.State]lead // what comes before the state; first is the state before it
	cost  map[*asl.State]lead // of the state
	from  map[*asl.State][]*asl.State
	cycle map[*asl.State]*loop // that the state is in
}

// fewest is the way with the fewest events to the first of some states; along errors only if there is no other.
func (c *checker) fewest(f *asl.Flow, to map[string]bool) lead {
	for _, errors := range []bool{false, true} {
		if found, ok := c.leadsOf(f, errors).to(f, to); ok {
			return found
		}
	}
	return lead{more: true, longer: true}
}

// to is the way to the first of some states.
func (w *leads) to(f *asl.Flow, to map[string]bool) (found lead, ok bool) {
	names := slices.Sorted(maps.Keys(to))
	for _, name := range names {
		s := f.State(name)
		if at, known := w.at[s]; known && (!ok || at.events < found.events) {
			found, ok = at, true
			found.first = s
		}
	}
	if !ok {
		return lead{}, false
	}
	ways, known := 0, found.events+w.cost[found.first].events
	for _, name := range names {
		s := f.State(name)
		for _, from := range w.from[s] {
			isRound := w.cycle[from] != nil && w.cycle[from] == w.cycle[s] && w.at[from].events+w.cost[from].events >= known
			if !to[from.Name] && !isRound {
				ways++
			}
		}
	}
	if ways > 1 || ways == 1 && to[f.StartAt] {
		found.more, found.longer = true, true
	}
	return found, true
}

// pathTo is the way to a state, with it.
func (c *checker) pathTo(f *asl.Flow, s *asl.State) []*asl.State {
	w := c.leadsOf(f, false)
	if _, known := w.at[s]; !known {
		w = c.leadsOf(f, true)
	}
	var path []*asl.State
	for ; s != nil; s = w.at[s].first {
		path = append(path, s)
	}
	slices.Reverse(path)
	return path
}

// leadsOf finds the ways of a flow once: along errors, too, if that is asked.
func (c *checker) leadsOf(f *asl.Flow, errors bool) *leads {
	kind := leadsKind{f, errors}
	if w := c.leads[kind]; w != nil {
		return w
	}
	w := &leads{at: map[*asl.State]lead{}, cost: map[*asl.State]lead{}, from: map[*asl.State][]*asl.State{}, cycle: map[*asl.State]*loop{}}
	c.leads[kind] = w
	for _, l := range loops(f, f.States, every) {
		for _, s := range l.states {
			w.cycle[s] = l
		}
	}
	order := w.search(c, f, errors)
	for _, s := range order {
		for _, way := range s.Transitions() {
			if next := f.State(way.To); next != nil && (way.Kind != asl.TransitionCatch || errors) {
				w.from[next] = append(w.from[next], s)
			}
		}
	}
	for _, s := range order {
		w.sum(s)
	}
	return w
}

// leadsKind is a key of the ways that are known.
type leadsKind struct {
	flow   *asl.Flow
	errors bool
}

// sum adds what comes before a state, once that is known of the state before it.
func (w *leads) sum(s *asl.State) {
	at := w.at[s]
	if at.first == nil {
		return
	}
	before := w.at[at.first]
	before.add(w.cost[at.first])
	others := 0
	for _, from := range w.from[s] {
		if w.cycle[from] == nil || w.cycle[from] != w.cycle[s] {
			others++
		}
	}
	left := w.cycle[at.first] != nil && w.cycle[at.first] != w.cycle[s] // it may have turned more often
	before.more, before.longer = before.more || others > 1 || left, before.longer || others > 1 || left
	before.first = at.first
	w.at[s] = before
}

// search is Dijkstra's: it sets the events before each state, and the state before it, and returns the
// states by the events.
func (w *leads) search(c *checker, f *asl.Flow, errors bool) (order []*asl.State) {
	start := f.State(f.StartAt)
	if start == nil {
		return nil
	}
	w.at[start] = lead{}
	done := map[*asl.State]bool{}
	for queue := (leadings{{start, 0}}); len(queue) > 0; {
		at, _ := heap.Pop(&queue).(leading)
		if done[at.state] {
			continue
		}
		done[at.state], order = true, append(order, at.state)
		w.cost[at.state] = c.costOf(at.state)
		events := at.events + w.cost[at.state].events
		for _, way := range at.state.Transitions() {
			next := f.State(way.To)
			if next == nil || way.Kind == asl.TransitionCatch && !errors {
				continue
			}
			if known, isKnown := w.at[next]; !isKnown || events < known.events {
				w.at[next] = lead{first: at.state, events: events}
				heap.Push(&queue, leading{next, events})
			}
		}
	}
	return order
}

// leading is a state on a way, and how many events come before it.
type leading struct {
	state  *asl.State
	events int
}

// leadings are the next ones to follow.
type leadings []leading

func (q *leadings) Len() int           { return len(*q) }
func (q *leadings) Less(i, j int) bool { return (*q)[i].events < (*q)[j].events }
func (q *leadings) Swap(i, j int)      { (*q)[i], (*q)[j] = (*q)[j], (*q)[i] }
func (q *leadings) Push(x any)         { *q = append(*q, x.(leading)) } //nolint:forcetypeassert // Push of heap
func (q *leadings) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// through is the way through a whole flow.
func (c *checker) through(f *asl.Flow) lead {
	ends := map[string]bool{}
	for _, s := range f.States {
		if s.End || s.Type == asl.TypeSucceed || s.Type == asl.TypeFail {
			ends[s.Name] = true
		}
	}
	all := c.fewest(f, ends)
	if all.first != nil {
		all.add(c.costOf(all.first))
	}
	return all
}

// costOf counts the events and the waits of a visit of a state, at least.
func (c *checker) costOf(s *asl.State) lead {
	events, _ := visit(s)
	wait, steady := c.types.SteadyWait(s)
	out := lead{events: events, wait: wait}
	switch {
	case s.Wait != nil:
		out.longer = !steady
	case s.Parallel != nil:
		out.events = ofParallel
		for _, branch := range s.Flows() {
			inside := c.through(branch)
			wait := max(out.wait, inside.wait)
			out.add(inside)
			out.wait = wait
		}
	case s.Map != nil && !s.Map.Distributed:
		out.events, out.more, out.longer = ofParallel, true, passesTime(s)
	default:
		out.longer = passesTime(s)
	}
	return out
}
