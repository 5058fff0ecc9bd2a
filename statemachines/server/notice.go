package server

import (
	"sync"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Notice is something that has happened to an execution.
type Notice struct {
	Execution *sim.Execution
	Event     sim.Event
	// Status is the new status of the execution, where the event has changed it.
	Status sim.Status
}

// statuses are the events that change the status of an execution.
var statuses = map[sim.EventType]sim.Status{
	sim.ExecutionStarted:   sim.StatusRunning,
	sim.ExecutionRedriven:  sim.StatusRunning,
	sim.ExecutionSucceeded: sim.StatusSucceeded,
	sim.ExecutionFailed:    sim.StatusFailed,
	sim.ExecutionTimedOut:  sim.StatusTimedOut,
	sim.ExecutionAborted:   sim.StatusAborted,
}

// Subscription gives the notices of all executions, those of one execution in order.
// What a notice tells is stored before: every operation of the server knows of it.
type Subscription struct {
	// C is closed by Close. Its notices are those of other subscriptions, too: read them only.
	C <-chan *Notice

	c     chan *Notice
	hub   *hub
	wants func(*Notice) bool
	lost  atomic.Int64
}

// Subscribe begins to collect the notices that wants chooses; all, if it is nil. The
// execution is locked while wants looks, as in sim.WorldOptions.OnEvent. As many notices
// as buffer wait for the reader. One that lets more wait loses them, and Lost counts them.
func (s *Server) Subscribe(buffer int, wants func(*Notice) bool) *Subscription {
	return s.hub.subscribe(buffer, wants)
}

// Lost returns how many notices were lost since it was called last. A reader that calls it
// behind each notice misses none.
func (s *Subscription) Lost() int { return int(s.lost.Swap(0)) }

// Close ends the subscription.
func (s *Subscription) Close() { s.hub.remove(s) }

// hub passes notices on, and waits for nobody.
type hub struct {
	count atomic.Int32 // of the subscriptions: most servers have none

	mu   sync.RWMutex
	subs map[*Subscription]bool
}

func (h *hub) subscribe(buffer int, wants func(*Notice) bool) *Subscription {
	c := make(chan *Notice, max(1, buffer))
	s := &Subscription{C: c, c: c, hub: h, wants: wants}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = map[*Subscription]bool{}
	}
	h.subs[s] = true
	h.count.Add(1)
	return s
}

func (h *hub) remove(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs[s] {
		delete(h.subs, s)
		h.count.Add(-1)
		close(s.c)
	}
}

// tell passes on an event of an execution.
func (h *hub) tell(x *sim.Execution, e *sim.Event) {
	if h.count.Load() == 0 {
		return
	}
	n := &Notice{Execution: x, Event: *e, Status: statuses[e.Type]}
	h.mu.RLock()
	defer h.mu.RUnlock()
	for s := range h.subs {
		if s.wants != nil && !s.wants(n) {
			continue
		}
		select {
		case s.c <- n:
		default:
			s.lost.Add(1)
		}
	}
}
