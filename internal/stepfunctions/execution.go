package stepfunctions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// pageSizes are how many events a page may have: fewer where an answer was too long.
var pageSizes = []int{1000, 100, 10}

// Record is the history of an execution as it grows.
type Record struct {
	client *Client
	arn    string
	size   int // index in pageSizes

	events []any // newest last
	last   int64 // ID of the newest

	// Of an update that broke off:
	newer []any          // events
	read  map[int64]bool // the IDs of its pages
	token string         // of the page behind them

	descriptions [2]description // of the operations that describe it
}

// description is the answer of an operation that says what the history lacks.
type description struct {
	operation string
	answer    map[string]any // nil if there is none yet
	err       *CallError     // of the last call, if it had no answer
}

// isSettled tells that calling again would say nothing new.
func (d *description) isSettled() bool {
	return d.answer != nil || d.err != nil && !goerror.Passes(d.err)
}

// Record returns the record of an execution, without events yet.
func (c *Client) Record(arn string) *Record {
	return &Record{client: c, arn: arn, read: map[int64]bool{}, descriptions: [...]description{
		{operation: "DescribeStateMachineForExecution"}, {operation: "DescribeExecution"},
	}}
}

// Update reads the events that are new, and tells whether there are some. Its error
// is a *CallError; after one that passes, the next Update goes on where this one broke
// off.
func (r *Record) Update(ctx context.Context) (bool, error) {
	for {
		err := r.readNew(ctx)
		if errors.Is(err, awscall.ErrAnswer) && r.size < len(pageSizes)-1 {
			r.size++
			r.restart() // tokens are for pages of one size
			continue
		}
		if err != nil {
			return false, err
		}
		events := r.newer
		if r.restart(); len(events) == 0 {
			return false, nil
		}
		slices.SortStableFunc(events, func(a, b any) int { return cmp.Compare(idOf(a), idOf(b)) })
		r.events, r.last = append(r.events, events...), idOf(events[len(events)-1])
		return true, nil
	}
}

// Describe reads what the history does not say: the definition that the execution
// runs, and its own description. An operation that has answered or refused is not
// called again. The error is that of one which may answer later.
func (r *Record) Describe(ctx context.Context) error {
	var later error
	for i := range r.descriptions {
		d := &r.descriptions[i]
		if d.isSettled() {
			continue
		}
		err := r.client.do(ctx, d.operation, map[string]any{"executionArn": r.arn}, &d.answer)
		if ctx.Err() != nil {
			return err
		}
		d.err, _ = errors.AsType[*CallError](err)
		if !d.isSettled() {
			later = err
		}
	}
	return later
}

// Lacking returns the errors of the descriptions that have no answer.
func (r *Record) Lacking() []*CallError {
	var all []*CallError
	for _, d := range r.descriptions {
		if d.err != nil {
			all = append(all, d.err)
		}
	}
	return all
}

// Execution returns the execution as far as it was read.
func (r *Record) Execution() (*history.Execution, error) {
	text, err := json.Marshal(map[string]any{"events": r.events})
	if err != nil {
		return nil, err
	}
	for _, d := range r.descriptions {
		if d.answer == nil {
			continue
		}
		more, err := json.Marshal(d.answer)
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
	return e, nil
}

// restart lets the next update begin with the newest page.
func (r *Record) restart() { r.newer, r.read, r.token = nil, map[int64]bool{}, "" }

// readNew reads the events behind the last into newer. All pages are of one size,
// since a token is for the same request.
func (r *Record) readNew(ctx context.Context) error {
	size := pageSizes[r.size]
	if r.last > 0 {
		size = min(size, pageSizes[1]) // since the last time there are few
	}
	input := map[string]any{
		"executionArn": r.arn, "reverseOrder": true, "includeExecutionData": true, "maxResults": json.Number(strconv.Itoa(size)),
	}
	for {
		if r.token != "" {
			input["nextToken"] = r.token
		}
		if err := r.client.pace(ctx, "GetExecutionHistory", regionOf(r.arn)); err != nil {
			return err
		}
		var page struct {
			Events    []any
			NextToken string
		}
		if err := r.client.do(ctx, "GetExecutionHistory", input, &page); err != nil {
			return err
		}
		done, err := r.add(page.Events)
		if err != nil {
			return err
		}
		if r.token = page.NextToken; done || r.token == "" || len(page.Events) == 0 {
			return nil
		}
	}
}

// add adds what is new in a page, and tells whether the pages behind it have nothing
// new. A page that has only events of earlier ones is refused: it could go on for ever.
func (r *Record) add(page []any) (bool, error) {
	before := len(r.read)
	oldest := int64(math.MaxInt64)
	newestFirst, known := true, false
	for _, event := range page {
		id := idOf(event)
		newestFirst, oldest = newestFirst && id <= oldest, min(id, oldest)
		switch {
		case r.read[id]:
		case r.last > 0 && id <= r.last:
			known = true
		default:
			r.newer = append(r.newer, event)
		}
		r.read[id] = true
	}
	switch {
	case len(page) > 0 && len(r.read) == before:
		return false, failCall("GetExecutionHistory", fmt.Errorf("%w: its pages repeat themselves", ErrAnswer))
	case len(r.newer) > asl.MaxEvents:
		return false, failCall("GetExecutionHistory", fmt.Errorf("%w: the history has more than %d events", ErrAnswer, asl.MaxEvents))
	}
	// Emulators of AWS give the oldest first, whatever they are asked for.
	return known && newestFirst, nil
}

// regionOf is the region of an ARN; empty if it has none.
func regionOf(arn string) string {
	if parts := strings.Split(arn, ":"); len(parts) > 3 {
		return parts[3]
	}
	return ""
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
