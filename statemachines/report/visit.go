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
	attempts      int // of a Task
	failures      []time.Time
	err, cause    string
	open          bool
}

// visits are the visits of a run, in the order in which they began.
func visits(r *sim.Result) []*visit {
	var all []*visit
	at := map[int64]*visit{} // by event: the visit that it belongs to
	for _, e := range r.Events {
		v := at[e.PreviousEventID]
		name := string(e.Type)
		switch {
		case strings.HasSuffix(name, "StateEntered"):
			v = &visit{state: e.Details.Name, start: e.Timestamp, end: r.Stop, input: e.Details.Input, open: true}
			all = append(all, v)
		case strings.HasSuffix(name, "StateExited"):
			if v = opened(all, v, e.Details.Name); v != nil {
				v.end, v.output, v.open = e.Timestamp, e.Details.Output, false
			}
		case strings.HasSuffix(name, "StateAborted"):
			if v != nil {
				v.end, v.open = e.Timestamp, false
			}
		case v == nil:
		case strings.HasSuffix(name, "Scheduled"):
			v.attempts++
		case strings.HasSuffix(name, "Failed") || strings.HasSuffix(name, "TimedOut"):
			if !strings.HasPrefix(name, "Execution") && !strings.HasPrefix(name, "Map") && !strings.HasPrefix(name, "Parallel") {
				v.failures = append(v.failures, e.Timestamp)
			}
			if e.Details.Error != "" || e.Details.Cause != "" {
				v.err, v.cause = e.Details.Error, e.Details.Cause
			}
		}
		at[e.ID] = v
	}
	return all
}

// opened is the visit of the state that an event ends: the one it follows, or
// the last that is open.
func opened(all []*visit, v *visit, state string) *visit {
	if v != nil && v.state == state && v.open {
		return v
	}
	for _, a := range slices.Backward(all) {
		if a.state == state && a.open {
			return a
		}
	}
	return nil
}

// row is a state in the timeline.
type row struct {
	state    *asl.State
	depth    int
	visits   []*visit
	attempts int
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
			r.attempts += v.attempts
			r.total += v.end.Sub(v.start)
		}
	}
	return out
}
