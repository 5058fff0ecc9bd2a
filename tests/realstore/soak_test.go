package realstore_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/soak"
)

var (
	executions = flag.Int("executions", 300, "how many executions to soak")
	seed       = flag.Uint64("seed", 1, "seed of the faults")
)

// realClock is the time of the machine, and of the server on it.
type realClock struct{ *testing.T }

func (realClock) Now() time.Time { return time.Now() }

func (c realClock) Wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.Context().Done():
	}
}

// What the soak on the embedded server shows holds on a real one, in real time
// and with faults of the network: leases are short, and end by the server's own
// clock.
func TestSoak(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	addresses, connections := startProxies(t, g), newTransports(t)
	names := slices.Sorted(maps.Keys(toxics))
	begin := time.Now()
	counts, err := soak.Run(t.Context(), soak.Options{
		Executions: *executions, Seed: *seed, Workers: 150,
		Open: func(name string, random *rand.Rand, c *soak.Counts) (soak.Place, error) {
			store, err := g.store(newRough(connections, addresses, random, c.Add, names...), name)
			return soak.Place{Store: store, Clock: realClock{t}, Close: func() error { return nil }}, err
		},
		// A lease of 2 s, which is over when the server's seconds show 4.
		Invocation: time.Second, LeaseMargin: time.Second, Pace: 0.01,
	})
	require.NoError(t, err)
	t.Logf("seed %d, %s\n%s", *seed, time.Since(begin).Round(time.Second), counts)
	require.Empty(t, counts.Violations())
	require.Equal(t, *executions, counts.Of("executions"))
	require.Positive(t, counts.Of(selfConflict))
	for name := range toxics {
		require.Positive(t, counts.Of("fault: "+name), name)
	}
}
