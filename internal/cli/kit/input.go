package kit

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// InputOf says what an input of the operation needs, or what it may have.
func InputOf(op *catalog.Operation) string {
	sample := SampleInput(op)
	if op.Input == nil || len(op.Input.Members) == 0 || sample != "{}" {
		return sample
	}
	names := make([]string, len(op.Input.Members))
	for i, m := range op.Input.Members {
		names[i] = m.Name
	}
	return "any of " + strings.Join(names, ", ")
}

// SampleInput shows the members that an input needs.
func SampleInput(op *catalog.Operation) string {
	if op.Input == nil {
		return "{}"
	}
	return SampleValue(op.Input)
}

// SampleValue is a JSON value of a shape, with dots for what the user knows.
func SampleValue(s *catalog.Shape) string {
	switch s.Type {
	case catalog.Structure:
		var members []string
		for _, m := range s.Members {
			if m.Required || m.In == catalog.InPath {
				members = append(members, fmt.Sprintf("%q: %s", m.Name, SampleValue(m.Shape)))
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	case catalog.List:
		if element := s.Element.Shape; element.Type == catalog.String {
			return "[" + SampleValue(element) + "]"
		}
		return "[]"
	case catalog.Map, catalog.Union:
		return "{}"
	case catalog.Boolean:
		return "true"
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return "1"
	default:
		return `"..."`
	}
}
