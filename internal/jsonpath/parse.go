package jsonpath

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	path.steps, path.function, path.warning = steps, p.function, p.warning
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
	for p.atStep() || p.atGlued() {
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

// step reads ".name", ".*", "[...]", ".[...]" or one of them after "..", or a name alone:
// see atGlued.
func (p *parser) step() (step, error) {
	deep := p.accept("..")
	if !deep {
		p.accept(".")
	}
	if p.at('[') {
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

// condition reads conditions joined by "||", which binds less than "&&".
func (p *parser) condition() (condition, error) {
	if p.depth == maxFilterDepth {
		return nil, p.fail(p.offset, "brackets and filters are nested deeper than %d", maxFilterDepth)
	}
	p.depth++
	defer func() { p.depth-- }()
	var alternatives either
	for {
		c, err := p.conjunction()
		if err != nil {
			return nil, err
		}
		alternatives = append(alternatives, c)
		if p.space(); !p.accept("||") {
			break
		}
	}
	if len(alternatives) == 1 {
		return alternatives[0], nil
	}
	return alternatives, nil
}

func (p *parser) conjunction() (condition, error) {
	var parts all
	for {
		c, err := p.term()
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
		if p.space(); !p.accept("&&") {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return parts, nil
}

// term reads "!term", "(condition)", a comparison or a path that is to exist.
func (p *parser) term() (condition, error) {
	p.space()
	negated := false
	for p.accept("!") {
		negated = !negated
		p.space()
	}
	c, err := p.positive()
	if err != nil {
		return nil, err
	}
	if negated {
		return not{c}, nil
	}
	return c, nil
}

func (p *parser) positive() (condition, error) {
	if p.accept("(") {
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		if p.space(); !p.accept(")") {
			return nil, p.fail(p.offset, "expected \")\", \"&&\" or \"||\"")
		}
		return c, nil
	}
	start := p.offset
	left, err := p.operand(false)
	if err != nil {
		return nil, err
	}
	p.space()
	if path, ok := left.(*filterPath); ok && (p.at(')') || p.at('&') || p.at('|')) {
		return exists{path}, nil
	}
	if _, ok := left.(pattern); ok {
		return nil, p.fail(start, "a regular expression stands to the right of \"=~\"")
	}
	return p.comparison(left)
}

func (p *parser) comparison(left operand) (condition, error) {
	start := p.offset
	operator, err := p.operator()
	if err != nil {
		return nil, err
	}
	p.space()
	at := p.offset
	right, err := p.operand(true)
	if err != nil {
		return nil, err
	}
	if _, ok := right.(pattern); ok && operator != "=~" {
		return nil, p.fail(start, "a regular expression stands to the right of \"=~\"")
	}
	if want := describeWanted(operator, right); want != "" {
		return nil, p.fail(at, "expected %s to the right of %q", want, operator)
	}
	return &comparison{operator, left, right}, nil
}

// operand reads a path, a literal or, if words is set, a string without
// quotes.
func (p *parser) operand(words bool) (operand, error) {
	start := p.offset
	r, _ := p.peek()
	switch r {
	case '@', '$':
		p.offset++
		return p.filterPath(r == '$')
	case '/':
		return p.pattern()
	case '[':
		list, err := p.list()
		return literal{list}, err
	}
	value, quoted, err := p.scalar()
	if err != nil {
		return nil, err
	}
	if _, ok := value.(string); ok && !quoted && !words {
		return nil, p.fail(start, "expected a path that starts with \"@\" or \"$\", or a literal; write a string as '...'")
	}
	return literal{value}, nil
}

func (p *parser) filterPath(root bool) (operand, error) {
	if root && !p.atEnd() && !p.atStep() && !endsOperand(rune(p.text[p.offset])) {
		return nil, p.fail(p.offset, "expected \".\" or \"[\" after \"$\"; a filter reads no context object and no variables")
	}
	steps, err := p.steps()
	if err != nil {
		return nil, err
	}
	path := &filterPath{root: root}
	path.steps = steps
	path.finish()
	return path, nil
}
