package athenaquery_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/athenaquery"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   athenaquery.FromEnvironment,
		Service: func(*testing.T) jobstest.Service { return newService() },
		Arguments: `{
			"QueryString": "SELECT 1", "WorkGroup": "reports", "ExecutionParameters": ["7"],
			"QueryExecutionContext": {"Catalog": "AwsDataCatalog", "Database": "sales"},
			"ResultConfiguration": {
				"OutputLocation": "s3://results/", "EncryptionConfiguration": {"EncryptionOption": "SSE_S3"}
			},
			"ResultReuseConfiguration": {"ResultReuseByAgeConfiguration": {"Enabled": true, "MaxAgeInMinutes": 5}}
		}`,
		Required: []string{"QueryString"},
		Reserved: []string{"ClientRequestToken"},
		Bad: []jobstest.BadArguments{
			{Name: "unknown member inside", Arguments: `{"QueryString": "SELECT 1", "ResultConfiguration": {"Location": "s3://results/"}}`, Want: `/ResultConfiguration/Location`},
			{Name: "a secret stays out", Arguments: `{"QueryString": "SELECT 1", "ExecutionParameters": [7]}`, Want: "/ExecutionParameters/0: expected a string"},
		},
		Output:     athena.GetQueryExecutionOutput{},
		Timestamps: []string{"QueryExecution.Status.SubmissionDateTime"},
		Statuses: jobstest.Statuses{
			Running: []string{"QUEUED", "RUNNING"}, Success: []string{"SUCCEEDED"}, Failure: []string{"FAILED", "CANCELLED"},
		},
		Enum:   jobstest.Values(types.QueryExecutionState("").Values()),
		Reason: "SYNTAX_ERROR: line 1:8",
	})
}

// newService is the part of Athena that runs queries.
func newService() jobstest.JSONService {
	queries := jobstest.NewJobs("QUEUED")
	byID := func(in map[string]any) (jobstest.Job, error) {
		id, _ := in["QueryExecutionId"].(string)
		query, ok := queries.ByID(id)
		if !ok {
			return query, jobstest.Refusal{Code: "InvalidRequestException", Message: "QueryExecution " + id + " was not found"}
		}
		return query, nil
	}
	return jobstest.JSONService{
		Jobs: queries, Version: "1.1", Target: "AmazonAthena",
		Operations: map[string]func(map[string]any) (any, error){
			"StartQueryExecution": func(in map[string]any) (any, error) {
				token, _ := in["ClientRequestToken"].(string)
				query, err := queries.Start(token, in, jobstest.Refusal{Code: "InvalidRequestException", Message: "Idempotent parameters do not match"})
				return map[string]any{"QueryExecutionId": query.ID}, err
			},
			"GetQueryExecution": func(in map[string]any) (any, error) {
				query, err := byID(in)
				status := map[string]any{"State": query.Status, "SubmissionDateTime": 1795000000.5}
				if query.Status == "FAILED" {
					status["StateChangeReason"] = "SYNTAX_ERROR: line 1:8"
				}
				return map[string]any{"QueryExecution": map[string]any{
					"QueryExecutionId": query.ID, "Query": query.Parameters["QueryString"], "Status": status,
				}}, err
			},
			"StopQueryExecution": func(in map[string]any) (any, error) {
				query, err := byID(in)
				switch {
				case err != nil:
				case query.Status == "QUEUED" || query.Status == "RUNNING":
					queries.SetJobStatus(query.ID, "CANCELLED")
				default:
					err = jobstest.Refusal{Code: "InvalidRequestException", Message: "Query has already ended"}
				}
				return map[string]any{}, err
			},
		},
	}
}

// silent is a client whose answers say nothing.
type silent struct{ *athena.Client }

func (silent) StartQueryExecution(
	context.Context, *athena.StartQueryExecutionInput, ...func(*athena.Options),
) (*athena.StartQueryExecutionOutput, error) {
	return &athena.StartQueryExecutionOutput{}, nil
}

// An answer without an ID leaves open whether there is a query.
func TestStartWithoutAnID(t *testing.T) {
	t.Parallel()
	_, err := athenaquery.New(silent{}).Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"QueryString": "SELECT 1"}`)})
	require.EqualError(t, err, "athena:StartQueryExecution returned no QueryExecutionId")
	require.True(t, awserror.Classify(err).MayHaveActed())
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	require.Equal(t, jobs.Idempotency{Class: jobs.ByToken, Window: time.Hour}, athenaquery.New(nil).Idempotency(jobs.Request{}))
}
