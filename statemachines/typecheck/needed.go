package typecheck

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// NeededArgument says whether a call needs a value at a path of its arguments, such as
// "Item/at/S": the model requires the member, or a union, list or map has to have it there.
// Step Functions leaves out a null elsewhere. Of all its arguments, the path is empty.
func (a *API) NeededArgument(path string) bool {
	if a.Input == nil || a.spelling == nil {
		return false
	}
	if path == "" {
		return true
	}
	at := a.Input
	needed, open := false, false
	for name := range strings.SplitSeq(path, "/") {
		if open {
			return false
		}
		switch at.Type {
		case catalog.Structure, catalog.Union:
			m := a.spelling.member(at, name)
			if m == nil {
				return false
			}
			open = slices.Contains(a.spelling.open, name)
			needed, at = isNeeded(at, m), m.Shape
		case catalog.List, catalog.Map:
			needed, at = true, at.Element.Shape
		default:
			return false
		}
	}
	return needed
}

// isUnion tells whether a structure has to have one of its members. The model of DynamoDB does
// not say so of its values.
func isUnion(s *catalog.Shape) bool { return s.Type == catalog.Union || s.Name == "AttributeValue" }

// EmptyArgument is the path of an argument that a call needs and that is null, or an empty
// text where the model has a least length; empty for none. Services refuse such a call.
func (a *API) EmptyArgument(arguments any) string {
	object, ok := arguments.(map[string]any)
	if a.Input == nil || a.spelling == nil || !ok {
		return ""
	}
	return a.emptyIn(object, a.Input)
}

// emptyIn is the path to such an argument in a value of the shape.
func (a *API) emptyIn(value any, s *catalog.Shape) string {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if path := a.emptyAt(name, value[name], a.partOf(s, name)); path != "" {
				return path
			}
		}
	case []any:
		for _, item := range value {
			if path := a.emptyAt("[]", item, a.partOf(s, "")); path != "" {
				return path
			}
		}
	}
	return ""
}

func (a *API) emptyAt(name string, value any, p part) string {
	switch {
	case p.shape == nil:
		return ""
	case value == nil && p.needed, value == "" && isLong(p.shape):
		return name
	}
	if path := a.emptyIn(value, p.shape); path != "" && !slices.Contains(a.spelling.open, name) {
		return name + "." + path
	}
	return ""
}

// SendsText tells whether a Task of the machine passes a text that its service refuses if it is empty.
func (c *Checker) SendsText() bool {
	for s := range c.machine.All {
		if c.neverEmpty(s) {
			return true
		}
	}
	return false
}

// neverEmpty tells whether a call passes a text that its service refuses if it is empty, though
// the model has no least length, and that a run makes.
func (c *Checker) neverEmpty(s *asl.State) bool {
	arguments := s.Arguments
	if arguments == nil {
		arguments = s.Parameters
	}
	if s.Task == nil || arguments == nil || c.apis[s.Task.Resource] == nil {
		return false
	}
	a := c.apis[s.Task.Resource]
	return a.service != nil && a.Input != nil && slices.ContainsFunc(arguments.Object, func(given asl.TemplateMember) bool {
		m := a.spelling.member(a.Input, strings.TrimSuffix(given.Name, ".$"))
		return m != nil && mayBeEmpty(given.Value) && a.service.NeverEmpty(a.Input.Name, m.Name)
	})
}

// mayBeEmpty tells whether what is computed may be an empty text: it has no text of its own around what
// it reads.
func mayBeEmpty(t *asl.Template) bool {
	switch {
	case t.Literal != nil:
		return false
	case t.Intrinsic != nil && t.Intrinsic.Function() == "Format":
		format, _ := t.Intrinsic.Arguments()[0].Literal.(string)
		return strings.ReplaceAll(format, "{}", "") == ""
	case t.Intrinsic != nil:
		return t.Intrinsic.Function() != "JsonToString"
	case t.Expression != nil:
		whole := t.Expression.Part()
		return !joinsText(&whole)
	default:
		return true
	}
}

// joinsText tells whether a part of an expression joins a text to others.
func joinsText(p *jsonata.Part) bool {
	if p.Kind == jsonata.PartLiteral {
		text, isText := p.Value.(string)
		return isText && text != ""
	}
	return p.Kind == jsonata.PartBinary && p.Text == "&" && len(p.Filters) == 0 &&
		slices.ContainsFunc(p.Parts, func(part jsonata.Part) bool { return joinsText(&part) })
}

// part is a member or an item of a shape.
type part struct {
	shape  *catalog.Shape // nil if there is none
	needed bool           // null will not do
}

// partOf is the part with a name; all items, and all values of a map, are alike.
func (a *API) partOf(s *catalog.Shape, name string) part {
	switch s.Type {
	case catalog.Structure, catalog.Union:
		if m := a.spelling.member(s, name); m != nil {
			return part{m.Shape, isNeeded(s, m)}
		}
	case catalog.List, catalog.Map:
		return part{shape: s.Element.Shape, needed: true}
	default:
	}
	return part{}
}

// isLong tells whether a text is never empty.
func isLong(s *catalog.Shape) bool {
	least, err := s.Min.Int64()
	return s.Type == catalog.String && err == nil && least > 0
}

// isNeeded tells whether a member of a shape has to be there where it is written: the model requires
// it, or the shape is a union. A token is filled in.
func isNeeded(s *catalog.Shape, m *catalog.Member) bool { return m.Required && !m.Token || isUnion(s) }
