package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/diag"
)

const (
	maxPathBytes     = 64 << 10
	maxFilterDepth   = 50 // of brackets and filters in filters
	maxVariableRunes = 80 // of AWS
)

// Parse reads a path. Its error is a [*diag.SyntaxError]. Blanks at the end are not part
// of the path.
func Parse(text string) (*Path, error) {
	p := &parser{text: strings.TrimRight(text, " ")}
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	return path, nil
}

type parser struct {
	text   string
	offset int
	depth  int // of the filters and brackets around the offset
	// function is the last name with parentheses after it.
	function string
}

func (p *parser) path() (*Path, error) {
	path := &Path{text: p.text}
	switch {
	case p.text == "":
		return nil, p.fail(0, "expected a path that starts with \"$\", found an empty string")
	case len(p.text) > maxPathBytes:
		return nil, p.fail(maxPathBytes, "the path is longer than %d bytes", maxPathBytes)
	case p.accept("$$"):
		path.context = true
	case p.accept("$"):
		name, err := p.variable()
		if err != nil {
			return nil, err
		}
		path.variable = name
	case strings.HasPrefix(p.text, "States."):
		return nil, p.fail(0, "expected a path that starts with \"$\", found an intrinsic function")
	default:
		return nil, p.fail(0, "expected a path that starts with \"$\"")
	}
	if !p.atStep() && !p.atEnd() {
		return nil, p.fail(p.offset, "expected \".\" or \"[\" after %q", p.text[:p.offset])
	}
	steps, err := p.steps()
	if err != nil {
		return nil, err
	}
	if !p.atEnd() {
		return nil, p.fail(p.offset, "expected \".\" or \"[\"")
	}
	path.steps, path.function = steps, p.function
	path.finish()
	return path, nil
}

// variable reads the name of a variable, an identifier of Unicode's annex 31,
// if one follows "$".
func (p *parser) variable() (string, error) {
	start := p.offset
	for !p.atEnd() && !p.atStep() {
		r, size := p.peek()
		switch {
		case p.offset == start && !unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start):
			return "", p.fail(p.offset, "expected \".\", \"[\" or the name of a variable, which starts with a letter")
		case !unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue):
			return "", p.fail(p.offset, "character %q does not stand in the name of a variable, which has letters, digits and \"_\"", r)
		}
		p.offset += size
	}
	name := p.text[start:p.offset]
	if n := utf8.RuneCountInString(name); n > maxVariableRunes {
		return "", p.fail(start, "the name of the variable has %d characters; the limit is %d", n, maxVariableRunes)
	}
	return name, nil
}

// steps reads steps up to the first character that starts none.
func (p *parser) steps() ([]step, error) {
	var steps []step
	for p.atStep() {
		start := p.offset
		s, err := p.step()
		if err != nil {
			return nil, err
		}
		s.text = p.text[start:p.offset]
		steps = append(steps, s)
	}
	return steps, nil
}

// step reads ".name", ".*", "[...]", ".[...]" or one of them after "..".
func (p *parser) step() (step, error) {
	deep := p.accept("..")
	if !deep && !p.accept(".") || p.at('[') {
		s, err := p.bracket()
		s.deep = deep
		return s, err
	}
	if p.accept("*") {
		return step{kind: wildcard, deep: deep}, nil
	}
	name, err := p.name()
	return step{kind: member, deep: deep, name: name}, err
}

// name reads a name outside of brackets.
func (p *parser) name() (string, error) {
	start := p.offset
	for !p.atEnd() && !p.atStep() {
		r, size := p.peek()
		if p.depth > 0 && endsOperand(r) {
			break
		}
		if length := strings.IndexByte(p.text[p.offset:], ')'); r == '(' && length > 0 && p.offset > start {
			p.offset += length + 1
			p.function = p.text[start:p.offset]
			break
		}
		if !isNameRune(r) || r == utf8.RuneError && size <= 1 {
			return "", p.fail(p.offset, "character %q does not stand in a plain name; write the name as ['...']", r)
		}
		p.offset += size
	}
	if p.offset == start {
		return "", p.fail(start, "expected a name after \".\"")
	}
	return p.text[start:p.offset], nil
}

// bracket reads what stands between brackets, and them.
func (p *parser) bracket() (step, error) {
	p.accept("[")
	p.space()
	s, err := p.selector()
	if err != nil {
		return step{}, err
	}
	p.space()
	if !p.accept("]") {
		return step{}, p.fail(p.offset, "expected \"]\"")
	}
	return s, nil
}

func (p *parser) selector() (step, error) {
	r, _ := p.peek()
	switch {
	case p.accept("*"):
		return step{kind: wildcard}, nil
	case r == '\'' || r == '"':
		return p.names()
	case p.accept("?"):
		p.space()
		if !p.at('(') {
			return step{}, p.fail(p.offset, "expected \"(\" after \"?\"")
		}
		c, err := p.condition()
		return step{kind: filter, filter: c}, err
	case r == '(':
		return p.script()
	case r == ':' || r == '-' || r >= '0' && r <= '9':
		return p.indices()
	default:
		return step{}, p.fail(p.offset, "expected a quoted name, an array index, a slice, \"*\" or a filter \"?(...)\" between brackets")
	}
}

func (p *parser) names() (step, error) {
	var names []string
	for {
		name, err := p.readString()
		if err != nil {
			return step{}, err
		}
		names = append(names, name)
		p.space()
		if !p.accept(",") {
			break
		}
		p.space()
		if !p.at('\'') && !p.at('"') {
			return step{}, p.fail(p.offset, "expected a quoted name after \",\"")
		}
	}
	if len(names) == 1 {
		return step{kind: member, name: names[0]}, nil
	}
	return step{kind: members, names: names}, nil
}

// script reads the one script that Step Functions runs: an index from the end
// of an array.
func (p *parser) script() (step, error) {
	start := p.offset
	for _, word := range []string{"(", "@", ".", "length", "-"} {
		if p.space(); !p.accept(word) {
			return step{}, p.fail(start, "expected \"(@.length-1)\"; other script expressions are not supported")
		}
	}
	p.space()
	index, err := p.integer()
	if err != nil {
		return step{}, err
	}
	if p.space(); index < 0 || !p.accept(")") {
		return step{}, p.fail(start, "expected \"(@.length-1)\"; other script expressions are not supported")
	}
	return step{kind: fromEnd, index: index}, nil
}

// indices reads an index, a union of them or a slice.
func (p *parser) indices() (step, error) {
	b := bounds{step: 1}
	if p.at(':') {
		return p.slice(b)
	}
	var indices []int
	for {
		index, err := p.integer()
		if err != nil {
			return step{}, err
		}
		indices = append(indices, index)
		p.space()
		if p.at(':') && len(indices) == 1 {
			b.from, b.hasFrom = index, true
			return p.slice(b)
		}
		if !p.accept(",") {
			break
		}
		p.space()
	}
	if len(indices) == 1 {
		return step{kind: element, index: indices[0]}, nil
	}
	return step{kind: elements, indices: indices}, nil
}

// slice reads the rest of a slice, from its first ":".
func (p *parser) slice(b bounds) (step, error) {
	var err error
	p.accept(":")
	if p.space(); p.atInteger() {
		if b.to, err = p.integer(); err != nil {
			return step{}, err
		}
		b.hasTo = true
		p.space()
	}
	if !p.accept(":") {
		return step{kind: slice, bounds: b}, nil
	}
	if p.space(); p.atInteger() {
		start := p.offset
		if b.step, err = p.integer(); err != nil {
			return step{}, err
		}
		if b.step == 0 {
			return step{}, p.fail(start, "the step of a slice is not 0")
		}
	}
	return step{kind: slice, bounds: b}, nil
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

func (p *parser) atEnd() bool { return p.offset == len(p.text) }

func (p *parser) at(c byte) bool { return !p.atEnd() && p.text[p.offset] == c }

func (p *parser) atStep() bool { return p.at('.') || p.at('[') }

func (p *parser) atInteger() bool {
	return p.at('-') || !p.atEnd() && p.text[p.offset] >= '0' && p.text[p.offset] <= '9'
}

// accept passes over the word if it comes next.
func (p *parser) accept(word string) bool {
	if !strings.HasPrefix(p.text[p.offset:], word) {
		return false
	}
	p.offset += len(word)
	return true
}

func (p *parser) space() {
	for p.at(' ') {
		p.offset++
	}
}

func (p *parser) peek() (rune, int) { return utf8.DecodeRuneInString(p.text[p.offset:]) }

func (p *parser) fail(offset int, format string, args ...any) error {
	return &diag.SyntaxError{Text: p.text, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

// isNameRune tells whether a name outside of brackets may hold the character.
// Names with hyphens, colons and any letter occur in events of AWS services.
func isNameRune(r rune) bool {
	return r > ' ' && r != 0x7f && !strings.ContainsRune(`.[]()*,?'"`, r)
}

// endsOperand tells whether the character ends a plain name or word in a
// filter.
func endsOperand(r rune) bool { return strings.ContainsRune(" =!<>~&|),]", r) }
