package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/fold"
)

// What a trace shows of a long history and of a long payload.
const (
	traceHead    = 40 // lines
	traceTail    = 40
	tracePayload = 100 // characters
)

// Trace returns what happened, an event a line: see [Event.Trace]. Of a loop it
// shows the first turn and the last, and of a history that is still long its
// start and its end.
func (r *Result) Trace() string {
	var lines []string
	done := 0
	for _, part := range fold.Loops(r.steps()) {
		turn := func(n int) {
			for _, e := range r.Events[done+n*part.Size:][:part.Size] {
				lines = append(lines, e.Trace(r.Start))
			}
		}
		turn(0)
		if skipped := part.Times - 2; skipped > 0 {
			last := r.Events[done+(part.Times-1)*part.Size-1]
			lines = append(lines, fmt.Sprintf("%15s  %d more turns of these %d events, until +%s", "...", skipped, part.Size,
				formatElapsed(last.Timestamp.Sub(r.Start))))
		}
		if part.Times > 1 {
			turn(part.Times - 1)
		}
		done += part.Size * part.Times
	}
	if skipped := len(lines) - traceHead - traceTail; skipped > 0 {
		lines = slices.Replace(lines, traceHead, traceHead+skipped, fmt.Sprintf("%15s  %d more lines", "...", skipped))
	}
	return strings.Join(append(lines, ""), "\n")
}

// step is what an event has in common with its like in another turn of a loop.
type step struct {
	kind                        EventType
	name, state, resource, code string
}

func (r *Result) steps() []step {
	out := make([]step, len(r.Events))
	for i, e := range r.Events {
		d := e.Details()
		out[i] = step{e.Type, d.Name, d.State, d.Resource, d.Error}
	}
	return out
}

// Trace returns the event on one line: the time since start, the type, the
// state, and what went in or out, shortened.
func (e Event) Trace(start time.Time) string {
	d := e.Details()
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
