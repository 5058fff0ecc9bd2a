package asl

import (
	"strconv"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Scalar is a number, time or text that a definition states or computes.
type Scalar struct {
	// Field is the name of the field as written: "SecondsPath".
	Field string
	// Literal is set if the definition states the value. Its type is said
	// where the scalar is used.
	Literal any
	// One of these is set if the value is computed.
	Path       *jsonpath.Path
	Intrinsic  *intrinsic.Call
	Expression *jsonata.Expression
}

// scalar reads a field that states a value, read by literal, or computes it: in
// JSONPath mode by the field of that name with "Path" at its end, which holds a
// path of the scope, in JSONata mode by an expression. It returns nil if there is
// none.
func (o *object) scalar(name string, scope pathScope, literal func(*jsontree.Node) any) *Scalar {
	if o.p.language == JSONPath {
		if n := o.get(name + "Path"); n != nil {
			o.exclusive(name, name+"Path")
			return o.p.pathScalar(name+"Path", n, scope)
		}
	}
	n := o.get(name)
	if n == nil {
		return nil
	}
	s := &Scalar{Field: name}
	if o.p.placeholder(n, true) {
		return s
	}
	if o.p.language == JSONata && isExpression(n) {
		s.Expression = o.p.expression(n)
		return s
	}
	before := len(o.p.problems)
	if value := literal(n); len(o.p.problems) == before {
		s.Literal = value
	}
	return s
}

func (p *parser) pathScalar(field string, n *jsontree.Node, scope pathScope) *Scalar {
	s := &Scalar{Field: field}
	if n.Kind == jsontree.String && scope == textPath && intrinsic.Is(n.Text) {
		s.Intrinsic = p.intrinsic(n)
	} else {
		s.Path = p.path(n, scope)
	}
	return s
}

// whole reads a scalar that is an integer from low to high.
func (o *object) whole(name string, low, high int64) *Scalar {
	return o.scalar(name, anyPath, func(*jsontree.Node) any { return o.integer(name, low, high, low) })
}

// count reads a number of a Map, an integer from 0 to high.
func (o *object) count(name string, high int64) *Scalar {
	return o.scalar(name, countPath, func(*jsontree.Node) any { return o.integer(name, 0, high, 0) })
}

// textScalar reads a scalar that is a string, which an intrinsic function may
// give, too.
func (o *object) textScalar(name string) *Scalar {
	return o.scalar(name, textPath, func(n *jsontree.Node) any {
		if n.Kind == jsontree.String {
			o.p.checkExpressionEnd(n)
		}
		return o.text(name)
	})
}

// percentage reads a number of a Map, from 0 to 100.
func (o *object) percentage(name string) *Scalar {
	return o.scalar(name, countPath, func(n *jsontree.Node) any {
		value, err := strconv.ParseFloat(n.Text, 64)
		if n.Kind != jsontree.Number || err != nil || value < 0 || value > 100 {
			o.p.add(n.Problem("%q must be a number from 0 to 100, found %s", name, n.Describe()))
		}
		return value
	})
}
