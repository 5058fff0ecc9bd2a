package asl

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// TemplateKind says which member of a Template holds it.
type TemplateKind uint8

// The kinds of template.
const (
	TemplateLiteral TemplateKind = iota
	TemplatePath
	TemplateObject
	TemplateArray
)

// Template is a payload template (Parameters, ResultSelector): JSON in which
// a member whose name ends in ".$" is replaced by the value its path names.
type Template struct {
	Kind    TemplateKind
	Literal any // nothing in it depends on the input; numbers are json.Number
	Path    *Path
	Object  []TemplateMember
	Array   []*Template
}

// TemplateMember is a member of an object in a template.
type TemplateMember struct {
	Name  string // without ".$"
	Field string // as written
	Value *Template
}

// template reads a template whose outermost value has to be an object.
func (o *object) template(name string) *Template {
	n := o.get(name)
	if n == nil {
		return nil
	}
	if n.Kind != jsontree.Object {
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
	default:
		return &Template{Literal: n.Value()}
	}
}

func (p *parser) templateObject(n *jsontree.Node) *Template {
	members := make([]TemplateMember, 0, len(n.Members))
	seen := map[string]bool{}
	literal := true
	for _, m := range n.Members {
		name, dynamic := strings.CutSuffix(m.Name, ".$")
		member := TemplateMember{Name: name, Field: m.Name}
		if dynamic {
			member.Value = &Template{Kind: TemplatePath, Path: p.path(m.Value, anyPath)}
		} else {
			member.Value = p.template(m.Value)
		}
		if seen[name] {
			p.add(n.MemberProblem(m, "member %q stands twice in this object, once with \".$\"; keep one", name))
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
