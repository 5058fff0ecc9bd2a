// Package jmespath reads, checks and evaluates JMESPath expressions
// (https://jmespath.org/specification.html: the whole grammar and all its
// functions) on JSON values and on typed Go values such as AWS SDK outputs. On
// SDK structs the stock interpreters give wrong answers without an error
// (named strings never equal a literal, pointers compare as null). Here an
// expression is compiled against the Go type once: members become indexes of fields,
// misspelt ones are found at once, and projections stream.
//
// Go values read as the Smithy waiters specification says ("JMESPath data
// model"): named strings are strings, timestamps epoch seconds, blobs base64,
// a union is an object with its one member, a document its JSON value. A
// member's name is that of the Go field; its first letter may be in lower
// case. A nil pointer is null; a nil slice or map is empty, as in the SDK's
// own waiters. Fields that have no JMESPath form, such as streams, are left
// out of keys, values and wildcards, and cannot be read by name.
//
// An expression can also be checked against a type that only data describes, a
// [jsontype.Type], by the same check. That and a Go type are what a value is
// declared to be. A [Shape] is what the check knows of the value of a part of an
// expression. The two stay apart: a declared type can contain itself and is
// compared by name, while a shape narrows kinds, joins types and knows from where
// a value comes.
//
// Members of an object have no order in JMESPath; here keys, values and
// wildcards follow the sorted names, so that results repeat.
package jmespath

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// maxDepth is how deep an expression may nest.
const maxDepth = 250

// Expr is a parsed expression.
type Expr struct {
	text string
	root *Node
}

// String returns the text the expression was parsed from.
func (e *Expr) String() string { return e.text }

// Parse reads an expression. Its error is an *[Error]: the first place at
// which the text leaves the grammar or, in a text that does not, everything
// that no value can make right: unknown functions, wrong numbers of arguments,
// slices with the step 0.
func Parse(text string) (*Expr, error) {
	p := &parser{lexer: lexer{text: text}}
	p.requireUTF8()
	p.advance()
	root := p.expression(0)
	if p.failed == nil && p.cur.token != tokEnd {
		p.refuseToken("an operator or the end of the expression")
	}
	if p.failed != nil {
		return nil, p.failed
	}
	if len(p.refused) > 0 {
		return nil, &Error{Code: p.code, Problems: p.refused}
	}
	return &Expr{text: text, root: root}, nil
}

// power is how strongly a token binds what stands before it.
var power = map[token]int{
	tokPipe: 1, tokOr: 2, tokAnd: 3, tokCompare: 5, tokFlatten: 9,
	tokStar: 20, tokFilter: 21, tokDot: 40, tokNot: 45, tokBrace: 50, tokOpen: 55, tokParen: 60,
}

// endOfProjection is the power below which a token ends a projection.
const endOfProjection = 10

// parser is an operator precedence parser. After the first syntax error it
// stands still: failed is set and every lexeme is tokBad.
type parser struct {
	lexer
	cur    lexeme
	level  int
	failed *Error

	refused diag.Problems // what the grammar allows and no value can make right
	code    Code          // of the first of them
}

// requireUTF8 fails at a byte of the text that is no part of a character. A raw
// string with one would equal no string of JSON, nor be written as one.
func (p *parser) requireUTF8() {
	for at, c := range p.text {
		if c == utf8.RuneError && !strings.HasPrefix(p.text[at:], "\ufffd") {
			p.fail(at, "the expression is not UTF-8: byte 0x%02x is no part of a character", p.text[at])
			return
		}
	}
}

func (p *parser) advance() {
	if p.failed != nil {
		return
	}
	if p.cur = p.next(); p.cur.token == tokBad {
		p.fail(p.cur.at, "%s", p.problem)
	}
}

func (p *parser) fail(at int, format string, args ...any) {
	if p.failed == nil {
		p.failed = &Error{Code: Syntax, Problems: diag.Problems{diag.At([]byte(p.text), at, "", fmt.Sprintf(format, args...))}}
		p.cur = lexeme{token: tokBad, at: at}
	}
}

func (p *parser) refuseToken(want string) {
	p.fail(p.cur.at, "expected %s, found %s", want, p.cur)
}

// expect moves past a token.
func (p *parser) expect(t token, want string) {
	if p.cur.token != t {
		p.refuseToken(want)
	}
	p.advance()
}

// node finishes a node over its kids.
func (p *parser) node(n Node, kids ...*Node) *Node {
	n.Kids = kids
	for _, kid := range kids {
		n.depth = max(n.depth, kid.depth)
	}
	if n.depth++; n.depth > maxDepth {
		p.fail(n.Offset, "the expression nests deeper than %d levels", maxDepth)
	}
	return &n
}

func (p *parser) current() *Node { return p.node(Node{Op: OpCurrent, Offset: p.cur.at}) }

// expression reads as much as binds more strongly than right.
func (p *parser) expression(right int) *Node {
	if p.level++; p.level > maxDepth {
		p.fail(p.cur.at, "the expression nests deeper than %d levels", maxDepth)
	}
	left := p.prefix()
	for p.failed == nil && right < power[p.cur.token] {
		left = p.infix(left)
	}
	p.level--
	return left
}

// prefix reads what can start an expression.
func (p *parser) prefix() *Node {
	t := p.cur
	switch t.token {
	case tokName:
		p.advance()
		if p.cur.token == tokParen {
			return p.call(t)
		}
		return p.node(Node{Op: OpField, Offset: t.at, Name: t.text})
	case tokQuoted:
		p.advance()
		if p.cur.token == tokParen {
			p.fail(t.at, "the name of a function stands without quotes")
		}
		return p.node(Node{Op: OpField, Offset: t.at, Name: t.text})
	case tokLiteral, tokRaw:
		p.advance()
		return p.node(Node{Op: OpLiteral, Offset: t.at, Value: t.value})
	case tokCurrent:
		p.advance()
		return p.node(Node{Op: OpCurrent, Offset: t.at})
	case tokNot:
		p.advance()
		return p.node(Node{Op: OpNot, Offset: t.at}, p.expression(power[tokNot]))
	case tokParen:
		p.advance()
		inner := p.expression(0)
		p.expect(tokParenEnd, `")"`)
		return inner
	case tokBrace:
		return p.multiHash()
	case tokStar:
		return p.values(p.current())
	case tokFlatten, tokFilter:
		return p.infix(p.current())
	case tokOpen:
		return p.bracket(p.current(), true)
	default:
		p.refuseToken("an expression")
		return p.current()
	}
}

// infix reads what can follow an expression.
func (p *parser) infix(left *Node) *Node {
	t := p.cur
	switch t.token {
	case tokDot:
		p.advance()
		if p.cur.token == tokStar {
			return p.values(left)
		}
		return p.node(Node{Op: OpSub, Offset: t.at}, left, p.member(power[tokDot]))
	case tokFlatten:
		p.advance()
		return p.project(p.node(Node{Op: OpFlatten, Offset: t.at}, left), power[tokFlatten])
	case tokFilter:
		p.advance()
		condition := p.expression(0)
		p.expect(tokClose, `"]"`)
		return p.project(p.node(Node{Op: OpFilter, Offset: t.at}, left, condition), power[tokFilter])
	case tokOpen:
		return p.bracket(left, false)
	case tokPipe:
		return p.binary(Node{Op: OpPipe, Offset: t.at}, left, t)
	case tokOr:
		return p.binary(Node{Op: OpOr, Offset: t.at}, left, t)
	case tokAnd:
		return p.binary(Node{Op: OpAnd, Offset: t.at}, left, t)
	case tokCompare:
		return p.binary(Node{Op: OpCompare, Offset: t.at, Order: orders[t.text]}, left, t)
	default: // a token that only starts an expression, or "("
		p.refuseToken("an operator or the end of the expression")
		return left
	}
}

// values reads a projection of the values of an object, at its "*".
func (p *parser) values(left *Node) *Node {
	at := p.cur.at
	p.advance()
	return p.project(p.node(Node{Op: OpValues, Offset: at}, left), power[tokStar])
}

func (p *parser) binary(n Node, left *Node, operator lexeme) *Node {
	p.advance()
	return p.node(n, left, p.expression(power[operator.token]))
}

// member reads what stands behind a dot.
func (p *parser) member(right int) *Node {
	switch p.cur.token {
	case tokName, tokQuoted, tokStar:
		return p.expression(right)
	case tokOpen:
		at := p.cur.at
		p.advance()
		return p.multiList(at)
	case tokBrace:
		return p.multiHash()
	default:
		p.refuseToken(`a name, "*", "[" or "{"`)
		return p.current()
	}
}

// project reads what a projection does with each element of its source.
func (p *parser) project(source *Node, right int) *Node {
	n := Node{Op: OpProject, Offset: source.Offset}
	switch {
	case p.cur.token == tokOpen || p.cur.token == tokFilter:
		return p.node(n, source, p.expression(right))
	case p.cur.token == tokDot:
		p.advance()
		return p.node(n, source, p.member(right))
	case power[p.cur.token] < endOfProjection:
		return p.node(n, source, p.current())
	default:
		p.refuseToken("an operator or the end of the expression")
		return source
	}
}

// bracket reads "[0]", "[1:2]", "[*]" and, where an expression starts, a
// multi-select list.
func (p *parser) bracket(left *Node, starts bool) *Node {
	at := p.cur.at
	p.advance()
	switch {
	case p.cur.token == tokNumber || p.cur.token == tokColon:
		return p.indexOrSlice(left, at)
	case p.cur.token == tokStar && p.closes():
		p.advance()
		p.advance()
		return p.project(left, power[tokStar])
	case starts:
		return p.multiList(at)
	default:
		p.refuseToken(`a number, ":" or "*]"`)
		return left
	}
}

// closes reports whether a "]" follows the current token.
func (p *parser) closes() bool {
	ahead := p.lexer
	return ahead.next().token == tokClose
}

func (p *parser) indexOrSlice(left *Node, at int) *Node {
	var parts [3]*int
	colons := 0
	for p.failed == nil && p.cur.token != tokClose {
		switch {
		case p.cur.token == tokColon && colons < 2:
			colons++
			p.advance()
		case p.cur.token == tokNumber && parts[colons] == nil:
			at := p.cur.at
			if parts[colons] = p.number(); colons == 2 && *parts[colons] == 0 {
				p.refuse(InvalidValue, p.at(at, "the step of a slice must not be 0"))
			}
		default:
			p.refuseToken(`a number, ":" or "]"`)
		}
	}
	p.expect(tokClose, `"]"`)
	if colons > 0 {
		return p.project(p.node(Node{Op: OpSlice, Offset: at, Slice: parts}, left), power[tokStar])
	}
	if parts[0] == nil { // after a failure
		return left
	}
	return p.node(Node{Op: OpIndex, Offset: at, Index: *parts[0]}, left)
}

// number reads an integer. One beyond all arrays stays beyond them.
func (p *parser) number() *int {
	n, err := strconv.Atoi(p.cur.text)
	if err != nil {
		n = math.MaxInt32
		if p.cur.text[0] == '-' {
			n = -n
		}
	}
	p.advance()
	return &n
}

// multiList reads the rest of a multi-select list.
func (p *parser) multiList(at int) *Node {
	var kids []*Node
	for {
		kids = append(kids, p.expression(0))
		if p.cur.token != tokComma {
			break
		}
		p.advance()
	}
	p.expect(tokClose, `"," or "]"`)
	return p.node(Node{Op: OpMultiList, Offset: at}, kids...)
}

func (p *parser) multiHash() *Node {
	n := Node{Op: OpMultiHash, Offset: p.cur.at}
	var kids []*Node
	for {
		p.advance()
		if p.cur.token != tokName && p.cur.token != tokQuoted {
			p.refuseToken("a name")
		}
		n.Names = append(n.Names, p.cur.text)
		p.advance()
		p.expect(tokColon, `":"`)
		kids = append(kids, p.expression(0))
		if p.cur.token != tokComma {
			break
		}
	}
	p.expect(tokBraceEnd, `"," or "}"`)
	return p.node(n, kids...)
}

// call reads the arguments of a function and checks their number.
func (p *parser) call(name lexeme) *Node {
	p.advance()
	var kids []*Node
	for p.cur.token != tokParenEnd {
		kids = append(kids, p.argument())
		if p.cur.token != tokComma {
			break
		}
		if p.advance(); p.cur.token == tokParenEnd {
			p.refuseToken("an argument")
		}
	}
	p.expect(tokParenEnd, `"," or ")"`)
	n := p.node(Node{Op: OpCall, Offset: name.at, Name: name.text, fn: functions[name.text]}, kids...)
	if p.failed == nil {
		p.checkCall(n)
	}
	return n
}

func (p *parser) argument() *Node {
	if p.cur.token != tokRef {
		return p.expression(0)
	}
	at := p.cur.at
	p.advance()
	return p.node(Node{Op: OpRef, Offset: at}, p.expression(0))
}

// checkCall reports a call that no value can make right.
func (p *parser) checkCall(n *Node) {
	if n.fn == nil {
		p.refuse(UnknownFunction, p.at(n.Offset, "JMESPath has no function %s()", n.Name).Suggest(n.Name, functionNames...))
		return
	}
	if !n.fn.takes(len(n.Kids)) {
		p.refuse(InvalidArity, p.at(n.Offset, "%s() takes %s, found %d", n.Name, n.fn.arity(), len(n.Kids)))
		return
	}
	for i, kid := range n.Kids {
		wantsRef := n.fn.param(i).ref
		switch {
		case wantsRef && kid.Op != OpRef:
			p.refuse(InvalidType, p.at(kid.Offset, `argument %d of %s() must be an expression: write "&" before it`, i+1, n.Name))
		case !wantsRef && kid.Op == OpRef:
			p.refuse(InvalidType, p.at(kid.Offset, `argument %d of %s() must be a value, not an expression: remove the "&"`, i+1, n.Name))
		}
	}
}

func (p *parser) at(offset int, format string, args ...any) diag.Problem {
	return diag.At([]byte(p.text), offset, "", fmt.Sprintf(format, args...))
}

func (p *parser) refuse(code Code, problem diag.Problem) {
	if len(p.refused) == 0 {
		p.code = code
	}
	p.refused = append(p.refused, problem)
}
