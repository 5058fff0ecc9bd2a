package graph

import (
	"cmp"
	"math"
	"slices"
)

// Gaps between neighbours in a row.
const (
	nodeGap  = 28
	pointGap = 10
)

// gap is how far the centres of two neighbours in a row are apart at least.
func gap(left, right *vertex) float64 {
	space := float64(pointGap)
	if left.node != nil && right.node != nil {
		space = nodeGap
	}
	return left.right + right.left + space
}

// place gives every vertex its x: the method of Brandes and Köpf ("Fast and
// Simple Horizontal Coordinate Assignment", 2002), which makes long lines
// straight, and then the room that is left to bring neighbours closer.
func (l *layers) place() {
	crossed := l.giveWay()
	var all [4][]float64
	for i := range all {
		up, mirrored := i < 2, i%2 == 1
		all[i] = l.compact(l.align(crossed, up, mirrored), mirrored)
	}
	l.balance(&all)
	for range relaxations {
		if !l.relax() {
			break
		}
	}
}

const relaxations = 8

// straight tells whether a link joins two points of one trunk.
func straight(u, v *vertex) bool { return u.node == nil && v.node == nil }

// giveWay returns the links that cross one inside of a trunk.
func (l *layers) giveWay() map[[2]int]bool {
	crossed := map[[2]int]bool{}
	for i := range len(l.rows) - 1 {
		upper, lower := l.rows[i], l.rows[i+1]
		from, scanned := 0, 0
		for j, v := range lower {
			to, inner := len(upper)-1, false
			for _, u := range v.up {
				if straight(u, v) {
					to, inner = u.pos, true
				}
			}
			if !inner && j != len(lower)-1 {
				continue
			}
			for ; scanned <= j; scanned++ {
				w := lower[scanned]
				for _, u := range w.up {
					if (u.pos < from || u.pos > to) && !straight(u, w) {
						crossed[[2]int{u.id, w.id}] = true
					}
				}
			}
			from = to
		}
	}
	return crossed
}

// align joins each vertex with the middle one of its neighbours in the row
// before, and returns the first vertex of the block of each.
func (l *layers) align(crossed map[[2]int]bool, up, mirrored bool) []int {
	root := make([]int, len(l.all))
	for i := range root {
		root[i] = i
	}
	for i := range l.rows {
		row := slices.Clone(l.rows[i])
		if !up {
			row = slices.Clone(l.rows[len(l.rows)-1-i])
		}
		if mirrored {
			slices.Reverse(row)
		}
		last := -1
		for _, v := range row {
			for _, u := range middle(v, up, mirrored) {
				at, link := u.pos, [2]int{u.id, v.id}
				if mirrored {
					at = len(l.rows[u.rank]) - 1 - at
				}
				if !up {
					link = [2]int{v.id, u.id}
				}
				if at > last && !crossed[link] {
					root[v.id] = root[u.id]
					last = at
					break
				}
			}
		}
	}
	return root
}

// middle returns the middle neighbours of a vertex in the row above or below,
// in the order in which they are tried.
func middle(v *vertex, up, mirrored bool) []*vertex {
	around := slices.Clone(v.down)
	if up {
		around = slices.Clone(v.up)
	}
	if len(around) == 0 {
		return nil
	}
	slices.SortFunc(around, func(a, b *vertex) int { return cmp.Compare(a.pos, b.pos) })
	out := []*vertex{around[(len(around)-1)/2], around[len(around)/2]}
	if mirrored {
		slices.Reverse(out)
	}
	return out
}

// compact puts the blocks as far to the left as they go, or to the right if
// mirrored, and returns the x of every vertex.
func (l *layers) compact(root []int, mirrored bool) []float64 {
	type constraint struct {
		to  int
		gap float64
	}
	right := make([][]constraint, len(l.all))
	waiting := make([]int, len(l.all))
	for _, row := range l.rows {
		for j := range len(row) - 1 {
			a, b := root[row[j].id], root[row[j+1].id]
			space := gap(row[j], row[j+1])
			if mirrored {
				a, b = b, a
			}
			right[a] = append(right[a], constraint{to: b, gap: space})
			waiting[b]++
		}
	}
	x := make([]float64, len(l.all))
	var order []int
	for i := range l.all {
		if root[i] == i && waiting[i] == 0 {
			order = append(order, i)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, c := range right[order[i]] {
			x[c.to] = max(x[c.to], x[order[i]]+c.gap)
			if waiting[c.to]--; waiting[c.to] == 0 {
				order = append(order, c.to)
			}
		}
	}
	for _, i := range slices.Backward(order) {
		room := math.Inf(1)
		for _, c := range right[i] {
			room = min(room, x[c.to]-c.gap)
		}
		if !math.IsInf(room, 1) {
			x[i] = max(x[i], room)
		}
	}
	out := make([]float64, len(l.all))
	for i := range out {
		if out[i] = x[root[i]]; mirrored {
			out[i] = -out[i]
		}
	}
	return out
}

// balance moves the four layouts over the narrowest of them, and takes the
// mean of the middle two for each vertex.
func (l *layers) balance(all *[4][]float64) {
	var low, high [4]float64
	narrowest := 0
	for i, x := range all {
		low[i], high[i] = math.Inf(1), math.Inf(-1)
		for _, v := range l.all {
			low[i], high[i] = min(low[i], x[v.id]-v.left), max(high[i], x[v.id]+v.right)
		}
		if high[i]-low[i] < high[narrowest]-low[narrowest] {
			narrowest = i
		}
	}
	for i, x := range all {
		shift := low[narrowest] - low[i]
		if i%2 == 1 {
			shift = high[narrowest] - high[i]
		}
		for j := range x {
			x[j] += shift
		}
	}
	for _, v := range l.all {
		four := []float64{all[0][v.id], all[1][v.id], all[2][v.id], all[3][v.id]}
		slices.Sort(four)
		v.x = (four[1] + four[2]) / 2
	}
}

// relax moves each straight run of vertices to the middle of what it is linked
// to, as far as its neighbours let it, and tells whether anything moved.
func (l *layers) relax() bool {
	moved := false
	for _, run := range l.runs() {
		low, high := math.Inf(-1), math.Inf(1)
		pull, pulls := 0.0, 0
		for _, v := range run {
			row := l.rows[v.rank]
			if v.pos > 0 {
				low = max(low, row[v.pos-1].x+gap(row[v.pos-1], v)-v.x)
			}
			if v.pos+1 < len(row) {
				high = min(high, row[v.pos+1].x-gap(v, row[v.pos+1])-v.x)
			}
			for _, x := range v.pulls() {
				pull, pulls = pull+x-v.x, pulls+1
			}
		}
		if pulls == 0 || low > high {
			continue
		}
		shift := min(max(pull/float64(pulls), low), high)
		if math.Abs(shift) < aligned {
			continue
		}
		moved = true
		for _, v := range run {
			v.x += shift
		}
	}
	return moved
}

// pulls are the x to which the links of a vertex that do not go straight would
// have it.
func (v *vertex) pulls() []float64 {
	var out []float64
	for _, u := range slices.Concat(v.up, v.down) {
		if math.Abs(u.x-v.x) >= aligned {
			out = append(out, u.x)
		}
	}
	if !v.back {
		return out
	}
	for _, n := range v.beside {
		if v.pos < n.pos {
			out = append(out, n.x-gap(v, n))
		} else {
			out = append(out, n.x+gap(n, v))
		}
	}
	return out
}

// aligned is how close two x are that count as one.
const aligned = 0.5

// runs groups the vertices by the links that go straight down.
func (l *layers) runs() [][]*vertex {
	group := make([]int, len(l.all))
	var out [][]*vertex
	for _, row := range l.rows {
		for _, v := range row {
			group[v.id] = -1
			for _, u := range v.up {
				if math.Abs(u.x-v.x) < aligned {
					group[v.id] = group[u.id]
				}
			}
			if group[v.id] < 0 {
				group[v.id] = len(out)
				out = append(out, nil)
			}
			out[group[v.id]] = append(out[group[v.id]], v)
		}
	}
	return out
}
