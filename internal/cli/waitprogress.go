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
)

// waitProgress shows a wait while it lasts: one updating line on a terminal,
// else a line a call.
type waitProgress struct {
	out   io.Writer
	name  string
	off   bool
	live  *liveLine
	start time.Time

	mu   sync.Mutex
	last pollcore.Attempt
	next time.Time // of the next call
}

func newWaitProgress(out io.Writer, name string, o waitOptions) *waitProgress {
	p := &waitProgress{
		out: out, name: name, off: o.quiet, start: time.Now(),
		last: pollcore.Attempt{Total: o.timeout, Status: pollcore.Running},
	}
	p.next = p.start.Add(o.initialDelay)
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

// attempted follows the calls.
func (p *waitProgress) attempted(a pollcore.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Reason = withoutSource(a.Reason); a.Acceptor == pollcore.NoAcceptor && a.Err != nil {
		switch _, answered := errors.AsType[smithy.APIError](a.Err); {
		case a.Status == pollcore.Running:
			a.Reason = "waits it out: " + errorText(a.Err)
		case answered:
			a.Reason = unmatched(a.Err)
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
	line += fmt.Sprintf(" %s/%s", elapsed.Round(time.Second), p.last.Total)
	if next >= time.Second/2 {
		line += "  next " + next.Round(time.Second).String()
	}
	return line
}

func (p *waitProgress) close() { p.live.close() }
