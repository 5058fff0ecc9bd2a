package jsonpath

import (
	"maps"
	"slices"
)

// Get returns the value that the path names in doc. Its error is a
// *NotFoundError. The value is shared with doc, not copied.
func (p *Path) Get(doc any) (any, error) {
	value := doc
	for i, s := range p.steps {
		reason := NoMember
		switch container := value.(type) {
		case map[string]any:
			if member, ok := container[s.name]; ok && !s.isIndex {
				value = member
				continue
			}
			if s.isIndex {
				reason = NotArray
			}
		case []any:
			if s.isIndex && s.index < len(container) {
				value = container[s.index]
				continue
			}
			reason = NotObject
			if s.isIndex {
				reason = NoElement
			}
		default:
			reason = NotObject
			if s.isIndex {
				reason = NotArray
			}
		}
		return nil, &NotFoundError{Path: p.text, At: p.normal(i + 1), Last: i == len(p.steps)-1, Reason: reason}
	}
	return value, nil
}

// Set returns doc with the value that the path names replaced by value.
// Objects that are missing on the way are created, as the specification has
// it for ResultPath; a value on the way that is neither object nor array, or
// an array that is too short, is a *ConflictError. doc itself is not changed:
// the result shares with it what lies off the path.
func (p *Path) Set(doc, value any) (any, error) { return p.set(doc, true, 0, value) }

func (p *Path) set(doc any, present bool, depth int, value any) (any, error) {
	if depth == len(p.steps) {
		return value, nil
	}
	s := p.steps[depth]
	switch container := doc.(type) {
	case map[string]any:
		if s.isIndex {
			break
		}
		old, ok := container[s.name]
		changed, err := p.set(old, ok, depth+1, value)
		if err != nil {
			return nil, err
		}
		copied := maps.Clone(container)
		if copied == nil {
			copied = map[string]any{}
		}
		copied[s.name] = changed
		return copied, nil
	case []any:
		if !s.isIndex || s.index >= len(container) {
			break
		}
		changed, err := p.set(container[s.index], true, depth+1, value)
		if err != nil {
			return nil, err
		}
		copied := slices.Clone(container)
		copied[s.index] = changed
		return copied, nil
	default:
		if present || s.isIndex {
			break
		}
		changed, err := p.set(nil, false, depth+1, value)
		if err != nil {
			return nil, err
		}
		return map[string]any{s.name: changed}, nil
	}
	return nil, &ConflictError{Path: p.text, Step: s.name, At: p.normal(depth + 1)}
}
