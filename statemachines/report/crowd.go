package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// mostStatuses is how many statuses the line of a job names.
const mostStatuses = 4

// newCrowdRow is all that the page says of a job without a ribbon of its own: a line
// of a table. Its statuses lead to the events of the polls that saw them first.
func newCrowdRow(a axis, j *history.Job, e *history.Execution, number, row int) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, "<tr id=job%d><td><a href=#s%d>%s</a><td>%s<td>%s<td>", number, row,
		html.EscapeString(cutEscaped(j.State, leastDetail)), html.EscapeString(cutEscaped(j.ID, mostEventName)), FormatCount(len(j.Polls)))
	changes := j.Changes()
	for i, c := range changes {
		if i == mostStatuses {
			b.WriteString(" and " + FormatCount(len(changes)-i) + " more")
			break
		}
		if i > 0 {
			b.WriteString(" → ")
		}
		first := &j.Polls[c.First]
		status := html.EscapeString(cutEscaped(cmp.Or(c.Status, noStatus), leastDetail))
		if id := eventID(e, first.Visit, first.Event); id != 0 {
			status = fmt.Sprintf("<a href=#e%d>%s</a>", id, status)
		}
		b.WriteString(status)
		if c.Verdict != history.Retry {
			b.WriteString(" " + string(c.Verdict))
		}
	}
	failed := 0
	for _, f := range j.Failures() {
		failed += f.Count
	}
	if failed > 0 {
		b.WriteString(" " + plural(failed, "call") + " failed")
	}
	b.WriteString("<td>")
	if late, exact, known := j.Lateness(); known {
		b.WriteString(a.since(j.Polls[j.EndPoll()].Answered) + ", ")
		b.WriteString(formatLateness(late, exact) + " late")
	} else {
		b.WriteString("not seen")
	}
	b.WriteString("\n")
	return template.HTML(b.String()) //nolint:gosec // texts are escaped where they are written
}

// drawCrowd draws the polls of many jobs on one line.
func drawCrowd(a axis, jobs []*history.Job, e *history.Execution, left *room) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="ribbon" role="img" aria-label="polls of %s" width="100%%" height="%d">`, plural(len(jobs), "job"), crowdHeight)
	for _, j := range jobs {
		drawMarks(&b, a, j, e, &left.titles)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // texts are escaped where they are written
}

// crowdHeight is that of a line of marks, in pixels.
const crowdHeight = 24
