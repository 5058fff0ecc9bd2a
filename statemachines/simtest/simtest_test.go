package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// t stands in the examples for a *testing.T.
var t = exampleT{}

type exampleT struct{}

func (exampleT) Helper()                           {}
func (exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (exampleT) Context() context.Context          { return context.Background() }

// recorder is a test that can fail without failing.
type recorder struct {
	*testing.T

	failure string
}

// stopped is what Fatalf panics with, since a test that fails does not go on.
type stopped struct{}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	panic(stopped{})
}

// failure is how f fails its test; empty if it does not.
func failure(t *testing.T, f func(t simtest.T)) (text string) {
	t.Helper()
	r := &recorder{T: t}
	defer func() {
		if p := recover(); p != nil {
			require.Equal(t, stopped{}, p)
		}
		text = r.failure
	}()
	f(r)
	return r.failure
}

const machine = `{"TimeoutSeconds": 100, "StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:work", "Parameters": {"FunctionName": "work"}, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 1}], "Next": "B"},
	"B": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 1, "Next": "C"}], "Default": "D"},
	"C": {"Type": "Wait", "Seconds": 10, "End": true}, "D": {"Type": "Wait", "Seconds": 200, "End": true}}}`

// Every assertion holds for what happened, and fails for anything else, with
// a trace.
func TestRequire(t *testing.T) {
	t.Parallel()
	run := func(t simtest.T) *simtest.Run {
		s := simtest.New(t, machine)
		s.On("A").Fail("E", "once").Return(1)
		return s.Run(nil)
	}
	failing := func(t simtest.T) *simtest.Run {
		s := simtest.New(t, machine)
		s.On("A").Fail("Broken", "the disk is full")
		return s.Run(nil)
	}
	late := func(t simtest.T) *simtest.Run {
		s := simtest.New(t, machine)
		s.On("A").Return(2)
		return s.Run(nil)
	}
	tests := []struct {
		name        string
		run         func(simtest.T) *simtest.Run
		holds, fail func(*simtest.Run)
		message     string
	}{
		{"succeeded", run, func(r *simtest.Run) { r.RequireSucceeded() }, func(r *simtest.Run) { r.RequireFailed("E") }, `the execution ended SUCCEEDED; want FAILED with error "E"`},
		{"failed", failing, func(r *simtest.Run) { r.RequireFailed("Broken", "disk") }, func(r *simtest.Run) { r.RequireSucceeded() }, `the execution ended FAILED in state "A" with error "Broken": the disk is full; want SUCCEEDED`},
		{"error", failing, func(r *simtest.Run) { r.RequireFailed("Broken") }, func(r *simtest.Run) { r.RequireFailed("Other") }, `want FAILED with error "Other"`},
		{"cause", failing, func(r *simtest.Run) { r.RequireFailed("Broken", "full") }, func(r *simtest.Run) { r.RequireFailed("Broken", "empty") }, `want it to contain "empty"`},
		{"timed out", late, func(r *simtest.Run) { r.RequireTimedOut() }, func(r *simtest.Run) { r.RequireSucceeded() }, "ended TIMED_OUT"},
		{"not timed out", run, func(*simtest.Run) {}, func(r *simtest.Run) { r.RequireTimedOut() }, "want TIMED_OUT"},
		{"output", run, func(r *simtest.Run) { r.RequireOutput(1.0) }, func(r *simtest.Run) { r.RequireOutput(`[ 1 ]`) }, "the output is 1; want [1]"},
		{"path", run, func(r *simtest.Run) { r.RequirePath("A", "B", "C") }, func(r *simtest.Run) { r.RequirePath("A", "C") }, "the path is A > B > C\nwant        A > C\nthey part at step 2: \"B\", want \"C\""},
		{"visits", run, func(r *simtest.Run) { r.RequireVisits("A", 1).RequireVisits("D", 0) }, func(r *simtest.Run) { r.RequireVisits("D", 1) }, `state "D" was entered 0 times; want 1`},
		{"no such state", run, func(*simtest.Run) {}, func(r *simtest.Run) { r.RequireVisits("X", 0) }, `no state "X"`},
		{"attempts", run, func(r *simtest.Run) { r.RequireAttempts("A", 2).RequireAttempts("C", 0) }, func(r *simtest.Run) { r.RequireAttempts("A", 1) }, `was called 2 times; want 1`},
		{"elapsed", run, func(r *simtest.Run) { r.RequireElapsed(11 * time.Second) }, func(r *simtest.Run) { r.RequireElapsed(time.Second) }, "took 11s of virtual time; want 1s"},
		{"elapsed between", run, func(r *simtest.Run) { r.RequireElapsedBetween(10*time.Second, 11*time.Second) }, func(r *simtest.Run) { r.RequireElapsedBetween(0, time.Second) }, "want 0s to 1s"},
		{"transitions", run, func(r *simtest.Run) { r.RequireTransitions(4) }, func(r *simtest.Run) { r.RequireTransitions(5) }, "took 4 transitions; want 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, failure(t, func(t simtest.T) { tt.holds(tt.run(t)) }))
			message := failure(t, func(t simtest.T) { tt.fail(tt.run(t)) })
			require.Contains(t, message, tt.message)
			if tt.name != "no such state" {
				require.Contains(t, message, "ExecutionStarted", "the trace")
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	s := simtest.New(t, machine)
	s.On("A").Return(1).Return(2)
	s.Run(nil)
	recorded := failure(t, func(r simtest.T) {
		s := simtest.New(r, machine)
		s.On("A").Return(1)
		s.Run(nil)
		s.RequireCovered("D")
		s.RequireTransitionsCovered()
	})
	require.Equal(t, "transitions that no run took:\n  B -> D (Default)", recorded)
	require.Equal(t, "states that no run entered: D", failure(t, func(r simtest.T) {
		s := simtest.New(r, machine)
		s.On("A").Return(1)
		s.Run(nil)
		s.RequireCovered()
	}))
	s.Run(nil)
	s.RequireCovered()
	s.RequireTransitionsCovered()
}

func TestSetUpMistakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		f    func(t simtest.T)
		want string
	}{
		"definition":               {func(t simtest.T) { simtest.New(t, `{"StartAt": "A"}`) }, "needs the field \"States\""},
		"file":                     {func(t simtest.T) { simtest.File(t, "nowhere.json") }, "nowhere.json"},
		"state":                    {func(t simtest.T) { simtest.New(t, machine).On("AA") }, `no state or resource "AA"`},
		"Task without one":         {func(t simtest.T) { simtest.New(t, machine).Run(nil) }, `state "A": resource "arn:aws:lambda:us-east-1:123456789012:function:work" has no handler`},
		"input":                    {func(t simtest.T) { simtest.New(t, machine).Run(func() {}) }, "unsupported type"},
		"job":                      {func(t simtest.T) { simtest.New(t, machine).Job(&mock.Job{}, "", "A", "") }, "path of its status"},
		"state that calls nothing": {func(t simtest.T) { simtest.New(t, machine).On("C") }, `the state "C" is a Wait, which makes no call`},
		"calls of no state":        {func(t simtest.T) { simtest.New(t, machine).Calls("X") }, `no state or resource "X"`},
		"script":                   {func(t simtest.T) { s := simtest.New(t, machine); s.On("A").Times(2); s.Run(nil) }, `the script of "A": Times must follow a step`},
		"script without steps":     {func(t simtest.T) { s := simtest.New(t, machine); s.On("A"); s.Run(nil) }, `the script of "A": a script needs at least one step`},
		"call of a job twice": {func(t simtest.T) {
			simtest.New(t, machine).Job(&mock.Job{Status: "s", Running: "R", Ends: "E"}, "A", "A", "")
		}, `"A" can be one call of the job only`},
		"job that nothing describes": {func(t simtest.T) {
			simtest.New(t, machine).Job(&mock.Job{Status: "s", Running: "R", Ends: "E"}, "A", "", "")
		}, `no state or resource ""`},
		"no file of mocks":  {func(t simtest.T) { simtest.New(t, machine).MockFile("nowhere.json", "") }, "nowhere.json"},
		"mocks of another":  {func(t simtest.T) { simtest.New(t, machine).MockFile("testdata/MockConfigFile.json", "Unknown") }, `testdata/MockConfigFile.json: mocks: there is no state or resource "Describe"`},
		"no such test case": {func(t simtest.T) { simtest.New(t, machine).MockFile("testdata/MockConfigFile.json", "X") }, "there are Poller#Completes, Poller#Unknown"},
		"broken off": {func(t simtest.T) {
			s := simtest.New(t, machine)
			s.On("A").Fail("E", "").Times(1)
			s.Run(nil)
		}, `function:work): the mock has answers for 1 calls; add one, or remove the number of times of the last

   +0:00:00.000  ExecutionStarted         < {}
   +0:00:00.000  TaskStateEntered         A < {}`},
		"job of a .sync Task": {func(t simtest.T) {
			simtest.New(t, `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "End": true}}}`).
				Job(&mock.Job{Status: "s", Running: "R", Ends: "E"}, "", "A", "")
		}, `is a ".sync" Task, which ends with the job`},
		"too few answers": {func(t simtest.T) {
			s := simtest.New(t, machine)
			s.On("A").Fail("E", "").Times(1)
			s.Run(nil)
		}, `call 2 of state "A"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, failure(t, tt.f), tt.want)
		})
	}
}

// A failed assertion says where the output is another.
func TestRequireOutputDifference(t *testing.T) {
	t.Parallel()
	const got = `{"list": [1, {"a/b": "x"}], "big": 9007199254740993, "e": 1e2, "null": null}`
	for want, message := range map[string]string{
		`{"list": [1.0, {"a/b": "x"}], "big": 9007199254740993, "e": 100, "null": null}`:       "",
		`{"list": [1, {"a/b": "y"}], "big": 9007199254740993, "e": 100, "null": null}`:         `they differ at /list/1/a~1b: "x", want "y"`,
		`{"list": [1, {"a/b": "x"}], "big": 9007199254740992, "e": 100, "null": null}`:         `they differ at /big: 9007199254740993, want 9007199254740992`,
		`{"list": [1], "big": 9007199254740993, "e": 100, "null": null}`:                       `they differ at /list/1: {"a/b":"x"}, want nothing`,
		`{"list": [1, {}, 2], "big": 9007199254740993, "e": 100, "null": null}`:                `they differ at /list/1/a~1b: "x", want nothing`,
		`{"list": [1, {"a/b": "x"}, 2], "big": 9007199254740993, "e": 100, "null": null}`:      `they differ at /list/2: nothing, want 2`,
		`{"list": [1, {"a/b": "x"}], "big": 9007199254740993, "e": 100}`:                       `they differ at /null: null, want nothing`,
		`{"list": [1, {"a/b": "x"}], "big": 9007199254740993, "e": 100, "null": 0}`:            `they differ at /null: null, want 0`,
		`{"list": "1", "big": 9007199254740993, "e": 100, "null": null}`:                       `they differ at /list: [1,{"a/b":"x"}], want "1"`,
		`{"list": [1, {"a/b": "x"}], "big": 9007199254740993, "e": 100, "null": null, "z": 1}`: `they differ at /z: nothing, want 1`,
		`null`: `; want null`,
		`done`: `wanted output: not JSON: invalid character 'd'`,
		`1 2`:  "there is more after the first value",
	} {
		failed := failure(t, func(t simtest.T) {
			s := simtest.New(t, `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`)
			s.Run(got).RequireOutput(want)
		})
		if message == "" {
			require.Empty(t, failed)
		} else {
			require.Contains(t, failed, message)
		}
	}
	s := simtest.New(t, []byte(`{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`))
	s.Run([]byte("null")).RequireOutput(nil)
	s.Run(nil).RequireOutput(struct{}{})
}

// A path with loops is written short.
func TestRequirePathFolds(t *testing.T) {
	t.Parallel()
	message := failure(t, func(t simtest.T) {
		s := simtest.New(t, `{"StartAt": "Start", "States": {
			"Start": {"Type": "Pass", "Next": "Wait"}, "Wait": {"Type": "Wait", "Seconds": 1, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:work", "Parameters": {"FunctionName": "work"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$", "BooleanEquals": true, "Next": "Done"}], "Default": "Wait"},
			"Done": {"Type": "Succeed"}}}`)
		s.On("Get").Return(false).Times(99).Return(true)
		s.Run(nil).RequirePath(simtest.Join([]string{"Start"}, simtest.Loop(100, "Wait", "Get", "Done?"))...)
	})
	require.Contains(t, message, `the path is Start > (Wait > Get > Done?) x 100 > Done
want        Start > (Wait > Get > Done?) x 100
they part at step 302: "Done", want the end`)
}

// A failure of a long poll loop is short: why it failed, the first turn of the
// loop and the last.
func TestRedLoopIsShort(t *testing.T) {
	t.Parallel()
	message := failure(t, func(t simtest.T) {
		s := simtest.New(t, `{"StartAt": "Wait", "States": {
			"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.Payload", "BooleanEquals": true, "Next": "Done"}], "Default": "Wait"},
			"Done": {"Type": "Succeed"}}}`)
		s.On("Get").Return(map[string]bool{"Payload": false}).Times(99).Fail("Broken", "the disk is full")
		s.Run(nil).RequireOutput(true)
	})
	lines := strings.Split(message, "\n")
	require.Equal(t, `the execution ended FAILED in state "Get" with error "Broken": the disk is full; want SUCCEEDED`, lines[0])
	require.Less(t, len(lines), 33)
	require.Contains(t, message, "\n            ...  97 more turns of these 9 events, until +0:49:00.000\n")
	require.Contains(t, message, "+0:50:00.000  TaskFailed               invoke \"Broken\": the disk is full\n")
}

// Who answers last said so last, and time and jobs start anew with each run
// unless there is a clock.
func TestAnswersTakeTurns(t *testing.T) {
	t.Parallel()
	s := simtest.New(t, `{"StartAt": "Wait", "States": {
		"Wait": {"Type": "Wait", "SecondsPath": "$.first", "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "c"}, "ResultPath": "$.r", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.Crawler.State", "StringEquals": "READY", "Next": "Done"}], "Default": "Again"},
		"Again": {"Type": "Wait", "Seconds": 10, "Next": "Get"},
		"Done": {"Type": "Succeed"}}}`)
	job := &mock.Job{Runs: 30 * time.Second, Status: "Crawler.State", Running: "RUNNING", Ends: "READY"}
	s.Job(job, "", "Get", "")
	s.Run(`{"first": 100}`).RequireVisits("Get", 4).RequireElapsed(130 * time.Second)
	s.Run(`{"first": 0}`).RequireVisits("Get", 4).RequireElapsed(30 * time.Second)
	require.Equal(t, 1, job.Starts())
	require.Len(t, s.Calls("Get"), 8)

	s.On("Get").Return(map[string]any{"Crawler": map[string]string{"State": "READY"}})
	s.Run(`{"first": 0}`).RequireVisits("Get", 1)
	s.Job(job, "", "Get", "")
	s.Run(`{"first": 0}`).RequireVisits("Get", 4)

	s.Options.Clock = sim.NewVirtualClock(sim.DefaultStart())
	s.Job(job, "", "arn:aws:states:::aws-sdk:glue:getCrawler", "")
	job.Reset()
	s.Run(`{"first": 0}`).RequireVisits("Get", 4)
	s.Run(`{"first": 0}`).RequireVisits("Get", 1)
	require.Len(t, s.Calls("arn:aws:states:::aws-sdk:glue:getCrawler"), 18)
}

// Handlers and a function for events of the test's own go with all else.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := simtest.New(t, machine)
	events := 0
	s.Options.OnEvent = func(sim.Event) { events++ }
	s.Options.Handlers = map[string]sim.Handler{
		"arn:aws:lambda:us-east-1:123456789012:function:work": func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Output: 1}, nil },
	}
	r := s.Run(nil).RequirePath("A", "B", "C")
	require.Len(t, r.Events, events)
	require.Len(t, s.Calls("A"), 1)
	s.On("A").Return(2)
	s.Run(nil).RequireTimedOut()
}

// What happens in child executions counts, and shows where it went wrong.
func TestChildExecutions(t *testing.T) {
	t.Parallel()
	message := failure(t, func(t simtest.T) {
		s := simtest.New(t, `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": {
			"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Work", "States": {
			"Work": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}, "Retry": [{"ErrorEquals": ["E"]}], "End": true}}}}}}`)
		s.On("Work").Return(map[string]int{"StatusCode": 200}).Fail("E", "").Return(map[string]int{"StatusCode": 200}).Fail("Broken", "the third")
		s.Run(`["a", "b"]`).RequireAttempts("Work", 3).RequireVisits("Work", 2).RequirePath("Each")
		s.Run(`["a"]`).RequireSucceeded()
	})
	require.Contains(t, message, "want SUCCEEDED\nchild execution arn:aws:states:us-east-1:123456789012:execution:StateMachine/Each:")
	require.Contains(t, message, `: the execution ended FAILED in state "Work" with error "Broken": the third`)
	require.Contains(t, message, `TaskFailed               invoke "Broken": the third`)
}

// A redrive goes on with the answers of the file where the run stopped.
func TestMockFileRedrive(t *testing.T) {
	t.Parallel()
	s := simtest.New(t, `{"StartAt": "Describe", "States": {
		"Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Parameters": {"ExportArn": "e"}, "End": true}}}`)
	s.MockFile("testdata/MockConfigFile.json", "Completes")
	r := s.Run(nil).RequireFailed("DynamoDb.DynamoDbException", "Rate exceeded")
	s.Redrive(r).RequireOutput(`{"ExportDescription": {"ExportStatus": "IN_PROGRESS"}}`)
	s.Run(nil).RequireFailed("DynamoDb.DynamoDbException")
}
