package compile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Wherever a machine was stopped, a redrive hours later gives the job its time anew:
// all of it before the first call, and behind the initial delay what is left then.
func TestRedriveWhereverItWasStopped(t *testing.T) {
	t.Parallel()
	const maxWait, initial, delay = 30 * time.Minute, 5 * time.Minute, time.Minute
	phases := &pollcore.Planned{Delays: seconds(300, 30, 30, 30, 30, 40, 40, 40, 50, 50, 50, 50, 50, 50), Then: delay}
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	for _, strategy := range noLambda {
		for name, stop := range map[string]time.Duration{
			"in the start call": time.Second, "in the initial delay": 2 * time.Minute,
			"in a call": initial + 10*time.Second + 5*time.Second, "in a delay": maxWait / 2, "near the end": maxWait - time.Second,
		} {
			for i, ends := range []time.Duration{maxWait - initial - 2*delay, 100 * maxWait, maxWait - initial - 2*delay, 100 * maxWait} {
				o := compile.Options{Strategy: strategy, MaxWait: maxWait, InitialDelay: initial, MinDelay: delay, MaxDelay: delay}
				if i >= 2 {
					o = compile.Options{Strategy: strategy, MaxWait: maxWait, Schedule: phases}
				}
				t.Run(fmt.Sprint(strategy, "/", name, "/", ends, "/", o.Schedule != nil), func(t *testing.T) {
					t.Parallel()
					m, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
					require.NoError(t, err)
					const gap = 3 * time.Hour // as long as nobody looks at the alarm
					redriven := sim.DefaultStart().Add(stop + gap)
					answer := func(output func(time.Time) any) sim.Handler {
						return func(_ context.Context, call sim.Call) (sim.Reply, error) {
							return sim.Reply{Output: output(call.Time), Latency: 10 * time.Second}, nil
						}
					}
					o := sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart()), Handlers: map[string]sim.Handler{
						integration(e.Service, "StartQueryExecution"): answer(func(time.Time) any { return values{"QueryExecutionId": "q-1"} }),
						integration(e.Service, "StopQueryExecution"):  answer(func(time.Time) any { return values{} }),
						integration(e.Service, "GetQueryExecution"): answer(func(now time.Time) any {
							state := "RUNNING"
							if !now.Before(redriven.Add(ends)) {
								state = "SUCCEEDED"
							}
							return values{"QueryExecution": values{"Status": values{"State": state}}}
						}),
					}}
					m.Machine.TimeoutSeconds = int64(stop / time.Second)
					r, err := sim.Run(t.Context(), m.Machine, []byte(`{"QueryString": "SELECT 1"}`), o)
					require.NoError(t, err)
					require.Equal(t, sim.StatusTimedOut, r.Status)

					o.Clock = sim.NewVirtualClock(redriven)
					m.Machine.TimeoutSeconds = 0
					r, err = sim.Redrive(t.Context(), m.Machine, r, o)
					require.NoError(t, err)
					took := r.Stop.Sub(redriven)
					if ends > maxWait {
						require.Equal(t, "JobPoller.TimedOut", r.Error, r.Cause)
						require.NotContains(t, r.Cause, "QueryEvaluationError")
						require.Greater(t, took, maxWait-initial-delay)
						require.Less(t, took, maxWait+maxWait/2) // slow calls delay a loop without a clock
						return
					}
					require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
					require.GreaterOrEqual(t, took, ends)
					require.Less(t, took, ends+2*delay)
				})
			}
		}
	}
}

// A machine that is redriven twice has its time anew each time, alone and among the
// states of another. In the call that stops the job its time is over: a redrive makes
// that call again, and no other.
func TestRedriveTwiceAndInTheStopCall(t *testing.T) {
	t.Parallel()
	const maxWait = 30 * time.Minute
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	for _, strategy := range noLambda {
		for _, fragment := range []bool{false, true} {
			for _, ends := range []bool{false, true} {
				t.Run(fmt.Sprint(strategy, " fragment ", fragment, " ends ", ends), func(t *testing.T) {
					t.Parallel()
					o := compile.Options{Strategy: strategy, MaxWait: maxWait}
					if fragment {
						o.Prefix = "Own"
						o.Exits = map[pollcore.Status]string{pollcore.Succeeded: "Done", pollcore.Failed: "Broken", pollcore.TimedOut: "Late"}
					}
					m, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
					require.NoError(t, err)
					q := &brokenQuery{redriven: sim.DefaultStart(), after: maxWait * 3 / 4, ends: ends}
					handlers := q.handlers(e.Service)
					r, err := sim.Run(t.Context(), m.Machine, []byte(`{"QueryString": "SELECT 1"}`), sim.Options{
						Clock: sim.NewVirtualClock(q.redriven), Handlers: handlers,
					})
					require.NoError(t, err)
					redrive := func() {
						t.Helper()
						require.Equal(t, "States.Runtime", r.Error, r.Cause)
						q.redriven = r.Stop.Add(3 * time.Hour)
						r, err = sim.Redrive(t.Context(), m.Machine, r, sim.Options{Clock: sim.NewVirtualClock(q.redriven), Handlers: handlers})
						require.NoError(t, err)
					}
					redrive()
					require.Equal(t, 2, q.fails)
					redrive()
					status := "SUCCEEDED"
					if !ends {
						status = "TIMED_OUT"
						require.InDelta(t, maxWait.Seconds(), r.Stop.Sub(q.redriven).Seconds(), 60)
						before := q.describes
						redrive()
						require.Equal(t, before, q.describes)
						require.Equal(t, 2, q.stops)
					}
					if fragment {
						require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
						require.Contains(t, string(r.Output), `"status":"`+status+`"`)
						return
					}
					got, _ := ended(t, r)
					require.Equal(t, status, got)
				})
			}
		}
	}
}

// brokenQuery is a job whose description fails twice, each time so long after the
// start or the last redrive, with what nothing catches; the call that stops it fails once.
type brokenQuery struct {
	redriven                time.Time
	after                   time.Duration
	ends                    bool // when the description has failed twice
	fails, describes, stops int
}

func (q *brokenQuery) handlers(s *catalog.Service) map[string]sim.Handler {
	broken := &sim.TaskError{Name: "States.Runtime"}
	return map[string]sim.Handler{
		integration(s, "StartQueryExecution"): func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: values{"QueryExecutionId": "q-1"}}, nil
		},
		integration(s, "GetQueryExecution"): func(_ context.Context, call sim.Call) (sim.Reply, error) {
			q.describes++
			late, state := call.Time.Sub(q.redriven) > q.after, "RUNNING"
			switch {
			case late && q.fails < 2:
				q.fails++
				return sim.Reply{}, broken
			case late && q.ends:
				state = "SUCCEEDED"
			}
			return sim.Reply{Output: values{"QueryExecution": values{"Status": values{"State": state}}}}, nil
		},
		integration(s, "StopQueryExecution"): func(context.Context, sim.Call) (sim.Reply, error) {
			if q.stops++; q.stops == 1 {
				return sim.Reply{}, broken
			}
			return sim.Reply{Output: values{}}, nil
		},
	}
}

// integration is the resource of an SDK integration.
func integration(s *catalog.Service, operation string) string {
	return "arn:aws:states:::aws-sdk:" + s.ARNName + ":" + strings.ToLower(operation[:1]) + operation[1:]
}
