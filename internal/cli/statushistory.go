package cli

import (
	"fmt"
	"strings"
	"time"
)

// seenStatus is a status that a job had, from the poll on that first saw it.
type seenStatus struct {
	Status       string  `json:"status"`
	AfterSeconds float64 `json:"afterSeconds"`
}

// statusHistory are the statuses that a job had, in their order.
type statusHistory []seenStatus

// mostStatuses bounds what is kept of a job whose status goes to and fro: the first
// ones and the last.
const mostStatuses = 100

// add returns the history with what a poll saw so long after the beginning.
func (h statusHistory) add(status string, after time.Duration) statusHistory {
	last := len(h) - 1
	if status == "" || last >= 0 && h[last].Status == status {
		return h
	}
	return append(h[:min(len(h), mostStatuses-1)], seenStatus{status, after.Seconds()})
}

// text is the history on one line; empty if the status never changed.
func (h statusHistory) text() string {
	if len(h) < 2 { //nolint:mnd // a change
		return ""
	}
	parts := make([]string, len(h))
	for i, s := range h {
		parts[i] = fmt.Sprintf("%s at %s", s.Status, wholeSeconds(time.Duration(s.AfterSeconds*float64(time.Second))))
	}
	return strings.Join(parts, ", ")
}
