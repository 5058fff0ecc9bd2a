package typecheck

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// maxSteps bounds the parts that one join, or one comparison, looks at. Behind it
// nothing is known.
const maxSteps = 20_000

// join is what is known of a value that is one of two.
func join(a, b Value) Value {
	j := joiner{steps: maxSteps}
	return j.join(a, b)
}

// joiner unites values. If widen is above 0, the first is what a loop had before,
// and what differs becomes unknown the sooner the higher it is.
type joiner struct {
	steps int
	widen int
}

func (j *joiner) join(a, b Value) Value {
	switch {
	case a.set == b.set:
		return a
	case a.set == nil || b.set == nil:
		return Value{}
	case a.set.kinds == 0:
		return b
	case b.set.kinds == 0:
		return a
	}
	if j.steps--; j.steps < 0 {
		return Value{}
	}
	x, y := a.set, b.set
	out := set{kinds: x.kinds | y.kinds, truth: eitherTruth}
	if out.kinds&booleans != 0 {
		out.truth = joinPart(booleans, x, y, x.truth, y.truth, func(a, b truth) truth { return a | b })
	}
	out.number = joinPart(numbers, x, y, x.number, y.number, j.numbers)
	if out.number == nil && j.widen == 0 {
		out.least = joinPart(numbers, x, y, x.leastNumber(), y.leastNumber(), lower)
	}
	out.text = joinPart(texts, x, y, x.text, y.text, j.words)
	out.array = joinPart(arrays, x, y, x.array, y.array, j.lists)
	out.object = joinPart(objects, x, y, x.object, y.object, j.records)
	out.trend, out.aged = joinTrends(x, y)
	if j.widen > 1 && out.kinds != x.kinds {
		return Value{}
	}
	if out.isSame(x) {
		return a
	}
	return pack(out)
}

// joinPart is what is known of the values of a kind, where one set or both have
// that kind.
func joinPart[T any](k kinds, x, y *set, a, b T, join func(a, b T) T) (joined T) {
	switch first, second := x.kinds&k != 0, y.kinds&k != 0; {
	case first && second:
		return join(a, b)
	case first:
		return a
	case second:
		return b
	default:
		return joined
	}
}

// isSame tells whether the set is the other, down to the same parts.
func (s *set) isSame(o *set) bool {
	return s.kinds == o.kinds && s.array == o.array && s.object == o.object && s.trend == o.trend && s.aged == o.aged &&
		(s.kinds&booleans == 0 || s.truth == o.truth) &&
		(s.number == nil) == (o.number == nil) && len(s.number) == len(o.number) && sameNumber(s.least, o.least) &&
		(s.kinds&texts == 0 || sameWords(s.text, o.text))
}

func (j *joiner) numbers(a, b []float64) []float64 {
	if a == nil || b == nil {
		return nil
	}
	out := unite(a, b)
	if len(out) > maxLiterals || j.widen > 0 && len(out) != len(a) {
		return nil
	}
	return out
}

func (j *joiner) words(a, b *words) *words {
	if a == b {
		return a
	}
	if a == nil || b == nil {
		return nil
	}
	out := joinWords(*a, *b)
	switch {
	case out.equal(*a):
		return a
	case j.widen > 0:
		return nil
	default:
		return out.pack()
	}
}

func (j *joiner) lists(a, b *list) *list {
	switch {
	case a == b:
		return a
	case a == nil || b == nil:
		return nil
	}
	out := &list{demand: a.demand.join(b.demand), last: j.join(a.lastItem(), b.lastItem())}
	if a.shape == b.shape && a.spelling == b.spelling {
		out.shape, out.spelling = a.shape, a.spelling
	}
	if out.shape == nil && out.demand == nil { // a demand makes the others when somebody reads one
		out.rest = j.join(a.others(), b.others())
	}
	for i := range max(len(a.items), len(b.items)) {
		item := j.join(a.get(i), b.get(i))
		if j.widen > 1 && item.set != a.get(i).set {
			item = Value{} // an array that holds the array of the lap before grows for ever
		}
		out.items = append(out.items, item)
	}
	switch {
	case out.isSame(a):
		return a
	case j.widen > 0 && len(out.items) > len(a.items):
		return newEnding(j.join(a.element(), b.element()), out.last)
	default:
		return out.weigh()
	}
}

// isSame tells whether the list is the other, down to the same parts.
func (l *list) isSame(o *list) bool {
	return l.demand == o.demand && l.shape == o.shape && l.spelling == o.spelling && l.rest.set == o.rest.set && l.last.set == o.last.set &&
		slices.EqualFunc(l.items, o.items, func(a, b Value) bool { return a.set == b.set })
}

func (j *joiner) records(a, b *record) *record {
	switch {
	case a == b:
		return a
	case a == nil || b == nil:
		return nil
	}
	if a.shape == b.shape && a.spelling == b.spelling {
		return j.alike(a, b)
	}
	out := &record{rest: j.join(a.others(), b.others()), demand: a.demand.join(b.demand)}
	names := unite(a.allNames(), b.allNames())
	if j.steps -= len(names); j.steps < 0 || len(names) > maxFields {
		return nil
	}
	for _, name := range names {
		_, known := a.find(name)
		if j.widen > 1 && !known && !a.isStructure() {
			return nil
		}
		out.fields = append(out.fields, field{name, j.join(a.get(name), b.get(name))})
	}
	return out.weigh()
}

// alike unites two records of one shape, or of none. If the second adds nothing, the
// first is returned.
func (j *joiner) alike(a, b *record) *record {
	out := &record{shape: a.shape, spelling: a.spelling, fields: make([]field, 0, max(len(a.fields), len(b.fields)))}
	out.demand = a.demand.join(b.demand)
	same := out.demand == a.demand
	if out.shape == nil {
		out.rest = j.join(a.rest, b.rest)
		same = same && out.rest.set == a.rest.set
	}
	j.steps -= len(a.fields)
	for x, y := 0, 0; x < len(a.fields) || y < len(b.fields); {
		var order int
		switch {
		case x == len(a.fields):
			order = 1
		case y == len(b.fields):
			order = -1
		default:
			order = strings.Compare(a.fields[x].name, b.fields[y].name)
		}
		var f field
		switch {
		case order < 0:
			f = field{a.fields[x].name, j.join(a.fields[x].value, b.other(a.fields[x].name))}
		case order > 0:
			if j.widen > 1 && !a.isStructure() {
				return nil
			}
			f = field{b.fields[y].name, j.join(a.other(b.fields[y].name), b.fields[y].value)}
		default:
			f = field{a.fields[x].name, j.join(a.fields[x].value, b.fields[y].value)}
		}
		same = same && order <= 0 && f.value.set == a.fields[x].value.set
		if order <= 0 {
			x++
		}
		if order >= 0 {
			y++
		}
		out.fields = append(out.fields, f)
	}
	switch {
	case same:
		return a
	case j.steps < 0 || len(out.fields) > maxFields:
		return nil
	default:
		return out.weigh()
	}
}

func (r *record) fieldNames() []string {
	out := make([]string, len(r.fields))
	for i, f := range r.fields {
		out[i] = f.name
	}
	return out
}

// allNames are the names of the fields and of the members of the shape.
func (r *record) allNames() []string {
	if r.shape == nil || r.shape.Type == catalog.Map {
		return r.fieldNames()
	}
	out := r.fieldNames()
	for i := range r.shape.Members {
		out = append(out, r.spelling.name(&r.shape.Members[i]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// equal tells whether the same is known of two values, as far as maxSteps goes.
func equal(a, b Value) bool {
	e := comparison{steps: maxSteps}
	return e.equal(a, b)
}

type comparison struct{ steps int }

func (e *comparison) equal(a, b Value) bool {
	if a.set == b.set {
		return true
	}
	if e.steps--; a.set == nil || b.set == nil || e.steps < 0 {
		return false
	}
	x, y := a.set, b.set
	return x.kinds == y.kinds && x.trend == y.trend && x.aged == y.aged &&
		(x.kinds&booleans == 0 || x.truth == y.truth) &&
		(x.kinds&numbers == 0 || (x.number == nil) == (y.number == nil) && slices.Equal(x.number, y.number) && sameNumber(x.least, y.least)) &&
		(x.kinds&texts == 0 || sameWords(x.text, y.text)) &&
		(x.kinds&arrays == 0 || e.lists(x.array, y.array)) &&
		(x.kinds&objects == 0 || e.records(x.object, y.object))
}

func (e *comparison) lists(a, b *list) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.demand != b.demand || a.shape != b.shape || a.spelling != b.spelling || len(a.items) != len(b.items) {
		return false
	}
	if !e.equal(a.rest, b.rest) || !e.equal(a.last, b.last) {
		return false
	}
	for i := range a.items {
		if !e.equal(a.items[i], b.items[i]) {
			return false
		}
	}
	return true
}

func (e *comparison) records(a, b *record) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.demand != b.demand || a.shape != b.shape || a.spelling != b.spelling ||
		len(a.fields) != len(b.fields) || !e.equal(a.rest, b.rest) {
		return false
	}
	for i := range a.fields {
		if a.fields[i].name != b.fields[i].name || !e.equal(a.fields[i].value, b.fields[i].value) {
			return false
		}
	}
	return true
}
