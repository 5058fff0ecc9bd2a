package jmespath

import (
	"reflect"
	"slices"
)

// code evaluates an expression on a value. After a failure, which the frame
// keeps, results mean nothing and evaluation only has to end.
type code func(fr *frame, in value) value

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
		if in := n.In; in.Mixed || in.plan() != nil && in.plan().rep == repStruct { // the check has said what there is to say
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
			if v.kind == Null {
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

func (g *generator) index(n *Node) code {
	source, index, at := g.code(n.Kids[0]), n.Index, n.Offset
	return func(fr *frame, in value) value {
		v := source(fr, in)
		if v.kind != Array {
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
		if in.kind == Null {
			return in
		}
		members := make(map[string]value, len(names))
		for i, kid := range kids {
			members[names[i]] = kid(fr, in)
		}
		return object(members)
	}
}

func (g *generator) codes(kids []*Node) []code {
	codes := make([]code, len(kids))
	for i, kid := range kids {
		codes[i] = g.code(kid)
	}
	return codes
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

// verdict is what a condition says: a boolean, or null where an order is asked
// of what has none.
type verdict uint8

const (
	no verdict = iota
	yes
	neither
)

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// test is the code of a condition.
type test func(fr *frame, in value) verdict

func (t test) code() code {
	return func(fr *frame, in value) value {
		v := t(fr, in)
		if v == neither {
			return value{}
		}
		return boolean(v == yes)
	}
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
			if a.kind != Number || b.kind != Number {
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

// chain is a path of members through structs, each behind pointers or not.
type chain struct {
	own   *plan // of the struct it starts at
	hops  []hop
	last  *plan // of the last member, behind its pointers
	names []string
	at    []int // of the names, in the text
}

// hop goes from a struct to a member, and through pointers if there are some.
type hop struct {
	field    int
	pointers int
}

// chainOf reads the node as a chain, if it is one.
func chainOf(n *Node) (*chain, bool) {
	switch n.Op {
	case OpField:
		p := n.In.plan()
		if p == nil || p.rep != repStruct || p.open {
			return nil, false
		}
		m, ok := p.member(n.Name)
		if !ok || m.plan.refuse != "" {
			return nil, false
		}
		c := &chain{own: p, last: m.plan.target(), names: []string{n.Name}, at: []int{n.Offset}}
		step := hop{field: m.field}
		for p := m.plan; p != c.last; p = p.inner {
			step.pointers++
		}
		c.hops = []hop{step}
		return c, true
	case OpSub:
		left, ok := chainOf(n.Kids[0])
		if !ok {
			return nil, false
		}
		right, ok := chainOf(n.Kids[1])
		if !ok || right.own != left.last {
			return nil, false
		}
		return &chain{
			own: left.own, hops: slices.Concat(left.hops, right.hops), last: right.last,
			names: slices.Concat(left.names, right.names), at: slices.Concat(left.at, right.at),
		}, true
	default:
		return nil, false
	}
}

// follow finds the last member. There is none if the struct or a pointer on the
// way is nil.
func (c *chain) follow(own reflect.Value) (last reflect.Value, ok bool) {
	if !own.IsValid() {
		return own, false
	}
	for _, h := range c.hops {
		own = own.Field(h.field)
		for range h.pointers {
			if own.IsNil() {
				return own, false
			}
			own = own.Elem()
		}
	}
	return own, true
}

func (c *chain) code() code {
	last, load, sure := c.at[len(c.at)-1], c.last.load, c.last.sure
	return func(fr *frame, in value) value {
		if in.plan != c.own {
			return c.byName(fr, in)
		}
		member, ok := c.follow(in.held)
		if !ok {
			return value{}
		}
		v := load(member)
		if sure {
			return v
		}
		return fr.sound(last, v)
	}
}

// holdsString reports whether what the chain leads to is a string in memory.
func (c *chain) holdsString() bool {
	return c.last.kind == String && c.last.typ.Kind() == reflect.String
}

// equals is the code that compares the string that the chain leads to.
func (c *chain) equals(word string, wants bool) test {
	return func(fr *frame, in value) verdict {
		if in.plan != c.own {
			return verdictOf(c.byName(fr, in).isText(word) == wants)
		}
		member, ok := c.follow(in.held)
		return verdictOf((ok && member.String() == word) == wants)
	}
}

// byName follows the chain on a value that has another type than was known.
func (c *chain) byName(fr *frame, v value) value {
	for i, name := range c.names {
		v = fr.member(c.at[i], v, name)
	}
	return v
}
