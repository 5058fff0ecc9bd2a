package jsonata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxNesting bounds how deep the parts of an expression nest, the steps of a
// path among them, so that no text can exhaust the stack.
const maxNesting = 2_000

// maxNodes bounds the names, numbers and texts of an expression, so that its
// tree takes no more memory than its evaluation may.
const maxNodes = 200_000

// powers are the binding powers of JSONata's infix operators.
var powers = map[string]int{
	".": 75, "[": 80, "{": 70, "(": 80, "@": 80, "#": 80, "?": 20,
	"+": 50, "-": 50, "&": 50, "*": 60, "/": 60, "%": 60,
	"=": 40, "!=": 40, "<": 40, "<=": 40, ">": 40, ">=": 40, "in": 40, "^": 40, "~>": 40,
	"and": 30, "or": 25, ":=": 10,
}

// laterOperators are those of later versions of JSONata.
var laterOperators = []string{"??", "?:"}

// parser makes the syntax tree of an expression, and finds its variables.
type parser struct {
	scanner
	token  token
	level  int
	nodes  int
	scopes []*scope
	found  []Reference
	inside []bool // by index in found: bound in the expression after all
	err    error
}

func parse(expression string) (*parser, *node, error) {
	p := &parser{scanner: scanner{text: expression}, scopes: []*scope{{}}}
	p.advance(true)
	whole := p.expression(0)
	if p.token.kind != end {
		p.refuse("S0201", "the expression ends before it")
	}
	p.pop()
	return p, whole, p.err
}

// fail keeps the first error and ends the input.
func (p *parser) fail(code string, offset int, format string, args ...any) {
	if p.err == nil {
		p.err = p.scanner.fail(code, offset, format, args...)
	}
	p.token = token{kind: end, offset: p.token.offset}
	p.pos = len(p.text)
}

func (p *parser) refuse(code, why string) {
	p.fail(code, p.token.offset, "unexpected %s: %s", p.describe(), why)
}

func (p *parser) describe() string {
	if p.token.kind == end {
		return "end of the expression"
	}
	return fmt.Sprintf("%q", p.text[p.token.offset:p.pos])
}

// advance reads the next token, where an operand is expected or an operator.
func (p *parser) advance(operand bool) {
	if p.err != nil {
		return
	}
	next, err := p.next(operand)
	if err != nil {
		p.err = err
		next = token{kind: end, offset: len(p.text)}
		p.pos = len(p.text)
	}
	p.token = next
}

// skip passes an operator that must come here.
func (p *parser) skip(op string, operand bool) {
	switch {
	case p.token.is(op):
		p.advance(operand)
	case p.token.kind == end:
		p.fail("S0203", p.token.offset, "expected %q before the end of the expression", op)
	default:
		p.refuse("S0202", fmt.Sprintf("expected %q", op))
	}
}

// expression parses what binds tighter than a power.
func (p *parser) expression(power int) *node {
	p.level++
	defer func() { p.level-- }()
	if p.level > maxNesting {
		p.nestsTooDeep()
		return p.leaf(nodeHole, p.token)
	}
	left := p.prefix()
	for p.token.kind == operator && powers[p.token.value] > power {
		left = p.infix(left)
		if left.nesting > maxNesting {
			p.nestsTooDeep()
		}
	}
	switch {
	case p.token.kind != operator:
	case slices.Contains(laterOperators, p.token.value):
		p.refuse("S0204", "JSONata 2.0.6 has no such operator, write a condition with ? and :")
	case p.token.is("!") || p.token.is("~"):
		p.refuse("S0204", "no such operator")
	}
	return left
}

func (p *parser) nestsTooDeep() {
	p.fail("S0201", p.token.offset, "the expression nests more than %d levels deep", maxNesting)
}

// leaf is a node without parts.
func (p *parser) leaf(kind nodeKind, t token) *node {
	if p.nodes++; p.nodes > maxNodes {
		p.fail("S0201", t.offset, "the expression has more than %d parts", maxNodes)
	}
	return &node{kind: kind, offset: t.offset, text: t.value, nesting: 1, reference: -1}
}

// finish notes how deep a node nests, after its parts are known.
func finish(n *node) *node {
	n.reference = -1
	n.children(func(part *node) { n.nesting = max(n.nesting, part.nesting) })
	n.nesting++
	return n
}

func (p *parser) prefix() *node {
	t := p.token
	switch t.kind {
	case operator:
		return p.prefixOperator()
	case name:
		p.advance(false)
		if p.token.is("(") && (t.value == "function" || t.value == "λ") {
			return p.lambda(t)
		}
		return p.leaf(nodeName, t)
	case text:
		p.advance(false)
		n := p.leaf(nodeString, t)
		n.text = unescape(t.value)
		n.value = n.text
		return n
	case literal:
		p.advance(false)
		return p.literal(t)
	case variable:
		p.advance(false)
		n := p.leaf(nodeVariable, t)
		n.reference = p.read(t)
		return n
	case regex:
		n := p.leaf(nodeRegex, t)
		p.advance(false)
		program, err := compileRegex(t.value)
		if err != nil {
			p.fail("S0302", t.offset, "the regular expression %s: %v", t.value, err)
		}
		n.pattern = program
		return n
	default:
		p.fail("S0207", t.offset, "the expression ends where an operand is expected")
		return p.leaf(nodeHole, t)
	}
}

func (p *parser) literal(t token) *node {
	n := p.leaf(nodeConstant, t)
	switch t.value {
	case "true":
		n.value = true
	case "false":
		n.value = false
	case "null":
	default:
		n.kind = nodeNumber
		n.value, _ = strconv.ParseFloat(t.value, 64)
	}
	return n
}

func (p *parser) prefixOperator() *node {
	t := p.token
	switch t.value {
	case "and", "or", "in": // names where an operand is expected
		p.advance(false)
		return p.leaf(nodeName, t)
	case "*":
		p.advance(false)
		return p.leaf(nodeWildcard, t)
	case "**":
		p.advance(false)
		return p.leaf(nodeDescendants, t)
	case "%":
		p.advance(false)
		return p.leaf(nodeParent, t)
	case "-":
		p.advance(true)
		return finish(&node{kind: nodeNegate, offset: t.offset, left: p.expression(70)})
	case "(":
		return p.block()
	case "[":
		return p.array()
	case "{":
		return p.object(&node{kind: nodeObject, offset: t.offset})
	case "|":
		return p.transform()
	}
	p.refuse("S0211", "expected an operand")
	return p.leaf(nodeHole, t)
}

func (p *parser) infix(left *node) *node {
	op := p.token
	n := &node{kind: nodeBinary, offset: op.offset, text: op.value, left: left}
	switch op.value {
	case ".":
		p.advance(true)
		return p.dot(n, p.expression(75))
	case "[":
		p.advance(true)
		if p.token.is("]") {
			p.advance(false)
			return keepArray(left)
		}
		n.kind, n.right = nodeFilter, p.expression(0)
		p.skip("]", false)
	case "(":
		return p.call(n)
	case "{":
		n.kind = nodeGroup
		return p.object(n)
	case "^":
		return p.order(n)
	case "@":
		n.kind = nodeFocus
		return p.bindStep(n)
	case "#":
		n.kind = nodeIndex
		return p.bindStep(n)
	case "?":
		n.kind = nodeCondition
		p.advance(true)
		n.items = []*node{p.expression(0)}
		if p.token.is(":") {
			p.advance(true)
			n.items = append(n.items, p.expression(0))
		}
	case ":=":
		return p.bindVariable(n)
	case "~>":
		n.kind = nodeApply
		p.advance(true)
		n.right = p.expression(powers["~>"])
	default:
		p.advance(true)
		n.right = p.expression(powers[op.value])
	}
	return finish(n)
}

// keepArray marks the step that [] follows, whatever filters it has.
func keepArray(left *node) *node {
	step := left
	for step.kind == nodeFilter {
		step = step.left
	}
	step.keepArray = true
	return left
}

// dot makes a path one step longer, and notes the members that are read of a
// variable.
func (p *parser) dot(n, right *node) *node {
	n.kind, n.right = nodeDot, right
	reference := n.left.reference
	finish(n)
	member := right
	for member.kind == nodeFilter || member.kind == nodeFocus || member.kind == nodeIndex {
		member = member.left
	}
	if reference >= 0 && (member.kind == nodeName || member.kind == nodeString) {
		p.found[reference].Path = append(p.found[reference].Path, member.text)
		if member == right {
			n.reference = reference
		}
	}
	return n
}

func (p *parser) bindVariable(n *node) *node {
	n.kind = nodeBind
	if n.left.kind != nodeVariable {
		p.refuse("S0212", "only a variable can stand to the left of it")
	}
	n.text = n.left.text
	p.unread(n.left)
	n.left = nil
	p.advance(true)
	n.right = p.expression(9)
	p.bind(n.text)
	return finish(n)
}

// list parses what stands between an opening bracket and its end.
func (p *parser) list(separator, closing string, item func()) {
	p.advance(true)
	for more := !p.token.is(closing); more && p.err == nil; {
		item()
		if more = p.token.is(separator); more {
			p.advance(true)
			if separator == ";" && p.token.is(closing) {
				break
			}
		}
	}
	p.skip(closing, false)
}

func (p *parser) block() *node {
	n := &node{kind: nodeBlock, offset: p.token.offset}
	p.push(false)
	defer p.pop()
	p.list(";", ")", func() { n.items = append(n.items, p.expression(0)) })
	return finish(n)
}

func (p *parser) array() *node {
	n := &node{kind: nodeArray, offset: p.token.offset}
	p.list(",", "]", func() {
		item := p.expression(0)
		if p.token.is("..") {
			span := &node{kind: nodeRange, offset: p.token.offset, left: item}
			p.advance(true)
			span.right = p.expression(0)
			item = finish(span)
		}
		n.items = append(n.items, item)
	})
	return finish(n)
}

func (p *parser) object(n *node) *node {
	p.list(",", "}", func() {
		key := p.expression(0)
		p.skip(":", true)
		n.pairs = append(n.pairs, pair{key, p.expression(0)})
	})
	return finish(n)
}

func (p *parser) call(n *node) *node {
	n.kind = nodeCall
	p.list(",", ")", func() {
		if p.token.is("?") {
			n.kind = nodePartial
			n.items = append(n.items, p.leaf(nodeHole, p.token))
			p.advance(false)
			return
		}
		n.items = append(n.items, p.expression(0))
	})
	return finish(n)
}

// lambda parses a function from its parameters on.
func (p *parser) lambda(start token) *node {
	n := &node{kind: nodeLambda, offset: start.offset}
	p.push(true)
	defer p.pop()
	p.list(",", ")", func() {
		if p.token.kind != variable {
			p.refuse("S0208", "expected a parameter, such as $x")
		}
		p.bind(p.token.value)
		n.params = append(n.params, p.token.value)
		p.advance(false)
	})
	if p.token.is("<") {
		p.signature(n)
	}
	p.skip("{", true)
	n.right = p.expression(0)
	p.skip("}", false)
	return finish(n)
}

// signature reads a signature, which is in angle brackets.
func (p *parser) signature(n *node) {
	start := p.token.offset
	for p.token.kind != end && !p.token.is("{") {
		p.advance(false)
	}
	if p.err != nil {
		return
	}
	text := strings.Join(strings.Fields(p.text[start:p.token.offset]), "")
	parsed, err := parseSignature(text)
	if err != nil {
		p.fail(err.Code, start, "%s", err.Message)
	}
	n.signature = parsed
}

func (p *parser) order(n *node) *node {
	n.kind = nodeOrder
	p.advance(true)
	if !p.token.is("(") {
		p.skip("(", true)
		return n
	}
	p.list(",", ")", func() {
		descending := p.token.is(">")
		if descending || p.token.is("<") {
			p.advance(true)
		}
		n.terms = append(n.terms, term{p.expression(0), descending})
	})
	return finish(n)
}

// bindStep parses the binding of a variable to the items of a step, or to
// their places.
func (p *parser) bindStep(n *node) *node {
	op := p.token.value
	p.advance(true)
	if p.token.kind != variable {
		p.refuse("S0214", fmt.Sprintf("expected a variable after %q", op))
	}
	n.text = p.token.value
	p.bind(n.text)
	p.advance(false)
	return finish(n)
}

func (p *parser) transform() *node {
	n := &node{kind: nodeTransform, offset: p.token.offset}
	p.push(false)
	defer p.pop()
	p.advance(true)
	n.left = p.expression(0)
	p.skip("|", true)
	n.right = p.expression(0)
	if p.token.is(",") {
		p.advance(true)
		n.items = []*node{p.expression(0)}
	}
	p.skip("|", false)
	return finish(n)
}
