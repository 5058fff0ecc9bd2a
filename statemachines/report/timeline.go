package report

import (
	"fmt"
	"html"
	"html/template"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The measures of the timeline, in units of its drawing.
const (
	lineHeight = 24
	barHeight  = 14
	nameWidth  = 220
	barsWidth  = 700
	indent     = 14
	nameLength = 30 // characters
)

// timeline draws when the run was in which state: a row for each state that was
// visited, a bar for each visit, a tick for each failure. Bars that are too close
// to tell apart become one.
func timeline(all []*row, r *sim.Result) template.HTML {
	var visited []*row
	for _, row := range all {
		if len(row.visits) > 0 {
			visited = append(visited, row)
		}
	}
	width, height := nameWidth+barsWidth+indent, lineHeight*(len(visited)+1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="timeline" role="img" aria-label="Timeline" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n",
		width, height, width, height)
	for i, row := range visited {
		drawRow(&b, row, r, lineHeight*i)
	}
	axis(&b, r, lineHeight*len(visited))
	b.WriteString("</svg>\n")
	return template.HTML(b.String()) //nolint:gosec // names are escaped where they are written
}

func drawRow(b *strings.Builder, row *row, r *sim.Result, y int) {
	fmt.Fprintf(b, `<text x="%d" y="%d">%s<title>%s</title></text>`+"\n", row.depth*indent, y+lineHeight-8,
		html.EscapeString(shorten(row.state.Name, nameLength-2*row.depth)), html.EscapeString(row.state.Name))
	x := func(t time.Time) float64 {
		whole := r.Stop.Sub(r.Start)
		if whole <= 0 {
			return nameWidth
		}
		return nameWidth + barsWidth*float64(t.Sub(r.Start))/float64(whole)
	}
	const least = 2 // what a bar measures at least, and bars have between them
	for i := 0; i < len(row.visits); {
		first := row.visits[i]
		from, to, n := x(first.start), max(x(first.end), x(first.start)+least), 1
		failed := len(first.failures) > 0
		for ; i+n < len(row.visits) && x(row.visits[i+n].start) < to+least; n++ {
			to = max(to, x(row.visits[i+n].end))
			failed = failed || len(row.visits[i+n].failures) > 0
		}
		fmt.Fprintf(b, `<rect class="bar %s%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s</title></rect>`+"\n",
			kind(row.state), failure(failed), from, y+(lineHeight-barHeight)/2, to-from, barHeight, html.EscapeString(tip(row, first, row.visits[i+n-1], n, r)))
		i += n
	}
}

// failure is the class of a bar with a failure in it.
func failure(failed bool) string {
	if failed {
		return " failed"
	}
	return ""
}

// kind is the class of the bars of a state.
func kind(s *asl.State) string { return strings.ToLower(string(s.Type)) }

// tip is what a bar says when it is pointed at.
func tip(row *row, first, last *visit, n int, r *sim.Result) string {
	times := ""
	if n > 1 {
		times = fmt.Sprintf("%d visits, ", n)
	}
	text := fmt.Sprintf("%s: %s+%s to +%s (%s)", row.state.Name, times, elapsed(first.start.Sub(r.Start)), elapsed(last.end.Sub(r.Start)),
		elapsed(last.end.Sub(first.start)))
	if first.err != "" {
		text += ", " + first.err
	}
	return text
}

// axis writes the times below the bars.
func axis(b *strings.Builder, r *sim.Result, y int) {
	const marks = 5
	for i := range marks + 1 {
		x := nameWidth + barsWidth*i/marks
		anchor := map[int]string{0: "start", marks: "end"}[i]
		if anchor == "" {
			anchor = "middle"
		}
		fmt.Fprintf(b, `<line class="mark" x1="%d" x2="%d" y1="0" y2="%d"/><text class="time" x="%d" y="%d" text-anchor="%s">%s</text>`+"\n",
			x, x, y, x, y+lineHeight-8, anchor, elapsed(r.Elapsed()*time.Duration(i)/marks))
	}
}

// elapsed writes a duration for people: at most three parts that count.
func elapsed(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return d.Round(time.Second).String()
	case d >= time.Minute:
		return d.Round(time.Second / 10).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}

// shorten cuts a text to so many characters.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= max(most, 1) {
		return text
	}
	return string(runes[:max(most-1, 1)]) + "…"
}
