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
	barsWidth  = 860
	indent     = 14
	nameLength = 30 // characters
)

// timeline draws when the run was in which state: a row for each state that was
// visited, a bar for each visit. In the bar of a Task there is one for each
// attempt, so that the waits for retries show. Visits that are too close to
// tell apart have one bar.
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
	b.WriteString(`<defs><pattern id="waiting" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
		`<rect class="ground" width="6" height="6"/><rect class="stripe" width="3" height="6"/></pattern></defs>` + "\n")
	axis(&b, r, lineHeight*len(visited))
	for i, row := range visited {
		drawRow(&b, row, r, lineHeight*i)
	}
	b.WriteString("</svg>\n")
	return template.HTML(b.String()) //nolint:gosec // names are escaped where they are written
}

// across is where a time stands in the timeline.
func across(t time.Time, r *sim.Result) float64 {
	whole := r.Stop.Sub(r.Start)
	if whole <= 0 {
		return nameWidth
	}
	return nameWidth + barsWidth*float64(t.Sub(r.Start))/float64(whole)
}

func drawRow(b *strings.Builder, row *row, r *sim.Result, y int) {
	fmt.Fprintf(b, `<text x="%d" y="%d">%s<title>%s</title></text>`+"\n", row.depth*indent, y+lineHeight-8,
		html.EscapeString(shorten(row.state.Name, nameLength-2*row.depth)), html.EscapeString(row.state.Name))
	const least = 2 // what a bar measures at least, and bars have between them
	for i := 0; i < len(row.visits); {
		first := row.visits[i]
		from, to, n := across(first.start, r), max(across(first.end, r), across(first.start, r)+least), 1
		for ; i+n < len(row.visits) && across(row.visits[i+n].start, r) < to+least; n++ {
			to = max(to, across(row.visits[i+n].end, r))
		}
		drawBar(b, row, row.visits[i:i+n], r, from, to, y+(lineHeight-barHeight)/2)
		i += n
	}
}

// drawBar draws the bar of visits that follow closely.
func drawBar(b *strings.Builder, row *row, visits []*visit, r *sim.Result, from, to float64, y int) {
	failures, class := 0, kind(row.state)
	for _, v := range visits {
		failures += v.failures()
		if v.err != "" && len(v.attempts) == 0 {
			failures++
		}
	}
	alone := len(visits) == 1 && failures > 0 && len(visits[0].attempts) > 1
	switch {
	case alone:
		class = "between"
	case failures > 0:
		class += " failed"
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect class="bar %s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"/>`,
		html.EscapeString(tip(row, visits, failures, r)), class, from, y, to-from, barHeight)
	if alone {
		for _, a := range visits[0].attempts {
			class := kind(row.state)
			if a.failed {
				class += " failed"
			}
			left := across(a.start, r)
			fmt.Fprintf(b, `<rect class="bar %s" x="%.1f" y="%d" width="%.1f" height="%d" rx="1"/>`,
				class, left, y, max(across(a.end, r)-left, 1), barHeight)
		}
	}
	b.WriteString("</g>\n")
}

// kind is the class of the bars of a state.
func kind(s *asl.State) string { return strings.ToLower(string(s.Type)) }

// tip is what a bar says when it is pointed at.
func tip(row *row, visits []*visit, failures int, r *sim.Result) string {
	start, end := visits[0].start, visits[0].end
	for _, v := range visits {
		if v.end.After(end) {
			end = v.end
		}
	}
	text := row.state.Name + ": "
	if len(visits) > 1 {
		text += fmt.Sprintf("%d visits, ", len(visits))
	}
	text += fmt.Sprintf("+%s to +%s (%s)", formatDuration(start.Sub(r.Start)), formatDuration(end.Sub(r.Start)), formatDuration(end.Sub(start)))
	if failures > 0 {
		text += fmt.Sprintf(", %d failed", failures)
	}
	if last := visits[len(visits)-1]; last.err != "" {
		text += ", " + last.err
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
			x, x, y, x, y+lineHeight-8, anchor, formatDuration(r.Duration()*time.Duration(i)/marks))
	}
}

// formatDuration writes a duration for people: at most three parts that count.
func formatDuration(d time.Duration) string {
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
