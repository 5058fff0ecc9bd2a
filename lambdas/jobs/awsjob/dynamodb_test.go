package awsjob_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

const (
	ordersTable     = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders"
	exportArguments = `{
		"TableArn": "` + ordersTable + `", "S3Bucket": "exports", "S3Prefix": "2026", "ExportFormat": "DYNAMODB_JSON",
		"ExportTime": "2026-11-20T09:30:00Z", "ExportType": "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": {"ExportFromTime": 1795046400.5, "ExportViewType": "NEW_IMAGE"}
	}`
)

func TestConformanceDynamoDB(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker:      catalogueMaker("dynamodb:ExportTableToPointInTime"),
		Service:    func(*testing.T) jobstest.Service { return newDynamoDB() },
		Arguments:  exportArguments,
		Required:   []string{"TableArn", "S3Bucket"},
		Reserved:   []string{"ClientToken"},
		Bad:        []jobstest.BadArguments{{Name: "unknown member inside", Arguments: `{"TableArn": "t", "S3Bucket": "b", "IncrementalExportSpecification": {"From": 1}}`, Want: `has no member "From"`}},
		Output:     dynamodb.DescribeExportOutput{},
		Timestamps: []string{"ExportDescription.StartTime"},
		Statuses: jobstest.Statuses{
			Running: []string{"IN_PROGRESS"}, Success: []string{"COMPLETED"}, Failure: []string{"FAILED"},
		},
		Enum:   jobstest.Values(types.ExportStatus("").Values()),
		Reason: "no such bucket",
	})
}

// newDynamoDB is the part of DynamoDB that exports tables.
func newDynamoDB() jobstest.JSONService {
	exports := jobstest.NewJobs("IN_PROGRESS")
	return jobstest.JSONService{
		Jobs: exports, Version: "1.0", Target: "DynamoDB_20120810",
		Operations: map[string]func(map[string]any) (any, error){
			"ExportTableToPointInTime": func(in map[string]any) (any, error) {
				token, _ := in["ClientToken"].(string)
				export, err := exports.Start(token, in, jobstest.Refusal{Code: "ExportConflictException", Message: "other parameters"})
				return describeExport(export), err
			},
			"DescribeExport": func(in map[string]any) (any, error) {
				arn, _ := in["ExportArn"].(string)
				_, id, _ := strings.Cut(arn, "/export/")
				export, ok := exports.ByID(id)
				if !ok {
					return nil, jobstest.Refusal{Code: "ExportNotFoundException", Message: "no such export"}
				}
				return describeExport(export), nil
			},
		},
	}
}

func describeExport(export jobstest.Job) any {
	description := map[string]any{
		"ExportArn":    fmt.Sprintf("%s/export/%s", export.Parameters["TableArn"], export.ID),
		"ExportStatus": export.Status, "StartTime": 1795000000.5, "TableArn": export.Parameters["TableArn"],
		"ItemCount": 9007199254740993, "ClientToken": export.Key,
	}
	if export.Status == "FAILED" {
		description["FailureCode"], description["FailureMessage"] = "S3NoSuchBucket", "no such bucket"
	}
	return map[string]any{"ExportDescription": description}
}

// What the service gets and gives is what was written, in its own form.
func TestExportOnTheWire(t *testing.T) {
	t.Parallel()
	service := newDynamoDB()
	d := driverAt(t, "dynamodb:ExportTableToPointInTime", service)
	require.Equal(t, jobs.Idempotency{Class: jobs.ByToken, Window: 8 * time.Hour}, d.Idempotency(jobs.Request{}))
	ref, err := d.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(exportArguments)})
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"ExportArn": ordersTable + "/export/job-1"}, ref)
	export, _ := service.ByID("job-1")
	require.Equal(t, map[string]any{
		"TableArn": ordersTable, "S3Bucket": "exports", "S3Prefix": "2026", "ExportFormat": "DYNAMODB_JSON",
		"ExportTime": float64(1795167000), "ExportType": "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": map[string]any{"ExportFromTime": 1795046400.5, "ExportViewType": "NEW_IMAGE"},
		"ClientToken":                    "token-1",
	}, export.Parameters)
	service.SetStatus("COMPLETED")
	output, err := d.Describe(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"ExportDescription": map[string]any{
		"ExportArn": ordersTable + "/export/job-1", "ExportStatus": "COMPLETED", "TableArn": ordersTable, "ClientToken": "token-1",
		"StartTime": "2026-11-18T11:06:40.5Z", "ItemCount": json.Number("9007199254740993"),
	}}, output)

	_, err = d.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(`{"TableArn": "` + ordersTable + `", "S3Bucket": "other"}`)})
	require.ErrorContains(t, err, "ExportConflictException")
	require.Equal(t, awserror.Refused, goerror.Classify(err))
}
