package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// local is a variable that a JSONata expression binds itself; function is set where that is a
// function of its own.
type local struct {
	field

	function *closure
}

// closure is a function that an expression makes, with what is known where it stands.
type closure struct {
	lambda  *jsonata.Lambda
	locals  []local
	context Value
}

// maxApplied is for how many items of a list a function is read one by one.
const maxApplied = 32

// maxCalls is how deep functions of an expression may call each other.
const maxCalls = 8

// closureOf is the function that a part gives; nil if it is none that the expression makes.
func (x *scene) closureOf(p *jsonata.Part, context Value) *closure {
	switch {
	case len(p.Filters) > 0:
		return nil
	case p.Kind == jsonata.PartLambda:
		return &closure{p.Lambda, x.locals, context}
	case p.Kind == jsonata.PartVariable:
		return x.localFunction(p.Text)
	default:
		return nil
	}
}

// localFunction is the function that a variable of the expression holds; nil if it holds none.
func (x *scene) localFunction(name string) *closure {
	for _, l := range slices.Backward(x.locals) {
		if l.name == name {
			return l.function
		}
	}
	return nil
}

// apply is what a function gives for some arguments.
func (x *scene) apply(f *closure, arguments ...Value) Value {
	here := x.quiet()
	if here.calls++; here.calls > maxCalls {
		return Value{}
	}
	here.locals = slices.Clip(f.locals)
	for i, name := range f.lambda.Params {
		value := absent
		if i < len(arguments) {
			value = arguments[i]
		}
		here.locals = append(here.locals, local{field: field{name, value}})
	}
	return here.eval(&f.lambda.Body, f.context)
}

// applyToItems is what a function of the language gives that calls another for the items of a
// list; not ok if it is none of those.
func (x *scene) applyToItems(p *jsonata.Part, values []Value, context Value) (Value, bool) {
	if len(p.Parts) < 2 { //nolint:mnd // the list and the function
		return Value{}, false
	}
	f := x.closureOf(&p.Parts[1], context)
	if f == nil {
		return Value{}, false
	}
	switch p.Text {
	case "filter":
		return x.filterBy(values[0], f), true
	case "single":
		return x.singleBy(values[0], f), true
	case "map":
		return x.mapBy(values[0], f), true
	case "reduce":
		return x.reduceBy(values[0], f, values[2:]), true
	default:
		return Value{}, false
	}
}

// itemsOf are the items of a value as a list: one value is a list of itself. Where they are not
// known one by one, there is one that stands for all, and exact is false.
func itemsOf(v Value) (items []Value, exact bool) {
	l := v.list()
	switch {
	case v.kinds() == missing:
		return nil, true
	case v.IsUnknown():
		return []Value{v}, false
	case !v.may(arrays | missing):
		return []Value{v}, true
	case v.kinds() == arrays && l != nil && len(l.items) <= maxApplied && l.shape == nil && l.demand == nil && l.rest.kinds() == missing &&
		!slices.ContainsFunc(l.items, func(item Value) bool { return item.may(missing) }):
		return l.items, true
	}
	item := v.without(arrays | missing)
	if v.may(arrays) {
		item = join(item, l.element())
	}
	return []Value{item}, false
}

// indexOf is the index of an item, if the items are known one by one.
func indexOf(i int, exact bool) Value {
	if !exact {
		return anyNumber
	}
	return numberOf(float64(i))
}

// filterBy is what $filter leaves of a list.
func (x *scene) filterBy(v Value, f *closure) Value {
	items, exact := itemsOf(v)
	var kept []Value
	sure, some := exact, false // it is known of each, and one is kept for sure
	for i, item := range items {
		holds := x.apply(f, item, indexOf(i, exact), v)
		if holds.IsNothing() && exact {
			return holds
		}
		yes, no := truthiness(holds)
		if yes {
			kept = append(kept, item)
		}
		some = some || exact && yes && !no
		sure = sure && yes != no
	}
	if sure {
		return sequenceOf(kept)
	}
	out := Nothing()
	for _, item := range kept {
		out = join(out, item)
	}
	if out.IsNothing() {
		return absent
	}
	if out = sequence(out); some {
		out = out.without(missing)
	}
	return out
}

// sequenceOf are values as JSONata gives them: none, one for itself, or an array.
func sequenceOf(items []Value) Value {
	switch len(items) {
	case 0:
		return absent
	case 1:
		return items[0]
	default:
		return arrayOf(newTuple(items))
	}
}

// singleBy is what $single finds in a list.
func (x *scene) singleBy(v Value, f *closure) Value {
	left := x.filterBy(v, f)
	switch _, exact := itemsOf(v); {
	case v.kinds() == missing:
		return absent
	case exact && (left.kinds() == missing || left.kinds() == arrays):
		return Nothing() // it raises an error unless there is one
	case !exact || left.may(missing|arrays):
		return Value{}
	}
	return left
}

// mapBy is what $map makes of a list.
func (x *scene) mapBy(v Value, f *closure) Value {
	items, exact := itemsOf(v)
	if v.may(missing) && v.kinds() != missing && !v.IsUnknown() {
		return join(x.mapBy(v.without(missing), f), absent)
	}
	if l := v.list(); !exact && v.kinds() == arrays && l.length() > 0 && l.length() <= maxApplied && l.demand == nil {
		return x.mapFirst(l, f)
	}
	var made []Value
	all, sure := Nothing(), exact
	for i, item := range items {
		out := x.apply(f, item, indexOf(i, exact), v)
		if out.IsNothing() && exact {
			return out
		}
		sure = sure && (out.kinds() == missing || !out.may(missing))
		if out.kinds() != missing {
			made, all = append(made, out), join(all, out)
		}
	}
	if sure {
		return sequenceOf(made)
	}
	return sequence(all)
}

// mapFirst is what $map makes of a list of which the first items are known one by one, up to one
// that may give nothing. If there is one item, it stands for itself.
func (x *scene) mapFirst(l *list, f *closure) Value {
	out := &list{rest: join(x.apply(f, l.element(), anyNumber, Value{}), absent)}
	for _, item := range l.items {
		made := x.apply(f, item, anyNumber, Value{})
		if item.may(missing) || made.may(missing) || made.IsNothing() {
			break
		}
		out.items = append(out.items, made)
	}
	switch len(out.items) {
	case 0:
		return sequence(out.rest)
	case 1:
		return join(arrayOf(out.weigh()), out.items[0])
	default:
		return arrayOf(out.weigh())
	}
}

// reduceBy is what $reduce makes of a list, from a first value if there is one.
func (x *scene) reduceBy(v Value, f *closure, first []Value) Value {
	items, exact := itemsOf(v)
	switch {
	case v.kinds() == missing:
		return absent
	case !exact:
		return Value{}
	}
	if items = append(slices.Clone(first), items...); len(items) == 0 {
		return absent
	}
	out := items[0]
	for _, item := range items[1:] {
		out = x.apply(f, out, item)
	}
	return out
}
