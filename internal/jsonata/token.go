package jsonata

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// kind is the kind of a token. Operators are of the kind operator and differ in
// their text.
type kind uint8

const (
	end kind = iota
	operator
	name
	variable
	text
	literal // number, true, false, null
	regex
)

// token is a word of an expression.
type token struct {
	kind   kind
	value  string // operator, name, or name of a variable without its first $
	offset int    // of the first byte
}

func (t token) is(op string) bool { return t.kind == operator && t.value == op }

// separators end a name. JSONata has no other rule for what a name may contain.
const separators = " \t\n\r\v.[]{}(),@#;:?+-*/%|=<>^&!~"

var operators = []string{"..", ":=", "!=", ">=", "<=", "**", "~>", "?:", "??"}

// scanner splits an expression into tokens.
type scanner struct {
	text string
	pos  int
}

// next reads a token. A slash starts a regular expression where an operand is
// expected, and is a division elsewhere.
func (s *scanner) next(operand bool) (token, error) {
	if err := s.skipSpace(); err != nil {
		return token{}, err
	}
	start := s.pos
	if start == len(s.text) {
		return token{kind: end, offset: start}, nil
	}
	c := s.text[start]
	if c == '/' && operand {
		return s.regex()
	}
	for _, op := range operators {
		if strings.HasPrefix(s.text[start:], op) {
			s.pos += len(op)
			return token{operator, op, start}, nil
		}
	}
	switch {
	case strings.IndexByte(separators, c) >= 0:
		s.pos++
		return token{operator, s.text[start:s.pos], start}, nil
	case c == '"' || c == '\'':
		return s.string(c)
	case '0' <= c && c <= '9':
		return s.number()
	case c == '`':
		length := strings.IndexByte(s.text[start+1:], '`')
		if length < 0 {
			return token{}, s.fail("S0105", start, "a name in backticks has no end")
		}
		s.pos = start + length + 2
		return token{name, s.text[start+1 : s.pos-1], start}, nil
	}
	s.pos = len(s.text)
	if length := strings.IndexAny(s.text[start:], separators); length >= 0 {
		s.pos = start + length
	}
	word := s.text[start:s.pos]
	switch word {
	case "and", "or", "in":
		return token{operator, word, start}, nil
	case "true", "false", "null":
		return token{literal, word, start}, nil
	}
	if word, found := strings.CutPrefix(word, "$"); found {
		return token{variable, word, start}, nil
	}
	return token{name, word, start}, nil
}

func (s *scanner) skipSpace() error {
	for {
		s.pos += len(s.text[s.pos:]) - len(strings.TrimLeft(s.text[s.pos:], " \t\n\r\v"))
		if !strings.HasPrefix(s.text[s.pos:], "/*") {
			return nil
		}
		length := strings.Index(s.text[s.pos+2:], "*/")
		if length < 0 {
			return s.fail("S0106", s.pos, "a comment has no end")
		}
		s.pos += length + 4
	}
}

func (s *scanner) regex() (token, error) {
	start, depth := s.pos, 0
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '/':
			if depth != 0 {
				continue
			}
			if s.pos == start+1 {
				return token{}, s.fail("S0301", start, "a regular expression is empty")
			}
			s.pos++
			for s.pos < len(s.text) && (s.text[s.pos] == 'i' || s.text[s.pos] == 'm') {
				s.pos++
			}
			return token{regex, s.text[start:s.pos], start}, nil
		}
	}
	return token{}, s.fail("S0302", start, "a regular expression has no closing /")
}

func (s *scanner) string(quote byte) (token, error) {
	start := s.pos
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case quote:
			s.pos++
			return token{text, s.text[start+1 : s.pos-1], start}, nil
		case '\\':
			if err := s.escape(); err != nil {
				return token{}, err
			}
		}
	}
	return token{}, s.fail("S0101", start, "a string has no closing quote")
}

// escape reads an escape sequence, up to its last byte.
func (s *scanner) escape() error {
	start := s.pos
	s.pos++
	if s.pos == len(s.text) {
		return s.fail("S0101", start, "a string has no closing quote")
	}
	switch c := s.text[s.pos]; {
	case strings.IndexByte(`"'\/bfnrt`, c) >= 0:
	case c == 'u':
		digits := s.text[s.pos+1 : min(s.pos+5, len(s.text))]
		if _, err := strconv.ParseUint(digits, 16, 16); err != nil || len(digits) != 4 {
			return s.fail("S0104", start, `\u is followed by other than four hexadecimal digits`)
		}
		s.pos += 4
	default:
		r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
		return s.fail("S0103", start, `unknown escape sequence \%c: write \\ for a backslash`, r)
	}
	return nil
}

func (s *scanner) number() (token, error) {
	start := s.pos
	digits := func() {
		for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
			s.pos++
		}
	}
	at := func(i int, set string) bool {
		return i < len(s.text) && strings.IndexByte(set, s.text[i]) >= 0
	}
	if s.text[s.pos] == '0' {
		s.pos++
	} else {
		digits()
	}
	if at(s.pos, ".") && at(s.pos+1, "0123456789") {
		s.pos++
		digits()
	}
	if at(s.pos, "eE") {
		s.pos++
		if at(s.pos, "+-") {
			s.pos++
		}
		digits()
	}
	if _, err := strconv.ParseFloat(s.text[start:s.pos], 64); err != nil {
		return token{}, s.fail("S0102", start, "%s is not a number of 64 bits", s.text[start:s.pos])
	}
	return token{literal, s.text[start:s.pos], start}, nil
}

func (s *scanner) fail(code string, offset int, format string, args ...any) error {
	return &diag.SyntaxError{Text: s.text, Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

// unescape gives the text of a string without its escape sequences, which are
// known to be right. Half of a surrogate pair stays as three bytes that are no
// UTF-8.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			unit, _ := strconv.ParseUint(s[i+1:i+5], 16, 16)
			out = appendUnit(out, uint16(unit))
			i += 4
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// appendUnit appends a UTF-16 code unit to a text. The second half of a
// surrogate pair joins the first one.
func appendUnit(out []byte, unit uint16) []byte {
	r := rune(unit)
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r)
	}
	if n := len(out) - 3; r >= 0xDC00 && n >= 0 && out[n] == 0xED && out[n+1]&0xF0 == 0xA0 {
		high := 0xD000 | rune(out[n+1]&0x3F)<<6 | rune(out[n+2]&0x3F)
		return utf8.AppendRune(out[:n], utf16.DecodeRune(high, r))
	}
	return append(out, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
}
