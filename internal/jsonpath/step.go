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

	some *step // of StepSome
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
		}
	}
	return out
}
