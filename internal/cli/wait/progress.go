package wait

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// waitProgress shows a wait while it lasts, and keeps the statuses of the job.
type waitProgress struct {
	live   *kit.Live
	reader kit.JobReader
	// explain says why an error ends the wait.
	explain  func(error) string
	start    time.Time
	schedule pollcore.Schedule // with its jitter drawn

	mu       sync.Mutex
	now      kit.Standing
	next     time.Time // of the next call
	statuses kit.StatusHistory
}

func newWaitProgress(out io.Writer, e *catalog.Entry, o waitOptions) *waitProgress {
	p := &waitProgress{
		reader: kit.NewJobReader(e), start: time.Now(),
		explain: func(err error) string { return kit.EndReason(e.Operation.Actions, err) },
		now:     kit.Standing{Status: string(pollcore.Running), Limit: o.maxWait},
	}
	p.schedule = o.schedule(e).Begin()
	p.next = p.start.Add(p.schedule.First())
	if !o.quiet {
		p.live = kit.NewLive(out, o.verbose, p.standing) // what the SDK logs would break the line
	}
	return p
}

// standing is where the wait stands now.
func (p *waitProgress) standing() kit.Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	s := p.now
	s.Elapsed, s.Next = now.Sub(p.start), max(0, p.next.Sub(now))
	return s
}

// show follows the polls.
func (p *waitProgress) show(a pollcore.Attempt) {
	p.mu.Lock()
	p.next = time.Now().Add(a.Delay)
	p.now.Status, p.now.Polls, p.now.Elapsed, p.now.Next = string(a.Status), a.Number, a.Elapsed, a.Delay
	p.now.Seen, p.now.Message = p.read(a)
	if a.Status == pollcore.Failed && a.Acceptor == pollcore.NoAcceptor {
		p.now.Status = waitError
	}
	if a.Err == nil {
		p.statuses = p.statuses.Add(p.now.Seen, a.Elapsed)
	}
	s := p.now
	p.mu.Unlock()
	p.live.Show(s)
}

// read says what a poll saw, and what the job or the waiter says of it.
func (p *waitProgress) read(a pollcore.Attempt) (seen, message string) {
	if a.Err == nil {
		if seen, message = p.reader.Read(a.Output); seen == "" {
			seen = kit.WithoutSource(a.Reason)
		}
		return seen, message
	}
	if a.Acceptor != pollcore.NoAcceptor {
		return kit.WithoutSource(a.Reason), kit.NewCallError(a.Err).Says()
	}
	switch _, answered := errors.AsType[smithy.APIError](a.Err); {
	case a.Status == pollcore.Running:
		e := kit.NewCallError(a.Err)
		return e.Code, "retries: " + cmp.Or(e.Message, e.Code)
	case answered:
		return "", p.explain(a.Err)
	default:
		return "", "" // long, and the result has it
	}
}

func (p *waitProgress) close() { p.live.Close() }
