package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// What a trace shows of a long history and of a long payload.
const (
	traceHead    = 60
	traceTail    = 60
	tracePayload = 100 // characters
)

// Trace returns what happened, an event a line: see [Event.Trace]. The middle
// of a long history is left out.
func (r *Result) Trace() string {
	var b strings.Builder
	for i, e := range r.Events {
		if skipped := len(r.Events) - traceHead - traceTail; skipped > 0 && i >= traceHead && i < traceHead+skipped {
			if i == traceHead {
				fmt.Fprintf(&b, "%15s  %d events\n", "...", skipped)
			}
			continue
		}
		b.WriteString(e.Trace(r.Start))
		b.WriteByte('\n')
	}
	return b.String()
}

// Trace returns the event on one line: the time since start, the type, the
// state, and what went in or out, shortened.
func (e Event) Trace(start time.Time) string {
	d := e.Details
	var line strings.Builder
	fmt.Fprintf(&line, "%15s  %-24s", "+"+formatElapsed(e.Timestamp.Sub(start)), e.Type)
	for _, part := range []string{d.Name, d.State, d.Resource} {
		if part != "" {
			line.WriteString(" " + part)
		}
	}
	if d.Index != nil {
		line.WriteString(" [" + strconv.Itoa(*d.Index) + "]")
	}
	if d.Error != "" || d.Cause != "" {
		line.WriteString(" " + strconv.Quote(d.Error) + ": " + shorten(d.Cause))
	}
	for _, p := range []struct {
		mark    string
		payload *Payload
	}{{"<", d.Input}, {"<", d.Parameters}, {">", d.Output}} {
		if p.payload != nil {
			line.WriteString(" " + p.mark + " " + shorten(string(p.payload.JSON())))
		}
	}
	return strings.TrimRight(line.String(), " ")
}

// formatElapsed writes a duration as h:mm:ss.mmm.
func formatElapsed(d time.Duration) string {
	d = d.Round(time.Millisecond)
	h, m, s := d/time.Hour, d/time.Minute%60, d%time.Minute
	return fmt.Sprintf("%d:%02d:%06.3f", h, m, s.Seconds())
}

func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= tracePayload {
		return text
	}
	return string([]rune(text)[:tracePayload]) + "..."
}
