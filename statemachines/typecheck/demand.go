package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Demand is what states read of a value that nobody knows: its members, and the types,
// literals and limits that these reads are for. The nil Demand demands nothing.
type Demand struct {
	all *demandTable
	id  int
	// parts are the demands that this one stands for where ways join; nil for itself.
	parts   []*Demand
	members map[string]*Demand
	item    *Demand
	parsed  *Demand // of the value whose JSON the text is
	depth   int

	read     bool // somebody reads it
	required bool // and fails without it
	asked    bool // somebody asks whether it is there
	kinds    kinds
	time     bool           // the text is a time
	json     bool           // the text is JSON
	index    bool           // the number is an index of a list
	picked   bool           // items of the list are picked by a number that is not known
	waits    bool           // a Wait lasts as long
	shape    *catalog.Shape // of the argument that it becomes
	words    []string       // it is compared with, or texts that fit a pattern
	fits     []string       // those of the words that were made up to fit a pattern
	patterns []string       // that it is compared with; empty for one that is not known
	numbers  []float64      // it is compared with
	made     Value          // what stands for it in a check
}

// demandTable has the demands of one check.
type demandTable struct {
	made   int
	joined map[string]*Demand
}

// maxDemandDepth bounds how far down members are told apart.
const maxDemandDepth = 16

func (t *demandTable) newDemand(depth int) *Demand {
	t.made++
	d := &Demand{all: t, id: t.made, depth: depth, members: map[string]*Demand{}, kinds: every &^ missing}
	s := &set{kinds: every, truth: eitherTruth, object: &record{demand: d}, array: &list{demand: d}}
	d.made = Value{s}
	return d
}

// IsRead tells whether the value, or a part of it, is read.
func (d *Demand) IsRead() bool {
	if d == nil {
		return false
	}
	if d.read || d.item.IsRead() || d.parsed.IsRead() {
		return true
	}
	for _, m := range d.members {
		if m.IsRead() {
			return true
		}
	}
	return false
}

// IsText tells whether only text will do.
func (d *Demand) IsText() bool {
	return d != nil && slices.ContainsFunc(d.leaves(), func(leaf *Demand) bool { return leaf.read && leaf.kinds == texts })
}

// join is the demand that stands for two.
func (d *Demand) join(o *Demand) *Demand {
	switch {
	case d == nil || d == o:
		return o
	case o == nil:
		return d
	}
	parts := slices.Concat(d.leaves(), o.leaves())
	slices.SortFunc(parts, func(a, b *Demand) int { return a.id - b.id })
	parts = slices.Compact(parts)
	for _, one := range []*Demand{d, o} {
		if slices.Equal(one.leaves(), parts) {
			return one
		}
	}
	var key strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&key, "%d ", p.id)
	}
	known := d.all.joined[key.String()]
	if known == nil {
		known = d.all.newDemand(max(d.depth, o.depth))
		known.parts = parts
		d.all.joined[key.String()] = known
	}
	return known
}

func (d *Demand) leaves() []*Demand {
	if d.parts != nil {
		return d.parts
	}
	return []*Demand{d}
}

// child is the demand of a part, which each part of a join has.
func (d *Demand) child(of func(leaf *Demand) *Demand) Value {
	if d.depth >= maxDemandDepth {
		return Value{}
	}
	var out *Demand
	for _, leaf := range d.leaves() {
		out = out.join(of(leaf))
	}
	return out.made
}

// member is what stands for a member. That it is asked for is no demand yet.
func (d *Demand) member(name string) Value {
	return d.child(func(leaf *Demand) *Demand {
		if leaf.members[name] == nil {
			leaf.members[name] = d.all.newDemand(leaf.depth + 1)
		}
		return leaf.members[name]
	})
}

// element is what stands for an item of a list.
func (d *Demand) element() Value {
	return d.child(func(leaf *Demand) *Demand {
		if leaf.item == nil {
			leaf.item = d.all.newDemand(leaf.depth + 1)
		}
		return leaf.item
	})
}

// demandJSON notes a use as JSON, and is the value that the text stands for; unknown if nothing
// is demanded.
func (v Value) demandJSON() Value {
	v.demandKinds(texts)
	v.demand(func(leaf *Demand) { leaf.json = true })
	d := v.demandOf()
	if d == nil {
		return Value{}
	}
	return d.child(func(leaf *Demand) *Demand {
		if leaf.parsed == nil {
			leaf.parsed = d.all.newDemand(leaf.depth + 1)
		}
		return leaf.parsed
	})
}

// demandOf is the demand that a value stands for; nil if it is known.
func (v Value) demandOf() *Demand {
	if r := v.record(); r != nil && r.demand != nil {
		return r.demand
	}
	if l := v.list(); l != nil {
		return l.demand
	}
	return nil
}

// demand notes what is wanted of a value that stands for a demand.
func (v Value) demand(note func(d *Demand)) {
	if d := v.demandOf(); d != nil {
		for _, leaf := range d.leaves() {
			note(leaf)
		}
	}
}

// demandPicked notes that items of a list are picked by a number that is not known.
func (v Value) demandPicked() { v.demand(func(d *Demand) { d.picked = true }) }

// demandRead notes a read, which fails without a value unless it is excused, or comes
// where the value is known to be there.
func (v Value) demandRead(excused bool) {
	required := !excused && v.may(missing)
	v.demand(func(d *Demand) { d.read, d.required = true, d.required || required })
}

// demandAsked notes a question whether the value is there.
func (v Value) demandAsked() {
	v.demandRead(true)
	v.demand(func(d *Demand) { d.asked = true })
}

// demandKinds notes a use that takes values of some types.
func (v Value) demandKinds(k kinds) {
	v.demand(func(d *Demand) {
		if both := d.kinds & k; both != 0 {
			d.kinds = both
		}
	})
}

// demandLiteral notes a comparison with a value.
func (v Value) demandLiteral(literal Value) {
	v.demandKinds(literal.kinds() &^ null)
	words, _ := literal.Literals()
	v.demand(func(d *Demand) { d.words = unite(d.words, words) })
	if literal.kinds() == numbers {
		v.demand(func(d *Demand) { d.numbers = unite(d.numbers, literal.set.number) })
	}
}

// demandPattern notes a comparison with a pattern of StringMatches.
func (v Value) demandPattern(pattern string) {
	var fits strings.Builder
	open := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			fits.WriteByte(pattern[i])
		case c == '*':
			fits.WriteString("any")
			open = true
		default:
			fits.WriteByte(c)
		}
	}
	v.demandLiteral(textOf(fits.String()))
	if !open {
		return // one text fits
	}
	v.demandMatch(pattern)
	v.demand(func(d *Demand) { d.fits = unite(d.fits, []string{fits.String()}) })
}

// demandMatch notes a comparison with a pattern; empty for one that is not known.
func (v Value) demandMatch(pattern string) {
	v.demand(func(d *Demand) { d.patterns = unite(d.patterns, []string{pattern}) })
}

// demandTime notes a use as a time.
func (v Value) demandTime() {
	v.demandKinds(texts)
	v.demand(func(d *Demand) { d.time = true })
}

// demandShape notes a use as an argument of the shape.
func (v Value) demandShape(s *catalog.Shape) {
	v.demandKinds(kindsOf(s))
	switch kindOf(s) {
	case number:
		v.demandKinds(numbers) // a text would do, too
	case boolean:
		v.demandKinds(booleans)
	default:
	}
	v.demand(func(d *Demand) {
		if d.shape == nil {
			d.shape = s
		}
	})
}

// isList tells whether only lists will do.
func (d *Demand) isList() bool {
	return slices.ContainsFunc(d.leaves(), func(leaf *Demand) bool { return leaf.kinds == arrays })
}

// member of a demand that is read; nil for none.
func (d *Demand) readMember(name string) *Demand {
	if d == nil || !d.members[name].IsRead() {
		return nil
	}
	return d.members[name]
}
