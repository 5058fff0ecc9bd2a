package jmespath

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// generator turns checked nodes into code. It asks for each node's code once
// for each way of evaluating it, so that state in slots is never shared.
type generator struct {
	slots int
	args  int
}

func (g *generator) slot() int {
	g.slots++
	return g.slots - 1
}

// code is the code that gives the node's value.
func (g *generator) code(n *Node) code {
	if c, ok := chainOf(n); ok {
		return c.code()
	}
	switch n.Op {
	case OpCurrent:
		return func(_ *frame, in value) value { return in }
	case OpField:
		name, at := n.Name, n.Offset
		if in := n.In; in.Mixed || in.plan != nil && in.plan.rep == repStruct { // the check has said what there is to say
			return func(fr *frame, in value) value { return fr.memberOrNull(at, in, name) }
		}
		return func(fr *frame, in value) value { return fr.member(at, in, name) }
	case OpLiteral:
		v := fromAny(n.Value)
		return func(*frame, value) value { return v }
	case OpSub:
		left, right := g.code(n.Kids[0]), g.code(n.Kids[1])
		return func(fr *frame, in value) value {
			v := left(fr, in)
			if v.kind == jsontype.Null {
				return v
			}
			return right(fr, v)
		}
	case OpPipe:
		left, right := g.code(n.Kids[0]), g.code(n.Kids[1])
		return func(fr *frame, in value) value { return right(fr, left(fr, in)) }
	case OpIndex:
		return g.index(n)
	case OpMultiHash:
		return g.multiHash(n)
	case OpOr, OpAnd:
		return g.either(n)
	case OpNot, OpCompare:
		return g.verdict(n).code()
	case OpCall:
		return g.call(n)
	default:
		return g.collect(n)
	}
}

func (g *generator) codes(kids []*Node) []code {
	codes := make([]code, len(kids))
	for i, kid := range kids {
		codes[i] = g.code(kid)
	}
	return codes
}

func (g *generator) index(n *Node) code {
	source, index, at := g.code(n.Kids[0]), n.Index, n.Offset
	return func(fr *frame, in value) value {
		v := source(fr, in)
		if v.kind != jsontype.Array {
			return value{}
		}
		s, i := v.span(), index
		if i < 0 {
			i += s.count
		}
		if i < 0 || i >= s.count {
			return value{}
		}
		return fr.sound(at, s.at(i))
	}
}

func (g *generator) multiHash(n *Node) code {
	names := n.Names
	kids := g.codes(n.Kids)
	return func(fr *frame, in value) value {
		if in.kind == jsontype.Null {
			return in
		}
		members := make(map[string]value, len(names))
		for i, kid := range kids {
			members[names[i]] = kid(fr, in)
		}
		return object(members)
	}
}

func (g *generator) either(n *Node) code {
	left, right := g.code(n.Kids[0]), g.code(n.Kids[1])
	wants := n.Op == OpOr
	return func(fr *frame, in value) value {
		if v := left(fr, in); v.truthy() == wants {
			return v
		}
		return right(fr, in)
	}
}

func (g *generator) call(n *Node) code {
	switch {
	case n.Name == "length" && streams(n.Kids[0]):
		return g.count(n)
	case n.Name == "contains" && streams(n.Kids[0]):
		return g.contains(n)
	}
	c := &call{Node: n, base: g.args, args: make([]code, len(n.Kids))}
	g.args += len(n.Kids)
	for i, kid := range n.Kids {
		if kid.Op == OpRef {
			c.ref = g.code(kid.Kids[0])
		} else {
			c.args[i] = g.code(kid)
		}
	}
	return c.eval
}

// verdict is the code that tells whether the node's value is truthy; of a
// comparison it also tells null from false.
func (g *generator) verdict(n *Node) test {
	switch n.Op {
	case OpCompare:
		return g.compare(n)
	case OpNot:
		inner := g.verdict(n.Kids[0])
		return func(fr *frame, in value) verdict { return verdictOf(inner(fr, in) != yes) }
	case OpAnd, OpOr:
		left, right := g.verdict(n.Kids[0]), g.verdict(n.Kids[1])
		wants := n.Op == OpOr
		return func(fr *frame, in value) verdict {
			if (left(fr, in) == yes) == wants {
				return verdictOf(wants)
			}
			return right(fr, in)
		}
	default:
		inner := g.code(n)
		return func(fr *frame, in value) verdict { return verdictOf(inner(fr, in).truthy()) }
	}
}

func (g *generator) compare(n *Node) test {
	order := n.Order
	if order != Equal && order != NotEqual {
		left, right := g.code(n.Kids[0]), g.code(n.Kids[1])
		return func(fr *frame, in value) verdict {
			a, b := left(fr, in), right(fr, in)
			if a.kind != jsontype.Number || b.kind != jsontype.Number {
				return neither
			}
			return verdictOf(order.holds(a.num, b.num))
		}
	}
	wants := order == Equal
	for i, kid := range n.Kids {
		if word, ok := kid.Value.(string); ok && kid.Op == OpLiteral {
			if c, ok := chainOf(n.Kids[1-i]); ok && c.holdsString() {
				return c.equals(word, wants)
			}
			other := g.code(n.Kids[1-i])
			return func(fr *frame, in value) verdict {
				return verdictOf(other(fr, in).isText(word) == wants)
			}
		}
	}
	left, right, at := g.code(n.Kids[0]), g.code(n.Kids[1]), n.Offset
	return func(fr *frame, in value) verdict {
		return verdictOf(fr.equal(at, left(fr, in), right(fr, in), 0) == wants)
	}
}

// stream is the code that gives the node's elements to a sink.
func (g *generator) stream(n *Node, to sink) stream {
	switch n.Op {
	case OpProject:
		return g.project(n, to)
	case OpFlatten:
		return g.flatten(n.Kids[0], to)
	case OpFilter:
		holds := g.verdict(n.Kids[1])
		return g.stream(n.Kids[0], func(fr *frame, item value) bool {
			return holds(fr, item) != yes || to(fr, item)
		})
	case OpSlice:
		return g.slice(n, to)
	case OpValues:
		return g.values(n, to)
	case OpMultiList:
		kids := g.items(n, to)
		return func(fr *frame, in value) bool {
			kids(fr, in)
			return in.kind != jsontype.Null
		}
	case OpSub, OpPipe:
		if streams(n) {
			return g.behind(n, to)
		}
	default:
	}
	whole, at := g.code(n), n.Offset
	return func(fr *frame, in value) bool {
		v := whole(fr, in)
		if v.kind != jsontype.Array {
			return false
		}
		iterate(fr, at, v, to)
		return true
	}
}

// behind streams the right side of a dot or a pipe.
func (g *generator) behind(n *Node, to sink) stream {
	left, right, always := g.code(n.Kids[0]), g.stream(n.Kids[1], to), n.Op == OpPipe
	return func(fr *frame, in value) bool {
		v := left(fr, in)
		return (always || v.kind != jsontype.Null) && right(fr, v)
	}
}

// project is a projection: what is null is left out.
func (g *generator) project(n *Node, to sink) stream {
	source, body := n.Kids[0], n.Kids[1]
	if body.Op == OpCurrent {
		return g.stream(source, func(fr *frame, item value) bool { return item.kind == jsontype.Null || to(fr, item) })
	}
	each := g.code(body)
	return g.stream(source, func(fr *frame, item value) bool {
		v := each(fr, item)
		return v.kind == jsontype.Null || to(fr, v)
	})
}

// flatten gives the elements of arrays in the place of the arrays.
func (g *generator) flatten(n *Node, to sink) stream {
	if n.Op == OpProject && n.Kids[1].Op == OpMultiList { // a.[b, c][] needs no lists in between
		return g.stream(n.Kids[0], g.items(n.Kids[1], to))
	}
	at := n.Offset
	return g.stream(n, func(fr *frame, item value) bool {
		if item.kind == jsontype.Array {
			return iterate(fr, at, item, to)
		}
		return to(fr, item)
	})
}

// items gives what a multi-select list selects from a value to a sink, and
// nothing if that is null.
func (g *generator) items(n *Node, to sink) sink {
	kids, at := g.codes(n.Kids), n.Offset
	return func(fr *frame, in value) bool {
		if in.kind == jsontype.Null {
			return true
		}
		for _, kid := range kids {
			if !to(fr, kid(fr, in)) || !fr.step(at) {
				return false
			}
		}
		return true
	}
}

func (g *generator) slice(n *Node, to sink) stream {
	source, parts, at := g.code(n.Kids[0]), n.Slice, n.Offset
	return func(fr *frame, in value) bool {
		v := source(fr, in)
		if v.kind != jsontype.Array {
			return false
		}
		s := v.span()
		start, stop, step := bounds(parts, s.count)
		for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
			if !to(fr, fr.sound(at, s.at(i))) || !fr.step(at) {
				break
			}
		}
		return true
	}
}

func (g *generator) values(n *Node, to sink) stream {
	source, at := g.code(n.Kids[0]), n.Offset
	return func(fr *frame, in value) bool {
		v := source(fr, in)
		if v.kind != jsontype.Object {
			return false
		}
		for _, name := range v.names() {
			if !to(fr, fr.member(at, v, name)) || !fr.step(at) {
				break
			}
		}
		return true
	}
}

// collect builds the array that a stream would give.
func (g *generator) collect(n *Node) code {
	slot := g.slot()
	elements := g.stream(n, func(fr *frame, item value) bool {
		s := &fr.slots[slot]
		if len(s.list) == cap(s.list) { // append grows a long list by little
			s.list = slices.Grow(s.list, len(s.list))
		}
		s.list = append(s.list, item)
		return true
	})
	return func(fr *frame, in value) value {
		fr.slots[slot].list = nil
		if !elements(fr, in) {
			return value{}
		}
		return list(fr.slots[slot].list)
	}
}

// count is length() of a stream.
func (g *generator) count(n *Node) code {
	slot := g.slot()
	elements := g.stream(n.Kids[0], func(fr *frame, _ value) bool {
		fr.slots[slot].count++
		return true
	})
	want, at := n.fn.param(0), n.Kids[0].Offset
	return func(fr *frame, in value) value {
		fr.slots[slot].count = 0
		if !elements(fr, in) {
			fr.fail(InvalidType, at, "length() takes %s as argument 1, found null", want)
			return value{}
		}
		return number(float64(fr.slots[slot].count))
	}
}

// contains is contains() of a stream. It stops at the first match if the rest
// cannot fail.
func (g *generator) contains(n *Node) code {
	slot := g.slot()
	more, at := n.Kids[0].CanFail(), n.Kids[0].Offset
	elements := g.stream(n.Kids[0], func(fr *frame, item value) bool {
		s := &fr.slots[slot]
		s.found = s.found || fr.equal(at, item, s.search, 0)
		return more || !s.found
	})
	search := g.code(n.Kids[1])
	want := n.fn.param(0)
	return func(fr *frame, in value) value {
		s := &fr.slots[slot]
		s.found, s.search = false, search(fr, in)
		if !elements(fr, in) {
			fr.fail(InvalidType, at, "contains() takes %s as argument 1, found null", want)
			return value{}
		}
		return boolean(s.found)
	}
}
