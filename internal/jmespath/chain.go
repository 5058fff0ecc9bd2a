package jmespath

import (
	"reflect"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

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
		p := n.In.plan
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
	return c.last.kind == jsontype.String && c.last.typ.Kind() == reflect.String
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
