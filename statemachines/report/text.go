package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// TextOptions say how the text form looks.
type TextOptions struct {
	// Columns is how wide a line is, at least 20; 0 means 80.
	Columns int
	// Paint gives a text the colour of a word such as FAILED or "success"; nil
	// leaves it.
	Paint func(word, text string) string
}

// What the text shows of a long execution.
const (
	textColumns  = 80
	leastColumns = 20
	textJobs     = 8
	textSteps    = 40 // lines, half of them from the end
	textName     = 14 // columns of a name
)

// signs are the marks of polls in a line, the weightiest first: a sign stands for
// all polls of its time.
var signs = []struct {
	verdict history.Verdict
	sign    byte
	means   string
}{
	{history.CallFailed, 'x', "call failed"},
	{history.Failure, 'F', "failure"},
	{history.Success, 'S', "success"},
	{history.Unknown, '?', "not judged"},
	{history.Retry, '.', "still runs"},
}

// Text returns the report for a terminal: how the execution ended, the history of the
// status of each job with a line of its polls, the tables of the loops, and what
// happened, with equal turns of loops folded.
func Text(e *history.Execution, o TextOptions) string {
	if o.Columns <= 0 {
		o.Columns = textColumns
	}
	o.Columns = max(o.Columns, leastColumns)
	visits := e.FindVisits()
	jobs := e.FindJobs(visits)
	w := &textWriter{options: o, axis: axis{e.Start, e.Stop}}
	w.head(e, visits, jobs)
	for i, j := range jobs {
		if i == textJobs {
			w.line("\nand %s more", plural(len(jobs)-i, "job"))
			break
		}
		w.job(j)
	}
	if e.Machine != nil {
		for _, l := range newLoopViews(e.Machine, e.Express, jobs) {
			w.loop(&l)
		}
	}
	polls := map[*history.Visit]*history.Poll{}
	for _, j := range jobs {
		for k := range j.Polls {
			polls[j.Polls[k].Visit] = &j.Polls[k]
		}
	}
	w.steps(foldVisits(visits.All, polls))
	return w.out.String()
}

type textWriter struct {
	options TextOptions
	axis    axis
	out     strings.Builder
}

// line writes a line, cut to the width. Its arguments are quoted.
func (w *textWriter) line(format string, args ...any) {
	text := terminal.Sprintf(format, args...)
	for strings.HasPrefix(text, "\n") {
		w.out.WriteByte('\n')
		text = text[1:]
	}
	if utf8.RuneCountInString(text) > w.options.Columns {
		text = string([]rune(text)[:w.options.Columns-1]) + "…"
	}
	w.out.WriteString(strings.TrimRight(text, " ") + "\n")
}

// row writes a name and a text, in as many lines as it needs.
func (w *textWriter) row(name, format string, args ...any) {
	text := terminal.Sprintf(format, args...)
	width := max(w.options.Columns-textName-2, 20)
	for len(text) > 0 {
		part := text
		if utf8.RuneCountInString(part) > width {
			part = string([]rune(part)[:width])
			if at := strings.LastIndexByte(part, ' '); at > width/2 {
				part = part[:at]
			}
		}
		w.line("  %-*s%s", textName, name, part)
		text, name = strings.TrimPrefix(text[len(part):], " "), ""
	}
}

// paint paints a text that is part of a line already written without colours.
func (w *textWriter) paint(word, text string) string {
	if w.options.Paint == nil {
		return text
	}
	return w.options.Paint(word, text)
}

func (w *textWriter) head(e *history.Execution, visits *history.Visits, jobs []*history.Job) {
	title := e.Title
	if title == "" {
		title = "Execution"
	}
	after := " after " + formatDuration(e.Duration())
	if !e.HasEnded() {
		after = ", " + formatDuration(e.Duration()) + " after its start"
	}
	w.out.WriteString(terminal.Quote(cut(title, mostName)) + "  " + w.paint(e.Status, terminal.Quote(e.Status)) + after + "\n")
	if e.Error != "" {
		w.row("error", "%s", cut(e.Error, mostPayload))
	}
	if e.Cause != "" {
		w.row("cause", "%s", cut(e.Cause, mostPayload))
	}
	if e.Output != "" {
		w.row("output", "%s", cut(e.Output, mostCause))
	}
	calls, polls := 0, 0
	for _, v := range visits.All {
		calls += len(v.Attempts)
	}
	for _, j := range jobs {
		polls += len(j.Polls)
	}
	events := formatCount(len(e.Events))
	if !e.Express {
		usd, region := e.CostUSD()
		w.row("cost", "%s, $%.4f in %s", plural(e.Transitions, "transition"), usd, region)
		events += " of " + formatCount(asl.MaxEvents)
	}
	w.row("events", "%s", events)
	text := formatCount(calls)
	if polls > 0 {
		text += ", " + formatCount(polls) + " of them polls"
	}
	w.row("calls", "%s", text)
	if n := e.CountRedrives(); n > 0 {
		w.row("redrives", "%s", formatCount(n))
	}
	for _, note := range e.Notes {
		w.row("note", "%s", note)
	}
}

// job writes the history of a status and the line of the polls.
func (w *textWriter) job(j *history.Job) {
	of := ""
	if j.ID != "" {
		of = " of " + cut(j.ID, mostName)
	}
	w.line("\n%s polls %s%s", j.State, j.Operation, of)
	changes := j.Changes()
	for i, c := range changes {
		if left := len(changes) - textSteps; left > 0 && i >= textSteps/2 && i < textSteps/2+left {
			if i == textSteps/2 {
				w.line("  ... %s more", plural(left, "change"))
			}
			continue
		}
		w.change(j, c)
	}
	for _, f := range j.Failures() {
		times := w.axis.since(j.Polls[f.First].At)
		if f.Count > 1 {
			times += " to " + w.axis.since(j.Polls[f.Last].At)
		}
		w.columns(f.Error, string(history.CallFailed), plural(f.Count, "call"), times)
	}
	for _, f := range facts(w.axis, j) {
		w.line("  %s", f.Text)
	}
	w.ribbon(j)
}

func (w *textWriter) change(j *history.Job, c history.Change) {
	status := c.Status
	if status == "" {
		status = "(no status)"
	}
	verdict := ""
	if c.Verdict != history.Retry {
		verdict = string(c.Verdict)
	}
	polls, times := fmt.Sprintf("poll %s", formatCount(c.First+1)), w.axis.since(j.Polls[c.First].At)
	if c.Last > c.First {
		polls = fmt.Sprintf("polls %s to %s", formatCount(c.First+1), formatCount(c.Last+1))
		times += " to " + w.axis.since(j.Polls[c.Last].At)
	}
	w.columns(status, verdict, polls, times)
}

// columns writes a line of the history of a status.
func (w *textWriter) columns(status, verdict, polls, times string) {
	line := terminal.Sprintf("%-24s %-12s %-20s %s", cut(status, textColumns), verdict, polls, times)
	if columns := w.options.Columns - 2; utf8.RuneCountInString(line) > columns {
		line = string([]rune(line)[:columns-1]) + "…"
	}
	if shown := terminal.Quote(status); strings.HasPrefix(line, shown) {
		line = w.paint(cmp.Or(verdict, string(history.Retry)), shown) + line[len(shown):]
	}
	w.out.WriteString("  " + strings.TrimRight(line, " ") + "\n")
}

// ribbon writes the polls of a job as one line, and the times below.
func (w *textWriter) ribbon(j *history.Job) {
	columns := w.options.Columns - 2
	cells := make([]byte, columns)
	weights := make([]int, columns)
	place := func(at time.Time) int { return min(int(w.axis.at(at)/100*float64(columns)), columns-1) }
	used := map[byte]bool{}
	for i := range j.Polls {
		p := &j.Polls[i]
		for weight, s := range signs {
			if at := place(p.At); s.verdict == p.Verdict && len(signs)-weight > weights[at] {
				cells[at], weights[at] = s.sign, len(signs)-weight
			}
		}
	}
	if !j.Deadline.IsZero() && !j.Deadline.After(w.axis.stop) {
		cells[place(j.Deadline)] = '|'
		used['|'] = true
	}
	var line strings.Builder
	for len(cells) > 0 {
		sign, run := cells[0], slices.IndexFunc(cells, func(c byte) bool { return c != cells[0] })
		if run < 0 {
			run = len(cells)
		}
		cells = cells[run:]
		if sign == 0 {
			line.WriteString(strings.Repeat(" ", run))
			continue
		}
		used[sign] = true
		line.WriteString(w.paint(wordOf(sign), strings.Repeat(string(sign), run)))
	}
	w.out.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
	w.ticks(columns)
	var legend []string
	for _, s := range signs {
		if used[s.sign] {
			legend = append(legend, string(s.sign)+" "+s.means)
		}
	}
	if used['|'] {
		legend = append(legend, "| deadline")
	}
	w.line("  %s", strings.Join(legend, "  "))
}

// wordOf is the verdict that a sign stands for.
func wordOf(sign byte) string {
	for _, s := range signs {
		if s.sign == sign {
			return string(s.verdict)
		}
	}
	return ""
}

// ticks writes round times below a line, as far as they fit.
func (w *textWriter) ticks(columns int) {
	var line strings.Builder
	for _, at := range w.axis.ticks(8) {
		place := int(w.axis.at(w.axis.start.Add(at)) / 100 * float64(columns))
		text := formatDuration(at)
		if place < line.Len()+min(line.Len(), 2) || place+len(text) > columns {
			continue
		}
		line.WriteString(strings.Repeat(" ", place-line.Len()) + text)
	}
	w.line("  %s", line.String())
}

func (w *textWriter) loop(l *loopView) {
	w.line("\n%s", strings.ReplaceAll(l.Title, "→", "->"))
	if len(l.Rows) > 0 {
		w.line("  how often each status was seen, and where it leads:")
	}
	widths := [4]int{}
	for _, r := range l.Rows {
		for i, text := range []string{r.Values, r.Routes, r.Means, r.Seen} {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for _, r := range l.Rows {
		found := strings.TrimSpace(r.Severity + " " + r.Rule)
		w.line("  %*s %-*s -> %-*s  %-*s  %s", widths[3], r.Seen, widths[0], r.Values, widths[1], r.Routes, widths[2], r.Means, found)
	}
	w.line("  %s", l.Bound)
}

// steps writes what happened.
func (w *textWriter) steps(strands []*strand) {
	w.line("\nWhat happened")
	var lines []string
	for i, s := range strands {
		if i > 0 && len(strands) > 3 {
			lines = append(lines, fmt.Sprintf("  and %s of branches or iterations", plural(len(strands)-i, "sequence")))
			break
		}
		if i > 0 {
			first := s.groups[0].first()[0]
			lines = append(lines, terminal.Sprintf("  in a branch or iteration, %s", nameOf(first)))
		}
		for _, g := range s.groups {
			lines = append(lines, w.step(g))
		}
	}
	for i, line := range lines {
		if left := len(lines) - textSteps; left > 0 && i >= textSteps/2 && i < textSteps/2+left {
			if i == textSteps/2 {
				w.line("  ... %s more", plural(left, "line"))
			}
			continue
		}
		w.line("%s", terminal.Lines(line))
	}
}

func (w *textWriter) step(g *group) string {
	var names []string
	failed := ""
	for _, v := range g.first() {
		names = append(names, cut(nameOf(v), mostName))
		if v.Error != "" {
			failed = "  " + v.Error
		} else if n := v.Failures(); n > 0 {
			failed = "  " + plural(n, "failed call")
		}
	}
	text := strings.Join(names, ", ")
	if len(g.turns) > 1 {
		mean, _ := g.every()
		text += fmt.Sprintf("  %s times, every %s", formatCount(len(g.turns)), formatDuration(mean))
	} else if took := g.end().Sub(g.start()); took > 0 {
		text += "  " + formatDuration(took)
	}
	if len(g.polls) > 0 && g.polls[0].Status != "" {
		text += "  " + g.polls[0].Status
	}
	return terminal.Sprintf("  %-12s %s%s", w.axis.since(g.start()), text, failed)
}
