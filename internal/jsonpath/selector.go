package jsonpath

import (
	"strings"
	"unicode/utf8"
)

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
