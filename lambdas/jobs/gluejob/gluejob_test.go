package gluejob_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/gluejob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   gluejob.FromEnvironment,
		Service: func(*testing.T) jobstest.Service { return newService() },
		Arguments: `{
			"JobName": "nightly", "Arguments": {"--day": "2026-11-20"}, "WorkerType": "G.1X", "NumberOfWorkers": 2,
			"Timeout": 60, "MaxCapacity": 0.5, "JobRunQueuingEnabled": true, "NotificationProperty": {"NotifyDelayAfter": 5}
		}`,
		Required: []string{"JobName"},
		Bad: []jobstest.BadArguments{
			{Name: "an argument that is no string", Arguments: `{"JobName": "nightly", "Arguments": {"--n": 7}}`, Want: "/Arguments/--n: expected a string"},
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

// newService is the part of Glue that runs jobs.
func newService() jobstest.JSONService {
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

// client is a client whose starts say nothing or fail, and which fails for a
// member of a batch while the batch itself succeeds.
type client struct {
	*glue.Client

	start  error
	errors []types.BatchStopJobRunError
}

func (c client) StartJobRun(context.Context, *glue.StartJobRunInput, ...func(*glue.Options)) (*glue.StartJobRunOutput, error) {
	return &glue.StartJobRunOutput{}, c.start
}

func (client) GetJobRun(context.Context, *glue.GetJobRunInput, ...func(*glue.Options)) (*glue.GetJobRunOutput, error) {
	return &glue.GetJobRunOutput{JobRun: &types.JobRun{JobRunState: types.JobRunStateRunning}}, nil
}

func (c client) BatchStopJobRun(context.Context, *glue.BatchStopJobRunInput, ...func(*glue.Options)) (*glue.BatchStopJobRunOutput, error) {
	return &glue.BatchStopJobRunOutput{Errors: c.errors}, nil
}

// An answer without an ID leaves open whether there is a run.
func TestStartWithoutAnID(t *testing.T) {
	t.Parallel()
	_, err := gluejob.New(client{}).Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"JobName": "nightly"}`)})
	require.EqualError(t, err, "glue:StartJobRun returned no JobRunId")
	require.True(t, awserror.Classify(err).MayHaveActed())
}

// Glue calls its own slowness a fault of the caller; the run may have begun.
func TestStartThatTimesOut(t *testing.T) {
	t.Parallel()
	_, err := gluejob.New(client{start: &types.OperationTimeoutException{}}).Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"JobName": "nightly"}`)})
	require.Error(t, err)
	require.True(t, awserror.Classify(err).MayHaveActed())
}

func TestStopOfOneThatFails(t *testing.T) {
	t.Parallel()
	ref := jobs.Ref{"JobName": "nightly", "RunId": "jr_1"}
	err := gluejob.New(client{errors: []types.BatchStopJobRunError{{ErrorDetail: &types.ErrorDetail{
		ErrorCode: aws.String("EntityNotFoundException"), ErrorMessage: aws.String("no such job run"),
	}}}}).Stop(t.Context(), ref)
	require.EqualError(t, err, "api error EntityNotFoundException: no such job run")
	require.False(t, awserror.Passes(err))
	err = gluejob.New(client{errors: []types.BatchStopJobRunError{{}}}).Stop(t.Context(), ref)
	require.EqualError(t, err, "api error Unknown: the run could not be stopped")
	require.NoError(t, gluejob.New(client{}).Stop(t.Context(), ref))
}
