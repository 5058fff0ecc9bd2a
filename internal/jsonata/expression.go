package jsonata

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// memoryLimit is how many bytes the text of an expression, and its result, may
// take on AWS. A number counts as eight, a character as one.
const memoryLimit = 6_990_256

// Expression is a compiled expression. It is safe for concurrent use.
type Expression struct {
	text       string
	root       *node
	references []Reference
	states     statesUse
}

// statesUse says which parts of $states an expression may read.
type statesUse uint8

const (
	readsNone  statesUse = iota
	readsData            // members of statesData
	readsWhole           // others, too
)

// statesData are the members of $states that are data of a state, as expressions write them.
var statesData = []string{"$states.input", "$states.result", "$states.errorOutput"}

// statesUseOf reads the text alone: it may find more than there is, never less.
func statesUseOf(text string) statesUse {
	places := strings.Count(text, "states")
	if places == 0 {
		return readsNone
	}
	for _, member := range statesData {
		places -= strings.Count(text, member)
	}
	if places > 0 || strings.Contains(text, "%") { // which may go back from a member
		return readsWhole
	}
	return readsData
}

// ReadsStates tells whether the expression may read $states, and whether more of it than the input, the result
// and the error output.
func (e *Expression) ReadsStates() (data, whole bool) {
	return e.states != readsNone, e.states == readsWhole
}

// Reference is a place at which an expression reads a variable.
type Reference struct {
	// Name is the name without the dollar sign.
	Name string
	// Path are the members read of it, as far as they are plain names:
	// "result" and "Items" for $states.result.Items[0].
	Path []string
	// Offset is the byte of the text at which the variable stands.
	Offset int
}

// Compile compiles an expression: the text between {% and %}. Its error is a
// [*diag.SyntaxError].
//
// What AWS refuses only when it evaluates is not an error here: a call of $eval is
// one of a variable that is not defined, and an expression that nests too deep
// fails in [Expression.Eval].
func Compile(text string) (*Expression, error) {
	if len(text) > memoryLimit {
		return nil, &diag.SyntaxError{
			Text:    text,
			Code:    "S0201",
			Message: fmt.Sprintf("the expression has %d bytes, Step Functions takes %d", len(text), memoryLimit),
		}
	}
	p, tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	root, err := link(text, tree)
	if err != nil {
		return nil, err
	}
	return &Expression{text: strings.TrimSpace(text), root: root, references: p.references(), states: statesUseOf(text)}, nil
}

// String is the text of the expression without the spaces around it.
func (e *Expression) String() string { return e.text }

// Variables are the places at which the expression reads a variable that it
// does not bind itself, in the order of the text, without the functions of the
// language. $eval is among them, as Step Functions has no such function.
func (e *Expression) Variables() []Reference { return e.references }
