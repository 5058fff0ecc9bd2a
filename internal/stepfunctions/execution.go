package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// GetExecutionHistory is limited to 400 calls at once and 20 a second, for all of an
// account in a region: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
// Half of that is left to others.
const (
	historyBurst = 200
	historyPause = 100 * time.Millisecond
)

// pageSizes are how many events a page may have: fewer where an answer was too long.
var pageSizes = []int{1000, 100, 10}

// Record is the history of an execution as it grows.
type Record struct {
	client *Client
	arn    string
	size   int // index in pageSizes
	calls  int // of GetExecutionHistory

	events []any // newest last
	last   int64 // ID of the newest
	beside []any // answers that say what the history lacks
	notes  []string
}

// Record returns the record of an execution, without events yet.
func (c *Client) Record(arn string) *Record { return &Record{client: c, arn: arn} }

// Update reads the events that are new, and tells whether there are some. Its error
// is a *CallError.
func (r *Record) Update(ctx context.Context) (bool, error) {
	for {
		events, err := r.readNew(ctx)
		if errors.Is(err, awscall.ErrAnswer) && r.size < len(pageSizes)-1 {
			r.size++
			continue
		}
		if err != nil || len(events) == 0 {
			return false, err
		}
		slices.Reverse(events)
		r.events, r.last = append(r.events, events...), idOf(events[len(events)-1])
		return true, nil
	}
}

// Describe reads what the history does not say: the definition that the execution
// runs, and its own description. What may not be read is left out, with a note.
func (r *Record) Describe(ctx context.Context) error {
	for _, operation := range []string{"DescribeStateMachineForExecution", "DescribeExecution"} {
		var answer map[string]any
		err := r.client.do(ctx, operation, map[string]any{"executionArn": r.arn}, &answer)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			r.notes = append(r.notes, fmt.Sprintf("without %s, which could not be called: %s", operation, describeError(err)))
			continue
		}
		r.beside = append(r.beside, answer)
	}
	return nil
}

func describeError(err error) string {
	if call, ok := errors.AsType[*CallError](err); ok {
		err = call.Err
	}
	var coded interface {
		ErrorCode() string
		ErrorMessage() string
	}
	if errors.As(err, &coded) {
		return coded.ErrorCode() + ": " + coded.ErrorMessage()
	}
	return err.Error()
}

// Execution returns the execution as far as it was read.
func (r *Record) Execution() (*history.Execution, error) {
	text, err := json.Marshal(map[string]any{"events": r.events})
	if err != nil {
		return nil, err
	}
	for _, answer := range r.beside {
		more, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		text = append(text, more...)
	}
	e, err := history.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	e.Identify(r.arn)
	e.Notes = append(e.Notes, r.notes...)
	return e, nil
}

// readNew reads the events behind the last, newest first. All pages of a history are
// of one size, since its tokens are for the same request.
func (r *Record) readNew(ctx context.Context) ([]any, error) {
	size := pageSizes[r.size]
	if r.last > 0 {
		size = min(size, pageSizes[1]) // since the last time there are few
	}
	input := map[string]any{
		"executionArn": r.arn, "reverseOrder": true, "includeExecutionData": true, "maxResults": json.Number(strconv.Itoa(size)),
	}
	var all []any
	for {
		if err := r.pace(ctx); err != nil {
			return nil, err
		}
		var page struct {
			Events    []any
			NextToken string
		}
		if err := r.client.do(ctx, "GetExecutionHistory", input, &page); err != nil {
			return nil, err
		}
		for _, event := range page.Events {
			if r.last > 0 && idOf(event) <= r.last {
				return all, nil
			}
			all = append(all, event)
		}
		if page.NextToken == "" || len(page.Events) == 0 {
			return all, nil
		}
		input["nextToken"] = page.NextToken
	}
}

// pace waits before a call that would use more than its share of the quota.
func (r *Record) pace(ctx context.Context) error {
	if r.calls++; r.calls <= historyBurst {
		return nil
	}
	timer := time.NewTimer(historyPause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return failCall("GetExecutionHistory", context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}

// idOf is the ID of an event; 0 if it has none.
func idOf(event any) int64 {
	members, _ := event.(map[string]any)
	switch id := members["id"].(type) {
	case float64:
		return int64(id)
	case json.Number:
		n, _ := id.Int64()
		return n
	}
	return 0
}
