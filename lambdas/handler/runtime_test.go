package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// What a caller of the Lambda functions sees: JSON in, JSON out, and the names
// of errors as Retry and Catch blocks match them.
func TestHandlersInTheRuntime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	runJob, checkStatus := lambda.NewHandler(w.RunJob), lambda.NewHandler(w.CheckStatus)
	out, err := runJob.Invoke(t.Context(), []byte(bare(request)))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"status": "RUNNING", "waitSeconds": 0, "startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 0,
		"job": {"Id": "job-1"}, "reason": "the job has started"
	}`, string(out))

	// A loop feeds the result back.
	out, err = checkStatus.Invoke(t.Context(), []byte(call(`, "Input": `+string(out))))
	require.NoError(t, err)
	out, err = checkStatus.Invoke(t.Context(), []byte(call(`, "Input": `+string(out))))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"status": "RUNNING", "waitSeconds": 13, "attempt": 2, "startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 0,
		"job": {"Id": "job-1"}, "output": {"State": "RUNNING"}, "reason": "no acceptor matched: State = \"RUNNING\""
	}`, string(out))

	_, err = runJob.Invoke(t.Context(), []byte(bare(`{"job": "no:Job", "maxWaitSeconds": 1}`)))
	reported, _ := json.Marshal(named(t, err))
	require.JSONEq(t, `{
		"errorType": "JobPoller.UnknownJob",
		"errorMessage": "unknown job: \"no:Job\" is not a job of this function; its jobs: test:Job"
	}`, string(reported))
}

// A handler can be given to the runtime as it is, with its deadline.
func TestHandlersHeedTheDeadlineOfTheRuntime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := lambda.NewHandler(w.RunJob).Invoke(ctx, []byte(bare(request)))
	requireError(t, err, handler.ErrorStoreUnavailable, "deadline exceeded")
	require.Zero(t, w.service.starts)
}

func TestNew(t *testing.T) {
	t.Parallel()
	_, err := handler.New(handler.Config{LeaseMargin: -1})
	require.ErrorContains(t, err, "no store")
	require.ErrorContains(t, err, "no jobs")
	require.ErrorContains(t, err, "must not be negative")
	registry, err := jobs.NewRegistry(&service{})
	require.NoError(t, err)
	cfg := handler.Config{Store: memstore.New(nil), Jobs: registry, Retention: 14 * 24 * time.Hour}
	_, err = handler.New(cfg)
	require.ErrorContains(t, err, "must be longer than the longest wait")
	cfg.Retention, cfg.OutputLimit = 0, 240*1024+1
	_, err = handler.New(cfg)
	require.ErrorContains(t, err, "output limit must be at most 245760 bytes")
	cfg.OutputLimit = 0
	p, err := handler.New(cfg)
	require.NoError(t, err)
	require.Equal(t, handler.DefaultRetention, p.Retention)
	require.Equal(t, handler.DefaultLeaseMargin, p.LeaseMargin)
	require.Equal(t, handler.DefaultOutputLimit, p.OutputLimit)
	require.WithinDuration(t, time.Now(), p.Now(), time.Minute)

	empty, err := jobs.NewRegistry()
	require.NoError(t, err)
	cfg.Jobs = empty
	_, err = handler.New(cfg)
	require.ErrorContains(t, err, "no jobs: register at least one driver")
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("the reason")
	err := &handler.Error{Name: handler.ErrorConflict, Message: "two requests", Cause: cause}
	require.EqualError(t, err, "JobPoller.Conflict: two requests")
	require.ErrorIs(t, err, cause)
}
