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
type Subscription struct {
	// C is closed by Close, and when the reader is too slow.
	C <-chan Notice

	c    chan Notice
	hub  *hub
	lost atomic.Bool
}

// Subscribe begins to collect notices: as many as buffer may wait for the reader. A
// reader that lets more wait loses its subscription.
func (s *Server) Subscribe(buffer int) *Subscription { return s.hub.subscribe(buffer) }

// Lost tells whether the reader was too slow.
func (s *Subscription) Lost() bool { return s.lost.Load() }

// Close ends the subscription.
func (s *Subscription) Close() { s.hub.remove(s) }

// hub passes notices on, and waits for nobody.
type hub struct {
	count atomic.Int32 // of the subscriptions: most servers have none

	mu   sync.RWMutex
	subs map[*Subscription]bool
}

func (h *hub) subscribe(buffer int) *Subscription {
	c := make(chan Notice, max(1, buffer))
	s := &Subscription{C: c, c: c, hub: h}
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
	var slow []*Subscription
	h.mu.RLock()
	n := Notice{Execution: x, Event: *e, Status: statuses[e.Type]}
	for s := range h.subs {
		select {
		case s.c <- n:
		default:
			s.lost.Store(true)
			slow = append(slow, s)
		}
	}
	h.mu.RUnlock()
	for _, s := range slow {
		h.remove(s)
	}
}
