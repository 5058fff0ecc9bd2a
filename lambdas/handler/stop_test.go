package handler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

var (
	stateRunning  = map[string]any{"State": "RUNNING"}
	stateCanceled = map[string]any{"State": "BROKEN", "Why": "canceled"}
	stateDone     = map[string]any{"State": "DONE"}
)

// overdue is a world with a job that can be stopped and whose time is up.
func overdue(t *testing.T, onStop map[string]any) *world {
	t.Helper()
	w := newWorld(t, "stoppable")
	w.runJob(t, bare(request))
	w.advance(30 * time.Minute)
	w.service.onStop = onStop
	w.store.take()
	return w
}

func TestStopOnTimeout(t *testing.T) {
	t.Parallel()
	w := overdue(t, stateCanceled)
	result := w.checkStatus(t, bare(request))
	require.EqualValues(t, "TIMED_OUT", result.Status)
	require.Equal(t, `not finished after 30m0s (max wait 30m0s): State = "RUNNING"; the job was told to stop`, result.Reason)
	require.Equal(t, 1, w.service.stops)
	require.Equal(t, "Load Replace Replace", w.store.take(), "that it is going to be stopped is recorded first")
	rec := w.record(t, key)
	require.Equal(t, startrecord.StatusTimedOut, rec.Status)
	require.Equal(t, w.clock.Now(), rec.StopRequestedAt)
	require.Equal(t, jsonOf(t, result), jsonOf(t, w.checkStatus(t, bare(request))))
	require.Equal(t, 1, w.service.stops)

	// A redrive finds it stopped, and why.
	w.advance(time.Hour)
	again := w.checkStatus(t, redriven(bare(request), 1, w.clock.Now()))
	require.EqualValues(t, "TIMED_OUT", again.Status)
	require.Equal(t, `State == "BROKEN" (acceptor 2 of 3): canceled; a stop was requested at 2026-11-20T10:00:14Z, because this wait timed out`, again.Reason)
	require.Equal(t, 1, w.service.stops)
}

// A job that has ended well before the order reached it has not timed out.
func TestStopComesTooLate(t *testing.T) {
	t.Parallel()
	w := overdue(t, stateDone)
	require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, bare(request)).Status)
	require.Equal(t, startrecord.StatusSucceeded, w.record(t, key).Status)
}

func TestStopIsNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "stoppable")
	leave := `{"job": "test:Job", "maxWaitSeconds": 1800, "onTimeout": "leave"}`
	w.runJob(t, bare(leave))
	w.advance(30 * time.Minute)
	require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(leave)).Status)
	require.Zero(t, w.service.stops)

	w = newWorld(t, "stoppable")
	stop := `{"job": "test:Job", "maxWaitSeconds": 1800, "onTimeout": "stop"}`
	w.runJob(t, bare(stop))
	w.advance(30 * time.Minute)
	w.service.onStop = stateCanceled
	require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(stop)).Status)
	require.Equal(t, 1, w.service.stops)
}

// The table has a row for each place where a check that stops the job can die
// or lose an answer. Whatever happens, a job that was stopped has timed out, and
// is not one that failed by itself.
func TestStopCrashPoints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fates map[string]fate
		first string
	}{
		{"dies before it is recorded", map[string]fate{"Replace": diesBefore}, dead},
		{"dies after it is recorded", map[string]fate{"Replace": diesAfter}, dead},
		{"record is lost before its effect", map[string]fate{"Replace": lostBefore}, noStore},
		{"answer to the record is lost", map[string]fate{"Replace": lostAfter}, noStore},
		{"dies before the stop", map[string]fate{"Stop": diesBefore}, dead},
		{"dies after the stop", map[string]fate{"Stop": diesAfter}, dead},
		{"stop is lost before its effect", map[string]fate{"Stop": lostBefore}, unavailable},
		{"answer to the stop is lost", map[string]fate{"Stop": lostAfter}, unavailable},
		{"stop is throttled", map[string]fate{"Stop": throttled}, unavailable},
		{"dies before it looks again", map[string]fate{"Describe 2": diesBefore}, dead},
		{"cannot look again", map[string]fate{"Describe 2": lostBefore}, "TIMED_OUT"},
		{"dies before the end is recorded", map[string]fate{"Replace 2": diesBefore}, dead},
		{"end is lost before its effect", map[string]fate{"Replace 2": lostBefore}, noStore},
		{"dies after the end is recorded", map[string]fate{"Replace 2": diesAfter}, dead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := overdue(t, stateCanceled)
			result, died, err := invoke(deciding(t.Context(), fates(tt.fates)), w.CheckStatus, bare(request))
			switch {
			case died:
				require.Equal(t, dead, tt.first)
			case err != nil:
				require.Equal(t, tt.first, named(t, err).Type)
			default:
				require.EqualValues(t, tt.first, result.Status)
			}
			last := w.checkStatus(t, bare(request))
			require.EqualValues(t, "TIMED_OUT", last.Status)
			require.Regexp(t, "the job was told to stop|a stop was requested at", last.Reason)
			require.Equal(t, startrecord.StatusTimedOut, w.record(t, key).Status)
			require.Equal(t, 1, w.service.stops)
		})
	}
}

// A refusal does not keep the machine waiting: the end says that the job runs on.
func TestStopIsRefused(t *testing.T) {
	t.Parallel()
	w := overdue(t, stateCanceled)
	result, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Stop": refused})), w.CheckStatus, bare(request))
	require.NoError(t, err)
	require.EqualValues(t, "TIMED_OUT", result.Status)
	require.Contains(t, result.Reason, `; the stop call failed: api error AccessDeniedException`)
	require.Zero(t, w.service.stops)
	require.Equal(t, jsonOf(t, result), jsonOf(t, w.checkStatus(t, bare(request))))

	// What it comes to after that is its own doing.
	w.service.says(map[string]any{"State": "BROKEN", "Why": "disk full"}, nil)
	again := w.checkStatus(t, redriven(bare(request), 1, w.clock.Now()))
	require.EqualValues(t, "FAILED", again.Status)
	require.Equal(t, `State == "BROKEN" (acceptor 2 of 3): disk full`, again.Reason)
}

// A service may refuse to stop a job because it has just ended.
func TestStopIsRefusedAsTheJobHasEnded(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{"BROKEN": "FAILED", "DONE": "SUCCEEDED"} {
		w := overdue(t, stateCanceled)
		result, _, err := invoke(deciding(t.Context(), func(op string) fate {
			if op != "Stop" {
				return goesWell
			}
			w.service.says(map[string]any{"State": state}, nil)
			return refused
		}), w.CheckStatus, bare(request))
		require.NoError(t, err)
		require.EqualValues(t, want, result.Status, result.Reason)
	}
}

// A stop that nobody is known to have taken counts for the wait that it ended,
// and not for the one that a redrive began.
func TestStopOfAnEarlierWait(t *testing.T) {
	t.Parallel()
	for _, becomes := range []fate{lostBefore, diesBefore} {
		w := overdue(t, stateCanceled)
		_, _, _ = invoke(deciding(t.Context(), fates(map[string]fate{"Stop": becomes})), w.CheckStatus, bare(request))
		require.Zero(t, w.service.stops)
		requested := w.clock.Now()
		require.Equal(t, requested, w.record(t, key).StopRequestedAt)

		w.advance(time.Hour)
		again := redriven(bare(request), 1, w.clock.Now())
		require.EqualValues(t, "RUNNING", w.checkStatus(t, again).Status)
		w.advance(5 * time.Minute)
		w.service.says(map[string]any{"State": "BROKEN", "Why": "disk full"}, nil)
		result := w.checkStatus(t, again)
		require.EqualValues(t, "FAILED", result.Status)
		require.Equal(t, `State == "BROKEN" (acceptor 2 of 3): disk full; a stop was requested at 2026-11-20T10:00:14Z, because an earlier wait timed out`, result.Reason)
	}
}

// telling is a stoppable driver whose service tells a job that was stopped.
type telling struct{ stoppable }

func (telling) WasStopped(output any) (stopped, known bool) {
	members, _ := output.(map[string]any)
	why, known := members["Why"]
	return why == stateCanceled["Why"], known
}

// A job that fails by itself has failed, whatever became of the call that was to stop it.
func TestStopOfAJobThatFailsByItself(t *testing.T) {
	t.Parallel()
	broken := map[string]any{"State": "BROKEN", "Why": "disk full"}
	for name, tt := range map[string]struct {
		fates map[string]fate
		tells bool // the service tells a job that was stopped
	}{
		"throttled":                    {map[string]fate{"Stop": throttled}, false},
		"throttled, service tells":     {map[string]fate{"Stop": throttled}, true},
		"dies before the stop":         {map[string]fate{"Stop": diesBefore}, true},
		"stop is lost":                 {map[string]fate{"Stop": lostBefore}, true},
		"request cannot be withdrawn":  {map[string]fate{"Stop": throttled, "Replace 2": lostBefore}, true},
		"stop is taken, end is killed": {map[string]fate{"Describe 2": diesBefore}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "stoppable", func(c *handler.Config) {
				d, err := c.Jobs.Driver(jobName)
				require.NoError(t, err)
				if s, ok := d.(stoppable); ok && tt.tells {
					d = telling{s}
				}
				c.Jobs, err = jobs.NewRegistry(d)
				require.NoError(t, err)
			})
			w.runJob(t, bare(request))
			w.advance(30 * time.Minute)
			_, died, err := invoke(deciding(t.Context(), fates(tt.fates)), w.CheckStatus, bare(request))
			require.True(t, died || err != nil)
			w.advance(time.Minute)
			w.service.says(broken, nil)
			require.EqualValues(t, "FAILED", w.checkStatus(t, bare(request)).Status)
			require.Equal(t, startrecord.StatusFailed, w.record(t, key).Status)
		})
	}
}

// Also a job that fails while the stop call is under way.
func TestStopCrossesAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "stoppable", func(c *handler.Config) {
		d, err := c.Jobs.Driver(jobName)
		require.NoError(t, err)
		s, ok := d.(stoppable)
		require.True(t, ok)
		c.Jobs, err = jobs.NewRegistry(telling{s})
		require.NoError(t, err)
	})
	w.runJob(t, bare(request))
	w.advance(30 * time.Minute)
	w.service.onStop = map[string]any{"State": "BROKEN", "Why": "disk full"}
	result := w.checkStatus(t, bare(request))
	require.EqualValues(t, "FAILED", result.Status)
	require.Contains(t, result.Reason, "disk full; a stop was requested at")
}

// Two checks try to stop a job. The call of the first has its effect, though its answer is
// lost; that the second one is throttled does not change why the job ends.
func TestStopIsNotWithdrawnForAnotherCheck(t *testing.T) {
	t.Parallel()
	w := overdue(t, nil)
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Stop": lostAfter})), w.CheckStatus, bare(request))
	requireError(t, err, unavailable)
	_, _, err = invoke(deciding(t.Context(), fates(map[string]fate{"Stop": throttled})), w.CheckStatus, bare(request))
	requireError(t, err, unavailable)
	w.service.says(stateCanceled, nil)
	require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(request)).Status)
}

// The wait of a redrive has a stop of its own.
func TestStopInTheNextWait(t *testing.T) {
	t.Parallel()
	w := overdue(t, stateCanceled)
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Stop": throttled})), w.CheckStatus, bare(request))
	requireError(t, err, handler.ErrorServiceUnavailable)
	w.advance(time.Hour)
	again := redriven(bare(request), 1, w.clock.Now())
	w.advance(30 * time.Minute)
	_, died, _ := invoke(deciding(t.Context(), fates(map[string]fate{"Stop": diesAfter})), w.CheckStatus, again)
	require.True(t, died)
	require.Equal(t, w.clock.Now(), w.record(t, key).StopRequestedAt)
	result := w.checkStatus(t, again)
	require.EqualValues(t, "TIMED_OUT", result.Status)
	require.Contains(t, result.Reason, "a stop was requested at 2026-11-20T11:30:14Z, because this wait timed out")
	require.Equal(t, 1, w.service.stops)
}

// A second check that acts while the first is stopping the job has the last
// word, once.
func TestStopTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := overdue(t, stateCanceled)
	var other *handler.Result
	ctx := deciding(t.Context(), func(op string) fate {
		if op == "Stop" && other == nil {
			other = w.checkStatus(t, bare(request))
		}
		return goesWell
	})
	result, _, err := invoke(ctx, w.CheckStatus, bare(request))
	require.NoError(t, err)
	require.Equal(t, jsonOf(t, other), jsonOf(t, result))
	require.Equal(t, jsonOf(t, other), jsonOf(t, w.checkStatus(t, bare(request))))
}
