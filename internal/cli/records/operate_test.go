package records

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// account is an S3 server that answers for other services too: as its answers say, by
// operation, and else with a fault.
type account struct {
	server *embeddeds3.Server
	url    string

	mu      sync.Mutex
	answers map[string]string // a status and a body, by operation
	calls   map[string]int
}

// nightly is an execution of a state machine that runs a Glue job.
const nightly = "arn:aws:states:eu-west-1:123456789012:execution:Nightly:run-1"

func newAccount(t *testing.T) *account {
	t.Helper()
	a := &account{answers: map[string]string{}, calls: map[string]int{}}
	a.server = newRecordServer(t, nil)
	front := httptest.NewServer(a.serve(a.server.Handler()))
	t.Cleanup(front.Close)
	a.url = front.URL
	return a
}

// newRecordServer is an S3 server with the bucket of the records.
func newRecordServer(t *testing.T, middleware func(http.Handler) http.Handler) *embeddeds3.Server {
	t.Helper()
	server, err := embeddeds3.Start(embeddeds3.Options{
		Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}, Middleware: middleware,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateBucket("records"))
	return server
}

// serve answers what is not for S3.
func (a *account) serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if r.URL.Query().Has("lifecycle") {
			operation = "GetBucketLifecycleConfiguration"
		}
		a.mu.Lock()
		status, body, known := strings.Cut(a.answers[operation], " ")
		a.calls[operation]++
		a.mu.Unlock()
		if operation == "" {
			next.ServeHTTP(w, r)
			return
		}
		code := http.StatusInternalServerError
		if known {
			_, _ = fmt.Sscan(status, &code)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})
}

func (a *account) answer(operation, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[operation] = answer
}

func (a *account) starts() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls["StartJobRun"]
}

// command runs the command on the account.
func (a *account) command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	args = append(args, "--bucket", "records", "--region", "eu-west-1", "--endpoint-url", a.url)
	code = runCommand(t.Context(), args, &out, &problems)
	return code, out.String(), problems.String()
}

// typing is a terminal at which somebody types.
type typing struct{ io.Reader }

func (typing) IsTerminal() bool { return true }

// typed runs a command about records at a terminal, and returns what it says.
func (a *account) typed(t *testing.T, text string, args ...string) (string, error) {
	t.Helper()
	var said bytes.Buffer
	c := New()
	c.SetArgs(append(args[1:], "--bucket", "records", "--region", "eu-west-1", "--endpoint-url", a.url))
	c.SetIn(typing{strings.NewReader(text)})
	c.SetOut(&said)
	c.SetErr(&said)
	err := c.ExecuteContext(t.Context())
	return said.String(), err
}

// functions are the Lambda functions of the account, with the driver of Glue.
func (a *account) functions(t *testing.T) *handler.Handler {
	t.Helper()
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(a.url), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}
	registry, err := jobs.Build(jobs.Environment{AWS: cfg, Getenv: func(string) string { return "" }}, awsjob.Catalogue)
	require.NoError(t, err)
	store, err := s3store.New(a.server.Client(), "records", "jobpoller")
	require.NoError(t, err)
	h, err := handler.New(handler.Config{Store: store, Jobs: registry})
	require.NoError(t, err)
	return h
}

// event is what the state machine sends, in a redrive or not.
func event(redrives int) json.RawMessage {
	context := map[string]any{"Id": nightly, "StartTime": "2026-11-20T09:30:14Z", "RedriveCount": redrives, "RedriveTime": "2026-11-20T11:00:00Z"}
	text, err := json.Marshal(map[string]any{
		"Context": map[string]any{"Execution": context},
		"Input":   map[string]any{"job": "glue:StartJobRun", "arguments": map[string]any{"JobName": "nightly"}, "maxWaitSeconds": 3600},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// unknownStart leaves a start whose outcome is not known.
func (a *account) unknownStart(t *testing.T) {
	t.Helper()
	a.answer("StartJobRun", `500 {"__type": "InternalServiceException", "message": "later"}`)
	_, err := a.functions(t).RunJob(t.Context(), event(0))
	require.ErrorContains(t, err, "Find out whether it runs")
	require.Equal(t, 1, a.starts())
}

// Who finds the job of an unknown start adopts it: the redrive goes on with it.
func TestAdopt(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.unknownStart(t)
	a.answer("GetJobRun", `200 {"JobRun": {"Id": "jr_1", "JobRunState": "RUNNING"}}`)

	code, stdout, stderr := a.command(t, "records", "list", "--status", "UNKNOWN")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Regexp(t, `^STATUS .*\nUNKNOWN    \S+  `+nightly+`  glue:StartJobRun\n$`, stdout)

	code, _, stderr = a.command(t, "records", "adopt", nightly, "jr_1", "--yes")
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, stderr, "GetJobRun needs JobName: ")

	code, _, stderr = a.command(t, "records", "adopt", nightly, "-", "--param", "JobName=nightly", "--yes")
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, stderr, "pass the ID instead of -")

	adopt := []string{"records", "adopt", nightly, "jr_1", "--param", "JobName=nightly"}
	for _, command := range [][]string{adopt, {"records", "abandon", nightly}} { // nobody is there to be asked
		code, _, stderr = a.command(t, command...)
		require.Equal(t, kit.ExitUsage, code)
		require.Contains(t, stderr, "jobpoller: jobpoller "+strings.Join(command[:2], " ")+" asks before it writes, and standard input is not a terminal: pass --yes")
	}
	for _, typed := range []string{"", "no\n", "yess\n"} {
		said, err := a.typed(t, typed, adopt...)
		require.EqualError(t, err, "nothing was written")
		require.Contains(t, said, "Adopt this job? Type yes: ")
	}

	code, stdout, stderr = a.command(t, append(adopt, "--yes")...)
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Contains(t, stderr, `now       retry: JobRun.JobRunState == "RUNNING"`)
	require.Equal(t, "The record has the job. Go on with the execution: aws stepfunctions redrive-execution --execution-arn "+nightly+"\n", stdout)

	result, err := a.functions(t).RunJob(t.Context(), event(1))
	require.NoError(t, err)
	require.Equal(t, pollcore.Running, result.Status)
	require.Equal(t, jobs.Ref{"JobName": "nightly", "RunId": "jr_1"}, result.Job)
	require.Equal(t, 1, a.starts())
	polled, err := a.functions(t).CheckStatus(t.Context(), event(1))
	require.NoError(t, err)
	require.Equal(t, pollcore.Running, polled.Status)

	code, _, stderr = a.command(t, append(adopt, "--yes")...)
	require.Equal(t, kit.ExitFailed, code)
	require.Contains(t, stderr, "has a job already")
}

func TestAdoptOfAJobThatIsNotThere(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.unknownStart(t)
	a.answer("GetJobRun", `400 {"__type": "EntityNotFoundException", "message": "no such run"}`)
	code, _, stderr := a.command(t, "records", "adopt", nightly, "jr_2", "--param", "JobName=nightly", "--yes")
	require.Equal(t, kit.ExitFailed, code)
	require.Contains(t, stderr, "EntityNotFoundException: no such run")
	require.Contains(t, stderr, "the service does not know this job: nothing was written")
	_, stdout, _ := a.command(t, "records", "show", nightly)
	require.Contains(t, stdout, `"status": "UNKNOWN"`)
}

// Who may read records on a screen must not end Tasks with what is there.
func TestRecordsHideTaskTokens(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.unknownStart(t)
	store := a.functions(t).Store
	key := startrecord.Key{ExecutionARN: nightly, Poller: handler.DefaultPoller}
	stored, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	stored.Record.Callback = startrecord.Callback{TaskToken: "AQCEAAAAKgAAAAM", Number: 3}
	_, err = store.Replace(t.Context(), key, stored.Record, stored.Version)
	require.NoError(t, err)
	for _, args := range [][]string{{"records", "show", nightly}, {"records", "list", "-o", "json"}} {
		code, stdout, stderr := a.command(t, args...)
		require.Equal(t, kit.ExitSucceeded, code, stderr)
		require.Contains(t, stdout, `"taskToken": "(hidden)"`)
		require.NotContains(t, stdout, "AQCE")
	}
}

// A start that is abandoned is made again by a redrive, and only then.
func TestAbandon(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.unknownStart(t)
	_, err := a.functions(t).RunJob(t.Context(), event(1))
	require.Error(t, err)
	require.Equal(t, 1, a.starts())

	said, err := a.typed(t, "yes\n", "records", "abandon", nightly)
	require.NoError(t, err)
	require.Contains(t, said, "Is it certain that the job does not run? Type yes: ")
	require.Contains(t, said, "To start the job again: aws stepfunctions redrive-execution")
	a.answer("StartJobRun", `200 {"JobRunId": "jr_2"}`)
	result, err := a.functions(t).RunJob(t.Context(), event(2))
	require.NoError(t, err)
	require.Equal(t, jobs.Ref{"JobName": "nightly", "RunId": "jr_2"}, result.Job)
	require.Equal(t, 2, a.starts())
}

// What is written is the record as it was: one that has changed meanwhile is left.
func TestMendOfAChangedRecord(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.unknownStart(t)
	key := startrecord.Key{ExecutionARN: nightly, Poller: handler.DefaultPoller}
	store, err := s3store.New(a.server.DirectClient(), "records", "jobpoller")
	require.NoError(t, err)
	var k keyFlags
	k.poller, k.store = handler.DefaultPoller, storeFlags{bucket: "records", aws: kit.AwsFlags{Region: "eu-west-1", Endpoint: a.url}}
	c := newAbandonCommand()
	c.SetContext(t.Context())
	var stderr bytes.Buffer
	c.SetErr(&stderr)
	c.SetOut(&stderr)
	opened, found, err := k.load(c, nightly)
	require.NoError(t, err)
	asked, change := io.Pipe()
	go func() { // while the command asks
		defer change.Close()
		stored, err := store.Load(context.Background(), key)
		if err == nil {
			_, err = store.Replace(context.Background(), key, stored.Record, stored.Version)
		}
		if err == nil {
			_, _ = io.WriteString(change, "yes\n")
		}
	}()
	c.SetIn(asked)
	err = (&mendOptions{key: k}).write(c, opened, found, found.stored.Record, "Sure?", "done")
	require.ErrorContains(t, err, "nothing was written: somebody has changed the record meanwhile. Look again: jobpoller records show "+
		nightly+" --bucket records --region eu-west-1 --endpoint-url "+a.url)
}

// A list has no more records than its limit, of those that it is asked for.
func TestRecordsList(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	store, err := s3store.New(a.server.DirectClient(), "records", "jobpoller")
	require.NoError(t, err)
	began := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	for i, status := range []startrecord.Status{startrecord.StatusStarted, startrecord.StatusStarted, startrecord.StatusUnknown, startrecord.StatusUnknown} {
		key := startrecord.Key{ExecutionARN: nightly, Poller: "Export", Scope: strconv.Itoa(i)}
		_, err := store.Create(t.Context(), key, startrecord.Record{
			Status: status, ExecutionStartTime: began, StartedAt: began,
			Request: json.RawMessage(`{"job": "glue:StartJobRun"}`), JobRef: json.RawMessage(`{"JobName":"nightly","RunId":"jr_1"}`),
		})
		require.NoError(t, err)
	}
	of := startrecord.Key{ExecutionARN: nightly, Poller: localloop.ClaimPoller, Scope: "execution"} // of a run on this machine
	_, err = store.Create(t.Context(), of, startrecord.Record{Status: startrecord.StatusStarted, ExecutionStartTime: began, StartedAt: began})
	require.NoError(t, err)
	code, stdout, stderr := a.command(t, "records", "list", "--status", "UNKNOWN", "--limit", "1")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Equal(t, "STATUS     STARTED               RECORD  JOB\nUNKNOWN    2026-11-20T09:30:14Z  "+nightly+
		` --poller Export --scope 2  glue:StartJobRun {"JobName":"nightly","RunId":"jr_1"}`+"\n", stdout)
	require.Equal(t, "There are more records: pass a higher --limit than 1\n", stderr)
	code, stdout, stderr = a.command(t, "records", "list", nightly)
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Equal(t, 4, strings.Count(stdout, nightly))
	require.Empty(t, stderr)
	code, _, _ = a.command(t, "records", "list", nightly+"-other")
	require.Equal(t, kit.ExitFailed, code)
	for _, command := range [][]string{{"show"}, {"abandon", "--yes"}} {
		code, _, stderr = a.command(t, append([]string{"records", command[0], nightly}, command[1:]...)...)
		require.Equal(t, kit.ExitFailed, code)
		require.Contains(t, stderr, "start record not found")
		require.Contains(t, stderr, "\nThe execution has other records, such as:\n  "+nightly+" --poller Export --scope 0\n  "+nightly+" --poller Export --scope 1\n")
	}
	a.answer("DescribeExecution", "400 {}")
	a.answer("GetJobRun", "400 {}")
	_, stdout, _ = a.command(t, "records", "status", nightly)
	require.Equal(t, 4, strings.Count(stdout, "poller  "))
}

func TestRecordsThatAreClear(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.answer("StartJobRun", `400 {"__type": "InvalidInputException", "message": "no"}`)
	_, err := a.functions(t).RunJob(t.Context(), event(0))
	require.ErrorContains(t, err, "was refused")
	code, _, stderr := a.command(t, "records", "abandon", nightly, "--yes")
	require.Equal(t, kit.ExitFailed, code)
	require.Contains(t, stderr, "has the status FAILED: only UNKNOWN records")

	code, _, stderr = a.command(t, "records", "list", "--status", "UNKNOWN")
	require.Equal(t, kit.ExitFailed, code)
	require.Contains(t, stderr, "found no such record in bucket records under jobpoller")
	code, _, stderr = a.command(t, "records", "show", nightly, "--poller", "other")
	require.Equal(t, kit.ExitFailed, code)
	require.Contains(t, stderr, "start record not found")
	code, _, stderr = a.command(t, "records", "show", "arn:aws:states:eu-west-1:123456789012:stateMachine:Nightly")
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, stderr, "is the ARN of a state machine: pass that of one of its executions")
	for _, command := range [][]string{{"records", "status"}, {"records", "list"}, {"records", "abandon", "--yes"}} {
		code, _, stderr = a.command(t, append(command, "run-1")...)
		require.Equal(t, kit.ExitUsage, code)
		require.Contains(t, stderr, "expected the ARN of an execution, such as arn:aws:states:us-east-1:123456789012:execution:MACHINE:NAME, found run-1")
	}
	for _, command := range [][]string{{"records", "status"}, {"records", "show"}, {"records", "adopt"}, {"records", "abandon"}, {"records", "list", nightly, nightly}} {
		code, _, stderr = a.command(t, command...)
		require.Equal(t, kit.ExitUsage, code)
		require.Regexp(t, "^jobpoller: expected (at most )?"+kit.ExecutionWanted+"(, and a job's ID)?, found [02] arguments\n$", stderr)
	}
	code, _, stderr = a.command(t, "records", "list", "--limit", "0")
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, stderr, "--limit must be at least 1")
}

func TestStatusOfAnExecution(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.answer("DescribeExecution", `400 {"__type": "ExecutionDoesNotExist", "message": "no"}`)
	code, stdout, stderr := a.command(t, "records", "status", nightly)
	require.Equal(t, kit.ExitFailed, code)
	require.Contains(t, stderr, "the execution has no start record in bucket records under jobpoller")
	require.Contains(t, stdout, nightly+"\n  execution  not known: ")

	a.unknownStart(t)
	a.answer("DescribeExecution", `200 {"status": "FAILED"}`)
	code, stdout, stderr = a.command(t, "records", "status", nightly)
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	flags := " --bucket records --region eu-west-1 --endpoint-url " + a.url
	require.Regexp(t, `^`+nightly+`
  execution  FAILED
  poller     default
  record     UNKNOWN, written (just now|\w+ ago), s3://records/jobpoller/`+nightly+`/default/_/record.json
  job        glue:StartJobRun 
  do         look for the job in the service\. It runs: jobpoller records adopt `+nightly+flags+` JOB_ID\. It does not: jobpoller records abandon `+nightly+flags+`
$`, stdout)

	code, _, stderr = a.command(t, "records", "abandon", nightly, "--yes")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	a.answer("StartJobRun", `200 {"JobRunId": "jr_2"}`)
	_, err := a.functions(t).RunJob(t.Context(), event(1))
	require.NoError(t, err)
	a.answer("GetJobRun", `400 {"__type": "AccessDeniedException", "message": "no"}`)
	redriven := time.Now().Add(30 * time.Second).Truncate(time.Second) // no second that the job can have started in
	a.answer("DescribeExecution", fmt.Sprintf(`200 {"status": "RUNNING", "redriveCount": 1, "redriveDate": %d}`, redriven.Unix()))
	code, stdout, stderr = a.command(t, "records", "status", nightly)
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Contains(t, stdout, "\n  execution  RUNNING\n")
	require.Contains(t, stdout, `  job        glue:StartJobRun {"JobName":"nightly","RunId":"jr_2"}`)
	require.Contains(t, stdout, "  now        not known: access denied: grant glue:GetJobRun (AccessDeniedException: no)\n")
	require.Regexp(t, `\n  deadline   `+redriven.Add(time.Hour).UTC().Format(time.RFC3339)+`\n  next poll  within [0-9]+s\n$`, stdout)

	code, stdout, stderr = a.command(t, "records", "status", nightly, "-o", "json")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.True(t, json.Valid([]byte(stdout)))
	require.Contains(t, stdout, `"nextPollSeconds": `)
}

// Calls about an execution and its job are signed for the region of its ARN, those of the
// store for the configured one.
func TestStatusAsksInTheRegionOfTheExecution(t *testing.T) {
	a := newAccount(t)
	a.unknownStart(t)
	a.answer("StartJobRun", `200 {"JobRunId": "jr_2"}`)
	code, _, stderr := a.command(t, "records", "abandon", nightly, "--yes")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	_, err := a.functions(t).RunJob(t.Context(), event(1))
	require.NoError(t, err)
	a.answer("DescribeExecution", `200 {"status": "RUNNING"}`)
	a.answer("GetJobRun", `200 {"JobRun": {"Id": "jr_2", "JobRunState": "RUNNING"}}`)
	t.Setenv("AWS_REGION", "us-east-1")
	for flag, want := range map[string]string{"": "eu-west-1", "ap-south-1": "ap-south-1"} {
		regions := map[string]string{}
		client := clitest.Client(func(r *http.Request, _ int) (*http.Response, error) {
			_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
			parts := strings.Split(scope, "/")
			regions[parts[3]] = parts[2]
			return http.DefaultTransport.RoundTrip(r)
		}).Client()
		args := []string{"records", "status", nightly, "--bucket", "records", "--endpoint-url", a.url, "--region", flag}
		var out, problems bytes.Buffer
		require.Equal(t, kit.ExitSucceeded, runCommand(awssettings.WithClient(t.Context(), client), args, &out, &problems), "%s", &problems)
		require.Equal(t, map[string]string{"s3": cmp.Or(flag, "us-east-1"), "states": want, "glue": want}, regions)
	}
}

// The next poll comes at the latest when the schedule lets it.
func TestNextPoll(t *testing.T) {
	t.Parallel()
	q := handler.Request{MaxWaitSeconds: 3600, InitialDelay: 10, Waiter: &pollcore.Waiter{MinDelay: 15, MaxDelay: 120}}
	for elapsed, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 10 * time.Second: 15 * time.Second, 30 * time.Minute: time.Minute, 3590 * time.Second: 10 * time.Second, 2 * time.Hour: 0,
	} {
		require.Equal(t, want, nextPoll(q, startrecord.Key{}, elapsed), "after %s", elapsed)
	}
	q.MaxDelay = 30
	require.Equal(t, 30*time.Second, nextPoll(q, startrecord.Key{}, 30*time.Minute))
	// A jitter is that of the record.
	q.Planned = &pollcore.Planned{Delays: []time.Duration{time.Minute}, Then: time.Second, Jitter: time.Hour - time.Minute}
	nightly, weekly := startrecord.Key{ExecutionARN: "nightly"}, startrecord.Key{ExecutionARN: "weekly"}
	require.Equal(t, q.Schedule(nightly).First(), nextPoll(q, nightly, 0))
	require.NotEqual(t, nextPoll(q, nightly, 0), nextPoll(q, weekly, 0))
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	const rules = `200 <LifecycleConfiguration><Rule><Status>%s</Status><Filter><Prefix>%s</Prefix></Filter><Expiration><Days>%d</Days></Expiration></Rule></LifecycleConfiguration>`
	tests := []struct {
		name, lifecycle string
		want            []string
		code            int
	}{
		{
			"all is well", fmt.Sprintf(rules, "Enabled", "jobpoller/", 60),
			[]string{"ok       store ", "ok       conditions ", "ok       lifecycle   a lifecycle rule removes records after 60 days", "ok       clock "},
			kit.ExitSucceeded,
		},
		{
			"no rule", `404 <Error><Code>NoSuchLifecycleConfiguration</Code></Error>`,
			[]string{
				"WARNING  lifecycle   no lifecycle rule removes all old records", "do: add a lifecycle rule for the prefix jobpoller/ that expires objects after 60 days",
			},
			kit.ExitSucceeded,
		},
		{
			"a rule of another prefix, and one that is off", strings.ReplaceAll(fmt.Sprintf(rules, "Enabled", "logs/", 60), "</LifecycleConfiguration>",
				"<Rule><Status>Disabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>60</Days></Expiration></Rule></LifecycleConfiguration>"),
			[]string{"WARNING  lifecycle   no lifecycle rule"},
			kit.ExitSucceeded,
		},
		{
			"a rule of no days", fmt.Sprintf(rules, "Enabled", "", 0),
			[]string{"DANGER   lifecycle   a lifecycle rule removes records after 0 days"},
			kit.ExitFailed,
		},
		{
			"a rule that is too soon", fmt.Sprintf(rules, "Enabled", "", 7),
			[]string{"DANGER   lifecycle   a lifecycle rule removes records after 7 days, and the functions count on 60", "a job can start twice"},
			kit.ExitFailed,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			a.answer("GetBucketLifecycleConfiguration", tt.lifecycle)
			code, stdout, stderr := a.command(t, "records", "doctor")
			require.Equal(t, tt.code, code, "%s%s", stdout, stderr)
			for _, text := range tt.want {
				require.Contains(t, stdout, text)
			}
			require.NotContains(t, stdout, "quota", "an emulator has none")
			_, listed, _ := a.command(t, "records", "list") // without what doctor wrote
			require.Empty(t, listed)
		})
	}
}

// The quota of Lambda, at AWS and at an endpoint of AWS.
func TestDoctorOfTheQuota(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]healthFinding{
		`200 {"AccountLimit": {"UnreservedConcurrentExecutions": 900}}`: {Severity: "ok", Message: "Lambda runs 900 functions at once"},
		`200 {"AccountLimit": {"UnreservedConcurrentExecutions": 10}}`:  {Severity: "WARNING", Message: "Lambda runs at most 10 functions"},
		`200 {}`: {Severity: "NOTE", Message: "not checked: Lambda did not say"},
		`403 {"__type": "AccessDeniedException", "message": "no"}`: {Severity: "NOTE", Message: "not checked: ", Do: "grant yourself lambda:GetAccountSettings"},
	} {
		for endpoint, shown := range map[string]bool{
			"": true, "https://vpce-1.lambda.eu-west-1.vpce.amazonaws.com": true, "https://lambda.eu-west-1.api.aws": true,
			"http://localhost:4566": false, "https://amazonaws.com.example": false,
		} {
			status, body, _ := strings.Cut(answer, " ")
			code, err := strconv.Atoi(status)
			require.NoError(t, err)
			cfg := aws.Config{
				Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
				HTTPClient: clitest.Client(func(*http.Request, int) (*http.Response, error) { return clitest.RespondJSON(code, body) }).Client(),
			}
			if endpoint != "" {
				cfg.BaseEndpoint = &endpoint
			}
			d := &doctor{store: &recordStore{aws: cfg}}
			d.checkQuota(t.Context())
			if !shown {
				require.Empty(t, d.found, endpoint)
				continue
			}
			require.Len(t, d.found, 1)
			require.Equal(t, want.Severity, d.found[0].Severity, endpoint)
			require.Contains(t, d.found[0].Message, want.Message)
			require.Contains(t, d.found[0].Do, want.Do)
		}
	}
}

// Which records a lifecycle rule removes, and when.
func TestDoctorReadsLifecycleRules(t *testing.T) {
	t.Parallel()
	const keeps = "WARNING  lifecycle   no lifecycle rule removes all old records"
	expiration := func(days int) string { return fmt.Sprintf("<Expiration><Days>%d</Days></Expiration>", days) }
	for name, c := range map[string]struct{ rules, want string }{
		"a prefix that all records have, too soon": {
			"<Filter><Prefix>jobpoller/arn</Prefix></Filter>" + expiration(2), "DANGER   lifecycle   a lifecycle rule removes records after 2 days",
		},
		"a prefix of some records, too soon": {
			"<Filter><Prefix>jobpoller/arn:aws:states:eu-west-1</Prefix></Filter>" + expiration(2), "DANGER   lifecycle   a lifecycle rule removes records after 2 days",
		},
		"a prefix of some records": {"<Filter><Prefix>jobpoller/arn:aws:states:eu-west-1</Prefix></Filter>" + expiration(90), keeps},
		"a prefix of no records":   {"<Filter><Prefix>jobpoller/logs</Prefix></Filter>" + expiration(2), keeps},
		"the prefix of rules of before": {
			"<Prefix>jobpoller/</Prefix>" + expiration(90), "ok       lifecycle   a lifecycle rule removes records after 90 days",
		},
		"a date": {
			"<Filter><Prefix></Prefix></Filter><Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration>",
			"DANGER   lifecycle   a lifecycle rule removes records of any age from 2020-01-01 on",
		},
		"large objects":           {"<Filter><ObjectSizeGreaterThan>104857600</ObjectSizeGreaterThan></Filter>" + expiration(90), keeps},
		"large objects, too soon": {"<Filter><ObjectSizeGreaterThan>104857600</ObjectSizeGreaterThan></Filter>" + expiration(2), keeps},
		"objects that are not tiny": {
			"<Filter><And><Prefix></Prefix><ObjectSizeGreaterThan>0</ObjectSizeGreaterThan><ObjectSizeLessThan>104857600</ObjectSizeLessThan></And></Filter>" + expiration(90),
			"ok       lifecycle   a lifecycle rule removes records after 90 days",
		},
		"some sizes":           {"<Filter><ObjectSizeLessThan>2000</ObjectSizeLessThan></Filter>" + expiration(90), keeps},
		"some sizes, too soon": {"<Filter><ObjectSizeLessThan>2000</ObjectSizeLessThan></Filter>" + expiration(2), "DANGER   lifecycle   a lifecycle rule removes records after 2 days"},
		"tags":                 {"<Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter>" + expiration(2), keeps},
		"versions alone": {
			"<Filter><Prefix></Prefix></Filter><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>", keeps,
		},
		"no configuration": {"", "NOTE     lifecycle   not checked: the answer is not a lifecycle configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			answer := "200 busy"
			if c.rules != "" {
				answer = "200 <LifecycleConfiguration><Rule><Status>Enabled</Status>" + c.rules + "</Rule></LifecycleConfiguration>"
			}
			a.answer("GetBucketLifecycleConfiguration", answer)
			_, stdout, _ := a.command(t, "records", "doctor")
			require.Contains(t, stdout, c.want)
			require.Equal(t, 1, strings.Count(stdout, "lifecycle  "))
		})
	}
}

// The findings about a table say how to make one.
func TestDoctorOfABadTable(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"ResourceNotFoundException": `ERROR    store       table "Orders" does not exist in this region; create it, with the partition key "key" (a string), or configure another: ResourceNotFoundException: no
                     do: aws dynamodb create-table --table-name Orders --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=key,AttributeType=S ` +
			"--key-schema AttributeName=key,KeyType=HASH --region eu-west-1\n",
		"ValidationException":   "do: aws dynamodb create-table --table-name NEW_TABLE --billing-mode",
		"AccessDeniedException": "do: grant your identity and the roles of the functions dynamodb:GetItem\n",
	} {
		var out, problems bytes.Buffer
		client := clitest.Client(func(*http.Request, int) (*http.Response, error) {
			return clitest.RespondJSON(http.StatusBadRequest, `{"__type": "`+code+`", "message": "no"}`)
		}).Client()
		args := []string{"records", "doctor", "--table", "Orders", "--region", "eu-west-1"}
		require.Equal(t, kit.ExitFailed, runCommand(awssettings.WithClient(t.Context(), client), args, &out, &problems), "%s", &problems)
		require.Contains(t, out.String(), want)
		require.NotContains(t, out.String(), "operation error")
	}
}

// A store that ignores conditions, and one that is not there.
func TestDoctorOfABadStore(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.server = newRecordServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-None-Match")
			w.Header().Set("Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat))
			next.ServeHTTP(w, r)
		})
	})
	a.url = a.server.URL()
	code, stdout, _ := a.command(t, "records", "doctor", "-o", "json")
	require.Equal(t, kit.ExitFailed, code, stdout)
	require.Contains(t, stdout, `"severity": "DANGER",
    "message": "start record store misconfigured`)
	require.Contains(t, stdout, "ignores the condition of a write (If-None-Match)")
	require.Contains(t, stdout, "this machine's clock is off by 10m")

	code, stdout, _ = a.command(t, "records", "doctor", "--prefix", "other", "--table", "")
	require.Equal(t, kit.ExitFailed, code, stdout)
	var out, problems bytes.Buffer
	args := []string{"records", "doctor", "--bucket", "missing", "--region", "eu-west-1", "--endpoint-url", a.url}
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), args, &out, &problems), "%s", &problems)
	require.Contains(t, out.String(), "ERROR    store       bucket \"missing\" does not exist; create it, or configure another: NoSuchBucket: ")
	require.Contains(t, out.String(), "do: aws s3 mb s3://missing --region eu-west-1 --endpoint-url "+a.url+"\n")
	require.NotContains(t, out.String(), "operation error")
	require.NotContains(t, out.String(), "conditions")
}

func TestStoreFlags(t *testing.T) {
	for _, name := range []string{handler.EnvBucket, handler.EnvTable, handler.EnvPrefix} {
		t.Setenv(name, "")
	}
	require.ErrorContains(t, (&storeFlags{}).validate(), "Pass --bucket or --table, or set JOBPOLLER_BUCKET or JOBPOLLER_TABLE")
	require.ErrorContains(t, (&storeFlags{bucket: "b", table: "t"}).validate(), "exclude each other")
	t.Setenv(handler.EnvBucket, "of-drivers")
	t.Setenv(handler.EnvTable, "records")
	t.Setenv(handler.EnvPrefix, "p")
	f := storeFlags{}
	require.NoError(t, f.validate())
	require.Equal(t, storeFlags{table: "records", prefix: "p"}, f)
	_, err := (&storeFlags{bucket: "b", prefix: "p"}).storeOf(aws.Config{Region: "eu-west-1"})
	require.ErrorContains(t, err, "--bucket or JOBPOLLER_BUCKET: ")
	_, err = (&storeFlags{bucket: "records", prefix: "../p"}).storeOf(aws.Config{Region: "eu-west-1"})
	require.ErrorContains(t, err, "--prefix or JOBPOLLER_PREFIX: ")
}
