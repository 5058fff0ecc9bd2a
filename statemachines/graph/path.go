package graph

import (
	"math"
	"strconv"
)

// point is a place in the drawing; y grows downwards.
type point struct{ x, y float64 }

// curve is a part of a line: a cubic Bézier curve, or a straight line if its
// control points are at its ends.
type curve struct{ c1, c2, to point }

// path is a line.
type path struct {
	from   point
	curves []curve
}

func (p *path) end() point {
	if len(p.curves) == 0 {
		return p.from
	}
	return p.curves[len(p.curves)-1].to
}

// line goes straight on to a point. Lines that go on in the same direction
// become one.
func (p *path) line(to point) {
	from := p.end()
	if from == to {
		return
	}
	if n := len(p.curves); n > 0 {
		before := p.from
		if n > 1 {
			before = p.curves[n-2].to
		}
		last := &p.curves[n-1]
		isLine := last.c1 == before && last.c2 == last.to
		if isLine && (before.x == from.x && from.x == to.x || before.y == from.y && from.y == to.y) {
			*last = curve{c1: before, c2: to, to: to}
			return
		}
	}
	p.curves = append(p.curves, curve{c1: from, c2: to, to: to})
}

// swing goes to a point, leaving and arriving upright.
func (p *path) swing(to point) {
	from := p.end()
	if from.x == to.x {
		p.line(to)
		return
	}
	middle := (from.y + to.y) / 2
	p.curves = append(p.curves, curve{c1: point{from.x, middle}, c2: point{to.x, middle}, to: to})
}

// corner goes to a point around a corner.
func (p *path) corner(at, to point) {
	const round = 0.55 // of the way to the corner makes nearly a circle
	from := p.end()
	p.curves = append(p.curves, curve{
		c1: point{from.x + (at.x-from.x)*round, from.y + (at.y-from.y)*round},
		c2: point{to.x + (at.x-to.x)*round, to.y + (at.y-to.y)*round},
		to: to,
	})
}

// over goes upright to the level of y, level to the x of a point, and upright
// to it, with round corners.
func (p *path) over(y float64, to point) {
	from := p.end()
	r := min(cornerRadius, math.Abs(to.x-from.x)/2, math.Abs(y-from.y), math.Abs(to.y-y))
	if r < aligned {
		p.line(point{from.x, y})
		p.line(point{to.x, y})
		p.line(to)
		return
	}
	side, before, after := math.Copysign(r, to.x-from.x), math.Copysign(r, y-from.y), math.Copysign(r, to.y-y)
	p.line(point{from.x, y - before})
	p.corner(point{from.x, y}, point{from.x + side, y})
	p.line(point{to.x - side, y})
	p.corner(point{to.x, y}, point{to.x, y + after})
	p.line(to)
}

const cornerRadius = 9

// join goes on with another path from the end.
func (p *path) join(other path) {
	p.line(other.from)
	p.curves = append(p.curves, other.curves...)
}

// reach calls grow with all points that bound the path.
func (p *path) reach(grow func(x, y float64)) {
	grow(p.from.x, p.from.y)
	for _, c := range p.curves {
		grow(c.c1.x, c.c1.y)
		grow(c.c2.x, c.c2.y)
		grow(c.to.x, c.to.y)
	}
}

// move shifts the path.
func (p *path) move(dx, dy float64) {
	shift := func(q *point) { q.x, q.y = q.x+dx, q.y+dy }
	shift(&p.from)
	for i := range p.curves {
		shift(&p.curves[i].c1)
		shift(&p.curves[i].c2)
		shift(&p.curves[i].to)
	}
}

// data is the path as SVG writes it, moved by an offset.
func (p *path) data(by point) string {
	b := []byte{'M'}
	b = appendPoint(b, p.from, by)
	at := p.from
	for _, c := range p.curves {
		if c.c1 == at && c.c2 == c.to {
			b = appendPoint(append(b, 'L'), c.to, by)
		} else {
			b = appendPoint(append(b, 'C'), c.c1, by)
			b = appendPoint(append(b, ' '), c.c2, by)
			b = appendPoint(append(b, ' '), c.to, by)
		}
		at = c.to
	}
	return string(b)
}

func appendPoint(b []byte, p, by point) []byte {
	b = append(appendNumber(b, p.x+by.x), ',')
	return appendNumber(b, p.y+by.y)
}

// appendNumber writes a coordinate to a tenth.
func appendNumber(b []byte, v float64) []byte {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // no minus sign
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// arrow is the head of a line: its tip and the direction it points in.
type arrow struct {
	tip    point
	dx, dy float64
}

const (
	arrowLength = 8
	arrowWidth  = 4 // to each side
)

// data is the arrow as SVG writes it.
func (a arrow) data(by point) string {
	base := point{a.tip.x - a.dx*arrowLength, a.tip.y - a.dy*arrowLength}
	b := appendPoint([]byte{'M'}, a.tip, by)
	b = appendPoint(append(b, 'L'), point{base.x - a.dy*arrowWidth, base.y + a.dx*arrowWidth}, by)
	b = appendPoint(append(b, 'L'), point{base.x + a.dy*arrowWidth, base.y - a.dx*arrowWidth}, by)
	return string(append(b, 'Z'))
}
