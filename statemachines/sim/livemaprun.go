package sim

import (
	"errors"
	"time"
)

// ErrMapRunEnded is the error of Update for a Map Run that has ended.
var ErrMapRunEnded = errors.New("the Map Run has ended; only one that runs can be changed")

// LiveMapRun is the run of a distributed Map in a World. It is safe for concurrent use.
type LiveMapRun struct {
	run *mapRun
}

// MapRunSnapshot is a Map Run at one moment.
type MapRunSnapshot struct {
	ARN, ExecutionARN, State   string
	Status                     Status
	Start, Stop                time.Time // Stop is zero while it runs
	MaxConcurrency             int
	ToleratedFailureCount      int64
	ToleratedFailurePercentage float64
	Items, Executions          MapRunCounts // the items and the child executions, by status
	RedriveCount               int
	RedriveDate                time.Time // of the last redrive; zero: none
}

// MapRunCounts are items or child executions by status, under AWS's names.
type MapRunCounts struct {
	Pending, Running, Succeeded, Failed, TimedOut, Aborted, Total int
	ResultsWritten                                                int
	FailuresNotRedrivable                                         int
	PendingRedrive                                                int
}

// MapRunUpdate is what changes of a Map Run that runs; nil: nothing.
type MapRunUpdate struct {
	MaxConcurrency             *int     `json:"maxConcurrency,omitempty"`
	ToleratedFailureCount      *int64   `json:"toleratedFailureCount,omitempty"`
	ToleratedFailurePercentage *float64 `json:"toleratedFailurePercentage,omitempty"`
}

// MapRun returns a Map Run by its ARN; nil if there is none.
func (w *World) MapRun(arn string) *LiveMapRun {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.mapRuns[arn]
}

// ARN returns the ARN of the Map Run.
func (m *LiveMapRun) ARN() string { return m.run.arn }

// Snapshot returns the Map Run as it is now.
func (m *LiveMapRun) Snapshot() MapRunSnapshot {
	r := m.run
	defer r.lock()()
	s := MapRunSnapshot{
		ARN: r.arn, ExecutionARN: r.owner.x.result.ExecutionARN, State: r.state, Status: r.status, Start: r.started, Stop: r.stopped,
		MaxConcurrency: r.concurrency, RedriveCount: r.redriven, RedriveDate: r.redrivenAt,
	}
	if t := r.inside.tolerance; t != nil {
		if t.count != nil {
			s.ToleratedFailureCount = *t.count
		}
		if t.share != nil {
			s.ToleratedFailurePercentage = *t.share
		}
	}
	s.Items, s.Executions = r.items, r.executions
	s.Items.ResultsWritten, s.Executions.ResultsWritten = r.written, r.written
	return s
}

// Executions returns the first n child executions that have started, in the order of their
// items.
func (m *LiveMapRun) Executions(n int) []*Execution {
	defer m.run.lock()()
	var all []*Execution
	for _, x := range m.run.children {
		if len(all) == n {
			break
		}
		if x != nil {
			all = append(all, x.handle)
		}
	}
	return all
}

// MapRunExecution is a child execution in a list.
type MapRunExecution struct {
	Execution *Execution
	Standing  Standing

	Name   string
	Items  int
	Number int // of its first item or its batch, from 0
}

// List returns the first n child executions that have started and that takes wants, the
// newest first by their places: those behind one, or, if that is nil, from the beginning.
func (m *LiveMapRun) List(behind *ListPlace, n int, takes func(ListGroup) bool) []MapRunExecution {
	defer m.run.lock()()
	var all []MapRunExecution
	for _, place := range m.run.list.After(behind, n, func(g ListGroup) bool { return g.Status != "" && takes(g) }) {
		x := m.run.children[place.Number]
		name, _ := x.result.context["Name"].(string)
		all = append(all, MapRunExecution{x.handle, x.standing(), name, x.branch.items, place.Number})
	}
	return all
}

// Update changes how the Map Run goes on. More child executions start at once; fewer
// run as the others end. Errors: ErrMapRunEnded and ErrWorldClosed.
func (m *LiveMapRun) Update(u MapRunUpdate) error {
	ended := false
	err := m.run.owner.x.run.ask(func() {
		ended = m.run.status != StatusRunning
		if !ended && m.run.owner.x.run.keep(record{Kind: updateRecord, ARN: m.run.arn, Update: &u}) {
			m.run.update(u)
		}
	})
	if err == nil && ended {
		return ErrMapRunEnded
	}
	return err
}

func (r *mapRun) lock() (unlock func()) {
	mu := &r.owner.x.run.actor.mu
	mu.Lock()
	return mu.Unlock
}

func (r *mapRun) update(u MapRunUpdate) {
	c := r.inside
	if u.ToleratedFailureCount != nil || u.ToleratedFailurePercentage != nil {
		t := tolerance{}
		if c.tolerance != nil {
			t = *c.tolerance
		}
		if u.ToleratedFailureCount != nil {
			t.count = u.ToleratedFailureCount
		}
		if u.ToleratedFailurePercentage != nil {
			t.share = u.ToleratedFailurePercentage
		}
		c.tolerance = &t
	}
	if u.MaxConcurrency != nil {
		r.concurrency = *u.MaxConcurrency
		c.limitConcurrency(int64(r.concurrency), true)
	}
	r.owner.x.run.current = r.owner
	if !c.ended && c.failures > 0 && !c.tolerance.allows(c.failures, c.items) {
		c.owner.failState(c.stop(thresholdExceeded()))
		return
	}
	for !c.ended && c.running < c.concurrency && c.next < len(c.branches) && c.owner.alive() {
		if f := c.startNext(c.owner.last); f != nil {
			c.owner.failState(c.stop(f))
		}
	}
}
