package graph

import (
	"cmp"
	"slices"
)

// maxSwapped is the size of a flow, in vertices, up to which single swaps are
// tried too.
const maxSwapped = 300

// order arranges each row so that few lines cross.
func (l *layers) order() {
	var best [][]*vertex
	least := -1
	for _, right := range []bool{true, false} {
		l.arrange(right)
		for sweep := range sweeps {
			if cost := l.cost(); least < 0 || cost < least {
				best, least = l.copyRows(), cost
			}
			if least == 0 {
				break
			}
			l.sweep(sweep%2 == 0)
		}
	}
	l.rows = best
	l.number()
	if len(l.all) <= maxSwapped {
		l.swap(least)
	}
}

const sweeps = 16

func (l *layers) copyRows() [][]*vertex {
	out := make([][]*vertex, len(l.rows))
	for i, row := range l.rows {
		out[i] = slices.Clone(row)
	}
	return out
}

func (l *layers) number() {
	for _, row := range l.rows {
		for i, v := range row {
			v.pos = i
		}
	}
}

// arrange makes a first order: that of the definition, with the wires that go
// up to the right or to the left of what they go around.
func (l *layers) arrange(right bool) {
	for i := range l.rows {
		l.rows[i] = nil
	}
	placed := make([]bool, len(l.all))
	put := func(v *vertex) {
		if !placed[v.id] {
			placed[v.id] = true
			l.rows[v.rank] = append(l.rows[v.rank], v)
		}
	}
	lanes := func(v *vertex) {
		for _, p := range v.beside {
			for ; p != nil && !placed[p.id]; p = first(p.down) {
				put(p)
			}
		}
	}
	var place func(v *vertex)
	place = func(v *vertex) {
		if placed[v.id] {
			return
		}
		if v.node != nil && !right {
			lanes(v)
		}
		put(v)
		for _, w := range v.down {
			place(w)
		}
		if v.node != nil && right {
			lanes(v)
		}
	}
	for _, v := range l.all {
		if len(v.up) == 0 && !v.back {
			place(v)
		}
	}
	l.number()
}

func first(list []*vertex) *vertex {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// sweep orders each row by where its neighbours in the row before stand.
func (l *layers) sweep(down bool) {
	for i := range l.rows {
		row, neighbours := l.rows[i], func(v *vertex) []*vertex { return v.up }
		if !down {
			row, neighbours = l.rows[len(l.rows)-1-i], func(v *vertex) []*vertex { return v.down }
		}
		sortRow(row, neighbours)
	}
}

// sortRow orders a row by the mean place of the neighbours. What has none
// stays where it is, but the end of a lane goes beside the node it belongs to.
func sortRow(row []*vertex, neighbours func(*vertex) []*vertex) {
	var moved, ends []*vertex
	keys := make(map[*vertex]float64, len(row))
	fixed := make([]*vertex, len(row))
	for i, v := range row {
		around := neighbours(v)
		switch {
		case len(around) > 0:
			sum := 0
			for _, u := range around {
				sum += u.pos
			}
			keys[v] = float64(sum) / float64(len(around))
			moved = append(moved, v)
		case v.back && len(v.beside) > 0:
			ends = append(ends, v)
		default:
			fixed[i] = v
		}
	}
	slices.SortStableFunc(moved, func(a, b *vertex) int { return cmp.Compare(keys[a], keys[b]) })
	sorted := make([]*vertex, 0, len(row))
	for _, v := range fixed {
		switch {
		case v != nil:
			sorted = append(sorted, v)
		case len(moved) > 0:
			sorted = append(sorted, moved[0])
			moved = moved[1:]
		}
	}
	for _, v := range ends {
		at := slices.Index(sorted, v.beside[0])
		if v.pos > v.beside[0].pos {
			at++
		}
		sorted = slices.Insert(sorted, at, v)
	}
	copy(row, sorted)
	for i, v := range row {
		v.pos = i
	}
}

// Costs of an order.
const (
	crossingCost = 8
	// detourCost is that of a vertex between the end of a lane and its node.
	detourCost = 2
)

// cost is what crossings and detours make of the order.
func (l *layers) cost() int {
	sum := 0
	for i := range l.rows {
		sum += l.costOfRow(i)
	}
	return sum
}

// costOfRow counts the crossings between a row and the next, and those of the
// lanes that turn in the row.
func (l *layers) costOfRow(i int) int {
	row, sum := l.rows[i], 0
	if i+1 < len(l.rows) {
		sum += crossings(row, len(l.rows[i+1])) * crossingCost
	}
	for _, v := range row {
		if !v.back {
			continue
		}
		for _, n := range v.beside {
			low, high := min(v.pos, n.pos), max(v.pos, n.pos)
			for _, between := range row[low+1 : high] {
				lines := len(between.down)
				if len(v.up) == 0 { // the line comes over the row, not from under it
					lines = len(between.up)
				}
				sum += detourCost + lines*crossingCost
			}
		}
	}
	return sum
}

// crossings counts the pairs of links to the next row that cross, with a tree
// of sums over the places in it.
func crossings(row []*vertex, next int) int {
	tree := make([]int, next+1)
	var ends []int
	count, seen := 0, 0
	for _, v := range row {
		ends = ends[:0]
		for _, w := range v.down {
			ends = append(ends, w.pos)
		}
		slices.Sort(ends)
		for _, end := range ends {
			before := 0
			for i := end + 1; i > 0; i -= i & -i {
				before += tree[i]
			}
			count += seen - before
		}
		for _, end := range ends {
			for i := end + 1; i <= next; i += i & -i {
				tree[i]++
			}
			seen++
		}
	}
	return count
}

// swap exchanges neighbours, alone or with the lines of single vertices that
// they stand in, as long as that makes the order better.
func (l *layers) swap(cost int) {
	for range sweeps {
		before := cost
		for i, row := range l.rows {
			for j := range len(row) - 1 {
				cost -= l.improve([]pair{{i, j}})
				if stems := l.stems(i, j); len(stems) > 1 {
					cost -= l.improve(stems)
				}
			}
		}
		if cost == before {
			return
		}
	}
}

// pair is two neighbours: the row, and the place of the first of them.
type pair struct{ row, at int }

// improve exchanges the pairs, which stand in rows one below the other, if
// that makes the order better, and returns by how much.
func (l *layers) improve(pairs []pair) int {
	before := l.costAround(pairs)
	l.exchange(pairs)
	if after := l.costAround(pairs); after < before {
		return before - after
	}
	l.exchange(pairs)
	return 0
}

func (l *layers) exchange(pairs []pair) {
	for _, p := range pairs {
		row := l.rows[p.row]
		row[p.at], row[p.at+1] = row[p.at+1], row[p.at]
		row[p.at].pos, row[p.at+1].pos = p.at, p.at+1
	}
}

func (l *layers) costAround(pairs []pair) int {
	sum := 0
	for i := max(0, pairs[0].row-1); i <= pairs[len(pairs)-1].row; i++ {
		sum += l.costOfRow(i)
	}
	return sum
}

// stems returns the pair with those above and below it that it is linked to by
// single links.
func (l *layers) stems(i, j int) []pair {
	pairs := []pair{{i, j}}
	for p, ok := l.stem(pairs[0], upper, lower, -1); ok; p, ok = l.stem(p, upper, lower, -1) {
		pairs = slices.Insert(pairs, 0, p)
	}
	for p, ok := l.stem(pair{i, j}, lower, upper, 1); ok; p, ok = l.stem(p, lower, upper, 1) {
		pairs = append(pairs, p)
	}
	return pairs
}

func upper(v *vertex) []*vertex { return v.up }
func lower(v *vertex) []*vertex { return v.down }

// stem returns the pair in the next row that the pair is linked to by single
// links and nothing else is.
func (l *layers) stem(p pair, ahead, behind func(*vertex) []*vertex, step int) (pair, bool) {
	a, b := ahead(l.rows[p.row][p.at]), ahead(l.rows[p.row][p.at+1])
	if len(a) != 1 || len(b) != 1 || len(behind(a[0])) != 1 || len(behind(b[0])) != 1 || b[0].pos != a[0].pos+1 {
		return pair{}, false
	}
	return pair{p.row + step, a[0].pos}, true
}
