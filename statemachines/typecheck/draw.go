package typecheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// DrawOptions say which of the values that fit is drawn.
type DrawOptions struct {
	// Name is what the value is called. Parts of a value have names of their own.
	Name string
	// Seed draws other values. A member keeps its value when other members come or go.
	Seed uint64
	// Absent leaves out what need not be there.
	Absent bool
	// SkipWaits leaves out members that say how long a Wait lasts.
	SkipWaits bool
	// LongestWait is the most seconds of a Wait that are drawn; 0 for no bound of their own.
	LongestWait int
	// Compared draws a literal with which the definition compares a value: the first by 1,
	// and so on, and of a number its neighbours, too. Behind the last comes another value,
	// and then the first again. By 0 none is drawn where another value fits.
	Compared int
	// Items is how many items a list has at least whose length nothing tells.
	Items int
	// Rank orders the texts that the definition compares a value with, the lowest first; nil leaves them in their order.
	Rank func(word string) int
}

// Draw makes up a value, with numbers as json.Number: one that v may be and that has what
// is demanded of it, each part distinct. Where both say nothing it is a text.
func Draw(v Value, d *Demand, o DrawOptions) any {
	w := drawer{DrawOptions: o, used: map[string]bool{}}
	return w.value(v, d, o.Name, []string{o.Name})
}

// drawer draws the parts of one value.
type drawer struct {
	DrawOptions

	used map[string]bool
}

// maxDrawn bounds the depth of what is drawn, as shapes may contain themselves.
const maxDrawn = 12

func (w *drawer) value(v Value, d *Demand, name string, at []string) any {
	if v.demandOf() != nil {
		v = Value{}
	}
	switch kind := kindToDraw(v, d); {
	case kind == objects && len(at) <= maxDrawn:
		return w.object(v.record(), d, at)
	case kind == objects:
		return map[string]any{}
	case kind == arrays:
		return w.array(v.list(), d, name, at)
	case kind == booleans && v.set != nil && v.set.truth != eitherTruth:
		return v.set.truth == isTrue
	case kind == booleans:
		return w.hash(at)%2 == 0
	case kind == numbers:
		return w.number(v, d, at)
	case kind == texts:
		return w.text(v, d, name, at)
	default:
		return nil
	}
}

// kindToDraw is the type to draw: one that is demanded, of those that are possible.
func kindToDraw(v Value, d *Demand) kinds {
	possible := v.kinds() &^ missing
	if d != nil && possible&d.kinds != 0 {
		possible &= d.kinds
	}
	var likely []kinds
	if d != nil {
		if d.item.IsRead() || d.kinds == arrays {
			likely = append(likely, arrays)
		}
		if slices.ContainsFunc(d.memberNames(), func(string) bool { return true }) {
			likely = append(likely, objects)
		}
	}
	if v.record() != nil || d != nil && d.depth == 0 { // inputs and results are, as a rule
		likely = append(likely, objects)
	}
	for _, k := range append(likely, texts, numbers, booleans, objects, arrays) {
		if possible&k != 0 {
			return k
		}
	}
	return null
}

// memberNames are the names of the members that are read, sorted.
func (d *Demand) memberNames() []string {
	if d == nil {
		return nil
	}
	var names []string
	for name, m := range d.members {
		if m.IsRead() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (w *drawer) object(r *record, d *Demand, at []string) any {
	names := d.memberNames()
	unknown := r == nil // any member may be there
	if !unknown {
		names = unite(names, slices.Sorted(slices.Values(r.fieldNames())))
		if r.isStructure() {
			for i := range r.shape.Members {
				if m := &r.shape.Members[i]; m.Required {
					names = unite(names, []string{r.spelling.name(m)})
				}
			}
		}
	} else if shape := d.structure(); shape != nil {
		return w.argument(shape, d, at)
	}
	out := map[string]any{}
	for _, name := range names {
		member, wanted := r.get(name), d.readMember(name)
		if member.kinds()&^missing == 0 || w.Absent && w.mayLeaveOut(r, name, member, wanted) || w.SkipWaits && wanted != nil && wanted.waits {
			continue
		}
		out[name] = w.value(member.without(missing), wanted, name, append(slices.Clip(at), name))
	}
	return out
}

// mayLeaveOut tells whether a member need not be there: of what is known, by what is known,
// and else by who reads it.
func (w *drawer) mayLeaveOut(r *record, name string, member Value, d *Demand) bool {
	if member.IsUnknown() {
		return d == nil || !d.required
	}
	if _, known := r.find(name); !known && r.isStructure() {
		m := r.spelling.member(r.shape, name)
		return m == nil || !m.Required
	}
	return member.may(missing)
}

// structure is the structure that the value becomes an argument of; nil for none.
func (d *Demand) structure() *catalog.Shape {
	if d == nil || d.shape == nil || d.shape.Type != catalog.Structure {
		return nil
	}
	return d.shape
}

// argument is an object that is passed on whole as a structure of an argument.
func (w *drawer) argument(s *catalog.Shape, d *Demand, at []string) any {
	out := map[string]any{}
	sp := newSpelling(true, nil, nil)
	for i := range s.Members {
		if m := &s.Members[i]; m.Required {
			name := sp.name(m)
			wanted := &Demand{read: true, kinds: kindsOf(m.Shape), shape: m.Shape}
			out[name] = w.value(sp.value(m.Shape).without(null), wanted, name, append(slices.Clip(at), name))
		}
	}
	for _, name := range d.memberNames() {
		out[name] = w.value(Value{}, d.readMember(name), name, append(slices.Clip(at), name))
	}
	return out
}

// drawnItems is how many items a list has that may have any number, and pickedItems one whose items a loop may pick
// one after the other.
const drawnItems, pickedItems = 2, 64

// ofItems is the demand of each item of a list, and how many there are to be.
func (d *Demand) ofItems() (wanted *Demand, items int) {
	if d == nil {
		return nil, drawnItems
	}
	wanted, items = d.item, drawnItems
	if slices.ContainsFunc(d.leaves(), func(leaf *Demand) bool { return leaf.picked }) {
		items = pickedItems
	}
	if len(d.memberNames()) > 0 { // JSONata reads them through the list
		members := maps.Clone(d.members)
		if wanted != nil {
			maps.Copy(members, wanted.members)
		}
		wanted = &Demand{read: true, kinds: objects, members: members}
	}
	if d.shape == nil || d.shape.Type != catalog.List {
		return wanted, items
	}
	if element := d.shape.Element.Shape; !wanted.IsRead() {
		wanted = &Demand{read: true, kinds: kindsOf(element), shape: element}
	}
	return wanted, max(1, lowerBound(d.shape))
}

func (w *drawer) array(l *list, d *Demand, name string, at []string) any {
	wanted, items := d.ofItems()
	items = max(items, w.Items)
	out := []any{}
	if len(at) > maxDrawn {
		return out
	}
	known := len(l.known())
	if known > 0 {
		items = known
	}
	if l != nil && l.others().kinds()&^missing == 0 {
		items = known
	}
	for i := range items {
		item := l.get(i)
		if item.kinds()&^missing == 0 || w.Absent && i >= max(1, w.Items) && item.may(missing) {
			break
		}
		out = append(out, w.value(item.without(missing), wanted, name, append(slices.Clip(at), strconv.Itoa(i))))
	}
	return out
}

// hash is drawn by the seed for a place.
func (w *drawer) hash(at []string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s", w.Seed, strings.Join(at, "\x00"))
	return h.Sum64()
}

func (w *drawer) number(v Value, d *Demand, at []string) any {
	if v.set != nil && len(v.set.number) > 0 {
		return numeral(v.set.number[w.hash(at)%uint64(len(v.set.number))])
	}
	if d != nil && slices.ContainsFunc(d.leaves(), func(leaf *Demand) bool { return leaf.index }) {
		return numeral(0) // each list that is drawn has a first item
	}
	if d != nil && len(d.numbers) > 0 && w.Compared > 0 {
		near := []float64{0, 1, -1}
		if n := (w.Compared - 1) % (len(near)*len(d.numbers) + 1); n < len(near)*len(d.numbers) {
			return numeral(d.numbers[n/len(near)] + near[n%len(near)])
		}
	}
	const most = 997
	least, limit := 1.0, float64(most)
	if d != nil && d.waits && w.LongestWait > 0 {
		limit = float64(w.LongestWait)
	}
	if d != nil && d.shape != nil {
		if low, ok := bound(d.shape.Min); ok {
			least, limit = low, max(limit, low+most)
		}
		if high, ok := bound(d.shape.Max); ok {
			limit = min(limit, high)
		}
	}
	n := least + float64(w.hash(at)%uint64(max(1, limit-least+1)))
	for step := 0.0; step < most && (w.used[numeral(n).String()] || d != nil && slices.Contains(d.numbers, n)); step++ {
		if n++; n > limit {
			n = least
		}
	}
	w.used[numeral(n).String()] = true
	return numeral(n)
}

func numeral(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

func (w *drawer) text(v Value, d *Demand, name string, at []string) any {
	words := v.words()
	if d != nil && w.Compared > 0 {
		fit := slices.DeleteFunc(slices.Clone(d.words), func(word string) bool { return !words.may(word) })
		if w.Rank != nil {
			made := func(word string) int { return cmp.Compare(slices.Index(d.fits, word), 0) } // for a pattern
			slices.SortStableFunc(fit, func(a, b string) int { return cmp.Or(w.Rank(a)-w.Rank(b), made(a)-made(b)) })
		}
		if n := (w.Compared - 1) % (len(fit) + 1); n < len(fit) {
			return fit[n]
		}
	}
	if all := words.list(); len(all) > 0 {
		return all[w.hash(at)%uint64(len(all))]
	}
	switch {
	case d != nil && d.parsed.IsRead():
		return w.json(d.parsed, name, at)
	case d != nil && d.json:
		return "{}"
	case d != nil && (d.time || d.shape != nil && d.shape.Type == catalog.Timestamp):
		const day = 24 * 60 * 60
		return firstDrawnTime.Add(time.Duration(w.hash(at)%day) * time.Second).Format(time.RFC3339)
	}
	var shape *catalog.Shape
	if d != nil && d.shape != nil && d.shape.Type == catalog.String {
		shape = d.shape
	}
	if shape != nil && len(shape.Enum) > 0 {
		return shape.Enum[w.hash(at)%uint64(len(shape.Enum))]
	}
	const tail, digits, tries = 1 << 20, 5, 100 // a short text may have been drawn for another part
	text := ""
	for n := range uint64(tries) {
		mark := fmt.Sprintf("%0*x", digits, (w.hash(at)+n)%tail)
		text = textFor(shape, shorten(name, shape, digits+1)+"-"+mark)
		if !w.used[text] {
			break
		}
	}
	w.used[text] = true
	return text
}

// json draws a value, and writes it as JSON.
func (w *drawer) json(d *Demand, name string, at []string) string {
	text, err := json.Marshal(w.value(Value{}, d, name, append(slices.Clip(at), "json")))
	if err != nil {
		return "{}" // what is drawn can be written
	}
	return string(text)
}

// shorten leaves room behind a name in the longest text of a shape.
func shorten(name string, s *catalog.Shape, room int) string {
	if s == nil {
		return name
	}
	if most, ok := bound(s.Max); ok && float64(len(name)+room) > most {
		return name[:max(0, int(most)-room)]
	}
	return name
}

// firstDrawnTime is the earliest time that is drawn.
var firstDrawnTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
