package mock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

const (
	start    = "arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime"
	describe = "arn:aws:states:::aws-sdk:dynamodb:describeExport"
)

// answers calls the script and says what came, in short.
func answers(t *testing.T, s *mock.Script, resource string, calls int) []string {
	t.Helper()
	var out []string
	for range calls {
		reply, err := s.Handle(t.Context(), sim.Call{State: "S", Resource: resource})
		var failed *sim.TaskError
		switch {
		case errors.As(err, &failed):
			out = append(out, fmt.Sprint("fails ", failed.Name, " ", failed.Latency))
		case err != nil:
			out = append(out, err.Error())
		case reply.Never:
			out = append(out, "never")
		default:
			out = append(out, fmt.Sprint(reply.Output, " ", reply.Latency))
		}
	}
	return out
}

func TestScript(t *testing.T) {
	t.Parallel()
	s := mock.New().Return(1).Times(2).After(time.Second).Fail("E", "c").After(time.Minute).Throttle().Never().
		Call(func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Output: "called"}, nil }).Return("last")
	require.Equal(t, []string{"1 1s", "1 1s", "fails E 1m0s", "fails DynamoDb.DynamoDbException 0s", "never", "called 0s", "last 0s", "last 0s"},
		answers(t, s, describe, 8))
	require.Len(t, s.Calls(), 8)

	s = mock.New().Return(1).Times(1)
	require.Equal(t, []string{"1 0s", `call 2 of state "S" (` + describe + `): the mock has answers for 1 calls; add a step, or leave Times out of the last`},
		answers(t, s, describe, 2))

	s = mock.New().Throttle()
	require.Equal(t, []string{"fails Lambda.TooManyRequestsException 0s"}, answers(t, s, "arn:aws:states:::lambda:invoke", 1))
	require.Contains(t, answers(t, s, "arn:aws:states:::http:invoke", 1)[0], "use Fail with the name of the error")
	require.PanicsWithValue(t, "mock: Times has to follow a step such as Return", func() { mock.New().Times(2) })
}

// A poll loop on a simulated job, with all three calls.
const loop = `{"QueryLanguage": "JSONata", "StartAt": "Start", "States": {
	"Start": {"Type": "Task", "Resource": "` + start + `", "Arguments": {}, "Output": "{% $states.result.ExportDescription.ExportArn %}", "Next": "Wait"},
	"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Describe"},
	"Describe": {"Type": "Task", "Resource": "` + describe + `", "Arguments": {"ExportArn": "{% $states.input %}"},
		"Assign": {"status": "{% $states.result.ExportDescription.ExportStatus %}"}, "Output": "{% $states.input %}", "Next": "Done?"},
	"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $status = 'IN_PROGRESS' %}", "Next": "Wait"}], "Default": "Done", "Output": "{% $states.input %}"},
	"Done": {"Type": "Succeed", "Output": "{% $status %}"}}}`

func run(t *testing.T, mocks, test string) (*sim.Result, error) {
	t.Helper()
	m, err := asl.Parse([]byte(loop))
	require.NoError(t, err)
	c, err := mock.Read([]byte(mocks))
	if err != nil {
		return nil, err
	}
	var o sim.Options
	if err := c.Apply(m, test, &o); err != nil {
		return nil, err
	}
	return sim.Run(t.Context(), m, nil, o)
}

func TestJob(t *testing.T) {
	t.Parallel()
	for _, seconds := range []int{0, 10, 30, 31, 100} {
		r, err := run(t, fmt.Sprintf(`{"Describe": {"job": {"runs": %d, "start": "Start", "status": "ExportDescription.ExportStatus",
			"running": "IN_PROGRESS", "ends": "FAILED", "id": "ExportDescription.ExportArn", "answer": {"ExportDescription": {"FailureCode": "X"}}}}}`, seconds), "")
		require.NoError(t, err)
		require.Equal(t, `"FAILED"`, string(r.Output), r.Cause)
		polls := max(1, (seconds+29)/30)
		require.Equal(t, time.Duration(polls)*30*time.Second, r.Elapsed())
	}

	call := func(resource, id string, at int) sim.Call {
		return sim.Call{State: "S", Resource: resource, Arguments: map[string]any{"Id": id}, Time: sim.DefaultStart.Add(time.Duration(at) * time.Second)}
	}
	j := &mock.Job{Runs: time.Minute, Status: "S", Running: "RUNNING", Ends: "DONE", Stopped: "STOPPED", ID: "Id"}
	status := func(reply sim.Reply, err error) string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(reply.Output.(map[string]any)["Id"], " ", reply.Output.(map[string]any)["S"])
	}
	require.Equal(t, "own RUNNING", status(j.Describe(t.Context(), call(describe, "own", 0))), "a job that nothing started starts when it is looked at")
	require.Equal(t, "job-1 RUNNING", status(j.Start(t.Context(), call(start, "", 10))))
	require.Equal(t, "job-2 RUNNING", status(j.Start(t.Context(), call(start, "", 20))))
	require.Equal(t, "job-1 STOPPED", status(j.Stop(t.Context(), call(start, "job-1", 30))))
	require.Equal(t, "job-1 STOPPED", status(j.Describe(t.Context(), call(describe, "job-1", 100))))
	require.Equal(t, "job-2 RUNNING", status(j.Describe(t.Context(), call(describe, "job-2", 79))))
	require.Equal(t, "job-2 DONE", status(j.Describe(t.Context(), call(describe, "job-2", 80))))
	require.Equal(t, "job-2 DONE", status(j.Stop(t.Context(), call(describe, "job-2", 90))), "it had ended")
	require.Equal(t, "DynamoDb.ResourceNotFoundException: There is no job x (Service: DynamoDb, Status Code: 400)", status(j.Describe(t.Context(), call(describe, "x", 90))))
	require.Contains(t, status(j.Describe(t.Context(), sim.Call{State: "S", Resource: describe})), `needs the argument "Id"`)
	require.Equal(t, 3, j.Started())
}

func TestReadOwn(t *testing.T) {
	t.Parallel()
	r, err := run(t, `{
		"`+start+`": {"return": {"ExportDescription": {"ExportArn": "a"}}, "after": 1.5},
		"Describe": [
			{"return": {"ExportDescription": {"ExportStatus": "IN_PROGRESS"}}, "times": 2},
			{"return": {"ExportDescription": {"ExportStatus": "COMPLETED"}}}]}`, "")
	require.NoError(t, err)
	require.Equal(t, `"COMPLETED"`, string(r.Output))
	require.Equal(t, 91500*time.Millisecond, r.Elapsed())

	r, err = run(t, `{"Start": [{"fail": {"error": "E", "cause": "c"}, "after": 2}], "Describe": {"never": true}}`, "")
	require.NoError(t, err)
	require.Equal(t, []string{"E", "c"}, []string{r.Error, r.Cause})
	require.Equal(t, 2*time.Second, r.Elapsed())

	_, err = run(t, `{"Describ": {"throttle": true}}`, "")
	var unknown *mock.UnknownNameError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "Describe", unknown.Suggestion)
	_, err = run(t, `{"Describe": {"throttle": true}}`, "")
	var resources *sim.ResourceError
	require.ErrorAs(t, err, &resources)
	require.Equal(t, "Start", resources.Tasks[0].State, "a Task without a mock is named")
}

const awsForm = `{
  "StateMachines": {"Poller": {"TestCases": {
    "Happy": {"Start": "Started", "Describe": "Completes"},
    "Slow": {"Start": "Started", "Describe": "Throttled"}}},
   "Other": {"TestCases": {"Happy": {"Start": "Started"}}}},
  "MockedResponses": {
    "Started": {"0": {"Return": {"ExportDescription": {"ExportArn": "a"}}}},
    "Completes": {"0-2": {"Return": {"ExportDescription": {"ExportStatus": "IN_PROGRESS"}}}, "3": {"Return": {"ExportDescription": {"ExportStatus": "COMPLETED"}}}},
    "Throttled": {"0": {"Throw": {"Error": "DynamoDb.DynamoDbException", "Cause": "slow down"}}}}}`

func TestReadAWS(t *testing.T) {
	t.Parallel()
	c, err := mock.Read([]byte(awsForm))
	require.NoError(t, err)
	require.Equal(t, []string{"Other#Happy", "Poller#Happy", "Poller#Slow"}, c.TestCases())

	r, err := run(t, awsForm, "Poller#Happy")
	require.NoError(t, err)
	require.Equal(t, `"COMPLETED"`, string(r.Output))
	require.Equal(t, 2*time.Minute, r.Elapsed())
	r, err = run(t, awsForm, "Slow")
	require.NoError(t, err)
	require.Equal(t, "slow down", r.Cause)

	var unknown *mock.UnknownNameError
	for _, test := range []string{"", "Happy", "Hapy"} {
		_, err = run(t, awsForm, test)
		require.ErrorAs(t, err, &unknown, test)
		require.Equal(t, c.TestCases(), unknown.There)
	}
	_, err = run(t, strings.Replace(awsForm, `"3": {`, `"2-3": {`, 1), "Slow")
	require.ErrorContains(t, err, `expected call 3 next, found "2-3"`)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                                  "expected mocks, which are an object",
		`{"A": 1}`:                            "/A: expected a step",
		`{"A": {}}`:                           "/A: a step needs exactly one of return, fail, throttle and never, found 0",
		`{"A": {"return": 1, "never": true}}`: "found 2",
		`{"A": {"retrun": 1}}`:                `unknown member "retrun"`,
		`{"A": {"throttle": 1}}`:              `/A/throttle: "throttle" has to be true`,
		`{"A": {"return": 1, "times": 0}}`:    `/A/times: "times" has to be a whole number of at least 1`,
		`{"A": {"return": 1, "after": -1}}`:   `/A/after: "after" has to be a number from 0`,
		`{"A": {"fail": {"cause": "c"}}}`:     `/A/fail: the member "error" is missing`,
		`{"A": {"fail": "E"}}`:                "/A/fail: expected an error and its cause",
		`{"A": {"job": {"runs": 1}}}`:         `/A/job: the member "status" is missing`,
		`{"A": {"job": 1}}`:                   "/A/job: expected the members of a job",
		`{"A": {"job": {"runs": 1, "status": "a..b", "running": "R", "ends": "E"}}}`: `path "a..b": expected names with dots between them`,
		`{"MockedResponses": {}}`:                                                            `the member "StateMachines" is missing`,
		`{"StateMachines": {"M": {}}}`:                                                       `/StateMachines/M: the member "TestCases" is missing`,
		`{"StateMachines": {"M": {"TestCases": {"T": {"S": "R"}}}}}`:                         `there is no mocked response a string ("R")`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"x": {"Return": 1}}}}`:              `expected the number of a call such as "0"`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"0": {"Return": 1, "Throw": {}}}}}`: `expected one of "Return" and "Throw"`,
		`{`: "not valid JSON",
	} {
		_, err := mock.Read([]byte(text))
		var problems asl.Problems
		require.ErrorAs(t, err, &problems, text)
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzRead: whatever is read can be applied and answers calls without a panic.
func FuzzRead(f *testing.F) {
	f.Add(awsForm)
	f.Add(`{"Start": [{"return": 1, "times": 2}, {"fail": {"error": "E"}}], "Describe": {"job": {"runs": 1, "status": "a.b", "running": "R", "ends": "E"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := mock.Read([]byte(text))
		if err != nil {
			return
		}
		m, err := asl.Parse([]byte(loop))
		require.NoError(t, err)
		for _, test := range append(c.TestCases(), "") {
			var o sim.Options
			if c.Apply(m, test, &o) != nil {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if r, err := sim.Run(ctx, m, nil, o); err == nil {
				require.NotEmpty(t, r.Status)
			}
		}
	})
}
