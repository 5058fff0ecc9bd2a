package startrecordtest

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// RunIndexed tests that the stores which open returns behave as startrecord.Indexed
// says, beyond startrecord.Store: see Run.
func RunIndexed(t *testing.T, open func(t *testing.T) startrecord.Indexed) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, store startrecord.Indexed){
		"Find":                     testFind,
		"FindNotFound":             testFindNotFound,
		"FindLast":                 testFindLast,
		"FindByEachID":             testFindByEachID,
		"ReplaceIndexedStale":      testReplaceIndexedStale,
		"ReplaceIndexedWithoutJob": testReplaceIndexedWithoutJob,
		"ConcurrentReplaceIndexed": testConcurrentReplaceIndexed,
		"IndexCanceled":            testIndexCanceled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func testFind(t *testing.T, store startrecord.Indexed) {
	// IDs are those of services: some are ARNs, and some are long.
	for _, id := range []string{rand.Text(), "arn:aws:x:eu-west-1:123456789012:y/ü?#" + rand.Text(), rand.Text() + string(make([]byte, 3000))} {
		key := newKey()
		created := create(t, store, key, newRecord())
		replaced := index(t, store, key, created, id)
		require.NotEqual(t, created.Version, replaced.Version)
		requireUnchanged(t, store, key, replaced)
		found, err := store.Find(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, key, found)
		// A Replace leaves the index alone.
		_, err = store.Replace(t.Context(), key, replaced.Record, replaced.Version)
		require.NoError(t, err)
		found, err = store.Find(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, key, found)
	}
}

func testFindNotFound(t *testing.T, store startrecord.Indexed) {
	key := newKey()
	created := create(t, store, key, newRecord())
	id := rand.Text()
	index(t, store, key, created, id)
	for _, other := range []string{rand.Text(), id + "x", "", key.Path(), key.ExecutionARN} {
		_, err := store.Find(t.Context(), other)
		require.ErrorIs(t, err, startrecord.ErrNotFound, "%q", other)
	}
}

// A service may give one job to two starts.
func testFindLast(t *testing.T, store startrecord.Indexed) {
	id, first, second := rand.Text(), newKey(), newKey()
	second.Scope = ""
	index(t, store, first, create(t, store, first, newRecord()), id)
	index(t, store, second, create(t, store, second, newRecord()), id)
	found, err := store.Find(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, second, found)
}

// A transaction whose condition does not hold writes nothing.
func testReplaceIndexedStale(t *testing.T, store startrecord.Indexed) {
	key, id := newKey(), rand.Text()
	first := create(t, store, key, newRecord())
	second, err := store.Replace(t.Context(), key, first.Record, first.Version)
	require.NoError(t, err)
	for _, version := range []string{first.Version, "", "*"} {
		_, err = store.ReplaceIndexed(t.Context(), key, withJob(first.Record, id), version)
		require.ErrorIs(t, err, startrecord.ErrChanged)
	}
	_, err = store.ReplaceIndexed(t.Context(), newKey(), withJob(first.Record, id), second.Version)
	require.ErrorIs(t, err, startrecord.ErrChanged)
	requireUnchanged(t, store, key, second)
	_, err = store.Find(t.Context(), id)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
}

func testReplaceIndexedWithoutJob(t *testing.T, store startrecord.Indexed) {
	key := newKey()
	created := create(t, store, key, newRecord())
	replaced, err := store.ReplaceIndexed(t.Context(), key, created.Record, created.Version)
	require.NoError(t, err)
	requireUnchanged(t, store, key, replaced)
}

// A job of many parts has many names, and one twice is one.
func testFindByEachID(t *testing.T, store startrecord.Indexed) {
	key := newKey()
	created := create(t, store, key, newRecord())
	ids := []string{"", "again", "again"}
	for i := range ids {
		ids[i] = key.ExecutionARN + ids[i]
	}
	for range startrecord.MaxJobIDs - 2 {
		ids = append(ids, rand.Text())
	}
	rec := created.Record
	rec.Callback.JobIDs = slices.Concat(ids, []string{"~ one too many"}) // the last in order
	_, err := store.ReplaceIndexed(t.Context(), key, rec, created.Version)
	require.NoError(t, err)
	for _, id := range ids {
		found, err := store.Find(t.Context(), id)
		require.NoError(t, err, id)
		require.Equal(t, key, found)
	}
	_, err = store.Find(t.Context(), "~ one too many")
	require.ErrorIs(t, err, startrecord.ErrNotFound)
}

// Of those that race for one record one wins, and the index is the winner's.
func testConcurrentReplaceIndexed(t *testing.T, store startrecord.Indexed) {
	const racers = 8
	key := newKey()
	created := create(t, store, key, newRecord())
	ids, errs := make([]string, racers), make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		ids[i] = rand.Text()
		wg.Go(func() {
			_, errs[i] = store.ReplaceIndexed(t.Context(), key, withJob(created.Record, ids[i]), created.Version)
		})
	}
	wg.Wait()
	winners := 0
	for i, err := range errs {
		_, findErr := store.Find(t.Context(), ids[i])
		if err == nil {
			winners++
			require.NoError(t, findErr)
		} else {
			require.ErrorIs(t, err, startrecord.ErrChanged)
			require.ErrorIs(t, findErr, startrecord.ErrNotFound)
		}
	}
	require.Equal(t, 1, winners)
}

func testIndexCanceled(t *testing.T, store startrecord.Indexed) {
	key, id := newKey(), rand.Text()
	created := create(t, store, key, newRecord())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.ReplaceIndexed(ctx, key, withJob(created.Record, id), created.Version)
	require.ErrorIs(t, err, context.Canceled)
	_, err = store.Find(ctx, id)
	require.ErrorIs(t, err, context.Canceled)
	requireUnchanged(t, store, key, created)
	_, err = store.Find(t.Context(), id)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
}

func withJob(rec startrecord.Record, id string) startrecord.Record {
	rec.Callback.JobIDs = []string{id}
	return rec
}

// index writes the job of a record.
func index(t *testing.T, store startrecord.Indexed, key startrecord.Key, current startrecord.Stored, id string) startrecord.Stored {
	t.Helper()
	replaced, err := store.ReplaceIndexed(t.Context(), key, withJob(current.Record, id), current.Version)
	require.NoError(t, err)
	require.Equal(t, []string{id}, replaced.Record.Callback.JobIDs)
	return replaced
}
