package sim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const waits = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "Next": "S"}, "S": {"Type": "Succeed"}}}`

func TestVirtualClockTimers(t *testing.T) {
	t.Parallel()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	require.True(t, clock.Virtual())
	var order []string
	note := func(name string) func() {
		return func() { order = append(order, name+" "+clock.Now().Format(time.TimeOnly)) }
	}
	clock.AfterFunc(30*time.Second, note("c"))
	stop := clock.AfterFunc(20*time.Second, note("stopped"))
	clock.AfterFunc(10*time.Second, func() {
		note("a")()
		clock.AfterFunc(-time.Second, note("b"))
	})
	clock.AfterFunc(30*time.Second, note("d"))
	clock.AfterFunc(2*time.Minute, note("later"))
	require.True(t, stop())
	require.False(t, stop())
	r := run(t, waits, `{}`, nil, sim.Options{Clock: clock})
	require.Equal(t, []string{"a 00:00:10", "b 00:00:10", "c 00:00:30", "d 00:00:30"}, order)
	require.Equal(t, at(60), r.Stop)

	// The next run goes on where the clock stands, with the timer that is left.
	r = run(t, waits, `{}`, nil, sim.Options{Clock: clock})
	require.Equal(t, "later 00:02:00", order[4])
	require.Equal(t, at(60), r.Start)
	require.Equal(t, at(120), r.Stop)
}

// A run leaves no timers of its own behind.
func TestVirtualClockIsLeftClean(t *testing.T) {
	t.Parallel()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	run(t, `{"TimeoutSeconds": 5, `+waits[1:], `{}`, nil, sim.Options{Clock: clock})
	require.Equal(t, at(5), clock.Now())
	r := run(t, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100, "End": true}}}`, `{}`, nil, sim.Options{Clock: clock})
	require.Equal(t, at(5), r.Start)
	require.Len(t, r.Events, 4)
}

// A handler may run a machine on the clock of its own run: the time that this takes is
// the time of the Task.
func TestRunInsideAHandler(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]struct {
		status  sim.Status
		elapsed time.Duration
	}{``: {sim.StatusSucceeded, time.Minute}, `, "TimeoutSeconds": 20`: {sim.StatusFailed, 20 * time.Second}} {
		clock := sim.NewVirtualClock(sim.DefaultStart())
		h := func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
			r, err := sim.Run(ctx, parse(t, waits), nil, sim.Options{Clock: clock})
			if err == nil {
				require.Equal(t, sim.StatusSucceeded, r.Status)
				require.Equal(t, at(60), r.Stop)
			}
			return sim.Reply{}, err
		}
		r := run(t, task(timeout), `{}`, h, sim.Options{Clock: clock})
		require.Equal(t, want.status, r.Status)
		require.Equal(t, want.elapsed, r.Duration())
	}
}

// A timer of the clock may run a machine, too, though the clock waits for the timer.
func TestRunInsideATimer(t *testing.T) {
	t.Parallel()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	var inner *sim.Result
	var err error
	clock.AfterFunc(30*time.Second, func() {
		inner, err = sim.Run(t.Context(), parse(t, waits), nil, sim.Options{Clock: clock})
	})
	r := run(t, waits, `{}`, nil, sim.Options{Clock: clock})
	require.NoError(t, err)
	require.Equal(t, at(30), inner.Start)
	require.Equal(t, at(90), inner.Stop)
	require.Equal(t, at(60), r.Stop)
}

// Runs at the same time share the time of the clock; one may wait for another.
func TestRunsOnOneClock(t *testing.T) {
	t.Parallel()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	const runs = 4
	var started, ended sync.WaitGroup
	started.Add(runs)
	var results [runs]*sim.Result
	var errs [runs]error
	for i := range runs {
		ended.Go(func() {
			h := func(context.Context, sim.Call) (sim.Reply, error) {
				started.Done()
				started.Wait() // none goes on before all are here
				return sim.Reply{Latency: time.Duration(i+1) * time.Minute}, nil
			}
			results[i], errs[i] = sim.Run(t.Context(), parse(t, task(``)), nil, sim.Options{Clock: clock, Handlers: map[string]sim.Handler{describe: h}})
		})
	}
	ended.Wait()
	for i := range runs {
		require.NoError(t, errs[i])
		require.GreaterOrEqual(t, results[i].Duration(), time.Duration(i+1)*time.Minute)
	}
}

// A handler may wait for another goroutine that registers a timer.
func TestVirtualClockFromOtherGoroutines(t *testing.T) {
	t.Parallel()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	var mu sync.Mutex
	status := "RUNNING"
	h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if call.State == "Start" {
				clock.AfterFunc(95*time.Second, func() {
					mu.Lock()
					defer mu.Unlock()
					status = "DONE"
				})
			}
		}()
		<-done
		mu.Lock()
		defer mu.Unlock()
		return sim.Reply{Output: map[string]any{"status": status}}, nil
	}
	r := run(t, `{"StartAt": "Start", "States": {"Start": {"Type": "Task", "Resource": "`+function+`", "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Check"}, "Check": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.status", "StringEquals": "DONE", "Next": "Done"}], "Default": "Wait"},
		"Done": {"Type": "Succeed"}}}`, `{}`, h, sim.Options{Clock: clock})
	require.Equal(t, 2*time.Minute, r.Duration())
}

func TestCancelVirtual(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	polls := 0
	h := func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
		if polls++; polls == 3 {
			cancel()
			return sim.Reply{}, ctx.Err()
		}
		return sim.Reply{}, nil
	}
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "Catch": [{"ErrorEquals": ["E"], "Next": "Z"}], "Next": "S"}, "Z": {"Type": "Succeed"}}}`)
	r, err := sim.Run(ctx, m, nil, sim.Options{Handlers: map[string]sim.Handler{describe: h}})
	require.NoError(t, err)
	require.Equal(t, sim.StatusAborted, r.Status)
	require.Equal(t, sim.ExecutionAborted, r.Events[len(r.Events)-1].Type)
	require.Equal(t, sim.TaskStarted, r.Events[len(r.Events)-2].Type)
	require.Equal(t, 3, polls)

	r, err = sim.Run(ctx, m, nil, sim.Options{Handlers: map[string]sim.Handler{describe: h}})
	require.NoError(t, err)
	require.Equal(t, []string{"ExecutionStarted", "ExecutionAborted"}, types(r))
}

// No clock of a World goes beyond the year 9999: it refuses to, or stands still there.
func TestClocksEnd(t *testing.T) {
	t.Parallel()
	last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	_, err := sim.NewClock(last.Add(time.Second), 1)
	require.EqualError(t, err, "a clock ends at 9999-12-31T23:59:59Z, and cannot show 10000-01-01T00:00:00Z")

	clock, err := sim.NewClock(last.Add(-time.Hour), 0)
	require.NoError(t, err)
	require.ErrorContains(t, clock.Advance(t.Context(), last.Add(time.Second)), "a clock ends at")
	require.Equal(t, last.Add(-time.Hour), clock.Now())
	w := newWorld(t, sim.WorldOptions{Clock: clock})
	short, long := start(t, w, waits, ``, sim.Options{Execution: "short"}), start(t, w, strings.Replace(waits, "60", "7200", 1), ``, sim.Options{Execution: "long"})
	clock.SetVirtual()
	<-short.Done()
	require.NoError(t, clock.Advance(t.Context(), last))
	require.Equal(t, last, clock.Now())
	require.Equal(t, sim.StatusRunning, long.Status())
	_, err = long.Stop("", "")
	require.NoError(t, err)

	synctest.Test(t, func(t *testing.T) {
		clock, err := sim.NewClock(last.Add(-time.Hour), 1000)
		require.NoError(t, err)
		<-time.After(time.Minute)
		require.Equal(t, last, clock.Now())
	})
}

func TestRealClock(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Check"},
		"Check": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "TimeoutSeconds": 5,
		  "Retry": [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}, {"ErrorEquals": ["Throttled"]}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.status", "StringEquals": "DONE", "Next": "Done"}], "Default": "Wait"},
		"Done": {"Type": "Succeed"}}}`
	synctest.Test(t, func(t *testing.T) {
		sleeps := func(d time.Duration, output any, err error) sim.Handler {
			return func(context.Context, sim.Call) (sim.Reply, error) {
				<-time.After(d)
				return sim.Reply{Output: output, Latency: time.Hour}, err
			}
		}
		hangs := func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
			<-ctx.Done()
			return sim.Reply{}, ctx.Err()
		}
		clock := sim.NewRealClock()
		require.False(t, clock.Virtual())
		require.Equal(t, time.Now(), clock.Now())
		h := steps(
			sleeps(time.Second, map[string]any{"status": "RUNNING"}, nil),
			sleeps(time.Second, nil, &sim.TaskError{Name: "Throttled", Latency: time.Hour}),
			hangs,
			sleeps(2*time.Second, map[string]any{"status": "DONE"}, nil),
		)
		start := time.Now()
		r, err := sim.Run(t.Context(), parse(t, definition), nil, sim.Options{Clock: clock, Handlers: map[string]sim.Handler{describe: h}})
		require.NoError(t, err)
		require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
		// wait, poll, wait, throttled, retry after 1 s times out, retry after 1 s
		want := 30*time.Second + time.Second + 30*time.Second + time.Second + time.Second + 5*time.Second + time.Second + 2*time.Second
		require.Equal(t, want, r.Duration())
		require.Equal(t, want, time.Since(start))
		require.Equal(t, 9, r.Transitions)
	})
}

func TestRealClockEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, definition string
		cancelAfter      time.Duration
		status           sim.Status
		elapsed          time.Duration
	}{
		{"cancelled in a task", task(``), 3 * time.Second, sim.StatusAborted, 3 * time.Second},
		{"cancelled in a wait", waits, 3 * time.Second, sim.StatusAborted, 3 * time.Second},
		{"machine timeout in a task", `{"TimeoutSeconds": 4, ` + task(``)[1:], 0, sim.StatusTimedOut, 4 * time.Second},
		{"task timeout", task(`, "TimeoutSeconds": 2`), 0, sim.StatusFailed, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				returned := false
				h := func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
					<-ctx.Done()
					<-time.After(time.Second)
					returned = true
					return sim.Reply{}, ctx.Err()
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancelAfter > 0 {
					time.AfterFunc(tt.cancelAfter, cancel)
				}
				r, err := sim.Run(ctx, parse(t, tt.definition), nil, sim.Options{Clock: sim.NewRealClock(), Handlers: map[string]sim.Handler{describe: h}})
				require.NoError(t, err)
				require.Equal(t, tt.status, r.Status)
				require.Equal(t, tt.elapsed, r.Duration())
				require.Equal(t, tt.definition != waits, returned, "run waits for its handlers")
			})
		})
	}
}

func TestRealClockBrokenHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		h := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, broken }
		_, err := sim.Run(t.Context(), parse(t, task(``)), nil, sim.Options{Clock: sim.NewRealClock(), Handlers: map[string]sim.Handler{describe: h}})
		require.ErrorIs(t, err, broken)
	})
}

func TestRealClockTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := sim.NewRealClock()
		fired := false
		clock.AfterFunc(time.Second, func() { fired = true })
		stop := clock.AfterFunc(time.Second, func() { panic("stopped") })
		require.True(t, stop())
		<-time.After(time.Second)
		synctest.Wait()
		require.True(t, fired)
	})
}
