package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// warmAllocations bounds what a poll of a running job allocates in a function
// that has polled it before.
const warmAllocations = 200

// export is a driver of a table's export that never ends. It allocates nothing.
type export struct {
	waiter *pollcore.Waiter
	output any
}

func (*export) Name() string               { return "dynamodb:ExportTableToPointInTime" }
func (e *export) Waiter() *pollcore.Waiter { return e.waiter }
func (*export) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken}
}
func (*export) Permissions() []access.Permission { return nil }
func (*export) Start(context.Context, jobs.Request) (jobs.Ref, error) {
	return jobs.Ref{"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1"}, nil
}
func (e *export) Describe(context.Context, jobs.Ref) (any, error) { return e.output, nil }

// newWarm returns a handler that has started an export for each of the maximal
// waits, and the events that poll them.
func newWarm(t *testing.T, maxWaits ...int) (*handler.Handler, []json.RawMessage) {
	t.Helper()
	entry, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	registry, err := jobs.NewRegistry(&export{waiter: entry.Waiter, output: map[string]any{"ExportDescription": map[string]any{
		"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1", "ExportStatus": "IN_PROGRESS",
		"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders", "S3Bucket": "exports", "ExportFormat": "DYNAMODB_JSON",
	}}})
	require.NoError(t, err)
	now := func() time.Time { return time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC) }
	h, err := handler.New(handler.Config{Store: memstore.New(now), Jobs: registry, Now: now, NoDwell: true})
	require.NoError(t, err)
	var polls []json.RawMessage
	for _, maxWait := range maxWaits {
		event := bare(fmt.Sprintf(`{"job": "dynamodb:ExportTableToPointInTime", "maxWaitSeconds": %d}`, maxWait))
		event = strings.ReplaceAll(event, arn, fmt.Sprint(arn, maxWait))
		_, err = h.RunJob(t.Context(), json.RawMessage(event))
		require.NoError(t, err)
		polls = append(polls, json.RawMessage(event))
	}
	return h, polls
}

func poll(t *testing.T, h *handler.Handler, event json.RawMessage) {
	t.Helper()
	result, err := h.CheckStatus(context.Background(), event) // without a deadline, which allocates
	require.NoError(t, err)
	require.Equal(t, pollcore.Running, result.Status)
}

// A poll parses and compiles no waiter that the function knows.
func TestWarmPollAllocates(t *testing.T) { //nolint:paralleltest // what runs beside it allocates too
	h, events := newWarm(t, 7200)
	allocations := testing.AllocsPerRun(100, func() { poll(t, h, events[0]) })
	t.Logf("%.0f allocations", allocations)
	require.LessOrEqual(t, allocations, float64(warmAllocations))
}

// A function keeps what it knows of a bounded number of requests.
func TestWarmFunctionForgets(t *testing.T) { //nolint:paralleltest // as above
	var maxWaits []int
	for i := range 100 {
		maxWaits = append(maxWaits, 3600+i)
	}
	h, events := newWarm(t, maxWaits...)
	allocations := testing.AllocsPerRun(2, func() {
		for _, event := range events {
			poll(t, h, event)
		}
	})
	require.Greater(t, allocations, float64(len(events)*warmAllocations))
}

// Invocations of one process share what it knows.
func TestWarmFunctionIsShared(t *testing.T) {
	t.Parallel()
	h, events := newWarm(t, 7200)
	var group sync.WaitGroup
	results, errs := make([]*handler.Result, 8), make([]error, 8)
	for i := range results {
		group.Go(func() { results[i], errs[i] = h.CheckStatus(context.Background(), events[0]) })
	}
	group.Wait()
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, pollcore.Running, result.Status)
	}
}
