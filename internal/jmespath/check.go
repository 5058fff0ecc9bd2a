package jmespath

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/diag"
)

// Severity says how wrong an expression is. The levels are those of Smithy's
// validator of waiters.
type Severity uint8

const (
	// Warning is for a comparison that gives the same answer for all values but
	// null and those that an enum does not list.
	Warning Severity = iota
	// Danger is for a value that is not there or has no such part; the result
	// is null at that place.
	Danger
	// Failure is for an argument that a function never takes; every
	// evaluation that comes so far is an error.
	Failure
)

// Finding is what the static check has to say about a place of an expression.
type Finding struct {
	diag.Problem
	Severity Severity
}

// checked is a node with the shapes of the value it is evaluated on and of its
// result.
type checked struct {
	*node
	in, out *shape
	kids    []*checked
}

// checker works out shapes, from the outside in.
type checker struct {
	text     string
	findings []Finding
}

// check checks the expression on a value of a shape. The findings come in the
// order of the text.
func (e *Expr) check(in *shape) (*checked, []Finding) {
	c := &checker{text: e.text}
	root := c.check(e.root, in)
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return root, c.findings
}

func (c *checker) report(s Severity, at int, format string, args ...any) *Finding {
	c.findings = append(c.findings, Finding{diag.At([]byte(c.text), at, "", fmt.Sprintf(format, args...)), s})
	return &c.findings[len(c.findings)-1]
}

func (c *checker) check(n *node, in *shape) *checked {
	r := &checked{node: n, in: in}
	kid := func(i int, in *shape) *shape {
		k := c.check(n.kids[i], in)
		r.kids = append(r.kids, k)
		return k.out
	}
	switch n.op {
	case opCurrent:
		r.out = in
	case opField:
		r.out = c.member(n, in)
	case opLiteral:
		r.out = literalShape(n.value)
	case opSub:
		left := kid(0, in)
		r.out = kid(1, left.without(isNull)).with(left.kinds & isNull)
	case opPipe:
		r.out = kid(1, kid(0, in))
	case opIndex, opSlice, opFlatten, opFilter, opValues, opProject:
		r.out = c.elements(n, kid(0, in), kid)
	case opMultiList:
		var elem *shape
		for i := range n.kids {
			elem = elem.or(kid(i, in))
		}
		r.out = &shape{kinds: isArray | in.kinds&isNull, elem: elem}
	case opMultiHash:
		r.out = &shape{kinds: isObject | in.kinds&isNull, members: map[string]*shape{}, trace: &trace{made: true}}
		for i, name := range n.names {
			r.out.members[name] = kid(i, in)
		}
	case opOr:
		left := kid(0, in)
		r.out = left.without(isNull).or(kid(1, in))
	case opAnd:
		r.out = kid(0, in).or(kid(1, in))
	case opNot:
		kid(0, in)
		r.out = scalarShape(isBoolean)
	case opCompare:
		r.out = c.compare(n, kid(0, in), kid(1, in))
	case opCall:
		r.out = c.call(r, in)
	case opRef:
		r.out = kid(0, in)
	}
	return r
}

// elements is the shape of what a node takes from the elements or members of
// its source.
func (c *checker) elements(n *node, source *shape, kid func(int, *shape) *shape) *shape {
	switch n.op {
	case opIndex:
		c.source(n, source, isArray, "an index")
		return source.element().with(isNull)
	case opSlice:
		c.source(n, source, isArray, "a slice")
		return arrayOf(source.element())
	case opFlatten:
		c.source(n, source, isArray, "[]")
		return arrayOf(flattened(source.element()))
	case opFilter:
		c.source(n, source, isArray, "a filter")
		kid(1, source.element())
		return arrayOf(source.element())
	case opValues:
		c.source(n, source, isObject, "*")
		return arrayOf(source.value())
	default: // opProject
		if !isSource(n.kids[0].op) {
			c.source(n, source, isArray, "[*]")
		}
		return &shape{kinds: isArray | isNull, elem: kid(1, source.element()).without(isNull)}
	}
}

func isSource(o op) bool { return o == opSlice || o == opFlatten || o == opFilter || o == opValues }

// flattened is the shape of what elements become when arrays among them are
// replaced by their elements.
func flattened(elem *shape) *shape {
	if elem.kinds&isArray == 0 {
		return elem
	}
	inner := elem.element()
	if rest := elem.without(isArray); rest.kinds&^isNull != 0 {
		return rest.or(inner)
	}
	return inner.with(elem.kinds & isNull)
}

// source reports a projection or index of what is never of the kind it needs.
func (c *checker) source(n *node, s *shape, need kinds, what string) {
	if s.kinds&need == 0 {
		c.report(Danger, n.at, "%s needs %s, and this is %s", what, need, s)
	}
}

// member is the shape of a member. If there is none, anything follows, so that
// a misspelt name is reported once.
func (c *checker) member(n *node, in *shape) *shape {
	if in.kinds&isObject == 0 {
		c.report(Danger, n.at, "%s has no members, so %q cannot be read from it", in, n.name)
		return mixture.from(in.trace.member(n.name))
	}
	if in.members != nil {
		m, ok := in.members[n.name]
		if !ok {
			names := slices.Sorted(maps.Keys(in.members))
			f := c.report(Danger, n.at, "the object made here has no member %q", n.name)
			f.Problem = f.Suggest(n.name, names...)
			return mixture
		}
		return m
	}
	return c.read(n, in).from(in.trace.member(n.name))
}

// read is the shape of a member of an object that is not made here.
func (c *checker) read(n *node, in *shape) *shape {
	switch {
	case in.mixed:
		return mixture
	case in.typ == nil || in.typ.form() == formOpen:
		return anything
	case in.typ.form() == formMap:
		return in.typ.item()
	}
	m, why, ok := in.typ.field(n.name)
	switch {
	case !ok:
		f := c.report(Danger, n.at, "%s has no member %q", in, n.name)
		f.Problem = f.Suggest(n.name, in.typ.fields()...)
		return mixture
	case why != "":
		c.report(Danger, n.at, "%q cannot be read: %s", n.name, why)
		return anything
	default:
		return m
	}
}

// compare reports comparisons that give one answer for all expected values.
func (c *checker) compare(n *node, left, right *shape) *shape {
	if n.order != equal && n.order != notEqual {
		if left.kinds&isNumber == 0 || right.kinds&isNumber == 0 {
			c.report(Warning, n.at, "%s orders numbers alone, so comparing %s with %s is always null", n.order, left, right)
			return scalarShape(isNull)
		}
		if left.kinds == isNumber && right.kinds == isNumber {
			return scalarShape(isBoolean)
		}
		return scalarShape(isBoolean | isNull)
	}
	if left.kinds&right.kinds == 0 || (left.kinds&right.kinds == isNull && left.kinds != isNull && right.kinds != isNull) {
		c.report(Warning, n.at, "%s and %s are equal only if both are null", left, right)
		return scalarShape(isBoolean)
	}
	outcome := map[order]string{equal: "hold", notEqual: "fail"}[n.order]
	for i, enum := range []*shape{left, right} {
		other := n.kids[1-i]
		word, isWord := other.value.(string)
		values := enum.export().Values()
		if other.op == opLiteral && isWord && word != "" && values != nil && !slices.Contains(values, word) {
			f := c.report(Warning, other.at, "%q is not among the values of %s, so %s can %s only for a value that is not listed", word, enum, n.order, outcome)
			f.Problem = f.Suggest(word, values...)
		}
	}
	return scalarShape(isBoolean)
}

// call checks the arguments. The expression among them is checked last, on the
// elements of the array among them.
func (c *checker) call(r *checked, in *shape) *shape {
	r.kids = make([]*checked, len(r.node.kids))
	args := make([]*shape, len(r.kids))
	elem := anything
	for i, kid := range r.node.kids {
		if kid.op == opRef {
			continue
		}
		r.kids[i] = c.check(kid, in)
		args[i] = r.kids[i].out
		if args[i].kinds&isArray != 0 {
			elem = args[i].element()
		}
		c.argument(r.node, i, args[i])
	}
	for i, kid := range r.node.kids {
		if kid.op == opRef {
			r.kids[i] = c.check(kid, elem)
			args[i] = r.kids[i].out
			if by := r.fn.param(i).by; by != 0 && args[i].kinds&by == 0 {
				c.report(Failure, kid.at, "%s() orders by %s, and this is %s", r.name, by, args[i])
			}
		}
	}
	return r.fn.out(args)
}

// argument reports an argument that the function never takes.
func (c *checker) argument(n *node, i int, arg *shape) {
	p := n.fn.param(i)
	at := n.kids[i].at
	switch {
	case arg.kinds&p.kinds == 0:
		c.report(Failure, at, "%s() takes %s as argument %d, and this is %s", n.name, p, i+1, arg)
	case p.elems != 0 && arg.kinds&^isNull == isArray && arg.element().kinds&p.elems == 0:
		c.report(Danger, at, "%s() takes %s as argument %d, and the elements of this are %s", n.name, p, i+1, arg.element())
	}
}
