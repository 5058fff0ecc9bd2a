package kit

import (
	"fmt"
	"strings"
	"time"
)

// seenStatus is a status that a job had, from the poll on that first saw it to the last
// that did.
type seenStatus struct {
	Status       string  `json:"status"`
	AfterSeconds float64 `json:"afterSeconds"`
	UntilSeconds float64 `json:"untilSeconds"`
}

// StatusHistory are the statuses that a job had, in their order.
type StatusHistory []seenStatus

// mostStatuses bounds what is kept of a job whose status goes to and fro: the first
// ones and the last.
const mostStatuses = 100

// Add returns the history with what a poll saw so long after the beginning.
func (h StatusHistory) Add(status string, after time.Duration) StatusHistory {
	last := len(h) - 1
	if status == "" {
		return h
	}
	if last >= 0 && h[last].Status == status {
		h[last].UntilSeconds = after.Seconds()
		return h
	}
	return append(h[:min(len(h), mostStatuses-1)], seenStatus{status, after.Seconds(), after.Seconds()})
}

// Text is the history on one line; empty if the status never changed.
func (h StatusHistory) Text() string {
	if len(h) < 2 { //nolint:mnd // a change
		return ""
	}
	parts := make([]string, len(h))
	for i, s := range h {
		parts[i] = fmt.Sprintf("%s at %s", s.Status, WholeSeconds(time.Duration(s.AfterSeconds*float64(time.Second))))
	}
	return strings.Join(parts, ", ")
}
