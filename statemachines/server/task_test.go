package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const ask = `{"StartAt":"Ask","States":{"Ask":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",
  "Parameters":{"QueueUrl":"q","MessageBody":{"Token.$":"$$.Task.Token"}},"TimeoutSeconds":100,"HeartbeatSeconds":10,"End":true}}}`

// asking is a server whose machine "ask" waits for a token.
func asking(t *testing.T) (e *endpoint, machine string, tokens chan string) {
	t.Helper()
	tokens = make(chan string, 10)
	e = startServer(t, manual(), func(_ server.StartInfo, o *sim.Options) error {
		o.Handler = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			tokens <- call.TaskToken
			return sim.Reply{Never: true}, nil
		}
		return nil
	})
	return e, e.create("ask", ask), tokens
}

func TestTokens(t *testing.T) {
	t.Parallel()
	e, m, tokens := asking(t)
	x := e.start(m)
	token := <-tokens
	const invalid = "InvalidToken: Invalid Token: 'Invalid token'"
	require.Equal(t, invalid, e.refused("SendTaskSuccess", object{"taskToken": "x", "output": "{}"}))
	require.Equal(t, invalid, e.refused("SendTaskFailure", object{"taskToken": "x"}))
	require.Equal(t, invalid, e.refused("SendTaskHeartbeat", object{"taskToken": "x"}))
	require.Equal(t, "InvalidOutput: Invalid Output: 'Unrecognized token 'no': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')'",
		e.refused("SendTaskSuccess", object{"taskToken": token, "output": "no"}))
	for range 3 {
		require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(9*time.Second)))
		e.call("SendTaskHeartbeat", object{"taskToken": token})
	}
	e.call("SendTaskSuccess", object{"taskToken": token, "output": `{"a":1}`})
	require.Equal(t, `{"a":1}`, e.wait(x)["output"])
	require.Equal(t, "TaskTimedOut: Task Timed Out: 'Provided task does not exist anymore'", e.refused("SendTaskSuccess", object{"taskToken": token, "output": "{}"}))

	x = e.start(m)
	e.call("SendTaskFailure", object{"taskToken": <-tokens, "error": "E", "cause": "C"})
	end := e.wait(x)
	require.Equal(t, []any{"FAILED", "E", "C"}, []any{end["status"], end["error"], end["cause"]})

	x = e.start(m)
	token = <-tokens
	require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(11*time.Second)))
	require.Equal(t, "States.Timeout", e.wait(x)["error"])
	require.Equal(t, "TaskTimedOut: Task Timed Out: 'Provided task does not exist anymore'", e.refused("SendTaskHeartbeat", object{"taskToken": token}))
}

func TestActivityTask(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	activity := e.call("CreateActivity", object{"name": "a"})["activityArn"].(string)
	x := e.start(e.create("m", `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+activity+`","End":true}}}`), object{"input": `{"a":1}`})
	task := e.call("GetActivityTask", object{"activityArn": activity, "workerName": "w"})
	require.Equal(t, `{"a":1}`, task["input"])
	e.call("SendTaskHeartbeat", object{"taskToken": task["taskToken"]})
	e.call("SendTaskSuccess", object{"taskToken": task["taskToken"], "output": "2"})
	require.Equal(t, "2", e.wait(x)["output"])
	started := e.history(x, 1000, false)[3]
	require.Equal(t, "ActivityStarted", started["type"])
	require.Equal(t, object{"workerName": "w"}, started["activityStartedEventDetails"])
	require.Contains(t, e.refused("GetActivityTask", object{"activityArn": activity + "x"}), "ActivityDoesNotExist: ")
}
