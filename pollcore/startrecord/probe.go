package startrecord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// probeKey is the key of the record that probes write: no execution has its
// ARN. Each version of the JSON form has its own, since an older program could
// not read a newer one's.
var probeKey = Key{
	ExecutionARN: "arn:aws:states:probe:000000000000:execution:jobpoller:probe",
	Poller:       "probe", Scope: strconv.Itoa(Version),
}

// ProbeKey is the key of the record that probes write: a list of records leaves it out.
func ProbeKey() Key { return probeKey }

// Probe finds out whether a store keeps its conditions: it creates one record
// twice, and replaces it under a wrong version. A store that
// takes either would let two functions start one job, as servers do that speak
// S3 but ignore If-None-Match or If-Match. The error is then ErrConfiguration
// and names what is ignored, else what the store returned.
func Probe(ctx context.Context, store Store) error {
	return ProbeUnder(ctx, store, probeKey, time.Time{})
}

// ProbeUnder is Probe with a record of a key that no other probe uses at the time, so that
// the caller can remove it. Where records expire, it does at the time that is given.
func ProbeUnder(ctx context.Context, store Store, key Key, expires time.Time) error {
	began := time.Unix(0, 0).UTC()
	rec := Record{Status: StatusUnknown, ExecutionStartTime: began, StartedAt: began, ExpiresAt: expires}
	if _, err := store.Create(ctx, key, rec); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	switch _, err := store.Create(ctx, key, rec); {
	case err == nil:
		return fmt.Errorf("%w: %s was created twice: the store ignores the condition of a write (If-None-Match), "+
			"so two functions could start one job; use a store that keeps it", ErrConfiguration, store.Location(key))
	case !errors.Is(err, ErrExists):
		return err
	}
	switch _, err := store.Replace(ctx, key, rec, noVersion); {
	case err == nil:
		return fmt.Errorf("%w: %s was replaced under a version that it did not have: the store ignores the condition of a write (If-Match), "+
			"so two functions could take over one job; use a store that keeps it", ErrConfiguration, store.Location(key))
	case !errors.Is(err, ErrChanged):
		return err
	}
	return nil
}

// ProbeIndex finds out whether a store makes transactions, after ProbeUnder with the key.
// Its transaction is one that the store refuses because of the record's version, so it
// writes nothing. A store that takes it ignores the condition: the error is then
// ErrConfiguration.
func ProbeIndex(ctx context.Context, store Indexed, key Key) error {
	began := time.Unix(0, 0).UTC()
	rec := Record{Status: StatusUnknown, ExecutionStartTime: began, StartedAt: began, Callback: Callback{JobIDs: []string{key.Path()}}}
	switch _, err := store.ReplaceIndexed(ctx, key, rec, noVersion); {
	case err == nil:
		return fmt.Errorf("%w: %s was replaced in a transaction under a version that it did not have: the store ignores the condition of a write; "+
			"use a store that keeps it", ErrConfiguration, store.Location(key))
	case !errors.Is(err, ErrChanged):
		return err
	}
	return nil
}

// noVersion is a version that no record has.
const noVersion = `"no such version"`

// ProbeFirst returns the store with a probe before its first write. Until a probe
// has succeeded each write makes one, so that a function recovers from an outage
// or from a permission that was given late; then none is made any more. It is
// for stores behind an endpoint of one's own. The store is Indexed if the one that is
// given is.
func ProbeFirst(store Store) Store {
	p := &probed{Store: store, turn: make(chan struct{}, 1)}
	if index, ok := store.(Indexed); ok {
		return &probedIndex{p, index}
	}
	return p
}

// WithoutProbe returns the store that ProbeFirst was given, and any other as it is.
func WithoutProbe(store Store) Store {
	switch p := store.(type) {
	case *probed:
		return p.Store
	case *probedIndex:
		return p.Store
	default:
		return store
	}
}

type probed struct {
	Store

	passed atomic.Bool
	turn   chan struct{} // held by who probes
}

func (p *probed) Create(ctx context.Context, key Key, rec Record) (Stored, error) {
	if err := p.probe(ctx, key); err != nil {
		return Stored{}, err
	}
	return p.Store.Create(ctx, key, rec)
}

func (p *probed) Replace(ctx context.Context, key Key, rec Record, version string) (Stored, error) {
	if err := p.probe(ctx, key); err != nil {
		return Stored{}, err
	}
	return p.Store.Replace(ctx, key, rec, version)
}

func (p *probed) probe(ctx context.Context, key Key) error {
	if p.passed.Load() {
		return nil
	}
	if err := key.Validate(); err != nil {
		return err
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %s: waiting for the probe of the store: %w", ErrUnavailable, p.Location(key), ctx.Err())
	}
	defer func() { <-p.turn }()
	if p.passed.Load() { // while this waited
		return nil
	}
	err := Probe(ctx, p.Store)
	p.passed.Store(err == nil)
	return err
}

// probedIndex is a probed store that is Indexed.
type probedIndex struct {
	*probed

	index Indexed
}

func (p *probedIndex) ReplaceIndexed(ctx context.Context, key Key, rec Record, version string) (Stored, error) {
	if err := p.probe(ctx, key); err != nil {
		return Stored{}, err
	}
	return p.index.ReplaceIndexed(ctx, key, rec, version)
}

func (p *probedIndex) Find(ctx context.Context, jobID string) (Key, error) {
	return p.index.Find(ctx, jobID)
}
