package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// stop is where a path always ends before its last step.
type stop struct {
	step int   // that leads nowhere
	at   Value // what it is applied to
}

// stepsOf are the steps of a path, which is taken apart once.
func (c *Checker) stepsOf(path *jsonpath.Path) []jsonpath.Step {
	steps, known := c.steps[path]
	if !known {
		steps = path.Steps()
		c.steps[path] = steps
	}
	return steps
}

// follow is what a path of JSONPath selects from a value: what it gives where it
// does not fail. If it always fails, or its list is always empty, stopped tells where.
func (c *Checker) follow(v Value, path *jsonpath.Path) (_ Value, stopped *stop) {
	steps := c.stepsOf(path)
	if !path.Definite() {
		value, stopped := followMany(v, steps)
		value.list().element().demandRead(true)
		if stopped != nil {
			return arrayOf(newTuple(nil)), stopped
		}
		if items, ok := followEach([]Value{v}, steps); ok {
			return arrayOf(newTuple(items)), nil
		}
		return value, nil
	}
	for i, step := range steps {
		next := follow1(v, step)
		if found := v.without(missing); next.without(missing).IsNothing() && !found.IsNothing() {
			return Nothing(), &stop{step: i, at: found}
		}
		v = next
		v.demandRead(false)
	}
	if len(steps) == 0 {
		v.demandRead(false)
	}
	return v.without(missing), nil
}

// follow1 is what one step selects, and missing where it may select nothing.
func follow1(v Value, step jsonpath.Step) Value {
	out := Nothing()
	switch step.Kind {
	case jsonpath.StepName:
		if v.may(objects) {
			out = v.record().get(step.Names[0])
		}
		if v.kinds()&^objects != 0 {
			out = join(out, absent)
		}
	case jsonpath.StepPick:
		if v.may(objects) {
			fields := make([]field, len(step.Names))
			for i, name := range step.Names {
				fields[i] = field{name, v.record().get(name)}
			}
			out = objectOf(distinct(fields))
		}
		if v.kinds()&^objects != 0 {
			out = join(out, absent)
		}
	case jsonpath.StepIndex:
		v.demandKinds(arrays)
		if v.may(arrays) {
			out = v.list().get(step.Index)
		}
		if v.kinds()&^arrays != 0 {
			out = join(out, absent)
		}
	default: // from the end
		v.demandKinds(arrays)
		if v.may(arrays) {
			out = v.list().element()
		}
		out = join(out, absent)
	}
	return out
}

// distinct is an object of members of which a name may stand twice.
func distinct(fields []field) *record {
	r := newObject(nil)
	for _, f := range fields {
		r = r.with(f.name, f.value)
	}
	return r
}

// followMany is the list that a path gives that does not name one value. A name
// that the value never has leads to an empty list.
func followMany(v Value, steps []jsonpath.Step) (_ Value, stopped *stop) {
	known := true // the path has come to one value
	for i, step := range steps {
		if step.Deep || v.IsUnknown() {
			return arrayOf(nil), stopped
		}
		next := Nothing()
		switch step.Kind {
		case jsonpath.StepName, jsonpath.StepIndex, jsonpath.StepFromEnd, jsonpath.StepPick:
			next = follow1(v, step)
			known = known && !next.may(missing)
		case jsonpath.StepNames:
			for _, name := range step.Names {
				if v.may(objects) {
					next = join(next, v.record().get(name))
				}
			}
		case jsonpath.StepSome:
			v.demandKinds(arrays)
			if items, exact := elementsOf(v, step); known && exact && i == len(steps)-1 {
				return arrayOf(newTuple(items)), stopped
			}
			if v.may(arrays) {
				next = v.list().element()
			}
		case jsonpath.StepAll, jsonpath.StepFilter:
			next = followAll(v, step.Kind)
			if f, ok := step.Filter(); ok {
				demandFilter(next, f)
			}
		}
		next = next.without(missing)
		if found := v.without(missing); next.IsNothing() && !found.IsNothing() && stopped == nil && step.Kind == jsonpath.StepName {
			stopped = &stop{step: i, at: found}
		}
		v = next
	}
	return arrayOf(newList(v)), stopped
}

// followEach are the values that a path selects from some, one by one; not ok if it is not known how many they are.
func followEach(values []Value, steps []jsonpath.Step) (selected []Value, ok bool) {
	for _, step := range steps {
		selected = nil
		for _, v := range values {
			next, ok := selectEach(v, step)
			if !ok || len(selected)+len(next) > maxItems {
				return nil, false
			}
			selected = append(selected, next...)
		}
		values = selected
	}
	return values, true
}

// selectEach are the values that one step selects from a value, none where it leads nowhere; not ok if it is not known
// how many they are.
func selectEach(v Value, step jsonpath.Step) (selected []Value, ok bool) {
	if v.IsUnknown() || v.demandOf() != nil || step.Deep {
		return nil, false
	}
	switch step.Kind {
	case jsonpath.StepName, jsonpath.StepIndex:
		next := follow1(v, step)
		if next.kinds() == missing {
			return nil, true
		}
		return []Value{next}, !next.may(missing)
	case jsonpath.StepSome:
		return elementsOf(v, step)
	case jsonpath.StepAll:
		if v.kinds() != arrays {
			return nil, false
		}
		return itemsOf(v)
	case jsonpath.StepFilter:
		return keepEach(v, step)
	default:
		return nil, false
	}
}

// keepEach are the items of an array that a filter keeps; not ok if that is not known of each.
func keepEach(v Value, filter jsonpath.Step) (kept []Value, ok bool) {
	paths, simple := filter.Reads()
	items, exact := itemsOf(v)
	if !simple || !exact || v.kinds() != arrays {
		return nil, false
	}
	for _, item := range items {
		if item.kinds() != objects {
			return nil, false
		}
		read, ok := constantsAt(item, paths)
		if !ok {
			return nil, false
		}
		if filter.Keeps(read) {
			kept = append(kept, item)
		}
	}
	return kept, true
}

// constantsAt is an object that has what a value has at some paths; not ok if that is not known.
func constantsAt(v Value, paths [][]string) (map[string]any, bool) {
	out := map[string]any{}
	for _, path := range paths {
		inner, at := out, v
		for i, name := range path {
			if at = memberOf(at, name); at.kinds() == missing {
				break
			}
			if i == len(path)-1 {
				constant, ok := at.Constant()
				if !ok {
					return nil, false
				}
				inner[name] = constant
				break
			}
			if at.kinds() != objects {
				return nil, false
			}
			below, there := inner[name].(map[string]any)
			if !there {
				below = map[string]any{}
				inner[name] = below
			}
			inner = below
		}
	}
	return out, true
}

// elementsOf are the elements that a slice or a union selects of an array; not exact if its elements are not known
// one by one.
func elementsOf(v Value, step jsonpath.Step) (items []Value, exact bool) {
	l := v.list()
	if l == nil || v.kinds() != arrays || l.others().kinds() != missing || slices.ContainsFunc(l.items, func(item Value) bool { return item.may(missing) }) {
		return nil, false
	}
	for _, i := range step.Elements(len(l.items)) {
		items = append(items, l.items[i])
	}
	return items, true
}

// demandFilter notes what a filter asks of the values that it looks at.
func demandFilter(v Value, f jsonpath.Filter) {
	for _, part := range f.Parts {
		demandFilter(v, part)
	}
	for _, name := range f.Member {
		v = memberOf(v, name)
	}
	switch f.Kind {
	case jsonpath.FilterExists:
		v.demandAsked()
	case jsonpath.FilterCompare:
		v.demandRead(true)
		v.demandLiteral(Literal(f.Literal))
	default:
	}
}

// followAll is any part of a value that a wildcard or a filter selects.
func followAll(v Value, kind jsonpath.StepKind) Value {
	v.demandKinds(arrays)
	next := Nothing()
	if v.may(arrays) {
		next = v.list().element()
	}
	switch {
	case !v.may(objects) || v.demandOf() != nil:
		return next
	case kind == jsonpath.StepAll:
		return join(next, v.record().element())
	default:
		return join(next, v.only(objects))
	}
}
