package tests_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// redriven is a machine that is stopped or fails, and is redriven hours later.
type redriven struct {
	name    string
	machine func(t *testing.T) *asl.StateMachine
	input   string
	maxWait time.Duration
	job     string
}

// A redrive gives every strategy its time anew, in a whole machine and in a
// fragment, after it was stopped in a delay and after a call failed that nothing
// catches: a job that ends then has succeeded, and one that does not end times out.
func TestRedriveGivesNewTime(t *testing.T) {
	t.Parallel()
	const maxWait = 30 * time.Minute
	entry, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	var all []redriven
	for _, strategy := range everyStrategy {
		o := compile.Options{Strategy: strategy, MaxWait: maxWait, MinDelay: time.Minute, MaxDelay: time.Minute}
		all = append(all, redriven{
			string(strategy) + ", whole", func(t *testing.T) *asl.StateMachine {
				t.Helper()
				compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), o)
				require.NoError(t, err)
				return compiled.Machine
			}, `{"ExportArn": "arn:export"}`, maxWait, "",
		}, redriven{
			string(strategy) + ", fragment", func(t *testing.T) *asl.StateMachine {
				t.Helper()
				o := o
				o.Prefix = "First"
				o.Exits = map[pollcore.Status]string{pollcore.Succeeded: "Done", pollcore.Failed: "Broken", pollcore.TimedOut: "Late"}
				compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), o)
				require.NoError(t, err)
				var m map[string]any
				require.NoError(t, json.Unmarshal(asl.Print(compiled.Machine), &m))
				states := m["States"].(map[string]any)
				states["Late"] = map[string]any{"Type": "Fail", "Error": "JobPoller.TimedOut", "CausePath": "$.reason"}
				states["Broken"] = map[string]any{"Type": "Fail", "Error": "JobPoller.Failed", "CausePath": "$.reason"}
				text, err := json.Marshal(m)
				require.NoError(t, err)
				host, err := asl.Parse(text)
				require.NoError(t, err)
				return host
			}, `{"ExportArn": "arn:export"}`, maxWait, "",
		})
	}
	// The functions give a job all of its time anew, behind the initial delay too.
	planned := pollcore.Planned{Delays: []time.Duration{20 * time.Minute}, Then: time.Minute}
	for name, o := range map[string]compile.Options{
		"initial delay": {InitialDelay: planned.Before(1), MinDelay: planned.Then, MaxDelay: planned.Then}, "schedule": {Schedule: &planned},
	} {
		for _, strategy := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
			all = append(all, redriven{string(strategy) + ", " + name, func(t *testing.T) *asl.StateMachine {
				t.Helper()
				o := o // the cases of a strategy run beside one another
				o.Strategy, o.MaxWait = strategy, maxWait
				compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), o)
				require.NoError(t, err)
				return compiled.Machine
			}, `{"ExportArn": "arn:export"}`, maxWait, ""})
		}
	}
	for name, input := range map[string]string{
		"lambda-loop":       `{"job": "` + exportJob + `", "maxWaitSeconds": 1800, "arguments": {"TableArn": "arn:t", "S3Bucket": "b"}}`,
		"lambda-loop-count": `{"job": "` + exportJob + `", "maxWaitCount": 30, "waitSeconds": 60, "arguments": {"TableArn": "arn:t", "S3Bucket": "b"}}`,
		"lambda-retry":      `{"TableArn": "arn:t", "S3Bucket": "b"}`,
	} {
		wait := maxWait
		if name == "lambda-retry" {
			wait = 2 * time.Hour
		}
		all = append(all, redriven{"shipped " + name, func(t *testing.T) *asl.StateMachine {
			t.Helper()
			definition, err := statemachines.Definition(name)
			require.NoError(t, err)
			m, err := asl.Parse(definition)
			require.NoError(t, err)
			return m
		}, input, wait, exportJob})
	}
	for _, tt := range all {
		for _, fails := range []bool{false, true} {
			for _, ends := range []bool{false, true} {
				name := tt.name + map[bool]string{true: ", a call failed", false: ", it was stopped"}[fails] + map[bool]string{true: ", the job ends", false: ""}[ends]
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					tt.run(t, entry, fails, ends)
				})
			}
		}
	}
}

func (r redriven) run(t *testing.T, entry *catalog.Entry, fails, ends bool) {
	t.Helper()
	const gap = 3 * time.Hour
	stop := r.maxWait - 30*time.Second
	e := &export{waiter: entry.Waiter, clock: sim.NewVirtualClock(sim.DefaultStart()), lasts: 1000 * time.Hour, job: r.job}
	again := false
	handlers := e.handlers(t)
	for resource, h := range handlers {
		handlers[resource] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if fails && !again && call.Time.Sub(sim.DefaultStart()) > stop-2*time.Minute {
				return sim.Reply{}, &sim.TaskError{Name: "States.Runtime"}
			}
			return h(ctx, call)
		}
	}
	m := r.machine(t)
	m.TimeoutSeconds = int64(stop / time.Second)
	o := sim.Options{Clock: e.clock, Handlers: handlers}
	result, err := sim.Run(t.Context(), m, []byte(r.input), o)
	require.NoError(t, err)
	if fails && m.State("JobStatus") == nil {
		require.Equal(t, "States.Runtime", result.Error)
	}
	require.NotEqual(t, sim.StatusSucceeded, result.Status)

	pause, err := asl.Parse([]byte(`{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 10800, "End": true}}}`))
	require.NoError(t, err)
	_, err = sim.Run(t.Context(), pause, nil, sim.Options{Clock: e.clock})
	require.NoError(t, err)
	redrive := result.Stop.Add(gap)
	if ends {
		e.lasts = redrive.Sub(sim.DefaultStart()) + r.maxWait*3/4
	}
	again, m.TimeoutSeconds = true, 0
	result, err = sim.Redrive(t.Context(), m, result, o)
	require.NoError(t, err)
	took := result.Stop.Sub(redrive)
	if ends {
		require.Equal(t, sim.StatusSucceeded, result.Status, "%s: %s", result.Error, result.Cause)
		require.InDelta(t, (r.maxWait * 3 / 4).Minutes(), took.Minutes(), 2.1)
		return
	}
	require.Equal(t, "JobPoller.TimedOut", result.Error, result.Cause)
	require.InDelta(t, r.maxWait.Minutes(), took.Minutes(), 2.1)
}
