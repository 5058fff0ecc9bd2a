package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// The records of a commit are written with this file in its tree:
//
//	go test ./lambdas/handler -run '^TestUpgrade$' -records testdata/upgrade/<commit>
var writeRecords = flag.String("records", "", "write what TestUpgrade reads to this folder")

// deployedBefore is an execution in flight when the functions are replaced: what it
// sends, what they have stored of it, and what they would answer.
type deployedBefore struct {
	Job    string          `json:"job"`
	Event  json.RawMessage `json:"event"`
	Check  json.RawMessage `json:"check"`
	Now    time.Time       `json:"now"`
	Mode   string          `json:"mode"`   // of the service by now
	Record json.RawMessage `json:"record"` // none of a start that was not made
	// RunsAgain and Checks are the answers, or the names of errors.
	RunsAgain answered `json:"runsAgain"`
	Checks    answered `json:"checks"`
	Starts    int      `json:"starts"` // calls of both
}

type answered struct {
	Status string          `json:"status,omitempty"`
	Job    json.RawMessage `json:"job,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// What the service does, in deployedBefore.Mode.
const (
	modeRuns   = "runs"
	modeEnds   = "ends"
	modeBreaks = "breaks"
	modeStops  = "stops"
	modeFaults = "faults"
	modeDenies = "denies"
)

// anyService answers for all services of the test.
type anyService struct {
	mu     sync.Mutex
	mode   string
	starts int
}

// ends are what the describe call answers, with STATUS for the status, and its words.
var ends = map[string][4]string{ // by operation: the answer, and the words for running, well, badly
	"GetQueryExecution":            {`{"QueryExecution": {"QueryExecutionId": "q-1", "Status": {"State": "STATUS"}}}`, "RUNNING", "SUCCEEDED", "FAILED"},
	"GetJobRun":                    {`{"JobRun": {"Id": "jr_1", "JobRunState": "STATUS"}}`, "RUNNING", "SUCCEEDED", "FAILED"},
	"DescribeExport":               {`{"ExportDescription": {"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1", "ExportStatus": "STATUS"}}`, "IN_PROGRESS", "COMPLETED", "FAILED"},
	"DescribeStatement":            {`{"Id": "s-1", "Status": "STATUS"}`, "STARTED", "FINISHED", "FAILED"},
	"DescribeExecution":            {`{"executionArn": "arn:aws:states:us-east-1:123456789012:execution:Inner:x", "status": "STATUS"}`, "RUNNING", "SUCCEEDED", "FAILED"},
	"GetTranscriptionJob":          {`{"TranscriptionJob": {"TranscriptionJobName": "n", "TranscriptionJobStatus": "STATUS"}}`, "IN_PROGRESS", "COMPLETED", "FAILED"},
	"DescribeEntitiesDetectionJob": {`{"EntitiesDetectionJobProperties": {"JobId": "c-1", "JobStatus": "STATUS"}}`, "IN_PROGRESS", "COMPLETED", "FAILED"},
}

var startAnswers = map[string]string{
	"StartQueryExecution": `{"QueryExecutionId": "q-1"}`, "StartJobRun": `{"JobRunId": "jr_1"}`,
	"ExportTableToPointInTime":  `{"ExportDescription": {"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1", "ExportStatus": "IN_PROGRESS"}}`,
	"ExecuteStatement":          `{"Id": "s-1"}`,
	"StartExecution":            `{"executionArn": "arn:aws:states:us-east-1:123456789012:execution:Inner:x", "startDate": 1795166000}`,
	"StartTranscriptionJob":     `{"TranscriptionJob": {"TranscriptionJobName": "n", "TranscriptionJobStatus": "IN_PROGRESS"}}`,
	"StartEntitiesDetectionJob": `{"JobId": "c-1", "JobStatus": "SUBMITTED"}`,
}

func (s *anyService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	fail := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"__type": %q, "message": "of the test"}`, code)
	}
	if answer, ok := startAnswers[operation]; ok {
		s.starts++
		switch s.mode {
		case modeFaults:
			fail(http.StatusInternalServerError, "InternalFailure")
		case modeDenies:
			fail(http.StatusBadRequest, "AccessDeniedException")
		default:
			fmt.Fprint(w, answer)
		}
		return
	}
	words, ok := ends[operation]
	switch {
	case !ok: // a call that stops the job
		s.mode = modeStops
		fmt.Fprint(w, `{}`)
	case operation == "GetTranscriptionJob" && s.starts == 0 && s.mode != modeRuns:
		fail(http.StatusBadRequest, "BadRequestException")
	default:
		word := map[string]string{modeRuns: words[1], modeEnds: words[2], modeBreaks: words[3], modeStops: words[3]}[s.mode]
		fmt.Fprint(w, strings.Replace(words[0], "STATUS", word, 1))
	}
}

func (s *anyService) set(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

// functionsOn are the functions on a store of their own.
func functionsOn(t *testing.T, s *anyService, now func() time.Time) *handler.Handler {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "example", ""),
	}
	of := jobs.Environment{
		AWS: cfg, S3: s3.NewFromConfig(cfg), Bucket: "records", Prefix: "jobpoller", Jobs: []string{"comprehend:StartEntitiesDetectionJob"},
		Getenv: func(string) string { return "" },
	}
	registry, err := jobs.Build(of, builtin.Drivers()...)
	require.NoError(t, err)
	p, err := handler.New(handler.Config{Store: memstore.New(now), Jobs: registry, Now: now, NoDwell: true, Random: func(n int64) int64 { return n - 1 }})
	require.NoError(t, err)
	return p
}

// answers invokes both functions.
func (d *deployedBefore) answers(ctx context.Context, p *handler.Handler) (runsAgain, checks answered) {
	run, err := p.RunJob(ctx, d.Event)
	runsAgain = toAnswer(run, err)
	check, err := p.CheckStatus(ctx, d.Check)
	return runsAgain, toAnswer(check, err)
}

func toAnswer(r *handler.Result, err error) answered {
	if failure, ok := errors.AsType[messages.InvokeResponse_Error](err); ok {
		return answered{Error: failure.Type}
	}
	if err != nil {
		return answered{Error: err.Error()}
	}
	job, err := json.Marshal(r.Job)
	if err != nil {
		return answered{Error: err.Error()}
	}
	return answered{Status: string(r.Status), Job: job}
}

var requests = map[string]string{
	"athena:StartQueryExecution":           `{"QueryString": "SELECT 1", "WorkGroup": "primary"}`,
	"glue:StartJobRun":                     `{"JobName": "nightly", "Arguments": {"--day": "2026-11-20"}, "Timeout": 60}`,
	"dynamodb:ExportTableToPointInTime":    `{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders", "S3Bucket": "exports"}`,
	"redshift-data:ExecuteStatement":       `{"WorkgroupName": "reports", "Database": "sales", "Sql": "CALL refresh()"}`,
	"states:StartExecution":                `{"stateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:Inner"}`,
	"transcribe:StartTranscriptionJob":     `{"LanguageCode": "en-US", "Media": {"MediaFileUri": "s3://recordings/call.wav"}}`,
	"comprehend:StartEntitiesDetectionJob": `{"LanguageCode": "en", "DataAccessRoleArn": "arn:aws:iam::123456789012:role/r", "InputDataConfig": {"S3Uri": "s3://texts/"}, "OutputDataConfig": {"S3Uri": "s3://out/"}}`,
}

// makeDeployed lets this commit's functions start a job in one mode, poll it in others,
// each a while later, and keeps what is there in the end.
func makeDeployed(t *testing.T, job, more, form string, modes ...string) *deployedBefore {
	t.Helper()
	now := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	s := &anyService{mode: modes[0]}
	p := functionsOn(t, s, func() time.Time { return now })
	arguments := requests[job]
	if job == "states:StartExecution" {
		arguments = strings.Replace(arguments, "stateMachineArn", "StateMachineArn", 1)
	}
	request := fmt.Sprintf(`{"job": %q, "maxWaitSeconds": 3600, "arguments": %s%s}`, job, arguments, more)
	d := &deployedBefore{Job: job, Event: json.RawMessage(bare(request)), Check: json.RawMessage(bare(request))}
	k := key
	if form == "call" {
		k.Poller, k.Scope = "Orders", "3"
		d.Event, d.Check = json.RawMessage(call(`, "Poller": "Orders", "Scope": 3, "Input": `+request)), json.RawMessage(call(`, "Poller": "Orders", "Scope": 3, "Input": {"attempt": 0}`))
	}
	_, err := p.RunJob(t.Context(), d.Event)
	if modes[0] == modeRuns {
		require.NoError(t, err)
	}
	for _, mode := range modes[1:] {
		s.set(mode)
		if mode == modeStops {
			s.set(modeRuns) // until it is stopped
			now = now.Add(2 * time.Hour)
		}
		now = now.Add(time.Minute)
		_, err := p.CheckStatus(t.Context(), d.Check)
		require.NoError(t, err)
	}
	stored, err := p.Store.Load(t.Context(), k)
	require.NoError(t, err)
	d.Record, err = json.Marshal(stored.Record)
	require.NoError(t, err)
	d.Now, d.Mode = now.Add(time.Minute), modes[len(modes)-1]
	if d.Mode == modeFaults || d.Mode == modeDenies {
		d.Mode = modeRuns
	}
	again, service := d.deploy(t)
	d.RunsAgain, d.Checks = d.answers(t.Context(), again)
	d.Starts = service.starts
	return d
}

// deploy makes functions of today that find the record.
func (d *deployedBefore) deploy(t *testing.T) (*handler.Handler, *anyService) {
	t.Helper()
	s := &anyService{mode: d.Mode}
	p := functionsOn(t, s, func() time.Time { return d.Now })
	var of struct {
		ExecutionARN string `json:"executionArn"`
		Poller       string `json:"poller"`
		Scope        string `json:"scope"`
	}
	require.NoError(t, json.Unmarshal(d.Record, &of))
	k := startrecord.Key{ExecutionARN: of.ExecutionARN, Poller: of.Poller, Scope: of.Scope}
	rec, err := startrecord.Decode(k, d.Record)
	require.NoError(t, err)
	_, err = p.Store.Create(t.Context(), k, rec)
	require.NoError(t, err)
	return p, s
}

func writeDeployed(t *testing.T, folder string) {
	t.Helper()
	write := func(name string, d *deployedBefore) {
		text, err := json.MarshalIndent(d, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(folder, 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".json"), append(text, '\n'), 0o600))
	}
	for job := range requests {
		service, _, _ := strings.Cut(job, ":")
		write(service+"-started", makeDeployed(t, job, "", "bare", modeRuns))
		write(service+"-succeeded", makeDeployed(t, job, "", "call", modeRuns, modeRuns, modeEnds))
		write(service+"-failed", makeDeployed(t, job, "", "bare", modeRuns, modeBreaks))
		write(service+"-timed-out", makeDeployed(t, job, `, "onTimeout": "leave"`, "bare", modeRuns, modeStops))
		write(service+"-unclear", makeDeployed(t, job, "", "bare", modeFaults))
		write(service+"-refused", makeDeployed(t, job, "", "call", modeDenies))
	}
	write("glue-stopped", makeDeployed(t, "glue:StartJobRun", `, "onTimeout": "stop"`, "bare", modeRuns, modeStops))
	write("glue-everything", makeDeployed(t, "glue:StartJobRun", `, "minDelay": 30, "maxDelay": 300, "initialDelay": 60, "onTimeout": "stop", "onRunning": "return", "endAs": "status", "dwellSeconds": 10,
		"waiter": {"minDelay": 10, "maxDelay": 40, "acceptors": [{"state": "success", "matcher": {"output": {"path": "JobRun.JobRunState", "expected": "SUCCEEDED", "comparator": "stringEquals"}}}]}`, "call", modeRuns))
	write("glue-raises", makeDeployed(t, "glue:StartJobRun", `, "onRunning": "error", "endAs": "error"`, "bare", modeRuns))
}
