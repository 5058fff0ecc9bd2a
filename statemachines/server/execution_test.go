package server_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// endpoint is a server whose answers a test expects to be good.
type endpoint struct {
	*server.Server

	t     *testing.T
	clock *sim.Clock
}

// start starts a server whose clock stands at factor 0, or jumps if it is virtual.
func startServer(t *testing.T, clock *sim.Clock, prepare func(server.StartInfo, *sim.Options) error) *endpoint {
	t.Helper()
	s := server.New(server.Options{Clock: clock, Prepare: prepare})
	t.Cleanup(s.Close)
	return &endpoint{s, t, clock}
}

func manual() *sim.Clock {
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	if err != nil {
		panic(err)
	}
	return clock
}

func virtual() *sim.Clock { return sim.NewVirtualClock(sim.DefaultStart()) }

type object = map[string]any

func (e *endpoint) call(operation string, input object) object {
	e.t.Helper()
	status, out := send(e.t, e.Server, operation, text(e.t, input))
	require.Equal(e.t, http.StatusOK, status, "%s: %v", operation, out)
	return out
}

// refused returns code and message of a refusal.
func (e *endpoint) refused(operation string, input object) string {
	e.t.Helper()
	status, out := send(e.t, e.Server, operation, text(e.t, input))
	require.Equal(e.t, http.StatusBadRequest, status, "%s: %v", operation, out)
	return fmt.Sprint(out["__type"], ": ", out["message"])
}

func (e *endpoint) create(name, definition string, more ...object) string {
	e.t.Helper()
	input := object{"name": name, "definition": definition, "roleArn": role}
	for _, members := range more {
		maps.Copy(input, members)
	}
	return e.call("CreateStateMachine", input)["stateMachineArn"].(string)
}

func (e *endpoint) start(machine string, more ...object) string {
	e.t.Helper()
	input := object{"stateMachineArn": machine}
	for _, members := range more {
		maps.Copy(input, members)
	}
	return e.call("StartExecution", input)["executionArn"].(string)
}

// wait waits until the execution has ended, and describes it.
func (e *endpoint) wait(execution string) object {
	e.t.Helper()
	x := e.World().Execution(execution)
	require.NotNil(e.t, x, execution)
	select {
	case <-x.Done():
	case <-time.After(time.Minute):
		require.Fail(e.t, "the execution does not end", "%s: %v", execution, e.types(execution))
	}
	return e.describe(execution)
}

func (e *endpoint) describe(execution string) object {
	e.t.Helper()
	return e.call("DescribeExecution", object{"executionArn": execution})
}

// history returns all events, in pages of n.
func (e *endpoint) history(execution string, n int, reverse bool) []object {
	e.t.Helper()
	var all []object
	input := object{"executionArn": execution, "maxResults": n, "reverseOrder": reverse}
	for {
		out := e.call("GetExecutionHistory", input)
		page := out["events"].([]any)
		require.LessOrEqual(e.t, len(page), n)
		for _, event := range page {
			all = append(all, event.(object))
		}
		if out["nextToken"] == nil {
			return all
		}
		input["nextToken"] = out["nextToken"]
	}
}

func (e *endpoint) types(execution string) []string {
	e.t.Helper()
	var all []string
	for _, event := range e.history(execution, 1000, false) {
		all = append(all, event["type"].(string))
	}
	return all
}

const (
	waitHour = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	failing  = `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E","Cause":"C"}}}`
)

func TestStartIsIdempotentWhileItRuns(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHour)
	first := e.call("StartExecution", object{"stateMachineArn": m, "name": "n", "input": `{"a":1}`})
	require.Equal(t, "arn:aws:states:eu-west-1:111111111111:execution:m:n", first["executionArn"])
	require.Equal(t, first, e.call("StartExecution", object{"stateMachineArn": m, "name": "n", "input": `{ "a": 1 }`}))
	const exists = "ExecutionAlreadyExists: Execution Already Exists: 'arn:aws:states:eu-west-1:111111111111:execution:m:n'"
	require.Equal(t, exists, e.refused("StartExecution", object{"stateMachineArn": m, "name": "n", "input": `{"a":2}`}))
	require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(time.Hour)))
	require.Equal(t, "SUCCEEDED", e.describe(first["executionArn"].(string))["status"])
	require.Equal(t, exists, e.refused("StartExecution", object{"stateMachineArn": m, "name": "n", "input": `{"a":1}`}))
	require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(90*24*time.Hour+time.Second)))
	second := e.call("StartExecution", object{"stateMachineArn": m, "name": "n", "input": `{"a":1}`})
	require.Greater(t, second["startDate"], first["startDate"])
	require.Len(t, e.call("ListExecutions", object{"stateMachineArn": m})["executions"], 1)
}

func TestStartRefusals(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHour)
	tests := []struct {
		input object
		want  string
	}{
		{object{"stateMachineArn": "m"}, "InvalidArn: Invalid Arn: 'Invalid ARN prefix: m'"},
		{object{"stateMachineArn": m + "x"}, "StateMachineDoesNotExist: State Machine Does Not Exist: '" + m + "x'"},
		{object{"stateMachineArn": m + "#Case"}, "StateMachineDoesNotExist: State Machine Does Not Exist: '" + m + "#Case'"},
		{object{"stateMachineArn": m + ":1"}, "StateMachineDoesNotExist: State Machine Does Not Exist: '" + m + ":1'"},
		{object{"stateMachineArn": m, "name": "a b"}, "InvalidName: Invalid Name: 'a b'"},
		{object{"stateMachineArn": m, "input": ""}, "InvalidExecutionInput: Invalid State Machine Execution Input: 'Invalid execution input.'"},
		{object{"stateMachineArn": m, "input": "{'a'"}, "InvalidExecutionInput: Invalid State Machine Execution Input: 'Unexpected character (''' (code 39)): was expecting double-quote to start field name'"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, e.refused("StartExecution", tt.input))
	}
	require.Equal(t, "StateMachineTypeNotSupported: This operation is not supported by this type of state machine",
		e.refused("StartSyncExecution", object{"stateMachineArn": m}))
}

func TestDescribeExecution(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHour)
	x := e.start(m, object{"name": "n", "input": `{"a":1}`, "traceHeader": "Root=1"})
	running := e.describe(x)
	require.Equal(t, object{
		"executionArn": x, "stateMachineArn": m, "name": "n", "status": "RUNNING", "startDate": running["startDate"],
		"input": `{"a":1}`, "inputDetails": object{"included": true}, "traceHeader": "Root=1", "redriveCount": 0.0,
		"redriveStatus": "NOT_REDRIVABLE", "redriveStatusReason": "Execution is RUNNING and cannot be redriven",
	}, running)
	stopped := e.call("StopExecution", object{"executionArn": x, "error": "E", "cause": "C"})
	require.Equal(t, object{
		"executionArn": x, "stateMachineArn": m, "name": "n", "status": "ABORTED", "startDate": running["startDate"], "stopDate": stopped["stopDate"],
		"inputDetails": object{"included": false}, "traceHeader": "Root=1", "redriveCount": 0.0, "redriveStatus": "REDRIVABLE",
	}, e.call("DescribeExecution", object{"executionArn": x, "includedData": "METADATA_ONLY"}))
	require.Equal(t, stopped, e.call("StopExecution", object{"executionArn": x}))
	require.Equal(t, []string{"ExecutionStarted", "WaitStateEntered", "ExecutionAborted"}, e.types(x))
	require.Equal(t, "ExecutionDoesNotExist: Execution Does Not Exist: '"+x+"x'", e.refused("DescribeExecution", object{"executionArn": x + "x"}))
	of := e.call("DescribeStateMachineForExecution", object{"executionArn": x})
	require.JSONEq(t, waitHour, of["definition"].(string))
}

// An account keeps so many executions that have ended, and all that run.
func TestOldestExecutionsAreForgotten(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{Clock: manual(), KeepExecutions: 2})
	t.Cleanup(s.Close)
	e := &endpoint{s, t, s.World().Clock()}
	waiting := e.start(e.create("w", waitHour))
	m := e.create("m", failing)
	var all []string
	for i := range 4 {
		all = append(all, e.start(m, object{"name": fmt.Sprint("n", i)}))
		<-e.World().Execution(all[i]).Done()
		if i == 0 {
			e.call("RedriveExecution", object{"executionArn": all[0]})
			<-e.World().Execution(all[0]).Done()
		}
	}
	require.Eventually(t, func() bool {
		return len(e.call("ListExecutions", object{"stateMachineArn": m})["executions"].([]any)) == 2
	}, time.Minute, time.Millisecond)
	require.Contains(t, e.refused("DescribeExecution", object{"executionArn": all[0]}), "ExecutionDoesNotExist: ")
	require.Equal(t, "FAILED", e.describe(all[3])["status"])
	require.Equal(t, "RUNNING", e.describe(waiting)["status"])
	require.Equal(t, all[0], e.start(m, object{"name": "n0"}), "the name is free")
}

func TestListExecutions(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHour)
	var names []string
	for i := range 5 {
		names = append([]string{fmt.Sprint("n", i)}, names...)
		e.start(m, object{"name": names[0]})
		require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(time.Second)))
	}
	list := func(more object) (found []string) {
		input := object{"stateMachineArn": m, "maxResults": 2}
		maps.Copy(input, more)
		for {
			out := e.call("ListExecutions", input)
			for _, x := range out["executions"].([]any) {
				found = append(found, x.(object)["name"].(string))
			}
			if out["nextToken"] == nil {
				return found
			}
			input["nextToken"] = out["nextToken"]
		}
	}
	require.Equal(t, names, list(nil))
	e.call("StopExecution", object{"executionArn": strings.Replace(m, "stateMachine", "execution", 1) + ":n1"})
	require.Equal(t, []string{"n1", "n4", "n3", "n2", "n0"}, list(nil), "by the end of those that have ended")
	require.Equal(t, []string{"n1"}, list(object{"statusFilter": "ABORTED"}))
	require.Equal(t, []string{"n4", "n3", "n2", "n0"}, list(object{"statusFilter": "RUNNING"}))
	require.Empty(t, list(object{"redriveFilter": "REDRIVEN"}))
	require.Equal(t, "InvalidToken: Invalid Token: 'Invalid token'", e.refused("ListExecutions", object{"stateMachineArn": m, "nextToken": "x"}))
	require.Contains(t, e.refused("ListExecutions", object{}), "ValidationException: ")
	require.Contains(t, e.refused("ListExecutions", object{"stateMachineArn": m, "statusFilter": "PENDING_REDRIVE"}), "ValidationException: ")
}

// Executions of versions and aliases are listed by their ARNs, and say with which they started.
func TestExecutionsOfVersions(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHour)
	version := e.call("PublishStateMachineVersion", object{"stateMachineArn": m})["stateMachineVersionArn"].(string)
	route := []object{{"stateMachineVersionArn": version, "weight": 100}}
	alias := e.call("CreateStateMachineAlias", object{"name": "PROD", "routingConfiguration": route})["stateMachineAliasArn"].(string)
	e.start(m, object{"name": "plain"})
	e.start(version, object{"name": "version"})
	e.start(alias, object{"name": "alias"})
	names := func(of string) (found []any) {
		for _, x := range e.call("ListExecutions", object{"stateMachineArn": of})["executions"].([]any) {
			found = append(found, x.(object)["name"])
		}
		return found
	}
	require.ElementsMatch(t, []any{"plain", "version", "alias"}, names(m))
	require.ElementsMatch(t, []any{"version", "alias"}, names(version))
	require.Equal(t, []any{"alias"}, names(alias))
	x := e.describe(strings.Replace(m, "stateMachine", "execution", 1) + ":alias")
	require.Equal(t, m, x["stateMachineArn"])
	require.Equal(t, version, x["stateMachineVersionArn"])
	require.Equal(t, alias, x["stateMachineAliasArn"])
	started := e.history(x["executionArn"].(string), 1, false)[0]["executionStartedEventDetails"].(object)
	require.Equal(t, version, started["stateMachineVersionArn"])
	require.Equal(t, alias, started["stateMachineAliasArn"])
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	m := e.create("m", `{"StartAt":"A","States":{"A":{"Type":"Pass","Result":{"secret":1},"Next":"B"},"B":{"Type":"Pass","Next":"C"},"C":{"Type":"Succeed"}}}`)
	x := e.start(m)
	e.wait(x)
	whole := e.history(x, 1000, false)
	require.Len(t, whole, 8)
	for _, n := range []int{1, 3, 7, 8} {
		require.Equal(t, whole, e.history(x, n, false))
		reversed := e.history(x, n, true)
		require.Len(t, reversed, 8)
		for i := range whole {
			require.Equal(t, whole[7-i], reversed[i])
		}
	}
	out := e.call("GetExecutionHistory", object{"executionArn": x, "includeExecutionData": false})
	require.NotContains(t, text(t, out), "secret")
	require.Equal(t, "InvalidToken: Invalid Token: 'Invalid token'", e.refused("GetExecutionHistory", object{"executionArn": x, "nextToken": "x"}))
}

func TestRedriveExecution(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", failing)
	x := e.start(m)
	e.wait(x)
	redriven := e.call("RedriveExecution", object{"executionArn": x, "clientToken": "t"})
	require.Equal(t, redriven, e.call("RedriveExecution", object{"executionArn": x, "clientToken": "t"}))
	described := e.wait(x)
	require.Equal(t, "FAILED", described["status"])
	require.InDelta(t, 1, described["redriveCount"], 0)
	require.Equal(t, redriven["redriveDate"], described["redriveDate"])
	e.call("RedriveExecution", object{"executionArn": x, "clientToken": "u"})
	require.InDelta(t, 2, e.wait(x)["redriveCount"], 0)
	require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(15*24*time.Hour)))
	require.Equal(t, "ExecutionNotRedrivable: Execution Not Redrivable: 'Execution redrivable period exceeded'", e.refused("RedriveExecution", object{"executionArn": x}))
	wait := e.start(e.create("w", waitHour))
	require.Equal(t, "ExecutionNotRedrivable: Execution Not Redrivable: 'Execution is RUNNING and cannot be redriven'", e.refused("RedriveExecution", object{"executionArn": wait}))
}

func TestExpressExecutions(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	m := e.create("m", waitHourExpress, object{"type": "EXPRESS"})
	x := e.start(m, object{"name": "n"})
	require.NotEqual(t, x, e.start(m, object{"name": "n"}), "names may repeat")
	for _, operation := range []string{"DescribeExecution", "StopExecution", "GetExecutionHistory", "DescribeStateMachineForExecution", "RedriveExecution"} {
		require.Equal(t, "InvalidArn: Invalid Arn: 'Resource type not valid in this context: express'", e.refused(operation, object{"executionArn": x}), operation)
	}
	require.Equal(t, "StateMachineTypeNotSupported: This operation is not supported by this type of state machine", e.refused("ListExecutions", object{"stateMachineArn": m}))
	out := e.call("StartSyncExecution", object{"stateMachineArn": m, "name": "s", "input": `[1]`, "traceHeader": "Root=1"})
	require.Equal(t, object{
		"executionArn": out["executionArn"], "stateMachineArn": m, "name": "s", "status": "SUCCEEDED", "startDate": out["startDate"], "stopDate": out["stopDate"],
		"input": `[1]`, "inputDetails": object{"included": true}, "output": `[1]`, "outputDetails": object{"included": true}, "traceHeader": "Root=1",
		"billingDetails": object{"billedMemoryUsedInMB": 64.0, "billedDurationInMilliseconds": 60_000.0},
	}, out)
	require.InDelta(t, 60, out["stopDate"].(float64)-out["startDate"].(float64), 0.001)
}

const waitHourExpress = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"End":true}}}`

// The child executions of a Map Run are listed by its ARN, and described.
func TestExecutionsOfMapRuns(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"STANDARD", "EXPRESS"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := startServer(t, virtual(), nil)
			m := e.create("m", `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"`+kind+`"},
			  "StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"End":true}}},"End":true}}}`)
			x := e.start(m, object{"input": "[1,2,3]"})
			require.Equal(t, "SUCCEEDED", e.wait(x)["status"])
			run := e.World().Execution(x).Snapshot().MapRuns[0]
			out := e.call("ListExecutions", object{"mapRunArn": run, "maxResults": 2})
			page := out["executions"].([]any)
			require.Len(t, page, 2)
			rest := e.call("ListExecutions", object{"mapRunArn": run, "maxResults": 2, "nextToken": out["nextToken"]})
			require.Len(t, rest["executions"], 1)
			child := page[0].(object)
			require.Equal(t, []any{run, m + "/L", "SUCCEEDED"}, []any{child["mapRunArn"], child["stateMachineArn"], child["status"]})
			described := e.describe(child["executionArn"].(string))
			require.Equal(t, []any{run, m + "/L", "3"}, []any{described["mapRunArn"], described["stateMachineArn"], described["output"]})
			require.Contains(t, e.refused("ListExecutions", object{"mapRunArn": run + "x"}), "ResourceNotFound: ")
			require.Empty(t, e.call("ListExecutions", object{"mapRunArn": run, "statusFilter": "PENDING_REDRIVE"})["executions"])
			require.Len(t, e.call("ListExecutions", object{"stateMachineArn": m})["executions"], 1)
			if kind == "STANDARD" {
				require.Len(t, e.history(child["executionArn"].(string), 100, false), 4)
				require.Equal(t, "L", e.call("DescribeStateMachineForExecution", object{"executionArn": child["executionArn"]})["label"])
			}
		})
	}
}

// A history is full at 25,000 events, and comes in pages.
func TestFullHistory(t *testing.T) {
	t.Parallel()
	e := startServer(t, virtual(), nil)
	x := e.start(e.create("m", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},
	  "B":{"Type":"Choice","Choices":[{"Variable":"$.a","NumericEquals":2,"Next":"C"}],"Default":"A"},"C":{"Type":"Succeed"}}}`), object{"input": `{"a":1}`})
	require.Equal(t, "The execution reached the maximum number of history events (25000).", e.wait(x)["cause"])
	forward, back := e.history(x, 1000, false), e.history(x, 999, true)
	require.Len(t, forward, 25_000)
	slices.Reverse(back)
	require.Equal(t, forward, back)
	require.Equal(t, "ExecutionNotRedrivable: Execution Not Redrivable: 'Execution history event limit exceeded'", e.refused("RedriveExecution", object{"executionArn": x}))
}

// A client that does not wait for its synchronous execution does not end it.
func TestSynchronousExecutionOutlivesItsClient(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHourExpress, object{"type": "EXPRESS"})
	events := e.Subscribe(10, nil)
	defer events.Close()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(`{"stateMachineArn":"`+m+`"}`))
		q.Header.Set("X-Amz-Target", "AWSStepFunctions.StartSyncExecution")
		q.Header.Set("Authorization", signed)
		e.ServeHTTP(httptest.NewRecorder(), q)
	}()
	run := (<-events.C).Execution
	leave()
	<-left
	require.Equal(t, sim.StatusRunning, run.Status())
	require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(time.Minute)))
	require.Equal(t, sim.StatusSucceeded, run.Status())
}

// A server that closes lets go of those who wait.
func TestCloseEndsWaitingRequests(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHourExpress, object{"type": "EXPRESS"})
	activity := e.call("CreateActivity", object{"name": "a"})["activityArn"].(string)
	events := e.Subscribe(10, nil)
	defer events.Close()
	statuses := make(chan int, 2)
	for operation, input := range map[string]object{"StartSyncExecution": {"stateMachineArn": m}, "GetActivityTask": {"activityArn": activity}} {
		body := text(t, input)
		go func() {
			q := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			q.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
			q.Header.Set("Authorization", signed)
			w := httptest.NewRecorder()
			e.ServeHTTP(w, q)
			statuses <- w.Code
		}()
	}
	<-events.C
	e.Close()
	require.Equal(t, []int{http.StatusServiceUnavailable, http.StatusServiceUnavailable}, []int{<-statuses, <-statuses})
}
