package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// The statuses of a wait besides those of pollcore. Neither says anything of the
// job.
const (
	waitError       = "ERROR"       // an error that no acceptor matches
	waitInterrupted = "INTERRUPTED" // by the user
)

// waitReport is what a wait comes to. Its JSON members are a contract: see
// docs/reference/json.md.
type waitReport struct {
	Status         string     `json:"status"`
	Service        string     `json:"service"`
	Name           string     `json:"name"`
	Operation      string     `json:"operation"`
	Acceptor       int        `json:"acceptor,omitempty"` // from 1
	Acceptors      int        `json:"acceptors"`
	Seen           any        `json:"seen,omitempty"`
	Message        string     `json:"message,omitempty"`
	Reason         string     `json:"reason,omitempty"`
	Error          *callError `json:"error,omitempty"`
	Output         any        `json:"output,omitempty"`
	Attempts       int        `json:"attempts"`
	Exhausted      bool       `json:"exhausted,omitempty"`
	ElapsedSeconds float64    `json:"elapsedSeconds"`
	TimeoutSeconds float64    `json:"timeoutSeconds"`
	Notes          []string   `json:"notes,omitempty"`
}

// callError is the error of the last call.
type callError struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

func newCallError(err error) *callError {
	if coded, ok := errors.AsType[smithy.APIError](err); ok {
		return &callError{coded.ErrorCode(), coded.ErrorMessage()}
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return &callError{Message: fmt.Sprintf("no answer from %s: %s", sent.URL, sent.Err)}
	}
	return &callError{Message: err.Error()}
}

// errorText is an error without what the SDK says of the call: of a service's
// error its name and message.
func errorText(err error) string {
	e := newCallError(err)
	if e.Code == "" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// unmatched is the reason of a wait that an error ends.
func unmatched(err error) string { return "no acceptor matches the error: " + errorText(err) }

func newWaitReport(e *catalog.Entry, o waitOptions, outcome pollcore.Outcome[any], err error) waitReport {
	r := waitReport{
		Status: string(outcome.Status), Service: e.Service.Key, Name: e.Name, Operation: e.Operation.Name,
		Acceptor: outcome.Acceptor + 1, Acceptors: len(e.Waiter.Acceptors), Seen: outcome.Seen, Message: outcome.Message,
		Reason: withoutSource(outcome.Reason), Output: outcome.Output, Attempts: outcome.Attempts,
		ElapsedSeconds: outcome.Elapsed.Seconds(), TimeoutSeconds: o.timeout.Seconds(), Notes: texts(outcome.Notes),
	}
	if outcome.OpErr != nil {
		r.Error = newCallError(outcome.OpErr)
		if outcome.Acceptor == pollcore.NoAcceptor {
			r.Reason = unmatched(outcome.OpErr)
		}
	}
	switch {
	case errors.Is(err, pollcore.ErrCanceled):
		r.Status = waitInterrupted
	case errors.Is(err, pollcore.ErrFailed) && outcome.Acceptor == pollcore.NoAcceptor:
		r.Status = waitError
	case errors.Is(err, pollcore.ErrTooManyAttempts):
		r.Exhausted = true
	}
	return r
}

func (r *waitReport) exitCode() int {
	switch r.Status {
	case string(pollcore.Succeeded):
		return exitSucceeded
	case string(pollcore.TimedOut):
		return exitTimedOut
	case waitError:
		return exitUnknown
	case waitInterrupted:
		return exitInterrupted
	default:
		return exitFailed
	}
}

func (r *waitReport) text(verbose bool) string {
	var b strings.Builder
	elapsed := time.Duration(r.ElapsedSeconds * float64(time.Second)).Round(100 * time.Millisecond)
	terminal.Fprintf(&b, "%s after %s and %s\n", r.Status, elapsed, plural(r.Attempts, "call"))
	row := func(name, text string) {
		if text != "" {
			terminal.Fprintf(&b, "  %-9s %s\n", name, text)
		}
	}
	reason := r.Reason
	if r.Status == waitInterrupted || r.Status == string(pollcore.TimedOut) {
		row("last seen", reason)
		reason = ""
	}
	row("reason", reason)
	if r.Exhausted {
		row("gave up", "--max-attempts calls were made")
	}
	for _, note := range r.Notes {
		row("note", note)
	}
	if text, err := json.Marshal(r.Output); verbose && r.Output != nil && err == nil {
		row("output", string(text))
	}
	return b.String()
}
