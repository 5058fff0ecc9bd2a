package typecheck

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// record is what is known of an object: each member, and the others. A member
// that may be missing has that in its value. The members of a structure of a model
// are made when they are asked for, as structures can contain themselves.
type record struct {
	fields []field // sorted by name; they hide those of the shape
	// shape is the structure or map that has the members, nil if there is none.
	shape    *catalog.Shape
	spelling *spelling
	// rest is any other member, where there is no shape.
	rest   Value
	demand *Demand // of the members that are none of the fields; nil for none
	weight weight
}

type field struct {
	name  string
	value Value
}

// newObject is an object of these members alone.
func newObject(fields []field) *record {
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return (&record{fields: fields, rest: absent}).weigh()
}

// weigh counts the parts, and forgets members where there are too many.
func (r *record) weigh() *record {
	if len(r.fields) > maxFields {
		return &record{}
	}
	for i := range r.fields {
		r.weight.add(r.fields[i].value)
	}
	r.weight.add(r.rest)
	return r
}

func (r *record) find(name string) (int, bool) {
	return slices.BinarySearchFunc(r.fields, name, func(f field, name string) int { return strings.Compare(f.name, name) })
}

// get is a member.
func (r *record) get(name string) Value {
	if r == nil {
		return Value{}
	}
	if i, ok := r.find(name); ok {
		return r.fields[i].value
	}
	return r.other(name)
}

// other is a member that is none of the fields.
func (r *record) other(name string) Value {
	if r.demand != nil {
		return r.demand.member(name)
	}
	if !r.isStructure() {
		return r.others()
	}
	m := r.spelling.member(r.shape, name)
	if m == nil {
		return absent
	}
	return r.spelling.memberValue(name, m)
}

// others is any member that is not known by its name.
func (r *record) others() Value {
	switch {
	case r == nil:
		return Value{}
	case r.shape == nil:
		return r.rest
	case r.shape.Type == catalog.Map:
		return r.spelling.optionalValue(r.shape.Element.Shape)
	default:
		return absent
	}
}

// with is the object with another value of a member.
func (r *record) with(name string, value Value) *record {
	if r == nil {
		r = &record{}
	}
	out := &record{shape: r.shape, spelling: r.spelling, rest: r.rest, demand: r.demand}
	i, ok := r.find(name)
	if ok {
		out.fields = slices.Clone(r.fields)
		out.fields[i].value = value
	} else {
		out.fields = slices.Insert(slices.Clone(r.fields), i, field{name, value})
	}
	return out.weigh()
}

// names are those of the members that the object may have and that are known.
func (r *record) names() []string {
	var out []string
	for _, f := range r.fields {
		if f.value.may(every &^ missing) {
			out = append(out, f.name)
		}
	}
	if r.shape != nil {
		for i := range r.shape.Members {
			out = append(out, r.spelling.name(&r.shape.Members[i]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isStructure tells whether a model says which members there are.
func (r *record) isStructure() bool { return r != nil && r.shape != nil && r.shape.Type != catalog.Map }

// element is any member of the object.
func (r *record) element() Value {
	if r == nil {
		return Value{}
	}
	out := r.others()
	for _, name := range r.names() {
		out = join(out, r.get(name))
	}
	return out.without(missing)
}
