package asl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Position is a place in the text of a definition.
type Position struct {
	Pointer string // RFC 6901
	Line    int    // from 1
	Column  int    // in characters, from 1
}

// Problem returns a problem that stands where a JSON pointer (RFC 6901) points
// to in the definition, at the name if it is a member, or at its nearest
// ancestor that is there. In a state it looks at no more than the state.
func (m *StateMachine) Problem(pointer, format string, args ...any) diag.Problem {
	at, _, _ := m.find(pointer)
	return at.problem(m.text, pointer, fmt.Sprintf(format, args...))
}

// ProblemIn returns a problem that stands at a byte of the string that a JSON
// pointer points to. Escapes before it make the place unknown: then the problem
// stands where that of Problem does.
func (m *StateMachine) ProblemIn(pointer string, offset int, format string, args ...any) diag.Problem {
	message := fmt.Sprintf(format, args...)
	at, n, found := m.find(pointer)
	if !found || n.Kind != jsontree.String || offset > len(n.Text) || !strings.HasPrefix(string(n.Raw()[1:]), n.Text[:offset]) {
		return at.problem(m.text, pointer, message)
	}
	return at.move(m.text, n.Offset+1+offset).problem(m.text, pointer, message)
}

// spot is a place in a text, with line and column from 0.
type spot struct{ offset, line, column int }

func (p spot) problem(text []byte, pointer, message string) diag.Problem {
	return diag.AtPlace(text, p.offset, p.line+1, p.column+1, pointer, message)
}

// move returns the place at an offset that is not before it.
func (p spot) move(text []byte, offset int) spot {
	line, column := advance(p.line, p.column, text[p.offset:offset])
	return spot{offset, line, column}
}

// find returns the place of what a pointer leads to, and the last value on the way
// there, which is the one that it leads to if found is set.
func (m *StateMachine) find(pointer string) (at spot, n *jsontree.Node, found bool) {
	s, rest := m.stateAt(pointer)
	if s == nil {
		n, offset, found := locate(m.root, m.root.Offset, pointer)
		return spot{}.move(m.text, offset), n, found
	}
	n, offset, found := locate(s.node, s.offset, rest)
	return spot{s.offset, s.Position.Line - 1, s.Position.Column - 1}.move(m.text, offset), n, found
}

// StateAt returns the innermost state that a JSON pointer leads to or into; nil if
// there is none.
func (m *StateMachine) StateAt(pointer string) *State {
	s, _ := m.stateAt(pointer)
	return s
}

// stateAt returns the innermost state that a pointer leads to or into, and the
// rest of the pointer; nil if there is none.
func (m *StateMachine) stateAt(pointer string) (s *State, rest string) {
	for at := len(pointer); at > 0; at = strings.LastIndexByte(pointer[:at], '/') {
		if s := m.places[pointer[:at]]; s != nil {
			return s, pointer[at:]
		}
	}
	return nil, pointer
}

// locate goes from a value as far as a pointer leads to something. It returns the
// last value and its offset: that of the name if it is a member. The offset of the
// first value is given.
func locate(n *jsontree.Node, offset int, pointer string) (last *jsontree.Node, at int, found bool) {
	if pointer == "" {
		return n, offset, true
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = pointerUnescapes.Replace(step)
		next := n.Child(step)
		if next == nil {
			return n, offset, false
		}
		offset = next.Offset
		if i := slices.IndexFunc(n.Members, func(m jsontree.Member) bool { return m.Name == step }); i >= 0 {
			offset = n.Members[i].Offset
		}
		n = next
	}
	return n, offset, true
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// position returns the place of a byte of the text. Places are asked for in
// the order of the text, so each is counted from the one before.
func (p *parser) position(pointer string, offset int) Position {
	if offset < p.counted {
		p.counted, p.line, p.column = 0, 0, 0
	}
	p.line, p.column = advance(p.line, p.column, p.text[p.counted:offset])
	p.counted = offset
	return Position{Pointer: pointer, Line: p.line + 1, Column: p.column + 1}
}

// advance returns the line and column, from 0, behind a text that begins at others.
func advance(line, column int, text []byte) (endLine, endColumn int) {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		line += bytes.Count(text, []byte{'\n'})
		column, text = 0, text[i+1:]
	}
	return line, column + utf8.RuneCount(text)
}
