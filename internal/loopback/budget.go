package loopback

import (
	"io"
	"slices"
	"sync"
)

// Budget bounds the bytes of bodies that are held before it is known who sends them. If
// it is used up, the oldest body is dropped for the next one: a client that sends its body
// slowly cannot keep others out.
type Budget struct {
	mu     sync.Mutex
	left   int64
	bodies []*heldBody // the oldest first
}

// NewBudget returns a Budget of one body of the largest size.
func NewBudget() *Budget { return &Budget{left: MaxBody + bodyPiece} }

// hold begins to hold a body.
func (b *Budget) hold(body io.Reader) *heldBody {
	h := &heldBody{budget: b}
	h.body, _ = body.(*timedBody)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bodies = append(b.bodies, h)
	return h
}

// heldBody is a body of a Budget.
type heldBody struct {
	budget *Budget
	body   *timedBody // nil for none
	bytes  int64
	gone   bool
}

// grow makes room for more bytes. It tells whether the body is still held.
func (h *heldBody) grow(bytes int64) bool {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	for !h.gone && b.left < bytes {
		oldest := b.bodies[0]
		oldest.drop()
		if oldest.body != nil {
			oldest.body.cut()
		}
	}
	if h.gone {
		return false
	}
	b.left -= bytes
	h.bytes += bytes
	return true
}

// isCut tells whether the body was dropped for others.
func (h *heldBody) isCut() bool {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	return h.gone
}

// release gives the bytes back.
func (h *heldBody) release() {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.drop()
}

func (h *heldBody) drop() {
	if h.gone {
		return
	}
	h.gone = true
	h.budget.left += h.bytes
	h.budget.bodies = slices.DeleteFunc(h.budget.bodies, func(other *heldBody) bool { return other == h })
}
