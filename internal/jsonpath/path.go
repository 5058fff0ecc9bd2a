// Package jsonpath is the JSONPath of the Amazon States Language as Step
// Functions runs it: paths into the document ("$.detail-type", "$.a.[0].b"),
// the context object ("$$.Execution.Id") and variables ("$items[0]"), with
// wildcards, slices, unions, descendants and filters, and the reference paths
// that values are written under.
//
// The dialect is that of the Jayway library: a definite path names one value
// or fails, any other path gives a list, which may be empty. Where Step
// Functions is known to differ, it is followed: a list is empty where a member before
// it is missing, it has no path functions, an
// index below zero finds nothing, "[(@.length-1)]" is the last element, and a
// filter never selects a scalar ("@ ... only matches objects", says its page on
// paths). Descendants and members come in the order of the names, as the order
// of an object's members is not known.
//
// A document is what encoding/json decodes into an any with UseNumber.
package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a parsed path. It is immutable.
type Path struct {
	query
	text     string
	context  bool
	variable string
	function string
	warning  string
}

// query is what follows the root of a path.
type query struct {
	steps    []step
	definite bool
}

type stepKind uint8

const (
	member   stepKind = iota // .name or ['name']
	element                  // [index]
	fromEnd                  // [(@.length-index)]
	members                  // ['a','b']
	elements                 // [0,1]
	slice                    // [0:10]
	wildcard                 // .* or [*]
	filter                   // [?(...)]
)

// step goes from a value to its members or elements.
type step struct {
	kind    stepKind
	text    string // as written
	deep    bool   // after "..": from the value and all that it contains
	merged  bool   // members at the end of a path give one object
	name    string
	index   int
	names   []string
	indices []int
	bounds  bounds
	filter  condition
}

// String returns the path as written.
func (p *Path) String() string { return p.text }

// Context tells whether the path starts with "$$": it reads the context object
// and not the document.
func (p *Path) Context() bool { return p.context }

// Variable returns the name of the variable that the path starts with, without
// its "$", or "" if it reads the document or the context object.
func (p *Path) Variable() string { return p.variable }

// Function returns a name in the path that has parentheses after it, such as
// "length()", or "". Other libraries call a function there. Step Functions looks
// for a member of that name, which is hardly ever there.
func (p *Path) Function() string { return p.function }

// Warning says, if that is likely not meant, how Step Functions reads a part of the path, or "".
func (p *Path) Warning() string {
	if p.function != "" {
		return fmt.Sprintf("Step Functions has no path functions: it looks for a member %q, and the state fails without one; "+
			"use an intrinsic function such as States.ArrayLength or States.MathAdd", p.function)
	}
	return p.warning
}

// Root tells whether the path has no steps: it is the whole document, context
// object or variable.
func (p *Path) Root() bool { return len(p.steps) == 0 }

// Definite tells whether the path names one value. Get of any other path gives
// a list.
func (p *Path) Definite() bool { return p.definite }

// Reference tells whether the path is a reference path of the specification:
// it has no steps but names and indices from zero up.
func (p *Path) Reference() bool {
	for i := range p.steps {
		s := &p.steps[i]
		if s.deep || s.kind != member && (s.kind != element || s.index < 0) {
			return false
		}
	}
	return true
}

func (q *query) finish() {
	q.definite = true
	for i := range q.steps {
		s := &q.steps[i]
		s.merged = s.kind == members && i == len(q.steps)-1
		if s.deep || s.kind > fromEnd && !s.merged {
			q.definite = false
		}
	}
}

// normal renders the first n steps in bracket notation, as AWS's messages have
// them.
func (q *query) normal(n int) string { return "$" + fragments(q.steps[:n]) }

func fragments(steps []step) string {
	var b strings.Builder
	for i := range steps {
		s := &steps[i]
		switch {
		case s.deep:
			b.WriteString(s.text)
		case s.kind == member:
			b.WriteString("['" + s.name + "']")
		case s.kind == members:
			b.WriteString("['" + strings.Join(s.names, "','") + "']")
		case s.kind == element:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		default:
			b.WriteString(s.text)
		}
	}
	return b.String()
}
