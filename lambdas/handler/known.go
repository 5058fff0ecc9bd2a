package handler

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// maxKnown bounds the requests that a warm function keeps. A state machine has one
// or a few, for arguments are not in what a record holds of them.
const maxKnown = 64

// knownRequest is a request of start records, whose waiter is compiled when a poll
// first needs it. It serves several invocations at once.
type knownRequest struct {
	*Request

	judge func() (*pollcore.Check[jobs.Ref, any], error)
}

// knownRequests are the requests that a warm function has read, by the hash of
// their text. The oldest goes when there are too many.
type knownRequests struct {
	mu     sync.Mutex
	byHash map[[sha256.Size]byte]*knownRequest
	order  [maxKnown][sha256.Size]byte
	next   int // in order
}

// load reads the request that RunJob kept in a record.
func (k *knownRequests) load(text json.RawMessage) (*knownRequest, error) {
	hash := sha256.Sum256(text)
	k.mu.Lock()
	known := k.byHash[hash]
	k.mu.Unlock()
	if known != nil {
		return known, nil
	}
	request, err := loadRequest(text)
	if err != nil {
		return nil, err
	}
	known = &knownRequest{request, sync.OnceValues(request.compile)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byHash == nil {
		k.byHash = map[[sha256.Size]byte]*knownRequest{}
	}
	if _, twice := k.byHash[hash]; !twice {
		delete(k.byHash, k.order[k.next])
		k.order[k.next] = hash
		k.next = (k.next + 1) % maxKnown
	}
	k.byHash[hash] = known
	return known, nil
}
