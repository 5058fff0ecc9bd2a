package intrinsic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// MaxDepth is how deep calls may nest, from the developer guide.
const MaxDepth = 10

// Parse reads a call. Its error is a [*diag.SyntaxError].
func Parse(text string) (*Call, error) {
	p := &parser{text: text}
	call, err := p.call(1)
	if err != nil {
		return nil, err
	}
	if p.offset < len(text) {
		return nil, p.problem(p.offset, "expected nothing after the call, found %q", text[p.offset:])
	}
	return call, nil
}

type parser struct {
	text   string
	offset int
}

func (p *parser) problem(offset int, format string, args ...any) *diag.SyntaxError {
	return &diag.SyntaxError{Text: p.text, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) skipSpace() {
	for p.offset < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.offset]) >= 0 {
		p.offset++
	}
}

// take skips white space and, if it is next, the byte.
func (p *parser) take(b byte) bool {
	p.skipSpace()
	if p.offset < len(p.text) && p.text[p.offset] == b {
		p.offset++
		return true
	}
	return false
}

func (p *parser) rest() string { return p.text[p.offset:] }

func (p *parser) call(depth int) (*Call, error) {
	start := p.offset
	name := p.rest()
	if i := strings.IndexAny(name, "(,)' \t\r\n"); i >= 0 {
		name = name[:i]
	}
	f := functions[name]
	if f == nil {
		e := p.problem(start, "there is no function %q", name)
		e.Suggestion = nearest.Word(name, slices.Sorted(maps.Keys(functions)))
		return nil, e
	}
	if depth > MaxDepth {
		return nil, p.problem(start, "calls nest deeper than %d", MaxDepth)
	}
	p.offset += len(name)
	if !p.take('(') {
		return nil, p.problem(p.offset, "expected \"(\" after %s", name)
	}
	c := &Call{function: f}
	for !p.take(')') {
		if len(c.arguments) > 0 && !p.take(',') {
			return nil, p.problem(p.offset, "expected \",\" or \")\" in the call of %s", name)
		}
		p.skipSpace()
		a, err := p.argument(depth)
		if err != nil {
			return nil, err
		}
		c.arguments = append(c.arguments, a)
	}
	if n := len(c.arguments); n < f.least || n > f.most {
		return nil, p.problem(start, "%s takes %s, found %d", name, f.count(), n)
	}
	c.text = p.text[start:p.offset]
	return c, nil
}

func (p *parser) argument(depth int) (argument, error) {
	rest := p.rest()
	switch {
	case rest == "":
		return argument{}, p.problem(p.offset, "expected an argument, found the end of the text")
	case rest[0] == '\'':
		text, err := p.readString()
		return argument{literal: text}, err
	case rest[0] == '$':
		return p.path()
	case Is(rest):
		call, err := p.call(depth + 1)
		return argument{call: call}, err
	}
	word := rest
	if i := strings.IndexAny(rest, " \t\r\n,()"); i >= 0 {
		word = rest[:i]
	}
	switch {
	case word == "null":
		p.offset += len(word)
		return argument{}, nil
	case word == "true", word == "false":
		p.offset += len(word)
		return argument{literal: word == "true"}, nil
	case word != "" && (word[0] == '-' || word[0] >= '0' && word[0] <= '9') && json.Valid([]byte(word)):
		p.offset += len(word)
		return argument{literal: json.Number(word)}, nil
	}
	return argument{}, p.problem(p.offset, "expected a string in single quotes, a number, true, false, null, a path or a call, found %q", word)
}

// escapes are the characters that may follow a backslash in a string.
const escapes = `'{}\`

// readString reads a string in single quotes. Braces keep their backslash:
// States.Format needs to know.
func (p *parser) readString() (string, error) {
	start := p.offset
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '\'':
			p.offset = i + 1
			return b.String(), nil
		case '\\':
			i++
			if i == len(p.text) || strings.IndexByte(escapes, p.text[i]) < 0 {
				return "", p.problem(i-1, "a backslash can only stand before one of %s", strings.Join(strings.Split(escapes, ""), " "))
			}
			if p.text[i] != '\'' {
				b.WriteByte('\\')
			}
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", p.problem(start, "the string has no end: expected a single quote")
}

// path reads a path, which ends before a comma or a parenthesis that is not
// inside of it.
func (p *parser) path() (argument, error) {
	end, depth := p.offset, 0
	var quote byte
	for ; end < len(p.text); end++ {
		c := p.text[end]
		if quote != 0 {
			switch c {
			case '\\':
				end++
			case quote:
				quote = 0
			}
			continue
		}
		if depth == 0 && strings.IndexByte(" \t\r\n,)", c) >= 0 {
			break
		}
		switch c {
		case '\'', '"':
			quote = c
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		}
	}
	end = min(end, len(p.text))
	path, err := jsonpath.Parse(p.text[p.offset:end])
	if syntax, ok := errors.AsType[*diag.SyntaxError](err); ok {
		return argument{}, p.problem(p.offset+syntax.Offset, "path %q: %s", p.text[p.offset:end], syntax.Message)
	}
	if err != nil {
		return argument{}, p.problem(p.offset, "path %q: %v", p.text[p.offset:end], err)
	}
	p.offset = end
	return argument{path: path}, nil
}
