package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

type parser struct {
	text   string
	offset int
	depth  int // of the filters and brackets around the offset
	// function is the last name with parentheses after it.
	function string
	warning  string // see Path.Warning: the first
}

func (p *parser) fail(offset int, format string, args ...any) error {
	return &diag.SyntaxError{Text: p.text, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) warn(format string, args ...any) {
	if p.warning == "" {
		p.warning = fmt.Sprintf(format, args...)
	}
}

func (p *parser) peek() (rune, int) { return utf8.DecodeRuneInString(p.text[p.offset:]) }

func (p *parser) space() {
	for p.at(' ') {
		p.offset++
	}
}

// accept passes over the word if it comes next.
func (p *parser) accept(word string) bool {
	if !strings.HasPrefix(p.text[p.offset:], word) {
		return false
	}
	p.offset += len(word)
	return true
}

func (p *parser) atEnd() bool { return p.offset == len(p.text) }

func (p *parser) at(c byte) bool { return !p.atEnd() && p.text[p.offset] == c }

func (p *parser) atStep() bool { return p.at('.') || p.at('[') }

// atGlued tells whether a name follows a bracket or "*" without a ".", which Jayway's
// library takes: "$.Instances[0]InstanceId". It passes over a single character at the end.
func (p *parser) atGlued() bool {
	return p.depth == 0 && p.offset+1 < len(p.text) && p.text[p.offset] != '*'
}

func (p *parser) atInteger() bool {
	return p.at('-') || !p.atEnd() && p.text[p.offset] >= '0' && p.text[p.offset] <= '9'
}

// readString reads a quoted name or string. A backslash escapes the quote and
// itself; before any other character it stands for itself, as Step Functions
// has it.
func (p *parser) readString() (string, error) {
	start, quote := p.offset, p.text[p.offset]
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		c := p.text[i]
		if c == quote {
			p.offset = i + 1
			return b.String(), nil
		}
		if c == '\\' && i+1 < len(p.text) && (p.text[i+1] == quote || p.text[i+1] == '\\') {
			i++
			c = p.text[i]
		}
		b.WriteByte(c)
	}
	return "", p.fail(start, "expected a closing %c", quote)
}

func (p *parser) integer() (int, error) {
	start := p.offset
	p.accept("-")
	for !p.atEnd() && p.text[p.offset] >= '0' && p.text[p.offset] <= '9' {
		p.offset++
	}
	digits := p.text[start:p.offset]
	if digits == "" || digits == "-" {
		return 0, p.fail(start, "expected an array index")
	}
	n, err := strconv.ParseInt(digits, 10, 32) // as Java's int
	if err != nil {
		return 0, p.fail(start, "array index %s is too large", digits)
	}
	return int(n), nil
}

// endsOperand tells whether the character ends a plain name or word in a
// filter.
func endsOperand(r rune) bool { return strings.ContainsRune(" =!<>~&|),]", r) }
