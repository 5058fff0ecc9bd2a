package handler

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Result is what both handlers return.
type Result struct {
	Status pollcore.Status `json:"status"`
	// WaitSeconds is the wait before the next check, for a Wait state's
	// SecondsPath; 0 once the job has ended.
	WaitSeconds int `json:"waitSeconds"`
	// Attempt counts the checks, from 1; absent where the event cannot say.
	Attempt int `json:"attempt,omitempty"`
	// StartedAt is when RunJob was about to start the job.
	StartedAt      time.Time `json:"startedAt"`
	ElapsedSeconds int       `json:"elapsedSeconds"`
	// LateSeconds is the time from the job's end to the describe call that saw it, nil
	// if the service does not say when the job ended.
	LateSeconds *int     `json:"lateSeconds,omitempty"`
	Job         jobs.Ref `json:"job"`
	// Output is what the describe call returned, in the form of a Step
	// Functions SDK integration's result.
	Output any `json:"output,omitempty"`
	// Reason says in words why the status is what it is.
	Reason string `json:"reason"`

	logged logged
}

// remark adds words of ours to the reason, and to that in the log.
func (r *Result) remark(text string) {
	r.Reason += text
	r.logged.cause += text
}

// logged is what the log says of a result besides.
type logged struct {
	job   string // its name
	cause string // see check.cause
	// replayed is set where the record had the start or the end already.
	replayed bool
	// unrecorded is set where no record keeps the end: the call for it was refused. Who
	// passes it on counts it.
	unrecorded bool
}

// maxReason bounds a reason in bytes. A reason quotes what the service
// returned, and the whole result must fit into a state's 256 KiB.
const maxReason = 4096

// maxMessage bounds the message of an error in bytes. Step Functions
// makes a cause of at most 32,768 characters.
const maxMessage = 16 * 1024

// cut shortens a text to a limit in bytes, at the border of a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "... (cut)"
}

// seconds rounds up, so that a wait never ends before its time.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// limitOutput cuts an output whose JSON is larger than limit to the fields
// that the waiter reads, and returns a remark that says so.
func limitOutput(output any, w *pollcore.Waiter, limit int) (kept any, remark string, err error) {
	text, err := json.Marshal(output)
	if err != nil {
		return nil, "", fmt.Errorf("output of the describe call: %w", err)
	}
	if len(text) <= limit {
		return output, "", nil
	}
	kept = w.Prune(output)
	if text, err := json.Marshal(kept); err != nil || len(text) > limit {
		kept = nil
	}
	return kept, fmt.Sprintf("; the output has %d bytes, so only the members that the waiter reads are kept", len(text)), nil
}
