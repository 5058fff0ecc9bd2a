package soak_test

import (
	"flag"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/soak"
)

var (
	executions = flag.Int("executions", 150, "how many executions to soak")
	seed       = flag.Uint64("seed", 1, "seed of the faults")
)

// TestSoak: whatever fails, no second job is started, no result is lost and no
// end is wrong.
func TestSoak(t *testing.T) {
	t.Parallel()
	counts, err := soak.Run(t.Context(), soak.Options{
		Executions: *executions, Seed: *seed, Workers: 8 * runtime.GOMAXPROCS(0), Open: soak.Embed(nil),
	})
	require.NoError(t, err)
	t.Logf("seed %d\n%s", *seed, counts)
	require.Empty(t, counts.Violations())
	require.Equal(t, *executions, counts.Of("executions"))
	// What the soak is there for must have happened.
	for _, what := range []string{
		"fault: 500", "fault: 503", "fault: 409", "late requests to S3", "fault: reset before the effect",
		"fault: effect, then reset", "fault: effect, then 500", "fault: effect, then 503",
		"fault: start lost before its effect", "fault: start done, answer lost", "fault: start done, answer lost, then refused", "fault: stop throttled", "fault: describe throttled",
		"writes refused because of themselves (412)", "invocations that died", "invocations sent twice at once", "redrives",
		"ended token: SUCCEEDED", "ended token: FAILED", "ended token: TIMED_OUT",
		"ended forgetful token: SUCCEEDED", "ended forgetful token: JobStartUnknown",
		"ended naturalKey: SUCCEEDED", "ended naturalKey: FAILED", "ended naturalKey: TIMED_OUT",
		"ended none: SUCCEEDED", "ended none: JobStartUnknown",
	} {
		require.Positive(t, counts.Of(what), what)
	}
	require.Zero(t, counts.Of("ended token: JobStartUnknown"))
	require.Zero(t, counts.Of("ended naturalKey: JobStartUnknown"))
	// Reads and writes fail as often as is said.
	for _, method := range []string{"reads", "writes"} {
		share := float64(counts.Of("requests to S3 that fail: "+method)) / float64(counts.Of("requests to S3: "+method))
		require.InDelta(t, 0.3, share, 0.05, method)
	}
}

// TestSoakFindsSecondJobs: on a server that ignores conditions, as some do, the
// soak sees the jobs that are started twice.
func TestSoakFindsSecondJobs(t *testing.T) {
	t.Parallel()
	careless := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-None-Match")
			r.Header.Del("If-Match")
			next.ServeHTTP(w, r)
		})
	}
	counts, err := soak.Run(t.Context(), soak.Options{Executions: 60, Seed: 1, Workers: 8, Open: soak.Embed(careless)})
	require.NoError(t, err)
	require.Contains(t, counts.String(), "2 jobs were started")
}
