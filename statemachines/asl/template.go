package asl

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// TemplateKind says which member of a Template holds it.
type TemplateKind uint8

// The kinds of template.
const (
	TemplateLiteral TemplateKind = iota
	TemplatePath
	TemplateIntrinsic
	TemplateExpression
	TemplateObject
	TemplateArray
)

// Template is JSON in which parts are computed: in JSONPath mode the members
// whose names end in ".$", in JSONata mode the strings in "{% %}". A path, a call
// of an intrinsic function and an expression tell their text by their String.
type Template struct {
	Kind       TemplateKind
	Literal    any // nothing in it is computed; numbers are json.Number
	Path       *jsonpath.Path
	Intrinsic  *intrinsic.Call
	Expression *jsonata.Expression
	Object     []TemplateMember
	Array      []*Template
}

// TemplateMember is a member of an object in a template.
type TemplateMember struct {
	Name  string // without ".$"
	Field string // as written
	Value *Template
}

// template reads a template, which in JSONPath mode must be an object.
func (o *object) template(name string) *Template {
	n := o.get(name)
	if n == nil {
		return nil
	}
	if o.p.language == JSONPath && n.Kind != jsontree.Object {
		if o.p.placeholder(n, true) {
			return &Template{Kind: TemplatePath, Path: openPath}
		}
		o.p.add(n.Problem("expected an object, found %s", n.Describe()))
		return nil
	}
	return o.p.template(n)
}

func (p *parser) template(n *jsontree.Node) *Template {
	switch n.Kind {
	case jsontree.Object:
		return p.templateObject(n)
	case jsontree.Array:
		items := make([]*Template, len(n.Items))
		literal := true
		for i, item := range n.Items {
			items[i] = p.template(item)
			literal = literal && items[i].Kind == TemplateLiteral
		}
		if literal {
			return &Template{Literal: n.Value()}
		}
		return &Template{Kind: TemplateArray, Array: items}
	case jsontree.String:
		if p.language == JSONata && isExpression(n) && !p.placeholder(n, true) {
			return &Template{Kind: TemplateExpression, Expression: p.expression(n)}
		}
		p.checkExpressionEnd(n)
		p.placeholder(n, false)
		return &Template{Literal: n.Text}
	default:
		return &Template{Literal: n.Value()}
	}
}

// checkExpressionEnd reports a string that only begins as an expression.
func (p *parser) checkExpressionEnd(n *jsontree.Node) {
	if p.language == JSONata && strings.HasPrefix(n.Text, expressionStart) && !isExpression(n) && !p.placeholder(n, false) {
		p.add(n.Problem("the string starts with \"{%%\" and must end with \"%%}\""))
	}
}

func (p *parser) templateObject(n *jsontree.Node) *Template {
	members := make([]TemplateMember, 0, len(n.Members))
	seen := map[string]bool{}
	literal := true
	for _, m := range n.Members {
		name, dynamic := strings.CutSuffix(m.Name, ".$")
		if dynamic && p.language == JSONata {
			p.warn(n.MemberProblem(m, "JSONata does not compute the member %q; write %q and a value in \"{%% %%}\"", m.Name, name))
			name, dynamic = m.Name, false
		}
		member := TemplateMember{Name: name, Field: m.Name}
		if dynamic {
			member.Value = p.dynamic(m.Value)
		} else {
			member.Value = p.template(m.Value)
		}
		if seen[name] {
			p.warn(n.MemberProblem(m, "the member %q is there twice in this object, once with \".$\"; keep one", name))
		}
		seen[name] = true
		literal = literal && member.Value.Kind == TemplateLiteral
		members = append(members, member)
	}
	if literal {
		return &Template{Literal: n.Value()}
	}
	return &Template{Kind: TemplateObject, Object: members}
}

// dynamic reads the value of a member whose name ends in ".$".
func (p *parser) dynamic(n *jsontree.Node) *Template {
	if p.placeholder(n, true) {
		return &Template{Kind: TemplatePath, Path: openPath}
	}
	if n.Kind == jsontree.String && intrinsic.Is(n.Text) {
		return &Template{Kind: TemplateIntrinsic, Intrinsic: p.intrinsic(n)}
	}
	return &Template{Kind: TemplatePath, Path: p.path(n, anyPath)}
}

// assign reads the field Assign: an object whose members are variables.
func (o *object) assign() *Template {
	n := o.get("Assign")
	if n == nil {
		return nil
	}
	if n.Kind != jsontree.Object {
		if o.p.leaveHollow(n, "the variables") {
			return nil
		}
		o.p.add(n.Problem("\"Assign\" must be an object of variables and values, found %s", n.Describe()))
		return nil
	}
	for _, m := range n.Members {
		name := m.Name
		if o.p.language == JSONPath {
			name = strings.TrimSuffix(name, ".$")
		}
		o.p.define(n, m, name)
	}
	return o.p.template(n)
}
