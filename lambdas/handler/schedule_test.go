package handler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// actor is an invocation of RunJob that does its operations one at a time, when
// it is told and with the fate that it is told.
type actor struct {
	began time.Time
	asks  chan string
	told  chan fate
	done  chan struct{}

	op    string // the operation it is about to do
	ended bool
	job   string // what it returned
	err   error
}

func (w *world) act(t *rapid.T) *actor {
	a := &actor{began: w.clock.Now(), asks: make(chan string), told: make(chan fate), done: make(chan struct{})}
	ctx := deciding(t.Context(), func(op string) fate {
		a.asks <- op
		return <-a.told
	})
	go func() {
		defer close(a.done)
		result, _, err := invoke(ctx, w.RunJob, bare(request))
		if a.err = err; result != nil {
			a.job = result.Job["Id"]
		}
	}()
	a.next()
	return a
}

// next waits until the actor is about to do an operation or has ended.
func (a *actor) next() {
	select {
	case a.op = <-a.asks:
	case <-a.done:
		a.ended = true
	}
}

func (a *actor) tell(f fate) {
	a.told <- f
	a.next()
}

// storeFates and serviceFates are what can become of an operation. Most go
// well, so that schedules get far.
var (
	storeFates   = append(slices.Repeat([]fate{goesWell}, 8), diesBefore, diesAfter, lostBefore, lostAfter)
	serviceFates = []fate{goesWell, goesWell, goesWell, diesBefore, diesAfter, lostBefore, lostAfter, late, late, throttled, refused}
)

// Up to three invocations at a time, in any order of their operations, each of
// which may fail, lose its answer or be its invocation's last: there is never
// more than one job, nobody is told of another, and in the end it is known or
// known to be unknown.
func TestRunJobStartsAtMostOneJob(t *testing.T) {
	t.Parallel()
	for class := range classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				for range rapid.IntRange(1, 6).Draw(t, "executions") {
					startUnderFaults(t, class)
				}
			})
		})
	}
}

func startUnderFaults(t *rapid.T, class string) {
	w := newWorld(t, class)
	var all, alive []*actor
	for range rapid.IntRange(10, 60).Draw(t, "steps") {
		if len(alive) == 0 && len(all) > 0 && w.settled() {
			break
		}
		switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
		case what < 2:
			w.advance(time.Duration(rapid.SampledFrom([]int{1, 5, 30, 67, 4 * 3600}).Draw(t, "seconds")) * time.Second)
		case len(alive) == 0 || what == 2 && len(alive) < 3:
			a := w.act(t)
			all, alive = append(all, a), append(alive, a)
		default:
			a := rapid.SampledFrom(alive).Draw(t, "actor")
			f := rapid.SampledFrom(storeFates).Draw(t, "fate")
			if a.op == "Start" || a.op == "Find" {
				f = rapid.SampledFrom(serviceFates).Draw(t, "fate of the call")
			}
			// Lambda kills an invocation at its deadline. A service that does
			// not forget a token, or is called once only, can do without that.
			bounded := class == "token 8h" || class == "natural key"
			if bounded && w.clock.Now().Sub(a.began) >= time.Minute {
				f = diesBefore
			}
			a.tell(f)
		}
		alive = living(alive)
		require.LessOrEqual(t, w.service.count(), 1, "jobs started")
	}
	for _, a := range alive {
		a.tell(diesBefore)
	}
	w.advance(over)
	end := outcome(t, w, class)
	require.LessOrEqual(t, w.service.count(), 1, "jobs started")
	for _, a := range all {
		<-a.done
		require.Contains(t, []string{"", "job-1"}, a.job)
		if a.job != "" {
			require.Equal(t, "job-1", end, "one was told of the job")
		}
	}
}

func living(actors []*actor) []*actor {
	var alive []*actor
	for _, a := range actors {
		if !a.ended {
			alive = append(alive, a)
		}
	}
	return alive
}

// settled tells whether the record will not change any more.
func (w *world) settled() bool {
	stored, err := w.store.Store.Load(context.Background(), key)
	return err == nil && (stored.Record.Status == startrecord.StatusStarted || stored.Record.Status == startrecord.StatusUnknown)
}

// outcome is what an undisturbed call makes of the record.
func outcome(t *rapid.T, w *world, class string) string {
	result, _, err := invoke(t.Context(), w.RunJob, bare(request))
	if err != nil {
		requireError(t, err, handler.ErrorJobStartUnknown)
		require.Contains(t, []string{"none", "token 8h"}, class)
		require.Equal(t, startrecord.StatusUnknown, w.record(t, key).Status)
		return "unknown"
	}
	require.Equal(t, 1, w.service.count())
	return result.Job["Id"]
}
