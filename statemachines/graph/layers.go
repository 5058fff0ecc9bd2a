package graph

import (
	"cmp"
	"slices"
)

// vertex is what stands in a layer of a flow: a node, or a point that a wire
// goes through on its way past the layer.
type vertex struct {
	node  *node  // nil for a point
	label *label // of a point
	back  bool   // a point of a wire that goes up

	left, right, height float64 // how far it reaches from its centre, and its height
	rank, pos           int     // layer, and place in it
	up, down            []*vertex
	// beside are the nodes of its own layer that a wire comes from or goes to
	// through this point; for nodes, the points.
	beside []*vertex
	x      float64
	id     int
}

// trunk is what wires to one node have in common: the points before it, one a
// layer.
type trunk struct {
	to     *vertex
	dashed bool
	back   bool
	// outer tells that the trunk goes around the whole flow and has no points.
	outer  bool
	points []*vertex // by rank, from first
	first  int
	routes []*route
	lane   float64 // x of an outer trunk

	path  []piece
	arrow arrow
}

// piece is a part of a trunk with how often the wires that joined it were
// taken.
type piece struct {
	path  path
	takes int
}

// route is the way of a wire through the layers.
type route struct {
	wire     *wire
	from, to *vertex
	back     bool
	label    *vertex // the point below from that holds the label; nil if there is none
	trunk    *trunk  // nil in the end if the next layer after from, or after label, is that of to
	join     int     // rank at which it joins the trunk
}

// layers is a flow in layers. States stand in layers of their own, with layers
// for labels in between where there are labels.
type layers struct {
	flow   *flow
	all    []*vertex
	rows   [][]*vertex
	nodes  map[*node]*vertex
	routes []*route
	trunks []*trunk
}

// maxPoints bounds the points of a flow. The longest trunks of a flow that
// needs more go around it, so that the time of the layout stays bounded.
const maxPoints = 12_000

// newLayers gives every node its layer and every wire its points. The nodes
// and labels have their sizes.
func newLayers(f *flow) *layers {
	l := &layers{flow: f, nodes: map[*node]*vertex{}}
	for _, n := range f.nodes {
		l.nodes[n] = l.add(&vertex{node: n, left: n.width / 2, right: n.width / 2, height: n.height})
	}
	for _, w := range f.wires {
		if w.from != w.to {
			l.routes = append(l.routes, &route{wire: w, from: l.nodes[w.from], to: l.nodes[w.to]})
			continue
		}
		v := l.nodes[w.from]
		v.right = max(v.right, v.node.width/2+loopReach)
		if w.label != nil {
			v.right = max(v.right, v.node.width/2+loopReach+w.label.width)
			v.height = max(v.height, w.label.height)
		}
	}
	l.rank(l.findBack())
	l.makeTrunks()
	l.dropEmptyRows()
	l.makePoints()
	return l
}

func (l *layers) add(v *vertex) *vertex {
	v.id = len(l.all)
	l.all = append(l.all, v)
	return v
}

// findBack marks the wires that close a loop, seen from the start in the order
// of the definition: in a poll loop the one that goes back to the wait. It
// returns the nodes in an order in which all other wires go forward.
func (l *layers) findBack() []*vertex {
	out := make([][]*route, len(l.all))
	for _, r := range l.routes {
		out[r.from.id] = append(out[r.from.id], r)
	}
	const unseen, open, done = 0, 1, 2
	state := make([]int, len(l.all))
	next := make([]int, len(l.all))
	var order []*vertex
	for _, root := range l.all {
		if state[root.id] != unseen {
			continue
		}
		state[root.id] = open
		for stack := []*vertex{root}; len(stack) > 0; {
			v := stack[len(stack)-1]
			if next[v.id] == len(out[v.id]) {
				state[v.id] = done
				order = append(order, v)
				stack = stack[:len(stack)-1]
				continue
			}
			r := out[v.id][next[v.id]]
			next[v.id]++
			switch state[r.to.id] {
			case unseen:
				state[r.to.id] = open
				stack = append(stack, r.to)
			case open:
				r.back = true
			}
		}
	}
	slices.Reverse(order)
	return order
}

// rank puts every node two ranks below the lowest one that leads to it, so
// that there is a rank for labels between any two. A node with more ways out
// than in goes down as far as it can.
func (l *layers) rank(order []*vertex) {
	in, out := make([][]*vertex, len(l.all)), make([][]*vertex, len(l.all))
	for _, r := range l.routes {
		if !r.back {
			out[r.from.id] = append(out[r.from.id], r.to)
			in[r.to.id] = append(in[r.to.id], r.from)
		}
	}
	for _, v := range order {
		for _, u := range in[v.id] {
			v.rank = max(v.rank, u.rank+2)
		}
	}
	for _, v := range slices.Backward(order) {
		if v.node.kind == kindStart || len(out[v.id]) <= len(in[v.id]) {
			continue
		}
		lowest := slices.MinFunc(out[v.id], func(a, b *vertex) int { return cmp.Compare(a.rank, b.rank) })
		v.rank = lowest.rank - 2
	}
}

// makeTrunks joins the wires that go to the same node in the same style, and
// chooses the trunks that go around.
func (l *layers) makeTrunks() {
	type key struct {
		to           *vertex
		dashed, back bool
	}
	shared := map[key]*trunk{}
	for _, r := range l.routes {
		k := key{to: r.to, dashed: r.wire.dashed, back: r.back}
		alone := r.back && r.wire.label != nil
		t := shared[k]
		if t == nil || alone {
			t = &trunk{to: r.to, dashed: r.wire.dashed, back: r.back, first: r.to.rank}
			l.trunks = append(l.trunks, t)
			if !alone {
				shared[k] = t
			}
		}
		if r.trunk = t; r.back {
			r.join = r.from.rank
		} else {
			r.join = r.from.rank + 1
			t.first = min(t.first, r.join)
		}
		t.routes = append(t.routes, r)
	}
	lengths := make(map[*trunk]int, len(l.trunks))
	total := 0
	for _, t := range l.trunks {
		for _, r := range t.routes {
			lengths[t] = max(lengths[t], r.join-r.to.rank, r.to.rank-r.join)
		}
		total += lengths[t]
	}
	byLength := slices.Clone(l.trunks)
	slices.SortStableFunc(byLength, func(a, b *trunk) int { return cmp.Compare(lengths[b], lengths[a]) })
	for _, t := range byLength {
		if total <= maxPoints {
			break
		}
		t.outer = true
		total -= lengths[t]
	}
}

// hasLabel tells whether the label of a route stands in the rank below its
// start, and not in a lane of its own.
func (r *route) hasLabel() bool {
	return r.wire.label != nil && (!r.back || r.trunk.outer)
}

// dropEmptyRows numbers the ranks anew without those between states that hold
// no label.
func (l *layers) dropEmptyRows() {
	var used []int
	for _, v := range l.all {
		used = append(used, v.rank)
	}
	for _, r := range l.routes {
		switch {
		case r.hasLabel():
			used = append(used, r.from.rank+1)
		case r.wire.label != nil:
			used = append(used, r.from.rank-1)
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	number := make(map[int]int, len(used))
	for i, rank := range used {
		number[rank] = i
	}
	for _, v := range l.all {
		v.rank = number[v.rank]
	}
	l.rows = make([][]*vertex, len(used))
}

// makePoints adds the points of labels and trunks, and links them.
func (l *layers) makePoints() {
	for _, r := range l.routes {
		if r.hasLabel() {
			r.label = l.add(&vertex{rank: r.from.rank + 1})
			r.label.hold(r.wire.label)
			link(r.from, r.label)
		}
	}
	for _, t := range l.trunks {
		switch {
		case t.outer:
		case t.back:
			l.makeLane(t)
		default:
			l.makeTrunk(t)
		}
	}
	for _, v := range l.all {
		v.pos = len(l.rows[v.rank])
		l.rows[v.rank] = append(l.rows[v.rank], v)
	}
}

// makeTrunk makes the points of a trunk that goes down. Routes that come to
// its end without one leave it.
func (l *layers) makeTrunk(t *trunk) {
	t.first = t.to.rank
	for _, r := range t.routes {
		r.join = r.last().rank + 1
		t.first = min(t.first, r.join)
	}
	for rank := t.first; rank < t.to.rank; rank++ {
		p := l.add(&vertex{rank: rank, left: pointReach, right: pointReach})
		if rank > t.first {
			link(t.points[len(t.points)-1], p)
		}
		t.points = append(t.points, p)
	}
	if len(t.points) > 0 {
		link(t.points[len(t.points)-1], t.to)
	}
	for _, r := range t.routes {
		if r.join < t.to.rank {
			link(r.last(), t.points[r.join-t.first])
		} else {
			link(r.last(), t.to)
			r.trunk = nil
		}
	}
	t.routes = slices.DeleteFunc(t.routes, func(r *route) bool { return r.trunk == nil })
}

// makeLane makes the points of a trunk that goes up: from the layer of the
// lowest start to that of its end.
func (l *layers) makeLane(t *trunk) {
	t.first = t.to.rank
	lowest := t.first
	for _, r := range t.routes {
		r.join = r.from.rank
		lowest = max(lowest, r.join)
	}
	for rank := t.first; rank <= lowest; rank++ {
		p := l.add(&vertex{rank: rank, back: true, left: pointReach, right: pointReach})
		if rank > t.first {
			link(t.points[len(t.points)-1], p)
		}
		t.points = append(t.points, p)
	}
	turn(t.points[0], t.to)
	for _, r := range t.routes {
		turn(t.points[r.join-t.first], r.from)
		if r.wire.label != nil {
			t.points[r.join-t.first-1].hold(r.wire.label)
		}
	}
}

// last is the lowest vertex of the route that is its own.
func (r *route) last() *vertex {
	if r.label != nil {
		return r.label
	}
	return r.from
}

// pointReach is how far to each side a line keeps other things away.
const pointReach = 5

// hold makes room for a label at a point.
func (v *vertex) hold(text *label) {
	v.label = text
	v.left, v.right, v.height = text.width/2, text.width/2, text.height
}

func link(upper, lower *vertex) {
	upper.down = append(upper.down, lower)
	lower.up = append(lower.up, upper)
}

func turn(p, n *vertex) {
	p.beside = append(p.beside, n)
	n.beside = append(n.beside, p)
}

// hasLoop tells whether a wire leads from the node to itself.
func (f *flow) hasLoop(n *node) bool {
	return slices.ContainsFunc(f.wires, func(w *wire) bool { return w.from == n && w.to == n })
}
