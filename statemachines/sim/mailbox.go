package sim

import (
	"sync"
)

// mailbox takes functions from any goroutine for the goroutine of a run.
// Putting one in never blocks, so nobody is left waiting when the run ends.
type mailbox struct {
	filled chan struct{} // holds a token while there may be functions

	mu        sync.Mutex
	functions []func()
}

func newMailbox() *mailbox { return &mailbox{filled: make(chan struct{}, 1)} }

func (m *mailbox) put(f func()) {
	m.mu.Lock()
	m.functions = append(m.functions, f)
	m.mu.Unlock()
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// empty returns the functions in the order in which they were put in.
func (m *mailbox) empty() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.functions
	m.functions = nil
	return out
}
