package runtimeapi

import (
	"crypto/rand"
	"fmt"
	"time"
)

// invocation is one event on its way through a sandbox.
type invocation struct {
	id      string
	payload []byte
	limit   time.Duration
	// done is closed when the process, having answered, asks for its next
	// event: only then is the sandbox free.
	done chan struct{}
	// answer is what the process posted; guarded by the sandbox's mutex.
	answer *answer
}

// answer is a response, or the failure that stands for one.
type answer struct {
	body    []byte
	failure *FunctionError
}

func newInvocation(payload []byte, limit time.Duration) *invocation {
	return &invocation{id: newRequestID(), payload: payload, limit: limit, done: make(chan struct{})}
}

// newRequestID returns a random UUID (RFC 9562, version 4).
func newRequestID() string {
	b := randomBytes(16)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newTraceID returns an X-Ray tracing header of a request that is not sampled.
func newTraceID(now time.Time) string {
	return fmt.Sprintf("Root=1-%08x-%x;Parent=%x;Sampled=0", now.Unix(), randomBytes(12), randomBytes(8))
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, by its documentation
	return b
}
