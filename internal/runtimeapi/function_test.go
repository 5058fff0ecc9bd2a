package runtimeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/runtimeapi"
)

// start returns a function that plays the role.
func start(t *testing.T, role string, change ...func(*runtimeapi.Config)) *runtimeapi.Function {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	cfg := runtimeapi.Config{
		Name:   "testee",
		Binary: binary,
		Env:    []string{roleVariable + "=" + role},
		Log:    t.Output(),
	}
	for _, c := range change {
		c(&cfg)
	}
	f, err := runtimeapi.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func limit(d time.Duration) func(*runtimeapi.Config) {
	return func(cfg *runtimeapi.Config) { cfg.Timeout = d }
}

func invokeEcho(t *testing.T, f *runtimeapi.Function) seen {
	t.Helper()
	body, err := f.Invoke(t.Context(), []byte(`{"log":"it"}`))
	require.NoError(t, err)
	var s seen
	require.NoError(t, json.Unmarshal(body, &s))
	return s
}

func requireFunctionError(t *testing.T, err error, errorType, message string) {
	t.Helper()
	var failed *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, errorType, failed.Type)
	require.Regexp(t, "^"+message+"$", failed.Message)
	require.Equal(t, errorType+": "+failed.Message, err.Error())
	var body struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}
	require.NoError(t, json.Unmarshal(failed.Body, &body), "%s", failed.Body)
	require.Equal(t, errorType, body.Type)
	require.Equal(t, failed.Message, body.Message)
}

const requestID = `RequestId: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`

// nullSignal asks only whether a process exists.
const nullSignal = syscall.Signal(0)

func requireGone(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.ErrorIs(t, process.Signal(nullSignal), os.ErrProcessDone, "process %d", pid)
}

func TestInvokeTellsTheFunctionItsInvocation(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	f := start(t, "echo", limit(time.Hour), func(cfg *runtimeapi.Config) {
		cfg.Env = append(cfg.Env, "AWS_REGION=eu-central-1", "CUSTOM=1", "AWS_LAMBDA_FUNCTION_NAME=reserved")
		cfg.Log = &output
	})
	before := time.Now()
	s := invokeEcho(t, f)
	require.Equal(t, "map[log:it]", s.Payload)
	require.Regexp(t, requestID, "RequestId: "+s.RequestID)
	require.Equal(t, "arn:aws:lambda:eu-central-1:123456789012:function:testee", s.ARN)
	require.Regexp(t, `^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$`, s.Trace)
	require.WithinRange(t, s.Deadline, before.Add(time.Hour).Truncate(time.Millisecond), time.Now().Add(time.Hour))
	require.Equal(t, "testee", s.FunctionName)
	binary, err := os.Executable()
	require.NoError(t, err)
	require.Equal(t, filepath.Dir(binary), s.Folder)
	require.Equal(t, "1", s.Env["CUSTOM"])
	require.Equal(t, "eu-central-1", s.Env["AWS_DEFAULT_REGION"])
	require.Equal(t, "$LATEST", s.Env["AWS_LAMBDA_FUNCTION_VERSION"])
	require.NotContains(t, s.Env, "HOME", "nothing is inherited")

	require.NoError(t, f.Close())
	require.Contains(t, output.String(), "stdout of it\n")
	require.Contains(t, output.String(), "stderr of it\n")
}

func TestInvokeReusesASandbox(t *testing.T) {
	t.Parallel()
	f := start(t, "echo")
	first, second := invokeEcho(t, f), invokeEcho(t, f)
	require.Equal(t, first.PID, second.PID)
	require.NotEqual(t, first.RequestID, second.RequestID)
	require.NotEqual(t, first.Trace, second.Trace)
}

func TestConcurrentInvocationsHaveSandboxesOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := start(t, "call")
	one, two := invokeInBackground(t.Context(), f, g.event), invokeInBackground(t.Context(), f, g.event)
	a, b := <-g.arrived, <-g.arrived
	require.NotEqual(t, a, b)
	close(g.open)
	var pids []int
	for _, results := range []<-chan result{one, two} {
		r := <-results
		require.NoError(t, r.err)
		pid, err := strconv.Atoi(string(r.body))
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	require.ElementsMatch(t, []int{a, b}, pids)
	body, err := f.Invoke(t.Context(), []byte(g.event))
	require.NoError(t, err)
	require.Contains(t, []string{strconv.Itoa(a), strconv.Itoa(b)}, string(body))
}

func TestFailuresAreNamedAsOnLambda(t *testing.T) {
	t.Parallel()
	tests := []struct {
		way, errorType, message string
		survives                bool
	}{
		{"named error", "JobPoller.Running", "3 of 7", true},
		{"plain error", "errorString", "plain", true},
		{"panic", "string", "at the disco", false},
		{"exit", "Runtime.ExitError", requestID + " Error: Runtime exited with error: exit status 5", false},
		{"exit without error", "Runtime.ExitError", requestID + " Error: Runtime exited without providing a reason", false},
		{"too large", "Function.ResponseSizeTooLarge", `Response payload size exceeded maximum allowed payload size \(6291556 bytes\)\.`, false},
		{"breaks off", "errorString", "broke off", true},
	}
	for _, tt := range tests {
		t.Run(tt.way, func(t *testing.T) {
			t.Parallel()
			f := start(t, "answer")
			before, err := f.Invoke(t.Context(), []byte(`"succeed"`))
			require.NoError(t, err)
			_, err = f.Invoke(t.Context(), []byte(strconv.Quote(tt.way)))
			requireFunctionError(t, err, tt.errorType, tt.message)
			after, err := f.Invoke(t.Context(), []byte(`"succeed"`))
			require.NoError(t, err)
			require.Equal(t, tt.survives, string(before) == string(after), "process %s, then %s", before, after)
		})
	}
}

func TestLargestResponse(t *testing.T) {
	t.Parallel()
	f := start(t, "answer")
	body, err := f.Invoke(t.Context(), []byte(`"largest"`))
	require.NoError(t, err)
	require.Len(t, body, 6<<20+100)
}

func TestPayloadTooLarge(t *testing.T) {
	t.Parallel()
	f := start(t, "answer")
	_, err := f.Invoke(t.Context(), make([]byte, 6<<20+1))
	require.ErrorIs(t, err, runtimeapi.ErrPayloadTooLarge)
	require.EqualError(t, err, "function testee: event of 6291457 bytes: expected at most 6291456 bytes")
}

func TestFailuresOfTheStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		role, errorType, message string
	}{
		{"exits in init", "Runtime.ExitError", requestID + " Error: Runtime exited with error: exit status 3"},
		{"ends in init", "Runtime.ExitError", requestID + " Error: Runtime exited without providing a reason"},
		{"fails in init", "Config.Missing", "no bucket"},
	}
	for _, tt := range tests {
		t.Run(tt.role, func(t *testing.T) {
			t.Parallel()
			f := start(t, tt.role)
			for range 2 {
				_, err := f.Invoke(t.Context(), []byte(`{}`))
				requireFunctionError(t, err, tt.errorType, tt.message)
			}
		})
	}
}

func TestStartHasALimit(t *testing.T) {
	t.Parallel()
	f := start(t, "hangs in init")
	f.SetInitLimit(20 * time.Millisecond)
	_, err := f.Invoke(t.Context(), []byte(`{}`))
	requireFunctionError(t, err, "Sandbox.Timedout", requestID+" Error: Task timed out after 0.02 seconds")
}

func TestTimeLimitKillsTheSandbox(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := start(t, "call", limit(time.Second))
	_, err := f.Invoke(t.Context(), []byte(g.event))
	requireFunctionError(t, err, "Sandbox.Timedout", requestID+" Error: Task timed out after 1.00 seconds")
	late := <-g.arrived
	require.Equal(t, late, <-g.left)
	close(g.open)
	body, err := f.Invoke(t.Context(), []byte(g.event))
	require.NoError(t, err)
	require.NotEqual(t, strconv.Itoa(late), string(body))
}

func TestKillDuringAnInvocation(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := start(t, "call")
	results := invokeInBackground(t.Context(), f, g.event)
	pid := <-g.arrived
	f.Kill()
	requireGone(t, pid)
	r := <-results
	requireFunctionError(t, r.err, "Runtime.ExitError", requestID+" Error: Runtime exited with error: signal: killed")

	close(g.open)
	body, err := f.Invoke(t.Context(), []byte(g.event))
	require.NoError(t, err)
	require.NotEqual(t, strconv.Itoa(pid), string(body))
}

func TestSandboxKilledWhenIdleIsReplaced(t *testing.T) {
	t.Parallel()
	f := start(t, "echo")
	first := invokeEcho(t, f)
	f.Kill()
	requireGone(t, first.PID)
	require.NotEqual(t, first.PID, invokeEcho(t, f).PID)
}

func TestSandboxThatDiedIdleIsReplaced(t *testing.T) {
	t.Parallel()
	f := start(t, "answer")
	first, err := f.Invoke(t.Context(), []byte(`"succeed"`))
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(first))
	require.NoError(t, err)
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	// Nobody can tell whether an event that was sent just before the death
	// was noticed was read, so one invocation may be told of it.
	second, err := f.Invoke(t.Context(), []byte(`"succeed"`))
	if err != nil {
		requireFunctionError(t, err, "Runtime.ExitError", requestID+" Error: Runtime exited with error: signal: killed")
		second, err = f.Invoke(t.Context(), []byte(`"succeed"`))
	}
	require.NoError(t, err)
	require.NotEqual(t, string(first), string(second))
}

func TestCancelEndsTheWaitAndTheSandbox(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := start(t, "call")
	ctx, cancel := context.WithCancelCause(t.Context())
	results := invokeInBackground(ctx, f, g.event)
	pid := <-g.arrived
	enough := errors.New("enough")
	cancel(enough)
	r := <-results
	require.ErrorIs(t, r.err, enough)
	var failed *runtimeapi.FunctionError
	require.NotErrorAs(t, r.err, &failed)
	require.Equal(t, pid, <-g.left)

	_, err := f.Invoke(ctx, []byte(g.event))
	require.ErrorIs(t, err, enough)
	require.Empty(t, g.arrived)
}

func TestCancelDuringTheStart(t *testing.T) {
	t.Parallel()
	f := start(t, "hangs in init")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := f.Invoke(ctx, []byte(`{}`))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// The goroutines of other tests would be counted, so this one runs alone.
func TestCloseLeavesNothing(t *testing.T) { //nolint:paralleltest // see above
	g := newGate(t)
	f := start(t, "call")
	var results []<-chan result
	var pids []int
	for range 3 {
		results = append(results, invokeInBackground(t.Context(), f, g.event))
		pids = append(pids, <-g.arrived)
	}
	require.Positive(t, goroutinesOf(t, "internal/runtimeapi.(*sandbox)"))
	require.NoError(t, f.Close())
	for _, pid := range pids {
		requireGone(t, pid)
	}
	for _, r := range results {
		require.ErrorIs(t, (<-r).err, fs.ErrClosed)
	}
	_, err := f.Invoke(t.Context(), []byte(g.event))
	require.EqualError(t, err, "function testee: file already closed")
	require.NoError(t, f.Close())
	require.Zero(t, goroutinesOf(t, "internal/runtimeapi.(*sandbox)"))
}

// goroutinesOf counts the goroutines that run code of the receiver.
func goroutinesOf(t *testing.T, receiver string) int {
	t.Helper()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	count := 0
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, receiver) {
			count++
		}
	}
	return count
}

func TestKillAndCloseDuringInvocations(t *testing.T) {
	t.Parallel()
	f := start(t, "echo", func(cfg *runtimeapi.Config) { cfg.Log = nil })
	var invoking sync.WaitGroup
	for range 4 {
		invoking.Go(func() {
			for {
				_, err := f.Invoke(t.Context(), []byte(`{}`))
				if errors.Is(err, fs.ErrClosed) {
					return
				}
				var failed *runtimeapi.FunctionError
				if err != nil && !errors.As(err, &failed) {
					t.Errorf("unexpected error: %v", err)
					return
				}
			}
		})
	}
	for range 20 {
		invokeEchoOrDie(t, f)
		f.Kill()
	}
	require.NoError(t, f.Close())
	invoking.Wait()
}

// invokeEchoOrDie invokes a function whose sandboxes others may kill.
func invokeEchoOrDie(t *testing.T, f *runtimeapi.Function) {
	t.Helper()
	if _, err := f.Invoke(t.Context(), []byte(`{}`)); err != nil {
		requireFunctionError(t, err, "Runtime.ExitError", requestID+" Error: Runtime exited with error: signal: killed")
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	require.NoError(t, err)
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	tests := []struct {
		name   string
		cfg    runtimeapi.Config
		want   string
		wantIs error
	}{
		{"no name", runtimeapi.Config{Binary: binary}, `function name ""`, nil},
		{"bad name", runtimeapi.Config{Name: "a b", Binary: binary}, `function name "a b": expected 1 to 64 letters`, nil},
		{"negative limit", runtimeapi.Config{Name: "f", Binary: binary, Timeout: -1}, "time limit -1ns: expected a positive duration", nil},
		{"no such binary", runtimeapi.Config{Name: "f", Binary: plain + "x"}, fmt.Sprintf("function f: no executable at %q", plain+"x"), fs.ErrNotExist},
		{"not executable", runtimeapi.Config{Name: "f", Binary: plain}, "no executable at", fs.ErrPermission},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := runtimeapi.New(tt.cfg)
			require.ErrorContains(t, err, tt.want)
			if tt.wantIs != nil {
				require.ErrorIs(t, err, tt.wantIs)
			}
		})
	}
}

func TestBinaryThatVanishedIsNoFunctionError(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, os.WriteFile(binary, nil, 0o700))
	f, err := runtimeapi.New(runtimeapi.Config{Name: "f", Binary: binary})
	require.NoError(t, err)
	require.NoError(t, os.Remove(binary))
	_, err = f.Invoke(t.Context(), []byte(`{}`))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "function f: cannot start")
	var failed *runtimeapi.FunctionError
	require.NotErrorAs(t, err, &failed)
	require.NoError(t, f.Close())
}

func TestRuntimeAPIRefusals(t *testing.T) {
	t.Parallel()
	f := start(t, "raw")
	body, err := f.Invoke(t.Context(), []byte(`{}`))
	require.NoError(t, err)
	require.JSONEq(t, `[
		"response to nothing: 400 InvalidRequestID",
		"error of nothing: 400 InvalidRequestID",
		"next too soon: 403 InvalidStateTransition",
		"init error too late: 403 InvalidStateTransition",
		"unknown route: 404 NotFound",
		"unknown version: 404 NotFound",
		"wrong method: 404 NotFound"
	]`, string(body))
	body, err = f.Invoke(t.Context(), []byte(`{}`))
	require.NoError(t, err)
	require.JSONEq(t, `[
		"second response: 403 InvalidStateTransition",
		"error after response: 403 InvalidStateTransition",
		"late response: 400 InvalidRequestID"
	]`, string(body))
	_, err = f.Invoke(t.Context(), []byte(`{}`))
	requireFunctionError(t, err, "Runtime.Odd", "")
	_, err = f.Invoke(t.Context(), []byte(`{}`))
	requireFunctionError(t, err, "Runtime.Unknown", "no type")
}

// failingLog is a log whose disk is full.
type failingLog struct{}

func (failingLog) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestLogThatFailsDoesNotEndTheFunction(t *testing.T) {
	t.Parallel()
	f := start(t, "echo", func(cfg *runtimeapi.Config) { cfg.Log = failingLog{} })
	before := invokeEcho(t, f)
	require.Equal(t, before.PID, invokeEcho(t, f).PID)
}
