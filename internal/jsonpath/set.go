package jsonpath

import (
	"maps"
	"slices"
	"strconv"
)

// Set returns root with the value that the path, a reference path, names
// replaced by value. Objects that are missing on the way are created, as the
// specification has it for ResultPath; a value on the way that is neither
// object nor array, or an array that is too short, is a *ConflictError. root
// itself is not changed: the result shares with it what lies off the path.
func (p *Path) Set(root, value any) (any, error) { return p.set(root, true, 0, value) }

func (p *Path) set(root any, present bool, depth int, value any) (any, error) {
	if depth == len(p.steps) {
		return value, nil
	}
	s := &p.steps[depth]
	named, indexed := s.kind == member && !s.deep, s.kind == element && !s.deep
	switch container := root.(type) {
	case map[string]any:
		if !named {
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
		if !indexed || s.index < 0 || s.index >= len(container) {
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
		if present || !named {
			break
		}
		changed, err := p.set(nil, false, depth+1, value)
		if err != nil {
			return nil, err
		}
		return map[string]any{s.name: changed}, nil
	}
	conflict := &ConflictError{Path: p.text, Step: s.text, At: p.normal(depth + 1)}
	switch s.kind {
	case member:
		conflict.Step = s.name
	case element:
		conflict.Step = strconv.Itoa(s.index)
	default: // as written
	}
	return nil, conflict
}
