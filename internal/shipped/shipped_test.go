package shipped_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// begin is when the virtual time of these runs begins.
var begin = sim.DefaultStart()

// start starts the functions of a run of a name, whose records are in a folder, or in memory
// without one.
func start(t *testing.T, name, folder string, at time.Time) *shipped.Functions {
	t.Helper()
	f, err := shipped.Start(t.Context(), shipped.Options{Name: name, Records: shipped.Store{Data: folder}, Job: lambdajob.Name}, sim.NewVirtualClock(at), io.Discard)
	require.NoError(t, err)
	return f
}

// The shipped poller waits for the sample job by the functions, which count their polls and
// leave one start record.
func TestFunctionsOfAWholeRun(t *testing.T) {
	t.Parallel()
	for fails, want := range map[bool]sim.Status{false: sim.StatusSucceeded, true: sim.StatusFailed} {
		m, err := asl.Parse([]byte(statemachines.LambdaPoller()))
		require.NoError(t, err)
		input, err := shipped.SampleRequest(shipped.SampleJobInput{Seconds: 90, Fail: fails}, time.Hour)
		require.NoError(t, err)
		clock := sim.NewVirtualClock(begin)
		f, err := shipped.Start(t.Context(), shipped.Options{Name: "night", Job: shipped.RequestJob(input)}, clock, io.Discard)
		require.NoError(t, err)
		told := 0
		own := f.Own(func(_ string, _ handler.Result, err error) {
			require.NoError(t, err)
			told++
		})
		result, err := sim.Run(t.Context(), m, input, sim.Options{
			Clock: clock, Execution: "night", StateMachine: "jobpoller",
			Handlers: map[string]sim.Handler{answers.LambdaInvoke: sim.LambdaInvoke(own.Functions)},
		})
		require.NoError(t, err)
		require.Equal(t, want, result.Status, "%s: %s", result.Error, result.Cause)
		require.GreaterOrEqual(t, result.Duration(), 90*time.Second)
		require.Greater(t, f.CountPolls(), 1)
		require.GreaterOrEqual(t, told, f.CountPolls())
		require.Len(t, f.StartRecords(t.Context()), 1)
		require.NoError(t, f.Close())
		require.NoError(t, f.Close(), "twice")
	}
}

// Runs of one name agree on when the execution began, also in another process; a run of
// another name begins now.
func TestRunsOfANameBeganTogether(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	claim := func(name string, at time.Time) time.Time {
		f := start(t, name, folder, at)
		defer func() { require.NoError(t, f.Close()) }()
		var said bytes.Buffer
		began, err := f.ClaimStart(t.Context(), &said)
		require.NoError(t, err)
		require.Empty(t, said.String(), "virtual time tells nobody")
		return began
	}
	require.Equal(t, begin, claim("night", begin))
	later := begin.Add(time.Hour)
	require.True(t, begin.Equal(claim("night", later)))
	require.Equal(t, later, claim("day", later))

	f := start(t, "night", folder, later)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.ClaimStart(ctx, io.Discard)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, f.Close())
}

// A machine that invokes none of the functions gets none, and one that does gets the start
// of its execution, too.
func TestFunctionsWhereAMachineNeedsThem(t *testing.T) {
	t.Parallel()
	for text, needed := range map[string]bool{
		statemachines.LambdaPoller():                                       true,
		`{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`: false,
		`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "orders"}, "End": true}}}`: false,
	} {
		m, err := asl.Parse([]byte(text))
		require.NoError(t, err)
		input, err := shipped.SampleRequest(shipped.SampleJobInput{}, time.Hour)
		require.NoError(t, err)
		run := sim.Options{Clock: sim.NewVirtualClock(begin)}
		f, err := shipped.StartFor(t.Context(), m, input, shipped.Options{Name: "night"}, &run, io.Discard)
		require.NoError(t, err)
		require.Equal(t, needed, f != nil, text)
		require.Equal(t, needed, !run.StartTime.IsZero())
		if f == nil {
			continue
		}
		own := f.Own(func(string, handler.Result, error) {})
		require.Contains(t, own.Functions, statemachines.RunJobFunction)
		require.Contains(t, own.Functions, statemachines.CheckStatusFunction)
		require.Contains(t, own.Functions, shipped.SampleJobFunction)
		require.NotNil(t, own.Collector)
		require.NoError(t, f.Close())
	}
}

// What cannot start says which flag is wrong, and leaves nothing behind.
func TestFunctionsThatCannotStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	for want, records := range map[string]shipped.Store{
		"--data: ":                     {Data: file},
		"--s3-endpoint: cannot reach ": {S3Endpoint: "http://" + listener.Addr().String(), Bucket: "b"},
	} {
		_, err := shipped.Start(t.Context(), shipped.Options{Name: "night", Records: records, Job: lambdajob.Name}, sim.NewVirtualClock(begin), io.Discard)
		require.ErrorContains(t, err, want)
		var wrong *commandline.Error
		require.ErrorAs(t, err, &wrong)
	}
}
