package jsonata

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/recolabs/gnata"
)

// memoryLimit is how many bytes the text of an expression, and its result, may
// take on AWS. A number counts as eight, a character as one.
const memoryLimit = 6_990_256

// depthLimit is how deep the evaluations of an expression may nest on AWS: a sum
// of 100 terms is evaluated, one of 101 is not.
const depthLimit = 100

// Expression is a compiled expression. It is safe for concurrent use.
type Expression struct {
	text       string
	engine     *gnata.Expression // nil if the depth limit forbids evaluation
	references []Reference
	variables  []string // names to bind if the environment has them
	provided   []string // functions to bind that are ours
	plain      bool
	transforms bool
	regex      bool
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
// [*SyntaxError].
//
// What AWS refuses only when it evaluates is no error here: a call of $eval is
// one of a variable that is not defined, and an expression that nests too deep
// fails in [Expression.Eval].
func Compile(text string) (*Expression, error) {
	if len(text) > memoryLimit {
		return nil, &SyntaxError{
			Code:    "S0201",
			Message: fmt.Sprintf("the expression has %d bytes, Step Functions takes %d", len(text), memoryLimit),
		}
	}
	p, whole, err := parse(text)
	if err != nil {
		return nil, err
	}
	e := &Expression{
		text: strings.TrimSpace(text), references: p.references(),
		plain: p.plain, transforms: p.transforms, regex: len(p.regexp) > 0,
	}
	for word := range p.words {
		if isOurs(word) {
			e.provided = append(e.provided, word)
		}
		e.variables = append(e.variables, word)
	}
	if whole.height > depthLimit {
		return e, nil
	}
	if e.engine, err = compileEngine(p.engineText()); err != nil {
		return nil, err
	}
	return e, nil
}

// compileEngine makes a panic of the engine an error, too.
func compileEngine(text string) (engine *gnata.Expression, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &SyntaxError{Code: "S0201", Message: fmt.Sprintf("the engine failed: %v", r)}
		}
	}()
	if engine, err = gnata.Compile(text); err != nil {
		return nil, engineSyntaxError(err)
	}
	return engine, nil
}

// String is the text of the expression without the spaces around it.
func (e *Expression) String() string { return e.text }

// Variables are the places at which the expression reads a variable that it
// does not bind itself, in the order of the text, without the functions of the
// language. $eval is among them, as Step Functions has no such function.
func (e *Expression) Variables() []Reference { return e.references }

var enginePattern = regexp.MustCompile(`^JSONata error (S\d{4})(?: at token ".*?")?: (.*)$`)

// engineSyntaxError is for the rules that only the engine checks, such as those
// for signatures and for the steps of a path. It does not say where.
func engineSyntaxError(err error) error {
	m := enginePattern.FindStringSubmatch(err.Error())
	if m == nil {
		return &SyntaxError{Code: "S0201", Message: err.Error()}
	}
	return &SyntaxError{Code: m[1], Message: m[2]}
}
