package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const polling = `{"StartAt": "Wait", "States": {
	"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Both"},
	"Both": {"Type": "Parallel", "Next": "Each", "ResultPath": null, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}, {"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 3, "End": true}}}]},
	"Each": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor": {"StartAt": "Inner", "States": {
		"Inner": {"Type": "Map", "ItemProcessor": {"StartAt": "Copy", "States": {"Copy": {"Type": "Pass", "Next": "Stop"}, "Stop": {"Type": "Succeed"}}}, "End": true}}}}}}`

func run(t *testing.T) (*asl.StateMachine, *sim.Result) {
	t.Helper()
	m, err := asl.Parse([]byte(polling))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(`{"items": [[1, 2], [3]]}`), sim.Options{})
	require.NoError(t, err)
	return m, r
}

func textOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func indent(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, []byte(text), "\n", "\t"))
	return b.String()
}

// Every form in which a history is had gives the same events.
func TestRead(t *testing.T) {
	t.Parallel()
	_, r := run(t)
	half := len(r.Events) / 2
	var lines, reverse strings.Builder
	for _, e := range r.Events {
		lines.WriteString(textOf(t, map[string]any{"event": e}) + "\n")
	}
	backwards := slices.Clone(r.Events)
	slices.Reverse(backwards)
	reverse.WriteString(textOf(t, map[string]any{"events": backwards}))
	first, second := textOf(t, map[string]any{"events": r.Events[:half]}), textOf(t, map[string]any{"events": r.Events[half:]})
	want, err := history.Read([]byte(textOf(t, map[string]any{"events": r.Events})))
	require.NoError(t, err)
	require.Empty(t, want.Notes)
	require.Equal(t, history.StatusSucceeded, want.Status)
	require.Equal(t, want.Transitions, r.Transitions)
	require.Equal(t, want.Start, r.Start)
	require.Equal(t, want.Stop, r.Stop)
	require.JSONEq(t, want.Output, string(r.Output))
	for name, text := range map[string]string{
		"an array": textOf(t, r.Events), "two pages": first + second, "lines": lines.String() + `{"result": {"executionArn": ""}}`, "in reverse": reverse.String(),
		"indented": indent(t, first) + indent(t, second), "a space before colons": strings.ReplaceAll(first, `EventDetails":`, `EventDetails" :`) + second,
	} {
		got, err := history.Read([]byte(text))
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	own := history.FromRun(&asl.StateMachine{}, r)
	require.Equal(t, want.Events, own.Events, "the events of a run are those of its history")
}

// A redriven execution ended twice: what failed ended then, and was entered anew.
func TestRedrivenExecution(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "End": true}}}`))
	require.NoError(t, err)
	clock, calls := sim.NewVirtualClock(sim.DefaultStart()), 0
	o := sim.Options{Clock: clock, Handlers: map[string]sim.Handler{"arn:aws:states:::aws-sdk:athena:getQueryExecution": func(context.Context, sim.Call) (sim.Reply, error) {
		if calls++; calls == 1 {
			return sim.Reply{}, &sim.TaskError{Name: "E", Latency: time.Second}
		}
		return sim.Reply{Output: map[string]any{}, Latency: 3 * time.Second}, nil
	}}}
	r, err := sim.Run(t.Context(), m, nil, o)
	require.NoError(t, err)
	require.Equal(t, sim.StatusFailed, r.Status)
	r, err = sim.Redrive(t.Context(), m, r, o)
	require.NoError(t, err)
	e, err := history.Read([]byte(textOf(t, r.Events)))
	require.NoError(t, err)
	require.Equal(t, history.StatusSucceeded, e.Status)
	require.Empty(t, e.Error)
	require.Equal(t, 1, e.CountRedrives())
	require.Equal(t, e.Transitions, r.Transitions)
	var took []time.Duration
	for _, v := range e.FindVisits().All {
		took = append(took, v.End.Sub(v.Start))
	}
	require.Equal(t, []time.Duration{5 * time.Second, time.Second, 3 * time.Second}, took)
}

// The answers of DescribeExecution and of DescribeStateMachineForExecution beside the
// history say what it lacks.
func TestReadWithDescriptions(t *testing.T) {
	t.Parallel()
	_, r := run(t)
	e, err := history.Read([]byte(textOf(t, map[string]any{"events": r.Events[:8]}) +
		`{"executionArn": "arn:aws:states:eu-west-1:123456789012:execution:nightly:run-7", "name": "run-7", "status": "RUNNING", "startDate": 1767225600.5, "input": "{}"}` +
		`{"stateMachineArn": "arn", "name": "nightly", "type": "STANDARD", "definition": ` + textOf(t, polling) + `}`))
	require.NoError(t, err)
	require.Equal(t, "run-7", e.Title)
	require.Equal(t, "eu-west-1", e.Region)
	require.Equal(t, history.StatusRunning, e.Status)
	require.False(t, e.HasEnded())
	require.NotNil(t, e.Machine.State("Both"))
	require.Equal(t, r.Start, e.Start, "the first event is earlier")
}

// The page of a history that does not have the end leaves open what was under way,
// unless DescribeExecution says that the execution has ended.
func TestReadOfWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	const page = `{"events": [{"id": 1, "type": "TaskStateEntered", "timestamp": 1, "stateEnteredEventDetails": {"name": "Get"}},
		{"id": 2, "previousEventId": 1, "type": "TaskScheduled", "timestamp": 2, "taskScheduledEventDetails": {"resource": "getItem", "resourceType": "aws-sdk:dynamodb"}}]}`
	for status, open := range map[string]bool{history.StatusRunning: true, history.StatusFailed: false} {
		e, err := history.Read([]byte(page + `{"executionArn": "arn:aws:states:eu-west-1:123456789012:execution:nightly:run-7", "stopDate": 9, "status": "` + status + `"}`))
		require.NoError(t, err)
		visits := e.FindVisits().All
		require.Len(t, visits, 1)
		require.Equal(t, open, visits[0].Open)
		require.Equal(t, 8*time.Second, visits[0].End.Sub(visits[0].Start))
		require.Equal(t, 7*time.Second, visits[0].Attempts[0].End.Sub(visits[0].Attempts[0].Start))
	}
}

// The log of an Express workflow, as lines and as CloudWatch Logs gives it.
func TestReadLog(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:states:us-east-1:123456789012:express:fast:run:1"
	line := func(id int, kind, details string) string {
		return fmt.Sprintf(`{"id":"%d","type":%q,"details":%s,"previous_event_id":"%d","event_timestamp":"%d","execution_arn":%q}`, id, kind, details, id-1, 1767225600000+int64(id)*1000, arn)
	}
	all := []string{
		line(1, "ExecutionStarted", `{"input":"{}"}`), line(2, "PassStateEntered", `{"name":"P","input":"{}"}`),
		line(3, "PassStateExited", `{"name":"P","output":"{\"a\":1}"}`), line(4, "ExecutionSucceeded", `{"output":"{\"a\":1}"}`),
	}
	want, err := history.Read([]byte(strings.Join(all, "\n")))
	require.NoError(t, err)
	require.True(t, want.Express)
	require.Equal(t, `{"a":1}`, want.Output)
	require.Equal(t, 3*time.Second, want.Duration())
	var messages []any
	for _, line := range all {
		messages = append(messages, map[string]any{"logStreamName": "s", "timestamp": 1767225600000, "message": line})
	}
	got, err := history.Read([]byte(textOf(t, map[string]any{"events": messages})))
	require.NoError(t, err)
	require.Equal(t, want, got)

	_, err = history.Read([]byte(strings.Join(all, "\n") + strings.ReplaceAll(all[0], ":run:1", ":run:2")))
	require.ErrorIs(t, err, history.ErrNoHistory)
	require.ErrorContains(t, err, "found several")
}

// What a history lacks is said, and the rest is read.
func TestReadWhatIsDamaged(t *testing.T) {
	t.Parallel()
	event := func(id int, kind, more string) string {
		return fmt.Sprintf(`{"id": %d, "previousEventId": %d, "type": %q%s}`, id, id-1, kind, more)
	}
	at := `, "timestamp": "2026-01-01T00:00:09+01:00"`
	for _, c := range []struct {
		events []string
		status string
		notes  []string
	}{
		{[]string{event(9, "WaitStateExited", at+`, "stateExitedEventDetails": {"name": "W"}`), event(10, "ExecutionAborted", at)}, history.StatusAborted, []string{"begins at event 9"}},
		{[]string{event(1, "ExecutionStarted", at), event(4, "PassStateEntered", at+`, "stateEnteredEventDetails": {"name": "P"}`)}, history.StatusRunning, []string{"events missing between event 1 and event 4: 2"}},
		{[]string{event(1, "ExecutionStarted", ""), event(2, "PassStateEntered", at+`, "stateEnteredEventDetails": {"name": "P"}`)}, history.StatusRunning, []string{"events without a timestamp, shown at the time of the event before: 1"}},
		{[]string{event(1, "ExecutionStarted", ""), event(2, "ExecutionSucceeded", "")}, history.StatusSucceeded, []string{"the event before: 2"}},
		{[]string{event(1, "ExecutionStarted", at), event(1, "ExecutionStarted", at)}, history.StatusRunning, []string{"events in the file twice, shown once: 1"}},
		{[]string{event(1, "QuantumStateEntangled", at+`, "quantumStateEntangledEventDetails": {"name": "Q"}`), event(2, "ExecutionTimedOut", at)}, history.StatusTimedOut, nil},
		{[]string{event(1, "ExecutionStarted", at), event(2, "ExecutionFailed", at+`, "executionFailedEventDetails": {"error": "E"}`), event(3, "ExecutionRedriven", at)}, history.StatusRunning, nil},
	} {
		e, err := history.Read([]byte(`{"events": [` + strings.Join(c.events, ",") + `]}`))
		require.NoError(t, err)
		require.Equal(t, c.status, e.Status)
		require.Len(t, e.Notes, len(c.notes))
		for i, note := range c.notes {
			require.Contains(t, e.Notes[i], note)
		}
		e.FindJobs(e.FindVisits())
	}
	e, err := history.Read([]byte(`{"events": [` + event(1, "ExecutionStarted", at) + `], "nextToken": "t"}
		{"executionArn": "arn:aws:states:eu-west-1:123456789012:execution:nightly:run-7", "status": "FAILED", "error": "E", "cause": "C"}`))
	require.NoError(t, err)
	require.Contains(t, e.Notes[0], "the history goes on")
	require.Equal(t, []string{history.StatusFailed, "E", "C"}, []string{e.Status, e.Error, e.Cause}, "the page does not have the end")
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "  ", "null", "7", `"text"`, "{}", `{"events": []}`, `[]`, `{"events": [{}]}`, `{"events": [7]}`, `{"events": {"a": 1}}`, `{"events": [{"type": "X", "id": "one"}]}`,
		`{"StartAt": "A", "States": {}}`, `{"events": [`, `{"events": [{"id": 1, "type": "X", "timestamp": "yesterday"}]}`, `{"events": [{"id": 1, "type": "X", "timestamp": 1e300}]}`,
		`{"events": [{"message": "START RequestId"}]}`, `{"events": [{"id": 1, "type": "X", "stateEnteredEventDetails": "text"}]}`,
	} {
		_, err := history.Read([]byte(text))
		require.ErrorIs(t, err, history.ErrNoHistory, text)
	}
	started := `{"events": [{"id": 1, "type": "ExecutionStarted", "timestamp": 100}]}`
	for _, other := range []string{
		`{"id": 1, "type": "ExecutionStarted", "timestamp": 200}`, `{"id": 1, "type": "ExecutionFailed", "timestamp": 100}`,
		`{"id": 1, "type": "ExecutionStarted", "timestamp": 100, "previousEventId": 7}`,
		`{"id": 1, "type": "ExecutionStarted", "details": {"input": "1"}}, {"id": 1, "type": "ExecutionStarted", "details": {"input": "2"}}`,
	} {
		_, err := history.Read([]byte(started + `{"events": [` + other + `]}`))
		require.ErrorIs(t, err, history.ErrNoHistory, other)
		require.ErrorContains(t, err, "two events with the ID 1", other)
	}
	_, err := history.Read([]byte(started + `{"events": [{"id": 1, "type": "ExecutionStarted", "timestamp": 100.0004, "details": {"input": "{}"}}]}`))
	require.NoError(t, err, "one of them tells less")
	for _, text := range []string{`{"events": [`, `[`, `{"events": [{"id": 1, "type": "Exec`} {
		_, err := history.Read([]byte(text))
		require.ErrorContains(t, err, "the text is cut off", text)
	}
}

// Whatever the text, it is read or refused, and what is read can be looked at.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"events": [{"id": 1, "type": "TaskScheduled", "timestamp": 1, "taskScheduledEventDetails": {"resource": "getQueryExecution", "resourceType": "aws-sdk:athena", "parameters": "{}"}}]}`))
	f.Add([]byte(`[{"id": 3, "previousEventId": 3, "type": "MapStateExited"}, {"id": 2, "previousEventId": 3, "type": "ParallelStateFailed"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := history.Read(text)
		if err != nil {
			require.ErrorIs(t, err, history.ErrNoHistory)
			return
		}
		for _, j := range e.FindJobs(e.FindVisits()) {
			require.NotEmpty(t, j.Polls)
			j.Lateness()
		}
	})
}

// Times as Python prints a datetime were refused. Each way in which people write down a
// history gives the same time.
func TestTimesOfAHistory(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 28, 14, 0, 0, 123000000, time.UTC)
	for _, written := range []string{
		`"2026-11-28 14:00:00.123000+00:00"`, `"2026-11-28 15:00:00.123000+01:00"`, `"2026-11-28 14:00:00.123000"`, // json.dumps(default=str)
		`"2026-11-28T14:00:00.123000+00:00"`, `"2026-11-28T14:00:00.123000"`, // isoformat
		`"2026-11-28T14:00:00.123Z"`, `"2026-11-28T15:00:00.123+0100"`, // the aws command, and JavaScript
		`1795874400.123`, `"1795874400.123"`, `1795874400123`, `"1795874400123"`, // seconds and milliseconds
	} {
		e, err := history.Read([]byte(`{"events": [{"id": 1, "type": "ExecutionStarted", "timestamp": ` + written + `}]}`))
		require.NoError(t, err, written)
		require.Equal(t, want, e.Events[0].Time, written)
	}
	_, err := history.Read([]byte(`{"events": [{"id": 1, "type": "ExecutionStarted", "timestamp": "yesterday"}]}`))
	require.ErrorContains(t, err, "expected a time such as 2026-01-01T00:00:00Z")
}
