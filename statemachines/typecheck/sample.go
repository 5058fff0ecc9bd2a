package typecheck

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Sample makes up what a service sends or takes, in the spelling of its model: the members
// that the model requires, and those that are wanted. Equal shapes get equal values.
type Sample struct {
	// Wants tells which other members are wanted, by their names in Step Functions. A
	// wanted list has an item. Nil wants none.
	Wants func(member string) bool
	// Has are members that are wanted where they stand.
	Has Members
	// Empty are lists of the outermost structure that are there, and have no items.
	Empty []string
}

// Members are members of a shape in the model's spelling, each with those below it. An index of a list
// is no member.
type Members map[string]Members

// Add adds the member at a path of names.
func (m Members) Add(path ...string) {
	for _, name := range path {
		if m[name] == nil {
			m[name] = Members{}
		}
		m = m[name]
	}
}

// Clone returns a copy.
func (m Members) Clone() Members {
	all := make(Members, len(m))
	for name, inner := range m {
		all[name] = inner.Clone()
	}
	return all
}

// deepest bounds the depth of a sample: shapes can contain themselves.
const deepest = 8

// Of returns a value of the shape; nil stands for one without members.
func (o Sample) Of(s *catalog.Shape) any {
	if s == nil {
		return map[string]any{}
	}
	if s.Type == catalog.Structure {
		return o.structure(s, o.addEmpty(map[string]any{}, s), o.Has, deepest)
	}
	return o.value(s, s.Name, o.Has, deepest)
}

// Complete adds to a value of the shape what it lacks.
func (o Sample) Complete(value any, s *catalog.Shape) any {
	if object, is := value.(map[string]any); is && s != nil && s.Type == catalog.Structure {
		o.addEmpty(object, s)
	}
	return o.complete(value, s, o.Has, deepest)
}

// addEmpty adds the empty lists that the structure lacks.
func (o Sample) addEmpty(to map[string]any, s *catalog.Shape) map[string]any {
	for _, name := range o.Empty {
		if _, there := to[name]; !there && s.Member(name) != nil {
			to[name] = []any{}
		}
	}
	return to
}

// Arguments are arguments of an operation that have what its model requires, in the
// spelling of Step Functions. They name things that are not there.
func Arguments(o *catalog.Operation) any {
	value := Sample{}.Of(o.Input)
	if o.Input == nil {
		return value
	}
	return IntegrationSpelling(value, o.Input)
}

func (o Sample) wants(member string) bool {
	return o.Wants != nil && o.Wants(javasdk.MemberName(member))
}

// value returns a value of the shape that stands under a name, with some members. has is nil if the value itself
// is not among them.
func (o Sample) value(s *catalog.Shape, name string, has Members, depth int) any {
	switch s.Type {
	case catalog.Structure:
		return o.structure(s, map[string]any{}, has, depth)
	case catalog.Union:
		if len(s.Members) == 0 || depth == 0 {
			return map[string]any{}
		}
		m := s.Members[0]
		return map[string]any{m.Name: o.value(m.Shape, m.Name, has[m.Name], depth-1)}
	case catalog.List:
		list := []any{}
		if depth == 0 {
			return list
		}
		items := lowerBound(s)
		if o.wants(name) || has != nil {
			items = max(items, 1)
		}
		for range items {
			list = append(list, o.value(s.Element.Shape, name, has, depth-1))
		}
		return list
	case catalog.Map, catalog.Document:
		return map[string]any{}
	case catalog.Boolean:
		return false
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return lowerBound(s)
	case catalog.Timestamp:
		return "2026-01-01T00:00:00Z"
	case catalog.Blob:
		return strings.Repeat("AAAA", (lowerBound(s)+2)/3) //nolint:mnd // base64
	default:
		return textFor(s, name)
	}
}

// structure adds the members that a structure lacks.
func (o Sample) structure(s *catalog.Shape, to map[string]any, has Members, depth int) map[string]any {
	for i := range s.Members {
		m := &s.Members[i]
		if _, there := to[m.Name]; there || depth == 0 {
			continue
		}
		if m.Required || o.wants(m.Name) || has[m.Name] != nil {
			to[m.Name] = o.value(m.Shape, m.Name, has[m.Name], depth-1)
		}
	}
	return to
}

func (o Sample) complete(value any, s *catalog.Shape, has Members, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		switch {
		case s == nil:
		case s.Type == catalog.Structure:
			for name, item := range v {
				if m := s.Member(name); m != nil {
					v[name] = o.complete(item, m.Shape, has[name], depth-1)
				}
			}
			return o.structure(s, v, has, max(depth, 0))
		case s.Type == catalog.Map:
			for name, item := range v {
				v[name] = o.complete(item, s.Element.Shape, nil, depth-1)
			}
		}
	case []any:
		if s != nil && s.Type == catalog.List {
			for i, item := range v {
				v[i] = o.complete(item, s.Element.Shape, has, depth-1)
			}
		}
	}
	return value
}

// lowerBound is that of a shape, 0 without one.
func lowerBound(s *catalog.Shape) int {
	n, ok := bound(s.Min)
	if !ok || n < 0 {
		return 0
	}
	return int(n)
}

// textFor is a text of the shape, nil for any, that shows a name as far as it fits.
func textFor(s *catalog.Shape, name string) string {
	if s != nil && len(s.Enum) > 0 {
		return s.Enum[0]
	}
	text := name
	if word, tail, _ := strings.Cut(strings.ToLower(name), "-"); strings.HasSuffix(word, "arn") {
		text = "arn:aws:simulated:us-east-1:123456789012:" + word
		if tail != "" {
			text += "-" + tail
		}
	}
	if s == nil {
		return text
	}
	if least := lowerBound(s); len(text) < least {
		text += strings.Repeat("0", least-len(text))
	}
	if most, ok := bound(s.Max); ok && float64(len(text)) > most {
		text = text[:int(most)]
	}
	return text
}
