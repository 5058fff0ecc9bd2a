package startrecordtest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

const contenders = 64

func testConcurrentCreate(t *testing.T, store startrecord.Store) {
	for range 3 {
		key := newKey()
		winner := race(t, startrecord.ErrExists, func(ctx context.Context, i int) (startrecord.Stored, error) {
			rec := newRecord()
			rec.Generation = i
			return store.Create(ctx, key, rec)
		})
		requireUnchanged(t, store, key, winner)
	}
}

func testConcurrentReplace(t *testing.T, store startrecord.Store) {
	key := newKey()
	current := create(t, store, key, newRecord())
	for range 3 {
		current = race(t, startrecord.ErrChanged, func(ctx context.Context, i int) (startrecord.Stored, error) {
			rec := current.Record
			rec.Generation = i
			return store.Replace(ctx, key, rec, current.Version)
		})
		requireUnchanged(t, store, key, current)
	}
}

// race lets all contenders write at once, requires that one wins and that all
// others get the error of a loser, and returns what the winner wrote.
func race(
	t *testing.T, lost error, write func(ctx context.Context, i int) (startrecord.Stored, error),
) startrecord.Stored {
	t.Helper()
	var (
		begin   = make(chan struct{})
		done    sync.WaitGroup
		results [contenders]startrecord.Stored
		errs    [contenders]error
	)
	for i := range contenders {
		done.Go(func() {
			<-begin
			results[i], errs[i] = write(t.Context(), i)
		})
	}
	close(begin)
	done.Wait()

	winners := 0
	var winner startrecord.Stored
	for i, err := range errs {
		if err == nil {
			winners++
			winner = results[i]
			require.Equal(t, i, winner.Record.Generation)
			continue
		}
		require.ErrorIs(t, err, lost)
	}
	require.Equal(t, 1, winners)
	return winner
}
