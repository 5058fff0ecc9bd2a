package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const eachWaits = `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"MaxConcurrency":1,"ToleratedFailurePercentage":50,"ItemProcessor":{
	"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"C","States":{
	"C":{"Type":"Choice","Choices":[{"Variable":"$","NumericEquals":2,"Next":"F"}],"Default":"W"},
	"W":{"Type":"Wait","Seconds":10,"End":true},"F":{"Type":"Fail","Error":"Two"}}}}}}`

// counts returns the counts that are not zero.
func counts(of any) object {
	out := object{}
	for name, n := range of.(object) {
		if n != 0.0 {
			out[name] = n
		}
	}
	return out
}

func TestMapRuns(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	machine := e.create("m", eachWaits)
	x := e.start(machine, object{"input": `[1,2,3,4]`})
	advance := func(d time.Duration) {
		t.Helper()
		require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(d)))
	}
	advance(time.Second)

	runs := e.call("ListMapRuns", object{"executionArn": x})["mapRuns"].([]any)
	require.Len(t, runs, 1)
	run := runs[0].(object)
	mapRunARN := run["mapRunArn"].(string)
	require.True(t, strings.HasPrefix(mapRunARN, "arn:aws:states:eu-west-1:111111111111:mapRun:m/M:"), mapRunARN)
	require.Equal(t, object{"executionArn": x, "mapRunArn": mapRunARN, "stateMachineArn": machine, "startDate": run["startDate"]}, run)

	of := object{"mapRunArn": mapRunARN}
	described := e.call("DescribeMapRun", of)
	require.Equal(t, []any{"RUNNING", x, 1.0, 50.0, nil}, []any{
		described["status"], described["executionArn"], described["maxConcurrency"], described["toleratedFailurePercentage"], described["stopDate"],
	})
	require.Equal(t, object{"running": 1.0, "pending": 3.0, "total": 4.0}, counts(described["itemCounts"]))

	require.Empty(t, e.call("UpdateMapRun", object{"mapRunArn": mapRunARN, "maxConcurrency": 3}))
	advance(time.Second)
	described = e.call("DescribeMapRun", of)
	require.Equal(t, 3.0, described["maxConcurrency"])
	require.Equal(t, object{"running": 3.0, "failed": 1.0, "total": 4.0}, counts(described["executionCounts"]))

	children := e.call("ListExecutions", object{"mapRunArn": mapRunARN, "statusFilter": "FAILED"})["executions"].([]any)
	require.Len(t, children, 1)
	child := children[0].(object)
	require.Equal(t, []any{mapRunARN, machine + "/M"}, []any{child["mapRunArn"], child["stateMachineArn"]})
	require.Equal(t, "Two", e.describe(child["executionArn"].(string))["error"])

	advance(time.Minute)
	require.Equal(t, "SUCCEEDED", e.wait(x)["status"])
	described = e.call("DescribeMapRun", of)
	require.Equal(t, "SUCCEEDED", described["status"])
	require.NotNil(t, described["stopDate"])
	require.Len(t, e.call("ListExecutions", of)["executions"], 4)
	page := e.call("ListExecutions", object{"mapRunArn": mapRunARN, "maxResults": 3})
	require.Len(t, e.call("ListExecutions", object{"mapRunArn": mapRunARN, "nextToken": page["nextToken"]})["executions"], 1)

	require.Equal(t, "ValidationException: The Map Run has ended and cannot be updated: '"+mapRunARN+"'",
		e.refused("UpdateMapRun", object{"mapRunArn": mapRunARN, "maxConcurrency": 3}))
	require.Contains(t, e.refused("UpdateMapRun", of), "ValidationException: At least one of")
	for _, operation := range []string{"DescribeMapRun", "ListExecutions"} {
		require.Equal(t, "ResourceNotFound: Resource not found: '"+mapRunARN+"x'", e.refused(operation, object{"mapRunArn": mapRunARN + "x"}))
	}
	require.Equal(t, "InvalidArn: Invalid Arn: 'Resource type not valid in this context: execution'", e.refused("DescribeMapRun", object{"mapRunArn": x}))
	require.Equal(t, "ExecutionDoesNotExist: Execution Does Not Exist: '"+x+"x'", e.refused("ListMapRuns", object{"executionArn": x + "x"}))
}

// A page goes on where the one before it ended, whatever has begun in between.
func TestMapRunPages(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	each := func(inner, next string) string {
		return `{"Type":"Map",` + next + `,"Items":"{% [1] %}","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"` + inner + `","States":{"` + inner + `":{"Type":"Pass","End":true}}}}`
	}
	x := e.start(e.create("m", `{"QueryLanguage":"JSONata","StartAt":"M1","States":{"M1":`+each("P1", `"Next":"M2"`)+`,"M2":`+each("P2", `"Next":"W"`)+
		`,"W":{"Type":"Wait","Seconds":60,"Next":"M3"},"M3":`+each("P3", `"End":true`)+`}}`), object{})
	advance := func(d time.Duration) {
		t.Helper()
		require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(d)))
	}
	state := func(page object) string {
		runs := page["mapRuns"].([]any)
		require.Len(t, runs, 1)
		_, label, _ := strings.Cut(runs[0].(object)["mapRunArn"].(string), ":mapRun:m/")
		label, _, _ = strings.Cut(label, ":")
		return label
	}
	advance(time.Second)
	page := e.call("ListMapRuns", object{"executionArn": x, "maxResults": 1})
	require.Equal(t, "M2", state(page))
	advance(time.Hour)
	require.Len(t, e.call("ListMapRuns", object{"executionArn": x})["mapRuns"], 3)
	require.Equal(t, "M1", state(e.call("ListMapRuns", object{"executionArn": x, "maxResults": 1, "nextToken": page["nextToken"]})))
}

// A redrive goes through the child executions that failed; those that it has not come to
// are PENDING_REDRIVE.
func TestMapRunRedrive(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	activity := e.call("CreateActivity", object{"name": "a"})["activityArn"].(string)
	x := e.start(e.create("m", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"MaxConcurrency":1,"ToleratedFailurePercentage":50,
		"ItemBatcher":{"MaxItemsPerBatch":2},"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"A","States":{
		"A":{"Type":"Task","Resource":"`+activity+`","TimeoutSeconds":10,"End":true}}}}}}`), object{"input": `[1,2,3,4,5]`})
	advance := func(d time.Duration) {
		t.Helper()
		require.NoError(t, e.clock.Advance(t.Context(), e.clock.Now().Add(d)))
	}
	advance(time.Minute)
	require.Equal(t, "FAILED", e.wait(x)["status"])
	of := object{"mapRunArn": e.call("ListMapRuns", object{"executionArn": x})["mapRuns"].([]any)[0].(object)["mapRunArn"]}
	children := func(filter string) []any {
		t.Helper()
		var all []any
		for _, item := range e.call("ListExecutions", object{"mapRunArn": of["mapRunArn"], "statusFilter": filter})["executions"].([]any) {
			child := item.(object)
			require.Equal(t, filter, child["status"])
			require.Equal(t, filter, e.describe(child["executionArn"].(string))["status"])
			all = append(all, child["itemCount"])
		}
		return all
	}
	require.Equal(t, []any{2.0, 2.0}, children("FAILED"))
	require.Empty(t, children("PENDING_REDRIVE"))

	e.call("RedriveExecution", object{"executionArn": x})
	advance(time.Second)
	require.Equal(t, []any{2.0}, children("RUNNING"))
	require.Equal(t, []any{2.0}, children("PENDING_REDRIVE"))
	require.Empty(t, children("FAILED"))
	require.Equal(t, object{"running": 2.0, "pendingRedrive": 2.0, "pending": 1.0, "total": 5.0}, counts(e.call("DescribeMapRun", of)["itemCounts"]))
	advance(time.Minute)
	require.Equal(t, "FAILED", e.wait(x)["status"])
	require.Equal(t, []any{2.0, 2.0}, children("FAILED"))
}
