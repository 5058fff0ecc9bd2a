package awsjob_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

const (
	statesPrefix       = "arn:aws-cn:states:cn-north-1:123456789012:"
	machine            = statesPrefix + "stateMachine:Nightly"
	executionArguments = `{"StateMachineArn": "` + machine + `", "Input": {"rows": 9007199254740993}, "TraceHeader": "Root=1"}`
)

// newExecutions returns Step Functions. State machines whose names end in
// Express are of that type.
func newExecutions() jobstest.JSONService {
	j := jobstest.NewJobs("RUNNING")
	exists := jobstest.Refusal{Code: "ExecutionAlreadyExists", Message: "Execution Already Exists"}
	unknown := jobstest.Refusal{Code: "ExecutionDoesNotExist", Message: "Execution Does Not Exist"}
	return jobstest.JSONService{Jobs: j, Version: "1.0", Target: "AWSStepFunctions", Operations: map[string]func(map[string]any) (any, error){
		"StartExecution": func(in map[string]any) (any, error) {
			parts := strings.Split(in["stateMachineArn"].(string), ":")
			name := parts[6]
			if strings.HasSuffix(name, "Express") {
				// Express machines take any name as often as it comes.
				job, err := j.Start("", in, exists)
				return map[string]any{
					"executionArn": strings.Join(slices.Concat(parts[:5], []string{"express", name, in["name"].(string), job.ID}), ":"),
					"startDate":    1795000000.5,
				}, err
			}
			execution := strings.Join(slices.Concat(parts[:5], []string{"execution", name, in["name"].(string)}), ":")
			job, err := j.Start(execution, in, exists)
			if job.Status != "RUNNING" && err == nil {
				err = exists // the name of an execution that has ended is taken
			}
			return map[string]any{"executionArn": job.Key, "startDate": 1795000000.5}, err
		},
		"DescribeStateMachine": func(in map[string]any) (any, error) {
			machine := in["stateMachineArn"].(string)
			if strings.Count(machine, ":") != 6 {
				return nil, jobstest.Refusal{Code: "InvalidArn", Message: "Invalid Arn: an alias"}
			}
			kind := "STANDARD"
			if strings.HasSuffix(machine, "Express") {
				kind = "EXPRESS"
			}
			return map[string]any{
				"stateMachineArn": machine, "name": machine, "type": kind, "creationDate": 1795000000.5,
				"definition": "{}", "roleArn": statesPrefix + "role:r",
			}, nil
		},
		"DescribeExecution": func(in map[string]any) (any, error) {
			job, ok := j.ByKey(in["executionArn"].(string))
			if !ok {
				return nil, unknown
			}
			out := map[string]any{
				"executionArn": job.Key, "stateMachineArn": job.Parameters["stateMachineArn"], "status": job.Status,
				"startDate": 1795000000.5, "name": job.Parameters["name"], "input": job.Parameters["input"],
			}
			switch job.Status {
			case "SUCCEEDED":
				out["output"], out["stopDate"] = `{"rows": 7}`, 1795000001
			case "FAILED", "ABORTED", "TIMED_OUT":
				out["error"], out["cause"], out["stopDate"] = "Export.Failed", "no space left", 1795000001
			}
			return out, nil
		},
		"StopExecution": func(in map[string]any) (any, error) {
			job, ok := j.ByKey(in["executionArn"].(string))
			if !ok {
				return nil, unknown
			}
			if in["error"] != "JobPoller.Stopped" || in["cause"] != "the poller that started this execution has stopped it" {
				return nil, jobstest.Refusal{Code: "ValidationException", Message: "the execution would not say who stopped it"}
			}
			if job.Status == "RUNNING" {
				j.SetJobStatus(job.ID, "ABORTED")
			}
			return map[string]any{"stopDate": 1795000001}, nil
		},
	}}
}

func TestConformanceStepFunctions(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker: catalogueMaker("states:StartExecution"), Service: func(*testing.T) jobstest.Service { return newExecutions() }, Arguments: executionArguments,
		Required: []string{"StateMachineArn"}, Reserved: []string{"Name"}, AnyJSON: []string{"Input"},
		Bad: []jobstest.BadArguments{
			{Name: "no ARN", Arguments: `{"StateMachineArn": "Nightly"}`, Want: "1:21: /StateMachineArn: expected the ARN of a state machine"},
			{Name: "ARN of another service", Arguments: `{"StateMachineArn": "arn:aws:sqs:us-east-1:123456789012:stateMachine:Nightly"}`, Want: "expected the ARN of a state machine"},
			{Name: "ARN of an execution", Arguments: `{"StateMachineArn": "` + statesPrefix + `execution:Nightly:1"}`, Want: "expected the ARN of a state machine"},
			{Name: "ARN without a name", Arguments: `{"StateMachineArn": "` + statesPrefix + `stateMachine:"}`, Want: "expected the ARN of a state machine"},
			{Name: "ARN of a Map state", Arguments: `{"StateMachineArn": "` + machine + `/Rows"}`, Want: "but not of a Distributed Map state"},
			{Name: "input that is not JSON", Arguments: `{"StateMachineArn": "` + machine + `", "Input": "rows"}`, Want: "/Input: expected JSON text in the string"},
		},
		Output: sfn.DescribeExecutionOutput{}, Timestamps: []string{"StartDate", "StopDate"},
		Statuses: jobstest.Statuses{
			Running: []string{"RUNNING", "PENDING_REDRIVE"}, Success: []string{"SUCCEEDED"}, Failure: []string{"FAILED", "TIMED_OUT", "ABORTED"},
		},
		Enum: jobstest.Values(types.ExecutionStatus("").Values()), Reason: "no space left",
	})
}

// startExecution starts an execution at a new service and returns what the service got.
func startExecution(t *testing.T, arguments string) (jobs.Ref, map[string]any, error) {
	t.Helper()
	executions := newExecutions()
	driver := driverAt(t, "states:StartExecution", executions)
	ref, err := driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(arguments)})
	require.Equal(t, 1, executions.Starts())
	job, _ := executions.ByID("job-1")
	return ref, job.Parameters, err
}

func TestExecutionStartSendsTheArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, arguments, machine, execution string
		input                               any
	}{
		{"value", `{"StateMachineArn": "` + machine + `", "Input": {"rows": 9007199254740993}}`, machine, "execution:Nightly:token-1", `{"rows": 9007199254740993}`},
		{"text", `{"StateMachineArn": "` + machine + `", "Input": "{\"rows\": 1}"}`, machine, "execution:Nightly:token-1", `{"rows": 1}`},
		{"text of a string", `{"StateMachineArn": "` + machine + `", "Input": "\"rows\""}`, machine, "execution:Nightly:token-1", `"rows"`},
		{"list", `{"StateMachineArn": "` + machine + `", "Input": [1]}`, machine, "execution:Nightly:token-1", `[1]`},
		{"null", `{"StateMachineArn": "` + machine + `", "Input": null}`, machine, "execution:Nightly:token-1", `null`},
		{"no input", `{"StateMachineArn": "` + machine + `"}`, machine, "execution:Nightly:token-1", nil},
		{"version", `{"StateMachineArn": "` + machine + `:10"}`, machine + ":10", "execution:Nightly:token-1", nil},
		{"named express", `{"StateMachineArn": "` + statesPrefix + `stateMachine:express"}`, statesPrefix + "stateMachine:express", "execution:express:token-1", nil},
		{"alias", `{"StateMachineArn": "` + machine + `:PROD"}`, machine + ":PROD", "execution:Nightly:token-1", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ref, parameters, err := startExecution(t, tt.arguments)
			require.NoError(t, err)
			require.Equal(t, jobs.Ref{"ExecutionArn": statesPrefix + tt.execution}, ref)
			require.Equal(t, "token-1", parameters["name"])
			require.Equal(t, tt.machine, parameters["stateMachineArn"])
			require.Equal(t, tt.input, parameters["input"])
		})
	}
}

// An execution of a version that has ended is found again and adopted.
func TestExecutionStartAdopts(t *testing.T) {
	t.Parallel()
	executions := newExecutions()
	driver := driverAt(t, "states:StartExecution", executions)
	request := jobs.Request{Token: "token-1", Arguments: json.RawMessage(`{"StateMachineArn": "` + machine + `:10"}`)}
	first, err := driver.Start(t.Context(), request)
	require.NoError(t, err)
	executions.SetStatus("SUCCEEDED")
	again, err := driver.Start(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, first, again)
	found, ok, err := driver.(jobs.Finder).Find(t.Context(), request)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, first, found)
	require.Equal(t, 1, executions.Starts())
}

// Nothing of an Express state machine begins, however often it is asked for.
func TestExpressIsRefused(t *testing.T) {
	t.Parallel()
	executions := newExecutions()
	driver := driverAt(t, "states:StartExecution", executions)
	for _, qualifier := range []string{"", ":10", ":PROD"} {
		request := jobs.Request{Token: "token-1", Arguments: json.RawMessage(`{"StateMachineArn": "` + machine + `Express` + qualifier + `"}`)}
		_, err := driver.Start(t.Context(), request)
		require.ErrorIs(t, err, jobs.ErrArguments)
		require.ErrorContains(t, err, "it is an Express state machine")
		require.Zero(t, executions.Starts())
	}
}

// A machine that became an Express one after it was looked at has begun an
// execution: that is not a refusal, which would say that there is none.
func TestExpressAllTheSame(t *testing.T) {
	t.Parallel()
	executions := newExecutions()
	executions.Operations["DescribeStateMachine"] = func(map[string]any) (any, error) {
		return map[string]any{"type": "STANDARD"}, nil
	}
	_, err := driverAt(t, "states:StartExecution", executions).Start(t.Context(), jobs.Request{
		Token: "token-1", Arguments: json.RawMessage(`{"StateMachineArn": "` + machine + `Express"}`),
	})
	require.ErrorContains(t, err, "the service started a job with the ExecutionArn")
	require.NotErrorIs(t, err, jobs.ErrArguments)
	require.True(t, goerror.Classify(err).MayHaveActed())
	require.Equal(t, 1, executions.Starts())
}

// Whatever the arguments, they are refused, or lead to an ARN that Start and
// Find agree on.
func FuzzExecutionArguments(f *testing.F) {
	f.Add(executionArguments)
	f.Add(`{"StateMachineArn": "` + machine + `:PROD", "Input": "{}"}`)
	f.Add(`{"StateMachineArn": "` + machine + `/Rows"}`)
	f.Add(`{"StateMachineArn": "arn:::::stateMachine:", "Input": "\ud800"}`)
	f.Add(`{"StateMachineArn": 7, "Name": null}`)
	f.Add(`[`)
	// A Step Functions in which all names are taken.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".StartExecution") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type": "ExecutionAlreadyExists"}`)
			return
		}
		_, _ = io.WriteString(w, `{"type": "STANDARD"}`)
	}))
	f.Cleanup(server.Close)
	driver, err := awsjob.NewDriver(config(server.URL), catalog.AWS(), "states:StartExecution")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		request := jobs.Request{Token: "token-1", Arguments: json.RawMessage(text)}
		ref, err := driver.Start(t.Context(), request)
		if err != nil {
			require.ErrorIs(t, err, jobs.ErrArguments)
			return
		}
		place, err := arn.Parse(ref["ExecutionArn"])
		require.NoError(t, err)
		require.Regexp(t, `(?s)^execution:[^:/]+:token-1$`, place.Resource)
		found, ok, err := driver.(jobs.Finder).Find(t.Context(), request)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, ref, found)
		require.Equal(t, "states", place.Service)
	})
}
