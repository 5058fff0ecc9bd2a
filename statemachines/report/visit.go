package report

import (
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// visit is one time in a state.
type visit struct {
	state         string
	start, end    time.Time
	input, output *sim.Payload
	attempts      []attempt // of a Task
	err, cause    string    // of the last failure, if nothing succeeded after it
	open          bool
}

// attempt is one call of a Task.
type attempt struct {
	start, end time.Time
	open       bool
	failed     bool
}

// failures is how many attempts failed.
func (v *visit) failures() int {
	n := 0
	for _, a := range v.attempts {
		if a.failed {
			n++
		}
	}
	return n
}

// history is the events of an execution with the visits that they make up.
type history struct {
	visits []*visit         // in the order in which they began
	of     map[int64]*visit // by event: the visit that it belongs to
}

// newHistory reads the history of an execution.
func newHistory(r *sim.Result) *history {
	h := &history{of: map[int64]*visit{}}
	open := map[string][]*visit{} // by state
	for _, e := range r.Events {
		v, name := h.of[e.PreviousEventID], string(e.Type)
		switch {
		case strings.HasSuffix(name, "StateEntered"):
			v = &visit{state: e.Details.Name, start: e.Timestamp, end: r.Stop, input: e.Details.Input, open: true}
			h.visits = append(h.visits, v)
			open[v.state] = append(open[v.state], v)
		case strings.HasSuffix(name, "StateExited"):
			if v == nil || v.state != e.Details.Name || !v.open {
				v = lastOpen(open[e.Details.Name])
			}
			if v != nil {
				v.leave(e.Timestamp)
				v.output = e.Details.Output
			}
		case v == nil:
		case strings.HasSuffix(name, "StateAborted"):
			v.leave(e.Timestamp)
		default:
			v.note(e)
		}
		h.of[e.ID] = v
	}
	for _, v := range h.visits {
		if v.open {
			v.leave(r.Stop)
		}
	}
	return h
}

// lastOpen is the visit of a state that an event ends which does not follow it.
func lastOpen(visits []*visit) *visit {
	for _, v := range slices.Backward(visits) {
		if v.open {
			return v
		}
	}
	return nil
}

// leave ends the visit.
func (v *visit) leave(at time.Time) {
	v.end, v.open = at, false
	v.endAttempt(at, false)
}

// note takes in an event in the visit.
func (v *visit) note(e sim.Event) {
	name := string(e.Type)
	ofTask := true
	for _, other := range []string{"Map", "Parallel", "Execution", "Evaluation"} {
		ofTask = ofTask && !strings.HasPrefix(name, other)
	}
	switch {
	case strings.HasSuffix(name, "Scheduled"):
		v.attempts = append(v.attempts, attempt{start: e.Timestamp, end: e.Timestamp, open: true})
	case strings.HasSuffix(name, "Failed"), strings.HasSuffix(name, "TimedOut"):
		if ofTask {
			v.endAttempt(e.Timestamp, true)
		}
		if e.Details.Error != "" || e.Details.Cause != "" {
			v.err, v.cause = e.Details.Error, e.Details.Cause
		}
	case strings.HasSuffix(name, "Succeeded") && e.Type != sim.MapIterationSucceeded:
		if ofTask {
			v.endAttempt(e.Timestamp, false)
		}
		v.err, v.cause = "", ""
	}
}

// endAttempt ends the attempt under way, if there is one.
func (v *visit) endAttempt(at time.Time, failed bool) {
	if n := len(v.attempts); n > 0 && v.attempts[n-1].open {
		a := &v.attempts[n-1]
		a.end, a.open, a.failed = at, false, failed
	}
}

// visits are those of a history and of the child executions of its distributed
// Maps, in the order in which they began.
func visits(h *history, r *sim.Result) []*visit {
	all := slices.Clone(h.visits)
	for _, run := range r.MapRuns {
		for _, child := range run.Executions {
			if child != nil {
				all = append(all, visits(newHistory(child), child)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *visit) int { return a.start.Compare(b.start) })
	return all
}

// row is a state in the timeline.
type row struct {
	state    *asl.State
	depth    int
	visits   []*visit
	attempts int
	failures int
	total    time.Duration
}

// rows are the states of the machine with their visits, in the order of the
// definition.
func rows(m *asl.StateMachine, all []*visit) []*row {
	byName := map[string]*row{}
	var out []*row
	var add func(f *asl.Flow, depth int)
	add = func(f *asl.Flow, depth int) {
		for _, s := range f.States {
			r := &row{state: s, depth: depth}
			byName[s.Name] = r
			out = append(out, r)
			for _, inner := range s.Flows() {
				add(inner, depth+1)
			}
		}
	}
	add(&m.Flow, 0)
	for _, v := range all {
		if r := byName[v.state]; r != nil {
			r.visits = append(r.visits, v)
			r.attempts += len(v.attempts)
			r.failures += v.failures()
			r.total += v.end.Sub(v.start)
		}
	}
	return out
}
