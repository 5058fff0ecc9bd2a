package simulate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// required is a value of the shape with its required members, as a caller writes it.
func required(s *catalog.Shape, name string) any {
	switch s.Type {
	case catalog.Structure, catalog.Union:
		object := map[string]any{}
		for _, m := range s.Members {
			if m.Required {
				object[javasdk.MemberName(m.Name)] = required(m.Shape, m.Name)
			}
		}
		return object
	case catalog.List:
		return []any{}
	case catalog.Map, catalog.Document:
		return map[string]any{}
	case catalog.Boolean:
		return true
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return 1
	default:
		return wordOf(s, name)
	}
}

// wordOf is the first value of an enum, or else the name.
func wordOf(s *catalog.Shape, name string) string {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	return name
}

// inputOf is an input of the start call, with what later calls read of it.
func inputOf(e *catalog.Entry) map[string]any {
	start := e.Service.Operations[e.Name]
	input := map[string]any{}
	if start.Input == nil {
		return input
	}
	input = required(start.Input, "").(map[string]any)
	for _, m := range start.Input.Members {
		name := javasdk.MemberName(m.Name)
		if _, there := input[name]; !there && m.Shape.Type == catalog.String {
			input[name] = wordOf(m.Shape, m.Name)
		}
	}
	return input
}

// simulated runs a machine with a spec.
func simulated(t *testing.T, m *asl.StateMachine, input any, o simulate.Options) *sim.Result {
	t.Helper()
	o.Models = models.Load
	plan, err := simulate.New(m, o)
	require.NoError(t, err)
	require.Empty(t, plan.Unknown)
	mocks, err := plan.Mocks()
	require.NoError(t, err)
	text, err := json.Marshal(input)
	require.NoError(t, err)
	options := sim.Options{Models: models.Load, Seed: 1}
	require.NoError(t, mocks.Apply(m, "", &options))
	result, err := sim.Run(t.Context(), m, text, options)
	require.NoError(t, err)
	return result
}

// Every job of the catalogue can be simulated with each of its statuses, and the
// machine that is compiled of it ends as the waiter says.
func TestEveryJobEndsInEachStatus(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	jobs := 0
	for _, s := range list {
		for _, listed := range s.Entries {
			if listed.Kind != catalog.AWSJob {
				continue
			}
			jobs++
			t.Run(s.Key+" "+listed.Name, func(t *testing.T) {
				t.Parallel()
				e, err := catalog.Lookup(s.Key, listed.Name)
				require.NoError(t, err)
				requireEnds(t, e)
			})
		}
	}
	require.Equal(t, 243, jobs)
}

func requireEnds(t *testing.T, e *catalog.Entry) {
	t.Helper()
	statuses, err := simulate.Statuses(e, models.Load)
	require.NoError(t, err)
	if len(e.Job.Acceptors) == 0 {
		require.Len(t, statuses, len(e.Job.Success)+len(e.Job.Failure)+len(e.Job.Running))
	}
	verdicts := map[pollcore.Verdict]int{}
	m, input := compileJob(t, e), inputOf(e)
	for _, status := range statuses {
		verdicts[status.Verdict]++
		r := simulated(t, m, input, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(5 * time.Minute)}}, Ends: status.Name})
		switch status.Verdict {
		case pollcore.Success:
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s %s", status.Name, r.Error, r.Cause)
		case pollcore.Failure:
			require.Equal(t, "JobPoller.Failed", r.Error, "%s: %s", status.Name, r.Cause)
		default:
			require.Equal(t, "JobPoller.TimedOut", r.Error, "%s: %s", status.Name, r.Cause)
			continue
		}
		require.GreaterOrEqual(t, r.Duration(), 5*time.Minute, status.Name)
		require.LessOrEqual(t, r.Duration(), 7*time.Minute, status.Name)
	}
	require.Positive(t, verdicts[pollcore.Success])
}

// Where one member does not tell, the statuses are the values that decide.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]pollcore.Verdict{
		"glue:StartCrawler": {
			"SUCCEEDED": pollcore.Success, "FAILED": pollcore.Failure, "CANCELLED": pollcore.Failure,
			"RUNNING": pollcore.Retry, "STOPPING": pollcore.Retry, "READY": pollcore.Retry,
		},
		"ec2:InstanceRunning": {
			"running": pollcore.Success, "shutting-down": pollcore.Failure, "stopping": pollcore.Failure, "terminated": pollcore.Failure,
			"pending": pollcore.Retry, "stopped": pollcore.Retry,
		},
		"autoscaling:GroupExists": {"success": pollcore.Success, "retry": pollcore.Retry},
	} {
		e, err := catalog.AWS().Resolve(name)
		require.NoError(t, err)
		statuses, err := simulate.Statuses(e.Entry, models.Load)
		require.NoError(t, err)
		got := map[string]pollcore.Verdict{}
		for _, s := range statuses {
			got[s.Name] = s.Verdict
		}
		require.Equal(t, want, got, name)
	}
}

// compileJob compiles a job with its start call.
func compileJob(t *testing.T, e *catalog.Entry) *asl.StateMachine {
	t.Helper()
	c, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
		Strategy: compile.Variables, MaxWait: 20 * time.Minute, MinDelay: 30 * time.Second, MaxDelay: 30 * time.Second, UnmodeledFails: true,
	})
	require.NoError(t, err, e.FullName())
	return c.Machine
}

// Of a child execution, ".sync:2" gives the output as JSON, and ".sync" as text.
func TestSyncResultOfChild(t *testing.T) {
	t.Parallel()
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	shape := service.Operations["DescribeExecution"].Output
	for pattern, want := range map[string]any{".sync": `{"a": 1}`, ".sync:2": map[string]any{"a": 1.0}} {
		answer := map[string]any{"status": "SUCCEEDED", "output": `{"a": 1}`}
		got := simulate.SyncResult(asl.ParseResource("arn:aws:states:::states:startExecution"+pattern), answer, shape)
		require.Equal(t, map[string]any{"Status": "SUCCEEDED", "Output": want}, got)
	}
	got := simulate.SyncResult(asl.ParseResource("arn:aws:states:::states:startExecution.sync:2"), map[string]any{"output": "no JSON"}, shape)
	require.Equal(t, map[string]any{"Output": "no JSON"}, got)
}

// A job that is started and never described is a call like any other, and so is a poll
// of a job that another machine started.
func TestJobsOfCallsAlone(t *testing.T) {
	t.Parallel()
	const start = `"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "q"}, "ResultPath": "$.s", `
	const get = `"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "a"}, "End": true}`
	tests := []struct {
		name, states string
		jobs         []string
	}{
		{"only started", `{"StartAt": "Start", "States": {` + start + `"End": true}}}`, nil},
		{"started and described", `{"StartAt": "Start", "States": {` + start + `"Next": "Get"}, ` + get + `}}`, []string{"athena StartQueryExecution"}},
		{"only described", `{"StartAt": "Get", "States": {` + get + `}}`, []string{"athena StartQueryExecution"}},
		{
			"started with a token", `{"StartAt": "Start", "States": {` +
				`"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.waitForTaskToken", "TimeoutSeconds": 9, "Parameters": {"StateMachineArn": "a", "Input": {"t.$": "$$.Task.Token"}}, "Next": "Get"}, ` + get + `}}`,
			[]string{"athena StartQueryExecution"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(tt.states))
			require.NoError(t, err)
			plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}})
			require.NoError(t, err)
			require.Equal(t, tt.jobs, plan.Jobs)
		})
	}
}
