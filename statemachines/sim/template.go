package sim

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// applied applies Parameters or ResultSelector, which may be nil.
func (s *strand) applied(t *asl.Template, from *Payload) (*Payload, *failure) {
	if t == nil {
		return from, nil
	}
	value, f := s.filled(t, "", from)
	if f != nil {
		return nil, f
	}
	return newPayload(value), nil
}

// filled evaluates a template; field is the name of the member that holds it.
func (s *strand) filled(t *asl.Template, field string, from *Payload) (any, *failure) {
	switch t.Kind {
	case asl.TemplatePath:
		if from.Value() == nil && !t.Path.Context() {
			return nil, s.runtimeFailure("Unable to apply Path transformation to null or empty input.")
		}
		return s.field(field, t.Path, from)
	case asl.TemplateObject:
		object := make(map[string]any, len(t.Object))
		for _, m := range t.Object {
			value, f := s.filled(m.Value, m.Field, from)
			if f != nil {
				return nil, f
			}
			object[m.Name] = value
		}
		return object, nil
	case asl.TemplateArray:
		array := make([]any, len(t.Array))
		for i, item := range t.Array {
			value, f := s.filled(item, field, from)
			if f != nil {
				return nil, f
			}
			array[i] = value
		}
		return array, nil
	default:
		return t.Literal, nil
	}
}
