package graph_test

import (
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// element is a part of an SVG.
type element struct {
	XMLName  xml.Name   `xml:""`
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []*element `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// has tells whether the element is of a class.
func (e *element) has(class string) bool {
	return strings.Contains(" "+e.attr("class")+" ", " "+class+" ")
}

// each calls yield with the element and all in it.
func (e *element) each(yield func(*element)) {
	yield(e)
	for _, c := range e.Children {
		c.each(yield)
	}
}

func (e *element) title() string {
	for _, c := range e.Children {
		if c.XMLName.Local == "title" {
			return c.Text
		}
	}
	return ""
}

type place struct{ x, y float64 }

// box is the rectangle around a shape.
type box struct {
	name                     string
	left, top, right, bottom float64
	leaf                     bool // nothing may lie on it
	label                    bool
}

func (b box) overlaps(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

func (b box) contains(o box) bool {
	return b.left < o.left && o.right < b.right && b.top < o.top && o.bottom < b.bottom
}

// picture is what an SVG shows.
type picture struct {
	root        *element
	states      []box
	labels      []box
	transitions []string // a line of a title each: "A → B if x"
	lines       [][]place
}

var numbers = regexp.MustCompile(`-?[0-9.]+`)

func places(t *testing.T, text string) []place {
	t.Helper()
	found := numbers.FindAllString(text, -1)
	require.Zero(t, len(found)%2, text)
	var out []place
	for i := 0; i < len(found); i += 2 {
		out = append(out, place{number(t, found[i]), number(t, found[i+1])})
	}
	return out
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	require.False(t, math.IsNaN(v) || math.IsInf(v, 0), text)
	return v
}

// around is the box around a rectangle or polygon.
func around(t *testing.T, e *element) box {
	t.Helper()
	if e.XMLName.Local == "rect" {
		x, y := number(t, e.attr("x")), number(t, e.attr("y"))
		return box{left: x, top: y, right: x + number(t, e.attr("width")), bottom: y + number(t, e.attr("height"))}
	}
	b := box{left: math.Inf(1), top: math.Inf(1), right: math.Inf(-1), bottom: math.Inf(-1)}
	for _, p := range places(t, e.attr("points")) {
		b.left, b.right = min(b.left, p.x), max(b.right, p.x)
		b.top, b.bottom = min(b.top, p.y), max(b.bottom, p.y)
	}
	return b
}

// trace returns points on a path close enough to one another that no state
// fits between them.
func trace(t *testing.T, data string) []place {
	t.Helper()
	var out []place
	for _, part := range regexp.MustCompile(`[MLC][^MLC]*`).FindAllString(data, -1) {
		p := places(t, part[1:])
		switch part[0] {
		case 'M':
			out = append(out, p[0])
		case 'L':
			from := out[len(out)-1]
			steps := math.Ceil(math.Hypot(p[0].x-from.x, p[0].y-from.y) / 8)
			for i := 1.0; i <= steps; i++ {
				out = append(out, place{from.x + (p[0].x-from.x)*i/steps, from.y + (p[0].y-from.y)*i/steps})
			}
		case 'C':
			from := out[len(out)-1]
			for i := 1.0; i <= 24; i++ {
				f, g := i/24, 1-i/24
				a, b, c, d := g*g*g, 3*g*g*f, 3*g*f*f, f*f*f
				out = append(out, place{
					a*from.x + b*p[0].x + c*p[1].x + d*p[2].x,
					a*from.y + b*p[0].y + c*p[1].y + d*p[2].y,
				})
			}
		}
	}
	return out
}

// read takes an SVG apart.
func read(t *testing.T, svg []byte) *picture {
	t.Helper()
	root := &element{}
	require.NoError(t, xml.Unmarshal(svg, root))
	p := &picture{root: root}
	p.root.each(func(e *element) {
		switch {
		case e.has("state"):
			name, _, _ := strings.Cut(e.title(), "\n")
			b := box{leaf: true}
			for _, c := range e.Children {
				if c.has("shape") {
					b = around(t, c) // of a Map, the last of two
				}
				b.leaf = !e.has("map") && !e.has("parallel")
			}
			b.name = name
			p.states = append(p.states, b)
		case e.has("label"):
			b := around(t, e.Children[1])
			b.name, b.leaf, b.label = e.title(), true, true
			p.labels = append(p.labels, b)
		case e.has("wire"):
			if title := e.title(); strings.Contains(title, " → ") {
				p.transitions = append(p.transitions, strings.Split(title, "\n")...)
			}
			for _, c := range e.Children {
				if c.has("wire-line") {
					p.lines = append(p.lines, trace(t, c.attr("d")))
				}
			}
		}
	})
	return p
}

// labelTexts is every line of every label.
func (p *picture) labelTexts() []string {
	var out []string
	p.root.each(func(e *element) {
		if e.has("label") {
			for _, c := range e.Children {
				if c.XMLName.Local == "text" {
					out = append(out, c.Text)
				}
			}
		}
	})
	return out
}
