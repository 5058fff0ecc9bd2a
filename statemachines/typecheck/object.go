package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// maxPattern is how many steps of a pattern are followed: at each one, an array and an object may lead on.
const maxPattern = 8

// transform is a value with the parts that a pattern finds changed: with the members of an object, and without
// those that are named.
func (x *scene) transform(t *jsonata.Part, v Value) Value {
	if !v.may(arrays | objects | missing) {
		return Nothing() // it raises an error
	}
	pattern := []jsonata.Part{t.Parts[0]}
	if pattern[0].Kind == jsonata.PartPath && len(pattern[0].Filters) == 0 {
		pattern = pattern[0].Parts
	}
	if first := &pattern[0]; first.Kind == jsonata.PartVariable && first.Text == "" && len(first.Filters) == 0 {
		pattern = pattern[1:]
	}
	if len(pattern) > maxPattern || slices.ContainsFunc(pattern, func(step jsonata.Part) bool { return step.Kind != jsonata.PartName }) {
		return join(Value{}.without(missing), v.only(missing))
	}
	return x.changeAt(v, pattern, t)
}

// changeAt changes the objects to which steps of a pattern lead. A step with a condition may lead to none.
func (x *scene) changeAt(v Value, steps []jsonata.Part, t *jsonata.Part) Value {
	if v.IsUnknown() {
		return v
	}
	out := v.without(arrays | objects)
	if v.may(arrays) {
		out = join(out, x.changeItems(v.only(arrays), steps, t))
	}
	if object := v.only(objects); !object.IsNothing() && len(steps) == 0 {
		out = join(out, x.changeObject(object, t))
	} else if r := object.record(); r != nil {
		member := r.get(steps[0].Text)
		changed := x.changeAt(member, steps[1:], t)
		if len(steps[0].Filters) > 0 {
			changed = join(changed, member)
		}
		out = join(out, objectOf(r.with(steps[0].Text, changed)))
	} else {
		out = join(out, object)
	}
	return out
}

// changeItems is changeAt for the items of an array. Arrays in it are not followed: a name finds the objects in them, and
// the context does not. They also nest without end where nothing is known of the items.
func (x *scene) changeItems(v Value, steps []jsonata.Part, t *jsonata.Part) Value {
	items, exact := itemsOf(v)
	changed := make([]Value, len(items))
	for i, item := range items {
		if changed[i] = x.changeAt(item.without(arrays), steps, t); item.may(arrays) {
			changed[i] = join(changed[i], ofKinds(arrays))
		}
	}
	switch {
	case exact:
		return arrayOf(newTuple(changed))
	case len(changed) == 0:
		return v
	default:
		return arrayOf(newList(changed[0]))
	}
}

// changeObject adds the members of the update of a transform to an object, and takes those away that it deletes.
func (x *scene) changeObject(v Value, t *jsonata.Part) Value {
	r := v.record()
	if r == nil {
		r = &record{}
	}
	added := x.eval(&t.Parts[1], v)
	switch {
	case added.kinds()&^missing == objects:
		r = mergeInto(r, added.record())
	case added.kinds() != missing:
		return ofKinds(objects)
	}
	if len(t.Parts) < 3 { //nolint:mnd // it deletes nothing
		return objectOf(r)
	}
	gone, known := x.eval(&t.Parts[2], v).constants()
	if !known || len(gone) != 1 {
		return ofKinds(objects)
	}
	names, isList := gone[0].([]any)
	if !isList {
		names = gone
	}
	for _, name := range names {
		if text, isText := name.(string); isText {
			r = r.with(text, absent)
		}
	}
	return objectOf(r)
}

// siftBy is what $sift leaves of an object: nothing if no member is left.
func (x *scene) siftBy(v Value, f *closure) Value {
	r := v.record()
	if r == nil || v.kinds()&^missing != objects {
		return Value{}
	}
	var left []field
	some := false // member that is surely left
	for _, name := range r.names() {
		value := r.get(name)
		holds := x.apply(f, value.without(missing), textOf(name), v)
		if holds.IsNothing() {
			return Value{}
		}
		yes, no := truthiness(holds)
		switch {
		case !yes:
			continue
		case no:
			value = join(value, absent)
		}
		some = some || !value.may(missing)
		left = append(left, field{name, value})
	}
	out := newObject(left)
	if !r.isStructure() && r.others().kinds() != missing {
		out.rest = join(r.others(), absent)
	}
	switch {
	case len(left) == 0 && out.rest.kinds() == missing:
		return absent
	case !some || v.may(missing):
		return join(objectOf(out), absent)
	default:
		return objectOf(out)
	}
}

// eachBy is what $each makes of the members of an object.
func (x *scene) eachBy(v Value, f *closure) Value {
	r := v.record()
	if r == nil || v.kinds() != objects || !r.isStructure() && r.others().kinds() != missing {
		return Value{}
	}
	var made []Value
	sure, all := true, Nothing()
	for _, name := range r.names() {
		value := r.get(name)
		out := x.apply(f, value.without(missing), textOf(name), v)
		if out.IsNothing() {
			return Value{}
		}
		sure = sure && !value.may(missing) && (out.kinds() == missing || !out.may(missing))
		if out.kinds() != missing {
			made, all = append(made, out), join(all, out)
		}
	}
	switch {
	case len(made) > 1: // in an order that is not known
		return Value{}
	case sure:
		return sequenceOf(made)
	default:
		return sequence(all)
	}
}

// group is the object that groups items by names, each with what the items of its group give. It is known where the
// items and their names are.
func (x *scene) group(p *jsonata.Part, context Value) Value {
	v := x.eval(&p.Parts[0], context)
	if v.IsNothing() {
		return v
	}
	items, exact := itemsOf(v)
	if !exact {
		return ofKinds(objects)
	}
	if len(items) == 0 {
		items = []Value{absent} // JSONata groups nothing as one item that is not there
	}
	out := newObject(nil)
	for i := 1; i+1 < len(p.Parts); i += 2 {
		groups := map[string][]Value{}
		for _, item := range items {
			name := x.eval(&p.Parts[i], item)
			if name.kinds() == missing {
				continue
			}
			words, known := name.Literals()
			if !known || len(words) != 1 {
				return ofKinds(objects)
			}
			groups[words[0]] = append(groups[words[0]], item)
		}
		for name, of := range groups {
			made := x.eval(&p.Parts[i+1], sequenceOf(of))
			if made.IsNothing() {
				return made
			}
			out = out.with(name, made)
		}
	}
	return objectOf(out)
}
