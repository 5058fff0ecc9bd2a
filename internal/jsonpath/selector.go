package jsonpath

import (
	"strings"
	"unicode/utf8"
)

// oddRunes stand in plain names for Jayway's library alone, which takes all but blanks,
// ".", "[" and "(".
const oddRunes = `])*,?'"`

// name reads a name outside of brackets. Names with hyphens, colons and any letter occur
// in events of AWS services.
func (p *parser) name() (string, error) {
	start, slipped := p.offset, false
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
		odd := strings.ContainsRune(oddRunes, r)
		if r <= ' ' || r == 0x7f || r == '(' || odd && p.depth > 0 || r == utf8.RuneError && size <= 1 {
			return "", p.fail(p.offset, "character %q does not stand in a plain name; write the name as ['...']", r)
		}
		slipped = slipped || odd
		p.offset += size
	}
	if p.offset == start {
		return "", p.fail(start, "expected a name after \".\"")
	}
	name := p.text[start:p.offset]
	if slipped {
		p.warn("the path reads a member %q: Step Functions takes all characters up to the next \".\" or \"[\" for its name; "+
			"write a name with such a character as ['...']", name)
	}
	return name, nil
}

func (p *parser) names() (step, error) {
	var names []string
	quote := p.text[p.offset]
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
		if !p.at(quote) {
			return step{}, p.fail(p.offset, "expected a name in %c after \",\"", quote)
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
	var b bounds
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
		if p.at(':') && len(indices) == 1 {
			b.from, b.hasFrom = index, true
			return p.slice(b)
		}
		p.space()
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

// slice reads the rest of a slice, from its first ":". It has no blanks inside, and a
// bound. A step is passed over.
func (p *parser) slice(b bounds) (step, error) {
	start := p.offset
	p.accept(":")
	if p.atInteger() {
		to, err := p.integer()
		if err != nil {
			return step{}, err
		}
		b.to, b.hasTo = to, true
	}
	if !b.hasFrom && !b.hasTo {
		return step{}, p.fail(start, "expected an array index before or after \":\"; write all elements as [*]")
	}
	if b.hasFrom && b.hasTo && min(b.from, b.to) < 0 {
		p.warn("of a slice with two bounds Step Functions counts neither from the end of the array: [%d:%d]", b.from, b.to)
	}
	if p.accept(":") && p.atInteger() {
		by, err := p.integer()
		if err != nil {
			return step{}, err
		}
		p.warn("Step Functions passes over the %d after the second \":\" of a slice: it gives all elements between the bounds", by)
	}
	return step{kind: slice, bounds: b}, nil
}
