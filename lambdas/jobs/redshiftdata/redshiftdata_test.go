package redshiftdata_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/lambdas/jobs/redshiftdata"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:   redshiftdata.FromEnvironment,
		Service: func(*testing.T) jobstest.Service { return newService() },
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

// newService is the Data API.
func newService() jobstest.JSONService {
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

// client is a client whose starts say nothing, and which cancels nothing of a
// statement that has the status.
type client struct {
	*sdk.Client

	status types.StatusString
}

func (client) ExecuteStatement(
	context.Context, *sdk.ExecuteStatementInput, ...func(*sdk.Options),
) (*sdk.ExecuteStatementOutput, error) {
	return &sdk.ExecuteStatementOutput{}, nil
}

func (c client) DescribeStatement(
	context.Context, *sdk.DescribeStatementInput, ...func(*sdk.Options),
) (*sdk.DescribeStatementOutput, error) {
	return &sdk.DescribeStatementOutput{Status: c.status}, nil
}

func (client) CancelStatement(context.Context, *sdk.CancelStatementInput, ...func(*sdk.Options)) (*sdk.CancelStatementOutput, error) {
	return &sdk.CancelStatementOutput{Status: new(false)}, nil
}

// An answer without an ID leaves open whether there is a statement.
func TestStartWithoutAnID(t *testing.T) {
	t.Parallel()
	_, err := redshiftdata.New(client{}).Start(t.Context(), jobs.Request{Arguments: json.RawMessage(`{"Sql": "SELECT 1"}`)})
	require.EqualError(t, err, "redshift-data:ExecuteStatement returned no Id")
	require.True(t, awserror.Classify(err).MayHaveActed())
}

// CancelStatement may answer that it did nothing.
func TestStopThatStopsNothing(t *testing.T) {
	t.Parallel()
	err := redshiftdata.New(client{status: types.StatusStringStarted}).Stop(t.Context(), jobs.Ref{"Id": "1"})
	require.ErrorContains(t, err, "the service answered that it did not cancel the statement")
	require.False(t, awserror.Passes(err))
	require.NoError(t, redshiftdata.New(client{status: types.StatusStringFinished}).Stop(t.Context(), jobs.Ref{"Id": "1"}))
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	require.Equal(t, jobs.Idempotency{Class: jobs.ByToken, Window: 8 * time.Hour}, redshiftdata.New(nil).Idempotency(jobs.Request{}))
}
