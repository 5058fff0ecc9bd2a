package simulate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// runSimulated runs a machine on its simulated answers.
func runSimulated(t *testing.T, states string, o simulate.Options) *sim.Result {
	t.Helper()
	m, err := asl.Parse([]byte(`{"StartAt": "Begin", "TimeoutSeconds": 3600, "States": {` + states + `,
		"Begin": {"Type": "Choice", "Default": "Look", "Choices": [{"Variable": "$.w", "IsPresent": true, "Next": "W"},
			{"Variable": "$.ok", "IsPresent": true, "Next": "Ok"}, {"Variable": "$.bad", "IsPresent": true, "Next": "Bad"}]},
		"W": {"Type": "Wait", "Seconds": 60, "Next": "Look"}, "Ok": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`))
	require.NoError(t, err)
	o.Models = models.Load
	if o.Specs == nil {
		o.Specs = []simulate.Spec{{Spread: tenMinutes(t)}}
	}
	plan, err := simulate.New(m, o)
	require.NoError(t, err)
	options := sim.Options{Models: models.Load, Seed: 1}
	require.NoError(t, plan.Apply(m, &options))
	r, err := sim.Run(t.Context(), m, []byte(`{}`), options)
	require.NoError(t, err)
	return r
}

func tenMinutes(t *testing.T) mock.Spread {
	t.Helper()
	spread, err := mock.ParseSpread("10m")
	require.NoError(t, err)
	return spread
}

// choose is a Choice on a text.
func choose(path string) string {
	return `"Sw": {"Type": "Choice", "Choices": [{"Variable": "` + path + `", "StringEquals": "DONE", "Next": "Ok"},
		{"Variable": "` + path + `", "StringEquals": "FAILED", "Next": "Bad"}], "Default": "W"}`
}

// means says what the words of choose mean.
func means(_, word string) pollcore.Verdict {
	return map[string]pollcore.Verdict{"DONE": pollcore.Success, "FAILED": pollcore.Failure, "BUSY": pollcore.Retry}[word]
}

// The output of another state machine is JSON: a text, or its value for ".sync:2". It has what the machine reads of it.
func TestOutputOfAnotherMachine(t *testing.T) {
	t.Parallel()
	const start = `"Look": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync`
	const describe = `"Look": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::aws-sdk:sfn:describeExecution", "Arguments": {"ExecutionArn": "a"}`
	for name, states := range map[string]string{
		"a text":     start + `", "Parameters": {"StateMachineArn": "m"}, "ResultSelector": {"o.$": "States.StringToJson($.Output)"}, "Next": "Sw"}, ` + choose("$.o.status"),
		"the value":  start + `:2", "Parameters": {"StateMachineArn": "m"}, "Next": "Sw"}, ` + choose("$.Output.status"),
		"described":  describe + `, "Output": "{% $states.result %}", "Next": "Sw"}, "Sw": {"Type": "Choice", "QueryLanguage": "JSONata", "Choices": [{"Condition": "{% $states.input.Status = 'RUNNING' %}", "Next": "W"}, {"Condition": "{% $parse($states.input.Output).status = 'DONE' %}", "Next": "Ok"}], "Default": "Bad"}`,
		"passed on":  describe + `, "Output": "{% $exists($states.result.Output) ? $parse($states.result.Output) : {} %}", "Next": "Ok"}`,
		"the input":  describe + `, "Output": "{% $parse($states.result.Input) %}", "Next": "Ok"}`,
		"in a while": `"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sfn:startSyncExecution", "Parameters": {"StateMachineArn": "m"}, "ResultSelector": {"o.$": "States.StringToJson($.Output)"}, "Next": "Sw"}, ` + choose("$.o.status"),
	} {
		r := runSimulated(t, states, simulate.Options{Means: means})
		require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s: %s", name, r.Error, r.Cause)
	}
	r := runSimulated(t, start+`", "Parameters": {"StateMachineArn": "m"}, "Next": "Sw"}, `+choose("$.Output.status"), simulate.Options{Means: means})
	require.Equal(t, "States.Runtime", r.Error, "the path leads into a text")
}

// A job of which the machine alone tells the statuses runs for the time of a Spec, and ends as it says.
func TestToldJob(t *testing.T) {
	t.Parallel()
	told := func(status string) map[string]*simulate.Told {
		return map[string]*simulate.Told{"Look": {Status: status, Values: []simulate.ToldValue{
			{Name: "BUSY", Value: "BUSY", Verdict: pollcore.Retry},
			{Name: "DONE", Value: "DONE", Verdict: pollcore.Success},
			{Name: "FAILED", Value: "FAILED", Verdict: pollcore.Failure},
		}}}
	}
	for _, poll := range []struct{ resource, arguments, path string }{
		{"arn:aws:states:::lambda:invoke", `"FunctionName": "f"`, "Payload.status"},
		{"arn:aws:lambda:us-east-1:123456789012:function:f", ``, "status"},
		{"arn:aws:states:::http:invoke", `"ApiEndpoint": "https://a.example", "Method": "GET"`, "ResponseBody.status"},
		{"arn:aws:states:::states:startExecution.sync:2", `"StateMachineArn": "m"`, "Output.status"},
	} {
		states := `"Look": {"Type": "Task", "Resource": "` + poll.resource + `", "Parameters": {` + poll.arguments + `}, "Next": "Sw"}, ` + choose("$."+poll.path)
		for ends, want := range map[string]sim.Status{"": sim.StatusSucceeded, "FAILED": sim.StatusFailed, "failure": sim.StatusFailed} {
			r := runSimulated(t, states, simulate.Options{Told: told(poll.path), Ends: ends})
			require.Equal(t, want, r.Status, "%s: %s: %s", poll.resource, r.Error, r.Cause)
			require.Equal(t, 10*time.Minute, r.Stop.Sub(r.Start), poll.resource)
		}
	}
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "Next": "Sw"},
		` + choose("$.Payload.status") + `, "W": {"Type": "Wait", "Seconds": 60, "Next": "Look"}, "Ok": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err)
	_, err = simulate.New(m, simulate.Options{Models: models.Load, Told: told("Payload.status"), Specs: []simulate.Spec{{Ends: "DOEN"}}})
	require.EqualError(t, err, `"Look" never ends "DOEN" (did you mean "DONE"?): the machine compares Payload.status with BUSY, DONE, FAILED`)
	_, err = simulate.New(m, simulate.Options{Models: models.Load, Told: told("Payload.status"), Specs: []simulate.Spec{{State: "Lok"}, {}}})
	require.ErrorContains(t, err, `no Task "Lok" starts a job (did you mean "Look"?): the jobs are Look`)
}

// Where no table tells the statuses, the answers begin with one of a job that runs.
func TestDrawnPollBeginsWithARunningJob(t *testing.T) {
	t.Parallel()
	const look = `"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "Next": "Sw"}, `
	r := runSimulated(t, look+choose("$.Payload.status"), simulate.Options{Means: means})
	require.Equal(t, sim.StatusSucceeded, r.Status)
	require.Equal(t, time.Minute, r.Stop.Sub(r.Start))
	r = runSimulated(t, look+`"Sw": {"Type": "Choice", "Choices": [{"Variable": "$.Payload.status", "StringEquals": "DONE", "Next": "Ok"},
		{"Variable": "$.Payload.status", "StringEquals": "BUSY", "Next": "W"}], "Default": "Bad"}`, simulate.Options{Means: means})
	require.Equal(t, sim.StatusSucceeded, r.Status)
	require.Equal(t, time.Minute, r.Stop.Sub(r.Start))
}

// Step Functions parses the payload of a function only in its own integration.
func TestPayloadOfTheSDKIsText(t *testing.T) {
	t.Parallel()
	const look = `"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:lambda:invoke", "Parameters": {"FunctionName": "f"}, `
	r := runSimulated(t, look+`"Next": "Sw"}, `+choose("$.Payload.status"), simulate.Options{Means: means})
	require.Equal(t, "States.Runtime", r.Error)
	r = runSimulated(t, look+`"ResultSelector": {"o.$": "States.StringToJson($.Payload)"}, "Next": "Sw"}, `+choose("$.o.status"), simulate.Options{Means: means})
	require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
}

// The code of a response is a number, and one of an error fails the Task.
func TestCodeOfAResponse(t *testing.T) {
	t.Parallel()
	code := func(resource, comparison string) *sim.Result {
		return runSimulated(t, `"Look": {"Type": "Task", "Resource": "arn:aws:states:::`+resource+`", "Parameters": {"ApiEndpoint": "https://a.example", "Method": "GET"}, "Next": "Sw"},
			"Sw": {"Type": "Choice", "Choices": [{"Variable": "$.StatusCode", `+comparison+`, "Next": "Ok"}], "Default": "Bad"}`, simulate.Options{Means: means})
	}
	require.Equal(t, "Bad", code("http:invoke", `"NumericEquals": 404`).Error, "no response has the code of an error")
	require.Equal(t, sim.StatusSucceeded, code("http:invoke", `"NumericEquals": 202`).Status)
	require.Equal(t, sim.StatusSucceeded, code("http:invoke", `"NumericLessThan": 400`).Status, "an error is no answer")
	require.Equal(t, "Bad", code("http:invoke", `"StringEquals": "200"`).Error)
	r := runSimulated(t, `"Look": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Parameters": {"ApiEndpoint": "https://a.example", "Method": "GET"},
		"ResultSelector": {"code.$": "$.StatusCode"}, "Next": "Ok"}`, simulate.Options{})
	require.JSONEq(t, `{"code": 200}`, string(r.Output))
	for resource, want := range map[string]string{
		`http:invoke", "Parameters": {"ApiEndpoint": "https://a.example", "Method": "GET"}`:                           "States.Http.StatusCode.404",
		`apigateway:invoke", "Parameters": {"ApiEndpoint": "a.execute-api.us-east-1.amazonaws.com", "Method": "GET"}`: "ApiGateway.404",
	} {
		r = runSimulated(t, `"Look": {"Type": "Task", "Resource": "arn:aws:states:::`+resource+`, "Next": "Sw"}, "Sw": {"Type": "Choice", "Choices": [
			{"Variable": "$.StatusCode", "NumericEquals": 404, "Next": "W"}], "Default": "Ok"}`, simulate.Options{Told: map[string]*simulate.Told{"Look": {Status: "StatusCode", Values: []simulate.ToldValue{
			{Name: "404", Value: 404.0, Verdict: pollcore.Retry}, {Name: "200", Value: 200.0, Verdict: pollcore.Success},
		}}}})
		require.Equal(t, want, r.Error)
	}
}

// A status is one that AWS has then: an instance that starts is initializing though the machine names "impaired", a job of S3
// that runs is not yet completing, and one that was cancelled has no code of an error.
func TestStatusesFitTheJob(t *testing.T) {
	t.Parallel()
	running := func(resource, names string) string {
		m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:` + resource + `", "Parameters": {}, "Next": "Sw"},
			"Sw": {"Type": "Choice", "Choices": [` + names + `], "Default": "Look"}, "Ok": {"Type": "Succeed"}}}`))
		require.NoError(t, err)
		plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{}}})
		require.NoError(t, err)
		text, err := plan.JSON()
		require.NoError(t, err)
		var all map[string]struct {
			Job struct {
				Running string `json:"running"`
			} `json:"job"`
		}
		require.NoError(t, json.Unmarshal(text, &all))
		return all["Look"].Job.Running
	}
	const rule = `{"Variable": "$.x", "StringEquals": "`
	require.Equal(t, "initializing", running("ec2:describeInstanceStatus", rule+`impaired", "Next": "Ok"}, `+rule+`ok", "Next": "Ok"}`))
	require.Equal(t, "Active", running("s3control:describeJob", rule+`Completing", "Next": "Ok"}, `+rule+`Complete", "Next": "Ok"}`))
	cloud, err := catalog.Lookup("cloudcontrol", "CreateResource")
	require.NoError(t, err)
	for _, status := range simulateStatuses(t, cloud) {
		require.Equal(t, status.Name == "FAILED", strings.Contains(status.text, "ErrorCode"), "%s: %s", status.Name, status.text)
	}
}

type statusText struct{ Name, text string }

// simulateStatuses are the answers about a job with each status, of a machine that reads the code of an error.
func simulateStatuses(t *testing.T, e *catalog.Entry) []statusText {
	t.Helper()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:cloudcontrol:getResourceRequestStatus",
		"Parameters": {"RequestToken": "t"}, "ResultPath": "$.r", "Next": "P"}, "P": {"Type": "Pass", "InputPath": "$.r.ProgressEvent.ErrorCode", "End": true}}}`))
	require.NoError(t, err)
	responses, _, err := simulate.Responses(m, simulate.Options{Models: models.Load, Polls: map[string]*catalog.Entry{"Look": e}})
	require.NoError(t, err)
	var all []statusText
	for _, s := range responses["Look"].Statuses {
		text, err := json.Marshal(s.Answer)
		require.NoError(t, err)
		all = append(all, statusText{s.Name, string(text)})
	}
	require.NotEmpty(t, all)
	return all
}

// A bare answer has no count of 0 that the model does not require: lint warns who reads it.
func TestBareAnswerHasNoZeros(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:iot:describeThingRegistrationTask", "Parameters": {"TaskId": "t"}, "Next": "Sw"},
		"Sw": {"Type": "Choice", "Choices": [{"Variable": "$.FailureCount", "NumericGreaterThan": 0, "Next": "Ok"}, {"Variable": "$.Status", "StringEquals": "Completed", "Next": "Ok"}], "Default": "Look"},
		"Ok": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	for _, bare := range []bool{false, true} {
		plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Bare: bare}}})
		require.NoError(t, err)
		text, err := plan.JSON()
		require.NoError(t, err)
		require.Equal(t, !bare, strings.Contains(string(text), `"FailureCount": 0`), string(text))
	}
}
