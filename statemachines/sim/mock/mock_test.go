package mock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
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
	require.Equal(t, []string{"1 0s", `call 2 of state "S" (` + describe + `): the mock has answers for 1 calls; add one, or remove the number of times of the last`},
		answers(t, s, describe, 2))

	s = mock.New().Throttle()
	require.Equal(t, []string{"fails Lambda.TooManyRequestsException 0s"}, answers(t, s, "arn:aws:states:::lambda:invoke", 1))
	require.Contains(t, answers(t, s, "arn:aws:states:::http:invoke", 1)[0], "let it fail with the name of the error")
}

// What is said of a step holds for failures and functions too.
func TestScriptSteps(t *testing.T) {
	t.Parallel()
	fails := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{}, &sim.TaskError{Name: "F", Latency: time.Hour}
	}
	later := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: "o", Latency: time.Hour}, nil
	}
	s := mock.New().Throttle().After(time.Second).Call(fails).After(time.Minute).Call(fails).Call(later).After(time.Minute).Call(later)
	require.Equal(t, []string{"fails DynamoDb.DynamoDbException 1s", "fails F 1m0s", "fails F 1h0m0s", "o 1m0s", "o 1h0m0s"}, answers(t, s, describe, 5))

	s = mock.New().Fail("E", "c").Submit("s").Heartbeats(time.Second)
	reply, err := s.Handle(t.Context(), sim.Call{})
	require.Equal(t, time.Second, reply.HeartbeatEvery)
	var failed *sim.TaskError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, &sim.TaskError{Name: "E", Cause: "c", Submitted: "s"}, failed)
}

func TestScriptMistakes(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]*mock.Script{
		"a script needs at least one step, such as Return": mock.New(),
		"Times must follow a step, such as Return":         mock.New().Times(2).Return(1),
		"Times of step 2 of the script is too small":       mock.New().Return(1).Return(2).Times(0).After(-1),
		"After of step 1 of the script is too small":       mock.New().Return(1).After(-time.Second),
		"Heartbeats of step 1 of the script is too small":  mock.New().Return(1).Heartbeats(0),
	} {
		require.EqualError(t, s.Check(), want)
		if _, err := s.Handle(t.Context(), sim.Call{State: "S"}); want != "a script needs at least one step, such as Return" {
			require.ErrorContains(t, err, want)
		} else {
			require.ErrorContains(t, err, "the mock has answers for 0 calls")
		}
	}
	require.NoError(t, mock.New().Return(1).Times(2).After(0).Check())
}

// Throttling has the name that the service's own errors have.
func TestThrottle(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"arn:aws:states:::lambda:invoke":                            "Lambda.TooManyRequestsException",
		"arn:aws:lambda:us-east-1:123456789012:function:f":          "Lambda.TooManyRequestsException",
		"arn:aws:states:::aws-sdk:lambda:invoke":                    "Lambda.TooManyRequestsException",
		"arn:aws:states:::aws-sdk:dynamodb:describeExport":          "DynamoDb.DynamoDbException",
		"arn:aws:states:::aws-sdk:dynamodb:getItem":                 "DynamoDb.ProvisionedThroughputExceededException",
		"arn:aws:states:::dynamodb:getItem":                         "DynamoDB.ProvisionedThroughputExceededException",
		"arn:aws:states:::aws-sdk:bedrock:getModelInvocationJob":    "Bedrock.ThrottlingException",
		"arn:aws:states:::aws-sdk:glue:getJobRun":                   "Glue.GlueException",
		"arn:aws:states:::glue:startJobRun.sync":                    "Glue.AWSGlueException",
		"arn:aws:states:::sqs:sendMessage":                          "SQS.AmazonSQSException",
		"arn:aws:states:::aws-sdk:rekognition:getLabelDetection":    "Rekognition.ThrottlingException",
		"arn:aws:states:::states:startExecution.sync:2":             "StepFunctions.AWSStepFunctionsException",
		"arn:aws:states:::aws-sdk:sfn:startExecution":               "Sfn.SfnException",
		"arn:aws:states:::aws-sdk:mediaconvert:getJob":              "MediaConvert.TooManyRequestsException",
		"arn:aws:states:::aws-sdk:sqs:sendMessage.waitForTaskToken": "Sqs.RequestThrottledException",
	} {
		_, err := mock.New().Throttle().Handle(t.Context(), sim.Call{State: "S", Resource: resource})
		var failed *sim.TaskError
		require.ErrorAs(t, err, &failed, resource)
		require.Equal(t, want, failed.Name, resource)
		require.Regexp(t, `^Rate exceeded \(Service: \w+[,;] Status Code: [45]\d\d[,;] .*Request ID: [0-9a-f-]{36}.*\)$`, failed.Cause)
	}
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
		require.Equal(t, time.Duration(polls)*30*time.Second, r.Duration())
	}

	call := func(resource, id string, at int) sim.Call {
		return sim.Call{State: "S", Resource: resource, Arguments: map[string]any{"Id": id}, Time: sim.DefaultStart().Add(time.Duration(at) * time.Second)}
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
	require.Equal(t, "DynamoDb.ExportNotFoundException: There is no job x (Service: DynamoDb, Status Code: 400, Request ID: 00000000-0000-4000-8000-000000000000) (SDK Attempt Count: 1)", status(j.Describe(t.Context(), call(describe, "x", 90))))
	require.Contains(t, status(j.Describe(t.Context(), sim.Call{State: "S", Resource: describe})), `needs the argument "Id"`)
	require.Equal(t, 3, j.Starts())

	const unknown = "arn:aws:states:::aws-sdk:sagemaker:describeTrainingJob"
	require.Contains(t, status(j.Describe(t.Context(), call(unknown, "x", 90))), "give the job the error's name (NotFound)")
	for resource, name := range map[string]string{ // of the catalogue
		"arn:aws:states:::aws-sdk:sfn:describeExecution":          "Sfn.ExecutionDoesNotExistException",
		"arn:aws:states:::aws-sdk:sfn:stopExecution":              "Sfn.ExecutionDoesNotExistException",
		"arn:aws:states:::aws-sdk:transcribe:getTranscriptionJob": "Transcribe.NotFoundException",
	} {
		require.Regexp(t, "^"+name+": There is no job x", status(j.Describe(t.Context(), call(resource, "x", 90))))
	}
	j.NotFound = "SageMaker.SageMakerException"
	require.Equal(t, "SageMaker.SageMakerException: There is no job x", status(j.Describe(t.Context(), call(unknown, "x", 90))))

	j.Reset()
	require.Equal(t, "x RUNNING", status(j.Describe(t.Context(), call(describe, "x", 200))), "a new run knows nothing of the jobs before")
	require.Equal(t, 1, j.Starts())
}

// The answers and arguments have the shapes that services have: the id in a
// list, and another answer to the call that starts the job.
func TestJobShapes(t *testing.T) {
	t.Parallel()
	j := &mock.Job{
		Runs: time.Minute, Status: "Tasks[0].LastStatus", Running: "RUNNING", Ends: "STOPPED", ID: "Tasks[0].TaskArn", IDArgument: "Tasks[0]",
		Answer:      map[string]any{"Failures": []string{}, "Tasks": []map[string]string{{"Group": "g"}}},
		StartAnswer: map[string]any{"Failures": []string{}}, StartID: "Tasks[0].TaskArn",
	}
	require.NoError(t, j.Check())
	const ecs = "arn:aws:states:::aws-sdk:ecs:describeTasks"
	reply, err := j.Start(t.Context(), sim.Call{Time: sim.DefaultStart()})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"Failures": []any{}, "Tasks": []any{map[string]any{"TaskArn": "job-1"}}}, reply.Output)
	reply, err = j.Describe(t.Context(), sim.Call{
		Resource: ecs, Time: sim.DefaultStart().Add(time.Minute), Arguments: map[string]any{"Tasks": []any{"job-1"}},
	})
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"Failures": []any{}, "Tasks": []any{map[string]any{"Group": "g", "TaskArn": "job-1", "LastStatus": "STOPPED"}},
	}, reply.Output)
	_, err = j.Describe(t.Context(), sim.Call{State: "S", Resource: ecs, Arguments: map[string]any{"Tasks": []any{}}})
	require.ErrorContains(t, err, `needs the argument "Tasks[0]", the id of the job; its arguments are: Tasks`)
	require.Equal(t, map[string]any{"Failures": []string{}, "Tasks": []map[string]string{{"Group": "g"}}}, j.Answer, "the template stays")
}

func TestJobCheck(t *testing.T) {
	t.Parallel()
	good := func(change func(j *mock.Job)) *mock.Job {
		j := &mock.Job{Status: "Job.Status", Running: "R", Ends: "E"}
		change(j)
		return j
	}
	require.NoError(t, good(func(*mock.Job) {}).Check())
	for want, j := range map[string]*mock.Job{
		"a job cannot run for -1s":                         good(func(j *mock.Job) { j.Runs = -time.Second }),
		"the path of its status":                           good(func(j *mock.Job) { j.Status = "" }),
		"its status while it runs":                         good(func(j *mock.Job) { j.Ends = "" }),
		`path "$.Job": expected names with dots`:           good(func(j *mock.Job) { j.Status = "$.Job" }),
		`path "Jobs[x]"`:                                   good(func(j *mock.Job) { j.ID = "Jobs[x]" }),
		`path "Jobs[100]"`:                                 good(func(j *mock.Job) { j.StartID = "Jobs[100]" }),
		`path "[0]"`:                                       good(func(j *mock.Job) { j.IDArgument = "[0]" }),
		`a path has 51 names and indices; the limit is 50`: good(func(j *mock.Job) { j.ID = strings.Repeat("a.", 50) + "a" }),
		`path "Jobs[0]a"`:                                  good(func(j *mock.Job) { j.IDArgument = "Jobs[0]a" }),
		"needs the name of the argument":                   good(func(j *mock.Job) { j.ID = "Jobs[0]" }),
		`the answer has no object around "Id"`:             good(func(j *mock.Job) { j.ID = "Job.Status.Id" }),
		`the id at "Job.Status" and the status at "Job.Status" are in the same place`: good(func(j *mock.Job) { j.ID = "Job.Status" }),
		`the answer has no object around "Status"`:                                    good(func(j *mock.Job) { j.Answer = map[string]any{"Job": []int{1}} }),
		"the answer has no list at [0]":                                               good(func(j *mock.Job) { j.StartAnswer, j.StartID = map[string]any{"a": 1}, "a[0].b" }),
		"the answer of a job: json: unsupported type: func":                           good(func(j *mock.Job) { j.Answer = map[string]any{"f": func() {}} }),
	} {
		require.ErrorContains(t, j.Check(), want)
	}
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
	require.Equal(t, 91500*time.Millisecond, r.Duration())

	r, err = run(t, `{"Start": [{"fail": {"error": "E", "cause": "c"}, "after": 2}], "Describe": {"never": true}}`, "")
	require.NoError(t, err)
	require.Equal(t, []string{"E", "c"}, []string{r.Error, r.Cause})
	require.Equal(t, 2*time.Second, r.Duration())

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
	require.Equal(t, 2*time.Minute, r.Duration())
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
	require.ErrorContains(t, err, `/MockedResponses/Completes/2-3: the calls "0-2" and "2-3" overlap`)

	r, err = run(t, strings.NewReplacer(`"0-2": {`, `"3": {`, `"3": {`, `"0": {`).Replace(awsForm), "Poller#Happy")
	require.NoError(t, err, "in any order, with gaps that no call comes to")
	require.Equal(t, 30*time.Second, r.Duration())
	_, err = run(t, strings.Replace(awsForm, `"0-2"`, `"0-1"`, 1), "Poller#Happy")
	require.ErrorContains(t, err, `call 3 of state "Describe" (`+describe+`): the mock has no answer for it`)
	_, err = run(t, strings.Replace(awsForm, `{"0-2"`, `{"9": {"Return": null}, "0-2"`, 1), "Other#Happy")
	var unmocked *mock.UnmockedError
	require.ErrorAs(t, err, &unmocked)
	require.Equal(t, "Describe", unmocked.State, "a state that the test case does not name is not mocked")
	require.Equal(t, "Other#Happy", unmocked.TestCase)
	_, err = run(t, strings.Replace(awsForm, `{"Start": "Started", "Describe": "Completes"}`, `{"Wait": "Started"}`, 1), "Poller#Happy")
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, err, `mocks: the state "Wait" is a Wait, which makes no call; there are Describe, Start, `+describe+", "+start)
	_, err = run(t, awsForm, "Poller#Hapy")
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "Poller#Happy", unknown.Suggestion)
}

// Each state that names a response counts its own calls.
func TestReadAWSCounts(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "MaxConcurrency": 1, "Next": "After", "ItemProcessor": {"StartAt": "In", "States": {
		"In": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}, "Retry": [{"ErrorEquals": ["Boom"]}], "End": true}}}},
		"After": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}, "Retry": [{"ErrorEquals": ["Boom"]}], "End": true}}}`))
	require.NoError(t, err)
	c, err := mock.Read([]byte(`{"StateMachines": {"M": {"TestCases": {"C": {"In": "R", "After": "R"}}}},
		"MockedResponses": {"Unused": {}, "R": {"0": {"Throw": {"Error": "Boom", "Cause": ""}}, "1": {"Return": 1}, "2": {"Return": [2]}}}}`))
	require.NoError(t, err)
	for range 2 {
		var o sim.Options
		require.NoError(t, c.Apply(m, "", &o))
		r, err := sim.Run(t.Context(), m, []byte(`["a", "b"]`), o)
		require.NoError(t, err)
		require.Equal(t, "1", string(r.Output))
		for _, e := range r.Events {
			if e.Type == "MapStateExited" {
				require.Equal(t, "[1,[2]]", string(e.Details().Output.JSON()), "the calls of a state are counted through the execution")
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                                  "expected an object with mocks",
		`{"A": 1}`:                            "/A: expected an object with return, fail, throttle or never",
		`{"A": []}`:                           "/A: expected at least one step",
		`{"A": {}}`:                           "/A: a step needs exactly one of return, fail, throttle and never, or submitted alone, found 0",
		`{"A": {"return": 1, "never": true}}`: "found 2",
		`{"A": {"retrun": 1}}`:                `unknown member "retrun"`,
		`{"A": {"throttle": 1}}`:              `/A/throttle: "throttle" must be true`,
		`{"A": {"return": 1, "times": 0}}`:    `/A/times: "times" must be a whole number of at least 1`,
		`{"A": {"return": 1, "after": -1}}`:   `/A/after: "after" must be a number from 0`,
		`{"A": {"fail": {"cause": "c"}}}`:     `/A/fail: the member "error" is missing`,
		`{"A": {"fail": "E"}}`:                "/A/fail: expected an object with error and cause",
		`{"A": {"job": {"runs": 1}}}`:         `/A/job: the member "status" is missing`,
		`{"A": {"job": 1}}`:                   "/A/job: expected an object with runs, status, running and ends",
		`{"A": {"job": {"runs": 1, "status": "a..b", "running": "R", "ends": "E"}}}`: `path "a..b": expected names with dots between them`,
		`{"MockedResponses": {}}`:                                                                                   `the member "StateMachines" is missing`,
		`{"StateMachines": {"M": {}}}`:                                                                              `/StateMachines/M: the member "TestCases" is missing`,
		`{"StateMachines": {"M": {"TestCases": {"T": {"S": "R"}}}}}`:                                                `there is no mocked response "R"`,
		`{"StateMachines": {"M": {"TestCases": {"T": {"S": 1}}}}}`:                                                  `expected the name of a mocked response, found a number (1)`,
		`{"StateMachines": {"M#1": {"TestCases": {"T": {}}}}}`:                                                      `/StateMachines/M#1: the name of a state machine cannot have a "#"`,
		`{"StateMachines": {"M": {"TestCases": {}}}}`:                                                               "/StateMachines: expected at least one test case",
		`{"StateMachines": {"M": {"TestCases": {"T": 1}}}}`:                                                         "/StateMachines/M/TestCases/T: expected an object with states",
		`{"StateMachines": [], "MockedResponses": []}`:                                                              "/MockedResponses: expected an object with mocked responses",
		`{"StateMachines": {}, "MockedResponses": {"R": {"x": {"Return": 1}}}}`:                                     `expected the number of a call such as "0"`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"2-1": {"Return": 1}}}}`:                                   `found "2-1"`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"+1": {"Return": 1}}}}`:                                    `found "+1"`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"0-": {"Return": 1}}}}`:                                    `found "0-"`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"0": {"Return": 1, "Throw": {}}}}}`:                        `expected one of "Return" and "Throw"`,
		`{"StateMachines": {}, "MockedResponses": {"R": {"0": {"Throw": {"Cause": "c"}}}}}`:                         `/MockedResponses/R/0/Throw: the member "Error" is missing`,
		`{"A": {"submitted": 1, "after": 1}}`:                                                                       `/A/after: "after" is about the end of the Task: add "return" or "fail", or remove it`,
		`{"A": {"never": true, "after": 1}}`:                                                                        `/A/after: one step cannot have both "after" and "never"`,
		`{"A": {"return": 1, "after": "1"}}`:                                                                        `"after" must be a number`,
		`{"A": {"return": 1, "heartbeats": -1}}`:                                                                    `"heartbeats" must be a number`,
		`{"A": {"return": 1}, "B": {"job": {"runs": 1, "status": "s", "running": "R", "ends": "E", "start": "A"}}}`: `/B/job/start: this file has another answer for "A"`,
		`{"B": {"job": {"runs": 1, "status": "s", "running": "R", "ends": "E", "start": "B"}}}`:                     `/B/job/start: this file has another answer for "B"`,
		`{"B": {"job": {"runs": 1, "status": "s", "running": "R", "ends": "E", "answer": 1}}}`:                      `/B/job/answer: expected an object with the members of the answer`,
		`{"B": {"job": {"runs": 1, "status": "s", "running": "R", "ends": "E", "answers": {"R": "R"}}}}`:            `/B/job: the answer of a job: the answer has no object around "s"`,
		`{"B": {"job": {"runs": 1, "status": "s", "running": "R", "ends": "E"}, "times": 1}}`:                       `unknown member "times"; expected one of job`,
		`{`: "not valid JSON",
	} {
		_, err := mock.Read([]byte(text))
		var problems diag.Problems
		require.ErrorAs(t, err, &problems, text)
		require.ErrorContains(t, err, want, text)
	}
}

// A test case of AWS's form names the states on its way; another is an error
// only if it is called.
func TestUnmockedStates(t *testing.T) {
	t.Parallel()
	one := `{"StateMachines": {"M": {"TestCases": {"Fails": {"Start": "Failed"}, "Goes": {"Start": "Started"}}}},
		"MockedResponses": {"Failed": {"0": {"Throw": {"Error": "E", "Cause": "c"}}}, "Started": {"0": {"Return": {"ExportDescription": {"ExportArn": "a"}}}}}}`
	r, err := run(t, one, "Fails")
	require.NoError(t, err)
	require.Equal(t, "E", r.Error)
	_, err = run(t, one, "Goes")
	var unmocked *mock.UnmockedError
	require.ErrorAs(t, err, &unmocked)
	require.Equal(t, mock.UnmockedError{State: "Describe", Resource: describe, TestCase: "M#Goes"}, *unmocked)
}

// FuzzRead: whatever is read can be applied and answers calls without a panic.
func FuzzRead(f *testing.F) {
	f.Add(awsForm)
	f.Add(`{"StateMachines": {"M": {"TestCases": {"C": {"Start": "R", "Describe": "R"}}}}, "MockedResponses": {"R": {"3-4": {"Return": 1}, "0": {"Throw": {"Error": "E"}}}}}`)
	f.Add(`{"Describe": {"job": {"runs": 1, "status": "a[1].b", "running": "R", "ends": "E", "id": "a[0].c", "idArgument": "ExportArn", "answer": {"a": []}, "start": "Start", "startId": "x", "notFound": "N"}}}`)
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

// A Task with the ARN of a function returns the payload of the mocked answer.
func TestFunctionReturnsThePayload(t *testing.T) {
	t.Parallel()
	config, err := mock.Read([]byte(`{"StateMachines": {"m": {"TestCases": {"c": {"F": "r", "I": "r"}}}},
	  "MockedResponses": {"r": {"0": {"Return": {"StatusCode": 200, "Payload": {"a": 1}}}}}}`))
	require.NoError(t, err)
	m, err := asl.Parse([]byte(`{"StartAt": "I", "States": {
	  "I": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "OutputPath": "$.Payload", "Next": "F"},
	  "F": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "End": true}}}`))
	require.NoError(t, err)
	var o sim.Options
	require.NoError(t, config.Apply(m, "m#c", &o))
	r, err := sim.Run(t.Context(), m, nil, o)
	require.NoError(t, err)
	require.JSONEq(t, `{"a": 1}`, string(r.Output))
}
