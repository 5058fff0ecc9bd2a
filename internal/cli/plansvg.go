package cli

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// The parts of the picture as SVG, in pixels.
const (
	svgNames  = 150 // beside the axis
	svgAxis   = 600
	svgRight  = 20
	svgTop    = 30
	svgHeight = 100 // of the durations
	svgLabels = 24  // of the axis
	svgLine   = 36  // of a schedule
	svgParts  = 200 // of the curve
)

const svgStyle = `:root { color-scheme: light dark; --ink: #1c2330; --soft: #5a6576; --line: #dde2ea; --back: #ffffff;
  --jobs: #cfe0f8; --edge: #2f6fd0; --poll: #1b7f3b; --other: #6f7b8c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebf2; --soft: #9fabbd; --line: #313947; --back: #14181f;
  --jobs: #27405f; --edge: #6ea8ff; --poll: #5fce85; --other: #8d99ac; } }
text { font: 12px system-ui, sans-serif; fill: var(--ink); } .soft { fill: var(--soft); font-size: 11px; } .back { fill: var(--back); }
.jobs { fill: var(--jobs); stroke: var(--edge); stroke-width: 1; } .grid { stroke: var(--line); }
.polls { stroke: var(--other); stroke-width: 1.2; fill: none; } .planned { stroke: var(--poll); stroke-width: 2; }
`

// svg draws the picture: when jobs end, and below it when each schedule polls.
func (p *plot) svg() string {
	var b strings.Builder
	height := svgTop + svgHeight + svgLabels + svgLine*len(p.lines)
	width := svgNames + svgAxis + svgRight
	terminal.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	terminal.Fprintf(&b, "<title>%s</title>\n", xmlText(p.title))
	b.WriteString("<style>\n" + svgStyle + "</style>\n")
	terminal.Fprintf(&b, `<rect class="back" width="100%%" height="100%%"/>`+"\n"+`<text x="10" y="20">%s</text>`+"\n", xmlText(p.title))
	bottom := svgTop + svgHeight
	for _, t := range p.labels(svgAxis / 60) { //nolint:mnd // room for a label
		x := svgNames + svgAxis*p.place(t.Seconds())
		terminal.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text class="soft" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, x, svgTop, height-4, x, bottom+15, shortDuration(t)) //nolint:mnd // the baseline
	}
	terminal.Fprintf(&b, `<text class="soft" x="10" y="%d">jobs end</text><path class="jobs" d="%s"/>`+"\n",
		bottom-4, p.curve(float64(bottom))) //nolint:mnd // the baseline
	for i, l := range p.lines {
		y := bottom + svgLabels + svgLine*i
		class := "polls"
		if l.name == plannedName {
			class += " planned"
		}
		terminal.Fprintf(&b, `<text x="10" y="%d">%s</text><text class="soft" x="10" y="%d">%s</text><path class="%s" d="%s"/>`+"\n",
			y+12, xmlText(l.name), y+26, xmlText(l.about), class, p.strokes(l.polls, y)) //nolint:mnd // baselines
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func xmlText(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a buffer takes all
	}
	return b.String()
}

// curve is the outline of the shares of the jobs above a line.
func (p *plot) curve(bottom float64) string {
	shares := p.shares(svgParts)
	highest := 1e-12
	for _, share := range shares {
		highest = max(highest, share)
	}
	var b strings.Builder
	terminal.Fprintf(&b, "M%d %.1f", svgNames, bottom)
	const step = float64(svgAxis) / svgParts
	for i, share := range shares {
		terminal.Fprintf(&b, "V%.1fH%.1f", bottom-share/highest*svgHeight, svgNames+step*float64(i+1))
	}
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
		terminal.Fprintf(&b, "M%.1f %dv20", x, y+4) //nolint:mnd // a distance to the line above
		last = x
	}
	return b.String()
}
