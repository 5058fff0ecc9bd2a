package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

var (
	//go:embed ribbon.css
	ribbonStyle string
	//go:embed marks.svg
	marks string
)

// Measures of a ribbon, in pixels from its top.
const (
	lifeTop      = 4
	lifeHeight   = 14
	tickTop      = 26
	ribbonHeight = 62
	noteLine     = 57
)

// ribbon is the polls of a job below its life.
type ribbon struct {
	Number    int
	State     string
	Row       int // of the state
	Operation string
	ID        string
	Polls     string
	Facts     []fact
	Changes   []changeView
	More      int // changes that are left out
	Drawing   template.HTML
}

// fact is something said of a job; bad if somebody should look at it.
type fact struct {
	Text string
	Bad  bool
}

// changeView is a line of the history of a status.
type changeView struct {
	Status, Verdict, Form, Polls, At, Until string
	Event                                   int64 // of the first poll; 0 if it is not in the page
	Note                                    string
}

// noStatus stands for the status of a response without one.
const noStatus = "(no status)"

// What a page shows of very many polls.
const (
	mostTitles = 5_000 // of marks: a job with more polls than are left has none
	mostRows   = 500   // lines of the histories of all statuses
	mostLabels = 2_000 // of stages
	mostDrawn  = 300   // jobs: those behind share one ribbon
	// narrowest is how wide a stage with a label is at least, in percent.
	narrowest = 0.1
)

// room is what is left of the page for ribbons.
type room struct{ titles, rows, labels int }

// forms are the marks of polls by their verdicts: the names of symbols in the page.
var forms = map[history.Verdict]string{
	history.Retry: "retry", history.Success: "success", history.Failure: "failure", history.CallFailed: "failed", history.Unknown: "unknown",
}

// ribboner draws the ribbons of a page.
type ribboner struct {
	axis axis
	e    *history.Execution
	left *room
	now  time.Time // of the clock; zero if the execution has ended
}

// draw draws the polls of a job, and those to come.
func (w *ribboner) draw(j *history.Job, planned []time.Time, number, row int) ribbon {
	a, e, left := w.axis, w.e, w.left
	r := ribbon{Number: number, State: cut(j.State, mostName), Row: row, Operation: j.Operation, ID: cut(j.ID, mostName), Polls: plural(len(j.Polls), "poll")}
	changes, failures := j.Changes(), j.Failures()
	all := len(changes) + len(failures)
	changes = changes[:min(len(changes), left.rows)]
	failures = failures[:min(len(failures), left.rows-len(changes))]
	left.rows -= len(changes) + len(failures)
	r.More = all - len(changes) - len(failures)
	for _, c := range changes {
		r.Changes = append(r.Changes, newChangeView(a, j, e, c))
	}
	for _, f := range failures {
		v := newChangeView(a, j, e, history.Change{Status: f.Error, Verdict: history.CallFailed, First: f.First, Last: f.Last})
		v.Polls, v.Note = plural(f.Count, "call"), cut(f.Cause, mostCause)
		r.Changes = append(r.Changes, v)
	}
	r.Facts = facts(a, j)
	d := drawing{axis: a, job: j, planned: planned, now: w.now, label: left.labelStage}
	d.polls = func(b *strings.Builder) { drawMarks(b, a, j, e, &left.titles) }
	r.Drawing = template.HTML(d.draw()) //nolint:gosec // texts are escaped where they are written
	return r
}

func newChangeView(a axis, j *history.Job, e *history.Execution, c history.Change) changeView {
	first, last := &j.Polls[c.First], &j.Polls[c.Last]
	v := changeView{
		Status: cut(cmp.Or(c.Status, noStatus), mostName), Verdict: string(c.Verdict), Form: forms[c.Verdict], At: a.when(first.At), Until: a.when(last.At),
		Polls: FormatCount(c.First + 1), Event: eventID(e, first.Visit, first.Event),
	}
	if c.Last > c.First {
		v.Polls = FormatCount(c.First+1) + " to " + FormatCount(c.Last+1)
	} else {
		v.Until = ""
	}
	return v
}

// facts says what came of the polling.
func facts(a axis, j *history.Job) []fact {
	var all []fact
	seen, acted := j.EndPoll(), j.ActPoll()
	late, exact, known := j.Lateness()
	lateness, end := formatLateness(late, exact)+" late", ""
	switch {
	case known && exact:
		end = fmt.Sprintf("ended at %s, seen by poll %s", a.when(j.Ended), FormatCount(seen+1))
	case known:
		end = fmt.Sprintf("end seen at %s by poll %s", a.when(j.Polls[seen].Answered), FormatCount(seen+1))
	}
	switch {
	case acted > seen:
		all = append(all, fact{"acted on " + lateness + ": " + end, true})
	case known:
		all = append(all, fact{end + ", " + lateness, false})
	default:
		all = append(all, fact{"the end of the job was not seen", false})
	}
	if seen >= 0 {
		if after := len(j.Polls) - seen - 1; after > 0 {
			took := j.Polls[len(j.Polls)-1].At.Sub(j.Polls[seen].At)
			all = append(all, fact{fmt.Sprintf("polled %s more after that, for %s", plural(after, "time"), FormatDuration(took)), true})
		}
	}
	failed := 0
	for _, f := range j.Failures() {
		failed += f.Count
	}
	if failed > 0 {
		all = append(all, fact{plural(failed, "call") + " failed", true})
	}
	if !j.Deadline.IsZero() {
		text := "deadline at " + a.when(j.Deadline)
		if j.Deadline.After(a.stop) {
			text += ", not reached"
		}
		all = append(all, fact{text, false})
	}
	return all
}

// formatLateness writes a lateness, which may be an upper bound.
func formatLateness(late time.Duration, exact bool) string {
	if exact {
		return FormatDuration(late)
	}
	return "at most " + FormatDuration(late)
}

// drawing is what differs between the ribbons of a page, which are as wide as their
// place, and those of a picture.
type drawing struct {
	axis  axis
	job   *history.Job
	polls func(*strings.Builder)
	// label is the name of a status in a stage so wide, in percent.
	label func(status string, width float64) string
	// planned are the polls to come, and now is the time of the clock: those of an
	// execution that runs.
	planned []time.Time
	now     time.Time
}

// draw draws the life of the job above and its polls below.
func (d *drawing) draw() string {
	a, j := d.axis, d.job
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="ribbon" role="img" aria-label="%s" width="100%%" height="%d">`,
		html.EscapeString(fmt.Sprintf("%s of %s", plural(len(j.Polls), "poll"), j.Operation)), ribbonHeight)
	d.drawLife(&b)
	fmt.Fprintf(&b, `<line class="base" x1="0" x2="100%%" y1="%d" y2="%d"/>`, tickTop+18, tickTop+18)
	fmt.Fprintf(&b, `<g transform="translate(0 %d)">`, tickTop)
	d.polls(&b)
	d.drawPlanned(&b)
	b.WriteString("</g>")
	d.drawNow(&b)
	if !j.Deadline.IsZero() && !j.Deadline.After(a.stop) {
		x := a.at(j.Deadline)
		fmt.Fprintf(&b, `<line class="wall" x1="%[1]s" x2="%[1]s" y1="0" y2="%[2]d"><title>deadline, %[3]s</title></line>`,
			round(x), tickTop+22, a.when(j.Deadline))
		drawNote(&b, x, "deadline")
	}
	b.WriteString("</svg>")
	return b.String()
}

// drawMarks draws a mark for each poll, which leads to its event. The tab key passes
// the marks by: there may be thousands before the rest of the page.
func drawMarks(b *strings.Builder, a axis, j *history.Job, e *history.Execution, titles *int) {
	titled := len(j.Polls) <= *titles
	if titled {
		*titles -= len(j.Polls)
	}
	for i := range j.Polls {
		p := &j.Polls[i]
		mark := fmt.Sprintf(`<use href="#%s" x="%s">`, forms[p.Verdict], round(a.at(p.At)))
		if titled {
			text := fmt.Sprintf("poll %s, %s: %s", FormatCount(i+1), a.when(p.At), cut(p.Status, mostEventName))
			if p.Verdict != history.Retry {
				text += " (" + string(p.Verdict) + ")"
			}
			mark += "<title>" + html.EscapeString(text) + "</title>"
		}
		mark += "</use>"
		if id := eventID(e, p.Visit, p.Event); id != 0 {
			mark = fmt.Sprintf(`<a href="#e%d" tabindex="-1">%s</a>`, id, mark)
		}
		b.WriteString(mark)
	}
}

// drawLife draws from when to when the job lived, as far as the service or the polls
// say, and the time from its end to the poll on which the machine acted.
func (d *drawing) drawLife(b *strings.Builder) {
	a, j := d.axis, d.job
	from, to := j.Started, j.Ended
	if from.IsZero() {
		from = j.Polls[0].At
	}
	seen, acted := j.EndPoll(), j.ActPoll()
	late, exact, known := j.Lateness()
	if to.IsZero() {
		to = j.Polls[len(j.Polls)-1].Answered
		if known {
			to = j.Polls[acted].Answered.Add(-late)
		}
	}
	for _, c := range j.Changes() {
		if seen >= 0 && c.First >= seen {
			continue
		}
		start := j.Polls[c.First].At
		if c.First == firstAnswer(j) {
			start = from
		}
		d.drawStage(b, start, stageEnd(j, c, to), cut(c.Status, mostName))
	}
	if seen == firstAnswer(j) && seen >= 0 && !j.Started.IsZero() && !j.Ended.IsZero() {
		d.drawStage(b, from, to, "")
	}
	if !known {
		return
	}
	left, right := a.at(to), a.at(j.Polls[acted].Answered)
	class, text := "gap", formatLateness(late, exact)+" late"
	if !exact {
		class = "gap open"
	}
	fmt.Fprintf(b, `<rect class="%s" x="%s" y="%d" width="%s" height="%d"><title>%s</title></rect>`,
		class, round(left), lifeTop, round(max(right-left, 0)), tickTop+18-lifeTop, text)
	status := cut(j.Polls[seen].Status, mostName)
	right = a.at(j.Polls[seen].Answered)
	fmt.Fprintf(b, `<line class="end %s" x1="%s" x2="%[2]s" y1="%d" y2="%d"/>`, forms[j.Polls[seen].Verdict], round(right), lifeTop, tickTop+18)
	drawNote(b, right, strings.TrimSpace(status+" "+a.since(j.Polls[seen].Answered)+", "+text))
}

// firstAnswer is the first poll that was answered.
func firstAnswer(j *history.Job) int {
	for i := range j.Polls {
		if j.Polls[i].Verdict != history.CallFailed {
			return i
		}
	}
	return -1
}

// stageEnd is when the next status was seen, or the job ended.
func stageEnd(j *history.Job, c history.Change, end time.Time) time.Time {
	for i := c.Last + 1; i < len(j.Polls); i++ {
		switch p := &j.Polls[i]; p.Verdict {
		case history.CallFailed:
		case history.Success, history.Failure:
			return end
		default:
			return p.At
		}
	}
	return end
}

// drawStage draws the time in which a job had a status, with its name.
func (d *drawing) drawStage(b *strings.Builder, from, to time.Time, status string) {
	left, right := d.axis.at(from), d.axis.at(to)
	if right <= left {
		return
	}
	label := d.label(status, right-left)
	if label == "" && right-left < narrowest { // the mark of the poll says more
		fmt.Fprintf(b, `<rect class="life" x="%s" y="%d" width="%s" height="%d"/>`, round(left), lifeTop, round(right-left), lifeHeight)
		return
	}
	fmt.Fprintf(b, `<svg x="%s" y="%d" width="%s" height="%d"><rect class="life" width="100%%" height="100%%"><title>%s</title></rect>%s</svg>`,
		round(left), lifeTop, round(right-left), lifeHeight,
		html.EscapeString(fmt.Sprintf("%s: %s to %s", status, d.axis.when(from), d.axis.when(to))), label)
}

// labelStage is the name of a status on a page, as far as there is room.
func (left *room) labelStage(status string, width float64) string {
	if width < narrowest || left.labels <= 0 {
		return ""
	}
	left.labels--
	return `<foreignObject width="100%" height="100%"><div class="stage">` + html.EscapeString(status) + `</div></foreignObject>`
}

// drawNote writes a text below a place, on the side where there is room.
func drawNote(b *strings.Builder, x float64, text string) {
	anchor := "start"
	if x > 50 {
		anchor = "end"
	}
	fmt.Fprintf(b, `<text class="note" x="%s" y="%d" text-anchor="%s">%s</text>`, round(x), noteLine, anchor, html.EscapeString(text))
}
