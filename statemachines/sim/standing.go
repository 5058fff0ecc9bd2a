package sim

import (
	"cmp"
	"time"

	"github.com/jobpoller/jobpoller/internal/ordered"
)

// Standing is how an execution stands. It changes when the execution starts, ends or is
// redriven.
type Standing struct {
	Status       Status
	Start, Stop  time.Time // Stop is that of the last end; zero before the first
	RedriveCount int
	RedriveDate  time.Time // of the last redrive; zero: none
}

// At is the time by which lists have the execution: that of its end, or, while it runs,
// of its start or its last redrive.
func (s Standing) At() time.Time {
	switch {
	case s.Status != StatusRunning:
		return s.Stop
	case s.RedriveCount > 0:
		return s.RedriveDate
	default:
		return s.Start
	}
}

func (x *execution) standing() Standing {
	r := x.result
	return Standing{x.status(), r.Start, r.Stop, r.redriveCount, r.redriveDate}
}

// tellStanding calls OnStanding, if this is the execution that the caller started.
func (x *execution) tellStanding() {
	if tell := x.run.options.OnStanding; tell != nil && x == x.run.root && x.run.world != nil {
		x.run.calling(func() { tell(x.handle, x.standing()) })
	}
}

// ListPlace is where a list has an execution: Standing.At in milliseconds, and a number
// that makes the order a total one.
type ListPlace struct {
	At     int64
	Number int
}

// ListPlace is the place of an execution that has the number.
func (s Standing) ListPlace(number int) ListPlace { return ListPlace{s.At().UnixMilli(), number} }

// Compare orders lists of executions: the newest first.
func (p ListPlace) Compare(q ListPlace) int {
	return cmp.Or(cmp.Compare(q.At, p.At), cmp.Compare(q.Number, p.Number))
}

// ListGroup is what executions have in common that one list selects.
type ListGroup struct {
	Status   Status
	Redriven bool
}

// ListGroup is the group of an execution.
func (s Standing) ListGroup() ListGroup { return ListGroup{s.Status, s.RedriveCount > 0} }

// counted is the entry of a child execution in the counts and the list of a Map Run.
type counted struct {
	ListGroup // without a Status it has not started
	ListPlace

	full bool // a redrive cannot go on with it
}

// count counts and lists the child execution of a branch as what it is now.
func (r *mapRun) count(b *branch) {
	var now counted
	if x := r.children[b.index]; x != nil {
		s := x.standing()
		now.ListGroup, now.ListPlace = s.ListGroup(), s.ListPlace(b.index)
		now.full = x.over && s.Status != StatusSucceeded && s.Status != StatusPendingRedrive && x.history.last() >= int64(x.limit)-1
	}
	if now == b.counted {
		return
	}
	r.items.add(b.counted, -b.items)
	r.executions.add(b.counted, -1)
	r.items.add(now, b.items)
	r.executions.add(now, 1)
	if b.counted.Status != "" {
		r.list.Remove(b.counted.ListGroup, b.counted.ListPlace)
	}
	r.list.Add(now.ListGroup, now.ListPlace)
	b.counted = now
}

// countAll counts all child executions, where each may be something else than before.
func (r *mapRun) countAll() {
	for _, b := range r.inside.branches {
		r.count(b)
	}
}

func newList() *ordered.Groups[ListGroup, ListPlace] {
	return ordered.NewGroups[ListGroup](ListPlace.Compare)
}

// add counts n child executions, or items.
func (c *MapRunCounts) add(as counted, n int) {
	if as.full {
		c.FailuresNotRedrivable += n
	}
	switch as.Status {
	case "":
		c.Pending += n
	case StatusPendingRedrive:
		c.PendingRedrive += n
	case StatusSucceeded:
		c.Succeeded += n
	case StatusFailed:
		c.Failed += n
	case StatusTimedOut:
		c.TimedOut += n
	case StatusAborted:
		c.Aborted += n
	default:
		c.Running += n
	}
}

func (x *execution) status() Status {
	switch {
	case x.result.Status == "":
		return StatusRunning
	case x.isPending():
		return StatusPendingRedrive
	default:
		return x.result.Status
	}
}

// isPending tells whether the redrive of a Map Run has not come to a child execution yet.
func (x *execution) isPending() bool {
	r := x.mapRun
	return r != nil && x.over && x.result.Status != StatusSucceeded &&
		r.redriven > 0 && r.status == StatusRunning && x.branch.index >= r.inside.next
}
