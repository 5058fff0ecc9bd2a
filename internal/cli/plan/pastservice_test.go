package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

const (
	nightlyARN = "arn:aws:states:eu-west-1:123456789012:stateMachine:nightly"
	runPrefix  = "arn:aws:states:eu-west-1:123456789012:execution:nightly:run-"
)

// pastService stands for Step Functions at AWS: a machine whose executions each waited
// for a query. It answers without a network, so that time can be virtual.
type pastService struct {
	t        *testing.T
	runs     int           // run-1 is the oldest, and each started an hour after the one before
	running  int           // the newest, which still run
	pageSize int           // of lists and histories
	took     time.Duration // of run-1's job; the others take a second more each
	// answer answers instead, unless it returns an empty text.
	answer func(operation string, request map[string]any) (status int, body string)

	at      map[string][]time.Duration // the calls of an operation
	read    []string                   // the names of executions whose histories were asked for
	started time.Time
}

func newPastService(t *testing.T, runs int) *pastService {
	t.Helper()
	_, err := models.Load("stepfunctions") // read once, outside of virtual time
	require.NoError(t, err)
	return &pastService{t: t, runs: runs, pageSize: 1000, took: 10 * time.Minute, at: map[string][]time.Duration{}}
}

// Do implements the HTTP client of a configuration.
func (s *pastService) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	text, err := io.ReadAll(r.Body)
	require.NoError(s.t, err)
	var request map[string]any
	require.NoError(s.t, json.Unmarshal(text, &request))
	s.at[operation] = append(s.at[operation], time.Since(s.started))
	arn, _ := request["executionArn"].(string)
	if name, ok := strings.CutPrefix(arn, runPrefix); ok && request["nextToken"] == nil {
		s.read = append(s.read, name)
	}
	status, body := http.StatusOK, ""
	if s.answer != nil {
		status, body = s.answer(operation, request)
	}
	if body == "" {
		status, body = http.StatusOK, s.usual(operation, request)
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func (s *pastService) usual(operation string, request map[string]any) string {
	member, all := "executions", []any(nil)
	switch operation {
	case "DescribeStateMachine":
		text, err := os.ReadFile("../../../docs/example/athena/loop.asl.json")
		require.NoError(s.t, err)
		return encode(s.t, map[string]any{"definition": string(text), "type": "STANDARD"})
	case "ListExecutions":
		for n := s.runs; n > 0; n-- {
			status := "SUCCEEDED"
			if n > s.runs-s.running {
				status = "RUNNING"
				if n == s.runs {
					status = "PENDING_REDRIVE"
				}
			}
			all = append(all, map[string]any{"executionArn": runPrefix + strconv.Itoa(n), "status": status, "startDate": s.startOf(n).Unix()})
		}
	case "GetExecutionHistory":
		_, number, _ := strings.Cut(request["executionArn"].(string), "run-")
		n, err := strconv.Atoi(number)
		require.NoError(s.t, err)
		member, all = "events", s.events(n)
	}
	first := 0
	if token, ok := request["nextToken"].(string); ok {
		var err error
		first, err = strconv.Atoi(token)
		require.NoError(s.t, err)
	}
	end := min(len(all), first+s.pageSize)
	answer := map[string]any{member: all[first:end]}
	if end < len(all) {
		answer["nextToken"] = strconv.Itoa(end)
	}
	return encode(s.t, answer)
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func (s *pastService) startOf(n int) time.Time {
	return time.Date(2026, time.November, 1, n, 0, 0, 0, time.UTC)
}

func (s *pastService) tookOf(n int) time.Duration { return s.took + time.Duration(n-1)*time.Second }

// events are the history of a run, the newest first. Its end was seen 7 seconds late.
func (s *pastService) events(n int) []any {
	start, took := s.startOf(n), s.tookOf(n)
	query := func(state string) string {
		status := map[string]any{"State": state, "SubmissionDateTime": start}
		if state != "RUNNING" {
			status["CompletionDateTime"] = start.Add(took)
		}
		return encode(s.t, map[string]any{"QueryExecution": map[string]any{"QueryExecutionId": "q", "Status": status}})
	}
	call := func(action, parameters string) map[string]any {
		return map[string]any{"resourceType": "aws-sdk:athena", "resource": action, "parameters": parameters, "region": "eu-west-1"}
	}
	of := func(details map[string]any, output string) map[string]any {
		return map[string]any{"resourceType": details["resourceType"], "resource": details["resource"], "output": output}
	}
	begin, get := call("startQueryExecution", `{"QueryString":"SECRET"}`), call("getQueryExecution", `{"QueryExecutionId":"q"}`)
	seen := took + 7*time.Second
	all := []any{}
	for i, e := range []struct {
		after         time.Duration
		kind, details string
		value         map[string]any
	}{
		{0, "ExecutionStarted", "executionStarted", map[string]any{"input": `{"sql":"SECRET"}`}},
		{0, "TaskStateEntered", "stateEntered", map[string]any{"name": "RunQuery"}},
		{0, "TaskScheduled", "taskScheduled", begin},
		{0, "TaskSucceeded", "taskSucceeded", of(begin, `{"QueryExecutionId":"q"}`)},
		{0, "TaskStateExited", "stateExited", map[string]any{"name": "RunQuery"}},
		{5 * time.Second, "TaskStateEntered", "stateEntered", map[string]any{"name": "GetStatus"}},
		{5 * time.Second, "TaskScheduled", "taskScheduled", get},
		{5 * time.Second, "TaskSucceeded", "taskSucceeded", of(get, query("RUNNING"))},
		{5 * time.Second, "TaskStateExited", "stateExited", map[string]any{"name": "GetStatus"}},
		{seen, "TaskStateEntered", "stateEntered", map[string]any{"name": "GetStatus"}},
		{seen, "TaskScheduled", "taskScheduled", get},
		{seen, "TaskSucceeded", "taskSucceeded", of(get, query("SUCCEEDED"))},
		{seen, "TaskStateExited", "stateExited", map[string]any{"name": "GetStatus"}},
		{seen, "ExecutionSucceeded", "executionSucceeded", map[string]any{"output": "{}"}},
	} {
		all = append(all, map[string]any{
			"id": i + 1, "previousEventId": i, "type": e.kind, "timestamp": start.Add(e.after).Unix(), e.details + "EventDetails": e.value,
		})
	}
	slices.Reverse(all)
	return all
}

// run runs plan, and returns its exit code and output.
func (s *pastService) run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	s.at, s.read, s.started = map[string][]time.Duration{}, nil, time.Now()
	var out, errs bytes.Buffer
	code = runCommand(awssettings.WithClient(ctx, s), append([]string{"plan"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// planOf runs plan and reads its JSON.
func (s *pastService) planOf(args ...string) *planReport {
	s.t.Helper()
	code, out, errs := s.run(s.t.Context(), append(args, "-o", "json")...)
	require.Zero(s.t, code, errs)
	require.Empty(s.t, errs, "a pipe gets the result alone")
	p := &planReport{}
	require.NoError(s.t, json.Unmarshal([]byte(out), p))
	return p
}
