package dynamodbexport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, conformance())
}

// driver returns a driver of the service, whose client tries once.
func driver(t *testing.T, service http.Handler) jobs.Driver {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	d, err := dynamodbexport.FromEnvironment(jobs.Environment{AWS: aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: server.Client(), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
	}})
	require.NoError(t, err)
	return d
}

// What the service gets and gives is what was written, in its own form.
func TestExport(t *testing.T) {
	t.Parallel()
	service := newService()
	d := driver(t, service)
	require.Equal(t, jobs.Idempotency{Class: jobs.ByToken, Window: 8 * time.Hour}, d.Idempotency(jobs.Request{}))
	ref, err := d.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"ExportArn": table + "/export/job-1"}, ref)
	export, _ := service.ByID("job-1")
	require.Equal(t, map[string]any{
		"TableArn": table, "S3Bucket": "exports", "S3Prefix": "2026", "ExportFormat": "DYNAMODB_JSON",
		"ExportTime": float64(1795167000), "ExportType": "INCREMENTAL_EXPORT",
		"IncrementalExportSpecification": map[string]any{"ExportFromTime": 1795046400.5, "ExportViewType": "NEW_IMAGE"},
		"ClientToken":                    "token-1",
	}, export.Parameters)
	service.SetStatus("COMPLETED")
	output, err := d.Describe(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"ExportDescription": map[string]any{
		"ExportArn": table + "/export/job-1", "ExportStatus": "COMPLETED", "TableArn": table, "ClientToken": "token-1",
		"StartTime": "2026-11-18T11:06:40.5Z", "ItemCount": json.Number("9007199254740993"),
	}}, output)

	_, err = d.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(`{"TableArn": "` + table + `", "S3Bucket": "other"}`)})
	var conflict *types.ExportConflictException
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, awserror.Refused, awserror.Classify(err))
}

// An answer without an ARN leaves open whether there is an export.
func TestStartWithoutAnARN(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{}`, `{"ExportDescription": {}}`} {
		d := driver(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		_, err := d.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(arguments)})
		require.EqualError(t, err, "dynamodb:ExportTableToPointInTime returned no ExportArn")
		require.True(t, awserror.Classify(err).MayHaveActed())
	}
}

func TestWaiterIsTheServices(t *testing.T) {
	t.Parallel()
	waiter := dynamodbexport.New(nil).Waiter()
	require.Equal(t, "ExportCompleted", waiter.Name)
	require.Equal(t, 20, waiter.MinDelay)
	require.Equal(t, 120, waiter.MaxDelay)
	require.Equal(t, "dynamodb:ExportTableToPointInTime", dynamodbexport.New(nil).Name())
}
