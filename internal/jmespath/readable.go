package jmespath

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// readable writes a tree as JSONata that a person can read: paths as paths.
// It may do so where the types of all values are known and values keep to
// them, since there JSONata's sequences and JMESPath's arrays can be told
// apart before there are any. A member that is null is not there, as in a
// result of Step Functions. What it cannot write, it leaves to exact.
//
// A scalar or an object is written as its value, or nothing for null. An array
// is written as a sequence, which says neither whether it is empty or null nor
// whether a single element stands in an array. An error is never a value:
// sound says what must hold for there to be none.
type readable struct{}

const scalars = isBoolean | isNumber | isString

// only reports whether the value is of the kinds, or null.
func (s *shape) only(k kinds) bool { return s.kinds&^(k|isNull) == 0 }

// flat reports whether the value is an array of which no element is one.
func (s *shape) flat() bool { return s.only(isArray) && s.element().kinds&isArray == 0 }

// value writes the node's value on what from gives.
func (r readable) value(n *checked, from term) term {
	switch n.op {
	case opCurrent:
		if !n.out.time() && !n.out.element().time() {
			return from
		}
	case opLiteral:
		if n.out.only(scalars) && n.value != nil {
			return atom(literal(n.value))
		}
	case opField:
		switch {
		case !n.in.only(isObject) || n.out.element().time():
		case n.out.time():
			return step(from, n.name).put("$toMillis(%s) / 1000", bindsProduct)
		default:
			return step(from, n.name)
		}
	case opSub, opPipe:
		switch left, source := n.kids[0], r.value(n.kids[0], from); {
		case !source.known():
		case left.out.only(isObject):
			return r.value(n.kids[1], source)
		case n.op == opPipe && left.out.flat() && !left.unordered():
			return r.value(n.kids[1], path("("+source.text+")"))
		}
	case opIndex:
		return r.index(n, from)
	case opProject, opFlatten, opFilter, opValues:
		return r.sequence(n, from)
	case opCall:
		return r.call(n, from)
	case opCompare:
		return r.order(n, from)
	default:
	}
	return term{}
}

// index writes an element of an array. An element of a path of members alone is
// one of the last member's; one of any other sequence is one of the whole. The
// members of an object come in an order of their own.
func (r readable) index(n *checked, from term) term {
	list := n.kids[0]
	source := r.value(list, from)
	if !source.known() || !list.out.flat() || list.unordered() {
		return term{}
	}
	if list.steps() {
		return path(fmt.Sprintf("%s[%d]", source.in(bindsPath-1), n.index))
	}
	return path(fmt.Sprintf("(%s)[%d]", source.text, n.index))
}

// steps reports whether the node is a path of members of objects, none of them
// in an array.
func (n *checked) steps() bool {
	switch n.op {
	case opCurrent, opField:
		return true
	case opSub:
		return n.kids[0].steps() && n.kids[1].steps()
	default:
		return false
	}
}

// unordered reports whether the order of the elements may be that of the
// members of an object.
func (n *checked) unordered() bool {
	found := false
	n.each(func(n *checked) { found = found || n.op == opValues })
	return found
}

// sequence writes an array as a sequence of what is not null in it.
func (r readable) sequence(n *checked, from term) term {
	source := r.nested(n.kids[0], from)
	if !source.known() {
		return source
	}
	switch n.op {
	case opProject:
		if n.out.element().kinds&isArray != 0 {
			return term{}
		}
		return r.mapped(source, n.kids[1])
	case opFlatten:
		return source
	case opFilter:
		condition := r.holds(n.kids[1], atom("$"))
		if !n.kids[0].out.flat() || !condition.known() {
			return term{}
		}
		return path(source.in(bindsPath-1) + "[" + condition.text + "]")
	default: // opValues
		if !n.kids[0].out.only(isObject) || n.out.element().kinds&isArray != 0 || n.out.element().time() {
			return term{}
		}
		return path(source.in(bindsPath-1) + ".*")
	}
}

// nested writes the source of a projection. If it is to be flattened, its
// elements may be arrays, which a path of JSONata flattens anyway.
func (r readable) nested(n *checked, from term) term {
	if n.op != opFlatten {
		if n.out.only(isObject) || n.out.flat() {
			return r.value(n, from)
		}
		return term{}
	}
	inner := n.kids[0]
	if inner.out.flat() {
		return r.value(inner, from)
	}
	if inner.op != opProject {
		return term{}
	}
	source, body := r.nested(inner.kids[0], from), inner.kids[1]
	switch {
	case !source.known():
		return source
	case body.op == opMultiList && len(body.kids) == 1 && body.kids[0].out.only(scalars|isObject):
		return r.mapped(source, body.kids[0])
	case body.out.flat():
		return r.mapped(source, body)
	default:
		return term{}
	}
}

// mapped writes what the body gives for each element of a sequence.
func (r readable) mapped(source term, body *checked) term {
	if body.op == opCurrent {
		return source
	}
	each := r.value(body, atom("$"))
	switch {
	case !each.known():
		return each
	case each.binds == bindsPath && !strings.HasPrefix(each.text, "("):
		return path(source.in(bindsPath-1) + "." + each.text)
	default:
		return path(source.in(bindsPath-1) + ".(" + each.text + ")")
	}
}

// call writes the functions that stand in conditions. Of those with two
// arguments the second is a literal.
func (r readable) call(n *checked, from term) term {
	arg := n.kids[0]
	switch n.name {
	case "length":
		switch value := r.value(arg, from); {
		case arg.out.flat():
			return value.put("$count(%s)", bindsAll)
		case arg.out.only(isString):
			return value.put("$length(%s)", bindsAll)
		case arg.out.only(isObject):
			return value.put("$count($keys(%s))", bindsAll)
		}
	case "contains":
		value, sought := r.value(arg, from), r.value(n.kids[1], from)
		switch {
		case !value.known() || !sought.known() || n.kids[1].op != opLiteral:
		case arg.out.flat() && arg.out.element().only(scalars):
			return operation(sought, "in", value)
		case arg.out.only(isString) && n.kids[1].out.only(isString):
			return term{text: "$contains(" + value.text + ", " + sought.text + ")", binds: bindsAll, maybe: true}
		}
	case "starts_with", "ends_with":
		return r.affix(n, from)
	}
	return term{}
}

// affix writes the condition that a string starts or ends with another, which
// is known and not empty. Both languages count characters as code points.
func (r readable) affix(n *checked, from term) term {
	value := r.value(n.kids[0], from)
	word, _ := n.kids[1].value.(string)
	if !value.known() || word == "" || !n.kids[0].out.only(isString) {
		return term{}
	}
	part := fmt.Sprintf("0, %d", utf8.RuneCountInString(word))
	if n.name == "ends_with" {
		part = fmt.Sprintf("-%d", utf8.RuneCountInString(word))
	}
	return operation(atom("$substring("+value.text+", "+part+")"), "=", atom(literal(word)))
}

// order writes a comparison of numbers, which is nothing if one is null.
func (r readable) order(n *checked, from term) term {
	if n.order == equal || n.order == notEqual || !n.kids[0].out.only(isNumber) || !n.kids[1].out.only(isNumber) {
		return term{}
	}
	c := operation(r.value(n.kids[0], from), n.order.String(), r.value(n.kids[1], from))
	c.maybe = n.out.kinds&isNull != 0 || strings.Contains(c.text, "$length(")
	return c
}

// holds writes the condition that the node's value is truthy. It is true, or
// else false or nothing. Whether the evaluation is an error is for sound to say.
func (r readable) holds(n *checked, from term) term {
	switch n.op {
	case opNot:
		return r.fails(n.kids[0], from)
	case opAnd:
		return and(r.holds(n.kids[0], from), r.holds(n.kids[1], from))
	case opOr:
		return or(r.holds(n.kids[0], from), r.holds(n.kids[1], from))
	case opCompare:
		switch n.order {
		case equal:
			return r.equal(n, from)
		case notEqual:
			return not(r.equal(n, from))
		default:
			return r.order(n, from)
		}
	case opCall:
		if n.out.kinds == isBoolean {
			return r.call(n, from)
		}
	default:
	}
	value := r.value(n, from)
	switch {
	case n.out.only(isBoolean):
		return operation(value, "=", always)
	case n.out.only(isNumber):
		return exists(value)
	case n.out.only(isString):
		return operation(value, "!=", atom(`""`))
	case n.out.flat():
		return value.put("$count(%s) > 0", bindsCompare)
	case n.out.only(isObject):
		return value.put("$count($keys(%s)) > 0", bindsCompare)
	default:
		return term{}
	}
}

// fails writes the condition that the node's value is not truthy. It is true
// or false.
func (r readable) fails(n *checked, from term) term {
	switch n.op {
	case opNot:
		return sure(r.holds(n.kids[0], from))
	case opAnd:
		return or(r.fails(n.kids[0], from), r.fails(n.kids[1], from))
	case opOr:
		return and(r.fails(n.kids[0], from), r.fails(n.kids[1], from))
	case opCompare:
		switch n.order {
		case equal:
			return not(r.equal(n, from))
		case notEqual:
			return r.equal(n, from)
		default:
		}
	default:
	}
	return not(r.holds(n, from))
}

// equal writes the condition that two scalars are equal. It is true or false.
func (r readable) equal(n *checked, from term) term {
	left, right := n.kids[0], n.kids[1]
	if left.op == opLiteral {
		left, right = right, left
	}
	if right.op == opLiteral && right.value == nil {
		return not(r.present(left, from))
	}
	if !left.out.only(scalars) || !right.out.only(scalars) {
		return term{}
	}
	a, b := r.value(left, from), r.value(right, from)
	same := operation(a, "=", b)
	if left.out.kinds&right.out.kinds&isNull == 0 || !same.known() {
		return same
	}
	return or(same, and(not(exists(a)), not(exists(b))))
}

// sound writes the condition that the evaluation is no error. It is true or
// false.
func (r readable) sound(n *checked, from term) term {
	if !n.fallible() {
		return always
	}
	switch n.op {
	case opAnd, opOr:
		left, right := r.sound(n.kids[0], from), r.sound(n.kids[1], from)
		switch {
		case right.is(left), right.is(always):
			return left
		case n.op == opAnd:
			return and(left, or(r.fails(n.kids[0], from), right))
		default:
			return and(left, or(r.holds(n.kids[0], from), right))
		}
	case opSub, opPipe:
		if n.kids[1].fallible() {
			return term{}
		}
		return r.sound(n.kids[0], from)
	case opProject, opFilter:
		return and(r.sound(n.kids[0], from), r.soundForEach(n.kids[0], n.kids[1], from))
	case opCall:
		return r.taken(n, from)
	default:
		conditions := make([]term, len(n.kids))
		for i, kid := range n.kids {
			conditions[i] = r.sound(kid, from)
		}
		return and(conditions...)
	}
}

// soundForEach writes the condition that the body is sound for each element.
func (r readable) soundForEach(source, body *checked, from term) term {
	each := r.sound(body, atom("$"))
	if each.is(always) {
		return always
	}
	elements := r.nested(source, from)
	if !each.known() || !elements.known() {
		return term{}
	}
	return term{text: fmt.Sprintf("$count(%s[%s]) = 0", elements.in(bindsPath-1), not(each).text), binds: bindsCompare}
}

// taken writes the condition that a function takes its first argument; a second
// is a literal.
func (r readable) taken(n *checked, from term) term {
	arg := n.kids[0]
	switch {
	case !r.call(n, from).known():
		return term{}
	case arg.out.only(isString) && arg.op != opLiteral:
		return and(r.value(arg, from).put(`$type(%s) = 'string'`, bindsCompare), r.sound(arg, from))
	default:
		return and(r.present(arg, from), r.sound(arg, from))
	}
}

// present writes the condition that the value is not null. Of a projection it
// is that its source is not.
func (r readable) present(n *checked, from term) term {
	switch n.op {
	case opProject, opFlatten, opFilter, opValues, opSlice:
		source, needs := n.kids[0], isArray
		if n.op == opValues {
			needs = isObject
		}
		if !source.out.only(needs) || source.out.kinds == isNull {
			return term{}
		}
		return r.present(source, from)
	case opSub, opPipe:
		source := r.value(n.kids[0], from)
		if !source.known() || !n.kids[0].out.only(isObject) {
			return term{}
		}
		last := r.present(n.kids[1], source)
		if last.is(always) && n.op == opSub {
			return r.present(n.kids[0], from)
		}
		return last
	default:
		switch value := r.value(n, from); {
		case n.out.kinds&isNull == 0:
			return always
		case n.out.kinds.kind() == Unknown: // a document can be null
			return operation(value, "!=", atom("null"))
		default:
			return exists(value)
		}
	}
}

// verdict writes the condition that the evaluation is no error and gives what
// is truthy, or what is not. It is true, or else false or nothing.
func (r readable) verdict(n *checked, from term, truthy bool) term {
	switch n.op {
	case opNot:
		return r.verdict(n.kids[0], from, !truthy)
	case opAnd, opOr:
		left, right := n.kids[0], n.kids[1]
		if truthy == (n.op == opAnd) { // both sides must be so
			return and(r.verdict(left, from, truthy), r.verdict(right, from, truthy))
		}
		if sound := r.sound(right, from); !sound.is(always) && !sound.is(r.sound(left, from)) {
			return or(r.verdict(left, from, truthy), and(r.verdict(left, from, !truthy), r.verdict(right, from, truthy)))
		}
	default:
	}
	if truthy {
		return and(r.sound(n, from), r.holds(n, from))
	}
	return and(r.sound(n, from), r.fails(n, from))
}

// equals writes the condition that the value is the scalar. It is true or
// false.
func (r readable) equals(n *checked, from term, want any) term {
	switch verdict, isBool := want.(bool); {
	case isBool && verdict && n.out.only(isBoolean), isBool && !verdict && n.out.kinds == isBoolean:
		return sure(r.verdict(n, from, verdict))
	case n.out.only(scalars):
		return and(r.sound(n, from), operation(r.value(n, from), "=", atom(literal(want))))
	default:
		return term{}
	}
}

// matches writes the condition that any element is the string, or all are. It
// is true or false.
func (r readable) matches(n *checked, from term, want string, all bool) term {
	if !n.out.flat() || !n.out.element().only(scalars) {
		return term{}
	}
	list := r.value(n, from)
	switch {
	case !list.known():
		return list
	case all:
		every := atom(fmt.Sprintf("($all := %s; $count($all) > 0 and $count($all[$ != %s]) = 0)", list.text, literal(want)))
		return and(r.sound(n, from), every)
	default:
		return and(r.sound(n, from), operation(atom(literal(want)), "in", list))
	}
}

// result writes the value, or nothing if the evaluation is an error, for a value
// that JSONata has in JMESPath's form but for an array's being a sequence.
func (r readable) result(n *checked, from term) term {
	if !n.out.only(scalars|isObject) && !n.out.flat() {
		return term{}
	}
	return given(r.sound(n, from), r.value(n, from))
}
