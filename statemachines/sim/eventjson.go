package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// EventFormat is how AppendEvent and AppendHistory write events.
type EventFormat struct {
	EpochTimes bool   // times are seconds since 1970 with milliseconds, as in the API's answers; else RFC 3339
	NoData     bool   // payloads are left out, as includeExecutionData false does
	Indent     string // of each level; empty: all on one line
}

// AppendHistory appends the events as the answer of GetExecutionHistory:
// {"events": [...]}.
func AppendHistory(dst []byte, events []Event, f EventFormat) []byte {
	w := eventWriter{text: dst, format: f}
	w.open('{')
	w.member("events")
	w.open('[')
	for i := range events {
		w.next()
		w.event(&events[i])
	}
	w.close(']')
	w.close('}')
	return w.text
}

// AppendEvent appends the event in AWS's shape: the details are the member that
// AWS names after the type of the event.
func AppendEvent(dst []byte, e *Event, f EventFormat) []byte {
	w := eventWriter{text: dst, format: f}
	w.event(e)
	return w.text
}

// MarshalJSON writes the event as AppendEvent does with the zero EventFormat.
func (e Event) MarshalJSON() ([]byte, error) { return AppendEvent(nil, &e, EventFormat{}), nil }

// eventWriter writes JSON as encoding/json does.
type eventWriter struct {
	text   []byte
	format EventFormat
	depth  int
	empty  bool // nothing is written yet at this level
}

func (w *eventWriter) event(e *Event) {
	w.open('{')
	details := detailsName(e.Type)
	written := false
	// The members are in the order of their names.
	for _, name := range [...]string{"id", "previousEventId", "timestamp", "type"} {
		if !written && details < name {
			w.details(details, e)
			written = true
		}
		w.member(name)
		switch name {
		case "id":
			w.text = strconv.AppendInt(w.text, e.ID, 10)
		case "previousEventId":
			w.text = strconv.AppendInt(w.text, e.PreviousEventID, 10)
		case "timestamp":
			w.time(e.Timestamp)
		default:
			w.string(string(e.Type))
		}
	}
	if !written {
		w.details(details, e)
	}
	w.close('}')
}

func (w *eventWriter) details(name string, e *Event) {
	d := e.Details()
	if e.Type != ExecutionAborted && e.Type != ActivityStarted && d.needs(nil) == 0 && d.Name == "" { // as AWS has it
		return
	}
	w.member(name)
	w.open('{')
	w.optional("name", d.Name)
	w.payload("input", d.Input, true)
	w.payload("output", d.Output, true)
	w.optional("resourceType", d.ResourceType)
	w.optional("resource", d.Resource)
	w.optional("region", d.Region)
	w.payload("parameters", d.Parameters, false)
	w.number("timeoutInSeconds", d.TimeoutInSeconds)
	w.number("heartbeatInSeconds", d.HeartbeatInSeconds)
	w.optional("error", d.Error)
	w.optional("cause", d.Cause)
	w.optional("roleArn", d.RoleArn)
	w.optional("stateMachineVersionArn", d.VersionArn)
	w.optional("stateMachineAliasArn", d.AliasArn)
	w.optional("workerName", d.WorkerName)
	w.optional("mapRunArn", d.MapRunArn)
	w.integer("index", d.Index)
	w.integer("length", d.Length)
	w.number("redriveCount", int64(d.RedriveCount))
	w.optional("state", d.State)
	w.optional("location", d.Location)
	if d.TaskCredentials != nil {
		w.member("taskCredentials")
		w.value(d.TaskCredentials.Value())
	}
	w.variables(d.AssignedVariables)
	w.close('}')
}

// payload writes JSON text in a string.
func (w *eventWriter) payload(name string, p *Payload, withDetails bool) {
	if p == nil {
		return
	}
	if !w.format.NoData {
		w.member(name)
		w.payloadText(p)
	}
	if withDetails {
		w.notTruncated(name)
	}
}

func (w *eventWriter) payloadText(p *Payload) {
	from := len(w.text)
	w.text = p.appendJSON(w.text)
	to := len(w.text)
	w.text = jsontree.AppendString(w.text, w.text[from:to], true)
	w.text = w.text[:from+copy(w.text[from:], w.text[to:])]
}

func (w *eventWriter) notTruncated(name string) {
	w.member(name + "Details")
	w.open('{')
	w.member("truncated")
	w.text = append(w.text, "false"...)
	w.close('}')
}

func (w *eventWriter) variables(assigned map[string]*Payload) {
	const name = "assignedVariables"
	if assigned == nil {
		return
	}
	if !w.format.NoData {
		w.member(name)
		w.open('{')
		for _, variable := range slices.Sorted(maps.Keys(assigned)) {
			w.member(variable)
			w.payloadText(assigned[variable])
		}
		w.close('}')
	}
	w.notTruncated(name)
}

func (w *eventWriter) value(value any) {
	switch v := value.(type) {
	case map[string]any:
		w.open('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			w.member(name)
			w.value(v[name])
		}
		w.close('}')
	case []any:
		w.open('[')
		for _, item := range v {
			w.next()
			w.value(item)
		}
		w.close(']')
	case string:
		w.string(v)
	default:
		w.text = jsontree.AppendValue(w.text, v)
	}
}

func (w *eventWriter) optional(name, value string) {
	if value != "" {
		w.member(name)
		w.string(value)
	}
}

func (w *eventWriter) number(name string, value int64) {
	if value != 0 {
		w.member(name)
		w.text = strconv.AppendInt(w.text, value, 10)
	}
}

func (w *eventWriter) integer(name string, value *int) {
	if value != nil {
		w.member(name)
		w.text = strconv.AppendInt(w.text, int64(*value), 10)
	}
}

func (w *eventWriter) time(t time.Time) {
	if !w.format.EpochTimes {
		w.text = append(w.text, '"')
		w.text = t.UTC().AppendFormat(w.text, timeLayout)
		w.text = append(w.text, '"')
		return
	}
	w.text = fmt.Appendf(w.text, "%d.%03d", t.Unix(), t.Nanosecond()/int(time.Millisecond))
}

func (w *eventWriter) string(s string) { w.text = jsontree.AppendString(w.text, s, true) }

func (w *eventWriter) open(bracket byte) {
	w.text = append(w.text, bracket)
	w.depth++
	w.empty = true
}

// next begins the next member or item.
func (w *eventWriter) next() {
	if !w.empty {
		w.text = append(w.text, ',')
	}
	w.empty = false
	w.line()
}

func (w *eventWriter) member(name string) {
	w.next()
	w.string(name)
	w.text = append(w.text, ':')
	if w.format.Indent != "" {
		w.text = append(w.text, ' ')
	}
}

func (w *eventWriter) close(bracket byte) {
	w.depth--
	if !w.empty {
		w.line()
	}
	w.empty = false
	w.text = append(w.text, bracket)
}

func (w *eventWriter) line() {
	if w.format.Indent == "" {
		return
	}
	w.text = append(w.text, '\n')
	for range w.depth {
		w.text = append(w.text, w.format.Indent...)
	}
}

// detailsName is the name of the member that holds the details of an event.
func detailsName(t EventType) string {
	name := string(t)
	for _, suffix := range []string{stateEntered, stateExited} {
		if strings.HasSuffix(name, suffix) {
			name = suffix
		}
	}
	first := min(1, len(name))
	return strings.ToLower(name[:first]) + name[first:] + "EventDetails"
}

const timeLayout = "2006-01-02T15:04:05.000Z"

// formatTime writes a time as AWS does in the context object.
func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }
