package jsonpath

import (
	"maps"
	"slices"
)

// maxVisits bounds the work of one Get. A document of 256 KiB, the largest
// that Step Functions takes, has at most some 130,000 values.
const maxVisits = 1 << 22

// Get returns what the path selects in root: the document, the context object
// or the variable's value. A definite path gives one value or a
// *NotFoundError. Any other path gives a list, a []any which may be empty, in
// document order, the members of an object by name; its error is a
// *LimitError. Values are shared with root, not copied.
func (p *Path) Get(root any) (any, error) {
	if p.definite {
		value, failed, reason := p.value(root)
		if failed < 0 {
			return value, nil
		}
		return nil, &NotFoundError{
			Path: p.text, At: p.normal(failed + 1), Last: failed == len(p.steps)-1, Reason: reason,
			query: &p.query, step: failed, value: value,
		}
	}
	e := &evaluation{root: root}
	values := e.list(p.steps, root)
	if e.visits > maxVisits {
		return nil, &LimitError{Path: p.text, Limit: maxVisits}
	}
	return values, nil
}

// value follows a definite query. If a step fails, it returns its index, else
// -1, and the value that the step was applied to.
func (q *query) value(value any) (_ any, failed int, _ Reason) {
	for i := range q.steps {
		s := &q.steps[i]
		named := s.kind == member || s.kind == members
		reason := NotArray
		if named {
			reason = NotObject
		}
		switch container := value.(type) {
		case map[string]any:
			if !named {
				break
			}
			if s.kind == members {
				value = pick(s.names, container)
				continue
			}
			child, ok := container[s.name]
			if ok {
				value = child
				continue
			}
			reason = NoMember
		case []any:
			if named {
				break
			}
			if index := s.position(len(container)); index >= 0 && index < len(container) {
				value = container[index]
				continue
			}
			reason = NoElement
		}
		return value, i, reason
	}
	return value, -1, 0
}

// position is the index that an element or fromEnd step means.
func (s *step) position(length int) int {
	if s.kind == fromEnd {
		return length - s.index
	}
	return s.index
}

// pick is the object of those of the names that the container has.
func pick(names []string, container map[string]any) map[string]any {
	result := make(map[string]any, len(names))
	for _, name := range names {
		if value, ok := container[name]; ok {
			result[name] = value
		}
	}
	return result
}

// evaluation is one Get of a path that is not definite.
type evaluation struct {
	root   any
	visits int
}

// visit counts work, and tells whether there may be more.
func (e *evaluation) visit(values int) bool {
	e.visits += values
	return e.visits <= maxVisits
}

// list returns what the steps select from a value.
func (e *evaluation) list(steps []step, from any) []any {
	nodes := []any{from}
	for i := range steps {
		next := []any{}
		for _, node := range nodes {
			if steps[i].deep {
				next = e.scan(&steps[i], node, next)
			} else {
				next = e.apply(&steps[i], node, next)
			}
		}
		nodes = next
	}
	return nodes
}

// scan appends what the step selects from the value and from all that it
// contains, from the outside in.
func (e *evaluation) scan(s *step, node any, selected []any) []any {
	if !e.visit(1) {
		return selected
	}
	switch container := node.(type) {
	case map[string]any:
		switch {
		case s.kind == filter:
			// Selects the object itself; a member that fits has its own turn.
			selected = e.keep(s.filter, node, selected)
		case !s.merged || e.visit(len(s.names)) && hasAll(container, s.names):
			selected = e.apply(s, node, selected)
		}
		for _, name := range slices.Sorted(maps.Keys(container)) {
			selected = e.scan(s, container[name], selected)
		}
	case []any:
		if s.kind == filter {
			selected = e.keep(s.filter, node, selected)
		} else {
			selected = e.apply(s, node, selected)
		}
		for _, child := range container {
			selected = e.scan(s, child, selected)
		}
	}
	return selected
}

func hasAll(container map[string]any, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, ok := container[name]
		return !ok
	})
}

// apply appends what the step selects from one value: nothing if it does not
// fit the value.
func (e *evaluation) apply(s *step, node any, selected []any) []any {
	if !e.visit(1 + len(s.names) + len(s.indices)) {
		return selected
	}
	switch container := node.(type) {
	case map[string]any:
		return e.applyObject(s, container, selected)
	case []any:
		return e.applyArray(s, container, selected)
	default:
		return selected
	}
}

func (e *evaluation) applyObject(s *step, container map[string]any, selected []any) []any {
	switch s.kind {
	case member:
		if value, ok := container[s.name]; ok {
			selected = append(selected, value)
		}
	case members:
		if s.merged {
			return append(selected, pick(s.names, container))
		}
		for _, name := range s.names {
			if value, ok := container[name]; ok {
				selected = append(selected, value)
			}
		}
	case wildcard:
		if e.visit(len(container)) {
			for _, name := range slices.Sorted(maps.Keys(container)) {
				selected = append(selected, container[name])
			}
		}
	case filter:
		return e.keep(s.filter, container, selected)
	default: // an index or slice does not fit an object
	}
	return selected
}

func (e *evaluation) applyArray(s *step, container, selected []any) []any {
	switch s.kind {
	case element, fromEnd:
		if index := s.position(len(container)); index >= 0 && index < len(container) {
			selected = append(selected, container[index])
		}
	case elements:
		for _, index := range s.indices {
			if index >= 0 && index < len(container) {
				selected = append(selected, container[index])
			}
		}
	case slice:
		for index := range s.bounds.indices(len(container)) {
			if !e.visit(1) {
				break
			}
			selected = append(selected, container[index])
		}
	case wildcard:
		if e.visit(len(container)) {
			selected = append(selected, container...)
		}
	case filter:
		for _, value := range container {
			if !e.visit(1) {
				break
			}
			selected = e.keep(s.filter, value, selected)
		}
	default: // a name does not fit an array
	}
	return selected
}

// keep appends the value if the condition holds for it.
func (e *evaluation) keep(c condition, value any, selected []any) []any {
	switch value.(type) {
	case map[string]any, []any:
		if c.holds(e, value) {
			return append(selected, value)
		}
	}
	return selected
}
