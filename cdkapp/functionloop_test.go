//go:build e2e

package cdkapp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// functionLoop is the definition of a poller around functions run, check and, if it
// stops, stop.
func functionLoop(t *testing.T, maxWait float64, stops bool) *asl.StateMachine {
	t.Helper()
	all := synth(t, func(stack awscdk.Stack) {
		props := &cdkapp.FunctionPollerProps{RunJob: ownFunction(stack, "Run", 30), CheckStatus: ownFunction(stack, "Check", 30), MaxWait: seconds(maxWait)}
		if stops {
			props.StopJob = ownFunction(stack, "Stop", 30)
		}
		cdkapp.NewFunctionPoller(stack, new("Poller"), props)
	})
	names := map[string]string{"Run": "run", "Check": "check"}
	if stops {
		names["Stop"] = "stop"
	}
	definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
	for id, name := range names {
		definition = strings.ReplaceAll(definition, functionARN(t, all, id, ""), name)
	}
	require.Empty(t, asl.Validate([]byte(definition), asl.Standard))
	parsed, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	require.Empty(t, lint.Check(parsed, lint.Options{}))
	return parsed
}

// own are functions that say what they are told to, on a clock of their own.
type own struct {
	clock       *sim.Clock
	waitSeconds any
	end         string // what check says once the job has run for so long
	after       time.Duration
	failsAt     int // the poll at which check breaks, from 1
	stopFails   bool

	runs, polls, stops []map[string]any // events
	started            time.Time
}

func (o *own) options(t *testing.T) sim.Options {
	t.Helper()
	event := func(events *[]map[string]any, payload []byte) {
		var e map[string]any
		require.NoError(t, json.Unmarshal(payload, &e))
		*events = append(*events, e)
	}
	functions := map[string]sim.LambdaFunction{
		"run": func(_ context.Context, payload []byte) ([]byte, error) {
			event(&o.runs, payload)
			o.started = o.clock.Now()
			return json.Marshal(map[string]any{"status": "RUNNING", "waitSeconds": o.waitSeconds, "reason": "it is started"})
		},
		"check": func(_ context.Context, payload []byte) ([]byte, error) {
			event(&o.polls, payload)
			if len(o.polls) == o.failsAt {
				return nil, &sim.FunctionError{Type: "Broken", Message: "a bug"}
			}
			status := "RUNNING"
			if o.end != "" && o.clock.Now().Sub(o.started) >= o.after {
				status = o.end
			}
			return json.Marshal(map[string]any{"status": status, "waitSeconds": o.waitSeconds, "reason": "it is " + status})
		},
		"stop": func(_ context.Context, payload []byte) ([]byte, error) {
			event(&o.stops, payload)
			if o.stopFails {
				return nil, &sim.FunctionError{Type: "Broken", Message: "a bug"}
			}
			return []byte("{}"), nil
		},
	}
	return sim.Options{Clock: o.clock, Handlers: map[string]sim.Handler{"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(functions)}}
}

func (o *own) run(t *testing.T, m *asl.StateMachine, input string) *sim.Result {
	t.Helper()
	o.clock = sim.NewVirtualClock(sim.DefaultStart())
	result, err := sim.Run(t.Context(), m, []byte(input), o.options(t))
	require.NoError(t, err)
	return result
}

// lasted is the time from the start of the job to the end of the execution.
func (o *own) lasted(r *sim.Result) time.Duration { return r.Stop.Sub(o.started) }

// A CheckStatus that says RUNNING for ever is asked up to MaxWait, and no longer.
func TestE2EFunctionPollerEndsAtMaxWaitThoughCheckStatusSaysRunning(t *testing.T) {
	t.Parallel()
	o := &own{waitSeconds: 20}
	result := o.run(t, functionLoop(t, 7200, true), `{"name": "orders"}`)
	require.Equal(t, "JobPoller.TimedOut", result.Error, result.Cause)
	require.Equal(t, "not finished after 7200 s; it is RUNNING", result.Cause)
	require.InDelta(t, 7200, o.lasted(result).Seconds(), 2)
	require.GreaterOrEqual(t, o.lasted(result), 2*time.Hour, "a function with a deadline of its own has seen it pass")
	require.Len(t, o.stops, 1)
	last := o.polls[len(o.polls)-1]
	require.Equal(t, o.stops[0]["Deadline"], last["Deadline"])
	require.Equal(t, o.stops[0]["StartedAt"], last["StartedAt"])
	require.Equal(t, "TIMED_OUT", o.stops[0]["Result"].(map[string]any)["status"])
	require.InDelta(t, 7200, o.runs[0]["MaxWaitSeconds"], 0)
	require.Equal(t, map[string]any{"name": "orders"}, last["Execution"].(map[string]any)["Input"])
	require.LessOrEqual(t, len(o.polls), 362)
}

// The longest wait that fits into an execution fits into its history, whatever delay
// CheckStatus asks for.
func TestE2EFunctionPollerOfAYearFitsIntoTheHistory(t *testing.T) {
	t.Parallel()
	for _, wait := range []float64{0, 1, 60} {
		o := &own{waitSeconds: wait}
		result := o.run(t, functionLoop(t, 364*24*3600, false), `{}`)
		require.Equal(t, "JobPoller.TimedOut", result.Error, "%v: %s", wait, result.Cause)
		require.Less(t, len(result.Events), 24_000)
	}
}

func TestE2EFunctionPollerEnds(t *testing.T) {
	t.Parallel()
	machines := map[bool]*asl.StateMachine{true: functionLoop(t, 600, true), false: functionLoop(t, 600, false)}
	for name, c := range map[string]struct {
		functions      own
		input          string
		stops          bool
		err, cause     string
		lasts          float64 // seconds
		polls, stopped int
	}{
		"well":                         {own{waitSeconds: 60, end: "SUCCEEDED", after: time.Minute}, `{}`, true, "", "", 60, 1, 0},
		"with a failure":               {own{waitSeconds: 60, end: "FAILED", after: 2 * time.Minute}, `{}`, true, "JobPoller.Failed", "it is FAILED", 120, 2, 0},
		"by itself":                    {own{waitSeconds: 60, end: "TIMED_OUT", after: 2 * time.Minute}, `{}`, true, "JobPoller.TimedOut", "it is TIMED_OUT", 120, 2, 0},
		"at the deadline":              {own{waitSeconds: 250, end: "SUCCEEDED", after: 10 * time.Minute}, `{}`, true, "", "", 600, 3, 0},
		"late":                         {own{waitSeconds: 250}, `{}`, false, "JobPoller.TimedOut", "not finished after 600 s; it is RUNNING", 600, 3, 0},
		"late, as the input asks":      {own{waitSeconds: 250}, `{"maxWaitSeconds": 300}`, true, "JobPoller.TimedOut", "not finished after 300 s; it is RUNNING", 300, 2, 1},
		"late, and cannot be stopped":  {own{waitSeconds: 600, stopFails: true}, `{}`, true, "JobPoller.TimedOut", "not finished after 600 s; it is RUNNING; it could not be stopped: Broken", 600, 1, 1},
		"without a delay":              {own{}, `{}`, true, "JobPoller.UnexpectedStatus", "RUNNING with the number waitSeconds", 0, 1, 0},
		"with a wait that is too long": {own{waitSeconds: 60}, `{"maxWaitSeconds": 601}`, true, "JobPoller.InvalidRequest", "maxWaitSeconds must be a whole number from 1 to 600.", 0, 0, 0},
		"with a wait of no number":     {own{waitSeconds: 60}, `{"maxWaitSeconds": "300"}`, true, "JobPoller.InvalidRequest", "maxWaitSeconds must be", 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &c.functions
			result := o.run(t, machines[c.stops], c.input)
			require.Equal(t, c.err, result.Error, result.Cause)
			require.Contains(t, result.Cause, c.cause)
			require.Len(t, o.polls, c.polls)
			require.Len(t, o.stops, c.stopped)
			if c.polls > 0 {
				require.InDelta(t, c.lasts, o.lasted(result).Seconds(), 2)
			}
		})
	}
}

// The state machine's own limit is behind all that its calls can take: each fails as
// often as it is tried again, after its whole minute.
func TestE2EFunctionPollerEndsBeforeItsLimit(t *testing.T) {
	t.Parallel()
	o := &own{waitSeconds: 60, clock: sim.NewVirtualClock(sim.DefaultStart())}
	m := functionLoop(t, 7200, true)
	require.EqualValues(t, 3*3600, m.TimeoutSeconds)
	options := o.options(t)
	answer := options.Handlers["arn:aws:states:::lambda:invoke"]
	options.Handlers["arn:aws:states:::lambda:invoke"] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		early := call.State == "CheckStatus" && call.Time.Sub(o.started) < 7200*time.Second
		before := int64(call.RetryCount)
		for _, r := range m.State(call.State).Retry {
			if !early && before < r.MaxAttempts {
				return sim.Reply{}, &sim.TaskError{Name: r.ErrorEquals[0], Latency: 59 * time.Second}
			}
			before -= r.MaxAttempts
		}
		return answer(ctx, call)
	}
	result, err := sim.Run(t.Context(), m, []byte(`{}`), options)
	require.NoError(t, err)
	require.Equal(t, "JobPoller.TimedOut", result.Error, result.Cause)
	require.Greater(t, result.Duration(), 7200*time.Second+30*time.Minute)
}

// A redrive enters CheckStatus again, and gives the job new time.
func TestE2ERedriveOfAFunctionPollerGivesTheJobNewTime(t *testing.T) {
	t.Parallel()
	o := &own{waitSeconds: 60, failsAt: 3, end: "SUCCEEDED", after: 5*time.Hour + 5*time.Minute}
	m := functionLoop(t, 600, true)
	failed := o.run(t, m, `{}`)
	require.Equal(t, "Broken", failed.Error)
	o.clock = sim.NewVirtualClock(sim.DefaultStart().Add(5 * time.Hour))
	result, err := sim.Redrive(t.Context(), m, failed, o.options(t))
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
	redriven, err := time.Parse(time.RFC3339, o.polls[len(o.polls)-1]["Deadline"].(string))
	require.NoError(t, err)
	require.InDelta(t, 600, redriven.Sub(sim.DefaultStart().Add(5*time.Hour)).Seconds(), 2)
}
