package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// spelling is how an integration names the members of a service's structures, and
// what it makes of their values. It serves one goroutine.
type spelling struct {
	// sdk is set for an AWS SDK integration.
	sdk bool
	// open are arguments that take any JSON value, though the model has text.
	open []string
	// parsed are members of results that are the JSON value of the model's text.
	parsed []string
	// names are the members of the structures that were asked for, by the names
	// that they have in Step Functions.
	names map[*catalog.Shape]map[string]*catalog.Member
	// values are those of the shapes that were asked for, and optional those of
	// members and elements, which may be missing.
	values, optional map[*catalog.Shape]Value
}

func newSpelling(sdk bool, open, parsed []string) *spelling {
	return &spelling{
		sdk: sdk, open: open, parsed: parsed, names: map[*catalog.Shape]map[string]*catalog.Member{},
		values: map[*catalog.Shape]Value{}, optional: map[*catalog.Shape]Value{},
	}
}

// member finds a member by the name that it has in Step Functions. An
// integration that AWS made itself also takes the spelling of the API.
func (sp *spelling) member(s *catalog.Shape, name string) *catalog.Member {
	names := sp.names[s]
	if names == nil {
		names = map[string]*catalog.Member{}
		for i := range s.Members {
			m := &s.Members[i]
			names[javasdk.MemberName(m.Name)] = m
			if !sp.sdk {
				names[javasdk.Capitalize(m.Name)] = m
			}
		}
		if s.Name == "AttributeValue" {
			for other, known := range attributeTypes {
				names[other] = s.Member(known)
			}
		}
		sp.names[s] = names
	}
	return names[name]
}

// name is what Step Functions calls a member.
func (sp *spelling) name(m *catalog.Member) string {
	if sp.sdk {
		return javasdk.MemberName(m.Name)
	}
	return javasdk.Capitalize(m.Name)
}

// memberValue is the value of a member in a result. Services leave members out,
// also those that their models require.
func (sp *spelling) memberValue(name string, m *catalog.Member) Value {
	if slices.Contains(sp.parsed, name) {
		return Value{}
	}
	return sp.optionalValue(m.Shape)
}

// optionalValue is the value of a shape, and missing.
func (sp *spelling) optionalValue(s *catalog.Shape) Value {
	v, known := sp.optional[s]
	if !known {
		v = join(sp.value(s), absent)
		sp.optional[s] = v
	}
	return v
}

// value is what is known of a value in a result by its shape.
func (sp *spelling) value(s *catalog.Shape) Value {
	if known, ok := sp.values[s]; ok {
		return known
	}
	out := set{kinds: null, truth: eitherTruth}
	switch s.Type {
	case catalog.Structure, catalog.Union, catalog.Map:
		out.kinds |= objects
		out.object = &record{shape: s, spelling: sp, weight: weight{size: 1}}
	case catalog.List:
		out.kinds |= arrays
		out.array = &list{shape: s.Element.Shape, spelling: sp, weight: weight{size: 1}}
	case catalog.String:
		out.kinds |= texts
		if len(s.Enum) > 0 {
			out.text = &words{enum: s}
		}
	case catalog.Boolean:
		out.kinds |= booleans
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		out.kinds |= numbers
	case catalog.Timestamp:
		out.kinds |= texts
		if !sp.sdk {
			out.kinds |= numbers
		}
	case catalog.Blob:
		if out.kinds = every &^ missing; sp.sdk { // other integrations may read JSON in it
			out.kinds = null | texts
		}
	default: // a document may be any JSON
		out.kinds = every &^ missing
	}
	v := pack(out)
	sp.values[s] = v
	return v
}
