package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Whatever dies, is lost, comes twice, early or late: a Task gets one answer, which is that
// of pollcore.Wait, its job is started as often as is promised, and after the end no
// message is left.
func TestCollectEndsEachWaitOnce(t *testing.T) {
	t.Parallel()
	for _, class := range []string{"token", "natural key", "stoppable", "none"} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) { followDrawnWait(t, r, class) })
		})
	}
}

// A request whose machine waits for half an hour, and 20 minutes more for the answer.
const (
	drawnWait    = 30 * time.Minute
	machineWaits = drawnWait + 20*time.Minute
)

func followDrawnWait(t *testing.T, r *rapid.T, class string) {
	w := newCollectWorld(r, class)
	w.service.onStop = stateCanceled
	ends := rapid.SampledFrom([]map[string]any{stateDone, stateCanceled}).Draw(r, "end")
	after := time.Duration(rapid.IntRange(0, 40*60).Draw(r, "after")) * time.Second
	w.endsAt(after, ends)
	maxDelay := rapid.SampledFrom([]int{20, 60, 900}).Draw(r, "maxDelay")
	request := fmt.Sprintf(`{"job": "test:Job", "maxWaitSeconds": %d, "minDelay": 10, "maxDelay": %d}`, int(drawnWait.Seconds()), maxDelay)

	// The fates are drawn beforehand: an invocation asks for them from several goroutines.
	faults := []fate{diesBefore, diesAfter, lostBefore, lostAfter, throttled}
	drawn := rapid.SliceOfN(rapid.IntRange(0, 4*len(faults)), 0, 40).Draw(r, "fates")
	decide := func(string) fate {
		if len(drawn) == 0 {
			return goesWell
		}
		n := drawn[0]
		drawn = drawn[1:]
		if n < len(faults) {
			return faults[n]
		}
		return goesWell
	}
	ctx := deciding(t.Context(), decide)

	token := w.startDrawn(ctx, r, class, request)
	require.LessOrEqual(r, w.service.count(), 1)
	if token == "" {
		return
	}

	// Events come early, in time, late, twice, or not at all.
	announced := rapid.SliceOfN(rapid.IntRange(-60, 300), 0, 3).Draw(r, "events")
	var events []time.Time
	for _, late := range announced {
		events = append(events, w.begun.Add(after+time.Duration(late)*time.Second))
	}
	slices.SortFunc(events, time.Time.Compare)
	doubled := rapid.SliceOfN(rapid.IntRange(0, 60), 0, 6).Draw(r, "doubled")
	for step := 0; ; step++ {
		require.Less(r, step, 2000, "a message lives for ever")
		m := w.queue.first()
		if m == nil && len(events) == 0 {
			break
		}
		if len(events) > 0 && (m == nil || events[0].Before(m.at)) {
			w.advance(max(0, events[0].Sub(w.clock.Now())))
			if err := w.announce(ctx, "job-1"); err != nil {
				events[0] = w.clock.Now().Add(time.Minute) // Lambda tries again
				slices.SortFunc(events, time.Time.Compare)
			} else {
				events = events[1:]
			}
			continue
		}
		w.advance(max(0, m.at.Sub(w.clock.Now())))
		received := w.queue.receive(1)
		if slices.Contains(doubled, step) {
			for _, m := range received {
				w.queue.Send(t.Context(), []handler.Message{{Body: m.body}})
			}
		}
		if _, err := w.deliver(ctx, received); err != nil {
			require.ErrorIs(r, err, errKilled)
		}
	}
	require.Empty(r, w.queue.dead)
	require.Len(r, w.tasks.ends, 1)
	require.Equal(r, token, w.tasks.ends[0].token)
	require.Less(r, w.clock.Now().Sub(w.begun), machineWaits+time.Hour)
	var got handler.Result
	require.NoError(r, json.Unmarshal([]byte(w.tasks.ends[0].output), &got))
	requireAsWait(t, r, w, got, after, ends)
}

// startDrawn starts a Task, as a machine does that retries it with a new token. It returns
// the token that waits, empty for an end as JobPoller.JobStartUnknown.
func (w *collectWorld) startDrawn(ctx context.Context, r *rapid.T, class, request string) string {
	for tries := range 60 {
		token := fmt.Sprint("T", tries)
		died, err := w.start(ctx, try{token: token, request: request, retry: tries})
		if err != nil && named(r, err).Type == unknown {
			require.Equal(r, "none", class)
			return ""
		}
		if !died && err == nil {
			return token
		}
		w.advance(over)
	}
	require.Fail(r, "the Task never starts")
	return ""
}

// requireAsWait compares with a wait in a Go program. Where faults let the last poll come
// late, the job may have ended meanwhile, which counts.
func requireAsWait(t *testing.T, r *rapid.T, w *collectWorld, got handler.Result, after time.Duration, ends map[string]any) {
	wait := after + time.Hour
	if got.Status == pollcore.TimedOut {
		// The wait begins with the record, which is before the job in this world.
		require.GreaterOrEqual(r, got.ElapsedSeconds, int(drawnWait.Seconds()))
		wait = drawnWait
	}
	var want pollcore.Outcome[any]
	synctest.Test(t, func(t *testing.T) {
		began := time.Now().Add(w.begun.Sub(got.StartedAt))
		var err error
		want, err = pollcore.Wait(t.Context(), jobWaiter, jobs.Ref{"Id": "job-1"}, wait, func(context.Context, jobs.Ref) (any, error) {
			if time.Since(began) < after {
				return any(stateRunning), nil
			}
			ended := maps.Clone(ends)
			ended["EndedAt"] = w.begun.Add(after).Format(time.RFC3339)
			return any(ended), nil
		})
		require.True(t, err == nil || errors.Is(err, pollcore.ErrFailed) || errors.Is(err, pollcore.ErrTimedOut), "%v", err)
	})
	require.Equal(r, want.Status, got.Status)
	require.Equal(r, jsonOf(t, want.Output), jsonOf(t, got.Output))
	if got.Status == pollcore.TimedOut {
		require.Contains(r, got.Reason, strings.TrimPrefix(want.Reason, "no acceptor matched: "))
	} else {
		require.Equal(r, want.Reason, got.Reason)
	}
}
