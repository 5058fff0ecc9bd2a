package graph

import (
	"cmp"
	"math"
	"slices"
)

// Distances between rows and lines.
const (
	rowGap      = 16
	stateGap    = 28   // between rows of states without labels between them
	slopeGap    = 0.09 // of the longest way sideways: long ways are less flat in high gaps
	maxSlopeGap = 36
	trackGap    = 6  // between lines that run level in the same gap
	turnReach   = 11 // from the row to the first of them
	entryReach  = 20 // the same where the line then enters a node
	portGap     = 15 // between lines at a node
	portMargin  = 26 // between a line and the side of a node
	laneGap     = 8  // between trunks that go around
)

// router gives the rows of a flow their y, and the wires their lines.
type router struct {
	*layers
	top, bottom []float64 // of each row
	// exits and entries are the places at the lower and upper border of a node
	// where lines leave and enter, and turns the level parts of lines.
	exits   map[*route]*port
	entries map[any]*port // by *route or *trunk
	turns   map[any]*track
	right   float64 // of the rightmost vertex
}

// port is where a line meets the upper or lower border of a node.
type port struct {
	node  *vertex
	other float64 // x of where the line comes from or goes to
	x     float64
	point bool // the line comes from a point of its own, or turns
}

// track is the level part of a line in the gap below a row, at a distance from
// the row above it or, if entering, from the row below it.
type track struct {
	row       int
	entering  bool
	low, high float64
	number    int
	level     float64
}

// side returns on which side of the node a lane that stands next to it leaves
// or enters it: 1 is right, -1 left, 0 neither.
func (r *router) side(p, n *vertex) float64 {
	switch {
	case p.pos == n.pos-1:
		return -1
	case p.pos == n.pos+1 && !r.flow.hasLoop(n.node):
		return 1
	default:
		return 0
	}
}

// lane is the point of its trunk where a route joins.
func (r *route) lane() *vertex { return r.trunk.points[r.join-r.trunk.first] }

// placeLanes gives the trunks that go around the flow an x each; trunks that
// are not side by side share one.
func (r *router) placeLanes() {
	var busy []int // last rank of the trunk in each lane
	for _, t := range r.trunks {
		if !t.outer {
			continue
		}
		low, high := t.to.rank, t.to.rank
		for _, route := range t.routes {
			low, high = min(low, route.last().rank), max(high, route.last().rank)
		}
		lane := slices.IndexFunc(busy, func(last int) bool { return last < low-1 })
		if lane < 0 {
			lane = len(busy)
			busy = append(busy, 0)
		}
		busy[lane] = high
		t.lane = r.right + nodeGap + float64(lane)*laneGap
	}
}

// placePorts spreads the lines at each border of a node, in the order of where
// they go to.
func (r *router) placePorts() {
	below, above := map[*vertex][]*port{}, map[*vertex][]*port{}
	for _, route := range r.routes {
		p := &port{node: route.from, point: true}
		switch t := route.trunk; {
		case route.label != nil:
			p.other = route.label.x
		case t == nil:
			p.other, p.point = route.to.x, false
		case t.outer:
			p.other = t.lane
		case t.back && r.side(route.lane(), route.from) != 0:
			continue
		default:
			p.other = route.lane().x
		}
		r.exits[route] = p
		below[route.from] = append(below[route.from], p)
	}
	for _, ports := range below {
		spread(ports)
	}
	enter := func(key any, p *port) {
		r.entries[key] = p
		above[p.node] = append(above[p.node], p)
	}
	for _, route := range r.routes {
		switch {
		case route.trunk != nil:
		case route.label != nil:
			enter(route, &port{node: route.to, other: route.label.x, point: true})
		default:
			enter(route, &port{node: route.to, other: r.exits[route].x, point: true})
		}
	}
	for _, t := range r.trunks {
		switch {
		case len(t.routes) == 0:
		case t.outer:
			enter(t, &port{node: t.to, other: t.lane, point: true})
		case !t.back:
			enter(t, &port{node: t.to, other: t.points[len(t.points)-1].x, point: true})
		case r.side(t.points[0], t.to) == 0:
			enter(t, &port{node: t.to, other: t.points[0].x, point: true})
		}
	}
	for _, ports := range above {
		spread(ports)
	}
}

// spread places the lines at one border of a node. A line that can go straight
// does.
func spread(ports []*port) {
	slices.SortStableFunc(ports, func(a, b *port) int { return cmp.Compare(a.other, b.other) })
	v := ports[0].node
	count := float64(len(ports) - 1)
	limit := max(0, v.node.width/2-portMargin)
	if len(ports) > 1 {
		limit = min(limit, portGap*count)
	}
	step := 0.0
	if count > 0 {
		step = min(portGap, 2*limit/count)
	}
	next := -limit
	for i, p := range ports {
		offset := p.other - v.x
		if len(ports) == 1 && (!p.point || math.Abs(offset) > limit) {
			offset = 0
		}
		offset = min(max(offset, next), limit-step*(count-float64(i)))
		p.x = v.x + offset
		next = offset + step
	}
}

// placeTracks gives the level parts of lines in the same gap a distance from
// the row, the shorter ones nearer to it.
func (r *router) placeTracks() {
	var all []*track
	add := func(key any, row int, entering bool, lane float64, p *port) {
		t := &track{row: row, entering: entering, low: min(lane, p.x), high: max(lane, p.x)}
		r.turns[key] = t
		all = append(all, t)
	}
	for _, route := range r.routes {
		switch t := route.trunk; {
		case t == nil:
		case t.outer:
			start := r.exits[route]
			if route.label != nil {
				start = &port{x: route.label.x}
			}
			add(route, route.last().rank, false, t.lane, start)
		case t.back && r.exits[route] != nil:
			add(route, route.join, false, route.lane().x, r.exits[route])
		}
	}
	for _, t := range r.trunks {
		p := r.entries[t]
		switch {
		case p == nil:
		case t.outer:
			add(t, t.to.rank-1, true, t.lane, p)
		case t.back:
			add(t, t.to.rank-1, true, t.points[0].x, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *track) int { return cmp.Compare(a.high-a.low, b.high-b.low) })
	type place struct {
		row      int
		entering bool
	}
	taken := map[place][][]*track{}
	for _, t := range all {
		k := place{t.row, t.entering}
		t.number = slices.IndexFunc(taken[k], func(others []*track) bool {
			return !slices.ContainsFunc(others, func(o *track) bool { return t.low < o.high+trackGap && o.low < t.high+trackGap })
		})
		if t.number < 0 {
			t.number = min(len(taken[k]), maxTracks-1)
		}
		if t.number == len(taken[k]) {
			taken[k] = append(taken[k], nil)
		}
		taken[k][t.number] = append(taken[k][t.number], t)
	}
}

// maxTracks is how many lines run level above one another in a gap, at most;
// more of them share the last place.
const maxTracks = 40

// placeRows gives each row its y, with gaps that have room for the lines in
// them.
func (r *router) placeRows() {
	n := len(r.rows)
	gaps := make([]float64, n+1) // the first is above the first row
	leaving, entering := make([]float64, n+1), make([]float64, n+1)
	for _, t := range r.turns {
		if t.entering {
			entering[t.row+1] = max(entering[t.row+1], entryReach+float64(t.number)*trackGap)
		} else {
			leaving[t.row+1] = max(leaving[t.row+1], turnReach+float64(t.number)*trackGap)
		}
	}
	for i := range gaps {
		if gaps[i] = leaving[i] + entering[i]; i > 0 && i < n {
			gaps[i] = max(gaps[i]+trackGap, r.rowGap(i-1)+min(maxSlopeGap, r.slope(i-1)*slopeGap))
		}
	}
	y := gaps[0]
	r.top, r.bottom = make([]float64, n), make([]float64, n)
	for i, row := range r.rows {
		height := 0.0
		for _, v := range row {
			height = max(height, v.height)
		}
		r.top[i], r.bottom[i] = y, y+height
		y += height + gaps[i+1]
		for _, v := range row {
			middle := (r.top[i] + r.bottom[i]) / 2
			if v.node != nil {
				v.node.x, v.node.y = v.x-v.node.width/2, middle-v.node.height/2
			}
			if v.label != nil {
				v.label.x, v.label.y = v.x, middle
			}
		}
	}
	for _, t := range r.turns {
		if t.entering {
			t.level = r.top[t.row+1] - entryReach - float64(t.number)*trackGap
		} else {
			t.level = r.bottom[t.row] + turnReach + float64(t.number)*trackGap
		}
	}
	r.flow.height = y
}

// rowGap is the gap below a row that lines need which go straight down.
func (r *router) rowGap(i int) float64 {
	if r.holdsLabels(i) || r.holdsLabels(i+1) {
		return rowGap
	}
	return stateGap
}

func (r *router) holdsLabels(i int) bool {
	return slices.ContainsFunc(r.rows[i], func(v *vertex) bool { return v.label != nil })
}

// slope is the longest way sideways from a row to the next.
func (r *router) slope(i int) float64 {
	longest := 0.0
	for _, v := range r.rows[i] {
		for _, w := range v.down {
			longest = max(longest, math.Abs(v.x-w.x))
		}
	}
	return longest
}

// fit moves the flow so that it starts at the origin, and sets its width.
func (r *router) fit() {
	low, high := math.Inf(1), math.Inf(-1)
	grow := func(x, _ float64) { low, high = min(low, x), max(high, x) }
	for _, v := range r.all {
		grow(v.x-v.left, 0)
		grow(v.x+v.right, 0)
	}
	for _, w := range r.flow.wires {
		w.path.reach(grow)
	}
	for _, t := range r.flow.trunks {
		for i := range t.path {
			t.path[i].path.reach(grow)
		}
	}
	r.flow.width = high - low
	for _, n := range r.flow.nodes {
		n.x -= low
	}
	for _, w := range r.flow.wires {
		w.path.move(-low, 0)
		if w.label != nil {
			w.label.x -= low
		}
		if w.arrow != nil {
			w.arrow.tip.x -= low
		}
	}
	for _, t := range r.flow.trunks {
		for i := range t.path {
			t.path[i].path.move(-low, 0)
		}
		t.arrow.tip.x -= low
	}
}
