package handler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// step is one invocation of RunJob.
type step struct {
	after time.Duration // the clock moves before it
	fates map[string]fate
	want  string // RUNNING, an error's name, or "killed"
	// What is there after it.
	jobs   int
	record startrecord.Status // empty: no record
}

const (
	running     = "RUNNING"
	dead        = "killed"
	inProgress  = handler.ErrorJobStartInProgress
	unknown     = handler.ErrorJobStartUnknown
	unavailable = handler.ErrorServiceUnavailable
	noStore     = handler.ErrorStoreUnavailable

	starting = startrecord.StatusStarting
	started  = startrecord.StatusStarted
	failed   = startrecord.StatusFailed
	noRecord = startrecord.Status("")
)

// over is when a lease of the record has ended: ages are exact to a second.
const over = lease + 2*time.Second

// The table has a row for each place where an invocation can die or lose an
// answer, by the order of what RunJob does.
func TestRunJobCrashPoints(t *testing.T) {
	t.Parallel()
	for kind, open := range openStores() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dieAtEachPoint(t, open)
		})
	}
}

func dieAtEachPoint(t *testing.T, open openStore) {
	t.Helper()
	all := []string{"token", "token 8h", "natural key", "none"}
	repeatable := all[:3]
	one := func(s step) []step { return []step{s} }
	do := func(op string, f fate) map[string]fate { return map[string]fate{op: f} }
	// replayed is what every later call does once the job is known.
	replayed := step{after: over, want: running, jobs: 1, record: started}
	// A dead owner's lease must end before anybody may act.
	waits := step{after: lease, want: inProgress, record: starting}
	waitsFor1 := step{after: lease, want: inProgress, jobs: 1, record: starting}
	// takesOver is the call after that, where the job may be started again.
	takesOver := step{after: 2 * time.Second, want: running, jobs: 1, record: started}
	// givesUp is that call where it may not.
	givesUp := func(n int) step {
		return step{after: 2 * time.Second, want: unknown, jobs: n, record: startrecord.StatusUnknown}
	}
	tests := []struct {
		name    string
		classes []string
		steps   []step
	}{
		{"nothing happens", all, one(step{want: running, jobs: 1, record: started})},
		{"0 dies before the create", all, []step{
			{fates: do("Create", diesBefore), want: dead, record: noRecord},
			{want: running, jobs: 1, record: started},
			replayed,
		}},
		{"1 create is lost before its effect", all, []step{
			{fates: do("Create", lostBefore), want: noStore, record: noRecord},
			{want: running, jobs: 1, record: started},
		}},
		{"1 answer to the create is lost", repeatable, []step{
			{fates: do("Create", lostAfter), want: noStore, record: starting}, waits, takesOver, replayed,
		}},
		{"1 answer to the create is lost", all[3:], []step{
			{fates: do("Create", lostAfter), want: noStore, record: starting}, waits, givesUp(0), givesUp(0),
		}},
		{"1' dies after the create", repeatable, []step{
			{fates: do("Create", diesAfter), want: dead, record: starting}, waits, takesOver, replayed,
		}},
		{"1' dies after the create", all[3:], []step{
			{fates: do("Create", diesAfter), want: dead, record: starting}, waits, givesUp(0), givesUp(0),
		}},
		{"2 dies before the takeover", repeatable, []step{
			{fates: do("Create", diesAfter), want: dead, record: starting},
			{after: over, fates: do("Replace", diesBefore), want: dead, record: starting},
			{want: running, jobs: 1, record: started},
		}},
		{"2 takeover is lost before its effect", repeatable, []step{
			{fates: do("Create", diesAfter), want: dead, record: starting},
			{after: over, fates: do("Replace", lostBefore), want: noStore, record: starting},
			{want: running, jobs: 1, record: started},
		}},
		{"2 dies before it gives up", all[3:], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: over, fates: do("Replace", diesBefore), want: dead, jobs: 1, record: starting},
			givesUp(1),
		}},
		{"3 dies after the takeover", repeatable, []step{
			{fates: do("Create", diesAfter), want: dead, record: starting},
			{after: over, fates: do("Replace", diesAfter), want: dead, record: starting},
			waits, takesOver,
		}},
		{"3 answer to the takeover is lost", repeatable, []step{
			{fates: do("Create", diesAfter), want: dead, record: starting},
			{after: over, fates: do("Replace", lostAfter), want: noStore, record: starting},
			waits, takesOver,
		}},
		{"3 dies after it gives up", all[3:], []step{
			{fates: do("Start", diesBefore), want: dead, record: starting},
			{after: over, fates: do("Replace", diesAfter), want: dead, record: startrecord.StatusUnknown},
			givesUp(0),
		}},
		{"4 dies before the start", repeatable, []step{
			{fates: do("Start", diesBefore), want: dead, record: starting}, waits, takesOver,
		}},
		{"4 dies before the start", all[3:], []step{
			{fates: do("Start", diesBefore), want: dead, record: starting}, waits, givesUp(0),
		}},
		{"4 dies before the second start", []string{"token", "token 8h"}, []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: over, fates: do("Start", diesBefore), want: dead, jobs: 1, record: starting},
			waitsFor1, takesOver,
		}},
		{"4 dies before it looks for the job", all[2:3], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: over, fates: do("Find", diesBefore), want: dead, jobs: 1, record: starting},
			waitsFor1, takesOver,
		}},
		{"5 dies after the start", repeatable, []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting}, waitsFor1, takesOver, replayed,
		}},
		{"5 dies after the start", all[3:], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting}, waitsFor1, givesUp(1), givesUp(1),
		}},
		// The token makes another call safe at once.
		{"5' start is lost before its effect", all[:2], []step{
			{fates: do("Start", lostBefore), want: unavailable, record: starting},
			{want: running, jobs: 1, record: started},
		}},
		{"5' answer to the start is lost", all[:2], []step{
			{fates: do("Start", lostAfter), want: unavailable, jobs: 1, record: starting},
			{want: running, jobs: 1, record: started},
			replayed,
		}},
		{"5' the effect of a lost start comes late", all[:2], []step{
			{fates: do("Start", late), want: unavailable, record: starting},
			{want: running, jobs: 1, record: started},
			{after: delay, want: running, jobs: 1, record: started},
		}},
		// Only after the margin does the job show, if there is one.
		{"5' start is lost before its effect", all[2:3], []step{
			{fates: do("Start", lostBefore), want: unavailable, record: starting},
			{after: 6 * time.Second, want: inProgress, record: starting},
			{after: time.Second, want: running, jobs: 1, record: started},
		}},
		{"5' the effect of a lost start comes late", all[2:3], []step{
			{fates: do("Start", late), want: unavailable, record: starting},
			{after: 3 * time.Second, want: inProgress, record: starting},
			{after: delay, want: running, jobs: 1, record: started},
		}},
		{"5' start is lost before its effect", all[3:], []step{
			{fates: do("Start", lostBefore), want: unknown, record: startrecord.StatusUnknown}, givesUp(0),
		}},
		{"5' answer to the start is lost", all[3:], []step{
			{fates: do("Start", lostAfter), want: unknown, jobs: 1, record: startrecord.StatusUnknown}, givesUp(1),
		}},
		{"5' and dies before it gives the lease back", repeatable, []step{
			{fates: map[string]fate{"Start": lostAfter, "Replace": diesBefore}, want: dead, jobs: 1, record: starting}, waitsFor1, takesOver,
		}},
		{"5' and cannot give the lease back", repeatable, []step{
			{fates: map[string]fate{"Start": lostAfter, "Replace": lostBefore}, want: unavailable, jobs: 1, record: starting}, waitsFor1, takesOver,
		}},
		{"5' and cannot write that it does not know", all[3:], []step{
			{fates: map[string]fate{"Start": lostAfter, "Replace": lostBefore}, want: unknown, jobs: 1, record: starting}, waitsFor1, givesUp(1),
		}},
		{"6 answer to the last write is lost", all, []step{
			{fates: do("Replace", lostAfter), want: noStore, jobs: 1, record: started}, replayed,
		}},
		{"6 last write is lost before its effect", repeatable, []step{
			{fates: do("Replace", lostBefore), want: noStore, jobs: 1, record: starting}, waitsFor1, takesOver,
		}},
		{"6 last write is lost before its effect", all[3:], []step{
			{fates: do("Replace", lostBefore), want: noStore, jobs: 1, record: starting}, waitsFor1, givesUp(1),
		}},
		{"7 dies after the last write", all, []step{
			{fates: do("Replace", diesAfter), want: dead, jobs: 1, record: started}, replayed,
		}},
		{"the record cannot be read", all, []step{
			{want: running, jobs: 1, record: started},
			{fates: do("Load", lostBefore), want: noStore, jobs: 1, record: started},
			replayed,
		}},
		// A refusal and a throttled call have no effect.
		{"refused", all, []step{
			{fates: do("Start", refused), want: handler.ErrorFailed, record: failed},
			{fates: do("Start", refused), want: handler.ErrorFailed, record: failed},
			{want: running, jobs: 1, record: started},
			replayed,
		}},
		{"throttled", all, []step{
			{fates: do("Start", throttled), want: unavailable, record: failed},
			{want: running, jobs: 1, record: started},
		}},
		{"refused, then lost", all[3:], []step{
			{fates: do("Start", refused), want: handler.ErrorFailed, record: failed},
			{fates: do("Start", lostAfter), want: unknown, jobs: 1, record: startrecord.StatusUnknown},
		}},
		// What the service says of a second call is no word on the first.
		{"dies after the start, then refused", all[:2], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: over, fates: do("Start", refused), want: handler.ErrorFailed, jobs: 1, record: starting},
			{want: running, jobs: 1, record: started},
		}},
		{"dies after the start, then throttled", all[1:2], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: over, fates: do("Start", throttled), want: unavailable, jobs: 1, record: starting},
			{after: 8 * time.Hour, want: unknown, jobs: 1, record: startrecord.StatusUnknown},
		}},
		{"dies after the start, then looking for it is throttled", all[2:3], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: over, fates: do("Find", throttled), want: unavailable, jobs: 1, record: starting},
			{after: 7 * time.Second, fates: do("Find", refused), want: handler.ErrorFailed, jobs: 1, record: starting},
			{after: 7 * time.Second, fates: do("Find", lostBefore), want: unavailable, jobs: 1, record: starting},
			{after: 7 * time.Second, want: running, jobs: 1, record: started},
		}},
		// The service forgets a token after its window.
		{"token used just before its window ends", all[1:2], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: 8*time.Hour - lease - time.Second, want: running, jobs: 1, record: started},
		}},
		{"token whose window may end during the call", all[1:2], []step{
			{fates: do("Start", diesAfter), want: dead, jobs: 1, record: starting},
			{after: 8*time.Hour - lease, want: unknown, jobs: 1, record: startrecord.StatusUnknown},
		}},
		{"start lost again after the window", all[1:2], []step{
			{fates: do("Create", diesAfter), want: dead, record: starting},
			{after: 8 * time.Hour, want: unknown, record: startrecord.StatusUnknown},
		}},
	}
	for _, tt := range tests {
		for _, class := range tt.classes {
			t.Run(tt.name+"/"+class, func(t *testing.T) {
				t.Parallel()
				newWorldOf(t, open, class).follow(t, tt.steps)
			})
		}
	}
}

// follow invokes RunJob as the steps say.
func (w *world) follow(t *testing.T, steps []step) {
	t.Helper()
	for i, s := range steps {
		w.advance(s.after)
		result, died, err := invoke(deciding(t.Context(), fates(s.fates)), w.RunJob, bare(request))
		got := dead
		switch {
		case err != nil:
			got = named(t, err).Type
		case !died:
			got = string(result.Status)
			require.Equal(t, "job-1", result.Job["Id"])
			require.Equal(t, w.record(t, key).StartedAt, result.StartedAt)
		}
		require.Equal(t, s.want, got, "invocation %d: %v", i+1, err)
		require.Equal(t, s.jobs, w.service.count(), "jobs after invocation %d", i+1)
		if s.record == noRecord {
			_, err := w.store.Store.Load(t.Context(), key)
			require.ErrorIs(t, err, startrecord.ErrNotFound)
		} else {
			require.Equal(t, s.record, w.record(t, key).Status, "after invocation %d", i+1)
		}
	}
}

// Every pair of deaths, on top of the table: the first two invocations are
// killed before or after any of their operations, and those after them are not.
// Then a job by token or natural key has been started once, and one of neither
// at most once; and what is known in the end is known for good.
func TestRunJobDiesTwice(t *testing.T) {
	t.Parallel()
	for kind, open := range openStores() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dieTwice(t, open)
		})
	}
}

func dieTwice(t *testing.T, open openStore) {
	t.Helper()
	// No invocation has more operations than this.
	const operations = 5
	type death struct {
		at   int // the operation, from 1; 0 is none
		when fate
	}
	deaths := []death{{}}
	for at := range operations {
		deaths = append(deaths, death{at + 1, diesBefore}, death{at + 1, diesAfter})
	}
	dying := func(d death) func(string) fate {
		n := 0
		return func(string) fate {
			if n++; n == d.at {
				return d.when
			}
			return goesWell
		}
	}
	for class := range classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			for _, first := range deaths {
				for _, second := range deaths {
					w := newWorldOf(t, open, class)
					for _, d := range []death{first, second} {
						_, _, _ = invoke(deciding(t.Context(), dying(d)), w.RunJob, bare(request))
						w.advance(over)
					}
					result, _, err := invoke(t.Context(), w.RunJob, bare(request))
					again, _, errAgain := invoke(t.Context(), w.RunJob, bare(request))
					if class == "none" && err != nil {
						requireError(t, err, unknown)
						requireError(t, errAgain, unknown)
						require.LessOrEqual(t, w.service.count(), 1)
						continue
					}
					require.NoError(t, err, "%v, then %v", first, second)
					require.NoError(t, errAgain)
					require.Equal(t, 1, w.service.count(), "%v, then %v", first, second)
					require.Equal(t, jobs.Ref{"Id": "job-1"}, result.Job)
					require.Equal(t, result.Job, again.Job)
					require.Equal(t, started, w.record(t, key).Status)
				}
			}
		})
	}
}

// Whoever takes over adds a generation and a lease; nothing else changes.
func TestRunJobTakeoverRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, died, _ := invoke(deciding(t.Context(), fates(map[string]fate{"Start": diesBefore})), w.RunJob, bare(request))
	require.True(t, died)
	first := w.record(t, key)
	require.Equal(t, 1, first.Generation)
	require.Equal(t, 65, first.LeaseSeconds)
	w.advance(over)
	_, died, _ = invoke(deciding(t.Context(), fates(map[string]fate{"Start": diesBefore})), w.RunJob, bare(request))
	require.True(t, died)
	second := w.record(t, key)
	require.NotEqual(t, first.Nonce, second.Nonce)
	// ... and the expiry, which every write moves.
	first.Generation, first.Nonce, first.ExpiresAt = 2, second.Nonce, first.ExpiresAt.Add(over)
	require.Equal(t, first, second)
}

// An owner that stalls over its start call, and wakes when its lease is over,
// finds that its record is another's by now.
func TestRunJobOwnerWakesAfterItsLease(t *testing.T) {
	t.Parallel()
	// The natural key is left out: it is safe only while pauses are shorter
	// than the lease.
	for class, want := range map[string]string{"token": running, "none": unknown} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, class)
			stalled, wake := make(chan struct{}), make(chan struct{})
			type outcome struct {
				id  string
				err error
			}
			woken := make(chan outcome)
			go func() {
				ctx := deciding(t.Context(), func(op string) fate {
					if op == "Start" {
						close(stalled)
						<-wake
					}
					return goesWell
				})
				result, _, err := invoke(ctx, w.RunJob, bare(request))
				var o outcome
				if o.err = err; result != nil {
					o.id = result.Job["Id"]
				}
				woken <- o
			}()
			<-stalled
			w.advance(over)
			result, _, err := invoke(t.Context(), w.RunJob, bare(request))
			close(wake)
			late := <-woken
			require.Equal(t, 1, w.service.count())
			require.NoError(t, late.err)
			require.Equal(t, "job-1", late.id)
			require.Equal(t, started, w.record(t, key).Status)
			if want == unknown {
				// The successor gave up and started nothing, so the job of
				// the owner is the only one, and known again.
				requireError(t, err, unknown, jobName, "memory:")
				result = w.runJob(t, bare(request))
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, late.id, result.Job["Id"])
			require.Equal(t, 1, w.service.count())
		})
	}
}
