package simtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

const oneTask = `{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Parameters": {"ExportArn.$": "$.arn"}, "End": true,
	"Retry": [{"ErrorEquals": ["Often"], "IntervalSeconds": 3}], "Catch": [{"ErrorEquals": ["Caught"], "Next": "Other"}]}`

// Every assertion holds for what came of the state, and fails for anything else:
// first with what came of it, then with the data.
func TestRequireOfAState(t *testing.T) {
	t.Parallel()
	const input = `{"arn": "arn:x"}`
	state := func(t simtest.T) *simtest.StateTest { return simtest.State(t, oneTask, "") }
	for name, tt := range map[string]struct {
		run         func(t simtest.T) *simtest.StateRun
		holds, fail func(r *simtest.StateRun)
		want        string
	}{
		"next": {
			func(t simtest.T) *simtest.StateRun { return state(t).Return(map[string]any{}).Run(input) },
			func(r *simtest.StateRun) { r.RequireNext("").RequireOutput(`{}`) },
			func(r *simtest.StateRun) { r.RequireNext("Other") },
			`the state went on with the end, with output {}; want it to go on with "Other"`,
		},
		"output": {
			func(t simtest.T) *simtest.StateRun { return state(t).Return(map[string]any{"a": 1}).Run(input) },
			func(r *simtest.StateRun) { r.RequireOutput(`{"a": 1.0}`) },
			func(r *simtest.StateRun) { r.RequireOutput(`{"a": 2}`) },
			`they differ at /a: 1, want 2`,
		},
		"failed": {
			func(t simtest.T) *simtest.StateRun { return state(t).Fail("Other", "the disk is full").Run(input) },
			func(r *simtest.StateRun) { r.RequireFailed("Other", "disk") },
			func(r *simtest.StateRun) { r.RequireFailed("Another") },
			`the state failed with error "Other": the disk is full; want it to fail with error "Another"`,
		},
		"cause": {
			func(t simtest.T) *simtest.StateRun { return state(t).Fail("Other", "full").Run(input) },
			func(r *simtest.StateRun) { r.RequireFailed("Other") },
			func(r *simtest.StateRun) { r.RequireFailed("Other", "empty") },
			`want the cause to contain "empty"`,
		},
		"retried": {
			func(t simtest.T) *simtest.StateRun { return state(t).Fail("Often", "").Run(input) },
			func(r *simtest.StateRun) { r.RequireRetried(3 * time.Second) },
			func(r *simtest.StateRun) { r.RequireRetried(time.Second) },
			`and is retried after 3s; want a retry after 1s`,
		},
		"caught": {
			func(t simtest.T) *simtest.StateRun { return state(t).Fail("Caught", "").Run(input) },
			func(r *simtest.StateRun) { r.RequireCaught("Other") },
			func(r *simtest.StateRun) { r.RequireNext("Other") },
			`and a catcher went on with "Other"; want it to go on with "Other"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, failure(t, func(t simtest.T) { tt.holds(tt.run(t)) }))
			message := failure(t, func(t simtest.T) { tt.fail(tt.run(t)) })
			require.Contains(t, message, tt.want)
			require.Contains(t, message, "\nafterParameters        {\"ExportArn\":\"arn:x\"}")
		})
	}
}

// A handler of the options answers a Task that has no mock.
func TestAHandlerAnswersAState(t *testing.T) {
	t.Parallel()
	s := simtest.State(t, oneTask, "")
	s.Options.Options.Handlers = map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:dynamodb:describeExport": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: call.Arguments}, nil
		},
	}
	s.Run(`{"arn": "x"}`).RequireNext("").RequireOutput(`{"ExportArn": "x"}`)
}

func TestSetUpMistakesOfAState(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]func(t simtest.T){
		"has no handler\nno resource has a handler\nanswer the Task with Return or Fail, or with Options.Options.Handlers": func(t simtest.T) { simtest.State(t, oneTask, "").Run(`{"arn": "x"}`) },
		`the state "Nowhere" cannot be tested: State not found in definition`:                                              func(t simtest.T) { simtest.State(t, machine, "Nowhere").Run(nil) },
		"unsupported type":                func(t simtest.T) { simtest.State(t, oneTask, "").Run(func() {}) },
		"Mocked result must be an object": func(t simtest.T) { simtest.State(t, oneTask, "").Return(1).Run(`{"arn": "x"}`) },
	} {
		require.Contains(t, failure(t, f), want)
	}
}
