package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// TextOptions say how the text form looks.
type TextOptions struct {
	Options

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
	w := &textWriter{options: o, axis: axis{start: e.Start, stop: e.Stop}}
	w.head(e, visits, jobs)
	for i, j := range jobs {
		if i == textJobs {
			w.line("\nand %s", plural(len(jobs)-i, "more job"))
			break
		}
		w.job(j)
	}
	for _, l := range newLoopViews(o.loops(e), jobs) {
		w.loop(&l)
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
	text := strings.ReplaceAll(terminal.Sprintf(format, args...), "\t", " ")
	for strings.HasPrefix(text, "\n") {
		w.out.WriteByte('\n')
		text = text[1:]
	}
	w.out.WriteString(strings.TrimRight(fit(text, w.options.Columns), " ") + "\n")
}

// quote is a text on one line whose width is known: a tab has none.
func quote(text string) string { return strings.ReplaceAll(terminal.Quote(text), "\t", " ") }

// fit cuts a text to a width.
func fit(text string, columns int) string {
	if terminal.Width(text) <= columns {
		return text
	}
	return terminal.Cut(text, columns-1) + "…"
}

// pad fills a text up to a width.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-terminal.Width(text)))
}

// row writes a name and a text, in as many lines as it needs.
func (w *textWriter) row(name, format string, args ...any) {
	text := terminal.Sprintf(format, args...)
	width := max(w.options.Columns-textName-2, 20)
	for len(text) > 0 {
		part := terminal.Cut(text, width)
		if at := strings.LastIndexByte(part, ' '); len(part) < len(text) && at > width/2 {
			part = part[:at]
		}
		w.line("  %-*s%s", textName, name, part)
		text, name = strings.TrimPrefix(text[len(part):], " "), ""
	}
}

// paintLine writes a line that begins with a text in the colour of a word.
func (w *textWriter) paintLine(word, start, line string) {
	if line = strings.TrimRight(line, " "); w.options.Paint != nil && strings.HasPrefix(line, start) {
		line = w.options.Paint(word, start) + line[len(start):]
	}
	w.out.WriteString(line + "\n")
}

// paint paints a text that is part of a line already written without colours.
func (w *textWriter) paint(word, text string) string {
	if w.options.Paint == nil {
		return text
	}
	return w.options.Paint(word, text)
}

func (w *textWriter) head(e *history.Execution, visits *history.Visits, jobs []*history.Job) {
	status := quote(cut(e.Status, mostName))
	w.paintLine(e.Status, status, fit(quote(describeEnd(e)+"  "+cut(cmp.Or(e.Title, untitled), mostName)), w.options.Columns))
	known := map[string]bool{}
	for _, v := range listEnds(e, visits) {
		if key := endKey(v); !known[key] && len(known) < mostEnds {
			w.row("at", "%s %s", nameOf(v), cut(describeVisit(v), mostName))
			known[key] = true
		}
	}
	if e.Error != "" {
		w.row("error", "%s", cut(e.Error, mostPayload))
	}
	if e.Cause != "" {
		w.row("cause", "%s", cut(ExplainCause(e.Cause), mostPayload))
	}
	if e.Output != "" {
		w.row("output", "%s", cut(e.Output, mostCause))
	}
	w.row("started", "%s", formatDate(e.Start))
	if e.HasEnded() {
		w.row("ended", "%s", formatDate(e.Stop))
	}
	calls, polls := 0, 0
	for _, v := range visits.All {
		calls += len(v.Attempts)
	}
	for _, j := range jobs {
		polls += len(j.Polls)
	}
	events := FormatCount(len(e.Events))
	if !e.Express {
		usd, region := e.CostUSD()
		w.row("cost", "%s, $%.4f in %s", plural(e.Transitions, "transition"), usd, region)
		events += " of " + FormatCount(asl.MaxEvents)
	}
	w.row("events", "%s", events)
	text := FormatCount(calls)
	if polls > 0 {
		text += ", " + FormatCount(polls) + " of them polls"
	}
	w.row("calls", "%s", text)
	if n := e.CountRedrives(); n > 0 {
		w.row("redrives", "%s", FormatCount(n))
	}
	for _, note := range slices.Concat(e.Notes, delayNotes(visits)) {
		w.row("note", "%s", cut(note, mostPayload))
	}
}

// job writes the history of a status and the line of the polls.
func (w *textWriter) job(j *history.Job) {
	of := ""
	if j.ID != "" {
		of = " of " + cut(j.ID, mostName)
	}
	w.line("\n%s polls %s%s", cut(j.State, mostName), j.Operation, of)
	changes := j.Changes()
	for i, c := range changes {
		if left := len(changes) - textSteps; left > 0 && i >= textSteps/2 && i < textSteps/2+left {
			if i == textSteps/2 {
				w.line("  ... %s", plural(left, "more change"))
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
		w.columns(cut(f.Error, mostName), string(history.CallFailed), plural(f.Count, "call"), times)
	}
	for _, f := range facts(w.axis, j) {
		w.line("  %s", f.Text)
	}
	w.ribbon(j)
}

func (w *textWriter) change(j *history.Job, c history.Change) {
	verdict := ""
	if c.Verdict != history.Retry {
		verdict = string(c.Verdict)
	}
	polls, times := fmt.Sprintf("poll %s", FormatCount(c.First+1)), w.axis.since(j.Polls[c.First].At)
	if c.Last > c.First {
		polls = fmt.Sprintf("polls %s to %s", FormatCount(c.First+1), FormatCount(c.Last+1))
		times += " to " + w.axis.since(j.Polls[c.Last].At)
	}
	w.columns(cut(cmp.Or(c.Status, noStatus), mostName), verdict, polls, times)
}

// columns writes a line of the history of a status. A long status gives way to what
// is said of it.
func (w *textWriter) columns(status, verdict, polls, times string) {
	width := w.options.Columns - 2
	word := cmp.Or(verdict, string(history.Retry))
	status = quote(status)
	line := pad(status, 24) + " " + pad(verdict, 12) + " " + pad(polls, 20) + " " + times
	if terminal.Width(line) > width {
		rest := "  " + polls + "  " + times
		if verdict != "" {
			rest = "  " + verdict + rest
		}
		status = fit(status, max(width-len(rest), leastColumns/2))
		line = fit(status+rest, width)
	}
	w.out.WriteString("  ")
	w.paintLine(word, status, line)
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
		text := FormatDuration(at)
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
	widths, found := [4]int{}, 0
	for _, r := range l.Rows {
		for i, text := range []string{r.Values, r.Routes, r.Means, r.Seen} {
			widths[i] = max(widths[i], terminal.Width(text))
		}
		found = max(found, len(strings.TrimSpace(r.Severity+" "+r.Rule)))
	}
	left := w.options.Columns - found - widths[2] - widths[3] - 11 // 11 are between them
	below := found > 0 && widths[0]+widths[1] > left               // findings get lines of their own
	if below {
		left += found
	}
	widths[1] = min(widths[1], max(left/2, left-widths[0], leastColumns/2))
	widths[0] = min(widths[0], max(left-widths[1], leastColumns/2))
	for _, r := range l.Rows {
		finding := strings.TrimSpace(r.Severity + " " + r.Rule)
		row := finding
		if below {
			row = ""
		}
		w.line("  %*s %s -> %s  %s  %s", widths[3], r.Seen, pad(fit(r.Values, widths[0]), widths[0]), pad(fit(r.Routes, widths[1]), widths[1]),
			pad(r.Means, widths[2]), row)
		if below && finding != "" {
			w.line("  %*s   %s", widths[3], "", finding)
		}
	}
	if l.Unjudged != "" {
		w.line("  %s", l.Unjudged)
	}
	w.line("  %s", l.Bound)
}

// steps writes what happened.
func (w *textWriter) steps(strands []*strand) {
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
	if len(lines) > 0 {
		w.line("\nWhat happened")
	}
	for i, line := range lines {
		if left := len(lines) - textSteps; left > 0 && i >= textSteps/2 && i < textSteps/2+left {
			if i == textSteps/2 {
				w.line("  ... %s", plural(left, "more line"))
			}
			continue
		}
		w.line("%s", terminal.Lines(line))
	}
}

// step is the line of a group. Turns begin with their number: the names of their
// states may be long.
func (w *textWriter) step(g *group) string {
	var names, facts []string
	said, status := "", ""
	for _, v := range g.first() {
		names = append(names, nameOf(v))
		switch n := v.Failures(); {
		case v.Outcome != "" && v.Outcome != graph.Retried:
			said = cut(v.Describe(), mostName)
		case n > 0:
			said = plural(n, "failed call") + ", retried"
		}
	}
	if len(g.polls) > 0 {
		status = cut(g.polls[0].Status, mostName)
	}
	start := "  " + pad(w.axis.since(g.start()), 12) + " " + w.axis.clock(g.start()) + "  "
	if n := len(g.turns); n > 1 {
		times := FormatCount(n) + " times"
		if every := g.every(); every != "" {
			times += ", " + every
		}
		facts = append(facts, times, status, said, strings.Join(names, ", "))
	} else {
		took := ""
		if d := g.end().Sub(g.start()); d > 0 {
			took = FormatDuration(d)
		}
		facts = append(facts, names[0], took, status, said)
	}
	facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
	for i, fact := range facts {
		facts[i] = quote(fact)
	}
	if len(g.turns) == 1 {
		rest := terminal.Width(start + strings.Join(facts[1:], "  "))
		facts[0] = fit(facts[0], max(w.options.Columns-rest-2, leastColumns/2))
	}
	return start + strings.Join(facts, "  ")
}
