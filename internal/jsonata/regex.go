package jsonata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Regular expressions are those of JavaScript without flags but i and m. They
// are tried with backtracking, and each step counts.

// regexOp is what an instruction does.
type regexOp uint8

const (
	opRune      regexOp = iota // matches one character
	opAny                      // matches one that ends no line
	opClass                    // matches one of a class
	opSplit                    // goes on at x, and if that fails at y
	opJump                     // goes on at x
	opSave                     // keeps the place as a border of group x
	opClear                    // forgets the groups from x up to y
	opMark                     // keeps the place in register x
	opMoved                    // fails if the place is that in register x
	opStart                    // matches at the start
	opEnd                      // matches at the end
	opWord                     // matches at the border of a word
	opNoWord                   // matches elsewhere
	opBack                     // matches what group x matched
	opLook                     // matches if the program up to x does, from here on
	opNotLook                  // matches if that does not
	opBehind                   // matches if the program up to x does, ending here
	opNotBehind                // matches if that does not
	opMatch                    // ends
)

type regexInstruction struct {
	op    regexOp
	x, y  int
	char  rune
	class *regexClass
}

// regexProgram is a compiled regular expression.
type regexProgram struct {
	source    string // with slashes and flags
	code      []regexInstruction
	groups    int
	registers int
	fold      bool // upper and lower case are the same
	lines     bool // ^ and $ match at each line
}

// regexClass is a set of characters.
type regexClass struct {
	negated bool
	ranges  []rune // pairs of the first and the last
	parts   []*regexClass
}

func (c *regexClass) has(r rune) bool {
	found := false
	for i := 0; i < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			found = true
			break
		}
	}
	if !found {
		found = slices.ContainsFunc(c.parts, func(part *regexClass) bool { return part.has(r) })
	}
	return found != c.negated
}

var (
	digitClass = &regexClass{ranges: []rune{'0', '9'}}
	wordClass  = &regexClass{ranges: []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}}
	spaceClass = &regexClass{ranges: []rune{
		'\t', '\r', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x202F,
		0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF,
	}}
	shortClasses = map[rune]*regexClass{
		'd': digitClass, 'w': wordClass, 's': spaceClass,
		'D': {negated: true, parts: []*regexClass{digitClass}},
		'W': {negated: true, parts: []*regexClass{wordClass}},
		'S': {negated: true, parts: []*regexClass{spaceClass}},
	}
)

// Bounds of a regular expression.
const (
	maxRegexCode    = 20_000
	maxRegexNesting = 200
)

// regexParser compiles a regular expression while it reads it.
type regexParser struct {
	*regexProgram
	text  string
	pos   int
	level int
	names map[string]int
	total int // groups in the whole
}

type regexError string

func (f regexError) Error() string { return string(f) }

// compileRegex compiles /pattern/flags.
func compileRegex(source string) (program *regexProgram, err error) {
	last := strings.LastIndexByte(source, '/')
	program = &regexProgram{
		source: source, groups: 1,
		fold: strings.Contains(source[last:], "i"), lines: strings.Contains(source[last:], "m"),
	}
	return program.compile(source[1:last])
}

func (g *regexProgram) compile(pattern string) (program *regexProgram, err error) {
	p := &regexParser{regexProgram: g, text: pattern, names: map[string]int{}}
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(regexError)
			if !ok {
				panic(r)
			}
			program, err = nil, fault
		}
	}()
	p.countGroups()
	p.emit(regexInstruction{op: opSave, x: 0})
	p.alternatives()
	if p.pos < len(p.text) {
		p.fail("unexpected )")
	}
	p.emit(regexInstruction{op: opSave, x: 1})
	p.emit(regexInstruction{op: opMatch})
	return g, nil
}

// countGroups counts the groups and reads their names: a reference may stand
// before its group.
func (p *regexParser) countGroups() {
	p.total = 1
	class := false
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '(':
			rest := p.text[i+1:]
			named := strings.HasPrefix(rest, "?<") && !strings.HasPrefix(rest, "?<=") && !strings.HasPrefix(rest, "?<!")
			if class || strings.HasPrefix(rest, "?") && !named {
				continue
			}
			if named {
				p.names[p.groupName(rest[1:])] = p.total
			}
			p.total++
		}
	}
}

// maxGroupName is how long the name of a group may be.
const maxGroupName = 100

// groupName reads a name in angle brackets.
func (p *regexParser) groupName(text string) string {
	end := strings.IndexByte(text[:min(len(text), maxGroupName+2)], '>')
	if end < 1 || text[0] != '<' {
		p.fail("the name of a group is in < and >, and has at most %d bytes", maxGroupName)
	}
	return text[1:end]
}

func (p *regexParser) fail(format string, args ...any) {
	panic(regexError(fmt.Sprintf(format, args...)))
}

func (p *regexParser) emit(i regexInstruction) int {
	if len(p.code) >= maxRegexCode {
		p.fail("it is too large")
	}
	p.code = append(p.code, i)
	return len(p.code) - 1
}

func (p *regexParser) peek(s string) bool { return strings.HasPrefix(p.text[p.pos:], s) }

func (p *regexParser) take(s string) bool {
	if !p.peek(s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *regexParser) next() rune {
	if p.pos == len(p.text) {
		p.fail("it ends too early")
	}
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += size
	return r
}

// alternatives compiles a|b|c up to the end or a closing parenthesis.
func (p *regexParser) alternatives() {
	if p.level++; p.level > maxRegexNesting {
		p.fail("it nests too deep")
	}
	defer func() { p.level-- }()
	start := len(p.code)
	var ends []int
	for {
		p.sequence()
		if !p.take("|") {
			break
		}
		p.insert(start, regexInstruction{op: opSplit})
		ends = append(ends, p.emit(regexInstruction{op: opJump}))
		p.code[start].x, p.code[start].y = start+1, len(p.code)
		start = len(p.code)
	}
	for _, end := range ends {
		p.code[end].x = len(p.code)
	}
}

// insert puts an instruction before others.
func (p *regexParser) insert(at int, i regexInstruction) {
	p.emit(regexInstruction{})
	copy(p.code[at+1:], p.code[at:])
	p.code[at] = i
	for j := at + 1; j < len(p.code); j++ {
		in := &p.code[j]
		switch in.op {
		case opSplit:
			if in.x >= at {
				in.x++
			}
			if in.y >= at {
				in.y++
			}
		case opJump, opLook, opNotLook, opBehind, opNotBehind:
			if in.x >= at {
				in.x++
			}
		default:
		}
	}
}

func (p *regexParser) sequence() {
	for p.pos < len(p.text) && !p.peek("|") && !p.peek(")") {
		start, groups := len(p.code), p.groups
		repeatable := p.atom()
		p.repetition(start, groups, repeatable)
	}
}

// atom compiles what can be repeated, and says whether it can.
func (p *regexParser) atom() bool {
	switch r := p.next(); r {
	case '^':
		p.emit(regexInstruction{op: opStart})
		return false
	case '$':
		p.emit(regexInstruction{op: opEnd})
		return false
	case '.':
		p.emit(regexInstruction{op: opAny})
	case '[':
		p.emit(regexInstruction{op: opClass, class: p.class()})
	case '(':
		return p.group()
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.fail("nothing stands before %c", r)
	default:
		p.emit(regexInstruction{op: opRune, char: p.foldCase(r)})
	}
	return true
}

func (p *regexParser) foldCase(r rune) rune {
	if p.fold {
		return foldRune(r)
	}
	return r
}

// foldRune is the same for the upper and the lower case of a character.
func foldRune(r rune) rune {
	if upper := unicode.ToUpper(r); r < utf8.RuneSelf || upper >= utf8.RuneSelf {
		return upper
	}
	return r
}

func (p *regexParser) group() bool {
	for mark, op := range map[string]regexOp{"?=": opLook, "?!": opNotLook, "?<=": opBehind, "?<!": opNotBehind} {
		if p.take(mark) {
			at := p.emit(regexInstruction{op: op})
			p.alternatives()
			p.close()
			p.emit(regexInstruction{op: opMatch})
			p.code[at].x = len(p.code)
			return op == opLook || op == opNotLook
		}
	}
	if p.take("?:") {
		p.alternatives()
		p.close()
		return true
	}
	if p.take("?<") {
		for p.next() != '>' {
			continue
		}
	} else if p.peek("?") {
		p.fail("no such group")
	}
	n := p.groups
	p.groups++
	p.emit(regexInstruction{op: opSave, x: 2 * n})
	p.alternatives()
	p.close()
	p.emit(regexInstruction{op: opSave, x: 2*n + 1})
	return true
}

func (p *regexParser) close() {
	if !p.take(")") {
		p.fail("a group has no )")
	}
}

func (p *regexParser) escape() bool {
	switch r := p.next(); {
	case r == 'b':
		p.emit(regexInstruction{op: opWord})
		return false
	case r == 'B':
		p.emit(regexInstruction{op: opNoWord})
		return false
	case shortClasses[r] != nil:
		p.emit(regexInstruction{op: opClass, class: shortClasses[r]})
	case r == 'k' && len(p.names) > 0:
		name := p.groupName(p.text[p.pos:])
		n, ok := p.names[name]
		if !ok {
			p.fail("no group is named %s", name)
		}
		p.pos += len(name) + 2
		p.emit(regexInstruction{op: opBack, x: n})
	case '1' <= r && r <= '9':
		length := 1
		for p.pos-1+length < len(p.text) && '0' <= p.text[p.pos-1+length] && p.text[p.pos-1+length] <= '9' {
			length++
		}
		n, err := strconv.Atoi(p.text[p.pos-1 : p.pos-1+length])
		if err == nil && n < p.total {
			p.pos += length - 1
			p.emit(regexInstruction{op: opBack, x: n})
			break
		}
		p.emit(regexInstruction{op: opRune, char: r})
	default:
		p.emit(regexInstruction{op: opRune, char: p.foldCase(p.character(r))})
	}
	return true
}

// character is the character that an escape sequence means.
func (p *regexParser) character(r rune) rune {
	switch r {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	case '0':
		return 0
	case 'c':
		if p.pos < len(p.text) && unicode.IsLetter(rune(p.text[p.pos])) {
			p.pos++
			return rune(p.text[p.pos-1] & 31)
		}
	case 'x':
		return p.hex(2, r)
	case 'u':
		return p.hex(4, r)
	}
	return r
}

// hex reads digits; without them the letter stands for itself.
func (p *regexParser) hex(digits int, letter rune) rune {
	if p.pos+digits <= len(p.text) {
		if n, err := strconv.ParseUint(p.text[p.pos:p.pos+digits], 16, 32); err == nil {
			p.pos += digits
			return rune(n) //nolint:gosec // it has 16 bits
		}
	}
	return letter
}

// class reads a class after its opening bracket.
func (p *regexParser) class() *regexClass {
	c := &regexClass{negated: p.take("^")}
	for !p.take("]") {
		low, set := p.classItem()
		if set != nil {
			c.parts = append(c.parts, set)
			continue
		}
		high := low
		if p.peek("-") && !p.peek("-]") {
			p.pos++
			end, set := p.classItem()
			if set != nil {
				c.ranges = append(c.ranges, '-', '-')
				c.parts = append(c.parts, set)
			} else {
				high = end
			}
		}
		if high < low {
			p.fail("a range of characters is out of order")
		}
		c.ranges = append(c.ranges, low, high)
	}
	if p.fold {
		p.foldClass(c)
	}
	return c
}

// foldClass adds the other case of letters.
func (p *regexParser) foldClass(c *regexClass) {
	looked := 0
	for i := 0; i < len(c.ranges) && looked < maxRegexCode; i += 2 {
		low, high := c.ranges[i], c.ranges[i+1]
		if high-low > 1_000 {
			continue // has both cases of what matters
		}
		looked += int(high-low) + 1
		for r := low; r <= high; r++ {
			for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
				if (other < low || other > high) && (other < utf8.RuneSelf) == (r < utf8.RuneSelf) {
					c.parts = append(c.parts, &regexClass{ranges: []rune{other, other}})
				}
			}
		}
	}
}

func (p *regexParser) classItem() (rune, *regexClass) {
	r := p.next()
	if r != '\\' {
		return r, nil
	}
	switch r = p.next(); {
	case shortClasses[r] != nil:
		return 0, shortClasses[r]
	case r == 'b':
		return '\b', nil
	}
	return p.character(r), nil
}
