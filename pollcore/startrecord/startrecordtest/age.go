package startrecordtest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// clock is the clock of a server.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// An age is the time since the last write on the server's clock, to a second,
// and never more than a second too great: a lease would end early.
func testAge(t *testing.T, store startrecord.Store, c *clock) {
	key := newKey()
	current := create(t, store, key, newRecord())
	requireAge(t, store, key, 0)
	for range 3 {
		for _, d := range []time.Duration{400 * time.Millisecond, 2 * time.Second, 65 * time.Second, 90 * time.Minute} {
			replaced, err := store.Replace(t.Context(), key, current.Record, current.Version)
			require.NoError(t, err)
			require.Zero(t, replaced.Age)
			current = replaced
			requireAge(t, store, key, 0)
			c.advance(d)
			requireAge(t, store, key, d)
			requireAge(t, store, key, d) // reading leaves it as it is
		}
	}
}

// What a store has read long ago says nothing of the time of a write.
func testAgeOfOldWrite(t *testing.T, store startrecord.Store, c *clock) {
	key, other := newKey(), newKey()
	created := create(t, store, key, newRecord())
	c.advance(24 * time.Hour)
	create(t, store, other, newRecord())
	requireAge(t, store, other, 0)
	requireAge(t, store, key, 24*time.Hour)
	c.advance(24 * time.Hour)
	_, err := store.Replace(t.Context(), key, newRecord(), created.Version)
	require.NoError(t, err)
	c.advance(3 * time.Second)
	requireAge(t, store, key, 3*time.Second)
	requireAge(t, store, other, 24*time.Hour+3*time.Second)
}

// A server's clock may be set back.
func testAgeBackwards(t *testing.T, store startrecord.Store, c *clock) {
	key := newKey()
	create(t, store, key, newRecord())
	c.advance(-time.Hour)
	requireAge(t, store, key, 0)
}

func requireAge(t *testing.T, store startrecord.Store, key startrecord.Key, want time.Duration) {
	t.Helper()
	loaded, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	require.GreaterOrEqual(t, loaded.Age, time.Duration(0))
	require.Less(t, (loaded.Age - want).Abs(), time.Second+time.Millisecond, "age %s, expected %s", loaded.Age, want)
}
