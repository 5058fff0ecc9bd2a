package typecheck

import (
	"math"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// expression is a JSONata expression by its parts.
type expression struct{ whole jsonata.Part }

// part is the whole of an expression, which is taken apart once.
func (c *Checker) part(e *jsonata.Expression) *jsonata.Part {
	known := c.parts[e]
	if known == nil {
		known = &expression{e.Part()}
		c.parts[e] = known
	}
	return &known.whole
}

// literalPart is the value of a literal in an expression.
func (c *Checker) literalPart(p *jsonata.Part) Value {
	return c.once(p, func() Value { return c.constant(p.Value) })
}

// expression is what a JSONata expression gives where it gives a value.
func (x *scene) expression(e *jsonata.Expression, at string) Value {
	if e == nil {
		return Value{}
	}
	here := *x
	here.text = at
	value := here.eval(x.c.part(e), Value{})
	if x.seeksLack() && value.kinds() == missing {
		x.noteLack(at)
		x.report(AbsentMember, diag.Danger, x.problem(at, "%s gives nothing", e))
	}
	if value.IsNothing() && !x.isDead() {
		x.noteThrow(at)
	}
	value = value.without(missing)
	if value.IsNothing() && !x.isDead() {
		return Value{} // why there is never a value is said elsewhere
	}
	return value
}

// testScalar is the test of the condition of a rule in JSONata mode.
func (x *scene) testScalar(s *asl.Scalar, at string) (yes, no scope) {
	switch literal, ok := s.Literal.(bool); {
	case ok && literal:
		return x.scope, deadScope()
	case ok:
		return deadScope(), x.scope
	case s.Expression == nil:
		return x.scope, x.scope
	}
	here := *x
	here.text = at
	part := x.c.part(s.Expression)
	if (x.c.absent && x.reports || x.lacks != nil) && here.quiet().eval(part, Value{}).kinds() == missing {
		x.noteLack(at)
		x.report(AbsentMember, diag.Danger, x.problem(at, "%s gives nothing", s.Expression))
	}
	if x.reports && !x.c.absent {
		x.checkKind("Condition", here.quiet().eval(part, Value{}), booleans, at)
	}
	value := here.quiet().eval(part, Value{})
	neverTells := !value.IsNothing() && value.kinds() != missing && !value.may(booleans) // the state takes no other value for true or false
	if yes, no = here.truth(part); yes.isDead() && no.isDead() || neverTells {
		x.noteThrow(at)
		return deadScope(), x.scope
	}
	return yes, no
}

// problemIn is a problem at a part of the expression that is read.
func (x *scene) problemIn(p *jsonata.Part, format string, args ...any) diag.Problem {
	if !x.reports {
		return diag.Problem{}
	}
	return x.c.machine.ProblemIn(x.text, len("{%")+p.Offset, format, args...)
}

// eval is what a part of an expression gives on a context, and missing where it may
// give nothing.
func (x *scene) eval(p *jsonata.Part, context Value) Value {
	v := x.evalPart(p, context)
	if v.IsNothing() {
		return v
	}
	for i := range p.Filters {
		v = x.filter(v, &p.Filters[i])
	}
	return v
}

func (x *scene) evalPart(p *jsonata.Part, context Value) Value {
	switch p.Kind {
	case jsonata.PartLiteral:
		return x.c.literalPart(p)
	case jsonata.PartVariable:
		return x.readVariable(p, context)
	case jsonata.PartName:
		return x.members(context, p)
	case jsonata.PartPath:
		return x.path(p, context)
	case jsonata.PartBinary:
		return x.binary(p, context)
	case jsonata.PartArray:
		return x.array(p, context)
	case jsonata.PartRange:
		return wholeNumbers(x.eval(&p.Parts[0], context), x.eval(&p.Parts[1], context))
	case jsonata.PartObject:
		return x.object(p, context)
	case jsonata.PartBlock:
		outer := x.locals
		out := absent
		for i := range p.Parts {
			if out = x.eval(&p.Parts[i], context); out.IsNothing() {
				break
			}
		}
		x.locals = outer
		return out
	case jsonata.PartCondition:
		return x.conditional(p, context)
	case jsonata.PartBind:
		v := x.eval(&p.Parts[0], context)
		f := x.closureOf(&p.Parts[0], context)
		x.locals = append(slices.Clip(x.locals), local{field: field{p.Text, v}, function: f})
		if f != nil && p.Parts[0].Kind == jsonata.PartLambda {
			f.locals = x.locals // it may call itself
		}
		return v
	case jsonata.PartCall:
		return x.function(p, context)
	case jsonata.PartApply:
		return x.applied(p, context)
	case jsonata.PartGroup:
		return x.group(p, context)
	default:
		return Value{}
	}
}

// local is a variable that the expression binds.
func (x *scene) local(name string) (Value, bool) {
	for _, l := range slices.Backward(x.locals) {
		if l.name == name {
			return l.value, true
		}
	}
	return Value{}, false
}

// readVariable is the value of a variable.
func (x *scene) readVariable(p *jsonata.Part, context Value) Value {
	if p.Text == "" {
		return context
	}
	if v, ok := x.local(p.Text); ok {
		return v
	}
	switch {
	case p.Text == "states":
		return objectOf(newObject([]field{
			{"context", x.context()}, {"errorOutput", x.errorOutput}, {"input", x.doc}, {"result", x.result},
		}))
	case !x.c.assigned[p.Text]:
		return Value{} // a function, or said elsewhere
	}
	value := x.vars.record().get(p.Text)
	if !value.IsUnknown() && value.may(missing) && x.excused == 0 {
		x.report(UnsetVariable, diag.Warning, x.problemIn(p, "the variable %q may have no value here: a way to %q does not assign it", "$"+p.Text, x.state.Name))
	}
	if value.kinds()&^missing == 0 {
		return Value{}
	}
	value.demandRead(x.excused > 0)
	return value
}

// path is what the steps of a path give one after the other.
func (x *scene) path(p *jsonata.Part, context Value) Value {
	v := context
	for i := range p.Parts {
		step := &p.Parts[i]
		switch {
		case i == 0 && step.Kind != jsonata.PartName:
			v = x.eval(step, v)
		case step.Kind == jsonata.PartName:
			v = x.members(v, step)
			for j := range step.Filters {
				v = x.filter(v, &step.Filters[j])
			}
		case step.Kind == jsonata.PartSort:
			v = x.sortByTerms(v, step)
			for j := range step.Filters {
				v = x.filter(v, &step.Filters[j])
			}
		default:
			v = mapItems(v, func(item Value) Value { return x.eval(step, item) })
		}
	}
	return v
}

// members is the member of an object, or of each object in an array.
func (x *scene) members(v Value, p *jsonata.Part) Value {
	out := mapItems(v, func(item Value) Value {
		member := memberOf(item, p.Text)
		member.demandRead(x.excused > 0)
		return member
	})
	if x.reports && !v.IsUnknown() && out.kinds() == missing {
		x.reportNever(v, p)
	}
	return out
}

// memberOf is a member of a value that is no array.
func memberOf(v Value, name string) Value {
	out := Nothing()
	if v.may(objects) {
		out = v.record().get(name)
	}
	if v.kinds()&^objects != 0 {
		out = join(out, absent)
	}
	return out
}

// mapItems is what a step gives on a value, or on each element of an array: one
// value alone stands for itself.
func mapItems(v Value, step func(Value) Value) Value {
	out := Nothing()
	if rest := v.without(arrays | missing); !rest.IsNothing() {
		out = step(rest)
	}
	if d := v.demandOf(); v.may(arrays) && (d == nil || d.isList()) {
		inside, known := mapArray(v, step)
		if !known {
			return Value{}
		}
		out = join(out, inside)
	}
	if v.may(missing) {
		out = join(out, absent)
	}
	return out
}

// mapArray is what a step gives on the elements of an array; not known of arrays in arrays, of which each level is gone
// through.
func mapArray(v Value, step func(Value) Value) (out Value, known bool) {
	if each, ok := mapEach(v.only(arrays), step); ok {
		return each, true
	}
	element := v.list().element()
	switch {
	case element.may(arrays) && element.demandOf() == nil:
		return Value{}, false
	case element.IsNothing():
		return absent, true
	default:
		return sequence(step(element)), true
	}
}

// mapEach is what a step gives on the elements of an array, one by one; not ok if it is not known how many values
// they are.
func mapEach(v Value, step func(Value) Value) (Value, bool) {
	items, exact := itemsOf(v)
	if !exact {
		return Value{}, false
	}
	var all []Value
	flat := false
	for _, item := range items {
		if item.may(arrays) {
			return Value{}, false
		}
		made := step(item)
		if made.kinds() == missing {
			continue
		}
		parts, ok := listed(made)
		if !ok || made.may(missing) || len(all)+len(parts) > maxItems {
			return Value{}, false
		}
		all, flat = append(all, parts...), flat || made.may(arrays)
	}
	if flat && len(all) == 1 { // the last step of a path gives the array, and any other its only item
		return join(all[0], arrayOf(newTuple(all))), true
	}
	return sequenceOf(all), true
}

// sequence is any number of values in JSONata: none, one for itself, or an array.
func sequence(v Value) Value {
	item := v.without(missing)
	if item.IsUnknown() || v.IsUnknown() {
		return Value{}
	}
	if item.IsNothing() {
		return absent
	}
	if item.may(arrays) && item.demandOf() == nil {
		item = join(item.without(arrays), item.list().element())
	}
	return join(join(item, absent), arrayOf(newList(item)))
}

// reportNever reports a member that no value has.
func (x *scene) reportNever(v Value, p *jsonata.Part) {
	found := v.without(missing | null)
	if found.kinds() == arrays {
		found = found.list().element().without(null)
	}
	if found.IsNothing() || found.IsUnknown() || found.kinds() != objects && found.may(objects|arrays) {
		return
	}
	r := found.record()
	switch {
	case r.isStructure():
		x.reportText(UnknownMember, x.problemIn(p, "%s has no member %q", r.shape.Name, p.Text).Suggest(p.Text, r.names()...), p.Text)
	case x.excused > 0:
	case r != nil:
		x.reportText(UnknownMember, x.problemIn(p, "the object has no member %q", p.Text).Suggest(p.Text, r.names()...), p.Text)
	case !found.may(objects):
		x.reportText(UnknownMember, x.problemIn(p, "the value is %s, which has no member %q", found, p.Text), p.Text)
	}
}

// filter is what a filter leaves of a value.
func (x *scene) filter(v Value, by *jsonata.Part) Value {
	v.demandKinds(arrays)
	item := v.without(arrays | missing)
	if v.demandOf() != nil {
		item = v.list().element()
	} else if v.may(arrays) {
		item = join(item, v.list().element())
	}
	if item.IsNothing() {
		return absent
	}
	if f, ok := by.Value.(float64); ok && by.Kind == jsonata.PartLiteral {
		if found, ok := itemAt(v, f); ok {
			return found
		}
		return join(item, absent)
	}
	x.excused++
	defer func() { x.excused-- }()
	tested := x.eval(by, item)
	if n, ok := oneNumber(tested); ok {
		if found, ok := itemAt(v, n); ok {
			return found
		}
	}
	if tested.kinds()&^missing == numbers {
		v.demandPicked()
	}
	if !tested.may(numbers|arrays) && !tested.IsNothing() { // no index: a condition, which no item may fulfil
		switch yes, no := truthiness(tested); {
		case !yes:
			return absent
		case !no && !v.may(arrays|missing): // one value is its own item
			return v
		}
	}
	if l := v.list(); l != nil && v.kinds() == arrays && l.others().kinds() == missing {
		if left, ok := x.quiet().filterItems(l.items, by); ok {
			return left
		}
	}
	return sequence(join(item, absent))
}

// itemAt is the item of a value at an index, which counts from the end if it is below 0; not ok if
// the value has items that are not known.
func itemAt(v Value, index float64) (item Value, ok bool) {
	l := v.list()
	switch {
	case v.demandOf() != nil:
		return Value{}, false
	case !v.may(arrays):
		return itemAlone(v, index), true
	case l == nil:
		return Value{}, false
	case index == -1 && !l.lastItem().IsUnknown():
		return join(l.lastItem(), itemAlone(v, index)), true
	}
	all := l.others().kinds() == missing
	i := int(math.Floor(index))
	if i < 0 && all {
		i += len(l.items)
	}
	switch {
	case i >= 0 && i < len(l.items):
		return join(l.items[i], itemAlone(v, index)), true
	case all:
		return join(absent, itemAlone(v, index)), true
	default:
		return Value{}, false
	}
}

// itemAlone is the item at an index of a value that is no array: it stands for its only item.
func itemAlone(v Value, index float64) Value {
	alone := v.without(arrays)
	if i := int(math.Floor(index)); !alone.IsNothing() && i != 0 && i != -1 {
		return absent
	}
	return alone
}

// oneNumber is the number that a value is, if it is one alone.
func oneNumber(v Value) (n float64, ok bool) {
	if v.kinds() != numbers || len(v.set.number) != 1 {
		return 0, false
	}
	return v.set.number[0], true
}

// filterItems is what a condition leaves of items, if it is known of each, or may hold of one alone.
func (x *scene) filterItems(items []Value, by *jsonata.Part) (left Value, ok bool) {
	var kept []Value
	doubtful := 0
	for _, item := range items {
		v := x.eval(by, item)
		if v.may(numbers | arrays) { // an index
			return Value{}, false
		}
		holds, fails := truthiness(v)
		if holds {
			kept = append(kept, item)
		}
		if holds && fails {
			doubtful++
		}
	}
	switch {
	case len(kept) == 0:
		return absent, true
	case len(kept) == 1 && doubtful == 1:
		return join(kept[0], absent), true
	case doubtful > 0:
		return Value{}, false
	case len(kept) == 1:
		return kept[0], true
	default:
		return arrayOf(newTuple(kept)), true
	}
}

// object is an object constructor. On an array it makes one object of all items.
func (x *scene) object(p *jsonata.Part, context Value) Value {
	r := newObject(nil)
	for i := 0; i+1 < len(p.Parts); i += 2 {
		name := x.eval(&p.Parts[i], context)
		value := x.eval(&p.Parts[i+1], context)
		if name.IsNothing() || value.IsNothing() {
			return Nothing()
		}
		words, ok := name.Literals()
		if !ok || len(words) != 1 {
			r = nil
		} else if r != nil {
			r = r.with(words[0], value)
		}
	}
	return objectOf(r)
}

// conditional is a condition with what it leads to.
func (x *scene) conditional(p *jsonata.Part, context Value) Value {
	yes, no, trend := x.truthOf(&p.Parts[0], context)
	out := Nothing()
	var ends []Value
	branch := func(s scope, part *jsonata.Part) {
		here := *x
		here.scope = s
		if s.isDead() {
			return
		}
		end := here.eval(part, context)
		out, ends = join(out, end), append(ends, end)
	}
	branch(yes, &p.Parts[1])
	switch {
	case len(p.Parts) > 2:
		branch(no, &p.Parts[2])
	case !no.isDead():
		out = join(out, absent)
	}
	if len(ends) == 2 && x.clock != AnyTime && out.kinds() == booleans {
		return x.noteTrend(out, trend.choose(ends[0], ends[1]))
	}
	return out
}
