package awsjob_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func TestConformanceRedshiftData(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   catalogueMaker("redshift-data:ExecuteStatement"),
		Service: func(*testing.T) jobstest.Service { return newRedshiftData() },
		Arguments: `{
			"Sql": "CALL refresh(:day)", "Database": "dev", "WorkgroupName": "reports", "WithEvent": true,
			"Parameters": [{"Name": "day", "Value": "2026-11-20"}], "SessionKeepAliveSeconds": 60, "ResultFormat": "JSON"
		}`,
		Required: []string{"Sql"},
		Reserved: []string{"ClientToken"},
		Bad: []jobstest.BadArguments{
			{Name: "unknown member inside", Arguments: `{"Sql": "SELECT 1", "Parameters": [{"nam": "day"}]}`, Want: `/Parameters/0/nam`},
			{Name: "many statements", Arguments: `{"Sqls": ["SELECT 1"]}`, Want: `did you mean "Sql"?`},
		},
		Output:     sdk.DescribeStatementOutput{},
		Timestamps: []string{"CreatedAt"},
		Statuses: jobstest.Statuses{
			// ALL is for lists of statements; no statement has it.
			Running: []string{"SUBMITTED", "PICKED", "STARTED", "ALL"}, Success: []string{"FINISHED"}, Failure: []string{"FAILED", "ABORTED"},
		},
		Enum:   jobstest.Values(types.StatusString("").Values()),
		Reason: "ERROR: syntax error",
	})
}

// newRedshiftData is the Data API.
func newRedshiftData() jobstest.JSONService {
	statements := jobstest.NewJobs("SUBMITTED")
	byID := func(in map[string]any) (jobstest.Job, error) {
		id, _ := in["Id"].(string)
		statement, ok := statements.ByID(id)
		if !ok {
			return statement, jobstest.Refusal{Code: "ResourceNotFoundException", Message: "Query does not exist."}
		}
		return statement, nil
	}
	return jobstest.JSONService{
		Jobs: statements, Version: "1.1", Target: "RedshiftData",
		Operations: map[string]func(map[string]any) (any, error){
			"ExecuteStatement": func(in map[string]any) (any, error) {
				token, _ := in["ClientToken"].(string)
				statement, err := statements.Start(token, in, jobstest.Refusal{Code: "ValidationException", Message: "the token is that of another request"})
				return map[string]any{"Id": statement.ID, "CreatedAt": 1795000000.5}, err
			},
			"DescribeStatement": func(in map[string]any) (any, error) {
				statement, err := byID(in)
				out := map[string]any{
					"Id": statement.ID, "Status": statement.Status, "CreatedAt": 1795000000.5, "Duration": -1, "QueryString": statement.Parameters["Sql"],
				}
				if statement.Status == "FAILED" {
					out["Error"] = "ERROR: syntax error"
				}
				return out, err
			},
			"CancelStatement": func(in map[string]any) (any, error) {
				statement, err := byID(in)
				switch {
				case err != nil:
				case statement.Status == "FINISHED" || statement.Status == "FAILED" || statement.Status == "ABORTED":
					err = jobstest.Refusal{Code: "ValidationException", Message: "the statement is " + statement.Status + " already"}
				default:
					statements.SetJobStatus(statement.ID, "ABORTED")
				}
				return map[string]any{"Status": true}, err
			},
		},
	}
}

// CancelStatement may answer that it did nothing.
func TestRedshiftDataStopThatStopsNothing(t *testing.T) {
	t.Parallel()
	ref := jobs.Ref{"Id": "1"}
	err := stopAt(t, "redshift-data:ExecuteStatement", newScripted(t, answer{body: `{"Status": false}`}, answer{body: `{"Status": "STARTED"}`}), ref)
	require.ErrorContains(t, err, "the service answered that it did not stop the job")
	require.False(t, goerror.Passes(err))
	require.NoError(t, stopAt(t, "redshift-data:ExecuteStatement", newScripted(t, answer{body: `{"Status": false}`}, answer{body: `{"Status": "FINISHED"}`}), ref))
}
