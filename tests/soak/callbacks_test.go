package soak_test

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

var waits = flag.Int("waits", 500, "how many executions to run in the world of callbacks")

// TestSoakCallbacks: whatever is slow, lost, doubled or stale, each wait has one answer, in
// time and true, and no job is started twice.
func TestSoakCallbacks(t *testing.T) {
	t.Parallel()
	counts := runCallbacks(t, *waits, callbacks.NoBreach)
	t.Logf("seed %d\n%s", *seed, counts)
	require.Empty(t, counts.Violations())
	require.Equal(t, *waits, counts.Of("executions"))
	// What the soak is there for must have happened.
	for _, what := range []string{
		"class token", "class forgetful token", "class natural key", "class none",
		"ended: SUCCEEDED", "ended: FAILED", "ended: TIMED_OUT", "ended: JobStartUnknown", "ended: abandoned",
		"executions stopped", "redrives", "messages delivered again", "answers that came again",
		"writes that were read back",
		"fault: doubled RunJob", "fault: doubled CheckStatus", "fault: doubled message", "fault: late message",
		"fault: late read", "fault: late read of no record", "fault: lost event",
		"fault: slow of Replace", "fault: slow of ReplaceIndexed", "fault: slow of Load", "fault: slow of Send", "fault: slow of Describe",
		"fault: death before of ReplaceIndexed", "fault: death after of ReplaceIndexed", "fault: death before of Send", "fault: death after of Send",
		"fault: answer lost of Start", "fault: answer lost of Send", "fault: throttled of Send", "fault: throttled of Describe",
	} {
		require.Positive(t, counts.Of(what), what)
	}
}

// TestSoakCallbacksFindsBreaches: what the functions cannot mend, the model sees.
func TestSoakCallbacksFindsBreaches(t *testing.T) {
	t.Parallel()
	for breach, want := range map[callbacks.Breach]string{
		callbacks.LostMessages:      "is never answered",
		callbacks.HeldMessages:      "after it was due",
		callbacks.ForgottenTokens:   "2 jobs were started",
		callbacks.WrongDescriptions: "but the job ends",
		callbacks.FastClocks:        "before",
		callbacks.UnheardStops:      "no stop call has reached the service",
		callbacks.UnansweredStarts:  "the start is unknown",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, runCallbacks(t, 60, breach).String(), want)
		})
	}
}

// enough violations say that something is wrong.
const enough = 5

// runCallbacks runs executions until all have ended or the model has found enough.
func runCallbacks(t *testing.T, executions int, breach callbacks.Breach) *soak.Counts {
	t.Helper()
	counts := soak.NewCounts()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for n := int(next.Add(1)); n <= executions && len(counts.Violations()) < enough; n = int(next.Add(1)) {
				synctest.Test(t, func(t *testing.T) {
					if err := callbacks.Run(*seed, n, breach, counts); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
	workers.Wait()
	return counts
}
