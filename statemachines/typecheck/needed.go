package typecheck

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// NeededArgument says whether a call needs a value at a path of its arguments, such as
// "Item/at/S": the model requires the member, or a union, list or map has to have it there.
// Step Functions leaves out a null elsewhere. isText tells that the value is text.
func (a *API) NeededArgument(path string) (needed, isText bool) {
	if a.Input == nil || a.spelling == nil {
		return false, false
	}
	at := a.Input
	open := false
	for name := range strings.SplitSeq(path, "/") {
		if open {
			return false, false
		}
		switch at.Type {
		case catalog.Structure, catalog.Union:
			m := a.spelling.member(at, name)
			if m == nil {
				return false, false
			}
			open = slices.Contains(a.spelling.open, name)
			needed, at = m.Required && !m.Token || isUnion(at), m.Shape
		case catalog.List, catalog.Map:
			needed, at = true, at.Element.Shape
		default:
			return false, false
		}
	}
	return needed, at.Type == catalog.String
}

// isUnion tells whether a structure has to have one of its members. The model of DynamoDB does
// not say so of its values.
func isUnion(s *catalog.Shape) bool { return s.Type == catalog.Union || s.Name == "AttributeValue" }

// EmptyArgument is the path of an argument that a call needs and that is null, or an empty
// text where the model requires the member; empty for none. Services refuse such a call.
func (a *API) EmptyArgument(arguments any) string {
	object, ok := arguments.(map[string]any)
	if a.Input == nil || a.spelling == nil || !ok {
		return ""
	}
	return a.emptyIn(object, a.Input)
}

func (a *API) emptyIn(value any, s *catalog.Shape) string {
	below := func(name string, value any, shape *catalog.Shape, needed, required bool) string {
		if value == nil && needed || value == "" && required && shape.Type == catalog.String {
			return name
		}
		if path := a.emptyIn(value, shape); path != "" && !slices.Contains(a.spelling.open, name) {
			return name + "." + path
		}
		return ""
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			shape, needed, required := s, false, false
			switch s.Type {
			case catalog.Structure, catalog.Union:
				m := a.spelling.member(s, name)
				if m == nil {
					continue
				}
				required = m.Required && !m.Token
				shape, needed = m.Shape, required || isUnion(s)
			case catalog.Map:
				shape, needed = s.Element.Shape, true
			default:
				return ""
			}
			if path := below(name, value[name], shape, needed, required); path != "" {
				return path
			}
		}
	case []any:
		if s.Type != catalog.List {
			return ""
		}
		for _, item := range value {
			if path := below("[]", item, s.Element.Shape, true, false); path != "" {
				return path
			}
		}
	}
	return ""
}
