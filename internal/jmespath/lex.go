package jmespath

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// token is a lexical element of the grammar.
type token uint8

const (
	tokEnd token = iota
	tokName
	tokQuoted
	tokNumber
	tokLiteral
	tokRaw
	tokDot
	tokStar
	tokFlatten
	tokFilter
	tokOpen // [
	tokClose
	tokParen
	tokParenEnd
	tokBrace
	tokBraceEnd
	tokComma
	tokColon
	tokCurrent
	tokRef
	tokPipe
	tokOr
	tokAnd
	tokNot
	tokCompare
	tokBad // what cannot be read; the lexer has its problem
)

// lexeme is a token in its place. Text is what a name, a string or a number
// says, and otherwise the token as it stands; value is that of a literal.
type lexeme struct {
	token token
	at    int
	text  string
	value any
}

func (l lexeme) String() string {
	switch l.token {
	case tokEnd:
		return "the end of the expression"
	case tokName, tokNumber:
		return l.text
	case tokQuoted:
		return fmt.Sprintf("%q", l.text)
	case tokLiteral:
		return "a literal"
	case tokRaw:
		return "a string"
	default:
		return fmt.Sprintf("%q", l.text)
	}
}

// simple are the tokens that are always the same text, the longer of two that
// start alike first.
var simple = []lexeme{
	{token: tokFlatten, text: "[]"},
	{token: tokFilter, text: "[?"},
	{token: tokOpen, text: "["},
	{token: tokClose, text: "]"},
	{token: tokParen, text: "("},
	{token: tokParenEnd, text: ")"},
	{token: tokBrace, text: "{"},
	{token: tokBraceEnd, text: "}"},
	{token: tokAnd, text: "&&"},
	{token: tokRef, text: "&"},
	{token: tokOr, text: "||"},
	{token: tokPipe, text: "|"},
	{token: tokCompare, text: "=="},
	{token: tokCompare, text: "!="},
	{token: tokCompare, text: "<="},
	{token: tokCompare, text: ">="},
	{token: tokCompare, text: "<"},
	{token: tokCompare, text: ">"},
	{token: tokNot, text: "!"},
	{token: tokDot, text: "."},
	{token: tokStar, text: "*"},
	{token: tokComma, text: ","},
	{token: tokColon, text: ":"},
	{token: tokCurrent, text: "@"},
}

// lexer cuts a text into lexemes. After a tokBad, problem says what is wrong.
type lexer struct {
	text    string
	pos     int
	problem string
}

func (l *lexer) next() lexeme {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
	at := l.pos
	if at == len(l.text) {
		return lexeme{token: tokEnd, at: at}
	}
	switch c := l.text[at]; {
	case isName(c, true):
		return l.run(tokName, func(c byte) bool { return isName(c, false) })
	case c == '-' || isDigit(c):
		n := l.run(tokNumber, isDigit)
		if n.text == "-" {
			return l.bad(at, "'-' must be followed by digits")
		}
		return n
	case c == '"':
		return l.readName()
	case c == '`':
		return l.literal()
	case c == '\'':
		return l.raw()
	}
	for _, s := range simple {
		if strings.HasPrefix(l.text[at:], s.text) {
			l.pos += len(s.text)
			return lexeme{token: s.token, at: at, text: s.text}
		}
	}
	r, _ := utf8.DecodeRuneInString(l.text[at:])
	if r == '=' {
		return l.bad(at, "'=' is no operator; equality is '=='")
	}
	return l.bad(at, fmt.Sprintf("%q cannot stand in an expression", r))
}

// run reads one byte and all that follow and fit.
func (l *lexer) run(kind token, fits func(byte) bool) lexeme {
	at := l.pos
	l.pos++
	for l.pos < len(l.text) && fits(l.text[l.pos]) {
		l.pos++
	}
	return lexeme{token: kind, at: at, text: l.text[at:l.pos]}
}

func (l *lexer) bad(at int, problem string) lexeme {
	l.problem = problem
	return lexeme{token: tokBad, at: at}
}

// cutDelimiters reads up to the closing delimiter, which a backslash escapes, and
// returns what stands between.
func (l *lexer) cutDelimiters() (inner string, ok bool) {
	delimiter := l.text[l.pos]
	start := l.pos + 1
	for i := start; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case delimiter:
			l.pos = i + 1
			return l.text[start:i], true
		}
	}
	return "", false
}

// readName reads a quoted identifier, which the grammar defines as a JSON string.
func (l *lexer) readName() lexeme {
	at := l.pos
	if _, ok := l.cutDelimiters(); !ok {
		return l.bad(at, "quoted name has no closing quote")
	}
	var name string
	if err := json.Unmarshal([]byte(l.text[at:l.pos]), &name); err != nil {
		return l.bad(at, "quoted name is not a JSON string: "+err.Error())
	}
	return lexeme{token: tokQuoted, at: at, text: name}
}

// literal reads a JSON value between backticks.
func (l *lexer) literal() lexeme {
	at := l.pos
	inner, ok := l.cutDelimiters()
	if !ok {
		return l.bad(at, "literal has no closing backtick")
	}
	var v any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(inner, "\\`", "`")), &v); err != nil {
		return l.bad(at, "literal is not JSON: "+err.Error()+"; a string literal is 'text' or `\"text\"`")
	}
	return lexeme{token: tokLiteral, at: at, text: l.text[at:l.pos], value: v}
}

// raw reads a raw string, in which a backslash escapes the quote alone.
func (l *lexer) raw() lexeme {
	at := l.pos
	inner, ok := l.cutDelimiters()
	if !ok {
		return l.bad(at, "string has no closing quote")
	}
	text := strings.ReplaceAll(inner, `\'`, "'")
	return lexeme{token: tokRaw, at: at, text: text, value: text}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isName(c byte, first bool) bool {
	letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return letter || !first && isDigit(c)
}
