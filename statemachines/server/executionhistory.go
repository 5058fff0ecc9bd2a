package server

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type getExecutionHistoryInput struct {
	ExecutionArn         string `json:"executionArn"`
	MaxResults           int    `json:"maxResults"`
	ReverseOrder         bool   `json:"reverseOrder"`
	NextToken            string `json:"nextToken"`
	IncludeExecutionData *bool  `json:"includeExecutionData"`
}

type getExecutionHistoryOutput struct {
	Events    json.RawMessage `json:"events"`
	NextToken string          `json:"nextToken,omitempty"`
}

// maxPageBytes ends a page of a history early: a thousand events may hold a quarter of
// a gigabyte.
const maxPageBytes = 8 << 20

func getExecutionHistory(r *request, in *getExecutionHistoryInput) (*getExecutionHistoryOutput, error) {
	k, err := r.findExecution(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	query := in.ExecutionArn + strconv.FormatBool(in.ReverseOrder)
	var last int64 // id of the last event of the page before; 0 for the first page
	if in.NextToken != "" {
		text, err := r.openToken(query, in.NextToken)
		if err != nil {
			return nil, err
		}
		last, _ = strconv.ParseInt(text, 10, 64) // as sealed below
	}
	events, more := pageOf(k.run, last, cmp.Or(in.MaxResults, defaultPage), in.ReverseOrder)
	out := &getExecutionHistoryOutput{Events: json.RawMessage{'['}}
	format := sim.EventFormat{EpochTimes: true, NoData: in.IncludeExecutionData != nil && !*in.IncludeExecutionData}
	for i := range events {
		if i > 0 {
			out.Events = append(out.Events, ',')
		}
		out.Events = sim.AppendEvent(out.Events, &events[i], format)
		last = events[i].ID
		if len(out.Events) > maxPageBytes && i < len(events)-1 {
			more = true
			break
		}
	}
	out.Events = append(out.Events, ']')
	if more {
		out.NextToken, err = r.sealToken(query, strconv.FormatInt(last, 10))
	}
	return out, err
}

// pageOf returns at most n events behind the last one, and whether there are others
// behind them.
func pageOf(run *sim.Execution, last int64, n int, reverse bool) (events []sim.Event, more bool) {
	if !reverse {
		events = run.Events(last, n+1)
		if more = len(events) > n; more {
			events = events[:n]
		}
		return events, more
	}
	if last == 0 {
		last = run.Progress().Events + 1
	}
	after := max(0, last-1-int64(n))
	events = run.Events(after, int(last-1-after))
	slices.Reverse(events)
	return events, after > 0
}
