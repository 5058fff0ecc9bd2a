package catalog

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
)

// WaiterEnd says at which statuses a waiter of AWS's polls on though the thing has failed,
// or has ended in another way, and only a new call gets it to what the waiter waits for.
// The entry's waiter has a failure acceptor for each, behind AWS's own.
type WaiterEnd struct {
	// Path is that of an acceptor of AWS's.
	Path   string   `json:"path"`
	Values []string `json:"values"`
	// Source says which words of AWS's documentation say so.
	Source string `json:"source"`
}

// acceptors are those for the statuses. A path that gives a list is of several things, of
// which one that has failed is enough.
func (e *WaiterEnd) acceptors(w *pollcore.Waiter) []pollcore.Acceptor {
	comparator := pollcore.AnyStringEquals
	for _, a := range w.Acceptors {
		if m := a.Matcher.Output; m != nil && m.Path == e.Path && m.Comparator == pollcore.StringEquals {
			comparator = pollcore.StringEquals
		}
	}
	var added []pollcore.Acceptor
	for _, value := range e.Values {
		added = append(added, pollcore.Acceptor{State: pollcore.Failure, Matcher: pollcore.Matcher{
			Output: &pollcore.PathMatcher{Path: e.Path, Expected: value, Comparator: comparator},
		}})
	}
	return added
}

// addEnds adds the acceptors for statuses that AWS's waiter does not know for ends.
func (e *Entry) addEnds(ends []WaiterEnd) {
	e.Ends = ends
	for i := range ends {
		e.Waiter.Acceptors = append(e.Waiter.Acceptors, ends[i].acceptors(e.Waiter)...)
	}
}

// Published is the waiter as AWS publishes it, without the acceptors for the Ends; a job's
// own waiter.
func (e *Entry) Published() *pollcore.Waiter {
	w := *e.Waiter
	w.Acceptors = slices.Clone(w.Acceptors[:e.published()])
	return &w
}

// published is how many of the waiter's acceptors are AWS's.
func (e *Entry) published() int {
	n := len(e.Waiter.Acceptors)
	for _, end := range e.Ends {
		n -= len(end.Values)
	}
	return n
}

// EndOf is the row that an acceptor comes from; nil for one that AWS published, and for one
// of a job.
func (e *Entry) EndOf(acceptor int) *WaiterEnd {
	at := acceptor - e.published()
	for i := range e.Ends {
		if at < 0 {
			return nil
		}
		if at < len(e.Ends[i].Values) {
			return &e.Ends[i]
		}
		at -= len(e.Ends[i].Values)
	}
	return nil
}
