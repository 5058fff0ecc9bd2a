package awsjob_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

func TestConformanceAthena(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   catalogueMaker("athena:StartQueryExecution"),
		Service: func(*testing.T) jobstest.Service { return newAthena() },
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

// newAthena is the part of Athena that runs queries.
func newAthena() jobstest.JSONService {
	queries := jobstest.NewJobs("QUEUED")
	byID := func(in map[string]any) (jobstest.Job, error) {
		id, _ := in["QueryExecutionId"].(string)
		query, ok := queries.ByID(id)
		if !ok {
			return query, jobstest.Refusal{Code: "InvalidRequestException", Message: "QueryExecution " + id + " was not found"}
		}
		return query, nil
	}
	execution := func(query jobstest.Job) map[string]any {
		status := map[string]any{"State": query.Status, "SubmissionDateTime": 1795000000.5}
		if query.Status == "FAILED" {
			status["StateChangeReason"] = "SYNTAX_ERROR: line 1:8"
		}
		return map[string]any{"QueryExecutionId": query.ID, "Query": query.Parameters["QueryString"], "Status": status}
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
				return map[string]any{"QueryExecution": execution(query)}, err
			},
			"BatchGetQueryExecution": func(in map[string]any) (any, error) {
				found, unknown := []any{}, []any{}
				ids, _ := in["QueryExecutionIds"].([]any)
				for _, id := range ids {
					query, err := byID(map[string]any{"QueryExecutionId": id})
					if err == nil {
						found = append(found, execution(query))
					} else {
						unknown = append(unknown, map[string]any{"QueryExecutionId": id, "ErrorCode": "INVALID_INPUT"})
					}
				}
				return map[string]any{"QueryExecutions": found, "UnprocessedQueryExecutionIds": unknown}, nil
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
