package startrecord

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Migrate returns a store that keeps new records in to and finds older ones in from,
// where they stay until they expire. It is for functions whose store was changed
// while executions run.
//
// Functions of before may still run, which know from alone. So that they start
// nothing that a function of today has started, Create claims the key in from, too:
// with a record that they take for a start in progress. At most one start holds
// between functions of both, unless the name of an execution is used again while
// functions of before still run.
//
// The store is Indexed if to is. A record that is in from is found by its job only if
// from is Indexed, too.
func Migrate(to, from Store) Store {
	m := &moved{to: to, from: from}
	if index, ok := to.(Indexed); ok {
		return &movedIndex{m, index}
	}
	return m
}

type moved struct{ to, from Store }

// The versions of a moved store say which of the two a record is in.
const (
	inTo   = "to:"
	inFrom = "from:"
)

// claimLease is the lease of a claim in the store of before. No program takes over a
// record whose lease goes on.
const claimLease = math.MaxInt32

// Create implements Store. The claim comes first: a function of before that is about
// to create its record then finds the claim, and one that has created it is found.
func (m *moved) Create(ctx context.Context, key Key, rec Record) (Stored, error) {
	claim := Record{
		ExecutionStartTime: rec.ExecutionStartTime, RedriveCount: rec.RedriveCount,
		Status: StatusStarting, Generation: rec.Generation, StartedAt: rec.StartedAt, LeaseSeconds: claimLease,
		RequestHash: rec.RequestHash, ExpiresAt: rec.ExpiresAt, MovedTo: m.to.Location(key),
	}
	switch _, err := m.from.Create(ctx, key, claim); {
	case errors.Is(err, ErrExists):
		if _, err := loadRecord(ctx, m.from, key); err == nil {
			return Stored{}, fmt.Errorf("%w: %s; load it", ErrExists, m.Location(key))
		} else if !errors.Is(err, ErrNotFound) {
			return Stored{}, err
		}
	case err != nil:
		return Stored{}, err
	}
	stored, err := m.to.Create(ctx, key, rec)
	return m.mark(inTo, key, stored, err)
}

// Load implements Store. The store of today may have claims too, if it was the one
// of before until the two were exchanged.
func (m *moved) Load(ctx context.Context, key Key) (Stored, error) {
	stored, err := loadRecord(ctx, m.to, key)
	if errors.Is(err, ErrNotFound) {
		stored, err = loadRecord(ctx, m.from, key)
		return m.mark(inFrom, key, stored, err)
	}
	return m.mark(inTo, key, stored, err)
}

// Replace implements Store. A record stays in the store that it is in, so that the
// conditions of its writes hold for functions of before, too.
func (m *moved) Replace(ctx context.Context, key Key, rec Record, version string) (Stored, error) {
	in, store := m.storeOf(version)
	stored, err := store.Replace(ctx, key, rec, strings.TrimPrefix(version, in))
	return m.mark(in, key, stored, err)
}

// Location implements Store.
func (m *moved) Location(key Key) string {
	return fmt.Sprintf("%s (or, from before, %s)", m.to.Location(key), m.from.Location(key))
}

// storeOf returns the store that a record of the version is in.
func (m *moved) storeOf(version string) (in string, store Store) {
	if strings.HasPrefix(version, inFrom) {
		return inFrom, m.from
	}
	return inTo, m.to
}

// movedIndex is a moved store whose records are found by their jobs.
type movedIndex struct {
	*moved

	index Indexed
}

// ReplaceIndexed implements Indexed.
func (m *movedIndex) ReplaceIndexed(ctx context.Context, key Key, rec Record, version string) (Stored, error) {
	in, store := m.storeOf(version)
	index, ok := store.(Indexed)
	if !ok {
		return m.Replace(ctx, key, rec, version)
	}
	stored, err := index.ReplaceIndexed(ctx, key, rec, strings.TrimPrefix(version, in))
	return m.mark(in, key, stored, err)
}

// Find implements Indexed.
func (m *movedIndex) Find(ctx context.Context, jobID string) (Key, error) {
	key, err := m.index.Find(ctx, jobID)
	if before, ok := m.from.(Indexed); ok && errors.Is(err, ErrNotFound) {
		return before.Find(ctx, jobID)
	}
	return key, err
}

// loadRecord loads a record that is not a claim.
func loadRecord(ctx context.Context, store Store, key Key) (Stored, error) {
	stored, err := store.Load(ctx, key)
	if err == nil && stored.Record.MovedTo != "" {
		return Stored{}, ErrNotFound
	}
	return stored, err
}

// mark says in the version in which store a record is, and in an error where it was
// looked for.
func (m *moved) mark(in string, key Key, stored Stored, err error) (Stored, error) {
	if err != nil {
		return Stored{}, fmt.Errorf("%s: %w", m.Location(key), err)
	}
	stored.Version = in + stored.Version
	return stored, nil
}
