package awsjob_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func TestConformanceGlue(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   catalogueMaker("glue:StartJobRun"),
		Service: func(*testing.T) jobstest.Service { return newGlue() },
		Arguments: `{
			"JobName": "nightly", "Arguments": {"--day": "2026-11-20"}, "WorkerType": "G.1X", "NumberOfWorkers": 2,
			"Timeout": 60, "MaxCapacity": 0.5, "JobRunQueuingEnabled": true, "NotificationProperty": {"NotifyDelayAfter": 5}
		}`,
		Required: []string{"JobName"},
		Bad: []jobstest.BadArguments{
			{Name: "an argument that is not a string", Arguments: `{"JobName": "nightly", "Arguments": {"--n": 7}}`, Want: "/Arguments/--n: expected a string"},
			{Name: "half a worker", Arguments: `{"JobName": "nightly", "NumberOfWorkers": 2.5}`, Want: "/NumberOfWorkers: expected a whole number"},
		},
		Output:     glue.GetJobRunOutput{},
		Timestamps: []string{"JobRun.StartedOn"},
		Statuses: jobstest.Statuses{
			Running: []string{"STARTING", "RUNNING", "STOPPING", "WAITING"},
			Success: []string{"SUCCEEDED"},
			Failure: []string{"FAILED", "ERROR", "TIMEOUT", "STOPPED", "EXPIRED"},
		},
		Enum:   jobstest.Values(types.JobRunState("").Values()),
		Reason: "Command failed with exit code 1",
	})
}

// newGlue is the part of Glue that runs jobs.
func newGlue() jobstest.JSONService {
	runs := jobstest.NewJobs("STARTING")
	notFound := jobstest.Refusal{Code: "EntityNotFoundException", Message: "no such job run"}
	byID := func(name, id any) (jobstest.Job, error) {
		text, _ := id.(string)
		run, ok := runs.ByID(text)
		if !ok || run.Parameters["JobName"] != name {
			return jobstest.Job{}, notFound
		}
		return run, nil
	}
	return jobstest.JSONService{
		Jobs: runs, Version: "1.1", Target: "AWSGlue",
		Operations: map[string]func(map[string]any) (any, error){
			"StartJobRun": func(in map[string]any) (any, error) {
				run, err := runs.Start("", in, jobstest.Refusal{})
				return map[string]any{"JobRunId": run.ID}, err
			},
			"GetJobRun": func(in map[string]any) (any, error) {
				run, err := byID(in["JobName"], in["RunId"])
				out := map[string]any{
					"Id": run.ID, "JobName": run.Parameters["JobName"], "JobRunState": run.Status, "StartedOn": 1795000000.5,
					"Arguments": run.Parameters["Arguments"],
				}
				if run.Status == "FAILED" {
					out["ErrorMessage"] = "Command failed with exit code 1"
				}
				return map[string]any{"JobRun": out}, err
			},
			"BatchStopJobRun": func(in map[string]any) (any, error) {
				refused, submitted := []any{}, []any{}
				ids, _ := in["JobRunIds"].([]any)
				for _, id := range ids {
					name := map[string]any{"JobName": in["JobName"], "JobRunId": id}
					switch run, err := byID(in["JobName"], id); {
					case err != nil:
						name["ErrorDetail"] = map[string]any{"ErrorCode": notFound.Code, "ErrorMessage": notFound.Message}
						refused = append(refused, name)
					case run.Status == "STARTING" || run.Status == "RUNNING" || run.Status == "WAITING":
						runs.SetJobStatus(run.ID, "STOPPED")
						submitted = append(submitted, name)
					default:
						name["ErrorDetail"] = map[string]any{"ErrorCode": "InvalidInputException", "ErrorMessage": "the run is " + run.Status}
						refused = append(refused, name)
					}
				}
				return map[string]any{"Errors": refused, "SuccessfulSubmissions": submitted}, nil
			},
		},
	}
}

// Glue calls its own slowness a fault of the caller; the run may have begun.
func TestGlueStartThatTimesOut(t *testing.T) {
	t.Parallel()
	d := driverAt(t, "glue:StartJobRun", newScripted(t, answer{status: http.StatusBadRequest, body: `{"__type": "OperationTimeoutException"}`}))
	_, err := d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"JobName": "nightly"}`)})
	require.Error(t, err)
	require.Equal(t, awserror.Unclear, goerror.Classify(err))
}

// A stop call of Glue succeeds whatever becomes of the runs that it names. The
// reference is one of before, too: it has nothing for the stop call alone.
func TestGlueStopThatIsRefused(t *testing.T) {
	t.Parallel()
	running := answer{body: `{"JobRun": {"JobRunState": "RUNNING"}}`}
	for body, want := range map[string]string{
		`{"Errors": [{"ErrorDetail": {"ErrorCode": "EntityNotFoundException", "ErrorMessage": "no such job run"}}]}`: "api error EntityNotFoundException: no such job run",
		`{"Errors": [{}]}`: "api error NotStopped: the service answered that it did not stop the job",
	} {
		server := newScripted(t, answer{body: body}, running)
		err := stopAt(t, "glue:StartJobRun", server, jobs.Ref{"JobName": "nightly", "RunId": "jr_1"})
		require.EqualError(t, err, want)
		require.False(t, goerror.Passes(err))
		require.JSONEq(t, `{"JobName": "nightly", "JobRunIds": ["jr_1"]}`, server.take()[0].Body)
	}
	require.NoError(t, stopAt(t, "glue:StartJobRun", newScripted(t, answer{body: `{"Errors": []}`}), jobs.Ref{"JobName": "nightly", "RunId": "jr_1"}))
}

// What a reference needs for the stop call is made of what it has for the describe
// call, so a reference has no more than that.
func TestGlueReference(t *testing.T) {
	t.Parallel()
	d := driverAt(t, "glue:StartJobRun", newScripted(t, answer{body: `{"JobRunId": "jr_1"}`}))
	ref, err := d.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"JobName": "nightly"}`)})
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"JobName": "nightly", "RunId": "jr_1"}, ref)
}
