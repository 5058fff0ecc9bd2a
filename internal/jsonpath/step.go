package jsonpath

import "slices"

// StepKind says what a Step selects.
type StepKind uint8

// The kinds of steps.
const (
	StepName    StepKind = iota // the member Names[0]
	StepIndex                   // the element Index
	StepFromEnd                 // the element Index from the end, counted from 1
	StepPick                    // one object of the members Names
	StepNames                   // the values of the members Names
	StepSome                    // elements of an array: a slice or a union
	StepAll                     // all members or elements
	StepFilter                  // those that a filter keeps
)

// Step is a step of a path, for those who follow it through types and not through
// a document.
type Step struct {
	Kind  StepKind
	Deep  bool // after "..": from the value and all that it contains
	Names []string
	Index int
	Text  string // as written

	some   *step     // of StepSome
	filter condition // of StepFilter
}

// Keeps tells whether a StepFilter keeps a value, as far as the value alone says: see Reads.
func (s Step) Keeps(value any) bool {
	return s.filter != nil && s.filter.holds(&evaluation{root: value}, value)
}

// Reads are the members, by their paths, that a StepFilter reads of each value that it looks at; not ok for another
// step, and for a filter that reads more than members of the value.
func (s Step) Reads() (paths [][]string, ok bool) {
	if s.filter == nil {
		return nil, false
	}
	return readsOf(s.filter)
}

func readsOf(c condition) (paths [][]string, ok bool) {
	var parts []condition
	switch c := c.(type) {
	case all:
		parts = c
	case either:
		parts = c
	case not:
		parts = []condition{c.condition}
	case exists:
		return c.path.members()
	case *comparison:
		for _, side := range []operand{c.left, c.right} {
			if path, isPath := side.(*filterPath); isPath {
				read, ok := path.members()
				if !ok {
					return nil, false
				}
				paths = append(paths, read...)
			}
		}
		return paths, true
	}
	for _, part := range parts {
		read, ok := readsOf(part)
		if !ok {
			return nil, false
		}
		paths = append(paths, read...)
	}
	return paths, true
}

// members is the path as one of members of the value that the filter looks at; not ok if it is another.
func (o *filterPath) members() (paths [][]string, ok bool) {
	var names []string
	for i := range o.steps {
		if s := &o.steps[i]; s.kind != member || s.deep {
			return nil, false
		}
		names = append(names, o.steps[i].name)
	}
	return [][]string{names}, !o.root && len(names) > 0
}

// Elements are the indices of the elements that a StepSome selects of an array of a length; none of other steps.
func (s Step) Elements(length int) []int {
	if s.some == nil {
		return nil
	}
	if s.some.kind == slice {
		return slices.Collect(s.some.bounds.indices(length))
	}
	return slices.DeleteFunc(slices.Clone(s.some.indices), func(i int) bool { return i < 0 || i >= length })
}

// Shortens tells whether the path ends with a slice that leaves out an element of any array that has one.
func (p *Path) Shortens() bool {
	if len(p.steps) == 0 {
		return false
	}
	s := p.steps[len(p.steps)-1]
	return s.kind == slice && !s.deep && (s.bounds.hasFrom && s.bounds.from > 0 || s.bounds.hasTo && s.bounds.to < 0)
}

var stepKinds = [...]StepKind{
	member: StepName, element: StepIndex, fromEnd: StepFromEnd, members: StepNames, elements: StepSome, slice: StepSome,
	wildcard: StepAll, filter: StepFilter,
}

// Steps returns the steps of the path.
func (p *Path) Steps() []Step {
	out := make([]Step, len(p.steps))
	for i := range p.steps {
		s := &p.steps[i]
		out[i] = Step{Kind: stepKinds[s.kind], Deep: s.deep, Names: s.names, Index: s.index, Text: s.text}
		switch {
		case s.kind == member:
			out[i].Names = []string{s.name}
		case s.merged:
			out[i].Kind = StepPick
		case out[i].Kind == StepSome:
			out[i].some = s
		case out[i].Kind == StepFilter:
			out[i].filter = s.filter
		}
	}
	return out
}
