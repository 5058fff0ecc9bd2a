package cli

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// progress shows a run while it lasts: one updating line on a terminal, else a
// line a poll.
type progress struct {
	out   io.Writer
	clock *sim.Clock
	limit time.Duration // the request's, 0 if not known
	off   bool
	live  *liveLine // on a terminal

	mu      sync.Mutex
	state   string
	attempt int
	status  string
	start   time.Time
	next    time.Time // of the next poll
}

func newProgress(out io.Writer, o runOptions, clock *sim.Clock, limit time.Duration) *progress {
	p := &progress{out: out, clock: clock, limit: limit, off: o.quiet || o.virtual, start: clock.Now()}
	if !o.verbose && !p.off {
		p.live = newLiveLine(out, func() string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.line()
		})
	}
	return p
}

// event follows which state the execution is in.
func (p *progress) event(e sim.Event) {
	if e.Details.Name == "" || e.Details.Input == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = e.Details.Name
}

// record follows what the two functions return.
func (p *progress) record(function string, result handler.Result, err error) {
	if p.off {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if function == statemachines.CheckStatusFunction {
		p.attempt++
	}
	p.status = string(result.Status)
	reason := result.Reason
	if failure, ok := errors.AsType[*sim.FunctionError](err); ok {
		p.status, reason = failure.Type, failure.Message
	} else if err != nil {
		p.status, reason = "error", err.Error()
	}
	p.next = p.clock.Now().Add(time.Duration(result.WaitSeconds) * time.Second)
	if p.live == nil {
		terminal.Fprintf(p.out, "%s  %s\n", p.line(), reason)
	}
}

// line says where the run stands: state, status, attempt, elapsed of limit,
// next poll.
func (p *progress) line() string {
	now := p.clock.Now()
	elapsed := now.Sub(p.start).Round(time.Second).String()
	if p.limit > 0 {
		elapsed += "/" + p.limit.String()
	}
	line := fmt.Sprintf("%-12s %-9s", p.state, p.status)
	if p.attempt > 0 {
		line += fmt.Sprintf(" attempt %d ", p.attempt)
	}
	line += " " + elapsed
	if wait := p.next.Sub(now); wait >= time.Second/2 {
		line += "  next " + wait.Round(time.Second).String()
	}
	return line
}

// close ends the display.
func (p *progress) close() { p.live.close() }
