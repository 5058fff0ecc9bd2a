package asl

import (
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// parser collects the problems of one definition. An error is what AWS is known to
// refuse: a refusal is recorded, measured or specified, and TestWhatAWSRefuses
// says where. All else is a warning, and the machine runs.
type parser struct {
	text     []byte
	problems diag.Problems
	machine  *StateMachine
	// state is the one being read, and language its query language.
	state    *State
	language QueryLanguage
	// extra is the member that $states has besides input and context.
	extra string
	// references are the values that name a state, checked once all states of
	// the flow are known.
	references []*jsontree.Node
	// names holds every state of the machine read so far.
	names map[string]bool
	// labels holds every label of a Map read so far.
	labels map[string]bool
	// unreachable are the states that no edge leads to. AWS says nothing of them
	// if the machine has no end.
	unreachable diag.Problems
	endless     bool
	scope       *scope
	// hollow are the placeholders that stand for what the rest cannot be read without.
	hollow diag.Problems
	// reading is the flow that is being read.
	reading *Flow
	// newer are integrations that are taken though this package does not know them.
	newer []string
	// readFlow reads StartAt and States, of the machine or inside of a state.
	readFlow func(o *object, f *Flow)
	// deployed is set for a definition that AWS has: it has no placeholders.
	deployed bool
	// alone is set for one state, whose targets are not there.
	alone bool
	// counted is the byte up to which line and column are counted, from 0.
	counted, line, column int
}

func (p *parser) add(problem diag.Problem) { p.problems = append(p.problems, problem) }

// warn adds a problem that does not make the definition invalid.
func (p *parser) warn(problem diag.Problem) {
	problem.Severity = diag.Warning
	p.add(problem)
}

// within returns a problem inside of a string value, at the byte offset of
// its decoded text.
func (p *parser) within(n *jsontree.Node, offset int, format string, args ...any) diag.Problem {
	if len(p.problems) > diag.MaxShown { // not worth finding the place
		return n.Problem(format, args...)
	}
	return diag.At(p.text, n.CharOffset(offset), n.Pointer(), fmt.Sprintf(format, args...))
}

// arguments is the name of the field that says what a resource is called with.
func (p *parser) arguments() string {
	if p.language == JSONata {
		return "Arguments"
	}
	return "Parameters"
}
