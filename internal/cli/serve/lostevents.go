package serve

import (
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// lostEvents tells the log how many events somebody has lost: of the first at once, and of
// others every ten seconds, for a server that is away loses all.
type lostEvents struct {
	log  *serveLog
	text string // of the line: with %s for the events, and %v for the reason

	mu     sync.Mutex
	all    int
	untold int
	why    error
	timer  *time.Timer // nil: the next is told at once
}

// tellLostEvery is how often a line tells of lost events.
const tellLostEvery = 10 * time.Second

func (l *lostEvents) add(events int, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all += events
	l.untold += events
	if l.why = why; l.timer == nil {
		l.tell()
	}
}

// tell logs how many events were lost since it last did. It then waits before it logs
// again. Its caller holds mu.
func (l *lostEvents) tell() {
	l.timer = nil
	if l.untold == 0 {
		return
	}
	l.log.warn(l.text, kit.Plural(l.untold, "event"), l.why)
	l.untold = 0
	l.timer = time.AfterFunc(tellLostEvery, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tell()
	})
}

// count is how many there were.
func (l *lostEvents) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// close tells of the rest.
func (l *lostEvents) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.tell(); l.timer != nil {
		l.timer.Stop()
	}
}
