package dynamodbexport_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
	"github.com/jobpoller/jobpoller/pollcore"
)

const (
	table     = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders"
	arguments = `{"TableArn": "` + table + `", "S3Bucket": "exports"}`
)

func TestStart(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	ref := run(t, driver, "token-1", `{
		"TableArn": "`+table+`", "S3Bucket": "exports", "S3Prefix": "2026", "ExportFormat": "DYNAMODB_JSON",
		"ExportTime": "2026-11-20T09:30:00Z", "ExportType": "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": {"ExportFromTime": "2026-11-19T00:00:00Z", "ExportViewType": "NEW_IMAGE"}
	}`)
	require.Equal(t, jobs.Ref{"ExportArn": table + "/export/1"}, ref)
	require.Equal(t, []request{{"DynamoDB_20120810.ExportTableToPointInTime", map[string]any{
		"TableArn": table, "S3Bucket": "exports", "S3Prefix": "2026", "ExportFormat": "DYNAMODB_JSON",
		"ExportTime": float64(1795167000), "ExportType": "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": map[string]any{"ExportFromTime": float64(1795046400), "ExportViewType": "NEW_IMAGE"},
		"ClientToken":                    "token-1",
	}}}, s.take())
}

// The token makes a second call the first one's.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	require.Equal(t, jobs.Idempotency{Class: jobs.ByToken, Window: 8 * time.Hour}, driver.Idempotency(jobs.Request{}))
	first := run(t, driver, "token-1", arguments)
	require.Equal(t, first, run(t, driver, "token-1", arguments))
	require.NotEqual(t, first, run(t, driver, "token-2", arguments))
	require.Len(t, s.exports, 2)

	_, err := driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(`{"TableArn": "` + table + `", "S3Bucket": "other"}`)})
	var conflict *types.ExportConflictException
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, jobs.Refused, jobs.Classify(err))
	require.Len(t, s.exports, 2)
}

func TestStartRefusesArguments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, arguments, want string }{
		{"unknown member", `{"TableArn": "` + table + `", "S3Bucket": "b", "S3Prefx": "p"}`, `unknown field "S3Prefx"`},
		{"unknown member inside", `{"TableArn": "` + table + `", "S3Bucket": "b", "IncrementalExportSpecification": {"From": 1}}`, `unknown field "From"`},
		{"token", `{"TableArn": "` + table + `", "S3Bucket": "b", "ClientToken": "mine"}`, "leave ClientToken out, the poller sets it"},
		{"no table", `{"S3Bucket": "b"}`, "TableArn and S3Bucket are required"},
		{"no bucket", `{"TableArn": "` + table + `"}`, "TableArn and S3Bucket are required"},
		{"null table", `{"TableArn": null, "S3Bucket": "b"}`, "TableArn and S3Bucket are required"},
		{"empty", `{}`, "TableArn and S3Bucket are required"},
		{"a number for a string", `{"TableArn": 7, "S3Bucket": "b"}`, "TableArn"},
		{"a time that is none", `{"TableArn": "` + table + `", "S3Bucket": "b", "ExportTime": "yesterday"}`, "yesterday"},
		{"an array", `[]`, "array"},
		{"not JSON", `{`, "unexpected"},
		{"nothing", ``, "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, driver := start(t)
			_, err := driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(tt.arguments)})
			require.ErrorIs(t, err, jobs.ErrArguments)
			require.ErrorContains(t, err, "invalid job arguments of dynamodb:ExportTableToPointInTime: ")
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, s.take())
		})
	}
}

// The service's own errors come as they are.
func TestServiceErrors(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	ref := run(t, driver, "token-1", arguments)
	s.says(func(s *service) { s.failure = "PointInTimeRecoveryUnavailableException" })
	_, err := driver.Start(t.Context(), jobs.Request{Token: "token-2", Arguments: json.RawMessage(arguments)})
	var refused *types.PointInTimeRecoveryUnavailableException
	require.ErrorAs(t, err, &refused)
	require.NotErrorIs(t, err, jobs.ErrArguments)
	require.Equal(t, jobs.Refused, jobs.Classify(err))

	s.says(func(s *service) { s.failure = "ThrottlingException" })
	_, err = driver.Start(t.Context(), jobs.Request{Token: "token-2", Arguments: json.RawMessage(arguments)})
	require.Equal(t, jobs.Throttled, jobs.Classify(err))
	_, err = driver.Describe(t.Context(), ref)
	require.True(t, jobs.Transient(err))

	s.says(func(s *service) { s.failure = "" })
	_, err = driver.Describe(t.Context(), jobs.Ref{"ExportArn": "arn:of:another"})
	var notFound *types.ExportNotFoundException
	require.ErrorAs(t, err, &notFound)
	require.False(t, jobs.Transient(err))
}

// An answer without an ARN leaves open whether there is an export.
func TestStartWithoutAnARN(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	s.says(func(s *service) { s.silent = true })
	_, err := driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(arguments)})
	require.ErrorContains(t, err, "returned no ExportArn")
	require.Equal(t, jobs.Unclear, jobs.Classify(err))
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]pollcore.Verdict{"COMPLETED": pollcore.Success, "FAILED": pollcore.Failure, "PAUSED": pollcore.Retry} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			s, driver := start(t)
			s.says(func(s *service) { s.polls, s.end = 2, end })
			check, err := pollcore.Compile[jobs.Ref, any](driver.Waiter())
			require.NoError(t, err)
			ref := run(t, driver, "token-1", arguments)
			var verdicts []pollcore.Verdict
			var last any
			for range 3 {
				last, err = driver.Describe(t.Context(), ref)
				require.NoError(t, err)
				verdicts = append(verdicts, check.Check(ref, last, nil).Verdict)
			}
			require.Equal(t, []pollcore.Verdict{pollcore.Retry, pollcore.Retry, want}, verdicts)
			description := map[string]any{
				"ExportArn": table + "/export/1", "ExportStatus": end, "TableArn": table, "ClientToken": "token-1",
				"StartTime": "2026-11-18T11:06:40.5Z", "ItemCount": json.Number("9007199254740993"),
			}
			if end == "FAILED" {
				description["FailureCode"], description["FailureMessage"] = "S3NoSuchBucket", "no such bucket"
			}
			require.Equal(t, map[string]any{"ExportDescription": description}, last)
		})
	}
}

func TestWaiterIsTheServices(t *testing.T) {
	t.Parallel()
	waiter := dynamodbexport.New(nil).Waiter()
	require.NoError(t, waiter.Validate())
	require.Equal(t, "ExportCompleted", waiter.Name)
	require.Equal(t, 20, waiter.MinDelay)
	require.Equal(t, 120, waiter.MaxDelay)
	require.Equal(t, "dynamodb:ExportTableToPointInTime", dynamodbexport.New(nil).Name())
}
