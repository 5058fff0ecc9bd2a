package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parent is a state machine whose one Task calls Step Functions.
func parent(resource, arguments string) string {
	return fmt.Sprintf(`{"StartAt":"Call","States":{"Call":{"Type":"Task","Resource":"arn:aws:states:::%s","Parameters":%s,"End":true}}}`, resource, arguments)
}

func decoded(t *testing.T, of any) object {
	t.Helper()
	var out object
	require.NoError(t, json.Unmarshal([]byte(of.(string)), &out), "%v", of)
	return out
}

func TestNestedExecutions(t *testing.T) {
	t.Parallel()
	const childARN = "arn:aws:states:eu-west-1:111111111111:stateMachine:child"
	const run = "arn:aws:states:eu-west-1:111111111111:execution:child:c"
	arguments := `{"StateMachineArn":"` + childARN + `","Name":"c","Input":{"a":1}}`
	described := object{
		"ExecutionArn": run, "StateMachineArn": childARN, "Name": "c", "Status": "SUCCEEDED", "Input": `{"a":1}`, "InputDetails": object{"Included": true},
		"Output": `{"a":1}`, "OutputDetails": object{"Included": true}, "StartDate": 1767225600000.0, "StopDate": 1767229200000.0,
		"RedriveCount": 0.0, "RedriveStatus": "NOT_REDRIVABLE", "RedriveStatusReason": "Execution is SUCCEEDED and cannot be redriven",
	}
	read := maps.Clone(described)
	read["Input"], read["Output"] = object{"a": 1.0}, object{"a": 1.0}
	tests := []struct {
		resource string
		want     object
		took     time.Duration
	}{
		{"states:startExecution.sync", described, time.Hour},
		{"states:startExecution.sync:2", read, time.Hour},
		{"aws-sdk:sfn:startExecution", object{"ExecutionArn": run, "StartDate": "2026-01-01T00:00:00.000Z"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.resource, func(t *testing.T) {
			t.Parallel()
			e := startServer(t, virtual(), nil)
			e.create("child", waitHour)
			x := e.start(e.create("parent", parent(tt.resource, arguments)))
			end := e.wait(x)
			require.Equal(t, "SUCCEEDED", end["status"], end)
			require.Equal(t, tt.want, decoded(t, end["output"]))
			require.InDelta(t, tt.took.Seconds(), end["stopDate"].(float64)-end["startDate"].(float64), 0.001)
		})
	}
}

func TestNestedStart(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	child := e.create("child", waitHour)
	x := e.start(e.create("parent", parent("states:startExecution", `{"StateMachineArn":"`+child+`","Name":"c"}`)))
	out := decoded(t, e.wait(x)["output"])
	require.InDelta(t, 200, out["SdkHttpMetadata"].(object)["HttpStatusCode"], 0)
	require.NotEmpty(t, out["SdkResponseMetadata"].(object)["RequestId"])
	require.InDelta(t, 1767225600000, out["StartDate"], 0)
	require.Equal(t, "{}", e.describe(out["ExecutionArn"].(string))["input"])
}

// A Task that ends with an execution fails with it, and says how it ended.
func TestNestedFailure(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	child := e.create("child", failing)
	x := e.start(e.create("parent", parent("states:startExecution.sync:2", `{"StateMachineArn":"`+child+`","Name":"c"}`)))
	end := e.wait(x)
	require.Equal(t, "FAILED", end["status"])
	require.Equal(t, "States.TaskFailed", end["error"])
	cause := decoded(t, end["cause"])
	require.Equal(t, []any{"FAILED", "E", "C"}, []any{cause["Status"], cause["Error"], cause["Cause"]})
	require.NotContains(t, cause, "OutputDetails")
	require.Equal(t, []string{"ExecutionStarted", "TaskStateEntered", "TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskFailed", "ExecutionFailed"}, e.types(x))
}

// A refused call has the name that AWS gives its error.
func TestNestedRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct{ resource, arguments, name, cause string }{
		{
			"states:startExecution", `{"StateMachineArn":"arn:aws:states:eu-west-1:111111111111:stateMachine:x"}`, "StepFunctions.StateMachineDoesNotExistException",
			"State Machine Does Not Exist: 'arn:aws:states:eu-west-1:111111111111:stateMachine:x' (Service: AWSStepFunctions; Status Code: 400; Error Code: StateMachineDoesNotExist; Request ID: ",
		},
		{
			"states:startExecution.sync", `{"StateMachineArn":"x"}`, "StepFunctions.InvalidArnException", "Invalid Arn: 'Invalid ARN prefix: x' (Service: AWSStepFunctions; ",
		},
		{
			"aws-sdk:sfn:sendTaskSuccess", `{"TaskToken":"t","Output":"{}"}`, "Sfn.InvalidTokenException",
			"Invalid Token: 'Invalid token' (Service: Sfn, Status Code: 400, Request ID: ",
		},
	}
	for _, tt := range tests {
		e := startServer(t, virtual(), nil)
		end := e.wait(e.start(e.create("parent", parent(tt.resource, tt.arguments))))
		require.Equal(t, tt.name, end["error"])
		require.Contains(t, end["cause"], tt.cause)
	}
}

// An execution that starts another and gets its own token back from it.
func TestNestedToken(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	child := e.create("child", `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"Next":"Send"},
	  "Send":{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:sfn:sendTaskSuccess","Parameters":{"TaskToken.$":"$.token","Output":{"done":true}},"End":true}}}`)
	x := e.start(e.create("parent", parent("states:startExecution.waitForTaskToken", `{"StateMachineArn":"`+child+`","Input":{"token.$":"$$.Task.Token"}}`)))
	end := e.wait(x)
	require.Equal(t, `{"done":true}`, end["output"], end)
	require.InDelta(t, 60, end["stopDate"].(float64)-end["startDate"].(float64), 0.001)
}

// Who stops an execution stops those that its Tasks end with.
func TestStopReachesNestedExecutions(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	child := e.create("child", waitHour)
	x := e.start(e.create("parent", parent("states:startExecution.sync", `{"StateMachineArn":"`+child+`","Name":"c"}`)))
	const run = "arn:aws:states:eu-west-1:111111111111:execution:child:c"
	require.Eventually(t, func() bool { return e.World().Execution(run) != nil && len(e.types(x)) == 5 }, time.Minute, time.Millisecond)
	e.call("StopExecution", object{"executionArn": x})
	require.Equal(t, "ABORTED", e.wait(run)["status"])
}

// A synchronous Express execution as a Task of another takes its time on the clock.
func TestNestedSynchronousExecution(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	child := e.create("child", waitHourExpress, object{"type": "EXPRESS"})
	x := e.start(e.create("parent", parent("aws-sdk:sfn:startSyncExecution", `{"StateMachineArn":"`+child+`","Input":{"a":1}}`)))
	end := e.wait(x)
	require.Equal(t, "SUCCEEDED", end["status"], end)
	out := decoded(t, end["output"])
	require.Equal(t, []any{"SUCCEEDED", `{"a":1}`}, []any{out["Status"], out["Output"]})
	require.InDelta(t, 60, end["stopDate"].(float64)-end["startDate"].(float64), 0.001)
}

// Two Tasks that start the same execution by name both end with it.
func TestNestedStartsOfOneName(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	child := e.create("child", waitHour)
	call := `{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync","Parameters":{"StateMachineArn":"` + child + `","Name":"c"},"End":true}`
	x := e.start(e.create("parent", `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
	  {"StartAt":"A","States":{"A":`+call+`}},{"StartAt":"B","States":{"B":`+call+`}}]}}}`))
	require.Equal(t, "SUCCEEDED", e.wait(x)["status"])
}
