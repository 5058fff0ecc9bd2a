package control

import "sync"

// mostReferences is how many events the stream of all executions can go back.
const mostReferences = 10_000

// reference names an event of a history. The event itself stays where it is. One without
// an execution stands for so many events that the Ring was not told of.
type reference struct {
	execution string // ARN
	id        int64
}

// Ring knows the last events of all executions, each by a number that counts them. Its
// readers have a place in it and no queue, so a slow one costs nothing.
type Ring struct {
	closed chan struct{}
	close  sync.Once

	mu      sync.Mutex
	last    int64 // number of the newest; the first is 1
	refs    [mostReferences]reference
	wake    chan struct{} // closed at the next event; nil if nobody waits
	readers int
}

// NewRing returns an empty Ring.
func NewRing() *Ring { return &Ring{closed: make(chan struct{})} }

// Close ends the streams.
func (r *Ring) Close() { r.close.Do(func() { close(r.closed) }) }

// Add adds an event of an execution.
func (r *Ring) Add(execution string, id int64) { r.add(reference{execution, id}) }

// Lose adds a gap of n events, of which the streams tell.
func (r *Ring) Lose(n int64) { r.add(reference{id: n}) }

func (r *Ring) add(added reference) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.refs[r.last%mostReferences] = added
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// after returns at most n events that follow a number, and the number of the first of
// them. It is larger by more than one where events in between are forgotten.
func (r *Ring) after(number int64, n int) (first int64, found []reference) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = max(min(number, r.last)+1, r.last-mostReferences+1)
	for i := first; i <= r.last && len(found) < n; i++ {
		found = append(found, r.refs[i%mostReferences])
	}
	return first, found
}

// newest is the number of the newest event, and a channel that is closed at the next.
func (r *Ring) newest() (int64, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		r.wake = make(chan struct{})
	}
	return r.last, r.wake
}

// enter counts a reader, if there may be one more.
func (r *Ring) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readers >= mostStreams {
		return false
	}
	r.readers++
	return true
}

func (r *Ring) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers--
}
