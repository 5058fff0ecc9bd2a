package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/growthtest"
)

const activityLoop = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + activity + `", "End": true}}}`

// startMany starts n executions of a World whose clock stands still.
func startMany(t *testing.T, w *sim.World, definition string, n int) []*sim.Execution {
	t.Helper()
	m := parse(t, definition)
	all := make([]*sim.Execution, n)
	for i := range all {
		o := growthOptions()
		o.Execution = fmt.Sprint(i)
		var err error
		all[i], err = w.Start(m, nil, o)
		require.NoError(t, err)
	}
	return all
}

func stillWorld(t *testing.T, journal sim.Journal) *sim.World {
	t.Helper()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	return newWorld(t, sim.WorldOptions{Clock: clock, Journal: journal})
}

// worldWork is what a World does n times, after what prepares it.
var worldWork = map[string]func(t *testing.T, n int) func(){
	"executions that pass": func(t *testing.T, n int) func() {
		m := parse(t, growthPass)
		return func() { runInWorld(t, m, nil, n) }
	},
	"executions that wait for one time": func(t *testing.T, n int) func() {
		w := stillWorld(t, nil)
		startMany(t, w, growthWait, n)
		return func() { require.NoError(t, w.Clock().Advance(t.Context(), w.Clock().Now().Add(time.Hour))) }
	},
	"executions that are stopped": func(t *testing.T, n int) func() {
		all := startMany(t, stillWorld(t, nil), growthWait, n)
		return func() {
			for _, e := range all {
				_, err := e.Stop("", "")
				require.NoError(t, err)
			}
		}
	},
	"executions that are forgotten": func(t *testing.T, n int) func() {
		w := stillWorld(t, nil)
		all := startMany(t, w, growthWait, n)
		require.NoError(t, w.Clock().Advance(t.Context(), w.Clock().Now().Add(time.Hour)))
		return func() {
			for _, e := range all {
				require.True(t, w.Forget(e.ARN()))
			}
		}
	},
	"Tasks of an activity":               func(t *testing.T, n int) func() { return workOnActivity(t, n, false) },
	"Tasks of an activity, from the end": func(t *testing.T, n int) func() { return workOnActivity(t, n, true) },
	"workers that leave an activity": func(t *testing.T, n int) func() {
		return func() { leaveActivity(t, n) }
	},
	"heartbeats of one Task":   func(t *testing.T, n int) func() { return beat(t, 1, n) },
	"heartbeats of many Tasks": func(t *testing.T, n int) func() { return beat(t, n, 1) },
	"Map Runs of one execution": func(t *testing.T, n int) func() {
		w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
		definition := growthMap(`"ItemSelector": {"items": [1]}, "ItemProcessor": ` + growthMap(growthRun(growthPass)))
		return func() {
			e := start(t, w, strings.Replace(definition, `"StartAt": "M", "States": {"M"`, `"StartAt": "O", "States": {"O"`, 1), string(growthInput(n/4)), growthOptions())
			<-e.Done()
			require.Len(t, e.Snapshot().MapRuns, n/4)
		}
	},
	"redrives of one execution": func(t *testing.T, n int) func() {
		w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
		e := start(t, w, `{"StartAt": "F", "States": {"F": {"Type": "Fail"}}}`, "{}", sim.Options{MaxEvents: -1})
		<-e.Done()
		return func() {
			for range n {
				_, err := e.Redrive()
				require.NoError(t, err)
				<-e.Done()
			}
		}
	},
	"events of a history, read one by one": func(t *testing.T, n int) func() {
		w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
		e := start(t, w, growthMap(`"ItemProcessor": `+growthPass), string(growthInput(n)), growthOptions())
		<-e.Done()
		return func() {
			for i := range e.Progress().Events {
				if found := e.Events(i, 1); len(found) != 1 || found[0].ID != i+1 {
					require.Fail(t, "another event", "%d: %v", i+1, found)
				}
			}
		}
	},
	"timers of a clock": func(t *testing.T, n int) func() {
		clock, err := sim.NewClock(sim.DefaultStart(), 0)
		require.NoError(t, err)
		return func() {
			var stops []func() bool
			for i := range n {
				stops = append(stops, clock.AfterFunc(time.Duration(i%100)*time.Second, func() {}))
			}
			for _, stop := range stops[n/2:] {
				stop()
			}
			require.NoError(t, clock.Advance(t.Context(), clock.Now().Add(time.Hour)))
		}
	},
	"records of a journal": func(t *testing.T, n int) func() {
		j := &memory{}
		w := stillWorld(t, j)
		m := parse(t, growthMap(growthRun(growthWait)))
		_, err := w.Start(m, growthInput(n), growthOptions())
		require.NoError(t, err)
		startMany(t, w, growthWait, n)
		require.NoError(t, w.Clock().Advance(t.Context(), w.Clock().Now().Add(time.Hour)))
		return func() {
			again := stillWorld(t, nil)
			for _, record := range j.all() {
				err := again.Replay(record, func(o *sim.Options) (*asl.StateMachine, error) {
					if o.Execution == "execution-1" {
						return m, nil
					}
					return parse(t, growthWait), nil
				})
				require.NoError(t, err)
			}
			again.Resume()
		}
	},
}

// What a World does for each execution, Task, worker and timer does not depend on how
// many others there are.
func TestWorldGrowsLinearly(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	for name, prepare := range worldWork { //nolint:paralleltest // as above
		t.Run(name, func(t *testing.T) { growthtest.Linear(t, func(n int) func() { return prepare(t, n) }) })
	}
}

// workOnActivity has one worker take and end n Tasks of an activity, which are aborted
// from the last if wanted.
func workOnActivity(t *testing.T, n int, aborted bool) func() {
	t.Helper()
	w := stillWorld(t, nil)
	all := startMany(t, w, activityLoop, n)
	return func() {
		for i := range n {
			if aborted {
				_, err := all[n-1-i].Stop("", "")
				require.NoError(t, err)
				continue
			}
			token, _, err := w.ActivityTask(t.Context(), activity, "")
			require.NoError(t, err)
			require.NoError(t, w.SendTaskHeartbeat(token))
			require.NoError(t, w.SendTaskSuccess(token, []byte("{}")))
		}
	}
}

// beat sends heartbeats for so many Tasks, times for each.
func beat(t *testing.T, tasks, times int) func() {
	t.Helper()
	w := stillWorld(t, nil)
	startMany(t, w, strings.Replace(activityLoop, `"End"`, `"HeartbeatSeconds": 60, "End"`, 1), tasks)
	tokens := make([]string, tasks)
	for i := range tokens {
		var err error
		tokens[i], _, err = w.ActivityTask(t.Context(), activity, "")
		require.NoError(t, err)
	}
	return func() {
		for _, token := range tokens {
			for range times {
				require.NoError(t, w.SendTaskHeartbeat(token))
			}
		}
	}
}

// leaveActivity has n workers wait for an activity, and leave, the last first.
func leaveActivity(t *testing.T, n int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := stillWorld(t, nil)
		leave := make([]context.CancelFunc, n)
		for i := range leave {
			var ctx context.Context
			ctx, leave[i] = context.WithCancel(t.Context())
			go func() { _, _, _ = w.ActivityTask(ctx, activity, "") }()
			synctest.Wait()
		}
		for _, cancel := range slices.Backward(leave) {
			cancel()
			synctest.Wait()
		}
		w.Close()
	})
}

// A Map Run counted its child executions whenever it was asked for.
func TestMapRunIsDescribedInAMoment(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	const questions = 200
	growthtest.Flat(t, func(n int) func() {
		w := stillWorld(t, nil)
		e := start(t, w, growthMap(growthRun(growthWait)), string(growthInput(n)), growthOptions())
		require.NoError(t, w.Clock().Advance(t.Context(), w.Clock().Now()))
		run := w.MapRun(e.Snapshot().MapRuns[0])
		return func() {
			for range questions {
				require.Equal(t, n, run.Snapshot().Items.Total)
			}
		}
	})
}
