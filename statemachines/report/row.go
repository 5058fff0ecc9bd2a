package report

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// row is a state with its visits.
type row struct {
	name   string
	kind   asl.Type
	depth  int
	number int // from 1: what links name it by
	visits []*history.Visit

	attempts, failures int
	total              time.Duration
	ending             graph.Ending
}

// mostStates is how many states have a row of their own: those behind share one.
const mostStates = 800

// newRows are the states with their visits: in the order of the definition, and
// behind them those that only the history has, in the order of their first visits.
// byName has the row of each state.
func newRows(m *asl.StateMachine, visits *history.Visits) (out []*row, byName map[string]*row) {
	byName = map[string]*row{}
	more := 0
	add := func(name string, kind asl.Type, depth int) *row {
		if len(out) == mostStates {
			out = append(out, &row{number: mostStates + 1})
		}
		if len(out) > mostStates {
			more++
			rest := out[mostStates]
			rest.name = plural(more, "more state")
			byName[name] = rest
			return rest
		}
		r := &row{name: name, kind: kind, depth: depth, number: len(out) + 1}
		byName[name] = r
		out = append(out, r)
		return r
	}
	var flow func(f *asl.Flow, depth int)
	flow = func(f *asl.Flow, depth int) {
		for _, s := range f.States {
			add(cut(s.Name, mostName), s.Type, depth)
			for _, inner := range s.Flows() {
				flow(inner, depth+1)
			}
		}
	}
	if m != nil {
		flow(&m.Flow, 0)
	}
	endings := visits.FindEndings()
	for _, v := range visits.All {
		r := byName[nameOf(v)]
		if r == nil {
			r = add(nameOf(v), v.Type, 0)
		}
		r.visits = append(r.visits, v)
		r.attempts += len(v.Attempts)
		r.failures += v.Failures()
		r.total += v.End.Sub(v.Start)
		if e := endings[v.State]; e.Outcome.Compare(r.ending.Outcome) > 0 {
			r.ending = e
		}
	}
	return out, byName
}
