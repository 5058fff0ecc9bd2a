package handler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// customWaiter is a request with a waiter of its own.
const customWaiter = `{"job": "test:Job", "maxWaitSeconds": 600, "waiter": {
	"acceptors": [
		{"state": "success", "matcher": {"output": {"path": "Phase", "expected": "Ready", "comparator": "stringEquals"}}},
		{"state": "failure", "matcher": {"success": false}}
	],
	"minDelay": 7, "maxDelay": 30
}}`

// badRequests are requests that RunJob refuses, each with what its error says.
var badRequests = []struct {
	name, request string
	want          string // the error's name
	parts         []string
}{
	{"null", "null", handler.ErrorInvalidRequest, []string{"the event has no request"}},
	{"an array", "[]", handler.ErrorInvalidRequest, []string{"expected a request, found an array"}},
	{"a string", `"x"`, handler.ErrorInvalidRequest, []string{"expected a request, found a string"}},
	{"empty", "{}", handler.ErrorInvalidRequest, []string{`needs the member "job"`, `needs the member "maxWaitSeconds"`}},
	{"no maxWaitSeconds", `{"job": "test:Job"}`, handler.ErrorInvalidRequest, []string{`a request needs the member "maxWaitSeconds"`}},
	{
		"unknown member", `{"job": "test:Job", "maxWaitSecond": 5, "maxWaitSeconds": 5}`, handler.ErrorInvalidRequest,
		[]string{`a request has no member "maxWaitSecond"`, `did you mean "maxWaitSeconds"`, "/Execution/Input/maxWaitSecond"},
	},
	{"duplicate member", `{"job": "test:Job", "job": "test:Job", "maxWaitSeconds": 5}`, handler.ErrorInvalidRequest, []string{`member "job" stands twice`}},
	{"unknown job", `{"job": "test:Jbo", "maxWaitSeconds": 5}`, handler.ErrorUnknownJob, []string{`"test:Jbo" is not a job of this function; its jobs: test:Job`, `did you mean "test:Job"`}},
	{"job is a number", `{"job": 5, "maxWaitSeconds": 5}`, handler.ErrorInvalidRequest, []string{"/job", "expected a string"}},
	{"arguments are text", `{"job": "test:Job", "maxWaitSeconds": 5, "arguments": "{}"}`, handler.ErrorInvalidRequest, []string{"/arguments", "expected an object, found a string"}},
	{"no wait", `{"job": "test:Job", "maxWaitSeconds": 0}`, handler.ErrorInvalidRequest, []string{"expected a whole number from 1 to 31536000, found a number"}},
	{"a fraction of a second", `{"job": "test:Job", "maxWaitSeconds": 1.5}`, handler.ErrorInvalidRequest, []string{"/maxWaitSeconds: expected a whole number"}},
	{"waits too long", `{"job": "test:Job", "maxWaitSeconds": 31536001}`, handler.ErrorInvalidRequest, []string{"/maxWaitSeconds: expected a whole number from 1 to 31536000"}},
	{
		"waits beyond the retention", `{"job": "test:Job", "maxWaitSeconds": 3974400}`, handler.ErrorInvalidRequest,
		[]string{"maxWaitSeconds (3974400) is too long: the start record is kept for 1440h0m0s", "14 days"},
	},
	{"initialDelay above the wait", `{"job": "test:Job", "maxWaitSeconds": 5, "initialDelay": 6}`, handler.ErrorInvalidRequest, []string{"initialDelay (6) must not be above maxWaitSeconds (5)"}},
	{"negative initialDelay", `{"job": "test:Job", "maxWaitSeconds": 5, "initialDelay": -1}`, handler.ErrorInvalidRequest, []string{"/initialDelay"}},
	{"schedule without delays", `{"job": "test:Job", "maxWaitSeconds": 5, "schedule": {"then": 2}}`, handler.ErrorInvalidRequest, []string{`/Execution/Input/schedule: a planned schedule needs the member "delays"`}},
	{
		"schedule beside other delays", `{"job": "test:Job", "maxWaitSeconds": 5, "minDelay": 2, "initialDelay": 0, "schedule": {"delays": [1], "then": 2}}`, handler.ErrorInvalidRequest,
		[]string{"/minDelay: schedule has all delays: remove minDelay, or schedule", "/initialDelay: schedule has"},
	},
	{"schedule begins after the wait by its jitter", `{"job": "test:Job", "maxWaitSeconds": 5, "schedule": {"delays": [4], "then": 2, "jitter": 2}}`, handler.ErrorInvalidRequest, []string{"/schedule: the first delay (6) must not be above maxWaitSeconds (5)"}},
	{"schedule begins after the wait", `{"job": "test:Job", "maxWaitSeconds": 5, "schedule": {"delays": [6], "then": 2}}`, handler.ErrorInvalidRequest, []string{"/schedule: the first delay (6) must not be above maxWaitSeconds (5)"}},
	{"minDelay 0", `{"job": "test:Job", "maxWaitSeconds": 5, "minDelay": 0}`, handler.ErrorInvalidRequest, []string{"/minDelay", "from 1"}},
	{"delays crossed", `{"job": "test:Job", "maxWaitSeconds": 5, "minDelay": 9, "maxDelay": 8}`, handler.ErrorInvalidRequest, []string{"minDelay (9) must not be above maxDelay (8)"}},
	{"maxDelay below the waiter's minDelay", `{"job": "test:Job", "maxWaitSeconds": 5, "maxDelay": 8}`, handler.ErrorInvalidRequest, []string{"minDelay (10) must not be above maxDelay (8)"}},
	{"onTimeout stop", `{"job": "test:Job", "maxWaitSeconds": 5, "onTimeout": "stop"}`, handler.ErrorInvalidRequest, []string{"/onTimeout", "the driver of test:Job cannot stop jobs", "use leave"}},
	{"onTimeout of another kind", `{"job": "test:Job", "maxWaitSeconds": 5, "onTimeout": "halt"}`, handler.ErrorInvalidRequest, []string{`expected one of stop, leave, found a string ("halt")`}},
	{"dwellSeconds", `{"job": "test:Job", "maxWaitSeconds": 5, "dwellSeconds": 901}`, handler.ErrorInvalidRequest, []string{"/dwellSeconds", "from 0 to 900"}},
	{"onRunning of another kind", `{"job": "test:Job", "maxWaitSeconds": 5, "onRunning": "errors"}`, handler.ErrorInvalidRequest, []string{"expected one of return, error", `did you mean "error"`}},
	{"onRunning delay without a schedule", `{"job": "test:Job", "maxWaitSeconds": 5, "onRunning": "delay"}`, handler.ErrorInvalidRequest, []string{"/onRunning: delay needs a schedule", "add schedule, or use error"}},
	{"endAs of another kind", `{"job": "test:Job", "maxWaitSeconds": 5, "endAs": true}`, handler.ErrorInvalidRequest, []string{"expected one of status, error"}},
	{"waiter is null", `{"job": "test:Job", "maxWaitSeconds": 5, "waiter": null}`, handler.ErrorInvalidRequest, []string{"waiter of the request", "expected a waiter, found null"}},
	{"waiter that never succeeds", `{"job": "test:Job", "maxWaitSeconds": 5, "waiter": {"acceptors": []}}`, handler.ErrorInvalidRequest, []string{"waiter of the request", "no acceptor has the state success"}},
	{"waiter with a misspelt state", strings.Replace(customWaiter, "success", "succes", 1), handler.ErrorInvalidRequest, []string{`waiter of the request: /acceptors/0/state: state must be success, failure or retry, got "succes"`}},
	{
		"waiter with a misspelt member", strings.Replace(customWaiter, "comparator", "comparater", 1), handler.ErrorInvalidRequest,
		[]string{`has no member "comparater"`, `did you mean "comparator"`},
	},
	{
		"waiter with a path that is no JMESPath", strings.Replace(customWaiter, "Phase", "Phase[", 1), handler.ErrorInvalidRequest,
		[]string{"waiter of the request: /acceptors/0/matcher/output/path: ", `, at character 7 of "Phase["`},
	},
	{
		"waiter over the input", strings.Replace(customWaiter, `"output"`, `"inputOutput"`, 1), handler.ErrorInvalidRequest,
		[]string{`a path over input and output has no member "Phase"`},
	},
	{
		"several problems", `{"job": 1, "maxWaitSeconds": "5", "endAs": "x", "more": 1}`, handler.ErrorInvalidRequest,
		[]string{"/job:", "/maxWaitSeconds:", "/endAs:", "/more:"},
	},
}

func TestRunJobRefusesBadRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range badRequests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			_, err := w.RunJob(t.Context(), json.RawMessage(bare(tt.request)))
			requireError(t, err, tt.want, tt.parts...)
			require.Empty(t, w.store.take())
			require.Zero(t, w.service.starts)
		})
	}
}

// The error of a request does not quote it: the runtime logs errors.
func TestRunJobErrorsKeepTheRequestToThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	for _, request := range []string{
		`{"arguments": {"Password": "hunter2"}, "maxWaitSecond": 1}`,
		`{"arguments": "hunter2", "maxWaitSeconds": "hunter2", "job": ["hunter2"]}`,
		`"hunter2"`,
	} {
		_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
		requireError(t, err, handler.ErrorInvalidRequest, "/Execution/Input")
		require.NotContains(t, named(t, err).Message, "hunter2")
	}
}

// A schedule gets one problem, with its place in the event, whatever it is: with no
// string of it, as all of a request.
func TestBadSchedulesOfARequest(t *testing.T) {
	t.Parallel()
	const seconds = "expected a whole number from %d to 36000000, found "
	from0, from1 := fmt.Sprintf(seconds, 0), fmt.Sprintf(seconds, 1)
	tests := []struct{ name, schedule, want string }{
		{"null", `null`, ": expected a planned schedule, found null"},
		{"a string", `"hunter2"`, ": expected a planned schedule, found a string"},
		{"deep", strings.Repeat("[", 400) + strings.Repeat("]", 400), ": expected a planned schedule, found an array"},
		{"unknown member", `{"delays": [1], "then": 2, "jiter": 1}`, `/jiter: a planned schedule has no member "jiter" (did you mean "jitter"?)`},
		{"null delays", `{"delays": null, "then": 2}`, "/delays: expected an array, found null"},
		{"no delays", `{"delays": [], "then": 2}`, "/delays: expected the delay before the first call, and found no delays"},
		{"negative", `{"delays": [-1], "then": 2}`, "/delays/0: " + from0 + "a number (-1)"},
		{"later delay of 0", `{"delays": [0, 0], "then": 2}`, "/delays/1: " + from1 + "a number (0)"},
		{"a fraction", `{"delays": [1, 1.5], "then": 2}`, "/delays/1: " + from1 + "a number (1.5)"},
		{"huge", `{"delays": [1], "then": 1e400}`, "/then: " + from1 + "a number (1e400)"},
		{"endless", `{"delays": [1], "then": 1e999999999}`, "/then: " + from1 + "a number (1e999999999)"},
		{"then is a string", `{"delays": [1], "then": "hunter2"}`, "/then: " + from1 + "a string"},
		{"delay is a string", `{"delays": ["hunter2"], "then": 2}`, "/delays/0: " + from0 + "a string"},
		{"deep delay", `{"delays": [[[[[1]]]]], "then": 2}`, "/delays/0: " + from0 + "an array"},
		{"jitter is true", `{"delays": [1], "then": 2, "jitter": true}`, "/jitter: " + from0 + "a boolean (true)"},
		{"jitter beyond the longest delay", `{"delays": [36000000], "then": 2, "jitter": 1}`, "/jitter: expected a first delay of at most 36000000 with the jitter, found 36000001"},
		{"100,001 delays", `{"delays": [` + strings.Repeat("1,", 100_000) + `1], "then": 2}`, "/delays: expected at most 1000 delays, found 100001"},
		{"two then", `{"delays": [1], "then": 2, "then": 3}`, `/then: member "then" stands twice in this object; keep one`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			_, err := w.RunJob(t.Context(), json.RawMessage(bare(`{"job": "test:Job", "maxWaitSeconds": 5, "schedule": `+tt.schedule+`}`)))
			requireError(t, err, handler.ErrorInvalidRequest)
			require.Equal(t, "/Execution/Input/schedule"+tt.want, named(t, err).Message)
			require.Zero(t, w.service.starts)
		})
	}
}

// A problem of the schedule comes with all others of the request.
func TestBadScheduleAmongOtherProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, err := w.RunJob(t.Context(), json.RawMessage(bare(`{"job": "test:Job", "maxWaitSeconds": 5, "minDelay": 0, "schedule": {"delays": [-1]}}`)))
	requireError(t, err, handler.ErrorInvalidRequest, "/Execution/Input/minDelay: ", "/Execution/Input/schedule/delays/0: ", `/Execution/Input/schedule: a planned schedule needs the member "then"`)
}

// Step Functions writes the event, so a line and column of it say nothing.
func TestRequestErrorsHaveNoColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, err := w.RunJob(t.Context(), json.RawMessage(bare(`{"job": "test:Job", "maxWaitSecond": 1, "maxWaitSeconds": 1}`)))
	require.Equal(t, `/Execution/Input/maxWaitSecond: a request has no member "maxWaitSecond" (did you mean "maxWaitSeconds"?)`, named(t, err).Message)
}

// The request comes from Input, else from the execution's input.
func TestRunJobFindsTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	context := fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": "2026-11-20T09:30:13Z", "Input": {"job": "test:Job", "maxWaitSeconds": 7}}}`, arn)
	for i, payload := range []string{
		fmt.Sprintf(`{"Context": %s, "Poller": "a"}`, context),
		fmt.Sprintf(`{"Context": %s, "Poller": "b", "Input": {"job": "test:Job", "maxWaitSeconds": 8}}`, context),
		fmt.Sprintf(`{"Input": {"job": "test:Job", "maxWaitSeconds": 9}, "Poller": "c", "Context": %s}`, context),
	} {
		w.runJob(t, payload)
		k := key
		k.Poller = string(rune('a' + i))
		require.Contains(t, string(w.record(t, k).Request), fmt.Sprintf(`"maxWaitSeconds":%d`, 7+i))
	}
	_, err := w.RunJob(t.Context(), json.RawMessage(call("")))
	requireError(t, err, handler.ErrorInvalidRequest, "has no request", `"Input"`)
	_, err = w.RunJob(t.Context(), json.RawMessage(call(`, "Input": null`)))
	requireError(t, err, handler.ErrorInvalidRequest, "expected a request, found null")
}

// The bounds of the next wait are the request's, else the waiter's.
func TestRequestDelays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		more  string
		waits []int // the longest wait after checks 1, 2, ... in seconds
	}{
		{``, []int{10, 13, 15, 17, 19, 22, 25, 29, 34, 39, 45, 51, 59, 60, 60}},
		// Whole seconds do not keep short delays from growing.
		{`, "minDelay": 1`, []int{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12}},
		{`, "minDelay": 3`, []int{3, 4, 4, 5, 6, 7}},
		{`, "maxDelay": 25`, []int{10, 13, 15, 17, 19, 22, 25, 25}},
		{`, "minDelay": 5, "maxDelay": 5`, []int{5, 5, 5}},
		{`, "minDelay": 300`, []int{300, 300}},
		// The request may say a longer delay than the waiter is followed in.
		{`, "minDelay": 60, "maxDelay": 600`, []int{60, 76, 87, 100, 115}},
		{`, "minDelay": 60`, []int{60, 60}},
		{`, "waiter": {"acceptors": [{"state": "success", "matcher": {"success": false}}], "maxDelay": 30}, "minDelay": 45`, []int{45, 45}},
	}
	for _, tt := range tests {
		t.Run(tt.more, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			w.runJob(t, bare(`{"job": "test:Job", "maxWaitSeconds": 86400`+tt.more+`}`))
			last := 0
			for i, want := range tt.waits {
				got := w.checkStatus(t, call(fmt.Sprintf(`, "Input": {"attempt": %d}`, last)))
				require.Equal(t, want, got.WaitSeconds, "check %d", i+1)
				last = got.Attempt
			}
		})
	}
}

func TestCustomWaiter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	w.runJob(t, bare(customWaiter))
	w.service.says(map[string]any{"State": "DONE", "Phase": "Warm"}, nil)
	result := w.checkStatus(t, call(`, "Input": {}`))
	require.EqualValues(t, "RUNNING", result.Status)
	require.Equal(t, 7, result.WaitSeconds)
	require.Equal(t, `no acceptor matched: Phase = "Warm"`, result.Reason)
	w.service.says(nil, errRefused)
	w.advance(time.Minute)
	result = w.checkStatus(t, call(`, "Input": {}`))
	require.EqualValues(t, "FAILED", result.Status)
	require.Contains(t, result.Reason, "any error (acceptor 2 of 2): ")
	require.Contains(t, result.Reason, "not for you")
}
