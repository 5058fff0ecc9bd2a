package jsonata

import (
	"slices"
	"unicode/utf8"
)

// regexValue is a regular expression. It is a function that matches a text.
type regexValue struct{ program *regexProgram }

// nextMatch is the function that a match has for the one after it.
type nextMatch struct {
	regex *regexValue
	text  string
	from  int
	// fromUnit is the same place in UTF-16 code units.
	fromUnit int
}

// match is where a regular expression, or a function in its place, matches.
type match struct {
	text       string
	start, end int // bytes
	// Their places in UTF-16 code units.
	startUnit, endUnit int
	groups             []any
	next               any
	// of is the text that was searched, if a regular expression searched it.
	of    string
	regex *regexValue
	made  any // the object of a function that is not a regular expression
}

// value is a match as functions of the expression see it.
func (f *match) value(m *machine) any {
	if f.made != nil {
		return f.made
	}
	o := m.newObject()
	m.set(o, "match", f.text)
	m.set(o, "start", m.box(float64(f.startUnit)))
	m.set(o, "end", m.box(float64(f.endUnit)))
	m.set(o, "groups", m.newList(f.groups...))
	m.set(o, "next", f.next)
	return o
}

func (m *machine) callRegex(regex *regexValue, args []any) any {
	if len(args) == 0 {
		return undefined
	}
	text, ok := args[0].(string)
	if !ok {
		return undefined
	}
	return m.matchValue(&nextMatch{regex: regex, text: text})
}

func (m *machine) matchValue(n *nextMatch) any {
	found := m.find(n)
	if found == nil {
		return undefined
	}
	return found.value(m)
}

// firstMatch is the first match of a regular expression, or of a function that
// finds what it likes.
func (m *machine) firstMatch(matcher any, text string, c *arguments) *match {
	if regex, ok := matcher.(*regexValue); ok {
		return m.find(&nextMatch{regex: regex, text: text})
	}
	return m.matchOf(m.callBack(matcher, []any{text}, c), text)
}

// nextOf is the match after another.
func (m *machine) nextOf(found *match, c *arguments) *match {
	if found.regex != nil {
		return m.find(&nextMatch{found.regex, found.of, found.end, found.endUnit})
	}
	if !isFunctionValue(found.next) {
		return nil
	}
	return m.matchOf(m.callBack(found.next, nil, c), found.of)
}

// matchOf reads the match that a function gave.
func (m *machine) matchOf(v any, text string) *match {
	if v == undefined || !m.truth(v) {
		return nil
	}
	start, isNumber := number(member(v, "start"))
	end, _ := number(member(v, "end"))
	next := member(v, "next")
	groups, isArray := itemsOf(member(v, "groups"))
	if !isNumber && !isArray && !isFunctionValue(next) {
		m.throw(&Error{Code: "T1010", Message: "The matcher function argument passed to function match does not return the correct object structure"})
	}
	matched, _ := member(v, "match").(string)
	m.step(len(text) / 8)
	found := &match{
		text: matched, start: byteOf(text, start), end: byteOf(text, end), groups: groups, next: next, of: text, made: v,
	}
	found.startUnit = units(text[:found.start])
	return found
}

// byteOf is the byte at which a UTF-16 code unit of a text begins.
func byteOf(s string, unit float64) int {
	i := 0
	for n := 0.0; i < len(s) && n < unit; n++ {
		w := width(s[i:])
		if w == 4 {
			n++
		}
		i += w
	}
	return i
}

func matchFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	limit := limitOf(m, c, 2, "D3040", "Third argument of match function must evaluate to a positive number")
	out := m.newSequence()
	count := 0.0
	for found := m.firstMatch(c.at(1), s, c); found != nil && count < limit; found = m.nextOf(found, c) {
		o := m.newObject()
		m.set(o, "match", found.text)
		m.set(o, "index", m.box(float64(found.startUnit)))
		m.set(o, "groups", m.newList(found.groups...))
		m.push(out, o)
		count++
	}
	return out
}

// find is the first match from a byte on.
func (m *machine) find(n *nextMatch) *match {
	regex, text, from := n.regex, n.text, n.from
	if from > 0 && from >= len(text) {
		return nil
	}
	s := m.newSearch(regex.program, text)
	for start := from; start <= len(text); {
		for i := range s.saved {
			s.saved[i] = -1
		}
		if _, ok := s.run(0, start); ok {
			return m.matchAt(n, s.saved)
		}
		m.step(1)
		if start == len(text) {
			break
		}
		start += width(text[start:])
	}
	return nil
}

func (m *machine) matchAt(n *nextMatch, saved []int) *match {
	regex, text, start, end := n.regex, n.text, saved[0], saved[1]
	if start == end {
		m.throw(&Error{Code: "D1004", Message: "Regular expression matches zero length string"})
	}
	found := &match{text: m.part(text, start, end), start: start, end: end, of: text, regex: regex}
	m.scan(text[n.from:max(end, n.from)])
	found.startUnit = n.fromUnit
	if start > n.from {
		found.startUnit += units(text[n.from:start])
	}
	found.endUnit = found.startUnit + units(text[start:end])
	m.hold(4*bindingBytes + len(saved)*slotBytes)
	for i := 2; i < len(saved); i += 2 {
		if saved[i] < 0 || saved[i+1] < 0 {
			found.groups = append(found.groups, undefined)
		} else {
			found.groups = append(found.groups, m.part(text, saved[i], saved[i+1]))
		}
	}
	found.next = &nextMatch{regex, text, end, found.endUnit}
	return found
}

// search runs a program on a text.
type search struct {
	m       *machine
	program *regexProgram
	text    string
	saved   []int // borders of groups, in bytes
	marks   []int
	undo    []change
	level   int
}

// change is something to take back when another way is tried: a border of a
// group, a register, or, with target -1, the way itself.
type change struct {
	target int // of a register: minus 2 and less
	value  int
	place  int
}

const changeBytes = 24

func (m *machine) newSearch(program *regexProgram, text string) *search {
	m.hold(8*(2*program.groups+program.registers) + 128)
	return &search{
		m: m, program: program, text: text, saved: make([]int, 2*program.groups), marks: make([]int, program.registers),
	}
}

func (s *search) push(c change) {
	if len(s.undo) == cap(s.undo) {
		grown := max(32, 2*cap(s.undo))
		s.m.hold(grown * changeBytes)
		s.undo = slices.Grow(s.undo, grown-len(s.undo))
	}
	s.undo = append(s.undo, c)
}

func (s *search) save(i, at int) {
	s.push(change{target: i, value: s.saved[i]})
	s.saved[i] = at
}

// back takes back changes up to the last way that was not tried, or fails.
func (s *search) back(base int) (pc, at int, ok bool) {
	for len(s.undo) > base {
		c := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		switch {
		case c.target >= 0:
			s.saved[c.target] = c.value
		case c.target < -1:
			s.marks[-2-c.target] = c.value
		default:
			return c.value, c.place, true
		}
	}
	return 0, 0, false
}

// run runs the program from an instruction and a place on, and says where it
// ended.
func (s *search) run(pc, at int) (end int, matched bool) {
	base := len(s.undo)
	for {
		s.m.steps++
		if s.m.steps >= s.m.next {
			s.m.look()
		}
		in := &s.program.code[pc]
		ok := true
		switch in.op {
		case opMatch:
			s.forget(base)
			return at, true
		case opRune, opAny, opClass:
			if ok = at < len(s.text) && s.matches(in, at); ok {
				at += width(s.text[at:])
			}
		case opSplit:
			s.push(change{-1, in.y, at})
			pc = in.x
			continue
		case opJump:
			pc = in.x
			continue
		case opSave:
			s.save(in.x, at)
		case opClear:
			for i := in.x; i < in.y; i++ {
				s.save(i, -1)
			}
			s.m.step(in.y - in.x)
		case opMark:
			s.push(change{target: -2 - in.x, value: s.marks[in.x]})
			s.marks[in.x] = at
		case opMoved:
			ok = s.marks[in.x] != at
		case opBack:
			ok, at = s.repeats(in.x, at)
		case opLook, opNotLook, opBehind, opNotBehind:
			ok = s.looks(in, pc, at)
			pc = in.x - 1
		default:
			ok = s.stands(in.op, at)
		}
		if ok {
			pc++
			continue
		}
		if pc, at, ok = s.back(base); !ok {
			return 0, false
		}
	}
}

// forget drops the ways that were not tried, and keeps what was changed so that
// a way before can take it back.
func (s *search) forget(base int) {
	if base == 0 {
		s.undo = s.undo[:0]
		return
	}
	kept := s.undo[:base]
	s.m.step(len(s.undo) - base)
	for _, c := range s.undo[base:] {
		if c.target != -1 {
			kept = append(kept, c)
		}
	}
	s.undo = kept
}

func (s *search) matches(in *regexInstruction, at int) bool {
	r := rune(s.text[at])
	if r >= utf8.RuneSelf {
		r, _ = utf8.DecodeRuneInString(s.text[at:])
	}
	switch in.op {
	case opAny:
		return r != '\n' && r != '\r' && r != 0x2028 && r != 0x2029
	case opClass:
		s.m.steps += (len(in.class.ranges) + len(in.class.parts)) / 8
		return in.class.has(r)
	default:
	}
	return r == in.char || s.program.fold && foldRune(r) == in.char
}

// stands says that a place is where an assertion wants it.
func (s *search) stands(op regexOp, at int) bool {
	switch op {
	case opStart:
		return at == 0 || s.program.lines && isLineEnd(s.text[at-1])
	case opEnd:
		return at == len(s.text) || s.program.lines && isLineEnd(s.text[at])
	default:
	}
	before := at > 0 && wordClass.has(rune(s.text[at-1]))
	after := at < len(s.text) && wordClass.has(rune(s.text[at]))
	return (before != after) == (op == opWord)
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

// repeats matches what a group matched.
func (s *search) repeats(group, at int) (bool, int) {
	start, end := s.saved[2*group], s.saved[2*group+1]
	if start < 0 || end < start {
		return true, at
	}
	part := s.text[start:end]
	s.m.step(len(part) / 16)
	if len(s.text)-at < len(part) {
		return false, at
	}
	there := s.text[at : at+len(part)]
	if part == there {
		return true, at + len(part)
	}
	if !s.program.fold {
		return false, at
	}
	s.m.step(len(part))
	for i := 0; i < len(part); {
		r, size := utf8.DecodeRuneInString(part[i:])
		other, _ := utf8.DecodeRuneInString(there[i:])
		if foldRune(r) != foldRune(other) {
			return false, at
		}
		i += size
	}
	return true, at + len(part)
}

// looks runs the program of an assertion.
func (s *search) looks(in *regexInstruction, pc, at int) bool {
	if s.level++; s.level > maxRegexNesting {
		s.m.throw(errDepth)
	}
	defer func() { s.level-- }()
	wanted := in.op == opLook || in.op == opBehind
	base := len(s.undo)
	found := false
	if in.op == opLook || in.op == opNotLook {
		_, found = s.run(pc+1, at)
	} else {
		for from := at; from >= 0 && !found; from-- {
			s.m.step(1)
			if from < len(s.text) && !utf8.RuneStart(s.text[from]) {
				continue
			}
			end, ok := s.run(pc+1, from)
			if found = ok && end == at; ok && !found {
				s.restore(base)
			}
		}
	}
	if found && !wanted {
		s.restore(base)
	}
	return found == wanted
}

// restore takes back all changes since a place.
func (s *search) restore(base int) {
	for len(s.undo) > base {
		s.back(base)
	}
}
