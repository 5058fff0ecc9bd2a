package startrecord_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

var (
	movedKey = startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1", Poller: "default"}
	began    = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	starting = startrecord.Record{
		ExecutionStartTime: began, StartedAt: began, Status: startrecord.StatusStarting, Generation: 1, LeaseSeconds: 35, RequestHash: "h",
	}
)

func TestMovedStoreIsAStore(t *testing.T) {
	t.Parallel()
	startrecordtest.Run(t, func(*testing.T) startrecord.Store {
		return startrecord.Migrate(memstore.New(nil), memstore.New(nil))
	})
}

func TestMovedIndex(t *testing.T) {
	t.Parallel()
	startrecordtest.RunIndexed(t, func(t *testing.T) startrecord.Indexed {
		t.Helper()
		return movedIndex(t, memstore.New(nil), memstore.New(nil))
	})
	_, ok := startrecord.Migrate(struct{ startrecord.Store }{memstore.New(nil)}, memstore.New(nil)).(startrecord.Indexed)
	require.False(t, ok, "the store of today has no index")
}

// movedIndex is a moved store whose records are found by their jobs.
func movedIndex(t *testing.T, to, from startrecord.Store) startrecord.Indexed {
	t.Helper()
	moved, ok := startrecord.Migrate(to, from).(startrecord.Indexed)
	require.True(t, ok)
	return moved
}

// A record of before keeps its store, which may have an index or none.
func TestMovedIndexOfBefore(t *testing.T) {
	t.Parallel()
	withoutIndex := struct{ startrecord.Store }{memstore.New(nil)}
	for _, from := range []startrecord.Store{memstore.New(nil), withoutIndex} {
		moved := movedIndex(t, memstore.New(nil), from)
		_, err := from.Create(t.Context(), movedKey, starting)
		require.NoError(t, err)
		stored, err := moved.Load(t.Context(), movedKey)
		require.NoError(t, err)
		stored.Record.Callback = startrecord.Callback{TaskToken: "token", JobIDs: []string{"job-1"}}
		_, err = moved.ReplaceIndexed(t.Context(), movedKey, stored.Record, stored.Version)
		require.NoError(t, err)
		kept, err := from.Load(t.Context(), movedKey)
		require.NoError(t, err)
		require.Equal(t, stored.Record.Callback, kept.Record.Callback)
		found, err := moved.Find(t.Context(), "job-1")
		if from == withoutIndex {
			require.ErrorIs(t, err, startrecord.ErrNotFound)
		} else {
			require.NoError(t, err)
			require.Equal(t, movedKey, found)
		}
	}
}

// A record of before is found, and stays where the functions of before write it.
func TestMovedStoreFindsRecordsOfBefore(t *testing.T) {
	t.Parallel()
	to, from := memstore.New(nil), memstore.New(nil)
	moved := startrecord.Migrate(to, from)
	_, err := from.Create(t.Context(), movedKey, starting)
	require.NoError(t, err)

	_, err = moved.Create(t.Context(), movedKey, starting)
	require.ErrorIs(t, err, startrecord.ErrExists)
	stored, err := moved.Load(t.Context(), movedKey)
	require.NoError(t, err)
	require.Equal(t, startrecord.StatusStarting, stored.Record.Status)

	started := stored.Record
	started.Status, started.JobRef = startrecord.StatusStarted, []byte(`{"Id":"job-1"}`)
	after, err := moved.Replace(t.Context(), movedKey, started, stored.Version)
	require.NoError(t, err)
	_, err = moved.Replace(t.Context(), movedKey, started, stored.Version)
	require.ErrorIs(t, err, startrecord.ErrChanged, "an older version")
	_, err = moved.Replace(t.Context(), movedKey, started, after.Version)
	require.NoError(t, err)

	_, err = to.Load(t.Context(), movedKey)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
	seen, err := from.Load(t.Context(), movedKey)
	require.NoError(t, err)
	require.Equal(t, startrecord.StatusStarted, seen.Record.Status)
}

// What a function of today claims, a function of before takes for a start in
// progress whose lease does not end.
func TestMovedStoreKeepsFunctionsOfBeforeFromStarting(t *testing.T) {
	t.Parallel()
	to, from := memstore.New(nil), memstore.New(nil)
	_, err := startrecord.Migrate(to, from).Create(t.Context(), movedKey, starting)
	require.NoError(t, err)

	_, err = from.Create(t.Context(), movedKey, starting)
	require.ErrorIs(t, err, startrecord.ErrExists)
	claim, err := from.Load(t.Context(), movedKey)
	require.NoError(t, err)
	require.Equal(t, startrecord.StatusStarting, claim.Record.Status)
	require.Nil(t, claim.Record.JobRef)
	require.Equal(t, "h", claim.Record.RequestHash)
	require.Greater(t, time.Duration(claim.Record.LeaseSeconds)*time.Second, 10*365*24*time.Hour)
	require.Equal(t, to.Location(movedKey), claim.Record.MovedTo)
}

// A claim whose function died before it wrote the record is not a record: the next
// function goes on, and of several one.
func TestMovedStoreTakesUpAClaimWithoutARecord(t *testing.T) {
	t.Parallel()
	to, from := memstore.New(nil), memstore.New(nil)
	moved := startrecord.Migrate(dying{to}, from)
	_, err := moved.Create(t.Context(), movedKey, starting)
	require.ErrorIs(t, err, startrecord.ErrUnavailable)

	moved = startrecord.Migrate(to, from)
	_, err = moved.Load(t.Context(), movedKey)
	require.ErrorIs(t, err, startrecord.ErrNotFound)
	_, err = moved.Create(t.Context(), movedKey, starting)
	require.NoError(t, err)
	_, err = moved.Create(t.Context(), movedKey, starting)
	require.ErrorIs(t, err, startrecord.ErrExists)
}

type dying struct{ startrecord.Store }

func (dying) Create(context.Context, startrecord.Key, startrecord.Record) (startrecord.Stored, error) {
	return startrecord.Stored{}, startrecord.ErrUnavailable
}

// Who goes back to the store of before finds what was started in the one between,
// although the claim for it is in the store that is today's again.
func TestMovedStoreGoesBack(t *testing.T) {
	t.Parallel()
	first, second := memstore.New(nil), memstore.New(nil)
	stored, err := startrecord.Migrate(second, first).Create(t.Context(), movedKey, starting)
	require.NoError(t, err)
	started := stored.Record
	started.Status, started.JobRef = startrecord.StatusStarted, []byte(`{"Id":"job-1"}`)
	_, err = startrecord.Migrate(second, first).Replace(t.Context(), movedKey, started, stored.Version)
	require.NoError(t, err)

	back := startrecord.Migrate(first, second)
	_, err = back.Create(t.Context(), movedKey, starting)
	require.ErrorIs(t, err, startrecord.ErrExists)
	found, err := back.Load(t.Context(), movedKey)
	require.NoError(t, err)
	require.JSONEq(t, `{"Id":"job-1"}`, string(found.Record.JobRef))
	_, err = back.Replace(t.Context(), movedKey, found.Record, found.Version)
	require.NoError(t, err)
}

// Functions of which each takes the other's store for the one of before race for one
// start: at most one gets it, and whoever comes later starts nothing where nobody
// knows whether the other goes on.
func TestMovedStoresOfEachOtherGiveOneStartAtMost(t *testing.T) {
	t.Parallel()
	for at := range 4 {
		for _, dies := range []bool{false, true} {
			first, second := memstore.New(nil), memstore.New(nil)
			var there error
			steps := 0
			other := func() {
				if steps == at {
					to := startrecord.Store(first)
					if dies {
						to = dying{first}
					}
					_, there = startrecord.Migrate(to, second).Create(context.Background(), movedKey, starting)
				}
				steps++
			}
			_, here := startrecord.Migrate(stepping{second, other}, stepping{first, other}).Create(t.Context(), movedKey, starting)
			for steps <= at {
				other()
			}
			require.False(t, here == nil && there == nil, "both got it at step %d", at)
		}
	}
}

// Functions of before and of today race for one start at every point at which
// either can be: one of them gets it.
func TestMovedStoreGivesOneStartToFunctionsOfBeforeAndOfToday(t *testing.T) {
	t.Parallel()
	for at := range 4 {
		to, from := memstore.New(nil), memstore.New(nil)
		var before error
		steps := 0
		old := func() {
			if steps == at {
				_, before = from.Create(context.Background(), movedKey, starting)
			}
			steps++
		}
		_, today := startrecord.Migrate(stepping{to, old}, stepping{from, old}).Create(t.Context(), movedKey, starting)
		for steps <= at {
			old()
		}
		require.NotEqual(t, before == nil, today == nil, "the function of before creates its record at step %d", at)
	}
}

// stepping lets another act before and after each write.
type stepping struct {
	startrecord.Store

	step func()
}

func (s stepping) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	s.step()
	defer s.step()
	return s.Store.Create(ctx, key, rec)
}
