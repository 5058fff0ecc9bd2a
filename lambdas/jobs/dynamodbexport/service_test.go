package dynamodbexport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

const (
	table     = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders"
	arguments = `{
		"TableArn": "` + table + `", "S3Bucket": "exports", "S3Prefix": "2026", "ExportFormat": "DYNAMODB_JSON",
		"ExportTime": "2026-11-20T09:30:00Z", "ExportType": "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": {"ExportFromTime": 1795046400.5, "ExportViewType": "NEW_IMAGE"}
	}`
)

func conformance() jobstest.Case {
	return jobstest.Case{
		Maker:      dynamodbexport.FromEnvironment,
		Service:    func(*testing.T) jobstest.Service { return newService() },
		Arguments:  arguments,
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
	}
}

// newService is the part of DynamoDB that exports tables.
func newService() jobstest.JSONService {
	exports := jobstest.NewJobs("IN_PROGRESS")
	return jobstest.JSONService{
		Jobs: exports, Version: "1.0", Target: "DynamoDB_20120810",
		Operations: map[string]func(map[string]any) (any, error){
			"ExportTableToPointInTime": func(in map[string]any) (any, error) {
				token, _ := in["ClientToken"].(string)
				export, err := exports.Start(token, in, jobstest.Refusal{Code: "ExportConflictException", Message: "other parameters"})
				return describe(export), err
			},
			"DescribeExport": func(in map[string]any) (any, error) {
				arn, _ := in["ExportArn"].(string)
				_, id, _ := strings.Cut(arn, "/export/")
				export, ok := exports.ByID(id)
				if !ok {
					return nil, jobstest.Refusal{Code: "ExportNotFoundException", Message: "no such export"}
				}
				return describe(export), nil
			},
		},
	}
}

func describe(export jobstest.Job) any {
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
