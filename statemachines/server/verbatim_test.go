package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// AWS shows the input of an execution as the client wrote it, and what states make of it
// in a form of its own.
func TestInputsStayAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	standard := e.create("standard", waitHour)
	express := e.create("express", pass, object{"type": "EXPRESS"})
	for name, input := range map[string]string{
		"compact":            `{"a":1}`,
		"of the AWS command": `{"Greeting": "Hi"}`,
		"members":            `{"b": [1, 2], "a": null}`,
		"lines":              "{\n    \"userId\": \"15f1c60a\"\n}\n",
		"escapes":            `{"a": "\u00e9\/"}`,
		"numbers":            `[1.50, 1E2]`,
		"large":              "[" + strings.Repeat(`{"b": "text", "a": 1}, `, 2_000) + "0]",
	} {
		x := e.start(standard, object{"input": input})
		require.Equal(t, input, e.call("DescribeExecution", object{"executionArn": x})["input"], name)
		first := e.call("GetExecutionHistory", object{"executionArn": x})["events"].([]any)[0].(object)
		require.Equal(t, input, first["executionStartedEventDetails"].(object)["input"], name)
		require.Equal(t, input, e.call("StartSyncExecution", object{"stateMachineArn": express, "input": input})["input"], name)
	}
}
