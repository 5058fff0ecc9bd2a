package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

func TestOpenExecutionsAreLimited(t *testing.T) {
	t.Parallel()
	const refusal = "ExecutionLimitExceeded: The account has 2 open executions, the most that there can be. Stop some, or wait for their ends."
	clock := manual()
	s := server.New(server.Options{Clock: clock, MaxOpenExecutions: 2})
	t.Cleanup(s.Close)
	e := &endpoint{s, t, clock}
	failed := e.start(e.create("f", failing))
	e.wait(failed)
	machine := e.create("m", waitHour)
	first := object{"stateMachineArn": machine, "name": "first"}
	e.call("StartExecution", first)
	e.call("StartExecution", first) // the same one
	second := e.start(machine)
	require.Equal(t, refusal, e.refused("StartExecution", object{"stateMachineArn": machine}))
	require.Equal(t, refusal, e.refused("RedriveExecution", object{"executionArn": failed}))
	e.call("StopExecution", object{"executionArn": second})
	require.Eventually(t, func() bool { // the end is counted behind the answer
		status, _ := send(t, s, "RedriveExecution", text(t, object{"executionArn": failed}))
		return status == http.StatusOK
	}, time.Minute, time.Millisecond)
	e.wait(failed)
	require.NoError(t, clock.Advance(t.Context(), clock.Now().Add(time.Hour)))
	e.start(machine)
	e.start(machine)
	require.Equal(t, refusal, e.refused("StartExecution", object{"stateMachineArn": machine}))
}

// A state machine that starts itself and waits for that ends soon, in little memory.
func TestRecursionEnds(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"states:startExecution.sync:2", "aws-sdk:sfn:startSyncExecution"} {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			e := startServer(t, virtual(), nil)
			kind := "STANDARD"
			if strings.Contains(resource, "Sync") {
				kind = "EXPRESS"
			}
			const self = "arn:aws:states:eu-west-1:111111111111:stateMachine:self"
			e.create("self", parent(resource, `{"StateMachineArn":"`+self+`"}`), object{"type": kind})
			first := e.wait(e.start(e.create("first", parent(resource, `{"StateMachineArn":"`+self+`"}`))))
			if kind == "EXPRESS" { // whose failures are results
				require.Equal(t, "SUCCEEDED", first["status"])
				return
			}
			require.Equal(t, "FAILED", first["status"])
			require.LessOrEqual(t, len(first["cause"].(string)), 32_768)
			var all []object
			in := object{"stateMachineArn": self, "maxResults": 1000}
			for next := any(""); next != nil; in["nextToken"] = next {
				out := e.call("ListExecutions", in)
				next = out["nextToken"]
				for _, x := range out["executions"].([]any) {
					all = append(all, x.(object))
				}
			}
			require.Len(t, all, 1000)
			last := e.describe(all[0]["executionArn"].(string))
			require.Equal(t, "StepFunctions.ExecutionLimitExceededException", last["error"])
			require.Contains(t, last["cause"], "1000 executions wait one for the other, the most that there can be.")
		})
	}
}

// How many executions wait for an execution is known after a restart, too.
func TestRecursionEndsAfterARestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e, end := openAndClose(t, folder, 0)
	const self = "arn:aws:states:eu-west-1:111111111111:stateMachine:self"
	e.create("self", `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"Next":"Call"},"Call":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync",
		"Parameters":{"StateMachineArn":"`+self+`"},"End":true}}}`)
	first := e.start(self)
	e.pass(500 * time.Second)
	end()
	e, _ = openAndClose(t, folder, 0)
	e.pass(499 * time.Second)
	require.Equal(t, "RUNNING", e.describe(first)["status"])
	e.pass(2 * time.Second)
	require.Equal(t, "FAILED", e.wait(first)["status"])
}
