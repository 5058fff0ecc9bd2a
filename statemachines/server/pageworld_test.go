package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// startPaged returns a server on a clock that stands still, with what a page shows of it
// and a machine that waits a minute before it calls its Task.
func startPaged(t *testing.T) (w page.World, machine string) {
	t.Helper()
	clock, err := sim.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0)
	require.NoError(t, err)
	s := server.New(server.Options{Clock: clock, Prepare: func(_ server.StartInfo, o *sim.Options) error {
		o.Handler = func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Output: "mocked"}, nil }
		return nil
	}})
	t.Cleanup(s.Close)
	w = s.PageWorld()
	machine = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
	_, err = w.Call(t.Context(), machine, "CreateStateMachine", map[string]string{
		"name": "m", "roleArn": "arn:aws:iam::111122223333:role/r",
		"definition": `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "End": true}}}`,
	})
	require.NoError(t, err)
	return w, machine
}

// startRun starts an execution, lets it do what is due, and returns its ARN.
func startRun(t *testing.T, w page.World, machine, input string) string {
	t.Helper()
	out, err := w.Call(t.Context(), machine, "StartExecution", map[string]string{"stateMachineArn": machine, "input": input})
	require.NoError(t, err)
	var started struct {
		ExecutionARN string `json:"executionArn"`
	}
	require.NoError(t, json.Unmarshal(out, &started))
	require.NoError(t, w.Steer(t.Context(), page.Steering{}), "all that is due has happened")
	return started.ExecutionARN
}

// A page is shown an execution as it is, and moves its clock.
func TestPageWorld(t *testing.T) {
	t.Parallel()
	w, machine := startPaged(t)
	require.Len(t, w.Machines(), 1)
	found, ok := w.Machine(machine)
	require.True(t, ok)
	require.Equal(t, "m", found.Name)
	arn := startRun(t, w, machine, `{"a": 1}`)
	d, ok := w.Run(arn)
	require.True(t, ok)
	require.Equal(t, "RUNNING", d.Status)
	require.Equal(t, "m", d.Machine)
	require.JSONEq(t, `{"a": 1}`, d.History.Input)
	require.Len(t, d.Places, 1)
	require.Equal(t, "Wait", d.Places[0].State)
	require.Equal(t, d.History.Start.Add(time.Minute), d.Places[0].Until)
	require.Equal(t, d.Places[0].Until, w.Clock().Next)
	version, ok := w.Version(arn)
	require.True(t, ok)
	require.Equal(t, d.Version, version)

	require.NoError(t, w.Steer(t.Context(), page.Steering{Next: true}))
	d, _ = w.Run(arn)
	require.Equal(t, "SUCCEEDED", d.Status)
	require.Equal(t, `"mocked"`, d.History.Output)
	require.Equal(t, time.Minute, d.History.Duration())
	require.Equal(t, 2, d.History.Transitions)
	require.Greater(t, d.Version, version)
	require.ErrorContains(t, w.Steer(t.Context(), page.Steering{Next: true}), "no timer waits")

	second := startRun(t, w, machine, `{"a": 1}`)
	var arns []string
	for r := range w.Runs {
		arns = append(arns, r.ARN)
	}
	require.Equal(t, []string{second, arn}, arns, "the newest first")
	require.NoError(t, w.Skip(second, "Wait"))
	require.NoError(t, w.Steer(t.Context(), page.Steering{}))
	d, _ = w.Run(second)
	require.Equal(t, "SUCCEEDED", d.Status)
	require.Error(t, w.Skip(second, "Wait"))
}

// What is not there is said not to be, whatever the ARN.
func TestPageWorldOfNothing(t *testing.T) {
	t.Parallel()
	w, machine := startPaged(t)
	for _, arn := range []string{"", "x", machine, "arn:aws:states:eu-west-1:999999999999:execution:m:x", "arn:aws:states:eu-west-1:111122223333:execution:m:x"} {
		_, found := w.Run(arn)
		require.False(t, found, arn)
		_, found = w.Version(arn)
		require.False(t, found, arn)
		require.Error(t, w.Skip(arn, ""), arn)
		require.Error(t, w.Answer(arn, "Get", nil, "E", ""), arn)
		_, found = w.Machine(arn)
		require.Equal(t, arn == machine, found, arn)
	}
	_, err := w.Call(t.Context(), "x", "StartExecution", nil)
	require.ErrorContains(t, err, "InvalidArn")
}

// The answer that a page sets is that of one call.
func TestNextAnswer(t *testing.T) {
	t.Parallel()
	w, machine := startPaged(t)
	for _, c := range []struct {
		output, errorName, status, says string
	}{{`{"n": 1.50}`, "", "SUCCEEDED", `{"n":1.50}`}, {"", "Athena.TooManyRequestsException", "FAILED", "Athena.TooManyRequestsException"}, {"", "", "SUCCEEDED", `"mocked"`}} {
		arn := startRun(t, w, machine, `{"a": 1}`)
		if c.output != "" || c.errorName != "" {
			require.NoError(t, w.Answer(arn, "Get", json.RawMessage(c.output), c.errorName, "slow down"))
		}
		require.NoError(t, w.Steer(t.Context(), page.Steering{Advance: time.Minute}))
		d, _ := w.Run(arn)
		require.Equal(t, c.status, d.Status)
		require.Equal(t, c.says, d.History.Output+d.History.Error)
	}
}

// The child executions of a Map Run are in the page of their parent, and have pages.
func TestPageWorldOfAMapRun(t *testing.T) {
	t.Parallel()
	w, machine := startPaged(t)
	_, err := w.Call(t.Context(), machine, "UpdateStateMachine", map[string]string{
		"stateMachineArn": machine, "definition": `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.a", "End": true, "ItemProcessor": {
			"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Wait",
			"States": {"Wait": {"Type": "Wait", "Seconds": 60, "End": true}}}}}}`,
	})
	require.NoError(t, err)
	d, found := w.Run(startRun(t, w, machine, `{"a": [1, 2, 3]}`))
	require.True(t, found)
	require.Len(t, d.History.Children, 3)
	require.Equal(t, map[string]int{"Each": 1, "Wait": 3}, d.History.FindVisits().CountVisits())
	child, found := w.Run(d.History.Children[0].ARN)
	require.True(t, found)
	require.Equal(t, "RUNNING", child.Status)
	require.Equal(t, "Wait", child.Places[0].State)
}

// A child execution of a Map Run gets the answer that was set for it, and no other does.
func TestNextAnswerOfAChild(t *testing.T) {
	t.Parallel()
	w, machine := startPaged(t)
	_, err := w.Call(t.Context(), machine, "UpdateStateMachine", map[string]string{
		"stateMachineArn": machine, "definition": `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.a", "End": true, "ItemProcessor": {
			"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Wait",
			"States": {"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Get"}, "Get": {"Type": "Task",
			"Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "End": true}}}}}}`,
	})
	require.NoError(t, err)
	arn := startRun(t, w, machine, `{"a": [1, 2]}`)
	d, _ := w.Run(arn)
	require.Len(t, d.History.Children, 2)
	require.NoError(t, w.Answer(d.History.Children[1].ARN, "Get", json.RawMessage(`"set"`), "", ""))
	require.NoError(t, w.Steer(t.Context(), page.Steering{Advance: time.Minute}))
	d, _ = w.Run(arn)
	require.JSONEq(t, `["mocked", "set"]`, d.History.Output)
}

// The answers to executions that have ended make room for others.
func TestNextAnswersOfTheEnded(t *testing.T) {
	t.Parallel()
	w, machine := startPaged(t)
	first := startRun(t, w, machine, `{"a": 1}`)
	set := func(arn string, i int) error {
		return w.Answer(arn, fmt.Sprint("State", i), json.RawMessage(`1`), "", "")
	}
	for i := range 1_000 {
		require.NoError(t, set(first, i))
	}
	second := startRun(t, w, machine, `{"a": 1}`)
	require.ErrorContains(t, set(second, 0), "1000 answers wait")
	require.NoError(t, set(first, 0), "it takes the place of the one before")
	require.NoError(t, w.Steer(t.Context(), page.Steering{Advance: time.Minute}))
	require.ErrorContains(t, set(first, 0), "has ended")
	require.NoError(t, set(startRun(t, w, machine, `{"a": 1}`), 0))
}

// An execution from before a restart takes the answer that a page sets.
func TestNextAnswerAfterARestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e, end := openAndClose(t, folder, 0)
	const definition = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"Next":"T"},"T":{"Type":"Task","Resource":"arn:aws:lambda:eu-west-1:111111111111:function:f","End":true}}}`
	send(t, e.Server, "CreateStateMachine", text(t, map[string]any{"name": "m", "definition": definition, "roleArn": role}))
	_, started := send(t, e.Server, "StartExecution", `{"stateMachineArn":"`+machineM+`"}`)
	e.pass(time.Second)
	end()
	e, _ = openAndClose(t, folder, 0)
	arn, _ := started["executionArn"].(string)
	require.NoError(t, e.PageWorld().Answer(arn, "T", json.RawMessage(`"set"`), "", ""))
	e.pass(time.Minute)
	_, described := send(t, e.Server, "DescribeExecution", `{"executionArn":"`+arn+`"}`)
	require.Equal(t, `"set"`, described["output"])
}
