package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	end kind = iota
	root
	contextRoot
	dot
	name
	openBracket
	closeBracket
	quoted
	integer
)

// token is a word of a path. text is the decoded name of a name or quoted
// token and the digits of an integer.
type token struct {
	kind   kind
	text   string
	offset int
}

// lexer splits a path into tokens. Names are read differently outside of
// brackets, where they end at the next "." or "[", and inside of them, where
// they are quoted.
type lexer struct {
	text   string
	offset int
	inside bool
}

// first returns the root of the path.
func (l *lexer) first() (token, error) {
	switch {
	case l.text == "":
		return token{}, l.fail(0, "expected a path that starts with \"$\", found an empty string")
	case strings.HasPrefix(l.text, "$$"):
		l.offset = 2
	case strings.HasPrefix(l.text, "$"):
		l.offset = 1
	case strings.HasPrefix(l.text, "States."):
		return token{}, l.unsupported(0, "intrinsic functions")
	default:
		return token{}, l.fail(0, "expected a path that starts with \"$\"")
	}
	if r, _ := l.peek(); l.offset < len(l.text) && r != '.' && r != '[' {
		if l.offset == 1 && isNameRune(r) {
			return token{}, l.unsupported(l.offset, "variables")
		}
		return token{}, l.fail(l.offset, "expected \".\" or \"[\" after %q", l.text[:l.offset])
	}
	if l.offset == 2 {
		return token{kind: contextRoot}, nil
	}
	return token{kind: root}, nil
}

// next returns the token at the current offset.
func (l *lexer) next() (token, error) {
	if l.inside {
		l.offset += len(l.text[l.offset:]) - len(strings.TrimLeft(l.text[l.offset:], " "))
	}
	start := l.offset
	if start == len(l.text) {
		return token{kind: end, offset: start}, nil
	}
	switch l.text[start] {
	case '[':
		l.offset++
		l.inside = true
		return token{kind: openBracket, offset: start}, nil
	case ']':
		l.offset++
		l.inside = false
		return token{kind: closeBracket, offset: start}, nil
	case '*':
		return token{}, l.unsupported(start, "wildcards")
	}
	if l.inside {
		return l.subscript(start)
	}
	if l.text[start] != '.' {
		return l.member(start)
	}
	if strings.HasPrefix(l.text[start:], "..") {
		return token{}, l.unsupported(start, "descendants (\"..\")")
	}
	l.offset++
	return token{kind: dot, offset: start}, nil
}

// member reads a name outside of brackets.
func (l *lexer) member(start int) (token, error) {
	for l.offset < len(l.text) {
		r, size := l.peek()
		if r == '.' || r == '[' {
			break
		}
		if r == '(' {
			return token{}, l.unsupported(l.offset, "functions")
		}
		if !isNameRune(r) || r == utf8.RuneError && size <= 1 {
			return token{}, l.fail(l.offset, "character %q does not stand in a plain name; write the name as ['...']", r)
		}
		l.offset += size
	}
	return token{kind: name, text: l.text[start:l.offset], offset: start}, nil
}

// subscript reads what stands between brackets.
func (l *lexer) subscript(start int) (token, error) {
	switch c := l.text[start]; {
	case c == '\'' || c == '"':
		return l.quoted(start, c)
	case c >= '0' && c <= '9':
		for l.offset < len(l.text) && l.text[l.offset] >= '0' && l.text[l.offset] <= '9' {
			l.offset++
		}
		digits := l.text[start:l.offset]
		if _, err := strconv.Atoi(digits); err != nil {
			return token{}, l.fail(start, "array index %s is too large", digits)
		}
		return token{kind: integer, text: digits, offset: start}, nil
	case c == '-':
		return token{}, l.unsupported(start, "negative array indices")
	case c == '?':
		return token{}, l.unsupported(start, "filters")
	case c == '(':
		return token{}, l.unsupported(start, "script expressions")
	case c == ':':
		return token{}, l.unsupported(start, "array slices")
	case c == ',':
		return token{}, l.unsupported(start, "unions")
	default:
		return token{}, l.fail(start, "expected a quoted name or an array index between brackets")
	}
}

// quoted reads a quoted name. A backslash escapes the quote and itself; before
// any other character it stands for itself, as Step Functions has it.
func (l *lexer) quoted(start int, quote byte) (token, error) {
	var b strings.Builder
	for i := start + 1; i < len(l.text); i++ {
		c := l.text[i]
		if c == quote {
			l.offset = i + 1
			return token{kind: quoted, text: b.String(), offset: start}, nil
		}
		if c == '\\' && i+1 < len(l.text) && (l.text[i+1] == quote || l.text[i+1] == '\\') {
			i++
			c = l.text[i]
		}
		b.WriteByte(c)
	}
	return token{}, l.fail(start, "expected a closing %c", quote)
}

func (l *lexer) peek() (rune, int) { return utf8.DecodeRuneInString(l.text[l.offset:]) }

// isNameRune tells whether a name outside of brackets may hold the character.
// Names with hyphens, colons and any letter occur in events of AWS services.
func isNameRune(r rune) bool {
	return r > ' ' && r != 0x7f && !strings.ContainsRune(`.[]()*,?'"`, r)
}
