// Package jsonpath is the JSONPath of the Amazon States Language: the
// reference paths of its specification, which name one value of a document
// ("$.a.b[0]", "$['a b']", "$.detail-type", "$.a.[0].b") or of the context
// object ("$$.Execution.Id"), with reading and writing.
//
// A document is what encoding/json decodes into an any.
package jsonpath

import (
	"strconv"
	"strings"
)

// Path is a parsed path. It is immutable.
type Path struct {
	text    string
	context bool
	steps   []step
}

// step goes to a member of an object, or, if it is an index, to an element of
// an array. name holds the index's digits too.
type step struct {
	name    string
	index   int
	isIndex bool
}

// Parse reads a path. Its error is a *SyntaxError.
func Parse(text string) (*Path, error) {
	l := &lexer{text: text}
	t, err := l.first()
	if err != nil {
		return nil, err
	}
	p := &Path{text: text, context: t.kind == contextRoot}
	for {
		if t, err = l.next(); err != nil {
			return nil, err
		}
		if t.kind == end {
			return p, nil
		}
		s, err := parseStep(l, t)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, s)
	}
}

// parseStep reads ".name", "[...]" or ".[...]"; t is its first token.
func parseStep(l *lexer, t token) (step, error) {
	if t.kind == dot {
		next, err := l.next()
		if err != nil {
			return step{}, err
		}
		if next.kind == name {
			return step{name: next.text}, nil
		}
		if next.kind != openBracket {
			return step{}, l.fail(next.offset, "expected a name after \".\"")
		}
		t = next
	}
	if t.kind != openBracket {
		return step{}, l.fail(t.offset, "expected \".\" or \"[\"")
	}
	t, err := l.next()
	if err != nil {
		return step{}, err
	}
	var s step
	switch t.kind {
	case quoted:
		s = step{name: t.text}
	case integer:
		index, _ := strconv.Atoi(t.text) // the lexer has checked its range
		s = step{name: t.text, index: index, isIndex: true}
	default:
		return step{}, l.fail(t.offset, "expected a quoted name or an array index between brackets")
	}
	closing, err := l.next()
	if err != nil {
		return step{}, err
	}
	if closing.kind != closeBracket {
		return step{}, l.fail(closing.offset, "expected \"]\"")
	}
	return s, nil
}

// String returns the path as written.
func (p *Path) String() string { return p.text }

// Context tells whether the path starts with "$$": it reads the context object
// and not the document.
func (p *Path) Context() bool { return p.context }

// Root tells whether the path has no steps: "$" or "$$".
func (p *Path) Root() bool { return len(p.steps) == 0 }

// normal renders the first n steps in bracket notation.
func (p *Path) normal(n int) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, s := range p.steps[:n] {
		if s.isIndex {
			b.WriteString("[" + s.name + "]")
		} else {
			b.WriteString("['" + s.name + "']")
		}
	}
	return b.String()
}
