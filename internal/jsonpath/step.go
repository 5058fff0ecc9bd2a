package jsonpath

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
		}
	}
	return out
}
