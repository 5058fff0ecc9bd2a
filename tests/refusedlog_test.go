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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// refusing answers as an Athena that lets a role start a query, and not look at it.
type refusing struct{}

// Do implements aws.HTTPClient.
func (refusing) Do(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, `{"QueryExecutionId": "6d0d3f2c"}`
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetQueryExecution") {
		status, body = http.StatusBadRequest, `{"__type": "AccessDeniedException", "Message": "User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized to perform: athena:GetQueryExecution on resource: arn:aws:athena:us-east-1:123456789012:workgroup/primary"}`
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
	_, err = p.RunJob(t.Context(), json.RawMessage(`{"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:Report:run-2", "StartTime": "2026-11-28T09:00:00Z", "Input": {"maxWaitSeconds": 600}}}`))
	require.Error(t, err)
	mistake := regexp.MustCompile(`"error":"JobPoller.InvalidRequest","reason":".*member \\"job\\""`).FindString(log.String())
	require.NotEmpty(t, mistake, log.String())
	require.Contains(t, string(page), mistake)
	log.Reset()
	now = now.Add(30 * time.Second)
	result, err := p.CheckStatus(t.Context(), json.RawMessage(event))
	require.NoError(t, err)
	require.EqualValues(t, "FAILED", result.Status)
	require.NotContains(t, log.String(), "hunter2")
	got := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(log.String(), "")
	require.JSONEq(t, strings.Replace(shown, `"message":`, `"msg":`, 1), got)
}

// answers is an HTTP client that gives one answer to writes and another to reads.
type answers struct {
	start, describe string // a status and a body
}

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := a.describe
	if r.Method != http.MethodGet {
		answer = a.start
	}
	code, body, _ := strings.Cut(answer, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// Do implements aws.HTTPClient.
func (a answers) Do(r *http.Request) (*http.Response, error) { return a.RoundTrip(r) }

// By the log alone: which execution and job, by which id, and what is missing, whoever runs
// the job.
func TestLogOfARefusedPollOfEachKindOfDriver(t *testing.T) {
	t.Parallel()
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		HTTPClient: answers{"202 ", `403 <Error><Code>AccessDenied</Code><Message>User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized to perform: kms:Decrypt on resource: hunter2</Message></Error>`},
	}
	function, err := builtin.LambdaInvoke(jobs.Environment{AWS: cfg, S3: s3.NewFromConfig(cfg), Bucket: "records", Prefix: "jobpoller"})
	require.NoError(t, err)
	denied := cfg
	denied.HTTPClient = answers{"202 ", `403 <Error><Code>AccessDenied</Code><Message>You are not authorized to perform this operation. User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized to perform: kms:Decrypt on resource: hunter2 with an explicit deny in a service control policy. Encoded authorization failure message: hunter2</Message></Error>`}
	guarded, err := builtin.LambdaInvoke(jobs.Environment{AWS: denied, S3: s3.NewFromConfig(denied), Bucket: "records", Prefix: "jobpoller"})
	require.NoError(t, err)
	server, err := httpjob.New(httpjob.Config{
		Hosts: []string{"jobs.example.com"},
		Wrap: func(http.RoundTripper) http.RoundTripper {
			return answers{`200 {"id": "7"}`, `403 {"message": "hunter2"}`}
		},
	})
	require.NoError(t, err)
	for _, tt := range []struct {
		driver            jobs.Driver
		arguments         string
		wantID, wantCause string
	}{
		{
			function, `{"FunctionName": "work", "Payload": {"Password": "hunter2"}}`, "work records jobpoller/jobs/",
			"AccessDenied (HTTP 403); grant the function's role kms:Decrypt",
		},
		{
			guarded, `{"FunctionName": "guarded", "Payload": {"Password": "hunter2"}}`, "guarded records jobpoller/jobs/",
			"AccessDenied (HTTP 403); a service control policy denies the function's role kms:Decrypt: change that policy, a grant does not help",
		},
		{
			server, `{"Start": {"Method": "POST", "Url": "https://jobs.example.com/jobs", "Body": "hunter2"}, "Describe": {"Url": "https://jobs.example.com/jobs/{Body.id}"}}`,
			"https://jobs.example.com/jobs/7", "answered 403 Forbidden; give the call's Headers, or the function's transport, credentials that the server takes; Http.StatusCode.403",
		},
	} {
		t.Run(tt.driver.Name()+" "+tt.wantID, func(t *testing.T) {
			t.Parallel()
			registry, err := jobs.NewRegistry(tt.driver)
			require.NoError(t, err)
			var log bytes.Buffer
			p, err := handler.New(handler.Config{Store: memstore.New(nil), Jobs: registry, Log: slog.New(slog.NewJSONHandler(&log, nil))})
			require.NoError(t, err)
			event := `{"Context": {"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:Report:run-1", "StartTime": "2026-11-28T09:00:00Z"}},
				"Input": {"job": "` + tt.driver.Name() + `", "maxWaitSeconds": 600, "arguments": ` + tt.arguments + `}}`
			_, err = p.RunJob(t.Context(), json.RawMessage(event))
			require.NoError(t, err)
			log.Reset()
			result, err := p.CheckStatus(t.Context(), json.RawMessage(event))
			require.NoError(t, err)
			require.EqualValues(t, "FAILED", result.Status)
			require.NotContains(t, log.String(), "hunter2")
			var line struct {
				Level     string `json:"level"`
				Execution string `json:"execution"`
				Job       string `json:"job"`
				ID        string `json:"id"`
				Reason    string `json:"reason"`
			}
			require.NoError(t, json.Unmarshal(log.Bytes(), &line))
			require.Equal(t, "WARN", line.Level)
			require.Equal(t, "arn:aws:states:us-east-1:123456789012:execution:Report:run-1", line.Execution)
			require.Equal(t, tt.driver.Name(), line.Job)
			require.Contains(t, line.ID, tt.wantID)
			require.Contains(t, line.Reason, tt.wantCause)
		})
	}
}
