package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Sizes of nodes.
const (
	minNodeWidth  = 104
	nodePadding   = 14 // between the border and the text, at the sides
	headingLine   = 15
	nodeMargin    = 8 // between the border and the text, above and below
	dotSize       = 16
	framePadding  = 14 // between the border of a state and the flows in it
	branchGap     = 12
	branchPadding = 12
	loopReach     = 26 // of the line from a state to itself
	labelPadding  = 5
	// slant is how far the shapes of some types go in or out at the sides.
	slant = 14
)

// layOut gives sizes and places to the nodes of a flow, the flows inside of it
// first, and lines to its wires.
func (g *Graph) layOut(f *flow) {
	for _, n := range f.nodes {
		for _, inner := range n.flows {
			g.layOut(inner)
		}
		n.size()
	}
	out := map[*node]int{}
	for _, w := range f.wires {
		out[w.from]++
	}
	for _, w := range f.wires {
		w.label = g.newLabel(w, out[w.from] > 1)
	}
	l := newLayers(f)
	l.order()
	l.place()
	l.route()
}

// size gives a node its size, and the flows in it their places.
func (n *node) size() {
	if n.kind == kindStart || n.kind == kindEnd {
		n.width, n.height = dotSize, dotSize
		return
	}
	n.lines = wrap(n.name, nameSize, maxNameWidth, maxNameLines)
	if n.says = nil; n.ending.Text != "" {
		n.says = wrap(n.ending.Text, outcomeSize, maxNameWidth, maxOutcomeLines)
	}
	heading := elide(n.heading, headingSize, maxHeadingWidth)
	width := textWidth(heading, headingSize)
	for _, line := range n.lines {
		width = max(width, textWidth(line, nameSize))
	}
	for _, line := range n.says {
		width = max(width, textWidth(line, outcomeSize))
	}
	width += 2 * nodePadding
	if n.state != nil {
		switch n.state.Type {
		case asl.TypeChoice, asl.TypeFail, asl.TypePass, asl.TypeSucceed, asl.TypeWait:
			width += 2 * slant
		default:
		}
	}
	n.headHeight = headingLine + float64(len(n.lines))*nameLine + float64(len(n.says))*outcomeLine + 2*nodeMargin
	n.width, n.height = max(width, minNodeWidth), n.headHeight
	n.enclose()
}

// enclose puts the flows inside of a node side by side and makes it as large
// as they need.
func (n *node) enclose() {
	if len(n.flows) == 0 {
		return
	}
	x, tallest := float64(framePadding), 0.0
	for _, inner := range n.flows {
		n.inner = append(n.inner, point{x: x + branchPadding, y: n.headHeight + n.branchHead()})
		x += inner.width + 2*branchPadding + branchGap
		tallest = max(tallest, inner.height)
	}
	x += framePadding - branchGap
	if x < n.width {
		for i := range n.inner {
			n.inner[i].x += (n.width - x) / 2
		}
	}
	n.width = max(n.width, x)
	n.height += tallest + n.branchHead() + branchPadding + framePadding
}

// branchHead is the room above a flow in a state; that of a branch is numbered
// there.
func (n *node) branchHead() float64 {
	if n.state.Type == asl.TypeParallel {
		return branchPadding + headingLine
	}
	return branchPadding
}

// newLabel makes the label of a wire; nil if it has nothing to say. The count
// of a wire that is the only one from its node is that of the node.
func (g *Graph) newLabel(w *wire, fork bool) *label {
	out := &label{}
	for i, way := range w.ways {
		if i == maxLabelWays-1 && len(w.ways) > maxLabelWays {
			out.lines = append(out.lines, fmt.Sprintf("and %d more", len(w.ways)-i))
			break
		}
		text := way.short
		if text == "" && (!g.takes || way.takes == 0 || !fork && way.takes == w.from.visits) {
			continue
		}
		if g.takes && way.takes > 0 {
			if w.isCaught() {
				text = Caught.Word() + ": " + text
			}
			text = strings.TrimSpace(text + " " + times(way.takes))
		}
		if len(out.lines) > 0 {
			text = "or " + text
		}
		out.lines = append(out.lines, wrap(text, labelSize, maxLabelWidth, maxLabelLines)...)
	}
	if len(out.lines) == 0 {
		return nil
	}
	for _, line := range out.lines {
		out.width = max(out.width, textWidth(line, labelSize))
	}
	out.width += 2 * labelPadding
	out.height = float64(len(out.lines))*labelLine + labelPadding
	return out
}

func times(n int) string { return fmt.Sprintf("×%d", n) }

// route makes the lines of all wires, and sets the size of the flow.
func (l *layers) route() {
	r := &router{layers: l, exits: map[*route]*port{}, entries: map[any]*port{}, turns: map[any]*track{}}
	for _, v := range l.all {
		r.right = max(r.right, v.x+v.right)
	}
	r.placeLanes()
	r.placePorts()
	r.placeTracks()
	r.placeRows()
	for _, route := range l.routes {
		r.draw(route)
	}
	for _, t := range l.trunks {
		r.drawTrunk(t)
	}
	for _, w := range l.flow.wires {
		if w.from == w.to {
			r.drawLoop(w)
		}
	}
	l.flow.trunks = slices.DeleteFunc(slices.Clone(l.trunks), func(t *trunk) bool { return len(t.path) == 0 })
	r.fit()
}
