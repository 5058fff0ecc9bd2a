package callbacks_test

import (
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/soak"
	"github.com/jobpoller/jobpoller/tests/soak/callbacks"
)

var (
	waits = flag.Int("waits", 500, "how many executions to run")
	seed  = flag.Uint64("seed", 1, "seed of the worlds")
)

// TestSoakCallbacks: whatever is slow, lost, doubled or stale, each wait has one answer, in
// time and true, and no job is started twice.
func TestSoakCallbacks(t *testing.T) {
	t.Parallel()
	counts := soak.NewCounts()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for n := int(next.Add(1)); n <= *waits; n = int(next.Add(1)) {
				synctest.Test(t, func(t *testing.T) { require.NoError(t, callbacks.Run(*seed, n, counts)) })
				if len(counts.Violations()) > 20 {
					return
				}
			}
		})
	}
	workers.Wait()
	t.Logf("seed %d\n%s", *seed, counts)
	require.Empty(t, counts.Violations())
	require.Equal(t, *waits, counts.Of("executions"))
}
