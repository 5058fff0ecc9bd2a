package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ErrNoHistory means that a text is not the history of one execution.
var ErrNoHistory = errors.New("expected the history of an execution, such as {\"events\": [...]} of \"aws stepfunctions get-execution-history\"")

// Read reads the history of an execution. The text is one of these, or several, one
// after the other: the answer of GetExecutionHistory, what "jobpoller run" writes
// with --history or -o jsonl, the log of an Express workflow as lines or as CloudWatch
// Logs gives it, and the answers of DescribeExecution and
// DescribeStateMachineForExecution. Its error matches ErrNoHistory if there is no
// event, or if there are several executions: of two ARNs, or with two events of one ID.
func Read(text []byte) (*Execution, error) {
	text = renameDetails(text)
	r := &reader{e: &Execution{}, places: map[int64]int{}}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		rest := bytes.TrimSpace(text[decoder.InputOffset():])
		if len(rest) == 0 {
			break
		}
		var d document
		var to any = &d
		if rest[0] == '[' {
			d.Events = []wireEvent{}
			to = &d.Events
		}
		switch err := decoder.Decode(to); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: the text is cut off: it ends in the middle of a JSON value", ErrNoHistory)
		case err != nil:
			return nil, fmt.Errorf("%w: behind byte %d: %w", ErrNoHistory, decoder.InputOffset(), err)
		}
		if err := r.add(&d); err != nil {
			return nil, err
		}
	}
	if len(r.e.Events) == 0 {
		return nil, fmt.Errorf("%w, found no event", ErrNoHistory)
	}
	r.e.settle()
	return r.e, nil
}

// renameDetails gives the details of all events one name: AWS names them after the
// type of the event. In JSON a string before a colon is a name, and a quote in a
// string has a backslash before it.
func renameDetails(text []byte) []byte {
	const suffix, name = `EventDetails"`, `"details"`
	out := make([]byte, 0, len(text))
	for {
		before, after, found := bytes.Cut(text, []byte(suffix))
		start := bytes.LastIndexByte(before, '"')
		if !found || start < 0 {
			return append(out, text...)
		}
		if bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":")) {
			out = append(append(out, before[:start]...), name...)
		} else {
			out = append(append(out, before...), suffix...)
		}
		text = after
	}
}

// reader puts together what the parts of a text say.
type reader struct {
	e      *Execution
	places map[int64]int // of events by their IDs
}

// document is any of the objects that a text may have.
type document struct {
	wireEvent // of a log

	Events    []wireEvent `json:"events"`
	NextToken string      `json:"nextToken"`
	Event     *wireEvent  `json:"event"` // of a line of "run -o jsonl"
	Result    *struct {
		ExecutionARN string `json:"executionArn"`
	} `json:"result"` // of its last
	ExecutionARN string     `json:"executionArn"`
	Status       string     `json:"status"`
	Start        *timestamp `json:"startDate"`
	Stop         *timestamp `json:"stopDate"`
	Input        string     `json:"input"`
	Output       string     `json:"output"`
	Error        string     `json:"error"`
	Cause        string     `json:"cause"`
	Definition   string     `json:"definition"`
}

func (r *reader) add(d *document) error {
	switch {
	case d.Events != nil:
		if d.NextToken != "" {
			r.e.note("the file is one page of several: the history goes on")
		}
		for i := range d.Events {
			if err := r.event(&d.Events[i]); err != nil {
				return err
			}
		}
		return nil
	case d.Event != nil:
		return r.event(d.Event)
	case d.Result != nil:
		return r.e.name(d.Result.ExecutionARN)
	case d.Definition != "":
		m, err := asl.Parse([]byte(d.Definition))
		if err != nil {
			return fmt.Errorf("the definition beside the history: %w", err)
		}
		r.e.Machine, r.e.Express = m, r.e.Express || d.Type == "EXPRESS"
		return nil
	case d.ExecutionARN != "":
		return r.describe(d)
	case d.Message != nil || d.Type != "":
		return r.event(&d.wireEvent)
	}
	return fmt.Errorf("%w, found an object without events", ErrNoHistory)
}

// describe takes in what DescribeExecution says.
func (r *reader) describe(d *document) error {
	e := r.e
	e.Status, e.Input, e.Output, e.Error, e.Cause = d.Status, d.Input, d.Output, d.Error, d.Cause
	if d.Start != nil {
		e.Start = d.Start.Time
	}
	if d.Stop != nil {
		e.Stop = d.Stop.Time
	}
	return e.name(d.ExecutionARN)
}

// name takes in the ARN of the execution, which a text may repeat.
func (e *Execution) name(arn string) error {
	switch {
	case arn == "":
	case e.ARN == "":
		e.Identify(arn)
	case e.ARN != arn:
		return fmt.Errorf("%w, found several: %s and %s", ErrNoHistory, e.ARN, arn)
	}
	return nil
}

// Identify gives the execution its ARN, and what that says of it.
func (e *Execution) Identify(arn string) {
	e.ARN, e.Title = arn, nameOf(arn)
	if parts := strings.Split(arn, ":"); len(parts) > 5 {
		e.Region, e.Express = parts[3], parts[5] == "express"
	}
}

// nameOf is the name of an execution with an ARN.
func nameOf(arn string) string {
	parts := strings.SplitN(arn, ":", 8)
	if len(parts) < 8 {
		return arn
	}
	return parts[7]
}

// wireEvent is an event in the form of the API or of a log: there members have
// other names, and numbers are texts.
type wireEvent struct {
	ID        flexible     `json:"id"`
	Previous  flexible     `json:"previousEventId"`
	Before    flexible     `json:"previous_event_id"`
	Timestamp *timestamp   `json:"timestamp"`
	LogTime   flexible     `json:"event_timestamp"` // milliseconds
	Type      string       `json:"type"`
	ARN       string       `json:"execution_arn"`
	Message   *string      `json:"message"` // of CloudWatch Logs: the line
	Details   *wireDetails `json:"details"`
}

// wireDetails are the details of any event.
type wireDetails struct {
	Name         string            `json:"name"`
	Input        string            `json:"input"`
	Output       string            `json:"output"`
	Parameters   string            `json:"parameters"`
	Resource     string            `json:"resource"`
	ResourceType string            `json:"resourceType"`
	Region       string            `json:"region"`
	Error        string            `json:"error"`
	Cause        string            `json:"cause"`
	State        string            `json:"state"`
	Location     string            `json:"location"`
	Index        *int              `json:"index"`
	Length       *int              `json:"length"`
	Assigned     map[string]string `json:"assignedVariables"`
}

// event takes in an event.
func (r *reader) event(w *wireEvent) error {
	number := len(r.e.Events) + 1
	if w.Message != nil {
		line := renameDetails([]byte(*w.Message))
		w = &wireEvent{}
		if err := json.Unmarshal(line, w); err != nil {
			return fmt.Errorf("%w: line %d of the log: %w", ErrNoHistory, number, err)
		}
	}
	if w.Type == "" {
		return fmt.Errorf("%w: event %d has no type", ErrNoHistory, number)
	}
	if err := r.e.name(w.ARN); err != nil {
		return err
	}
	event := Event{ID: int64(w.ID), Previous: int64(max(w.Previous, w.Before)), Type: w.Type, Index: -1, Length: -1}
	if event.ID == 0 {
		event.ID = int64(number)
	}
	switch {
	case w.Timestamp != nil && w.LogTime == 0:
		event.Time = w.Timestamp.Time
	case w.LogTime != 0:
		event.Time = time.UnixMilli(int64(w.LogTime)).UTC()
	}
	if d := w.Details; d != nil {
		event.Name, event.Input, event.Output, event.Parameters = d.Name, d.Input, d.Output, d.Parameters
		event.Resource, event.ResourceType, event.Region = d.Resource, d.ResourceType, d.Region
		event.Error, event.Cause, event.Location, event.Assigned = d.Error, d.Cause, d.Location, d.Assigned
		if event.Name == "" {
			event.Name = d.State
		}
		if d.Index != nil {
			event.Index = *d.Index
		}
		if d.Length != nil {
			event.Length = *d.Length
		}
	}
	if place, known := r.places[event.ID]; known && r.e.Events[place].contradicts(&event) {
		return fmt.Errorf("%w, found two events with the ID %d (%.40s and %.40s): pass the history of one execution",
			ErrNoHistory, event.ID, r.e.Events[place].Type, event.Type)
	}
	r.places[event.ID] = len(r.e.Events)
	r.e.Events = append(r.e.Events, event)
	return nil
}

// flexible is a whole number, or its text.
type flexible int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *flexible) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		return fmt.Errorf("expected a whole number, found %.40s", text)
	}
	*n = flexible(value)
	return nil
}

// timestamp is a time as the versions of the AWS CLI and the API write it: RFC 3339,
// or seconds since 1970, or milliseconds, or as Python prints it.
type timestamp struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *timestamp) UnmarshalJSON(text []byte) error {
	var err error
	t.Time, err = parseTime(strings.Trim(string(text), `"`))
	return err
}

// mostSeconds is the last second of the year 9999, behind which JSON has no times.
const mostSeconds = 253402300799

// parseTime reads a time as services write it in JSON.
func parseTime(text string) (time.Time, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > mostSeconds { // of CloudWatch Logs, in milliseconds
			seconds /= 1000
		}
		if math.Abs(seconds) > mostSeconds || math.IsNaN(seconds) {
			return time.Time{}, fmt.Errorf("expected a time, found %.40s", text)
		}
		return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), nil
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("expected a time such as 2026-01-01T00:00:00Z, found %.40q", text)
}

// layouts are how programs write times as text: RFC 3339, and Python's str and isoformat
// of a datetime, with a zone or, in UTC, without one.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
}
