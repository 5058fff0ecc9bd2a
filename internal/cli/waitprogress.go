package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// waitProgress shows a wait while it lasts: one updating line on a terminal,
// else a line a call.
type waitProgress struct {
	out  io.Writer
	name string
	off  bool
	live *liveLine
	// explain says why an error ends the wait.
	explain func(error) string
	start   time.Time

	mu   sync.Mutex
	last pollcore.Attempt
	next time.Time // of the next call
}

func newWaitProgress(out io.Writer, e *catalog.Entry, o waitOptions) *waitProgress {
	p := &waitProgress{
		out: out, name: e.Name, off: o.quiet, start: time.Now(),
		explain: func(err error) string { return endReason(e.Operation.Actions, err) },
		last:    pollcore.Attempt{Total: o.maxWait, Status: pollcore.Running},
	}
	p.next = p.start.Add(o.delays.initial)
	if !p.off && !o.verbose { // else what the SDK logs would break the line
		p.live = newLiveLine(out, func() string {
			p.mu.Lock()
			defer p.mu.Unlock()
			now := time.Now()
			return p.line(now.Sub(p.start), p.next.Sub(now)) + "  " + p.last.Reason
		})
	}
	return p
}

// show follows the polls.
func (p *waitProgress) show(a pollcore.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Reason = withoutSource(a.Reason); a.Acceptor == pollcore.NoAcceptor && a.Err != nil {
		switch _, answered := errors.AsType[smithy.APIError](a.Err); {
		case a.Status == pollcore.Running:
			a.Reason = "retries: " + errorText(a.Err)
		case answered:
			a.Reason = p.explain(a.Err)
		default:
			a.Reason = "" // long, and the result has it
		}
	}
	p.last, p.next = a, time.Now().Add(a.Delay)
	if p.live == nil && !p.off {
		terminal.Fprintf(p.out, "%s\n", strings.TrimRight(p.line(a.Elapsed, a.Delay)+"  "+a.Reason, " "))
	}
}

// line says where the wait stands: name, status, attempt, elapsed of total, next
// call.
func (p *waitProgress) line(elapsed, next time.Duration) string {
	status := string(p.last.Status)
	if p.last.Status == pollcore.Failed && p.last.Acceptor == pollcore.NoAcceptor {
		status = waitError
	}
	line := fmt.Sprintf("%s %-9s", p.name, status)
	if p.last.Number > 0 {
		line += fmt.Sprintf(" attempt %d ", p.last.Number)
	}
	line += fmt.Sprintf(" %s/%s", elapsed.Round(time.Second), shortDuration(p.last.Total))
	if next >= time.Second/2 {
		line += "  next " + next.Round(time.Second).String()
	}
	return line
}

func (p *waitProgress) close() { p.live.close() }
