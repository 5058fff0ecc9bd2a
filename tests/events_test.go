package tests_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// collectedExport is an export for whose end a Task waits by a token.
type collectedExport struct {
	*export
	*localloop.Collector

	starts int

	announced bool // an event tells of the end
	lost      bool // the collector never runs
	refused   int  // messages that the queue is yet to refuse
}

func (c *collectedExport) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	c.starts++
	if c.announced {
		if err := c.Announce(map[string]any{"source": "test", "detail-type": "Ended", "id": "1"}, c.lasts); err != nil {
			return nil, err
		}
	}
	return c.export.Start(ctx, r)
}

func (*collectedExport) JobIDs(ref jobs.Ref) ([]string, error) { return []string{ref["Job"]}, nil }

func (*collectedExport) ReadEvent(event map[string]any) (id string, ok bool) {
	id, ok = event["id"].(string)
	return id, ok
}

func (c *collectedExport) Send(ctx context.Context, messages []handler.Message) []error {
	if c.refused > 0 {
		c.refused--
		return []error{&smithy.GenericAPIError{Code: "ServiceUnavailable", Fault: smithy.FaultServer}}
	}
	return c.Collector.Send(ctx, messages)
}

// run runs a compiled machine.
func (c *collectedExport) run(t *testing.T, m *asl.StateMachine) *sim.Result {
	t.Helper()
	c.clock = sim.NewVirtualClock(sim.DefaultStart())
	c.Collector = localloop.NewCollector(c.clock, 10)
	registry, err := jobs.NewRegistry(c)
	require.NoError(t, err)
	h, err := handler.New(handler.Config{
		Store: memstore.New(c.clock.Now), Jobs: registry, Now: c.clock.Now, NoDwell: true, Queue: c, Tasks: c,
	})
	require.NoError(t, err)
	c.Collector.Start(func(ctx context.Context, payload json.RawMessage) (*handler.Collected, error) {
		if c.lost {
			return nil, errors.New("it does not work")
		}
		return h.Collect(ctx, payload)
	})
	invoke := sim.LambdaInvoke(localloop.Functions(h))
	r, err := sim.Run(t.Context(), m, []byte(`{"TableArn": "arn:t"}`), sim.Options{Clock: c.clock, Handlers: map[string]sim.Handler{
		"arn:aws:states:::lambda:invoke": invoke, "arn:aws:states:::lambda:invoke.waitForTaskToken": c.Handler(invoke),
	}})
	require.NoError(t, err)
	return r
}

// A machine of the strategy events, with the functions behind it: whatever becomes of
// the job and of the collector, it ends with the job's verdict after a few transitions.
func TestEventsMachineRuns(t *testing.T) {
	t.Parallel()
	const maxWait, grace = 30 * time.Minute, 20 * time.Minute
	entry, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), compile.Options{
		Strategy: compile.LambdaEvents, MaxWait: maxWait, MinDelay: time.Minute, MaxDelay: time.Minute, InitialDelay: 5 * time.Minute,
	})
	require.NoError(t, err)
	report := compiled.Report()
	for name, c := range map[string]struct {
		export      collectedExport
		ends        string        // as the job's status
		wantError   string        // of the execution
		after, late time.Duration // when it ends, and how much later it may
		most        bool          // it has the transitions and events of the report's worst case
		transitions int
	}{
		"polled":       {export: collectedExport{export: &export{lasts: 630 * time.Second}}, after: 630 * time.Second, late: time.Minute, transitions: 3},
		"told":         {export: collectedExport{export: &export{lasts: 630 * time.Second}, announced: true}, after: 630 * time.Second, transitions: 3},
		"failed":       {export: collectedExport{export: &export{lasts: 630 * time.Second, ends: "FAILED"}}, wantError: "JobPoller.Failed", after: 630 * time.Second, late: time.Minute, transitions: 3},
		"timed out":    {export: collectedExport{export: &export{lasts: 10 * time.Hour}}, wantError: "JobPoller.TimedOut", after: maxWait, late: time.Second, transitions: 3},
		"lost, ended":  {export: collectedExport{export: &export{lasts: 630 * time.Second}, lost: true}, after: maxWait + grace, transitions: 4},
		"lost, failed": {export: collectedExport{export: &export{lasts: 630 * time.Second, ends: "FAILED"}, lost: true}, wantError: "JobPoller.Failed", after: maxWait + grace, transitions: 4},
		"lost, runs":   {export: collectedExport{export: &export{lasts: 10 * time.Hour}, lost: true}, wantError: "JobPoller.TimedOut", after: maxWait + grace, most: true, transitions: 4},
		"retried":      {export: collectedExport{export: &export{lasts: 630 * time.Second}, refused: 1}, after: 630 * time.Second, late: 2 * time.Minute, transitions: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.export.waiter, c.export.job = entry.Waiter, entry.FullName()
			r := c.export.run(t, compiled.Machine)
			require.Equal(t, c.wantError, r.Error, r.Trace())
			require.Equal(t, 1, c.export.starts)
			require.GreaterOrEqual(t, r.Duration(), c.after)
			require.LessOrEqual(t, r.Duration(), c.after+c.late)
			require.Equal(t, c.transitions, r.Transitions, r.Trace())
			require.LessOrEqual(t, r.Transitions, 6)
			if c.most {
				require.InDelta(t, report.Worst.Events, len(r.Events), 0)
				require.InDelta(t, report.Worst.Transitions, r.Transitions, 0)
			}
			if c.wantError == "" {
				require.Contains(t, string(r.Output), `"status":"SUCCEEDED"`)
			}
			if name == "told" {
				require.InDelta(t, report.Expected.Events, len(r.Events), 0)
				require.InDelta(t, report.Expected.Transitions, r.Transitions, 0)
			}
		})
	}
}

// A job that the function reports as running behind the deadline has timed out; a
// fragment keeps its scope.
func TestEventsMachineEndsItself(t *testing.T) {
	t.Parallel()
	entry, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), compile.Options{
		Strategy: compile.LambdaEvents, MaxWait: time.Hour, Scope: "{% 'item ' & $states.input.index %}",
	})
	require.NoError(t, err)
	var events []map[string]any
	note := func(call sim.Call) {
		arguments, _ := call.Arguments.(map[string]any)
		payload, _ := arguments["Payload"].(map[string]any)
		events = append(events, payload)
	}
	r, err := sim.Run(t.Context(), compiled.Machine, []byte(`{"index": 7}`), sim.Options{Handlers: map[string]sim.Handler{
		"arn:aws:states:::lambda:invoke.waitForTaskToken": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			note(call)
			return sim.Reply{Never: true}, nil
		},
		"arn:aws:states:::lambda:invoke": func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			note(call)
			return sim.LambdaInvoke(map[string]sim.LambdaFunction{
				statemachines.CheckStatusFunction: func(context.Context, []byte) ([]byte, error) {
					return []byte(`{"status": "RUNNING", "reason": "it runs", "waitSeconds": 5}`), nil
				},
			})(ctx, call)
		},
	}})
	require.NoError(t, err)
	require.Equal(t, "JobPoller.TimedOut", r.Error, r.Trace())
	require.Equal(t, "not finished after 1h0m0s: it runs", r.Cause)
	require.Equal(t, 80*time.Minute, r.Duration())
	require.Len(t, events, 2)
	for _, payload := range events {
		require.Equal(t, "item 7", payload["Scope"])
	}
	token, _ := events[0]["Context"].(map[string]any)
	require.NotEmpty(t, token["Task"])
	require.Contains(t, token["State"], "EnteredTime")
}
