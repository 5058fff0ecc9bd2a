package startrecord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// probeKey is the key of the record that probes write. No execution has its ARN.
var probeKey = Key{ExecutionARN: "arn:aws:states:probe:000000000000:execution:jobpoller:probe", Poller: "probe"}

// Probe finds out whether a store keeps its conditions: it creates one record
// twice, and replaces it under a version that it does not have. A store that
// takes either would let two functions start one job, as servers do that speak
// S3 but ignore If-None-Match or If-Match. The error is then ErrConfiguration,
// else what the store returned.
func Probe(ctx context.Context, store Store) error {
	rec := Record{Status: StatusUnknown, StartedAt: time.Unix(0, 0).UTC()}
	if _, err := store.Create(ctx, probeKey, rec); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	switch _, err := store.Create(ctx, probeKey, rec); {
	case err == nil:
		return fmt.Errorf("%w: %s was created twice: the store ignores the condition of a write (If-None-Match), "+
			"so two functions could start one job; use a store that keeps it", ErrConfiguration, store.Location(probeKey))
	case !errors.Is(err, ErrExists):
		return err
	}
	switch _, err := store.Replace(ctx, probeKey, rec, "no such version"); {
	case err == nil:
		return fmt.Errorf("%w: %s was replaced under a version that it did not have: the store ignores the condition of a write (If-Match), "+
			"so a function could undo another's work; use a store that keeps it", ErrConfiguration, store.Location(probeKey))
	case !errors.Is(err, ErrChanged):
		return err
	}
	return nil
}

// Probed returns the store with a probe before its first Create. A probe that
// gets no answer is repeated before the next; one that failed for good fails
// every Create. It is for stores behind an endpoint of one's own.
func Probed(store Store) Store { return &probed{Store: store} }

type probed struct {
	Store

	mu     sync.Mutex
	done   bool
	result error
}

func (p *probed) Create(ctx context.Context, key Key, rec Record) (Stored, error) {
	if err := p.probe(ctx); err != nil {
		return Stored{}, err
	}
	return p.Store.Create(ctx, key, rec)
}

func (p *probed) probe(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return p.result
	}
	err := Probe(ctx, p.Store)
	if err == nil || errors.Is(err, ErrConfiguration) {
		p.done, p.result = true, err
	}
	return err
}
