package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// growingHistory stands for Step Functions: an execution that polls a query every 20
// seconds. Its history grows with the clock.
type growingHistory struct {
	t      *testing.T
	start  time.Time
	events []growingEvent
	calls  map[string]int
	at     []time.Duration // of the calls of GetExecutionHistory
	refuse func(call int) error
	// describe answers the other operations: by default they are refused.
	describe func(operation string, call int) (any, error)
}

type growingEvent struct {
	after   time.Duration
	kind    string
	details map[string]any
}

var (
	errDenied    = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "you may not"}
	errThrottled = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "Rate exceeded"}
)

func (g *growingHistory) call(_ context.Context, op *catalog.Operation, input any) (any, error) {
	g.calls[op.Name]++
	if op.Name != "GetExecutionHistory" {
		return g.describe(op.Name, g.calls[op.Name])
	}
	now := time.Since(g.start)
	g.at = append(g.at, now)
	if err := g.refuse(len(g.at)); err != nil {
		return nil, err
	}
	request := input.(map[string]any)
	require.Equal(g.t, true, request["reverseOrder"], "the newest come first")
	size, err := request["maxResults"].(json.Number).Int64()
	require.NoError(g.t, err)
	count := sort.Search(len(g.events), func(i int) bool { return g.events[i].after > now })
	first := 0
	if token, ok := request["nextToken"].(string); ok {
		_, err := fmt.Sscan(token, &first)
		require.NoError(g.t, err)
	}
	last := min(first+int(size), count)
	page := []any{} // newest first
	for i := first; i < last; i++ {
		page = append(page, g.event(count-1-i))
	}
	answer := map[string]any{"events": page}
	if last < count {
		answer["nextToken"] = fmt.Sprint(last)
	}
	return answer, nil
}

// event is an event in the form of the API.
func (g *growingHistory) event(i int) any {
	e := g.events[i]
	member := strings.ToLower(e.kind[:1]) + e.kind[1:] + "EventDetails"
	if _, suffix, ok := strings.Cut(e.kind, "State"); ok {
		member = "state" + suffix + "EventDetails"
	}
	return map[string]any{
		"id": json.Number(strconv.Itoa(i + 1)), "previousEventId": json.Number(strconv.Itoa(i)), "type": e.kind,
		"timestamp": g.start.Add(e.after).UTC().Format(time.RFC3339), member: e.details,
	}
}

// newGrowingHistory is an execution of so many polls. It ends with the event.
func newGrowingHistory(t *testing.T, polls int, end growingEvent) *growingHistory {
	t.Helper()
	g := &growingHistory{
		t: t, start: time.Now(), calls: map[string]int{}, refuse: func(int) error { return nil },
		describe: func(string, int) (any, error) { return nil, errDenied },
	}
	g.events = append(g.events, growingEvent{0, "ExecutionStarted", map[string]any{"input": "{}"}})
	for i := range polls {
		at := time.Duration(20*i) * time.Second
		state := "RUNNING"
		if i == polls-1 {
			state = "SUCCEEDED"
		}
		g.events = append(
			g.events,
			growingEvent{at, "WaitStateEntered", map[string]any{"name": "Wait"}}, growingEvent{at + 20*time.Second, "WaitStateExited", map[string]any{"name": "Wait"}},
			growingEvent{at + 20*time.Second, "TaskStateEntered", map[string]any{"name": "Get"}},
			growingEvent{at + 20*time.Second, "TaskScheduled", map[string]any{"resourceType": "aws-sdk:athena", "resource": "getQueryExecution", "parameters": `{"QueryExecutionId":"q"}`}},
			growingEvent{at + 20*time.Second, "TaskSucceeded", map[string]any{"output": `{"QueryExecution":{"Status":{"State":"` + state + `"}}}`}},
			growingEvent{at + 20*time.Second, "TaskStateExited", map[string]any{"name": "Get"}},
		)
	}
	end.after = time.Duration(20*polls) * time.Second
	g.events = append(g.events, end)
	return g
}

func (g *growingHistory) watch(out *terminal.Writer) *watch {
	service, err := models.Load("stepfunctions")
	require.NoError(g.t, err)
	w := &watch{record: stepfunctions.New(service, g.call).Record("arn:aws:states:eu-west-1:123456789012:execution:nightly:run-7")}
	w.live = kit.NewLive(out, false, w.standing)
	return w
}

// Watching makes few calls, shows each status once, and ends with the
// execution and its whole history.
func TestWatchFollowsAnExecution(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 60, growingEvent{kind: "ExecutionSucceeded", details: map[string]any{"output": "{}"}})
		var out bytes.Buffer
		writer := terminal.NewWriter(&out)
		w := g.watch(writer)
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Equal(t, history.StatusSucceeded, e.Status)
		require.Len(t, e.Events, len(g.events), "each event was read, and once")
		require.Equal(t, "run-7", e.Title)
		require.Equal(t, 20*time.Minute, e.Duration())
		require.Less(t, time.Since(g.start)-20*time.Minute, watchLatest)
		require.Equal(t, 1, g.calls["DescribeExecution"])
		require.Equal(t, 1, g.calls["DescribeStateMachineForExecution"])
		require.Less(t, len(g.at), 1200/4, "calls in 20 minutes")
		require.Equal(t, []string{
			"without DescribeStateMachineForExecution: access denied: grant states:DescribeStateMachineForExecution (AccessDeniedException: you may not)",
			"without DescribeExecution: access denied: grant states:DescribeExecution (AccessDeniedException: you may not)",
		}, e.Notes)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Equal(t, []string{"RUNNING 0s  Wait", "RUNNING 42s  Wait  poll 2: RUNNING"}, lines[:2])
		require.LessOrEqual(t, len(lines), 3)
		require.NoError(t, endOf(e))
	})
}

// While Step Functions throttles, the watch asks less and less often; other errors
// end it.
func TestWatchBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 1, growingEvent{kind: "ExecutionFailed", details: map[string]any{"error": "JobPoller.TimedOut"}})
		g.refuse = func(call int) error {
			if call > 1 && call < 9 {
				return errThrottled
			}
			return nil
		}
		var out bytes.Buffer
		w := g.watch(terminal.NewWriter(&out))
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Equal(t, history.StatusFailed, e.Status)
		var code *kit.ExitError
		require.ErrorAs(t, endOf(e), &code)
		require.Equal(t, kit.ExitTimedOut, code.Code, "as run has it")
		var delays []time.Duration
		for i := 1; i < len(g.at); i++ {
			delays = append(delays, (g.at[i] - g.at[i-1]).Round(time.Second))
		}
		require.Equal(t, []time.Duration{2, 4, 8, 16, 32, 60, 60, 60}, inSeconds(delays))

		g.at, g.refuse = nil, func(int) error { return errDenied }
		w = g.watch(terminal.NewWriter(&out))
		_, err = w.follow(t.Context())
		w.live.Close()
		require.ErrorAs(t, kit.RecordError("arn", err), &code)
		require.Equal(t, kit.ExitUnknown, code.Code)
		require.EqualError(t, code, "arn: access denied: grant states:GetExecutionHistory (AccessDeniedException: you may not)")
	})
}

// A description that is throttled is asked for again, one that is refused is not.
func TestWatchDescribesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 3, growingEvent{kind: "ExecutionSucceeded", details: map[string]any{"output": "{}"}})
		g.describe = func(operation string, call int) (any, error) {
			switch {
			case operation == "DescribeExecution":
				return nil, errDenied
			case call < 3:
				return nil, errThrottled
			}
			return map[string]any{"name": "nightly", "definition": `{"StartAt": "Wait", "States": {"Wait": {"Type": "Succeed"}}}`}, nil
		}
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.NotNil(t, e.Machine)
		require.Equal(t, map[string]int{"DescribeExecution": 1, "DescribeStateMachineForExecution": 3, "GetExecutionHistory": len(g.at)}, g.calls)
		require.Len(t, e.Notes, 1)
		require.Contains(t, e.Notes[0], "grant states:DescribeExecution")
	})
}

// An execution that has ended is not followed for the sake of its description.
func TestWatchEndsWithoutDescription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 1, growingEvent{kind: "ExecutionSucceeded", details: map[string]any{"output": "{}"}})
		g.start = g.start.Add(-time.Hour)
		g.describe = func(string, int) (any, error) { return nil, errThrottled }
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Equal(t, history.StatusSucceeded, e.Status)
		require.Equal(t, 1+mostDescribed, g.calls["DescribeExecution"])
		require.Less(t, time.Since(g.start), time.Hour+2*watchRefused)
		require.Len(t, e.Notes, 2)
		require.Equal(t, "without DescribeExecution: the service does not answer now: try again later (ThrottlingException: Rate exceeded)", e.Notes[1])
	})
}

// A long history of which a page is throttled is not read from its end again.
func TestRecordGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 4166, growingEvent{kind: "ExecutionFailed"})
		g.start = g.start.Add(-48 * time.Hour)
		g.refuse = func(call int) error {
			if call == 20 || call == 21 {
				return errThrottled
			}
			return nil
		}
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Len(t, e.Events, 24998)
		require.Len(t, g.at, 25+2)
	})
}

func inSeconds(all []time.Duration) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, d := range all {
		out[i] = d / time.Second
	}
	return out
}

// An interrupt ends the watch at once.
func TestWatchIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 1000, growingEvent{kind: "ExecutionAborted"})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		_, err := w.follow(ctx)
		w.live.Close()
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Minute, time.Since(g.start))
	})
}

// A history of 25,000 events is read within the quota: 25 pages, or smaller ones at
// ten a second where an answer is too long.
func TestRecordKeepsTheQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 4166, growingEvent{kind: "ExecutionFailed"})
		g.start = g.start.Add(-48 * time.Hour)
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		began := time.Now()
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Len(t, e.Events, 24998)
		require.Len(t, g.at, 25)
		require.Zero(t, time.Since(began))
		var code *kit.ExitError
		require.ErrorAs(t, endOf(e), &code)
		require.Equal(t, kit.ExitFailed, code.Code)
	})
}

// An answer that is too long is asked for in smaller pages, at ten calls a second
// once half of the burst is used.
func TestRecordTakesSmallerPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 4166, growingEvent{kind: "ExecutionFailed"})
		g.start = g.start.Add(-48 * time.Hour)
		g.refuse = func(call int) error {
			if call == 3 {
				return fmt.Errorf("%w: it is longer", awsjob.ErrAnswer)
			}
			return nil
		}
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		began := time.Now()
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Len(t, e.Events, 24998)
		require.Len(t, g.at, 3+250)
		require.Equal(t, 5300*time.Millisecond, time.Since(began), "53 calls are beyond half of the burst")
	})
}

// A service that never answers ends the watch; one that has answered may be silent for
// a while.
func TestWatchOfASilentService(t *testing.T) {
	t.Parallel()
	unsent := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	synctest.Test(t, func(t *testing.T) {
		g := newGrowingHistory(t, 1, growingEvent{kind: "ExecutionSucceeded", details: map[string]any{"output": "{}"}})
		g.refuse = func(int) error { return unsent }
		w := g.watch(terminal.NewWriter(&bytes.Buffer{}))
		_, err := w.follow(t.Context())
		w.live.Close()
		require.ErrorIs(t, err, unsent)
		require.Len(t, g.at, 1)

		g.at, g.refuse = nil, func(call int) error {
			switch call {
			case 2:
				return unsent
			case 3:
				<-time.After(stepfunctions.Patience + time.Second)
				return errors.New("cut off")
			}
			return nil
		}
		w = g.watch(terminal.NewWriter(&bytes.Buffer{}))
		e, err := w.follow(t.Context())
		w.live.Close()
		require.NoError(t, err)
		require.Equal(t, history.StatusSucceeded, e.Status)
	})
}
