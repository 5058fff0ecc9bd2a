package jsonpath

import (
	"encoding/json"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// operators in the order in which they are looked for.
var operators = []string{
	"===", "!==", "==", "!=", "<=", ">=", "=~", "<", ">",
	"in", "nin", "subsetof", "anyof", "noneof", "all", "contains", "size", "empty",
}

func (p *parser) operator() (string, error) {
	start := p.offset
	for _, operator := range operators {
		if !p.accept(operator) {
			continue
		}
		r, _ := p.peek()
		word := operator[0] >= 'a'
		if word && r != ' ' && r != '[' || !word && strings.ContainsRune("=!<>~", r) && !p.atEnd() {
			p.offset = start
			continue
		}
		return operator, nil
	}
	return "", p.fail(start, "expected an operator: %s", strings.Join(operators, " "))
}

// describeWanted says what stands to the right of the operator if this operand cannot.
func describeWanted(operator string, right operand) string {
	_, isPattern := right.(pattern)
	_, isPath := right.(*filterPath)
	constant, _ := right.(literal)
	_, isList := constant.json.([]any)
	_, isNumber := constant.json.(json.Number)
	_, isBool := constant.json.(bool)
	switch operator {
	case "=~":
		if !isPattern {
			return "a regular expression such as /a.*/i"
		}
	case "size":
		if !isNumber {
			return "a number"
		}
	case "empty":
		if !isBool {
			return "true or false"
		}
	case "in", "nin", "subsetof", "anyof", "noneof", "all":
		if !isList && !isPath {
			return "a list such as ['a','b'] or a path"
		}
	}
	return ""
}

// scalar reads a literal that is not a list.
func (p *parser) scalar() (value any, quoted bool, _ error) {
	if p.at('\'') || p.at('"') {
		text, err := p.readString()
		return text, true, err
	}
	start := p.offset
	for !p.atEnd() {
		r, size := p.peek()
		if endsOperand(r) {
			break
		}
		if r < ' ' || strings.ContainsRune(`(['"{}`, r) || r == utf8.RuneError && size <= 1 {
			return nil, false, p.fail(p.offset, "character %q does not stand in a string without quotes; write it as '...'", r)
		}
		p.offset += size
	}
	word := p.text[start:p.offset]
	switch {
	case word == "":
		return nil, false, p.fail(start, "expected a path that starts with \"@\" or \"$\", or a literal")
	case word == "null":
		return nil, false, nil
	case word == "true", word == "false":
		return word == "true", false, nil
	case isNumber(word):
		return json.Number(word), false, nil
	case strings.Trim(word, "0123456789+-.eE") == "":
		return nil, false, p.fail(start, "%q is not a JSON number; write a string as '...'", word)
	default:
		return word, false, nil
	}
}

// isNumber tells whether the text is a JSON number.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text)) && !strings.ContainsAny(text, " \t\r\n")
}

// list reads a list of literals.
func (p *parser) list() ([]any, error) {
	if p.depth == maxFilterDepth {
		return nil, p.fail(p.offset, "brackets and filters are nested deeper than %d", maxFilterDepth)
	}
	p.depth++
	defer func() { p.depth-- }()
	p.accept("[")
	list := []any{}
	if p.space(); p.accept("]") {
		return list, nil
	}
	for {
		var value any
		var err error
		if p.space(); p.at('[') {
			value, err = p.list()
		} else {
			value, _, err = p.scalar()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		p.space()
		if p.accept("]") {
			return list, nil
		}
		if !p.accept(",") {
			return nil, p.fail(p.offset, "expected \",\" or \"]\"")
		}
	}
}

// pattern reads a regular expression, which is to fit the whole text. In it
// "\/" stands for "/".
func (p *parser) pattern() (operand, error) {
	start := p.offset
	p.offset++
	var b strings.Builder
	for !p.at('/') {
		if p.atEnd() {
			return nil, p.fail(start, "expected a closing /")
		}
		if strings.HasPrefix(p.text[p.offset:], `\`) && p.offset+1 < len(p.text) {
			if p.text[p.offset+1] != '/' {
				b.WriteByte('\\')
			}
			p.offset++
		}
		_, size := p.peek()
		b.WriteString(p.text[p.offset : p.offset+size])
		p.offset += size
	}
	p.offset++
	flags := p.offset
	for !p.atEnd() && slices.Contains([]byte("ims"), p.text[p.offset]) {
		p.offset++
	}
	mode := syntax.Perl
	for _, flag := range p.text[flags:p.offset] {
		switch flag {
		case 'i':
			mode |= syntax.FoldCase
		case 'm':
			mode &^= syntax.OneLine
		default:
			mode |= syntax.DotNL
		}
	}
	if r, _ := p.peek(); !p.atEnd() && !endsOperand(r) {
		return nil, p.fail(p.offset, "flag %q of a regular expression is not supported; there are i, m and s", r)
	}
	tree, err := syntax.Parse(b.String(), mode)
	if err != nil {
		return nil, p.fail(start, "regular expression: %s", explain(err))
	}
	// The tree's own text is whole: nothing in it reaches past the brackets.
	expression, err := regexp.Compile(`\A(?:` + tree.String() + `)\z`)
	if err != nil {
		return nil, p.fail(start, "regular expression: %s", explain(err))
	}
	return pattern{expression}, nil
}

// explain words an error of the parser of regular expressions.
func explain(err error) string {
	e, ok := errors.AsType[*syntax.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Code == syntax.ErrInvalidPerlOp, strings.HasPrefix(e.Expr, "(?<=") || strings.HasPrefix(e.Expr, "(?<!"):
		return "\"" + e.Expr + "\": look-around and atomic groups are not supported"
	case e.Code == syntax.ErrInvalidEscape:
		return "\"" + e.Expr + "\": back-references and this escape are not supported"
	default:
		return string(e.Code) + ": \"" + e.Expr + "\""
	}
}
