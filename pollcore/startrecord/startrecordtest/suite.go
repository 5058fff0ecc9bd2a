// Package startrecordtest is the conformance suite of startrecord.Store: for the
// stores of this module, and for those of your own. A store that passes keeps the
// promise that a job is started at most once.
//
//	func TestConformance(t *testing.T) {
//		startrecordtest.Run(t, func(t *testing.T) startrecord.Store { return mystore.New(t.Context(), endpoint) })
//	}
//
// It writes records for executions that do not exist, under keys that were not
// used before, and deletes none: give it a bucket, table or prefix for tests.
package startrecordtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Run tests that the stores which open returns behave as startrecord.Store
// says, but for the ages of their records. Open is called once a subtest,
// several at a time; it may return the same store each time, since every
// subtest uses keys of its own. The store must be reachable: no fault is
// injected.
func Run(t *testing.T, open func(t *testing.T) startrecord.Store) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, store startrecord.Store){
		"Create":            testCreate,
		"CreateExists":      testCreateExists,
		"LoadNotFound":      testLoadNotFound,
		"Replace":           testReplace,
		"ReplaceStale":      testReplaceStale,
		"ReplaceNotFound":   testReplaceNotFound,
		"ReplaceNoVersion":  testReplaceNoVersion,
		"EqualWritesDiffer": testEqualWritesDiffer,
		"Fields":            testFields,
		"Sizes":             testSizes,
		"Keys":              testKeys,
		"InvalidKey":        testInvalidKey,
		"InvalidRecord":     testInvalidRecord,
		"Location":          testLocation,
		"Canceled":          testCanceled,
		"ConcurrentCreate":  testConcurrentCreate,
		"ConcurrentReplace": testConcurrentReplace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// RunWithClock is Run, and tests the ages of records too. It is for a store
// whose server can be given a clock: now, which may jump, and which several
// goroutines call at once. Leases are as good as these ages.
func RunWithClock(t *testing.T, open func(t *testing.T, now func() time.Time) startrecord.Store) {
	t.Helper()
	Run(t, func(t *testing.T) startrecord.Store {
		t.Helper()
		return open(t, time.Now)
	})
	for name, test := range map[string]func(t *testing.T, store startrecord.Store, c *clock){
		"Age":           testAge,
		"AgeOfOldWrite": testAgeOfOldWrite,
		"AgeBackwards":  testAgeBackwards,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &clock{now: time.Date(2031, 3, 1, 8, 0, 0, 0, time.UTC)}
			test(t, open(t, c.Now), c)
		})
	}
}

func testCreate(t *testing.T, store startrecord.Store) {
	key, rec := newKey(), newRecord()
	created, err := store.Create(t.Context(), key, rec)
	require.NoError(t, err)
	require.NotEmpty(t, created.Version)
	require.Zero(t, created.Age)
	require.NotEmpty(t, created.Record.Nonce)
	requireRecord(t, key, rec, created.Record)

	loaded, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, created.Version, loaded.Version)
	require.Equal(t, created.Record, loaded.Record)
	require.GreaterOrEqual(t, loaded.Age, time.Duration(0))
	require.Less(t, loaded.Age, time.Hour)
}

func testCreateExists(t *testing.T, store startrecord.Store) {
	key := newKey()
	first := create(t, store, key, newRecord())
	second := newRecord()
	second.Status = startrecord.StatusFailed
	_, err := store.Create(t.Context(), key, second)
	require.ErrorIs(t, err, startrecord.ErrExists)
	require.ErrorContains(t, err, store.Location(key))
	requireUnchanged(t, store, key, first)
}

func testLoadNotFound(t *testing.T, store startrecord.Store) {
	key := newKey()
	_, err := store.Load(t.Context(), key)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
	require.ErrorContains(t, err, store.Location(key))
}

func testReplace(t *testing.T, store startrecord.Store) {
	key := newKey()
	current := create(t, store, key, newRecord())
	for generation := 2; generation <= 4; generation++ {
		rec := current.Record
		rec.Status = startrecord.StatusStarted
		rec.Generation = generation
		rec.JobRef = json.RawMessage(`{"id":"job-1"}`)
		begun := time.Now()
		replaced, err := store.Replace(t.Context(), key, rec, current.Version)
		require.NoError(t, err)
		require.NotEqual(t, current.Version, replaced.Version)
		require.NotEqual(t, current.Record.Nonce, replaced.Record.Nonce)
		// A write whose answer was lost is read back, by a clock of whole seconds.
		require.LessOrEqual(t, replaced.Age, time.Since(begun)+time.Second)
		requireRecord(t, key, rec, replaced.Record)
		requireUnchanged(t, store, key, replaced)

		// The version that a Load gives serves as well as that of a write.
		current, err = store.Load(t.Context(), key)
		require.NoError(t, err)
	}
}

func testReplaceStale(t *testing.T, store startrecord.Store) {
	key := newKey()
	first := create(t, store, key, newRecord())
	second, err := store.Replace(t.Context(), key, first.Record, first.Version)
	require.NoError(t, err)
	_, err = store.Replace(t.Context(), key, first.Record, first.Version)
	require.ErrorIs(t, err, startrecord.ErrChanged)
	require.ErrorContains(t, err, store.Location(key))
	requireUnchanged(t, store, key, second)
}

func testReplaceNotFound(t *testing.T, store startrecord.Store) {
	other := create(t, store, newKey(), newRecord())
	key := newKey()
	_, err := store.Replace(t.Context(), key, newRecord(), other.Version)
	require.ErrorIs(t, err, startrecord.ErrChanged)
	_, err = store.Load(t.Context(), key)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
}

// A version that no write gave must not be taken for "any" or "none".
func testReplaceNoVersion(t *testing.T, store startrecord.Store) {
	present, absent := newKey(), newKey()
	created := create(t, store, present, newRecord())
	for _, version := range []string{"", "*"} {
		_, err := store.Replace(t.Context(), present, newRecord(), version)
		require.ErrorIs(t, err, startrecord.ErrChanged, "version %q", version)
		requireUnchanged(t, store, present, created)
		_, err = store.Replace(t.Context(), absent, newRecord(), version)
		require.ErrorIs(t, err, startrecord.ErrChanged, "version %q", version)
		_, err = store.Load(t.Context(), absent)
		require.ErrorIs(t, err, startrecord.ErrNotFound, "version %q", version)
	}
}

// A store that derives its versions from the bytes alone could not tell a
// record that was changed and changed back. The caller's nonce does not count.
func testEqualWritesDiffer(t *testing.T, store startrecord.Store) {
	key, rec := newKey(), newRecord()
	rec.Nonce = "the caller's"
	first := create(t, store, key, rec)
	current := first
	nonces, versions := map[string]bool{rec.Nonce: true}, map[string]bool{}
	for range 5 {
		require.NotContains(t, nonces, current.Record.Nonce)
		require.NotContains(t, versions, current.Version)
		nonces[current.Record.Nonce], versions[current.Version] = true, true
		next, err := store.Replace(t.Context(), key, rec, current.Version)
		require.NoError(t, err)
		current = next
	}
	_, err := store.Replace(t.Context(), key, rec, first.Version)
	require.ErrorIs(t, err, startrecord.ErrChanged)
}

func testInvalidKey(t *testing.T, store startrecord.Store) {
	for _, key := range []startrecord.Key{
		{},
		{ExecutionARN: newKey().ExecutionARN},
		{ExecutionARN: "arn:aws:states:us-east-1:123456789012:stateMachine:M", Poller: "p"},
		{ExecutionARN: newKey().ExecutionARN, Poller: "p", Scope: "a\nb"},
	} {
		_, err := store.Create(t.Context(), key, newRecord())
		require.ErrorIs(t, err, startrecord.ErrInvalidKey)
		_, err = store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrInvalidKey)
		_, err = store.Replace(t.Context(), key, newRecord(), "any")
		require.ErrorIs(t, err, startrecord.ErrInvalidKey)
	}
}

// What could not be read again must not be written.
func testInvalidRecord(t *testing.T, store startrecord.Store) {
	tests := []struct {
		spoil func(*startrecord.Record)
		names string
	}{
		{func(r *startrecord.Record) { r.Status = "DONE" }, "DONE"},
		{func(r *startrecord.Record) { r.StartedAt = time.Time{} }, "startedAt"},
		{func(r *startrecord.Record) { r.ExecutionStartTime = time.Time{} }, "executionStartTime"},
		{func(r *startrecord.Record) { r.Result = json.RawMessage(`{`) }, "result"},
		{func(r *startrecord.Record) { r.Request = json.RawMessage("\"\xff\"") }, "request"},
	}
	for _, tt := range tests {
		key, rec := newKey(), newRecord()
		tt.spoil(&rec)
		_, err := store.Create(t.Context(), key, rec)
		require.ErrorContains(t, err, tt.names)
		_, err = store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrNotFound)
	}
}

func testLocation(t *testing.T, store startrecord.Store) {
	a, b := newKey(), newKey()
	require.Contains(t, store.Location(a), a.Path())
	require.NotEqual(t, store.Location(a), store.Location(b))
}

func testCanceled(t *testing.T, store startrecord.Store) {
	present, absent := newKey(), newKey()
	created := create(t, store, present, newRecord())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Create(ctx, absent, newRecord())
	require.ErrorIs(t, err, context.Canceled)
	_, err = store.Load(ctx, present)
	require.ErrorIs(t, err, context.Canceled)
	_, err = store.Replace(ctx, present, newRecord(), created.Version)
	require.ErrorIs(t, err, context.Canceled)

	_, err = store.Load(t.Context(), absent)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
	requireUnchanged(t, store, present, created)
}

// newKey returns a key that was not used before, also not by another run of
// the suite on the same table or bucket.
func newKey() startrecord.Key {
	return startrecord.Key{
		ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:" + rand.Text(),
		Poller:       "Export",
		Scope:        "3",
	}
}

func newRecord() startrecord.Record {
	return startrecord.Record{
		ExecutionStartTime: time.Date(2026, 11, 20, 9, 30, 14, 123_000_000, time.UTC),

		Status:       startrecord.StatusStarting,
		Generation:   1,
		StartedAt:    time.Date(2026, 11, 20, 9, 30, 15, 0, time.UTC),
		LeaseSeconds: 65,
		Token:        strings.Repeat("a1", 18),
		RequestHash:  "5f",
		Request:      json.RawMessage(`{"job":"dynamodb:ExportTableToPointInTime"}`),
	}
}

func create(t *testing.T, store startrecord.Store, key startrecord.Key, rec startrecord.Record) startrecord.Stored {
	t.Helper()
	created, err := store.Create(t.Context(), key, rec)
	require.NoError(t, err)
	return created
}

// requireUnchanged requires that the store still holds what a write returned.
func requireUnchanged(t *testing.T, store startrecord.Store, key startrecord.Key, want startrecord.Stored) {
	t.Helper()
	loaded, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, want.Version, loaded.Version)
	require.Equal(t, want.Record, loaded.Record)
}

// requireRecord requires that got is the record want, which was given to a
// store for key, with what a store fills in.
func requireRecord(t *testing.T, key startrecord.Key, want, got startrecord.Record) {
	t.Helper()
	require.Equal(t, startrecord.Version, got.Version)
	gotKey := startrecord.Key{ExecutionARN: got.ExecutionARN, Poller: got.Poller, Scope: got.Scope}
	require.Equal(t, key, gotKey)
	requireTime(t, want.StartedAt, got.StartedAt)
	requireTime(t, want.ExecutionStartTime, got.ExecutionStartTime)
	requireTime(t, want.ExpiresAt, got.ExpiresAt)
	requireTime(t, want.StopRequestedAt, got.StopRequestedAt)
	want.Version, want.Nonce = got.Version, got.Nonce
	want.ExecutionARN, want.Poller, want.Scope = got.ExecutionARN, got.Poller, got.Scope
	want.StartedAt, want.ExecutionStartTime, want.ExpiresAt = got.StartedAt, got.ExecutionStartTime, got.ExpiresAt
	want.StopRequestedAt = got.StopRequestedAt
	require.Equal(t, want, got)
}

// requireTime allows a store to name another zone, and nothing else: whether an
// execution is the record's is told by its time.
func requireTime(t *testing.T, want, got time.Time) {
	t.Helper()
	require.True(t, want.Equal(got), "expected %s, got %s", want, got)
}
