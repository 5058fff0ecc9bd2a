// Package jmespath reads and evaluates the JMESPath expressions of waiters, on
// JSON values and on typed Go values such as AWS SDK outputs. On SDK structs
// the stock interpreters give wrong answers without an error (named strings
// never equal a literal, pointers compare as null), so none is used here.
//
// Supported are plain dotted paths of field names, quoted or not; Parse
// refuses any other expression at its position.
package jmespath

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
)

// Expr is a parsed expression.
type Expr struct {
	text   string
	fields []field
}

type field struct {
	name   string
	offset int
}

// Parse reads an expression. Its error is a diag.Problems.
func Parse(text string) (*Expr, error) {
	e := &Expr{text: text}
	l := &lexer{text: text}
	for {
		f, problem := l.field()
		if problem != nil {
			return nil, diag.Problems{*problem}
		}
		e.fields = append(e.fields, f)
		switch c, offset := l.next(); c {
		case 0:
			return e, nil
		case '.':
		default:
			return nil, diag.Problems{l.refuse(offset)}
		}
	}
}

// String returns the text the expression was parsed from.
func (e *Expr) String() string { return e.text }

// Fields returns the names that the path descends through, outermost first.
func (e *Expr) Fields() []string {
	names := make([]string, len(e.fields))
	for i, f := range e.fields {
		names[i] = f.name
	}
	return names
}

func (e *Expr) problem(i int, format string, args ...any) diag.Problem {
	return diag.At([]byte(e.text), e.fields[i].offset, "", fmt.Sprintf(format, args...))
}

// lexer yields the tokens of a dotted path: field names and single bytes.
type lexer struct {
	text string
	pos  int
}

// next returns the next byte that is not white space and its offset, or 0.
func (l *lexer) next() (c byte, offset int) {
	l.space()
	if l.pos == len(l.text) {
		return 0, l.pos
	}
	l.pos++
	return l.text[l.pos-1], l.pos - 1
}

func (l *lexer) space() {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
}

func (l *lexer) field() (field, *diag.Problem) {
	l.space()
	start := l.pos
	if start == len(l.text) {
		p := diag.At([]byte(l.text), start, "", "expected a field name, found the end of the path")
		return field{}, &p
	}
	if l.text[start] == '"' {
		return l.quoted()
	}
	for l.pos < len(l.text) && isName(l.text[l.pos], l.pos == start) {
		l.pos++
	}
	if l.pos == start {
		p := l.refuse(start)
		return field{}, &p
	}
	return field{l.text[start:l.pos], start}, nil
}

// quoted reads a quoted identifier, which the grammar defines as a JSON string.
func (l *lexer) quoted() (field, *diag.Problem) {
	start := l.pos
	for l.pos++; l.pos < len(l.text) && l.text[l.pos] != '"'; l.pos++ {
		if l.text[l.pos] == '\\' {
			l.pos++
		}
	}
	var name string
	if l.pos >= len(l.text) {
		p := diag.At([]byte(l.text), start, "", "quoted field name has no closing quote")
		return field{}, &p
	}
	l.pos++
	if err := json.Unmarshal([]byte(l.text[start:l.pos]), &name); err != nil {
		p := diag.At([]byte(l.text), start, "", "quoted field name is not a JSON string: "+err.Error())
		return field{}, &p
	}
	return field{name, start}, nil
}

func (l *lexer) refuse(offset int) diag.Problem {
	rest := []rune(l.text[offset:])
	return diag.At([]byte(l.text), offset, "",
		fmt.Sprintf("%q cannot stand here: only paths of field names joined by dots are supported, such as Job.Status", rest[0]))
}

func isName(c byte, first bool) bool {
	letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return letter || !first && '0' <= c && c <= '9'
}
