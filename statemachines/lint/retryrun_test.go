package lint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/race"
)

// retriedPoll is a poll whose Retry waits for the job.
type retriedPoll struct {
	kind                      string // "function", "answer", "nested" or "branch"
	interval, attempts, first int
	rate                      float64
	most, timeout, passes     int
}

// drawRetry draws one.
func drawRetry(r *rand.Rand) retriedPoll {
	p := retriedPoll{
		[]string{"function", "answer", "nested", "branch"}[r.IntN(4)], 1 + r.IntN(100), 10 + r.IntN(12000), r.IntN(2) * r.IntN(4000),
		[]float64{1, 1, 1.5, 2}[r.IntN(4)], 0, 0, r.IntN(5),
	}
	if p.rate > 1 {
		p.most = p.interval + 1 + r.IntN(600)
	}
	if r.IntN(3) == 0 {
		p.timeout = 1 + r.IntN(500_000)
	}
	return p
}

// text is the definition.
func (p retriedPoll) text() string {
	task := map[string]string{
		"function": `"Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "f"}`,
		"answer": `"Resource": "arn:aws:states:::aws-sdk:sfn:describeExecution", "Arguments": {"ExecutionArn": "e"},
			"Output": "{% $states.result.Status = 'RUNNING' ? $error('runs') : $states.result %}"`,
		"nested": `"Resource": "arn:aws:states:::states:startExecution.sync:2", "Arguments": {"StateMachineArn": "m"}`,
	}[p.kind]
	name, kind := "NotReady", `"Type": "Task", `+task
	switch p.kind {
	case "answer":
		name = "States.QueryEvaluationError"
	case "branch":
		kind = `"Type": "Parallel", "Branches": [{"StartAt": "Ask", "States": {
			"Ask": {"Type": "Pass", "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:apptest:getTestRun", "Arguments": {"TestRunId": "r"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.Status = 'RUNNING' %}", "Next": "Not yet"}], "Default": "Done"},
			"Not yet": {"Type": "Fail", "Error": "NotReady"}, "Done": {"Type": "Pass", "End": true}}}]`
	}
	retrier := fmt.Sprintf(`{"ErrorEquals": [%q], "IntervalSeconds": %d, "MaxAttempts": %d, "BackoffRate": %g`, name, p.interval, p.attempts, p.rate)
	if p.most > 0 {
		retrier += fmt.Sprintf(`, "MaxDelaySeconds": %d`, p.most)
	}
	var before strings.Builder
	for i := range p.passes {
		fmt.Fprintf(&before, `"P%d": {"Type": "Pass", "Next": "P%d"}, `, i, i+1)
	}
	first, timeout := `"Type": "Pass"`, ""
	if p.first > 0 {
		first = fmt.Sprintf(`"Type": "Wait", "Seconds": %d`, p.first)
	}
	if p.timeout > 0 {
		timeout = fmt.Sprintf(`"TimeoutSeconds": %d, `, p.timeout)
	}
	return fmt.Sprintf(`{"QueryLanguage": "JSONata", %s"StartAt": "P0", "States": {%s "P%d": {%s, "Next": "Poll"},
		"Poll": {%s, "Retry": [%s}], "End": true}}}`, timeout, before.String(), p.passes, first, kind, retrier)
}

// requireTrue runs the polls, and requires that lint says how many there are, and how long they take.
func (p retriedPoll) requireTrue(t *testing.T) {
	m, err := asl.Parse([]byte(p.text()))
	require.NoError(t, err, p.text())
	failed := &sim.TaskError{Name: "NotReady"}
	if p.kind == "nested" {
		failed.Submitted = map[string]any{}
	}
	ran, err := sim.Run(t.Context(), m, []byte(`{}`), sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
		if p.kind != "answer" && p.kind != "branch" {
			return sim.Reply{}, failed
		}
		return sim.Reply{Output: map[string]any{"Status": "RUNNING"}}, nil
	}})
	require.NoError(t, err, p.text())
	loops := lint.Loops(m, lint.Options{})
	require.Len(t, loops, 1, p.text())
	bound, why := loops[0].Bound, fmt.Sprintf("%+v\n%s\n%s %s", p, loops[0].String(), ran.Error, ran.Cause)
	switch {
	case len(ran.Events) == asl.MaxEvents:
		require.Equal(t, lint.Unbounded, bound.Kind, why)
		require.Equal(t, []any{loops[0].Turns, loops[0].Lasts}, []any{bound.Polls, bound.After}, why)
	case ran.Status == sim.StatusTimedOut && p.timeout > 0:
		require.Equal(t, lint.ByTimeout, bound.Kind, why)
	case ran.Status == sim.StatusTimedOut:
		require.Equal(t, lint.Unbounded, bound.Kind, why)
	default:
		require.Equal(t, lint.ByCount, bound.Kind, why)
	}
	require.False(t, bound.AtMost, why)
	calls := ran.Calls["Poll"]
	if p.kind == "branch" {
		calls = ran.Calls["Get"]
	}
	require.Equal(t, calls, bound.Polls, why)
	require.Equal(t, ran.Stop.Sub(ran.Start).Truncate(time.Second), bound.After.Truncate(time.Second), why)
}

// What lint says of the end of polls in a Retry is what a run shows.
func TestRetriedPollsAreThoseOfARun(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range race.Of(120, 20) {
		p := drawRetry(r)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			p.requireTrue(t)
		})
	}
}
