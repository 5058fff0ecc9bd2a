package responses

import (
	"math/rand/v2"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// generator makes JSON values of shapes.
type generator struct {
	random *rand.Rand
	maker  *Maker
	focus  []string // the strings that are wanted most
	// wild makes members that no path reads too, nulls, and lists with nulls.
	wild   bool
	budget int // how many more values to make
}

const (
	deepest = 9   // a shape may contain itself
	largest = 400 // values of a response
)

func (g *generator) output() any { return g.root(g.maker.entry.Operation.Output) }
func (g *generator) input() any  { return g.root(g.maker.entry.Operation.Input) }

func (g *generator) root(s *catalog.Shape) any {
	g.budget = largest
	if s == nil {
		return map[string]any{}
	}
	return g.value(s, 0)
}

// chance is true in so many of 100 draws.
func (g *generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func (g *generator) value(s *catalog.Shape, depth int) any {
	g.budget--
	if g.wild && depth > 0 && g.chance(4) {
		return nil
	}
	switch s.Type {
	case catalog.Structure:
		return g.structure(s, depth)
	case catalog.Union:
		if len(s.Members) == 0 {
			return map[string]any{}
		}
		m := s.Members[g.random.IntN(len(s.Members))]
		return map[string]any{m.Name: g.value(m.Shape, depth+1)}
	case catalog.List:
		list := []any{}
		for range g.length(depth) {
			list = append(list, g.value(s.Element.Shape, depth+1))
		}
		return list
	case catalog.Map:
		object := map[string]any{}
		for i := range g.length(depth) {
			object[string(rune('a'+i))] = g.value(s.Element.Shape, depth+1)
		}
		return object
	case catalog.Boolean:
		return g.chance(50)
	case catalog.String:
		return g.text(s)
	case catalog.Blob:
		return "Ynl0ZXM="
	case catalog.Timestamp:
		return float64(1_700_000_000 + g.random.IntN(1_000_000))
	case catalog.Document:
		return []any{nil, true, 1.5, "text", []any{"a"}, map[string]any{"a": 1.0}}[g.random.IntN(6)]
	default:
		return g.number()
	}
}

// structure leaves members out, and those that no path reads most of the time.
func (g *generator) structure(s *catalog.Shape, depth int) any {
	object := map[string]any{}
	for _, m := range s.Members {
		percent := 0
		switch {
		case depth > deepest || g.budget <= 0:
		case g.maker.names[m.Name]:
			percent = 90
		case g.wild:
			percent = 15
		}
		if g.chance(percent) {
			object[m.Name] = g.value(m.Shape, depth+1)
		}
	}
	return object
}

func (g *generator) length(depth int) int {
	if depth > deepest || g.budget <= 0 {
		return 0
	}
	return []int{0, 0, 1, 1, 1, 1, 2, 2, 2, 3}[g.random.IntN(10)]
}

// text is one of the strings that somebody asks for, or that a service may
// answer.
func (g *generator) text(s *catalog.Shape) string {
	draw, words := g.random.IntN(100), g.maker.words
	switch {
	case len(g.focus) > 0 && draw < 50:
		return g.focus[g.random.IntN(len(g.focus))]
	case len(words) > 0 && draw < 75:
		return words[g.random.IntN(len(words))]
	case len(s.Enum) > 0 && draw < 95:
		return s.Enum[g.random.IntN(len(s.Enum))]
	case g.wild && draw%2 == 0:
		return ""
	default:
		return unknown
	}
}

func (g *generator) number() float64 {
	numbers := append([]float64{0, 1, 2, 3}, g.maker.numbers...)
	return numbers[g.random.IntN(len(numbers))]
}
