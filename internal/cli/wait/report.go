package wait

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// The statuses of a wait besides those of pollcore. Neither says whether the job
// has ended.
const (
	waitError       = "ERROR"       // a call failed with an error that the waiter does not expect
	waitInterrupted = "INTERRUPTED" // by the user
)

// waitReport is what a wait comes to. Its JSON members are a contract: see
// docs/reference/json.md.
type waitReport struct {
	Status         string            `json:"status"`
	Service        string            `json:"service"`
	Name           string            `json:"name"`
	ID             string            `json:"id,omitempty"`
	Operation      string            `json:"operation"`
	Acceptor       int               `json:"acceptor,omitempty"` // from 1
	Acceptors      int               `json:"acceptors"`
	Seen           any               `json:"seen,omitempty"`
	Message        string            `json:"message,omitempty"`
	Reason         string            `json:"reason,omitempty"`
	Error          *kit.CallError    `json:"error,omitempty"`
	Output         any               `json:"output,omitempty"`
	Attempts       int               `json:"attempts"`
	Statuses       kit.StatusHistory `json:"statuses,omitempty"`
	Exhausted      bool              `json:"exhausted,omitempty"`
	ElapsedSeconds float64           `json:"elapsedSeconds"`
	MaxWaitSeconds float64           `json:"maxWaitSeconds"`
	Notes          []string          `json:"notes,omitempty"`
}

func newWaitReport(e *catalog.Entry, o waitOptions, p *waitProgress, outcome pollcore.Outcome[any], err error) waitReport {
	r := waitReport{
		Status: string(outcome.Status), Service: e.Service.Key, Name: e.Name, Operation: e.Operation.Name,
		Acceptor: outcome.Acceptor + 1, Acceptors: len(e.Waiter.Acceptors), Seen: outcome.Seen, Message: outcome.Message,
		Reason: kit.WithoutSource(outcome.Reason), Output: outcome.Output, Attempts: outcome.Attempts, Statuses: p.statuses,
		ElapsedSeconds: outcome.Elapsed.Seconds(), MaxWaitSeconds: o.maxWait.Seconds(), Notes: kit.Texts(outcome.Notes),
	}
	unexpected := outcome.OpErr != nil && outcome.Acceptor == pollcore.NoAcceptor
	if outcome.OpErr != nil {
		r.Error = kit.NewCallError(outcome.OpErr)
	}
	if unexpected {
		r.Reason = kit.ErrorText(outcome.OpErr)
	} else if outcome.Acceptor != pollcore.NoAcceptor {
		r.Reason = p.reader.Explain(r.Reason, outcome.Verdict, outcome.Output, outcome.OpErr)
	}
	switch {
	case errors.Is(err, pollcore.ErrCanceled):
		r.Status = waitInterrupted
	case errors.Is(err, pollcore.ErrFailed) && unexpected:
		r.Status, r.Reason = waitError, kit.EndReason(e.Operation.Actions, outcome.OpErr)
	case errors.Is(err, pollcore.ErrTooManyAttempts):
		r.Exhausted = true
	}
	return r
}

func (r *waitReport) exitCode() int {
	switch r.Status {
	case string(pollcore.Succeeded):
		return kit.ExitSucceeded
	case string(pollcore.TimedOut):
		return kit.ExitTimedOut
	case waitError:
		return kit.ExitUnknown
	case waitInterrupted:
		return kit.ExitInterrupted
	default:
		return kit.ExitFailed
	}
}

func (r *waitReport) text(c terminal.Colours, verbose bool) string {
	var b strings.Builder
	elapsed := time.Duration(r.ElapsedSeconds * float64(time.Second)).Round(100 * time.Millisecond)
	terminal.Fprintf(&b, "%s after %s and %s\n", c.Paint(kit.StyleOf(r.Status), r.Status), elapsed, kit.Plural(r.Attempts, "poll"))
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
		row("gave up", "after --max-attempts polls")
	}
	row("statuses", r.Statuses.Text())
	for _, note := range r.Notes {
		row("note", note)
	}
	if text, err := json.Marshal(r.Output); verbose && r.Output != nil && err == nil {
		row("output", string(text))
	}
	return b.String()
}
