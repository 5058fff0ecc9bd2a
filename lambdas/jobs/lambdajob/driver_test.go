package lambdajob_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func idle(context.Context, *world, lambdajob.Event) {}

// describe returns what Describe and the driver's waiter say of a job.
func describe(t *testing.T, w *world, ref jobs.Ref) (pollcore.Verdict, string, any, error) {
	t.Helper()
	check, err := pollcore.Compile[jobs.Ref, any](w.driver.Waiter())
	require.NoError(t, err)
	output, err := w.driver.Describe(t.Context(), ref)
	result := check.Check(ref, output, err)
	return result.Verdict, check.Reason(result, nil, output, err), output, err
}

func TestJob(t *testing.T) {
	t.Parallel()
	begin, claimed, finish := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w := newWorld(t, nil, func(ctx context.Context, w *world, event lambdajob.Event) {
		<-begin
		job, err := lambdajob.Claim(ctx, w.s3, event)
		if err != nil {
			t.Error(err)
			return
		}
		close(claimed)
		<-finish
		if err := job.Succeed(ctx, map[string]any{"rows": json.Number("9007199254740993")}); err != nil {
			t.Error(err)
		}
	})
	require.Equal(t, "lambda:Invoke", w.driver.Name())
	require.Equal(t, jobs.Idempotency{Class: jobs.ByToken}, w.driver.Idempotency(jobs.Request{}))
	ref := w.start(t, `{"FunctionName": "work", "Payload": {"n": 9007199254740993}}`)
	require.Equal(t, jobs.Ref{"FunctionName": "work", "StatusBucket": "status", "StatusKey": "team/jobs/" + token + ".json"}, ref)

	verdict, reason, _, err := describe(t, w, ref)
	require.Equal(t, pollcore.Retry, verdict, "an asynchronous invocation may take a while to begin")
	require.Equal(t, "error NoSuchKey (acceptor 3 of 3)", reason)
	require.Error(t, err)

	close(begin)
	<-claimed
	verdict, reason, _, err = describe(t, w, ref)
	require.NoError(t, err)
	require.Equal(t, pollcore.Retry, verdict)
	require.Equal(t, `no acceptor matched: Status = "running"`, reason)

	close(finish)
	w.background.Wait()
	verdict, reason, output, err := describe(t, w, ref)
	require.NoError(t, err)
	require.Equal(t, pollcore.Success, verdict)
	require.Equal(t, `Status == "succeeded" (acceptor 1 of 3)`, reason)
	require.Equal(t, map[string]any{
		"Status": "succeeded", "Result": map[string]any{"rows": json.Number("9007199254740993")},
	}, output, "without the Claim")
	require.Equal(t, []string{`{"statusBucket":"status","statusKey":"team/jobs/` + token + `.json","input":{"n":9007199254740993}}`}, w.payloads)
}

func TestJobFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(ctx context.Context, w *world, event lambdajob.Event) {
		job, err := lambdajob.Claim(ctx, w.s3, event)
		if err != nil || job.Fail(ctx, "no space left") != nil {
			t.Error("cannot fail", err)
		}
	})
	ref := w.start(t, `{"FunctionName": "work"}`)
	w.background.Wait()
	verdict, reason, _, err := describe(t, w, ref)
	require.NoError(t, err)
	require.Equal(t, pollcore.Failure, verdict)
	require.Equal(t, `Status == "failed" (acceptor 2 of 3): no space left`, reason)
	require.Equal(t, []string{`{"statusBucket":"status","statusKey":"team/jobs/` + token + `.json"}`}, w.payloads, "no Payload, no input")
}

// The driver may start a job twice; the function does its work once.
func TestJobStartedTwice(t *testing.T) {
	t.Parallel()
	did := make(chan error, 2)
	w := newWorld(t, nil, func(ctx context.Context, w *world, event lambdajob.Event) {
		job, err := lambdajob.Claim(ctx, w.s3, event)
		if err == nil {
			err = job.Succeed(ctx, "done")
		}
		did <- err
	})
	const arguments = `{"FunctionName": "work"}`
	ref := w.start(t, arguments)
	require.Equal(t, ref, w.start(t, arguments))
	w.background.Wait()
	first, second := <-did, <-did
	require.NotEqual(t, errors.Is(first, lambdajob.ErrClaimed), errors.Is(second, lambdajob.ErrClaimed), "%v, %v", first, second)
	require.ErrorContains(t, errors.Join(first, second), "another invocation has claimed the job (s3://status/team/jobs/")
}

func TestStartRefusesArguments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, arguments, want string }{
		{"no function", `{}`, `the object of arguments needs the member "FunctionName"`},
		{"empty function", `{"FunctionName": ""}`, "expected the name or ARN of a function, found an empty string"},
		{"function is a number", `{"FunctionName": 7}`, "/FunctionName: expected a string, found a number"},
		{"unknown member", `{"FunctionName": "work", "Payloads": {}}`, `did you mean "Payload"`},
		{"duplicate member", `{"FunctionName": "work", "FunctionName": "work"}`, "stands twice"},
		{"an array", `[]`, "expected the object of arguments, found an array"},
		{"not JSON", `{`, "not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, idle)
			_, err := w.driver.Start(t.Context(), jobs.Request{Token: token, Arguments: json.RawMessage(tt.arguments)})
			require.ErrorIs(t, err, jobs.ErrArguments)
			require.ErrorContains(t, err, "invalid job arguments of lambda:Invoke: ")
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, w.payloads)
		})
	}
}

func TestStartOfAnUnknownFunction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, idle)
	_, err := w.driver.Start(t.Context(), jobs.Request{Token: token, Arguments: json.RawMessage(`{"FunctionName": "play"}`)})
	require.ErrorContains(t, err, "ResourceNotFoundException")
	require.Equal(t, awserror.Refused, goerror.Classify(err))
}

// The status object is the function's to write, so it may hold anything.
func TestDescribeOfBadStatus(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"empty", ``, "not valid JSON"},
		{"not JSON", `<html>`, "1:1: not valid JSON"},
		{"an array", `[]`, "holds an array instead of an object"},
		{"text", `"succeeded"`, "holds a string instead of an object"},
		{"null", `null`, "holds null instead of an object"},
		{"duplicate member", `{"Status": "running", "Status": "failed"}`, "stands twice"},
		{"huge", `{"Status": "succeeded", "Result": "` + strings.Repeat("x", 256<<10) + `"}`, "is larger than 262144 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, idle)
			verdict, reason, _, err := describe(t, w, w.put(t, tt.content))
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "s3://status/team/jobs/"+token+".json")
			require.False(t, goerror.Passes(err))
			require.Equal(t, pollcore.Failure, verdict)
			require.Contains(t, reason, tt.want)
		})
	}
}

func TestDescribeOfOddStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, idle)
	for content, want := range map[string]string{
		`{}`:                    "Status = null",
		`{"Status": 7}`:         "Status = 7",
		`{"Status": "SUCCESS"}`: `Status = "SUCCESS"`,
	} {
		verdict, reason, _, err := describe(t, w, w.put(t, content))
		require.NoError(t, err)
		require.Equal(t, pollcore.Retry, verdict)
		require.Contains(t, reason, want)
	}
	largest := `{"Status": "succeeded", "Result": ""}`
	largest = strings.Replace(largest, `""`, `"`+strings.Repeat("x", 256<<10-len(largest))+`"`, 1)
	verdict, _, _, err := describe(t, w, w.put(t, largest))
	require.NoError(t, err)
	require.Equal(t, pollcore.Success, verdict)
}

// A connection that breaks says nothing about the job.
func TestDescribeLosesItsConnection(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"half of the status": half, "500": internalError} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, breaking(http.MethodGet, 3, answer), idle)
			ref := w.put(t, `{"Status": "running"}`)
			_, err := w.driver.Describe(t.Context(), ref)
			require.Error(t, err)
			require.True(t, goerror.Passes(err), "%v", err)
		})
	}
}
