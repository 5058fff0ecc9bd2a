package sim

import (
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Progress is how far an execution is, without its data.
type Progress struct {
	Standing

	Events int64 // how many
}

// Snapshot is an execution at one moment. It is not to be changed.
type Snapshot struct {
	Progress

	ARN, Name, StateMachine string
	Express                 bool
	Input                   json.RawMessage
	Output                  json.RawMessage // of SUCCEEDED
	Error, Cause            string
	Transitions             int
	RedriveStatus           RedriveStatus
	RedriveStatusReason     string   // of NotRedrivable, in AWS's words; AWS has none for Express
	MapRunARN               string   // of a child execution of a Map
	Items                   int      // that a child execution of a Map has
	MapRuns                 []string // their ARNs, in the order of their start
	Current                 []Place  // the states that work or wait; empty once it has ended
}

// Place is a state that works or waits.
type Place struct {
	State      string
	Type       asl.Type
	Iterations []int     // as in Call
	Entered    time.Time // AWS's EnteredTime
	Event      int64     // ID of the event of entering
	Until      time.Time // the end of a Wait, or of the delay before a retry; zero: neither
	Token      string    // of a Task that waits for one
	RetryCount int
	Input      *Payload
	Variables  map[string]any // that the state can read; not to be changed
}

// Start returns when the execution started.
func (e *Execution) Start() time.Time {
	defer e.lock()()
	return e.x.result.Start
}

// Progress returns how far the execution is.
func (e *Execution) Progress() Progress {
	defer e.lock()()
	return e.x.progress()
}

func (x *execution) progress() Progress {
	return Progress{x.standing(), x.lastEvent()}
}

// MapRuns are the ARNs of the Map Runs of the execution, the oldest first.
func (e *Execution) MapRuns() []string {
	defer e.lock()()
	return e.x.mapRunARNs()
}

func (x *execution) mapRunARNs() (all []string) {
	for _, run := range x.result.MapRuns {
		all = append(all, run.ARN)
	}
	return all
}

// Snapshot returns the execution as it is now.
func (e *Execution) Snapshot() Snapshot {
	now := e.world.clock.Now()
	defer e.lock()()
	x := e.x
	r, o := x.result, &x.run.options
	s := Snapshot{
		Progress: x.progress(), ARN: r.ExecutionARN, StateMachine: o.StateMachine, Express: x.express(), Output: r.Output, Error: r.Error, Cause: r.Cause,
	}
	if given := x.run.given; given != nil && x == x.run.root {
		s.Input = given.JSON()
	} else {
		s.Input = newPayload(r.context["Input"]).JSON()
	}
	s.Name, _ = r.context["Name"].(string)
	s.RedriveStatus, s.RedriveStatusReason = x.redriveStatus(now)
	s.Transitions = r.Transitions
	s.MapRuns = x.mapRunARNs()
	if x.mapRun != nil {
		s.MapRunARN, s.Items = x.mapRun.arn, x.branch.items
	}
	if !x.over && r.root != nil {
		r.root.places(func(at *strand) bool {
			s.Current = append(s.Current, at.place())
			return true
		})
	}
	return s
}

// express tells whether it is an Express execution.
func (x *execution) express() bool {
	if x.mapRun != nil {
		return !x.billed
	}
	return x.run.options.Express
}

// places yields the innermost strands that are in a state.
func (s *strand) places(yield func(*strand) bool) bool {
	if s.over || s.dead {
		return true
	}
	if c, ok := s.inner.(*composite); ok && c.mapRun == nil {
		for _, b := range c.branches {
			if b.strand != nil && !b.done && !b.strand.places(yield) {
				return false
			}
		}
		return true
	}
	return !s.inside || yield(s)
}

func (s *strand) place() Place {
	p := Place{
		State: s.state.Name, Type: s.state.Type, Iterations: s.iterations, Entered: s.enteredTime, Event: s.entered, RetryCount: s.retryCount,
		Input: s.input, Token: s.token, Variables: maps.Clone(s.variables.all()),
	}
	if s.pause != nil {
		p.Until, p.Token = s.pause.until, ""
	}
	return p
}

// ErrNoWait is the error of SkipWait if nothing waits there.
var ErrNoWait = errors.New("no Wait state, and no retry, waits at this state")

// SkipWait ends the Wait, or the delay before a retry, in which the execution stands at
// the state; at any state if the name is empty. Errors: ErrNoWait and ErrWorldClosed.
func (e *Execution) SkipWait(state string) error {
	skipped := false
	err := e.x.run.ask(func() { skipped = e.x.skip(state) })
	if err == nil && !skipped {
		return ErrNoWait
	}
	return err
}

// skip ends the waits at a state, and tells whether there were any.
func (x *execution) skip(state string) bool {
	if x.over {
		return false
	}
	var waiting []*strand
	x.result.root.places(func(s *strand) bool {
		if s.pause != nil && (state == "" || state == s.state.Name) {
			waiting = append(waiting, s)
		}
		return true
	})
	if len(waiting) == 0 || !x.run.keep(record{Kind: skipRecord, ARN: x.result.ExecutionARN, Name: state}) {
		return false
	}
	for _, s := range waiting {
		s.skip()
	}
	return true
}
