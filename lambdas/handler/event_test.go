package handler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

func TestParseEvent(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 20, 9, 30, 13, 5e8, time.UTC)
	tests := []struct {
		name, payload string
		want          handler.Event
	}{
		{"bare", bare(request), handler.Event{Key: key, ExecutionTime: began, Bare: true, RetryCount: 3, LastAttempt: -1}},
		{
			"bare, redriven, without a state",
			fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": "2026-11-20T10:30:13.5+01:00", "RedriveCount": 2, "RedriveTime": "2026-11-21T00:00:00Z", "Input": null}}`, arn),
			handler.Event{Key: key, ExecutionTime: began, Bare: true, RedriveCount: 2, LastAttempt: -1},
		},
		{"with the context alone", call(""), handler.Event{Key: key, ExecutionTime: began, RetryCount: 2, LastAttempt: -1}},
		{
			"with all members", call(`, "Poller": "Export", "Scope": "3", "Input": {"attempt": 6, "status": "RUNNING"}`),
			handler.Event{Key: startrecord.Key{ExecutionARN: arn, Poller: "Export", Scope: "3"}, ExecutionTime: began, RetryCount: 2, LastAttempt: 6},
		},
		{
			"with an index", call(`, "Scope": 12, "Input": {}`),
			handler.Event{Key: startrecord.Key{ExecutionARN: arn, Poller: "default", Scope: "12"}, ExecutionTime: began, RetryCount: 2},
		},
		{
			"with an input that is not an object", call(`, "Input": [1]`),
			handler.Event{Key: key, ExecutionTime: began, RetryCount: 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := handler.ParseEvent([]byte(tt.payload))
			require.NoError(t, err)
			require.True(t, tt.want.ExecutionTime.Equal(got.ExecutionTime))
			got.ExecutionTime = tt.want.ExecutionTime
			require.EqualExportedValues(t, tt.want, got)
		})
	}
}

// badEvents are payloads of either handler, each with what its error says.
var badEvents = []struct {
	name, payload string
	parts         []string
}{
	{"empty", "", []string{"not valid JSON", "the text is empty"}},
	{"not JSON", `{"Execution":`, []string{"1:14: not valid JSON"}},
	{"two values", `{} {}`, []string{"not valid JSON"}},
	{"null", "null", []string{"expected the context object", "found null"}},
	{"a string", `"x"`, []string{"found a string"}},
	{"an array", "[]", []string{"found an array"}},
	{"an object of another form", request, []string{`expected the context object ("Payload.$": "$$")`, "found an object"}},
	{"duplicate member", `{"Execution": {}, "Execution": {}}`, []string{`member "Execution" stands twice`}},
	{"unknown member", call(`, "Pollr": "x"`), []string{`has no member "Pollr"`, `did you mean "Poller"`}},
	{"Context is null", `{"Context": null}`, []string{"/Context", `needs the member "Execution"`}},
	{"Context is a string", `{"Context": "$$"}`, []string{"/Context", `needs the member "Execution"`}},
	{"Context is empty", `{"Context": {}}`, []string{`needs the member "Execution"`}},
	{"Execution is a string", `{"Execution": "x"}`, []string{`needs the member "Execution"`}},
	{"no execution members", `{"Execution": {}}`, []string{`Execution needs the member "Id"`, `Execution needs the member "StartTime"`}},
	{"no StartTime", fmt.Sprintf(`{"Execution": {"Id": %q}}`, arn), []string{`Execution needs the member "StartTime"`}},
	{"StartTime is a number", fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": 1795000000}}`, arn), []string{"/Execution/StartTime", "expected an RFC 3339 time such as 2026-01-02T15:04:05Z, found a number"}},
	{"StartTime is not a time", fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": "yesterday"}}`, arn), []string{"/Execution/StartTime", "found a string"}},
	{"Id is a number", `{"Execution": {"Id": 7, "StartTime": "2026-11-20T09:30:13Z"}}`, []string{"/Execution/Id", "expected a string, found a number"}},
	{"Id is empty", `{"Execution": {"Id": "", "StartTime": "2026-11-20T09:30:13Z"}}`, []string{"the execution ARN is empty", "$$.Execution.Id"}},
	{"Id is not an ARN", `{"Execution": {"Id": "run-1", "StartTime": "2026-11-20T09:30:13Z"}}`, []string{`"run-1" is not the ARN of an execution`}},
	{
		"Id of a state machine", `{"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:stateMachine:M", "StartTime": "2026-11-20T09:30:13Z"}}`,
		[]string{"is the ARN of a state machine, not of an execution"},
	},
	{"negative RedriveCount", fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": "2026-11-20T09:30:13Z", "RedriveCount": -1}}`, arn), []string{"/Execution/RedriveCount", "expected a whole number from 0"}},
	{"RetryCount is a string", fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": "2026-11-20T09:30:13Z"}, "State": {"RetryCount": "1"}}`, arn), []string{"/State/RetryCount"}},
	{"Poller is empty", call(`, "Poller": ""`), []string{"the poller's name is empty"}},
	{"Poller is null", call(`, "Poller": null`), []string{"/Poller", "expected a string, found null"}},
	{"Scope is a fraction", call(`, "Scope": 1.5`), []string{"/Scope", "expected a string, or a whole number that is not negative, found a number (1.5)"}},
	{"Scope is negative", call(`, "Scope": -1`), []string{"/Scope", "found a number"}},
	{"Scope is an object", call(`, "Scope": {}`), []string{"/Scope", "found an object"}},
	{"Scope has a control character", call(`, "Scope": "a\u0007"`), []string{"the scope", "control character"}},
	{"attempt is not a number", call(`, "Input": {"attempt": "7"}`), []string{"/Input/attempt", "expected a whole number from 0"}},
	{"two problems", call(`, "Poller": 1, "Scope": []`), []string{"/Poller: expected a string", "/Scope: expected a string"}},
	{"300 KiB", call(fmt.Sprintf(`, "Input": %q`, strings.Repeat("x", 300<<10))), []string{"307", "at most 262144", "keep large data in S3"}},
	{"nested too deep", strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), []string{"nested deeper"}},
}

// Neither handler touches the store or the service over an event that is wrong.
func TestHandlersRefuseBadEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range badEvents {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			for _, h := range []lambdaFunction{w.RunJob, w.CheckStatus} {
				result, err := h(t.Context(), json.RawMessage(tt.payload))
				require.Nil(t, result)
				requireError(t, err, handler.ErrorInvalidRequest, tt.parts...)
			}
			require.Empty(t, w.store.take())
			require.Zero(t, w.service.starts)
			require.Zero(t, w.service.describes)
			_, err := handler.ParseEvent([]byte(tt.payload))
			var named *handler.Error
			require.ErrorAs(t, err, &named)
			require.Equal(t, handler.ErrorInvalidRequest, named.Name)
		})
	}
}

// A payload as large as Step Functions can send is read.
func TestParseEventLargest(t *testing.T) {
	t.Parallel()
	frame := len(call(`, "Input": ""`))
	payload := call(fmt.Sprintf(`, "Input": %q`, strings.Repeat("x", 256<<10-frame)))
	require.Len(t, payload, 256<<10)
	_, err := handler.ParseEvent([]byte(payload))
	require.NoError(t, err)
	_, err = handler.ParseEvent([]byte(payload + " "))
	require.Error(t, err)
}
