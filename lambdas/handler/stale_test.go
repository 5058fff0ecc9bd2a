package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// A collector sends the next message, and its write of the record is slower than that
// message's delay. Another collector polls meanwhile, by the record of before.
func TestCollectKeepsTheMessageBehindASlowWrite(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(5*time.Minute, stateDone)
	w.mustStart(t, first)
	receive := func() []*queued {
		w.advance(w.queue.first().at.Sub(w.clock.Now()))
		return w.queue.receive(1)
	}
	reached, release, written := make(chan struct{}), make(chan struct{}), make(chan error)
	slow := deciding(t.Context(), func(op string) fate {
		if op == "Replace" {
			close(reached)
			<-release
		}
		return goesWell
	})
	message := receive()
	go func() {
		_, err := w.deliver(slow, message)
		written <- err
	}()
	<-reached
	_, err := w.deliver(deciding(t.Context(), func(op string) fate {
		if op == "Replace" { // the slow write comes first
			close(release)
			require.NoError(t, <-written)
		}
		return goesWell
	}), receive())
	require.NoError(t, err)
	require.Equal(t, 2, w.service.describes)
	w.pass(t, 10*time.Minute)
	w.requireEnd(t, "T1", "SUCCEEDED")
}

// Lambda invokes RunJob twice for one Task. The second invocation finds the job, and dies
// before it has sent its message.
func TestRunJobTwiceKeepsTheMessage(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(time.Minute, stateDone)
	w.mustStart(t, first)
	_, died, err := invoke(deciding(t.Context(), fates(map[string]fate{"Send": diesBefore})), w.RunJob, w.event(first))
	require.NoError(t, err)
	require.True(t, died)
	w.pass(t, 10*time.Minute)
	w.requireEnd(t, "T1", "SUCCEEDED")
}

// staleReads is a store whose next reads give older versions of the record. One without
// a version stands for no record.
type staleReads struct {
	startrecord.Store

	next []startrecord.Stored
}

func (s *staleReads) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if len(s.next) == 0 {
		return s.Store.Load(ctx, key)
	}
	stale := s.next[0]
	s.next = s.next[1:]
	if stale.Version == "" {
		return stale, fmt.Errorf("%w: read late", startrecord.ErrNotFound)
	}
	return stale, nil
}

// readLate lets the next reads of a world give older versions.
func (w *world) readLate(versions ...startrecord.Stored) *staleReads {
	s := &staleReads{w.store.Store, versions}
	w.store.Store = s
	return s
}

// versions are what the record of a job was before, after run has started it.
func versions(t *testing.T, w *world, run func(ctx context.Context) error) map[string]startrecord.Stored {
	t.Helper()
	load := func() startrecord.Stored {
		stored, err := w.store.Store.Load(t.Context(), key)
		require.NoError(t, err)
		return stored
	}
	all := map[string]startrecord.Stored{"none": {}}
	require.NoError(t, run(deciding(t.Context(), func(op string) fate {
		if op == "Start" {
			all["STARTING"] = load()
		}
		return goesWell
	})))
	all["STARTED"] = load()
	return all
}

// startedVersions are those of a job whose machine polls.
func startedVersions(t *testing.T, w *world) map[string]startrecord.Stored {
	t.Helper()
	return versions(t, w, func(ctx context.Context) error {
		_, err := w.RunJob(ctx, json.RawMessage(bare(request)))
		return err
	})
}

// waitingVersions are those of a job whose Task waits.
func waitingVersions(t *testing.T, w *collectWorld, r try) map[string]startrecord.Stored {
	t.Helper()
	return versions(t, w.world, func(ctx context.Context) error {
		_, err := w.start(ctx, r)
		return err
	})
}

// CheckStatus does not end a wait because of a record that the store has replaced.
func TestCheckStatusReadsLate(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"none", "STARTING"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			old := startedVersions(t, w)
			w.service.says(stateDone, nil)
			w.readLate(old[version])
			_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
			requireError(t, err, handler.ErrorStoreUnavailable, "RunJob must", "the store has returned an old answer: retry")
			require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, bare(request)).Status)
		})
	}
	t.Run("UNKNOWN, and a person has found the job", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "token")
		old := startedVersions(t, w)
		unknown := old["STARTING"]
		unknown.Record.Status = startrecord.StatusUnknown
		w.service.says(stateDone, nil)
		reads := w.readLate(unknown)
		require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, bare(request)).Status, "the write shows that the record has changed")
		reads.next = []startrecord.Stored{unknown}
		require.EqualValues(t, "SUCCEEDED", w.runJob(t, bare(request)).Status)
	})
}

// A job that has started and is then dropped is not called unknown because of a record of
// before it started, or of an earlier execution of the name.
func TestRunJobOfADroppedJobReadsLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	old := startedVersions(t, w)
	refused, earlier := old["STARTING"], old["STARTED"]
	refused.Record.Status = startrecord.StatusFailed
	earlier.Version = refused.Version
	earlier.Record.ExecutionStartTime = earlier.Record.ExecutionStartTime.AddDate(-1, 0, 0)
	all, err := jobs.NewRegistry(w.service, renamed{w.service})
	require.NoError(t, err)
	w.Jobs, err = all.Only(renamed{w.service})
	require.NoError(t, err)
	for _, late := range []startrecord.Stored{refused, earlier} {
		w.readLate(late)
		_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
		requireError(t, err, handler.ErrorStoreUnavailable, "old answer: retry")
		require.EqualValues(t, "RUNNING", w.runJob(t, bare(request)).Status)
	}
}

// A message is not dropped because of a record that is older, or not there. If that does
// not pass, the message ends in the dead-letter queue.
func TestCollectReadsLate(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"none", "STARTING", "earlier Task"} {
		for _, reads := range []int{1, maxReceives - 1, maxReceives} {
			t.Run(fmt.Sprintf("%s, %d times", version, reads), func(t *testing.T) {
				t.Parallel()
				w := newCollectWorld(t, "token")
				w.endsAt(time.Minute, stateDone)
				old := waitingVersions(t, w, first)
				if version == "earlier Task" {
					old[version] = old["STARTED"]
					w.queue.messages = nil // that of the earlier Task is lost
					w.mustStart(t, try{token: "T2", retry: 1, request: request})
				}
				w.readLate(slices.Repeat([]startrecord.Stored{old[version]}, reads)...)
				w.pass(t, 3*time.Hour)
				if reads == maxReceives {
					require.Len(t, w.queue.dead, 1)
					require.Empty(t, w.tasks.ends)
					w.queue.messages, w.queue.dead = w.queue.dead, nil // a person moves it back
					w.queue.messages[0].receives = 0
					w.pass(t, 0)
				}
				w.requireEnd(t, map[bool]string{false: "T1", true: "T2"}[version == "earlier Task"], "SUCCEEDED")
			})
		}
	}
}

// EventBridge sends an event again whose record is of before the start.
func TestCollectReadsLateForAnEvent(t *testing.T) {
	t.Parallel()
	w := newCollectWorld(t, "token")
	w.endsAt(100*time.Second, stateDone)
	old := waitingVersions(t, w, try{token: "T1", request: slowRequest})
	w.pass(t, 100*time.Second)
	w.readLate(old["STARTING"])
	requireError(t, w.announce(t.Context(), "job-1"), handler.ErrorStoreUnavailable, "an old version of the start record")
	require.NoError(t, w.announce(t.Context(), "job-1"))
	w.requireEnd(t, "T1", "SUCCEEDED")
}

// A check that reads a record of before the stop takes the job for one that has failed. Its
// write shows that another check has written. What that one says is the result, also if the
// store answers late once more.
func TestCheckStatusReadsLateBesideAStop(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"none", "STARTED"} {
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "stoppable")
			old := startedVersions(t, w)
			w.advance(30 * time.Minute)
			w.service.onStop = stateCanceled
			require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(request)).Status)
			w.readLate(old["STARTED"], old[then])
			_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
			requireError(t, err, handler.ErrorStoreUnavailable)
			require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(request)).Status)
		})
	}
}

// A store that answers late for long does not keep a collector busy that has answered.
func TestCollectDoesNotReadForEver(t *testing.T) {
	t.Parallel()
	w := newWaitingWorld(t)
	reads := w.readLate()
	ctx := deciding(t.Context(), func(op string) fate {
		if op == "Answer" { // somebody writes to the record, and the store does not say so
			stored, err := reads.Store.Load(t.Context(), key)
			require.NoError(t, err)
			_, err = reads.Replace(t.Context(), key, stored.Record, stored.Version)
			require.NoError(t, err)
			reads.next = slices.Repeat([]startrecord.Stored{stored}, 1000)
		}
		return goesWell
	})
	require.NoError(t, w.announce(ctx, "job-1"))
	require.Greater(t, len(reads.next), 990)
	reads.next = nil
	w.requireEnd(t, "T1", "SUCCEEDED")
}
