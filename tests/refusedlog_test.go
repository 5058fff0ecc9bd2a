package tests_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// refusing answers as an Athena that lets a role start a query, and not look at it.
type refusing struct{}

// Do implements aws.HTTPClient.
func (refusing) Do(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, `{"QueryExecutionId": "6d0d3f2c"}`
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetQueryExecution") {
		status, body = http.StatusBadRequest, `{"__type": "AccessDeniedException", "Message": "User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized"}`
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// The line of the log that the page on operations shows is that of a refused describe call.
func TestLogOfTheOperatePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(book, "guide", "operate.md"))
	require.NoError(t, err)
	shown := regexp.MustCompile(`(?m)^\{"level":"WARN","message":"check-status".*$`).FindString(string(page))
	require.NotEmpty(t, shown)

	driver, err := awsjob.NewDriver(aws.Config{
		Region: "us-east-1", HTTPClient: refusing{}, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
	}, catalog.AWS(), "athena:StartQueryExecution")
	require.NoError(t, err)
	registry, err := jobs.NewRegistry(driver)
	require.NoError(t, err)
	var log bytes.Buffer
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	p, err := handler.New(handler.Config{
		Store: memstore.New(nil), Jobs: registry, Now: func() time.Time { return now }, Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	require.NoError(t, err)
	const event = `{"Context": {"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:Report:run-1", "StartTime": "2026-11-28T09:00:00Z"}},
		"Input": {"job": "athena:StartQueryExecution", "maxWaitSeconds": 600, "arguments": {"QueryString": "SELECT 'hunter2'", "WorkGroup": "primary"}}}`
	_, err = p.RunJob(t.Context(), json.RawMessage(event))
	require.NoError(t, err)
	log.Reset()
	now = now.Add(30 * time.Second)
	result, err := p.CheckStatus(t.Context(), json.RawMessage(event))
	require.NoError(t, err)
	require.EqualValues(t, "FAILED", result.Status)
	require.NotContains(t, log.String(), "hunter2")
	got := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(log.String(), "")
	require.JSONEq(t, strings.Replace(shown, `"message":`, `"msg":`, 1), got)
}
