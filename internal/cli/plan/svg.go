package plan

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// The parts of the picture as SVG, in pixels.
const (
	svgWidth  = 600
	svgNames  = 144 // beside the axis
	svgAxis   = 440
	svgTop    = 62 // of the durations
	svgHeight = 72 // of the durations
	svgLabels = 30 // of the axis
	svgLine   = 42 // of a schedule
	svgFoot   = 22
	svgParts  = svgAxis // of the curve
	svgTitle  = 70      // characters
)

// The colours are literal, and those of a dark page replace them: not every program that
// draws an SVG knows variables of CSS.
const svgStyle = `:root { color-scheme: light dark; }
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1c2330; } .title { font-size: 14px; font-weight: 600; }
.name { font-size: 13px; font-weight: 600; } .soft { fill: #5a6576; font-size: 11px; } .best { fill: #1b7f3b; }
.back { fill: #ffffff; } .band { fill: #f1f6fd; } .jobs { fill: #cfe0f8; stroke: #2f6fd0; } .grid { stroke: #dde2ea; }
.polls { stroke: #7d8899; fill: none; } .polls.planned { stroke: #1b7f3b; stroke-width: 2.5; stroke-linecap: round; }
@media (prefers-color-scheme: dark) { text { fill: #e7ebf2; } .soft { fill: #9fabbd; } .best { fill: #5fce85; }
.back { fill: #14181f; } .band { fill: #1a2432; } .jobs { fill: #27405f; stroke: #6ea8ff; } .grid { stroke: #313947; }
.polls { stroke: #8d99ac; } .polls.planned { stroke: #5fce85; } }
`

// svg draws the picture: when jobs end, and below it when each schedule polls. Where
// there is a schedule of today, the backoff, which nobody should take, is left out.
func (p *plot) svg() string {
	lines := p.lines
	if len(lines) > 0 && lines[0].name == todayName {
		lines = nil
		for _, l := range p.lines {
			if l.name != doublingName {
				lines = append(lines, l)
			}
		}
	}
	var b strings.Builder
	bottom := svgTop + svgHeight
	rows := bottom + svgLabels
	height := rows + svgLine*len(lines) + svgFoot
	terminal.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n",
		svgWidth, height, svgWidth, height)
	terminal.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n", xmlText(p.title), xmlText(p.describe(lines)))
	b.WriteString("<style>\n" + svgStyle + "</style>\n")
	terminal.Fprintf(&b, `<rect class="back" width="100%%" height="100%%"/>`+"\n"+
		`<text class="title" x="12" y="24">%s</text><text class="soft" x="12" y="43">%s</text>`+"\n",
		xmlText(terminal.Cut(p.title, svgTitle)), xmlText(p.about()))
	from, to := p.across(p.durations.Quantile(plotShortest).Seconds()), p.across(p.durations.Quantile(1-plotShortest).Seconds())
	terminal.Fprintf(&b, `<rect class="band" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", from, bottom, max(1, to-from), height-svgFoot-bottom)
	for _, t := range p.labels(svgAxis / 60) { //nolint:mnd // room for a label
		x := p.across(t.Seconds())
		terminal.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+
			`<text class="soft" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, x, svgTop, bottom+6, x, x, rows-6, height-svgFoot, x, bottom+19, kit.ShortDuration(t)) //nolint:mnd // the baseline
	}
	terminal.Fprintf(&b, `<text class="name" x="12" y="%d">jobs end</text><text class="soft" x="12" y="%d">%s</text><path class="jobs" d="%s"/>`+"\n",
		bottom-24, bottom-8, xmlText(p.ends()), p.curve(float64(bottom))) //nolint:mnd // baselines
	for i, l := range lines {
		y := rows + svgLine*i
		class, name := "polls", "name"
		if l.name == plannedName {
			class, name = "polls planned", "name best"
		}
		terminal.Fprintf(&b, `<text class="%s" x="12" y="%d">%s</text><text class="soft" x="12" y="%d">%s</text><path class="%s" d="%s"/>`+"\n",
			name, y+15, xmlText(l.name), y+31, xmlText(l.about), class, p.strokes(l.polls, y)) //nolint:mnd // baselines
	}
	terminal.Fprintf(&b, `<text class="soft" x="%d" y="%d" text-anchor="middle">time since the start of the job; each line is a poll</text>`+"\n",
		svgNames+svgAxis/2, height-8) //nolint:mnd // the baseline
	b.WriteString("</svg>\n")
	return b.String()
}

// describe is the picture in words.
func (p *plot) describe(lines []plotLine) string {
	parts := []string{p.subtitle + "; " + p.goal}
	for _, l := range lines {
		parts = append(parts, l.name+": "+l.about)
	}
	return strings.Join(parts, ". ")
}

// about is what the picture says below its title, in one line: the goal if there is room.
func (p *plot) about() string {
	const room = 88 // of smaller letters
	if all := p.subtitle + "; " + p.goal; terminal.Width(all) <= room {
		return all
	}
	return terminal.Cut(p.subtitle, room)
}

// ends says when most jobs end.
func (p *plot) ends() string {
	from, to := p.durations.Quantile(0.05), p.durations.Quantile(0.95) //nolint:mnd // 90 %
	if from == to {
		return "all at " + wholeText(to.Seconds())
	}
	if a, b := wholeText(from.Seconds()), wholeText(to.Seconds()); len(a)+len(b) <= 9 { //nolint:mnd // room
		return fmt.Sprintf("90 %%: %s to %s", a, b)
	}
	return "median " + wholeText(p.durations.Quantile(0.5).Seconds()) //nolint:mnd // the median
}

func xmlText(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a buffer takes all
	}
	return b.String()
}

// across is where a time stands on the axis.
func (p *plot) across(seconds float64) float64 {
	return svgNames + svgAxis*min(1, max(0, p.place(seconds)))
}

// curve is the outline of the shares of the jobs above a line.
func (p *plot) curve(bottom float64) string {
	shares := p.shares(svgParts)
	highest := 1e-12
	for _, share := range shares {
		highest = max(highest, share)
	}
	var b strings.Builder
	before := ""
	terminal.Fprintf(&b, "M%d %.1f", svgNames, bottom)
	const step = float64(svgAxis) / svgParts
	for i, share := range shares {
		if height := fmt.Sprintf("V%.1f", bottom-share/highest*svgHeight); i == 0 || height != before {
			if i > 0 {
				terminal.Fprintf(&b, "H%.1f", svgNames+step*float64(i))
			}
			b.WriteString(height)
			before = height
		}
	}
	terminal.Fprintf(&b, "H%d", svgNames+svgAxis)
	terminal.Fprintf(&b, "V%.1fZ", bottom)
	return b.String()
}

// strokes are the polls of a schedule, each place once.
func (p *plot) strokes(polls []float64, y int) string {
	var b strings.Builder
	last := -1.0
	for _, t := range polls {
		place := p.place(t)
		x := svgNames + svgAxis*place
		if place < 0 || place > 1 || x-last < 0.5 { //nolint:mnd // nobody sees it
			continue
		}
		terminal.Fprintf(&b, "M%.1f %dv22", x, y+7) //nolint:mnd // the middle of the line
		last = x
	}
	return b.String()
}
