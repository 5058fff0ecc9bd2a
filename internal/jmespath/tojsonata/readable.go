package tojsonata

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
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

const scalars = jmespath.IsBoolean | jmespath.IsNumber | jmespath.IsString

// isFlat reports whether the value is an array of which no element is one.
func isFlat(s *jmespath.Shape) bool {
	return s.Only(jmespath.IsArray) && s.Element().Kinds&jmespath.IsArray == 0
}

// value writes the node's value on what from gives.
func (r readable) value(n *jmespath.Node, from term) term {
	switch n.Op {
	case jmespath.OpCurrent:
		if !isTime(n.Out) && !isTime(n.Out.Element()) {
			return from
		}
	case jmespath.OpLiteral:
		if n.Out.Only(scalars) && n.Value != nil {
			return atom(literal(n.Value))
		}
	case jmespath.OpField:
		switch {
		case !n.In.Only(jmespath.IsObject) || isTime(n.Out.Element()):
		case isTime(n.Out):
			return step(from, n.Name).put("$toMillis(%s) / 1000", bindsProduct)
		default:
			return step(from, n.Name)
		}
	case jmespath.OpSub, jmespath.OpPipe:
		switch left, source := n.Kids[0], r.value(n.Kids[0], from); {
		case !source.isKnown():
		case left.Out.Only(jmespath.IsObject):
			return r.value(n.Kids[1], source)
		case n.Op == jmespath.OpPipe && isFlat(left.Out) && !lacksOrder(left):
			return r.value(n.Kids[1], path("("+source.text+")"))
		}
	case jmespath.OpIndex:
		return r.index(n, from)
	case jmespath.OpProject, jmespath.OpFlatten, jmespath.OpFilter, jmespath.OpValues:
		return r.sequence(n, from)
	case jmespath.OpCall:
		return r.call(n, from)
	case jmespath.OpCompare:
		return r.order(n, from)
	default:
	}
	return term{}
}

// index writes an element of an array. An element of a member path is
// one of the last member's; one of any other sequence is one of the whole. The
// members of an object come in an order of their own.
func (r readable) index(n *jmespath.Node, from term) term {
	list := n.Kids[0]
	source := r.value(list, from)
	if !source.isKnown() || !isFlat(list.Out) || lacksOrder(list) {
		return term{}
	}
	if isMemberPath(list) {
		return path(fmt.Sprintf("%s[%d]", source.in(bindsPath-1), n.Index))
	}
	return path(fmt.Sprintf("(%s)[%d]", source.text, n.Index))
}

// isMemberPath reports whether the node is a path of members of objects, none of them
// in an array.
func isMemberPath(n *jmespath.Node) bool {
	switch n.Op {
	case jmespath.OpCurrent, jmespath.OpField:
		return true
	case jmespath.OpSub:
		return isMemberPath(n.Kids[0]) && isMemberPath(n.Kids[1])
	default:
		return false
	}
}

// lacksOrder reports whether the order of the elements may be that of the
// members of an object.
func lacksOrder(n *jmespath.Node) bool {
	found := false
	n.Walk(func(n *jmespath.Node) { found = found || n.Op == jmespath.OpValues })
	return found
}

// sequence writes an array as a sequence of what is not null in it.
func (r readable) sequence(n *jmespath.Node, from term) term {
	source := r.source(n.Kids[0], from)
	if !source.isKnown() {
		return source
	}
	switch n.Op {
	case jmespath.OpProject:
		if n.Out.Element().Kinds&jmespath.IsArray != 0 {
			return term{}
		}
		return r.mapEach(source, n.Kids[1])
	case jmespath.OpFlatten:
		return source
	case jmespath.OpFilter:
		condition := r.holds(n.Kids[1], atom("$"))
		if !isFlat(n.Kids[0].Out) || !condition.isKnown() {
			return term{}
		}
		return path(source.in(bindsPath-1) + "[" + condition.text + "]")
	default: // OpValues
		if !n.Kids[0].Out.Only(jmespath.IsObject) || n.Out.Element().Kinds&jmespath.IsArray != 0 || isTime(n.Out.Element()) {
			return term{}
		}
		return path(source.in(bindsPath-1) + ".*")
	}
}

// source writes the source of a projection. If it is to be flattened, its
// elements may be arrays, which a path of JSONata flattens anyway.
func (r readable) source(n *jmespath.Node, from term) term {
	if n.Op != jmespath.OpFlatten {
		if n.Out.Only(jmespath.IsObject) || isFlat(n.Out) {
			return r.value(n, from)
		}
		return term{}
	}
	inner := n.Kids[0]
	if isFlat(inner.Out) {
		return r.value(inner, from)
	}
	if inner.Op != jmespath.OpProject {
		return term{}
	}
	source, body := r.source(inner.Kids[0], from), inner.Kids[1]
	switch {
	case !source.isKnown():
		return source
	case body.Op == jmespath.OpMultiList && len(body.Kids) == 1 && body.Kids[0].Out.Only(scalars|jmespath.IsObject):
		return r.mapEach(source, body.Kids[0])
	case isFlat(body.Out):
		return r.mapEach(source, body)
	default:
		return term{}
	}
}

// mapEach writes what the body gives for each element of a sequence.
func (r readable) mapEach(source term, body *jmespath.Node) term {
	if body.Op == jmespath.OpCurrent {
		return source
	}
	each := r.value(body, atom("$"))
	switch {
	case !each.isKnown():
		return each
	case each.binds == bindsPath && !strings.HasPrefix(each.text, "("):
		return path(source.in(bindsPath-1) + "." + each.text)
	default:
		return path(source.in(bindsPath-1) + ".(" + each.text + ")")
	}
}

// call writes the functions that stand in conditions. Of those with two
// arguments the second is a literal.
func (r readable) call(n *jmespath.Node, from term) term {
	arg := n.Kids[0]
	switch n.Name {
	case "length":
		switch value := r.value(arg, from); {
		case isFlat(arg.Out):
			return value.put("$count(%s)", bindsAll)
		case arg.Out.Only(jmespath.IsString):
			return value.put("$length(%s)", bindsAll)
		case arg.Out.Only(jmespath.IsObject):
			return value.put("$count($keys(%s))", bindsAll)
		}
	case "contains":
		value, sought := r.value(arg, from), r.value(n.Kids[1], from)
		switch {
		case !value.isKnown() || !sought.isKnown() || n.Kids[1].Op != jmespath.OpLiteral:
		case isFlat(arg.Out) && arg.Out.Element().Only(scalars):
			return operation(sought, "in", value)
		case arg.Out.Only(jmespath.IsString) && n.Kids[1].Out.Only(jmespath.IsString):
			return term{text: "$contains(" + value.text + ", " + sought.text + ")", binds: bindsAll, maybe: true}
		}
	case "starts_with", "ends_with":
		return r.affix(n, from)
	}
	return term{}
}

// affix writes the condition that a string starts or ends with another, which
// is known and not empty. Both languages count characters as code points.
func (r readable) affix(n *jmespath.Node, from term) term {
	value := r.value(n.Kids[0], from)
	word, _ := n.Kids[1].Value.(string)
	if !value.isKnown() || word == "" || !n.Kids[0].Out.Only(jmespath.IsString) {
		return term{}
	}
	part := fmt.Sprintf("0, %d", utf8.RuneCountInString(word))
	if n.Name == "ends_with" {
		part = fmt.Sprintf("-%d", utf8.RuneCountInString(word))
	}
	return operation(atom("$substring("+value.text+", "+part+")"), "=", atom(literal(word)))
}

// order writes a comparison of numbers, which is nothing if one is null.
func (r readable) order(n *jmespath.Node, from term) term {
	if n.Order == jmespath.Equal || n.Order == jmespath.NotEqual || !n.Kids[0].Out.Only(jmespath.IsNumber) || !n.Kids[1].Out.Only(jmespath.IsNumber) {
		return term{}
	}
	c := operation(r.value(n.Kids[0], from), n.Order.String(), r.value(n.Kids[1], from))
	c.maybe = n.Out.Kinds&jmespath.IsNull != 0 || strings.Contains(c.text, "$length(")
	return c
}

// holds writes the condition that the node's value is truthy. It is true, or
// else false or nothing. Whether the evaluation is an error is for sound to say.
func (r readable) holds(n *jmespath.Node, from term) term {
	switch n.Op {
	case jmespath.OpNot:
		return r.fails(n.Kids[0], from)
	case jmespath.OpAnd:
		return and(r.holds(n.Kids[0], from), r.holds(n.Kids[1], from))
	case jmespath.OpOr:
		return or(r.holds(n.Kids[0], from), r.holds(n.Kids[1], from))
	case jmespath.OpCompare:
		switch n.Order {
		case jmespath.Equal:
			return r.equal(n, from)
		case jmespath.NotEqual:
			return not(r.equal(n, from))
		default:
			return r.order(n, from)
		}
	case jmespath.OpCall:
		if n.Out.Kinds == jmespath.IsBoolean {
			return r.call(n, from)
		}
	default:
	}
	value := r.value(n, from)
	switch {
	case n.Out.Only(jmespath.IsBoolean):
		return operation(value, "=", always)
	case n.Out.Only(jmespath.IsNumber):
		return exists(value)
	case n.Out.Only(jmespath.IsString):
		return operation(value, "!=", atom(`""`))
	case isFlat(n.Out):
		return value.put("$count(%s) > 0", bindsCompare)
	case n.Out.Only(jmespath.IsObject):
		return value.put("$count($keys(%s)) > 0", bindsCompare)
	default:
		return term{}
	}
}

// fails writes the condition that the node's value is not truthy. It is true
// or false.
func (r readable) fails(n *jmespath.Node, from term) term {
	switch n.Op {
	case jmespath.OpNot:
		return sure(r.holds(n.Kids[0], from))
	case jmespath.OpAnd:
		return or(r.fails(n.Kids[0], from), r.fails(n.Kids[1], from))
	case jmespath.OpOr:
		return and(r.fails(n.Kids[0], from), r.fails(n.Kids[1], from))
	case jmespath.OpCompare:
		switch n.Order {
		case jmespath.Equal:
			return not(r.equal(n, from))
		case jmespath.NotEqual:
			return r.equal(n, from)
		default:
		}
	default:
	}
	return not(r.holds(n, from))
}

// equal writes the condition that two scalars are equal. It is true or false.
func (r readable) equal(n *jmespath.Node, from term) term {
	left, right := n.Kids[0], n.Kids[1]
	if left.Op == jmespath.OpLiteral {
		left, right = right, left
	}
	if right.Op == jmespath.OpLiteral && right.Value == nil {
		return not(r.present(left, from))
	}
	if !left.Out.Only(scalars) || !right.Out.Only(scalars) {
		return term{}
	}
	a, b := r.value(left, from), r.value(right, from)
	same := operation(a, "=", b)
	if left.Out.Kinds&right.Out.Kinds&jmespath.IsNull == 0 || !same.isKnown() {
		return same
	}
	return or(same, and(not(exists(a)), not(exists(b))))
}

// sound writes the condition that the evaluation is no error. It is true or
// false.
func (r readable) sound(n *jmespath.Node, from term) term {
	if !n.CanFail() {
		return always
	}
	switch n.Op {
	case jmespath.OpAnd, jmespath.OpOr:
		left, right := r.sound(n.Kids[0], from), r.sound(n.Kids[1], from)
		switch {
		case right.is(left), right.is(always):
			return left
		case n.Op == jmespath.OpAnd:
			return and(left, or(r.fails(n.Kids[0], from), right))
		default:
			return and(left, or(r.holds(n.Kids[0], from), right))
		}
	case jmespath.OpSub, jmespath.OpPipe:
		if n.Kids[1].CanFail() {
			return term{}
		}
		return r.sound(n.Kids[0], from)
	case jmespath.OpProject, jmespath.OpFilter:
		return and(r.sound(n.Kids[0], from), r.soundForEach(n.Kids[0], n.Kids[1], from))
	case jmespath.OpCall:
		return r.accepts(n, from)
	default:
		conditions := make([]term, len(n.Kids))
		for i, kid := range n.Kids {
			conditions[i] = r.sound(kid, from)
		}
		return and(conditions...)
	}
}

// soundForEach writes the condition that the body is sound for each element.
func (r readable) soundForEach(source, body *jmespath.Node, from term) term {
	each := r.sound(body, atom("$"))
	if each.is(always) {
		return always
	}
	elements := r.source(source, from)
	if !each.isKnown() || !elements.isKnown() {
		return term{}
	}
	return term{text: fmt.Sprintf("$count(%s[%s]) = 0", elements.in(bindsPath-1), not(each).text), binds: bindsCompare}
}

// accepts writes the condition that a function takes its first argument; a second
// is a literal.
func (r readable) accepts(n *jmespath.Node, from term) term {
	arg := n.Kids[0]
	switch {
	case !r.call(n, from).isKnown():
		return term{}
	case arg.Out.Only(jmespath.IsString) && arg.Op != jmespath.OpLiteral:
		return and(r.value(arg, from).put(`$type(%s) = 'string'`, bindsCompare), r.sound(arg, from))
	default:
		return and(r.present(arg, from), r.sound(arg, from))
	}
}

// present writes the condition that the value is not null. Of a projection it
// is that its source is not.
func (r readable) present(n *jmespath.Node, from term) term {
	switch n.Op {
	case jmespath.OpProject, jmespath.OpFlatten, jmespath.OpFilter, jmespath.OpValues, jmespath.OpSlice:
		source, needs := n.Kids[0], jmespath.IsArray
		if n.Op == jmespath.OpValues {
			needs = jmespath.IsObject
		}
		if !source.Out.Only(needs) || source.Out.Kinds == jmespath.IsNull {
			return term{}
		}
		return r.present(source, from)
	case jmespath.OpSub, jmespath.OpPipe:
		source := r.value(n.Kids[0], from)
		if !source.isKnown() || !n.Kids[0].Out.Only(jmespath.IsObject) {
			return term{}
		}
		last := r.present(n.Kids[1], source)
		if last.is(always) && n.Op == jmespath.OpSub {
			return r.present(n.Kids[0], from)
		}
		return last
	default:
		switch value := r.value(n, from); {
		case n.Out.Kinds&jmespath.IsNull == 0:
			return always
		case n.Out.Kinds.Kind() == jsontype.Unknown: // a document can be null
			return operation(value, "!=", atom("null"))
		default:
			return exists(value)
		}
	}
}

// verdict writes the condition that the evaluation is no error and gives what
// is truthy, or what is not. It is true, or else false or nothing.
func (r readable) verdict(n *jmespath.Node, from term, truthy bool) term {
	switch n.Op {
	case jmespath.OpNot:
		return r.verdict(n.Kids[0], from, !truthy)
	case jmespath.OpAnd, jmespath.OpOr:
		left, right := n.Kids[0], n.Kids[1]
		if truthy == (n.Op == jmespath.OpAnd) { // both sides must be so
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
func (r readable) equals(n *jmespath.Node, from term, want any) term {
	switch verdict, isBool := want.(bool); {
	case isBool && verdict && n.Out.Only(jmespath.IsBoolean), isBool && !verdict && n.Out.Kinds == jmespath.IsBoolean:
		return sure(r.verdict(n, from, verdict))
	case n.Out.Only(scalars):
		return and(r.sound(n, from), operation(r.value(n, from), "=", atom(literal(want))))
	default:
		return term{}
	}
}

// matches writes the condition that any element is the string, or all are. It
// is true or false.
func (r readable) matches(n *jmespath.Node, from term, want string, all bool) term {
	if !isFlat(n.Out) || !n.Out.Element().Only(scalars) {
		return term{}
	}
	list := r.value(n, from)
	switch {
	case !list.isKnown():
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
func (r readable) result(n *jmespath.Node, from term) term {
	if !n.Out.Only(scalars|jmespath.IsObject) && !isFlat(n.Out) {
		return term{}
	}
	return onlyIf(r.sound(n, from), r.value(n, from))
}
