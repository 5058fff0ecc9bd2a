package cli

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// waitProgress shows a wait while it lasts, and keeps the statuses of the job.
type waitProgress struct {
	live   *live
	reader jobReader
	// explain says why an error ends the wait.
	explain  func(error) string
	start    time.Time
	schedule pollcore.Schedule // with its jitter drawn

	mu       sync.Mutex
	now      standing
	next     time.Time // of the next call
	statuses statusHistory
}

func newWaitProgress(out io.Writer, e *catalog.Entry, o waitOptions) *waitProgress {
	p := &waitProgress{
		reader: newJobReader(e), start: time.Now(),
		explain: func(err error) string { return endReason(e.Operation.Actions, err) },
		now:     standing{status: string(pollcore.Running), limit: o.maxWait},
	}
	p.schedule = o.schedule(e).Begin()
	p.next = p.start.Add(p.schedule.First())
	if !o.quiet {
		p.live = newLive(out, o.verbose, p.standing) // what the SDK logs would break the line
	}
	return p
}

// standing is where the wait stands now.
func (p *waitProgress) standing() standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	s := p.now
	s.elapsed, s.next = now.Sub(p.start), max(0, p.next.Sub(now))
	return s
}

// show follows the polls.
func (p *waitProgress) show(a pollcore.Attempt) {
	p.mu.Lock()
	p.next = time.Now().Add(a.Delay)
	p.now.status, p.now.polls, p.now.elapsed, p.now.next = string(a.Status), a.Number, a.Elapsed, a.Delay
	p.now.seen, p.now.message = p.read(a)
	if a.Status == pollcore.Failed && a.Acceptor == pollcore.NoAcceptor {
		p.now.status = waitError
	}
	if a.Err == nil {
		p.statuses = p.statuses.add(p.now.seen, a.Elapsed)
	}
	s := p.now
	p.mu.Unlock()
	p.live.show(s)
}

// read says what a poll saw, and what the job or the waiter says of it.
func (p *waitProgress) read(a pollcore.Attempt) (seen, message string) {
	if a.Err == nil {
		if seen, message = p.reader.read(a.Output); seen == "" {
			seen = withoutSource(a.Reason)
		}
		return seen, message
	}
	if a.Acceptor != pollcore.NoAcceptor {
		return withoutSource(a.Reason), newCallError(a.Err).says()
	}
	switch _, answered := errors.AsType[smithy.APIError](a.Err); {
	case a.Status == pollcore.Running:
		e := newCallError(a.Err)
		return e.Code, "retries: " + cmp.Or(e.Message, e.Code)
	case answered:
		return "", p.explain(a.Err)
	default:
		return "", "" // long, and the result has it
	}
}

func (p *waitProgress) close() { p.live.close() }
