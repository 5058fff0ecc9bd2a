package history

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// Visit is one time in a state.
type Visit struct {
	course

	State string
	Type  asl.Type
	// Start and End are the end of the history where it does not say.
	Start, End time.Time
	// First and Last are the events of the visit, by their places in the Events of
	// Execution: the one that was asked for visits, or one of its children.
	First, Last   int
	Execution     *Execution
	Input, Output string    // JSON text
	Attempts      []Attempt // of a Task
	// Error and Cause are those of the last failure, if nothing succeeded after it.
	Error, Cause string
	// Outcome is what came of it in the end; empty if it was left in peace, or goes on.
	Outcome graph.Outcome
	// Catcher is the state whose Catch took the failure; empty if none did.
	Catcher string
	// Open tells that the history does not have its end.
	Open bool
	// Strand tells visits that follow one another from those of other branches and
	// iterations.
	Strand int64
	// Assigned are the variables that it assigned, as JSON text.
	Assigned map[string]string
}

// Attempt is one call of a Task.
type Attempt struct {
	Start, End time.Time
	Open       bool
	Failed     bool
	// Polled tells that the error of the call says that the job still runs: a poll of
	// the strategy lambda-retry, and no failure.
	Polled bool
	// Service and Action are those of the resource: "aws-sdk:athena" and
	// "getQueryExecution", or "lambda" and "invoke".
	Service, Action    string
	Parameters, Output string // JSON text
	Error, Cause       string
	// Event is the place of the event that scheduled it, as Visit.First is.
	Event int
}

// Failures is how many calls failed, without those that polled.
func (v *Visit) Failures() int {
	n := 0
	for i := range v.Attempts {
		if a := &v.Attempts[i]; a.Failed && !a.Polled {
			n++
		}
	}
	return n
}

// Visits are the visits of an execution.
type Visits struct {
	// All are those of the execution and of its children, in the order in which
	// they began.
	All []*Visit
	// Of is the visit of each event of the execution by its place; nil for events
	// of none.
	Of []*Visit

	polled map[int]bool // events by their places: see IsPoll
}

// IsPoll tells whether an event of the execution is a failure that only says that a job
// still runs: of strategies that poll by the retries of a Task.
func (v *Visits) IsPoll(place int) bool { return v.polled[place] }

// FindVisits finds the visits, and what came of each.
func (e *Execution) FindVisits() *Visits {
	t := e.track()
	all := t.visits
	for _, v := range all.All {
		v.resolve()
	}
	return all
}

// track finds the visits of an execution and of its children.
func (e *Execution) track() *tracker {
	t := e.newTracker()
	own := t.visits
	var last int64 // strand: the IDs of events name them
	for i := range e.Events {
		last = max(last, e.Events[i].ID)
	}
	for _, child := range e.Children {
		strands := map[int64]int64{}
		inner := child.track()
		if child.MapRun >= 0 && child.MapRun < len(t.mapRuns) {
			inner.placeIn(t.mapRuns[child.MapRun])
		}
		for _, v := range inner.visits.All {
			if _, known := strands[v.Strand]; !known {
				last++
				strands[v.Strand] = last
			}
			v.Strand = strands[v.Strand]
			own.All = append(own.All, v)
		}
	}
	if len(e.Children) > 0 {
		slices.SortStableFunc(own.All, func(a, b *Visit) int { return a.Start.Compare(b.Start) })
	}
	return t
}
