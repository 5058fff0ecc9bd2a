package asl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
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
	message := fmt.Sprintf(format, args...)
	s, rest := m.stateAt(pointer)
	if s == nil {
		return diag.At(m.text, locate(m.root, m.root.Offset, pointer), pointer, message)
	}
	offset := locate(s.node, s.offset, rest)
	line, column := advance(s.Position.Line-1, s.Position.Column-1, m.text[s.offset:offset])
	return diag.Placed(m.text, offset, line+1, column+1, pointer, message)
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

// locate returns the offset of what a pointer leads to from a value: of the name if
// that is a member. From the offset that is known of the value it goes as far as
// there is something.
func locate(n *jsontree.Node, offset int, pointer string) int {
	if pointer == "" {
		return offset
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = pointerUnescapes.Replace(step)
		next := n.Child(step)
		if next == nil {
			break
		}
		offset = next.Offset
		if i := slices.IndexFunc(n.Members, func(m jsontree.Member) bool { return m.Name == step }); i >= 0 {
			offset = n.Members[i].Offset
		}
		n = next
	}
	return offset
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
