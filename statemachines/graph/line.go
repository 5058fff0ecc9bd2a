package graph

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// draw makes the line of a route up to where it joins its trunk, or to its
// end.
func (r *router) draw(route *route) {
	w, from := route.wire, route.from
	if route.back && !route.trunk.outer {
		r.drawBack(route)
		return
	}
	start := r.exits[route].x
	w.path = path{from: point{start, from.node.y + from.node.height}}
	w.path.line(point{start, r.bottom[from.rank]})
	if route.label != nil {
		r.pass(&w.path, route.label)
	}
	switch t := route.trunk; {
	case t == nil:
		w.arrow = new(arrow)
		*w.arrow = r.enter(&w.path, route.to, r.entries[route].x)
	case t.outer:
		level := r.turns[route].level
		ahead := float64(cornerRadius)
		if route.back {
			ahead = -ahead
		}
		w.path.over(level, point{t.lane, level + ahead})
	default:
		w.path.swing(point{route.lane().x, r.top[route.join]})
	}
}

// pass leads a line straight down past a row.
func (r *router) pass(p *path, v *vertex) {
	p.swing(point{v.x, r.top[v.rank]})
	p.line(point{v.x, r.bottom[v.rank]})
}

// enter leads a line down into a node.
func (r *router) enter(p *path, to *vertex, x float64) arrow {
	p.swing(point{x, r.top[to.rank]})
	p.line(point{x, to.node.y - arrowLength + 1})
	return arrow{tip: point{x, to.node.y}, dy: 1}
}

// drawBack makes the line of a route that goes up, to its lane.
func (r *router) drawBack(route *route) {
	p, lane, n := &route.wire.path, route.lane(), route.from.node
	if side := r.side(lane, route.from); side != 0 {
		y := n.sideY()
		*p = path{from: point{route.from.x + side*n.sideReach(), y}}
		p.line(point{lane.x - side*cornerRadius, y})
		p.corner(point{lane.x, y}, point{lane.x, y - cornerRadius})
	} else {
		x := r.exits[route].x
		*p = path{from: point{x, n.y + n.height}}
		p.line(point{x, r.bottom[route.join]})
		p.over(r.turns[route].level, point{lane.x, r.bottom[route.join]})
	}
	p.line(point{lane.x, r.top[route.join]})
}

// sideY is where lines meet the sides of a node.
func (n *node) sideY() float64 {
	if len(n.flows) > 0 {
		return n.y + n.headHeight/2
	}
	return n.y + n.height/2
}

// sideReach is how far from the middle that is.
func (n *node) sideReach() float64 {
	if n.state != nil && n.state.Type == asl.TypePass {
		return n.width/2 - slant/2
	}
	return n.width / 2
}

// drawTrunk makes the line of a trunk. One that has a single route becomes
// part of that.
func (r *router) drawTrunk(t *trunk) {
	if len(t.routes) == 0 {
		return
	}
	slices.SortStableFunc(t.routes, func(a, b *route) int {
		if t.back {
			return cmp.Compare(b.last().rank, a.last().rank)
		}
		return cmp.Compare(a.last().rank, b.last().rank)
	})
	begin, taken := t.routes[0], slices.IndexFunc(t.routes, func(r *route) bool { return r.wire.takes() > 0 })
	switch {
	case len(t.routes) == 1:
		rest, head := r.trunkPath(t, begin, nil)
		begin.wire.path.join(rest)
		begin.wire.arrow = &head
	case taken > 0 && t.joins(t.routes[taken]) != t.joins(begin):
		upper, _ := r.trunkPath(t, begin, t.routes[taken])
		lower, head := r.trunkPath(t, t.routes[taken], nil)
		t.path = []piece{{path: upper}, {path: lower, takes: t.takes()}}
		t.arrow = head
	default:
		whole, head := r.trunkPath(t, begin, nil)
		t.path = []piece{{path: whole, takes: t.takes()}}
		t.arrow = head
	}
}

// joins is the rank at which a route comes to the trunk.
func (t *trunk) joins(r *route) int {
	if t.outer {
		return r.last().rank
	}
	return r.join
}

func (t *trunk) takes() int {
	sum := 0
	for _, r := range t.routes {
		sum += r.wire.takes()
	}
	return sum
}

func (t *trunk) isCaught() bool {
	return slices.ContainsFunc(t.routes, func(r *route) bool { return r.wire.isCaught() })
}

// trunkPath is the line of a trunk from where a route joins it to where
// another does or, if that is nil, to its end with an arrow.
func (r *router) trunkPath(t *trunk, from, to *route) (path, arrow) {
	p := path{from: from.wire.path.end()}
	if t.outer {
		return r.outerPath(t, p, to)
	}
	last := len(t.points) - 1
	if t.back {
		last = 0
	}
	if to != nil {
		last = to.join - t.first
	}
	if t.back {
		for i := from.join - t.first; i > last; i-- {
			v := t.points[i-1]
			p.swing(point{v.x, r.bottom[v.rank]})
			p.line(point{v.x, r.top[v.rank]})
		}
		if to != nil {
			return p, arrow{}
		}
		return r.enterBack(t, p)
	}
	for i := from.join - t.first; i <= last; i++ {
		v := t.points[i]
		p.swing(point{v.x, r.top[v.rank]})
		if to == nil || i < last {
			p.line(point{v.x, r.bottom[v.rank]})
		}
	}
	if to != nil {
		return p, arrow{}
	}
	head := r.enter(&p, t.to, r.entries[t].x)
	return p, head
}

// outerPath is the line of a trunk that goes around the flow.
func (r *router) outerPath(t *trunk, p path, to *route) (path, arrow) {
	if to != nil {
		p.line(to.wire.path.end())
		return p, arrow{}
	}
	x := r.entries[t].x
	p.over(r.turns[t].level, point{x, r.top[t.to.rank]})
	head := r.enter(&p, t.to, x)
	return p, head
}

// enterBack leads a line that came up a lane into its node, from the side if
// the lane is next to it, else from above. The line has passed the row of the
// node.
func (r *router) enterBack(t *trunk, p path) (path, arrow) {
	lane, n := t.points[0], t.to.node
	side := r.side(lane, t.to)
	if side == 0 {
		x := r.entries[t].x
		p.over(r.turns[t].level, point{x, r.top[t.to.rank]})
		head := r.enter(&p, t.to, x)
		return p, head
	}
	tip := point{t.to.x + side*n.sideReach(), n.sideY()}
	if len(p.curves) > 0 {
		p.curves = p.curves[:len(p.curves)-1] // the way past the row
	}
	p.line(point{lane.x, r.bottom[lane.rank]})
	p.line(point{lane.x, tip.y + cornerRadius})
	p.corner(point{lane.x, tip.y}, point{lane.x - side*cornerRadius, tip.y})
	p.line(point{tip.x + side*(arrowLength-1), tip.y})
	return p, arrow{tip: tip, dx: -side}
}

// drawLoop makes the line of a wire from a node to itself, at its right side.
func (r *router) drawLoop(w *wire) {
	n := w.from
	right, y := n.x+n.width/2+n.sideReach(), n.sideY()
	const reach = loopReach * 1.2 // the curve comes to three quarters of it
	w.path = path{from: point{right, y - 8}, curves: []curve{{
		c1: point{right + reach, y - 20}, c2: point{right + reach, y + 20}, to: point{right + arrowLength - 1, y + 8},
	}}}
	w.arrow = &arrow{tip: point{right, y + 8}, dx: -1}
	if w.label != nil {
		w.label.x, w.label.y = n.x+n.width+loopReach+w.label.width/2, y
	}
}
