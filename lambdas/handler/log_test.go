package handler_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

const secret = "hunter2"

// loggedWorld is a world whose log, at a level, is a buffer.
func loggedWorld(t *testing.T, level slog.Level) (*world, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	w := newWorld(t, "token", func(c *handler.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: level}))
	})
	return w, &log
}

// records parses the log and empties it.
func records(t *testing.T, log *bytes.Buffer) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(log.String()) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		require.NotEmpty(t, record["time"])
		delete(record, "time")
		all = append(all, record)
	}
	log.Reset()
	return all
}

func TestLog(t *testing.T) {
	t.Parallel()
	const request = `{"job": "test:Job", "maxWaitSeconds": 1800, "arguments": {"Password": "` + secret + `"}}`
	w, log := loggedWorld(t, slog.LevelInfo)
	record := func(level, handler string, more map[string]any) []map[string]any {
		r := map[string]any{"level": level, "msg": handler, "execution": arn, "poller": "Export", "scope": "4"}
		maps.Copy(r, more)
		return []map[string]any{r}
	}
	const id = `, "Poller": "Export", "Scope": 4`
	w.runJob(t, call(id+`, "Input": `+request))
	require.Equal(t, record("INFO", "run-job", map[string]any{"job": "test:Job", "id": "job-1", "status": "RUNNING", "elapsedSeconds": 0.0}), records(t, log))

	w.advance(30 * time.Second)
	w.service.says(map[string]any{"State": secret}, nil)
	w.checkStatus(t, call(id+`, "Input": {"attempt": 6}`))
	require.Equal(t, record("INFO", "check-status", map[string]any{"job": "test:Job", "id": "job-1", "status": "RUNNING", "attempt": 7.0, "elapsedSeconds": 30.0}), records(t, log))

	w.service.says(map[string]any{"State": "BROKEN", "Why": secret}, nil)
	w.checkStatus(t, call(id))
	ended := map[string]any{"job": "test:Job", "id": "job-1", "status": "FAILED", "elapsedSeconds": 30.0, "reason": `State == "BROKEN" (acceptor 2 of 3)`}
	require.Equal(t, record("WARN", "check-status", ended), records(t, log))
	w.checkStatus(t, call(id))
	delete(ended, "reason")
	ended["replayed"] = true
	require.Equal(t, record("WARN", "check-status", ended), records(t, log))
	w.runJob(t, call(id+`, "Input": `+request))
	require.Equal(t, record("WARN", "run-job", ended), records(t, log), "a replay of a start")

	_, err := w.RunJob(t.Context(), json.RawMessage(call(id+`, "Input": {"arguments": {"Password": "`+secret+`"}, "jobs": "`+secret+`"}`)))
	requireError(t, err, handler.ErrorInvalidRequest)
	require.Equal(t, record("WARN", "run-job", map[string]any{
		"error": "JobPoller.InvalidRequest", "reason": `/Input: a request needs the member "job"; /Input: a request needs the member "maxWaitSeconds"; /Input/jobs: a request has no such member (did you mean "job"?)`,
	}), records(t, log))

	// An event that is wrong has no key to tell.
	_, err = w.CheckStatus(t.Context(), json.RawMessage(`"`+secret+`"`))
	requireError(t, err, handler.ErrorInvalidRequest)
	require.Equal(t, []map[string]any{{
		"level": "WARN", "msg": "check-status", "execution": "", "poller": "", "scope": "", "error": "JobPoller.InvalidRequest", "reason": `the event: expected the context object ("Payload.$": "$$") or an object with a member "Context", found a string`,
	}}, records(t, log))
}

// A reason names what is wrong, and holds no value of a request and nothing that a
// service said.
func TestLoggedReasons(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		payload string
		fates   map[string]fate
		want    string
	}{
		"a number": {payload: bare(`{"job": "test:Job", "maxWaitSeconds": 4711.5}`), want: "/Execution/Input/maxWaitSeconds: expected a whole number from 1 to 31536000, found a number"},
		"too long a wait": {payload: bare(`{"job": "test:Job", "maxWaitSeconds": 31536000}`), want: "/Execution/Input/maxWaitSeconds: maxWaitSeconds (31536000) is too long: " +
			"the start record is kept for 1440h0m0s, and must outlive the wait by 14 days; raise the retention or wait less"},
		"a missing member": {
			payload: `{"Context": {"Execution": {"Id": "` + arn + `"}}}`, want: `/Context/Execution: Execution needs the member "StartTime"`,
		},
		"an unknown job":  {payload: bare(`{"job": "test:Jib", "maxWaitSeconds": 1800}`), want: `unknown job: "test:Jib" is not a job of this function; its jobs: test:Job (did you mean "test:Job"?)`},
		"a waiter":        {payload: bare(`{"job": "test:Job", "maxWaitSeconds": 1800, "waiter": {"acceptors": "hunter2"}}`), want: "waiter of the request: /acceptors: expected an array, found a string"},
		"refused":         {payload: bare(request), fates: map[string]fate{"Start": refused}, want: "test:Job was refused: AccessDeniedException; grant the function's role test:StartJob, unless the Cause names another permission"},
		"throttled":       {payload: bare(request), fates: map[string]fate{"Start": throttled}, want: "test:Job was throttled: ThrottlingException"},
		"store is silent": {payload: bare(request), fates: map[string]fate{"Create": lostBefore}, want: "start record store unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, log := loggedWorld(t, slog.LevelInfo)
			w.service.needs = []access.Permission{{Action: "test:StartJob", For: access.ForStart}}
			_, _, err := invoke(deciding(t.Context(), fates(tt.fates)), w.RunJob, tt.payload)
			require.Error(t, err)
			got := records(t, log)
			require.Len(t, got, 1)
			require.Equal(t, tt.want, got[0]["reason"])
		})
	}
	w, log := loggedWorld(t, slog.LevelInfo)
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorStoreUnavailable)
	require.Equal(t, "there is no start record "+w.store.Location(key)+": RunJob must run before CheckStatus, with the same Poller and Scope. If it did, the store has returned an old answer: retry", records(t, log)[0]["reason"])
}

// To be running is not a warning, although it is an error.
func TestLogRunningAsError(t *testing.T) {
	t.Parallel()
	w, log := loggedWorld(t, slog.LevelDebug)
	w.runJob(t, bare(`{"job": "test:Job", "maxWaitSeconds": 1800, "onRunning": "error"}`))
	log.Reset()
	w.service.says(map[string]any{"State": secret}, nil)
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorRunning)
	require.Equal(t, []map[string]any{{
		"level": "INFO", "msg": "check-status", "execution": arn, "poller": "default", "scope": "",
		"job": "test:Job", "id": "job-1", "status": "RUNNING", "elapsedSeconds": 0.0,
	}}, records(t, log))
}

// A failure can be understood by the log alone: which execution, job and id, and what the
// role lacks.
func TestLogOfADescribeCallThatIsRefused(t *testing.T) {
	t.Parallel()
	w, log := loggedWorld(t, slog.LevelInfo)
	w.service.needs = []access.Permission{{Action: "test:DescribeJob", For: access.ForDescribe}, {Action: "test:StartJob", For: access.ForStart}}
	w.runJob(t, bare(request))
	log.Reset()
	result, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Describe": refused})), w.CheckStatus, bare(request))
	require.NoError(t, err)
	require.EqualValues(t, "FAILED", result.Status)
	require.Equal(t, []map[string]any{{
		"level": "WARN", "msg": "check-status", "execution": arn, "poller": "default", "scope": "", "job": "test:Job", "id": "job-1",
		"status": "FAILED", "elapsedSeconds": 0.0, "reason": "AccessDeniedException; grant the function's role test:DescribeJob, unless the Cause names another permission",
	}}, records(t, log))
}

// notReadyError is an error of a driver that says nothing in words of ours.
type notReadyError struct{ text string }

func (e notReadyError) Error() string { return e.text }

// A plain error of a driver ends the wait, as everywhere; the log names its type, and a
// redrive asks again.
func TestLogOfADescribeCallThatFailsWithoutACode(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"the driver's error has no code (Go type *errors.errorString)":        fmt.Errorf("describe: %w", errors.New("hunter2")),
		"the driver's error has no code (Go type handler_test.notReadyError)": fmt.Errorf("describe: %w", notReadyError{"hunter2"}),
	} {
		w, log := loggedWorld(t, slog.LevelInfo)
		w.runJob(t, bare(request))
		log.Reset()
		w.service.says(nil, err)
		result, failure := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
		require.NoError(t, failure)
		require.EqualValues(t, "FAILED", result.Status)
		require.Equal(t, "unexpected error: describe: hunter2", result.Reason)
		require.Equal(t, want, records(t, log)[0]["reason"])
		require.Equal(t, startrecord.StatusStarted, w.record(t, key).Status)
		w.service.says(nil, goerror.Mark(awserror.Unclear, err))
		_, failure = w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
		requireError(t, failure, handler.ErrorServiceUnavailable)
	}
}

// A job that runs and that no record knows is in the log and in the metrics.
func TestLogOfAJobWithoutARecord(t *testing.T) {
	t.Parallel()
	w, log := loggedWorld(t, slog.LevelInfo)
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Replace": lostBefore})), w.RunJob, bare(request))
	requireError(t, err, handler.ErrorStoreUnavailable, "has started", "jobpoller records adopt "+arn)
	got := records(t, log)
	require.Equal(t, "ERROR", got[0]["level"])
	require.Equal(t, []any{"test:Job", "job-1", arn}, []any{got[0]["job"], got[0]["id"], got[0]["execution"]})
}

func TestLogOfARecordThatCannotBeGivenBack(t *testing.T) {
	t.Parallel()
	w, log := loggedWorld(t, slog.LevelInfo)
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": lostBefore, "Replace": lostBefore})), w.RunJob, bare(request))
	requireError(t, err, handler.ErrorServiceUnavailable)
	got := records(t, log)
	require.Len(t, got, 2)
	require.Equal(t, "the lease of the start record could not be released", got[0]["msg"])
	require.Equal(t, arn, got[0]["execution"])
	require.Equal(t, "start record store unavailable", got[0]["reason"])
	require.Equal(t, "JobPoller.ServiceUnavailable", got[1]["error"])
}

// What a service said, and with it what the request may have held, is told at
// the level debug alone.
func TestLogMessagesAtDebug(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: false} {
		w, log := loggedWorld(t, level)
		_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": refused})), w.RunJob, bare(request))
		requireError(t, err, handler.ErrorFailed)
		require.Equal(t, want, strings.Contains(log.String(), "not for you"))
	}
}
