package typecheck

import (
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// Narrow is the value if the member at a path is the string, and nothing where it
// cannot be. A part of the path is the name of a member or, in an array, an index.
func Narrow(v Value, path []string, literal string) Value {
	only := textOf(literal)
	return update(v, namesOf(path), func(old Value) Value { return pickWord(old, literal, only) })
}

// namesOf are the steps of a path.
func namesOf(path []string) []jsonpath.Step {
	steps := make([]jsonpath.Step, len(path))
	for i, name := range path {
		steps[i] = jsonpath.Step{Kind: jsonpath.StepName, Names: []string{name}}
	}
	return steps
}

// NarrowTruth is the value if the member at a path is a boolean, and nothing where it cannot be.
func NarrowTruth(v Value, path []string, truth bool) Value {
	return update(v, namesOf(path), func(old Value) Value {
		holds, _ := splitTruth(old, truthOf(truth))
		return holds
	})
}

// WithItems is the value if the array at a path, as of [Narrow], has so many elements, each of which is what change makes
// of it. It is nothing where that cannot be.
func WithItems(v Value, path []string, count int, change func(i int, item Value) Value) Value {
	return update(v, namesOf(path), func(old Value) Value {
		if !old.may(arrays) {
			return Nothing()
		}
		items := make([]Value, count)
		for i := range items {
			if items[i] = change(i, old.only(arrays).list().get(i).without(missing)); items[i].IsNothing() {
				return Nothing()
			}
		}
		return arrayOf(newTuple(items))
	})
}

// NarrowNumber is the value if the member at a path, as of Narrow, is the number, and nothing where it cannot be.
func NarrowNumber(v Value, path []string, n float64) Value {
	return update(v, namesOf(path), func(old Value) Value {
		if !old.may(numbers) {
			return Nothing()
		}
		return numberOf(n)
	})
}

// NarrowPresent is the value if the member at a path, as of Narrow, is there.
func NarrowPresent(v Value, path []string) Value {
	return update(v, namesOf(path), func(old Value) Value { return old.without(missing) })
}

// NarrowAbsent is the value if the object at a path, but for its last name, is there and does not have the member of that
// name; nothing where it always has.
func NarrowAbsent(v Value, path []string) Value {
	if len(path) == 0 {
		return v.only(missing)
	}
	if v = v.only(objects); v.IsNothing() {
		return v
	}
	member := NarrowAbsent(v.record().get(path[0]), path[1:])
	if member.IsNothing() {
		return member
	}
	return objectOf(v.record().with(path[0], member))
}

// pickWord is the value if it is the string, of which only is the value.
func pickWord(v Value, word string, only Value) Value {
	if !v.words().may(word) {
		return Nothing()
	}
	return only
}

// dropWord is the value if it is not the string.
func dropWord(v Value, word string) Value {
	if !v.may(texts) || !v.words().may(word) {
		return v
	}
	s, w := v.open(), v.words().drop(word)
	if s.text = w.pack(); w.isEmpty() {
		s.kinds &^= texts
	}
	return pack(s)
}

// maxNarrowed is how far into an array an index narrows one element.
const maxNarrowed = 16

// update is the value with what change makes of the part that the steps lead to. If
// that is nothing, so is the value. Steps that do not lead to one part change
// nothing.
func update(v Value, steps []jsonpath.Step, change func(Value) Value) Value {
	if v.IsNothing() {
		return v
	}
	if len(steps) == 0 {
		return change(v)
	}
	step := steps[0]
	if step.Deep {
		return v
	}
	switch step.Kind {
	case jsonpath.StepName:
		name := step.Names[0]
		if v.kinds()&^(missing|null) == arrays || v.IsUnknown() {
			if i, err := strconv.Atoi(name); err == nil {
				return updateElement(v, i, steps, change)
			}
		}
		return updateMember(v, name, steps, change)
	case jsonpath.StepIndex:
		return updateElement(v, step.Index, steps, change)
	default:
		return v
	}
}

func updateMember(v Value, name string, steps []jsonpath.Step, change func(Value) Value) Value {
	old := Nothing()
	if v.may(objects) {
		old = v.record().get(name)
	}
	if v.kinds()&^objects != 0 {
		old = join(old, absent)
	}
	changed := update(old, steps[1:], change)
	switch {
	case changed.IsNothing():
		return changed
	case changed == old && v.kinds() == objects:
		return v
	}
	var s set
	if v.may(objects) {
		s = set{kinds: objects, object: v.record().with(name, changed)}
	}
	if changed.may(missing) { // so it may have been none
		rest := v.without(objects)
		return join(rest, pack(s))
	}
	return pack(s)
}

func updateElement(v Value, index int, steps []jsonpath.Step, change func(Value) Value) Value {
	old := Nothing()
	if v.may(arrays) {
		old = v.list().get(index)
	}
	if v.kinds()&^arrays != 0 {
		old = join(old, absent)
	}
	changed := update(old, steps[1:], change)
	if changed.IsNothing() || index < 0 || index >= maxNarrowed {
		return cut(v, changed)
	}
	var s set
	if v.may(arrays) {
		s = set{kinds: arrays, array: v.list().with(index, changed)}
	}
	if changed.may(missing) {
		return v
	}
	return pack(s)
}

// cut is the value, or nothing if a part of it cannot be.
func cut(v, part Value) Value {
	if part.IsNothing() {
		return part
	}
	return v
}

// place is the value with another at the steps, as ResultPath puts it there:
// objects that are missing on the way are made. It is nothing where that always
// fails.
func place(v Value, steps []jsonpath.Step, value Value) Value {
	if len(steps) == 0 {
		return value
	}
	step := steps[0]
	if step.Kind == jsonpath.StepIndex {
		if !v.may(arrays) {
			return Nothing()
		}
		old := v.list().get(step.Index).without(missing)
		inner := place(old, steps[1:], value)
		if old.IsNothing() || inner.IsNothing() {
			return Nothing()
		}
		return arrayOf(v.list().with(step.Index, inner))
	}
	v.demandKinds(objects)
	name := step.Names[0]
	out := Nothing()
	if v.may(objects) {
		if inner := place(v.record().get(name), steps[1:], value); !inner.IsNothing() {
			out = objectOf(v.record().with(name, inner))
		}
	}
	if v.may(missing) {
		if inner := place(absent, steps[1:], value); !inner.IsNothing() {
			out = join(out, objectOf(newObject([]field{{name, inner}})))
		}
	}
	return out
}
