package report

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// eventsPerTable is how many events stand in one table, which opens by itself.
const eventsPerTable = 1_000

// What the table says of events besides their numbers and times.
const (
	mostDetails = 450 << 10 // bytes of all: behind that texts have the least
	leastDetail = 20
	leastName   = 12 // of a state
)

// ditto stands for the state of the row above.
const ditto = "″"

// eventTable is a part of the events.
type eventTable struct {
	Title string
	Open  bool
	Last  int64 // event
	Rows  template.HTML
}

// newEventTables writes all events. The rows are not left to the template: they are
// most of the page.
func newEventTables(a axis, e *history.Execution, visits *history.Visits, rows map[string]*row) []eventTable {
	var all []eventTable
	left := mostDetails
	for start := 0; start < len(e.Events); start += eventsPerTable {
		part := e.Events[start:min(start+eventsPerTable, len(e.Events))]
		var b strings.Builder
		before := ""
		for i := range part {
			state := cut(part[i].Name, mostName)
			if v := visits.Of[start+i]; state == "" && v != nil {
				state = nameOf(v)
			}
			if state != "" && state == before {
				writeEvent(&b, a, &part[i], visits.IsPoll(start+i), ditto, nil, &left)
				continue
			}
			writeEvent(&b, a, &part[i], visits.IsPoll(start+i), state, rows[state], &left)
			before = state
		}
		first, last := &part[0], &part[len(part)-1]
		all = append(all, eventTable{
			Title: fmt.Sprintf("%s to %s, %s to %s", FormatCount(int(first.ID)), FormatCount(int(last.ID)), a.when(first.Time), a.when(last.Time)),
			Open:  len(e.Events) <= 100,
			Last:  last.ID,
			Rows:  template.HTML(b.String()), //nolint:gosec // texts are escaped where they are written
		})
	}
	return all
}

func writeEvent(b *strings.Builder, a axis, event *history.Event, polled bool, state string, r *row, left *int) {
	b.WriteString("<tr id=e")
	b.WriteString(strconv.FormatInt(event.ID, 10))
	if event.IsFailure() && !polled {
		b.WriteString(" class=bad")
	}
	b.WriteString("><td>")
	b.WriteString(strconv.FormatInt(event.ID, 10))
	b.WriteString("<td>")
	if event.Previous != event.ID-1 {
		b.WriteString(strconv.FormatInt(event.Previous, 10))
	}
	b.WriteString("<td>")
	b.WriteString(formatClock(event.Time.Sub(a.start)))
	b.WriteString("<td>")
	b.WriteString(a.clock(event.Time))
	b.WriteString("<td>")
	before := b.Len()
	b.WriteString(html.EscapeString(cutEscaped(event.Type, mostEventName)))
	b.WriteString("<td>")
	if r != nil && *left > 0 {
		b.WriteString("<a href=#s")
		b.WriteString(strconv.Itoa(r.number))
		b.WriteString(">")
		writeText(b, cut(state, mostEventName), *left, leastName)
		b.WriteString("</a>")
	} else {
		writeText(b, cut(state, mostEventName), *left, leastName)
	}
	b.WriteString("<td>")
	writeText(b, detail(event), *left, leastDetail)
	*left -= b.Len() - before
	b.WriteString("\n")
}

// writeText writes a text as HTML, in the least bytes if nothing is left for more.
func writeText(b *strings.Builder, text string, left, least int) {
	if left <= 0 {
		text = cutEscaped(text, least)
	}
	b.WriteString(html.EscapeString(text))
}

// cutEscaped shortens a text to so many bytes of HTML.
func cutEscaped(text string, limit int) string {
	for at, r := range text {
		if limit -= len(html.EscapeString(string(r))); limit < 0 {
			return text[:at] + "…"
		}
	}
	return text
}

// detail is what an event tells besides its type and state.
func detail(event *history.Event) string {
	var parts []string
	if !strings.HasSuffix(event.Type, "Started") && !strings.HasSuffix(event.Type, "Succeeded") || event.Resource == "" {
		parts = append(parts, cut(event.Resource, mostName))
	}
	parts = append(parts, cut(event.Location, mostName), cut(event.Error, mostName), cut(event.Cause, mostEventCause))
	if event.Index >= 0 {
		parts = append(parts, "item "+strconv.Itoa(event.Index))
	}
	if event.Length >= 0 {
		parts = append(parts, plural(event.Length, "item"))
	}
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" · ")
		}
		b.WriteString(part)
	}
	return b.String()
}
