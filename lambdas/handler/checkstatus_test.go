package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// startedWorld is a world whose job runs since the clock's time.
func startedWorld(t require.TestingT, request string, change ...func(*handler.Config)) *world {
	w := newWorld(t, "token", change...)
	w.runJob(t, bare(request))
	w.store.take()
	return w
}

func TestCheckStatusWhileRunning(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.advance(12300 * time.Millisecond)
	w.service.says(map[string]any{"State": "RUNNING", "Progress": json.Number("0.25")}, nil)
	require.JSONEq(t, `{
		"status": "RUNNING", "waitSeconds": 13, "attempt": 2,
		"startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 12, "job": {"Id": "job-1"},
		"output": {"State": "RUNNING", "Progress": 0.25},
		"reason": "no acceptor matched: State = \"RUNNING\""
	}`, jsonOf(t, w.checkStatus(t, call(`, "Input": {"attempt": 1}`))))
	require.Equal(t, "Load", w.store.take(), "one read and no write while the job runs")
	require.Equal(t, 1, w.service.describes)

	w.service.says(nil, &smithy.GenericAPIError{Code: "NotYet", Message: "wait for it"})
	require.JSONEq(t, `{
		"status": "RUNNING", "waitSeconds": 15, "attempt": 3,
		"startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 12, "job": {"Id": "job-1"},
		"reason": "error NotYet (acceptor 3 of 3)"
	}`, jsonOf(t, w.checkStatus(t, call(`, "Input": {"attempt": 2}`))))
	require.Equal(t, "Load", w.store.take())
}

func TestCheckStatusWhenDone(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.advance(95 * time.Second)
	w.service.says(map[string]any{"State": "DONE", "Rows": json.Number("9007199254740993"), "Ratio": json.Number("1.10")}, nil)
	want := `{
		"status": "SUCCEEDED", "waitSeconds": 0, "attempt": 4,
		"startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 95, "job": {"Id": "job-1"},
		"output": {"State": "DONE", "Rows": 9007199254740993, "Ratio": 1.10},
		"reason": "State == \"DONE\" (acceptor 1 of 3)"
	}`
	first := jsonOf(t, w.checkStatus(t, call(`, "Input": {"attempt": 3}`)))
	require.JSONEq(t, want, first)
	require.Equal(t, "Load Replace", w.store.take())
	require.Equal(t, startrecord.StatusSucceeded, w.record(t, key).Status)

	// Later checks repeat the end, to the last digit, and ask nobody.
	w.service.says(nil, errors.New("the service forgets jobs after a while"))
	w.advance(23 * time.Hour)
	again := jsonOf(t, w.checkStatus(t, call(`, "Input": {"attempt": 3}`)))
	require.Equal(t, first, again)
	require.Contains(t, again, "9007199254740993")
	require.Contains(t, again, "1.10")
	require.Equal(t, "Load", w.store.take())
	require.Equal(t, 1, w.service.describes)
}

func TestCheckStatusWhenFailed(t *testing.T) {
	t.Parallel()
	refusal := &smithy.GenericAPIError{Code: "ResourceNotFoundException", Message: "no such job", Fault: smithy.FaultClient}
	tests := []struct {
		name   string
		output any
		err    error
		reason string
		kept   bool // a refused describe call says nothing of the job
	}{
		{"by its status", map[string]any{"State": "BROKEN", "Why": "disk full"}, nil, `State == "BROKEN" (acceptor 2 of 3): disk full`, true},
		{"by an error that no acceptor names", nil, refusal, "unexpected error: api error ResourceNotFoundException: no such job", false},
		{"by an error that is not the service's", nil, errors.New("status object is garbage"), "unexpected error: status object is garbage", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, request)
			w.service.says(tt.output, tt.err)
			result := w.checkStatus(t, bare(request))
			require.EqualValues(t, "FAILED", result.Status)
			require.Equal(t, tt.reason, result.Reason)
			require.Equal(t, tt.output, result.Output)
			require.Zero(t, result.WaitSeconds)
			again := w.checkStatus(t, bare(request))
			require.JSONEq(t, jsonOf(t, result), jsonOf(t, again))
			if tt.kept {
				require.Equal(t, startrecord.StatusFailed, w.record(t, key).Status)
				require.Equal(t, 1, w.service.describes)
				return
			}
			require.Equal(t, startrecord.StatusStarted, w.record(t, key).Status)
			w.service.says(map[string]any{"State": "DONE"}, nil)
			require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, bare(request)).Status)
		})
	}
}

// An error that passes says nothing about the job: nothing is kept, and the
// state machine's Retry asks again.
func TestCheckStatusTransientErrors(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"lost": errLost, "throttled": errThrottled, "timeout": context.DeadlineExceeded, "canceled": context.Canceled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, request)
			w.advance(time.Hour) // also when the deadline has passed
			w.service.says(nil, err)
			_, got := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
			requireError(t, got, handler.ErrorServiceUnavailable, "describe test:Job: ", err.Error())
			require.Equal(t, "Load", w.store.take())
			w.service.says(map[string]any{"State": "DONE"}, nil)
			require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, bare(request)).Status)
		})
	}
}

// Where the waiter names such an error, the waiter counts.
func TestCheckStatusTransientErrorOfAnAcceptor(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, customWaiter)
	w.service.says(nil, errThrottled)
	result := w.checkStatus(t, bare(request))
	require.EqualValues(t, "FAILED", result.Status)
	require.Equal(t, "any error (acceptor 2 of 2): api error ThrottlingException: slow down", result.Reason)
}

func TestCheckStatusDeadline(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.advance(30*time.Minute - 1500*time.Millisecond)
	result := w.checkStatus(t, bare(request))
	require.EqualValues(t, "RUNNING", result.Status)
	require.Equal(t, 2, result.WaitSeconds, "the last check is at the deadline")
	w.advance(1500 * time.Millisecond)
	require.JSONEq(t, `{
		"status": "TIMED_OUT", "waitSeconds": 0,
		"startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 1800, "job": {"Id": "job-1"},
		"output": {"State": "RUNNING"},
		"reason": "not finished after 30m0s (max wait 30m0s): State = \"RUNNING\""
	}`, jsonOf(t, w.checkStatus(t, bare(request))))
	require.Equal(t, startrecord.StatusTimedOut, w.record(t, key).Status)
	w.service.says(map[string]any{"State": "DONE"}, nil)
	require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(request)).Status, "what was said once is not taken back")
}

func TestCheckStatusDeadlineOnAnExpectedError(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.advance(31 * time.Minute)
	w.service.says(nil, &smithy.GenericAPIError{Code: "NotYet"})
	result := w.checkStatus(t, bare(request))
	require.EqualValues(t, "TIMED_OUT", result.Status)
	require.Equal(t, "not finished after 31m0s (max wait 30m0s): error NotYet (acceptor 3 of 3)", result.Reason)
}

// A job that has finished is never reported as timed out.
func TestCheckStatusFinishedBeatsLate(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{"DONE": "SUCCEEDED", "BROKEN": "FAILED"} {
		w := startedWorld(t, request)
		w.service.says(map[string]any{"State": state}, nil)
		w.advance(3 * time.Hour)
		result := w.checkStatus(t, bare(request))
		require.EqualValues(t, want, result.Status)
		require.Equal(t, 3*3600, result.ElapsedSeconds)
	}
}

// A takeover moves neither the start nor, with it, the deadline.
func TestCheckStatusCountsFromTheFirstStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, died, _ := invoke(deciding(t.Context(), fates(map[string]fate{"Start": diesBefore})), w.RunJob, bare(request))
	require.True(t, died)
	w.advance(over)
	started := w.runJob(t, bare(request))
	require.Equal(t, int(over.Seconds()), started.ElapsedSeconds)
	w.advance(30*time.Minute - over)
	result := w.checkStatus(t, bare(request))
	require.EqualValues(t, "TIMED_OUT", result.Status)
	require.Equal(t, started.StartedAt, result.StartedAt)
	require.Equal(t, 1800, result.ElapsedSeconds)
}

// There are three ways to count checks, and in the bare form nobody does: the
// wait then comes from the elapsed time.
func TestCheckStatusAttempts(t *testing.T) {
	t.Parallel()
	const retrying = `{"job": "test:Job", "maxWaitSeconds": 1800, "onRunning": "error"}`
	tests := []struct {
		name, request, payload string
		elapsed                time.Duration
		attempt, wait          int // attempt 0: absent
	}{
		{"bare, at once", request, bare(request), 0, 0, 10},
		{"bare, later", request, bare(request), 35 * time.Second, 0, 17},
		{"bare, much later", request, bare(request), 10 * time.Minute, 0, 60},
		{"without an input", request, call(""), 10 * time.Second, 0, 13},
		{"after RunJob", request, call(`, "Input": {"status": "RUNNING", "waitSeconds": 0}`), time.Minute, 1, 10},
		{"after the first check", request, call(`, "Input": {"attempt": 1}`), time.Minute, 2, 13},
		{"after many checks", request, call(`, "Input": {"attempt": 2147483647}`), time.Minute, 2147483648, 60},
		{"where a Retry block is the loop", retrying, call(`, "Input": {"attempt": 9}`), time.Minute, 3, 15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, tt.request)
			w.advance(tt.elapsed)
			if tt.request == retrying {
				_, err := w.CheckStatus(t.Context(), json.RawMessage(tt.payload))
				requireError(t, err, handler.ErrorRunning, fmt.Sprintf(`State = "RUNNING"; next poll in %d s`, tt.wait))
				w.service.says(map[string]any{"State": "DONE"}, nil)
				require.Equal(t, tt.attempt, w.checkStatus(t, tt.payload).Attempt)
				return
			}
			result := w.checkStatus(t, tt.payload)
			require.Equal(t, tt.attempt, result.Attempt)
			require.Equal(t, tt.wait, result.WaitSeconds)
			require.Equal(t, tt.attempt > 0, strings.Contains(jsonOf(t, result), `"attempt"`))
		})
	}
}

// Without a Random of the caller's, waits are spread over whole seconds.
func TestCheckStatusJitter(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request, func(c *handler.Config) { c.Random = nil })
	seen := map[int]bool{}
	for range 200 {
		seen[w.checkStatus(t, call(`, "Input": {"attempt": 4}`)).WaitSeconds] = true
	}
	require.Equal(t, map[int]bool{16: true, 17: true, 18: true, 19: true}, seen, "17.5 s, by 10 % to either side")
}

func TestCheckStatusAsErrors(t *testing.T) {
	t.Parallel()
	const asErrors = `{"job": "test:Job", "maxWaitSeconds": 60, "onRunning": "error", "endAs": "error"}`
	tests := []struct {
		state string
		after time.Duration
		want  string
		parts []string
	}{
		{"RUNNING", 0, handler.ErrorRunning, []string{`State = "RUNNING"; next poll in 15 s`}},
		{"BROKEN", 0, handler.ErrorFailed, []string{`State == "BROKEN" (acceptor 2 of 3): because`}},
		{"RUNNING", time.Minute, handler.ErrorTimedOut, []string{`not finished after 1m0s (max wait 1m0s): State = "RUNNING"`}},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, asErrors)
			w.advance(tt.after)
			w.service.says(map[string]any{"State": tt.state, "Why": "because"}, nil)
			for range 2 { // the second time, from the record
				result, err := w.CheckStatus(t.Context(), json.RawMessage(call("")))
				require.Nil(t, result)
				requireError(t, err, tt.want, tt.parts...)
			}
		})
	}
	w := startedWorld(t, asErrors)
	w.service.says(map[string]any{"State": "DONE"}, nil)
	require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, call("")).Status)
}

// Both describe the job before either writes; they disagree on what they see,
// and the caller of each is told the same.
func TestCheckStatusConcurrentEnds(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	held, release := make(chan struct{}), make(chan struct{})
	slow := make(chan *handler.Result)
	w.service.says(map[string]any{"State": "BROKEN", "Why": "seen first", "N": json.Number("9007199254740993")}, nil)
	go func() {
		result, _, _ := invoke(deciding(t.Context(), func(op string) fate {
			if op == "Replace" {
				close(held)
				<-release
			}
			return goesWell
		}), w.CheckStatus, bare(request))
		slow <- result
	}()
	<-held
	w.service.says(map[string]any{"State": "DONE"}, nil)
	fast := w.checkStatus(t, bare(request))
	require.EqualValues(t, "SUCCEEDED", fast.Status)
	close(release)
	require.JSONEq(t, jsonOf(t, fast), jsonOf(t, <-slow))
	require.Equal(t, 2, w.service.describes)
}

func TestCheckStatusCannotKeepTheEnd(t *testing.T) {
	t.Parallel()
	done := map[string]any{"State": "DONE"}
	w := startedWorld(t, request)
	w.service.says(done, nil)
	for _, f := range []map[string]fate{{"Replace": lostBefore}, {"Load": lostBefore}} {
		_, _, err := invoke(deciding(t.Context(), fates(f)), w.CheckStatus, bare(request))
		requireError(t, err, handler.ErrorStoreUnavailable, "no answer")
	}
	// The write was made although its answer was lost: the end stands.
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Replace": lostAfter})), w.CheckStatus, bare(request))
	requireError(t, err, handler.ErrorStoreUnavailable)
	w.service.says(nil, errLost)
	require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, bare(request)).Status)
}

// A record changed by another that holds no end is looked at again later.
func TestCheckStatusOfAChangingRecord(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.service.says(map[string]any{"State": "DONE"}, nil)
	w.Store = churning{w.store}
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorStoreUnavailable, "another invocation changed", "poll again")

	w.Store = broken{Store: w.store, replace: startrecord.ErrChanged, load: nil}
	_, _, err = invoke(deciding(t.Context(), fates(map[string]fate{"Load 2": lostBefore})), w.CheckStatus, bare(request))
	requireError(t, err, handler.ErrorStoreUnavailable, "no answer")
}

func TestCheckStatusLargeOutput(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("é", 2000)
	tests := []struct {
		name, request string
		output        any
		want          any
		status        string
	}{
		{"cut to what the waiter reads", request, map[string]any{"State": "DONE", "Log": large}, map[string]any{"State": "DONE"}, "SUCCEEDED"},
		{"with the reason", request, map[string]any{"State": "BROKEN", "Why": "full", "Log": large}, map[string]any{"State": "BROKEN", "Why": "full"}, "FAILED"},
		{"while it runs", request, map[string]any{"State": "RUNNING", "Log": large}, map[string]any{"State": "RUNNING"}, "RUNNING"},
		{"where that is too large too", request, map[string]any{"State": strings.Repeat("x", 1000), "Log": ""}, nil, "RUNNING"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, tt.request, func(c *handler.Config) { c.OutputLimit = 1000 })
			w.service.says(tt.output, nil)
			result := w.checkStatus(t, bare(request))
			require.EqualValues(t, tt.status, result.Status)
			require.Equal(t, tt.want, result.Output)
			require.Contains(t, result.Reason, fmt.Sprintf("; the output has %d bytes, so only the members that the waiter reads are kept", len(jsonOf(t, tt.output))))
		})
	}
}

func TestCheckStatusLargestUncutOutput(t *testing.T) {
	t.Parallel()
	output := map[string]any{"State": "DONE", "Log": strings.Repeat("x", 200<<10-len(`{"State":"DONE","Log":""}`))}
	w := startedWorld(t, request)
	w.service.says(output, nil)
	result := w.checkStatus(t, bare(request))
	require.Equal(t, output, result.Output)
	require.Equal(t, `State == "DONE" (acceptor 1 of 3)`, result.Reason)
}

// A reason may quote the service at length; the result must still fit into a
// state's 256 KiB.
func TestCheckStatusLongReason(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.service.says(map[string]any{"State": "BROKEN", "Why": strings.Repeat("é", 190<<9)}, nil)
	result := w.checkStatus(t, bare(request))
	require.True(t, strings.HasPrefix(result.Reason, `State == "BROKEN" (acceptor 2 of 3): éé`))
	require.True(t, strings.HasSuffix(result.Reason, "é... (cut)"), "cut between characters")
	require.Less(t, len(jsonOf(t, result)), 200<<10)
}

func TestCheckStatusOutputThatIsNoJSON(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	w.service.says(map[string]any{"State": "DONE", "F": func() {}}, nil)
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorServiceUnavailable, "output of the describe call")
	require.Equal(t, "Load", w.store.take())
}

func TestCheckStatusWithoutAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorStoreUnavailable, "there is no start record memory:", "RunJob must run before CheckStatus", "same Poller and Scope")

	_, _, err = invoke(deciding(t.Context(), fates(map[string]fate{"Start": refused})), w.RunJob, bare(request))
	requireError(t, err, handler.ErrorFailed)
	_, err = w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorInvalidRequest, "has no job (status FAILED)")
	require.Zero(t, w.service.describes)

	w.runJob(t, bare(request))
	_, err = w.CheckStatus(t.Context(), json.RawMessage(call(`, "Scope": "1"`)))
	requireError(t, err, handler.ErrorStoreUnavailable, "there is no start record")
}

func TestCheckStatusOfAJobWithoutDriver(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	registry, err := jobs.NewRegistry(renamed{w.service})
	require.NoError(t, err)
	w.Jobs = registry
	_, err = w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorUnknownJob, `"test:Job" is not a job of this function; its jobs: other:Job`)
}

type renamed struct{ *service }

func (renamed) Name() string { return "other:Job" }

// People mend records by hand; what cannot be read is named.
func TestCheckStatusOfAMalformedRecord(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*startrecord.Record)
		part   string
	}{
		{"no request", func(r *startrecord.Record) { r.Request = nil }, "/record.json cannot be read"},
		{"request is not an object", func(r *startrecord.Record) { r.Request = []byte(`"x"`) }, "/record.json cannot be read"},
		{"no waiter", func(r *startrecord.Record) { r.Request = []byte(`{"job": "test:Job"}`) }, "has no waiter"},
		{"job reference is not an object", func(r *startrecord.Record) { r.JobRef = []byte(`7`) }, "the job reference in memory:"},
		{"result is not an object", func(r *startrecord.Record) {
			r.Status, r.Result = startrecord.StatusFailed, []byte(`7`)
		}, "the result in the start record cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, request)
			stored, err := w.store.Store.Load(t.Context(), key)
			require.NoError(t, err)
			tt.change(&stored.Record)
			_, err = w.store.Store.Replace(t.Context(), key, stored.Record, stored.Version)
			require.NoError(t, err)
			_, err = w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
			requireError(t, err, handler.ErrorConfiguration, tt.part)
			require.Zero(t, w.service.describes)
		})
	}
	w := startedWorld(t, request)
	stored, err := w.store.Store.Load(t.Context(), key)
	require.NoError(t, err)
	stored.Record.JobRef = []byte(`7`)
	_, err = w.store.Store.Replace(t.Context(), key, stored.Record, stored.Version)
	require.NoError(t, err)
	_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorConfiguration, "job reference in memory:")
}
