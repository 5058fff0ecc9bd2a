package terraform

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// variable is what the caller gives, else the user, else the root module's files of values,
// else the default: in the type of the variable.
func (m *module) variable(e *evaluator, name string, at Place) *Value {
	b := m.blocks["variable."+name]
	if b == nil {
		return failedValue("var."+name, at)
	}
	return m.memo(e, "var."+name, at, func() *Value {
		kind, defaults, ok := variableType(b.attributes["type"])
		if !ok {
			return unknownValue("var."+name, at)
		}
		c := &conversion{budget: e.budget, source: "var." + name, at: at}
		v := m.assignment(e, b, name, at)
		if v == nil || v.Kind == Null && isFalse(b.attributes["nullable"]) {
			x := b.attributes["default"]
			if x == nil {
				return unknownValue("var."+name, at)
			}
			v = e.eval(x, named{m})
		}
		return c.convert(v, kind, defaults)
	})
}

// assignment is the value that somebody gives a variable; nil if nobody does.
func (m *module) assignment(e *evaluator, b *block, name string, at Place) *Value {
	if m.call != nil {
		if x := m.call.attributes[name]; x != nil {
			return e.eval(x, m.caller)
		}
		return nil
	}
	if v := m.given(b, name, at); v != nil {
		return v
	}
	values := m.values(m.folder)
	if values == nil {
		return unknownValue("var."+name, at)
	}
	if x := values[name]; x != nil {
		return e.eval(x, named{m})
	}
	return nil
}

// given is what the user says of a variable of the root. As for Terraform's -var, it is a text
// if the variable has no type or that of a scalar, and else an expression.
func (m *module) given(b *block, name string, at Place) *Value {
	text, ok := m.Variable("var." + name)
	if !ok {
		text, ok = m.Variable(name)
	}
	if !ok {
		return nil
	}
	x := b.attributes["type"]
	if kind, _, ok := variableType(x); x != nil && ok && !kind.IsPrimitiveType() {
		parsed, diagnostics := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
		if !diagnostics.HasErrors() && isConstant(parsed) && isPlain(parsed) {
			if v, diagnostics := parsed.Value(nil); !diagnostics.HasErrors() {
				return fromCty(v, "var."+name, at, nil)
			}
		}
	}
	return textValue(text, at)
}

// variableType reads the type of a variable, which may have defaults of optional members. It is
// false if Terraform refuses the type, or a default is not a plain value.
func variableType(x hclsyntax.Expression) (cty.Type, *typeexpr.Defaults, bool) {
	if x == nil {
		return cty.DynamicPseudoType, nil, true
	}
	if text, ok := literalText(x); ok { // as in JSON
		parsed, diagnostics := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
		if diagnostics.HasErrors() {
			return cty.NilType, nil, false
		}
		x = parsed
	}
	switch hcl.ExprAsKeyword(x) {
	case "list":
		return cty.List(cty.DynamicPseudoType), nil, true
	case "map":
		return cty.Map(cty.DynamicPseudoType), nil, true
	}
	if !isPlain(x) {
		return cty.NilType, nil, false
	}
	kind, defaults, diagnostics := typeexpr.TypeConstraintWithDefaults(x)
	return kind, defaults, !diagnostics.HasErrors()
}

// isPlain tells whether an expression takes no time: it neither repeats nor computes, and
// has no number that takes long to write.
func isPlain(x hclsyntax.Expression) bool {
	plain := true
	_ = hclsyntax.VisitAll(x, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ForExpr, *hclsyntax.BinaryOpExpr, *hclsyntax.SplatExpr:
			plain = false
		case *hclsyntax.LiteralValueExpr:
			plain = plain && !hasHugeNumber(n.Val)
		}
		return nil
	})
	return plain
}

// isFalse tells whether an expression is the literal false.
func isFalse(x hclsyntax.Expression) bool {
	literal, ok := x.(*hclsyntax.LiteralValueExpr)
	return ok && literal.Val.RawEquals(cty.False)
}
