package graph

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// margin is around the whole drawing.
const margin = 16

// SVG draws the graph. The drawing needs nothing else: it has its own style,
// which follows the reader's light or dark colour scheme. The same graph gives
// the same bytes.
func (g *Graph) SVG() []byte {
	g.laidOut.Do(func() { g.layOut(g.flow) })
	d := &drawing{g: g}
	legend := g.flow.outcomes()
	width, height := g.flow.width+2*margin, g.flow.height+2*margin
	if len(legend) > 0 {
		width = max(width, legendWidth+2*margin)
		height += legendHeight(legend) + margin
	}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="asl-graph" role="img" width="%s" height="%s" viewBox="0 0 %s %s">`+"\n",
		number(width), number(height), number(width), number(height))
	d.printf("<title>%s</title>\n<desc>%s</desc>\n<style>\n%s</style>\n", text(g.title), text(g.describe()), style)
	d.printf(`<rect class="page" width="%s" height="%s"/>`+"\n", number(width), number(height))
	d.flow(g.flow, point{(width - g.flow.width) / 2, margin})
	if len(legend) > 0 {
		d.legend(legend, point{margin, g.flow.height + 2*margin})
	}
	d.printf("</svg>\n")
	return d.out.Bytes()
}

// describe says in a sentence what the drawing shows.
func (g *Graph) describe() string {
	states, visited := 0, 0
	for n := range g.flow.states {
		states++
		if n.visits > 0 {
			visited++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "A state machine with %d %s that starts at %q", states, plural(states, "state", "states"), g.flow.wires[0].to.name)
	if g.visits {
		fmt.Fprintf(&b, "; %d of them %s visited", visited, plural(visited, "was", "were"))
	}
	for _, o := range g.flow.outcomes() {
		for n := range g.flow.states {
			if n.ending.Outcome == o {
				fmt.Fprintf(&b, "; %q: %s", n.name, n.ending.Text)
			}
		}
	}
	if g.comment != "" {
		b.WriteString(". " + g.comment)
	}
	return b.String()
}

// states calls yield with every state of the flow and of the flows inside.
func (f *flow) states(yield func(*node) bool) {
	f.eachState(yield)
}

func (f *flow) eachState(yield func(*node) bool) bool {
	for _, n := range f.nodes {
		if n.kind == kindState && !yield(n) {
			return false
		}
		for _, inner := range n.flows {
			if !inner.eachState(yield) {
				return false
			}
		}
	}
	return true
}

// drawing is an SVG under way.
type drawing struct {
	g   *Graph
	out bytes.Buffer
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// text escapes a text for SVG.
func text(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a buffer takes all
	}
	return strings.ReplaceAll(b.String(), "&#xA;", "\n")
}

func number(v float64) string { return string(appendNumber(nil, v)) }

// flow draws a flow with its origin at a point: the lines that were not taken
// first, so that those that were lie above them, then the nodes, then the
// labels.
func (d *drawing) flow(f *flow, at point) {
	for _, taken := range []bool{false, true} {
		for _, t := range f.trunks {
			d.trunk(t, at, taken)
		}
		for _, w := range f.wires {
			if (d.g.takes && w.takes() > 0) == taken {
				d.wire(w, at)
			}
		}
	}
	for _, n := range f.nodes {
		d.node(n, point{at.x + n.x, at.y + n.y})
	}
	for _, w := range f.wires {
		if w.label != nil {
			d.label(w, at)
		}
	}
}

// class is the class of a line, or of its label.
func (d *drawing) class(kind string, dashed, caught bool, takes int) string {
	if dashed {
		kind += " dashed"
	}
	switch {
	case !d.g.takes:
		return kind
	case takes > 0 && caught:
		return kind + " taken " + string(Caught)
	case takes > 0:
		return kind + " taken"
	default:
		return kind + " untaken"
	}
}

func (d *drawing) trunk(t *trunk, at point, taken bool) {
	for i, p := range t.path {
		if (d.g.takes && p.takes > 0) != taken {
			continue
		}
		d.printf(`<g class="%s"><title>%s</title><path class="wire-line" d="%s"/>`,
			d.class("wire", t.dashed, t.isCaught(), p.takes), text("to "+t.to.node.title()), p.path.data(at))
		if i == len(t.path)-1 {
			d.printf(`<path class="arrow" d="%s"/>`, t.arrow.data(at))
		}
		d.printf("</g>\n")
	}
}

func (d *drawing) wire(w *wire, at point) {
	d.printf(`<g class="%s"><title>%s</title><path class="wire-line" d="%s"/>`,
		d.class("wire", w.dashed, w.isCaught(), w.takes()), text(d.describe(w)), w.path.data(at))
	if w.arrow != nil {
		d.printf(`<path class="arrow" d="%s"/>`, w.arrow.data(at))
	}
	d.printf("</g>\n")
}

// describe says in full what a wire stands for.
func (d *drawing) describe(w *wire) string {
	var lines []string
	for _, way := range w.ways {
		line := w.from.title() + " → " + w.to.title()
		switch {
		case w.dashed:
			line += " on " + way.long
		case way.long == "otherwise":
			line += " otherwise"
		case way.long != "":
			line += " if " + way.long
		}
		if d.g.takes && w.from.kind == kindState {
			line += fmt.Sprintf(" (taken %d %s)", way.takes, plural(way.takes, "time", "times"))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (n *node) title() string {
	switch n.kind {
	case kindStart:
		return "Start"
	case kindEnd:
		return "End"
	default:
		return n.name
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (d *drawing) label(w *wire, at point) {
	l := w.label
	x, y := at.x+l.x, at.y+l.y
	d.printf(`<g class="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s" rx="3"/>`,
		d.class("label", false, w.isCaught(), w.takes()), text(d.describe(w)),
		number(x-l.width/2), number(y-l.height/2), number(l.width), number(l.height))
	baseline := y - l.height/2 + labelPadding/2 + 11
	for i, line := range l.lines {
		d.printf(`<text x="%s" y="%s">%s</text>`, number(x), number(baseline+float64(i)*labelLine), text(line))
	}
	d.printf("</g>\n")
}

func (d *drawing) node(n *node, at point) {
	middle := point{at.x + n.width/2, at.y + n.height/2}
	condition := ""
	if d.g.visits && n.visits == 0 {
		condition = " unvisited"
	}
	if n.ending.Outcome != "" {
		condition += " " + string(n.ending.Outcome)
	}
	if n.current {
		condition += " current"
	}
	switch n.kind {
	case kindStart:
		d.printf(`<g class="start%s"><title>Start</title><circle class="dot" cx="%s" cy="%s" r="7"/></g>`+"\n", condition, number(middle.x), number(middle.y))
		return
	case kindEnd:
		d.printf(`<g class="end%[1]s"><title>End</title><circle class="ring" cx="%[2]s" cy="%[3]s" r="7.2"/>`+
			`<circle class="dot" cx="%[2]s" cy="%[3]s" r="4"/></g>`+"\n",
			condition, number(middle.x), number(middle.y))
		return
	case kindUnknown:
		d.printf(`<g class="state unknown%s"><title>%s</title>`, condition, text(n.name+"\n"+n.heading))
	default:
		d.printf(`<g class="state %s%s"><title>%s</title>`, strings.ToLower(string(n.state.Type)), condition, text(d.about(n)))
	}
	if n.link != "" {
		d.printf(`<a id="node-%[1]s" href="#%[1]s" data-s="%[1]s" class="%[2]s">`, text(n.link), strings.ToLower(string(n.state.Type))+condition)
	}
	d.shape(n, at)
	d.printf(`<text class="heading" x="%s" y="%s">%s</text>`,
		number(middle.x), number(at.y+nodeMargin+11), text(elide(n.heading, headingSize, maxHeadingWidth)))
	for i, line := range n.lines {
		d.printf(`<text class="name" x="%s" y="%s">%s</text>`,
			number(middle.x), number(at.y+nodeMargin+headingLine+13+float64(i)*nameLine), text(line))
	}
	for i, line := range n.says {
		d.printf(`<text class="outcome" x="%s" y="%s">%s</text>`,
			number(middle.x), number(at.y+nodeMargin+headingLine+float64(len(n.lines))*nameLine+11+float64(i)*outcomeLine), text(line))
	}
	if n.link != "" {
		d.printf("</a>")
	}
	d.inside(n, at)
	if d.g.visits && n.visits > 0 {
		d.badge(n, at)
	}
	d.printf("</g>\n")
}

// about says in full what a state is.
func (d *drawing) about(n *node) string {
	out := n.name + "\n" + n.heading
	if d.g.visits {
		out += fmt.Sprintf("\nvisited %d %s", n.visits, plural(n.visits, "time", "times"))
	}
	if n.ending.Text != "" {
		out += "\n" + n.ending.Text
	}
	if n.state.Comment != "" {
		out += "\n" + n.state.Comment
	}
	return out
}

// inside draws the flows in a state, each in a frame.
func (d *drawing) inside(n *node, at point) {
	tallest := n.height - n.headHeight - framePadding
	for i, f := range n.flows {
		origin := point{at.x + n.inner[i].x, at.y + n.inner[i].y}
		d.printf(`<g class="frame"><rect class="ground" x="%s" y="%s" width="%s" height="%s" rx="6"/>`+"\n",
			number(origin.x-branchPadding), number(origin.y-n.branchHead()), number(f.width+2*branchPadding), number(tallest))
		if n.state.Type == asl.TypeParallel {
			d.printf(`<text class="branch" x="%s" y="%s">Branch %d</text>`+"\n", number(origin.x-branchPadding+7), number(origin.y-n.branchHead()+14), i)
		}
		d.flow(f, origin)
		d.printf("</g>\n")
	}
}

// badge draws how often a state was visited, at its upper right corner.
func (d *drawing) badge(n *node, at point) {
	count := times(n.visits)
	const height = 16
	width := textWidth(count, headingSize) + 12
	x := at.x + n.width - width/2 + 5
	d.printf(`<g class="badge"><rect x="%s" y="%s" width="%s" height="%d" rx="8"/><text x="%s" y="%s">%s</text></g>`,
		number(x-width/2), number(at.y-height/2), number(width), height, number(x), number(at.y+3.8), count)
}

// shape draws the outline of a state, which differs by its type.
func (d *drawing) shape(n *node, at point) {
	x, y, w, h := at.x, at.y, n.width, n.height
	rect := func(class string, x, y, w, h, r float64) {
		d.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, class, number(x), number(y), number(w), number(h), number(r))
	}
	polygon := func(class string, points ...point) {
		var b []byte
		for i, p := range points {
			if i > 0 {
				b = append(b, ' ')
			}
			b = appendPoint(b, p, at)
		}
		d.printf(`<polygon class="%s" points="%s"/>`, class, b)
	}
	octagon := func(class string, in float64) {
		cut := float64(slant)
		polygon(class, point{cut, in}, point{w - cut, in}, point{w - in, cut}, point{w - in, h - cut},
			point{w - cut, h - in}, point{cut, h - in}, point{in, h - cut}, point{in, cut})
	}
	const double = 3.5 // between the two borders of what ends a flow
	kind := asl.Type("")
	if n.state != nil {
		kind = n.state.Type
	}
	switch kind {
	case asl.TypeChoice:
		polygon("shape", point{slant, 0}, point{w - slant, 0}, point{w, h / 2}, point{w - slant, h}, point{slant, h}, point{0, h / 2})
	case asl.TypeWait:
		rect("shape", x, y, w, h, min(h/2, maxRound))
	case asl.TypePass:
		polygon("shape", point{slant, 0}, point{w, 0}, point{w - slant, h}, point{0, h})
	case asl.TypeSucceed:
		rect("shape", x, y, w, h, min(h/2, maxRound))
		rect("inner", x+double, y+double, w-2*double, h-2*double, min(h/2, maxRound)-double)
	case asl.TypeFail:
		octagon("shape", 0)
		octagon("inner", double)
	case asl.TypeMap:
		rect("shape", x+4, y+4, w, h, 8)
		rect("shape", x, y, w, h, 8)
	case asl.TypeParallel, asl.TypeTask:
		rect("shape", x, y, w, h, 8)
	default:
		rect("shape", x, y, w, h, 3)
	}
}

// maxRound is the largest radius of the corners of a state.
const maxRound = 24
