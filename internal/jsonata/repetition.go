package jsonata

import (
	"slices"
	"strconv"
	"strings"
)

// repetition compiles what says how often the code from a place on is repeated.
func (p *regexParser) repetition(start, groups int, repeatable bool) {
	var low, high int
	switch {
	case p.take("*"):
		low, high = 0, -1
	case p.take("+"):
		low, high = 1, -1
	case p.take("?"):
		low, high = 0, 1
	case p.peek("{"):
		var ok bool
		if low, high, ok = p.counts(); !ok {
			return
		}
	default:
		return
	}
	if !repeatable {
		p.fail("nothing that can be repeated stands before a repetition")
	}
	lazy := p.take("?")
	if high >= 0 && high < low {
		p.fail("the numbers of a repetition are out of order")
	}
	body := slices.Clone(p.code[start:])
	p.code = p.code[:start]
	for range low {
		p.copyBody(body, start, groups)
	}
	if high < 0 {
		p.loop(body, start, groups, lazy)
		return
	}
	var exits []int
	for range high - low {
		exits = append(exits, p.emit(regexInstruction{op: opSplit}))
		p.guard(body, start, groups)
	}
	for _, exit := range exits {
		p.setSplit(exit, exit+1, len(p.code), lazy)
	}
}

func (p *regexParser) setSplit(at, in, out int, lazy bool) {
	if lazy {
		in, out = out, in
	}
	p.code[at].x, p.code[at].y = in, out
}

// loop repeats a body as often as it matches.
func (p *regexParser) loop(body []regexInstruction, start, groups int, lazy bool) {
	split := p.emit(regexInstruction{op: opSplit})
	p.guard(body, start, groups)
	p.emit(regexInstruction{op: opJump, x: split})
	p.setSplit(split, split+1, len(p.code), lazy)
}

// guard is a repetition that must not match nothing.
func (p *regexParser) guard(body []regexInstruction, start, groups int) {
	register := p.registers
	p.registers++
	p.emit(regexInstruction{op: opMark, x: register})
	p.copyBody(body, start, groups)
	p.emit(regexInstruction{op: opMoved, x: register})
}

// copyBody emits the code of what is repeated. Its groups begin without a match.
func (p *regexParser) copyBody(body []regexInstruction, start, groups int) {
	if p.groups > groups {
		p.emit(regexInstruction{op: opClear, x: 2 * groups, y: 2 * p.groups})
	}
	move := len(p.code) - start
	for _, i := range body {
		switch i.op {
		case opSplit:
			i.x += move
			i.y += move
		case opJump, opLook, opNotLook, opBehind, opNotBehind:
			i.x += move
		default:
		}
		p.emit(i)
	}
}

// maxCounts is how long the text of {low,high} may be.
const maxCounts = 50

// counts reads {low,high}; other braces stand for themselves.
func (p *regexParser) counts() (low, high int, ok bool) {
	inside, _, found := strings.Cut(p.text[p.pos+1:min(len(p.text), p.pos+maxCounts)], "}")
	first, second, two := strings.Cut(inside, ",")
	low, err := strconv.Atoi(first)
	if !found || err != nil || low < 0 || strings.HasPrefix(first, "+") {
		return 0, 0, false
	}
	high = low
	if two {
		high = -1
		if second != "" {
			if high, err = strconv.Atoi(second); err != nil || high < 0 {
				return 0, 0, false
			}
		}
	}
	p.pos += len(inside) + 2
	if low > maxRegexCode || high > maxRegexCode {
		p.fail("it is too large")
	}
	return low, high, true
}
