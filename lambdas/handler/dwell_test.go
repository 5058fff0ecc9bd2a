package handler_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// scripted is a service that answers by the time since a job's start.
type scripted struct {
	*service

	began  time.Time
	script func(elapsed time.Duration) (any, error)
	calls  []time.Duration
}

func (s *scripted) Describe(context.Context, jobs.Ref) (any, error) {
	elapsed := time.Since(s.began)
	s.calls = append(s.calls, elapsed)
	return s.script(elapsed)
}

// The waiter's delays are 10 s, then 11.5 and 13.2; a check waits the longest that
// can be drawn of them, 10, 13 and 15 s.
func TestDwell(t *testing.T) {
	t.Parallel()
	finishedAfter := func(d time.Duration) func(time.Duration) (any, error) {
		return func(elapsed time.Duration) (any, error) {
			if elapsed >= d {
				return stateDone, nil
			}
			return stateRunning, nil
		}
	}
	const s = time.Second
	tests := []struct {
		name    string
		dwell   string
		timeout time.Duration // of the invocation
		script  func(time.Duration) (any, error)
		calls   []time.Duration
		status  string
		attempt int
	}{
		{"no dwell", "0", 900 * s, finishedAfter(5 * s), []time.Duration{0}, "RUNNING", 1},
		{"ends while it dwells", "60", 900 * s, finishedAfter(25 * s), []time.Duration{0, 10 * s, 23 * s, 38 * s}, "SUCCEEDED", 4},
		{"dwell too short for the next", "22", 900 * s, finishedAfter(25 * s), []time.Duration{0, 10 * s}, "RUNNING", 2},
		{"dwell as long as the next", "23", 900 * s, finishedAfter(20 * s), []time.Duration{0, 10 * s, 23 * s}, "SUCCEEDED", 3},
		{"not past the invocation's end", "900", 27 * s, finishedAfter(20 * s), []time.Duration{0, 10 * s}, "RUNNING", 2},
		{"up to what is left of the invocation", "900", 28 * s, finishedAfter(20 * s), []time.Duration{0, 10 * s, 23 * s}, "SUCCEEDED", 3},
		{"deadline passes while it dwells", "900", 900 * s, finishedAfter(1000 * s), []time.Duration{0, 10 * s, 23 * s, 38 * s, 55 * s, 74 * s, 100 * s}, "TIMED_OUT", 7},
		{"an answer is lost while it dwells", "60", 900 * s, func(elapsed time.Duration) (any, error) {
			if elapsed > 0 {
				return nil, errLost
			}
			return stateRunning, nil
		}, []time.Duration{0, 10 * s}, "RUNNING", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &scripted{
					service: &service{clock: &clock{now: time.Now()}, idempotency: classes["token"]},
					began:   time.Now(), script: tt.script,
				}
				registry, err := jobs.NewRegistry(service)
				require.NoError(t, err)
				p, err := handler.New(handler.Config{
					Store: memstore.New(time.Now), Jobs: registry, Random: func(n int64) int64 { return n - 1 },
				})
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				_, err = p.RunJob(ctx, json.RawMessage(bare(`{"job": "test:Job", "maxWaitSeconds": 100, "dwellSeconds": `+tt.dwell+`}`)))
				require.NoError(t, err)
				result, err := p.CheckStatus(ctx, json.RawMessage(call(`, "Input": {"attempt": 0}`)))
				require.NoError(t, err)
				require.Equal(t, tt.calls, service.calls)
				require.EqualValues(t, tt.status, result.Status)
				require.Equal(t, tt.attempt, result.Attempt)
			})
		})
	}
}

// An invocation that is given up ends its dwell at once.
func TestDwellIsCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "token", func(c *handler.Config) { c.Now, c.NoDwell = time.Now, false })
		dwelling := `{"job": "test:Job", "maxWaitSeconds": 100, "dwellSeconds": 60}`
		w.runJob(t, bare(dwelling))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		began := time.Now()
		result, err := w.CheckStatus(ctx, json.RawMessage(bare(dwelling)))
		require.NoError(t, err)
		require.EqualValues(t, "RUNNING", result.Status)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}
