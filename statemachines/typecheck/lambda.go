package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// local is a variable that a JSONata expression binds itself; function is set where that is a
// function of its own.
type local struct {
	field

	function *closure
	// written is the part of the expression that gives the value, if a table has it.
	written *jsonata.Part
}

// closure is a function that an expression makes, with what is known where it stands.
type closure struct {
	lambda    *jsonata.Lambda // nil for a transform
	transform *jsonata.Part
	locals    []local
	context   Value
}

// maxApplied is for how many items of a list a function is read one by one.
const maxApplied = 64

// maxCalls is how deep functions of an expression may call each other.
const maxCalls = 8

// closureOf is the function that a part gives; nil unless the expression itself makes it.
func (x *scene) closureOf(p *jsonata.Part, context Value) *closure {
	switch {
	case len(p.Filters) > 0:
		return nil
	case p.Kind == jsonata.PartLambda:
		return &closure{lambda: p.Lambda, locals: x.locals, context: context}
	case p.Kind == jsonata.PartTransform:
		return &closure{transform: p, locals: x.locals, context: context}
	case p.Kind == jsonata.PartBlock && len(p.Parts) == 1:
		return x.closureOf(&p.Parts[0], context)
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
	if f.lambda == nil {
		return here.transform(f.transform, slices.Concat(arguments, []Value{absent})[0])
	}
	for i, name := range f.lambda.Params {
		value := absent
		if i < len(arguments) {
			value = arguments[i]
		}
		here.locals = append(here.locals, local{field: field{name, value}})
	}
	return here.eval(&f.lambda.Body, f.context)
}

// applied is what a function gives that is no variable, called with the other parts of the call.
func (x *scene) applied(p *jsonata.Part, context Value) Value {
	if by := &p.Parts[0]; isNeverFunction(by) {
		x.report(ArgumentType, diag.Danger, x.problemIn(by, "\"~>\" calls a function, and what follows it is none: the state fails with "+
			"States.QueryEvaluationError; put the call of \"~>\" in parentheses"))
		return Nothing()
	}
	f := x.closureOf(&p.Parts[0], context)
	values := make([]Value, len(p.Parts)-1)
	for i := range values {
		if values[i] = x.eval(&p.Parts[i+1], context); values[i].IsNothing() {
			return values[i]
		}
	}
	if f == nil {
		return Value{}
	}
	return x.apply(f, values...)
}

// isNeverFunction tells whether a part of an expression never is a function: a number, say, and not what chains
// functions or chooses one.
func isNeverFunction(p *jsonata.Part) bool {
	switch p.Kind {
	case jsonata.PartLiteral, jsonata.PartObject:
		return len(p.Filters) == 0
	case jsonata.PartBinary:
		return len(p.Filters) == 0 && slices.Contains([]string{"+", "-", "*", "/", "%", "&", "=", "!=", "<", "<=", ">", ">=", "in", "and", "or"}, p.Text)
	default:
		return false
	}
}

// AppliesToItems tells whether the types follow a function of the language that calls another for the
// items of a list, or for the members of an object.
func AppliesToItems(function string) bool { return function == "sort" || applierOf(function) != nil }

// applierOf returns what such a function gives for its arguments and the function that it calls; nil for others.
func applierOf(function string) func(x *scene, values []Value, f *closure) Value {
	switch function {
	case "filter":
		return func(x *scene, values []Value, f *closure) Value { return x.filterBy(values[0], f) }
	case "single":
		return func(x *scene, values []Value, f *closure) Value { return x.singleBy(values[0], f) }
	case "map":
		return func(x *scene, values []Value, f *closure) Value { return x.mapBy(values[0], f) }
	case "reduce":
		return func(x *scene, values []Value, f *closure) Value { return x.reduceBy(values[0], f, values[2:]) }
	case "sift":
		return func(x *scene, values []Value, f *closure) Value { return x.siftBy(values[0], f) }
	case "each":
		return func(x *scene, values []Value, f *closure) Value { return x.eachBy(values[0], f) }
	default:
		return nil
	}
}

// applyToItems is what a function of the language gives that calls another for the items of a
// list; not ok if it is none of those.
func (x *scene) applyToItems(p *jsonata.Part, values []Value, context Value) (Value, bool) {
	if len(p.Parts) < 2 { //nolint:mnd // the list and the function
		return Value{}, false
	}
	applier, f := applierOf(p.Text), x.closureOf(&p.Parts[1], context)
	if applier == nil || f == nil {
		return Value{}, false
	}
	return applier(x, values, f), true
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

// calledFor are the items of a value that a function is called for. One that nobody knows is a list: nobody calls a
// function for the items of anything else.
func calledFor(v Value) (items []Value, exact bool) {
	if v.demandOf() != nil {
		v.demandKinds(arrays)
		return []Value{v.list().element()}, false
	}
	return itemsOf(v)
}

// indexOf is the index of an item, if the items are known one by one.
func indexOf(i int, exact bool) Value {
	if !exact {
		return anyNumber
	}
	return numberOf(float64(i))
}

// kept are the items of a list that a function holds for, or may hold for.
type kept struct {
	items []Value
	// sure means that the function holds for each of them and for no other, and some that it holds for one.
	sure, some bool
	fails      bool // the function raises an error
}

// keep applies a function to the items of a list.
func (x *scene) keep(v Value, f *closure) kept {
	items, exact := calledFor(v)
	k := kept{sure: exact}
	for i, item := range items {
		holds := x.apply(f, item, indexOf(i, exact), v)
		if holds.IsNothing() && exact {
			return kept{fails: true}
		}
		yes, no := truthiness(holds)
		if yes {
			k.items = append(k.items, item)
		}
		k.some = k.some || exact && yes && !no
		k.sure = k.sure && yes != no
	}
	return k
}

// filterBy is what $filter leaves of a list.
func (x *scene) filterBy(v Value, f *closure) Value {
	k := x.keep(v, f)
	switch {
	case k.fails:
		return Nothing()
	case k.sure:
		return sequenceOf(k.items)
	}
	out := Nothing()
	for _, item := range k.items {
		out = join(out, item)
	}
	if out.IsNothing() {
		return absent
	}
	if out = sequence(out); k.some {
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
	switch k := x.keep(v, f); {
	case v.kinds() == missing:
		return absent
	case k.fails, k.sure && len(k.items) != 1:
		return Nothing() // it raises an error unless there is one
	case !k.sure:
		return Value{}
	default:
		return k.items[0]
	}
}

// mapBy is what $map makes of a list.
func (x *scene) mapBy(v Value, f *closure) Value {
	items, exact := calledFor(v)
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

// mapFirst applies a function to the known first items of a list, up to one for which it may give
// nothing, as $map does. If there is one item, it stands for itself.
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
	items, exact := calledFor(v)
	switch {
	case v.kinds() == missing:
		return absent
	case !exact:
		x.apply(f, slices.Concat([]Value{{}}, items)...) // for what it reads of an item
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
