package jmespath

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// checker works out shapes, from the outside in. What it finds is a
//
//   - WARNING, if a comparison gives the same answer for all values but null and
//     those that an enum does not list;
//   - DANGER, if a value is not there or has no such part: the result is null at
//     that place;
//   - ERROR, if a function never takes an argument: every evaluation that comes
//     so far is an error.
type checker struct {
	text     string
	findings diag.Problems
}

// check checks the expression on a value of a shape. The findings come in the
// order of the text.
func (e *Expr) check(in *Shape) (*Node, diag.Problems) {
	c := &checker{text: e.text}
	root := c.check(e.root, in)
	slices.SortStableFunc(c.findings, func(a, b diag.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return root, c.findings
}

// Tree is the expression as a typed tree, for values that s describes; nil
// stands for any JSON value.
func (e *Expr) Tree(s *jsontype.Type) *Node {
	root, _ := e.check(typeShape(s))
	return root
}

func (c *checker) report(s diag.Severity, at int, format string, args ...any) *diag.Problem {
	p := diag.At([]byte(c.text), at, "", fmt.Sprintf(format, args...))
	p.Severity = s
	c.findings = append(c.findings, p)
	return &c.findings[len(c.findings)-1]
}

func (c *checker) check(n *Node, in *Shape) *Node {
	r := n.copyFor(in)
	kid := func(i int, in *Shape) *Shape {
		k := c.check(n.Kids[i], in)
		r.Kids = append(r.Kids, k)
		return k.Out
	}
	switch n.Op {
	case OpCurrent:
		r.Out = in
	case OpField:
		r.Out = c.member(n, in)
	case OpLiteral:
		r.Out = literalShape(n.Value)
	case OpSub:
		left := kid(0, in)
		r.Out = kid(1, left.without(IsNull)).with(left.Kinds & IsNull)
	case OpPipe:
		r.Out = kid(1, kid(0, in))
	case OpIndex, OpSlice, OpFlatten, OpFilter, OpValues, OpProject:
		r.Out = c.elements(n, kid(0, in), kid)
	case OpMultiList:
		var elem *Shape
		for i := range n.Kids {
			elem = elem.or(kid(i, in))
		}
		r.Out = &Shape{Kinds: IsArray | in.Kinds&IsNull, Elem: elem}
	case OpMultiHash:
		r.Out = &Shape{Kinds: IsObject | in.Kinds&IsNull, Members: map[string]*Shape{}, trace: &trace{made: true}}
		for i, name := range n.Names {
			r.Out.Members[name] = kid(i, in)
		}
	case OpOr:
		left := kid(0, in)
		r.Out = left.without(IsNull).or(kid(1, in))
	case OpAnd:
		r.Out = kid(0, in).or(kid(1, in))
	case OpNot:
		kid(0, in)
		r.Out = scalarShape(IsBoolean)
	case OpCompare:
		r.Out = c.compare(n, kid(0, in), kid(1, in))
	case OpCall:
		r.Out = c.call(r, n.Kids, in)
	case OpRef:
		r.Out = kid(0, in)
	}
	return r
}

// elements is the shape of what a node takes from the elements or members of
// its source.
func (c *checker) elements(n *Node, source *Shape, kid func(int, *Shape) *Shape) *Shape {
	switch n.Op {
	case OpIndex:
		c.source(n, source, IsArray, "an index")
		return source.Element().with(IsNull)
	case OpSlice:
		c.source(n, source, IsArray, "a slice")
		return arrayOf(source.Element())
	case OpFlatten:
		c.source(n, source, IsArray, "[]")
		return arrayOf(flatten(source.Element()))
	case OpFilter:
		c.source(n, source, IsArray, "a filter")
		kid(1, source.Element())
		return arrayOf(source.Element())
	case OpValues:
		c.source(n, source, IsObject, "*")
		return arrayOf(source.value())
	default: // opProject
		if !isSource(n.Kids[0].Op) {
			c.source(n, source, IsArray, "[*]")
		}
		return &Shape{Kinds: IsArray | IsNull, Elem: kid(1, source.Element()).without(IsNull)}
	}
}

func isSource(o Op) bool { return o == OpSlice || o == OpFlatten || o == OpFilter || o == OpValues }

// flatten is the shape of what elements become when arrays among them are
// replaced by their elements.
func flatten(elem *Shape) *Shape {
	if elem.Kinds&IsArray == 0 {
		return elem
	}
	inner := elem.Element()
	if rest := elem.without(IsArray); rest.Kinds&^IsNull != 0 {
		return rest.or(inner)
	}
	return inner.with(elem.Kinds & IsNull)
}

// source reports a projection or index of what is never of the kind it needs.
func (c *checker) source(n *Node, s *Shape, need Kinds, what string) {
	if s.Kinds&need == 0 {
		c.report(diag.Danger, n.Offset, "%s needs %s, and this is %s", what, need, s)
	}
}

// member is the shape of a member. If there is none, anything follows, so that
// a misspelt name is reported once.
func (c *checker) member(n *Node, in *Shape) *Shape {
	if in.Kinds&IsObject == 0 {
		c.report(diag.Danger, n.Offset, "%s has no members, so %q cannot be read from it", in, n.Name)
		return mixture.from(in.trace.member(n.Name))
	}
	if in.Members != nil {
		m, ok := in.Members[n.Name]
		if !ok {
			names := slices.Sorted(maps.Keys(in.Members))
			f := c.report(diag.Danger, n.Offset, "the object made here has no member %q", n.Name)
			*f = f.Suggest(n.Name, names...)
			return mixture
		}
		return m
	}
	return c.read(n, in).from(in.trace.member(n.Name))
}

// read is the shape of a member of an object that is not made here.
func (c *checker) read(n *Node, in *Shape) *Shape {
	switch {
	case in.Mixed:
		return mixture
	case in.isMap():
		return in.parts()
	case !in.isStruct():
		return anything
	}
	m, refused, ok := in.member(n.Name)
	switch {
	case !ok:
		f := c.report(diag.Danger, n.Offset, "%s has no member %q", in, n.Name)
		*f = f.Suggest(n.Name, in.names()...)
		return mixture
	case refused != "":
		c.report(diag.Danger, n.Offset, "%q cannot be read: %s", n.Name, refused)
		return anything
	default:
		return m
	}
}

// compare reports comparisons that give one answer for all expected values.
func (c *checker) compare(n *Node, left, right *Shape) *Shape {
	if n.Order != Equal && n.Order != NotEqual {
		if left.Kinds&IsNumber == 0 || right.Kinds&IsNumber == 0 {
			c.report(diag.Warning, n.Offset, "%s orders numbers alone, so comparing %s with %s is always null", n.Order, left, right)
			return scalarShape(IsNull)
		}
		if left.Kinds == IsNumber && right.Kinds == IsNumber {
			return scalarShape(IsBoolean)
		}
		return scalarShape(IsBoolean | IsNull)
	}
	if left.Kinds&right.Kinds == 0 || (left.Kinds&right.Kinds == IsNull && left.Kinds != IsNull && right.Kinds != IsNull) {
		c.report(diag.Warning, n.Offset, "%s and %s are equal only if both are null", left, right)
		return scalarShape(IsBoolean)
	}
	outcome := map[Order]string{Equal: "hold", NotEqual: "fail"}[n.Order]
	for i, enum := range []*Shape{left, right} {
		other := n.Kids[1-i]
		word, isWord := other.Value.(string)
		values := enum.enum()
		if other.Op == OpLiteral && isWord && word != "" && values != nil && !slices.Contains(values, word) {
			f := c.report(diag.Warning, other.Offset, "%q is not among the values of %s, so %s can %s only for a value that is not listed", word, enum, n.Order, outcome)
			*f = f.Suggest(word, values...)
		}
	}
	return scalarShape(IsBoolean)
}

// call checks the arguments. The expression among them is checked last, on the
// elements of the array among them.
func (c *checker) call(r *Node, kids []*Node, in *Shape) *Shape {
	r.Kids = make([]*Node, len(kids))
	args := make([]*Shape, len(r.Kids))
	elem := anything
	for i, kid := range kids {
		if kid.Op == OpRef {
			continue
		}
		r.Kids[i] = c.check(kid, in)
		args[i] = r.Kids[i].Out
		if args[i].Kinds&IsArray != 0 {
			elem = args[i].Element()
		}
		c.argument(r, kids[i].Offset, i, args[i])
	}
	for i, kid := range kids {
		if kid.Op == OpRef {
			r.Kids[i] = c.check(kid, elem)
			args[i] = r.Kids[i].Out
			if by := r.fn.param(i).by; by != 0 && args[i].Kinds&by == 0 {
				c.report(diag.Error, kid.Offset, "%s() orders by %s, and this is %s", r.Name, by, args[i])
			}
		}
	}
	return r.fn.out(args)
}

// argument reports an argument that the function never takes.
func (c *checker) argument(n *Node, at, i int, arg *Shape) {
	p := n.fn.param(i)
	switch {
	case arg.Kinds&p.kinds == 0:
		c.report(diag.Error, at, "%s() takes %s as argument %d, and this is %s", n.Name, p, i+1, arg)
	case p.elems != 0 && arg.Kinds&^IsNull == IsArray && arg.Element().Kinds&p.elems == 0:
		c.report(diag.Danger, at, "%s() takes %s as argument %d, and the elements of this are %s", n.Name, p, i+1, arg.Element())
	}
}
