package jsonata

import (
	"fmt"
	"slices"
	"strings"
)

// maxNesting bounds how deep the parts of an expression nest, the steps of a
// path among them, so that no text can exhaust the stack.
const maxNesting = 2_000

// powers are the binding powers of JSONata's infix operators.
var powers = map[string]int{
	".": 75, "[": 80, "{": 70, "(": 80, "@": 80, "#": 80, "?": 20,
	"+": 50, "-": 50, "&": 50, "*": 60, "/": 60, "%": 60,
	"=": 40, "!=": 40, "<": 40, "<=": 40, ">": 40, ">=": 40, "in": 40, "^": 40, "~>": 40,
	"and": 30, "or": 25, ":=": 10,
}

// laterOperators are those of later versions of JSONata.
var laterOperators = []string{"??", "?:"}

// operand is what the parser knows of a part of the expression.
type operand struct {
	// height is how many evaluations nest in it, as Step Functions counts them.
	height int
	// nesting is how deep its parts nest.
	nesting int
	// variable is its name if it is one and nothing else.
	variable *string
	// path is the index in found of the variable that it is a path from.
	path int
	// member is its name if it is a name, whatever predicates follow it.
	member *string
	// predicate says that a predicate follows the name.
	predicate bool
}

// parser reads an expression for its syntax errors and its variables. What it
// accepts is then compiled by the engine.
type parser struct {
	scanner
	token  token
	level  int
	scopes []*scope
	found  []Reference
	inside []bool // by index in found: bound in the expression after all
	words  map[string]bool
	regexp []token
	// plain says that no part of the expression looks at single items of data,
	// or at how a number is written.
	plain bool
	// transforms says that the expression may change what it reads.
	transforms bool
	err        error
}

func parse(expression string) (*parser, operand, error) {
	p := &parser{
		scanner: scanner{text: expression}, scopes: []*scope{{}}, words: map[string]bool{}, plain: true,
	}
	p.advance(true)
	whole := p.expression(0)
	if p.token.kind != end {
		p.unexpected("S0201", "the expression ends before it")
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

func (p *parser) unexpected(code, why string) {
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
		p.unexpected("S0202", fmt.Sprintf("expected %q", op))
	}
}

// expression parses what binds tighter than a power.
func (p *parser) expression(power int) operand {
	p.level++
	defer func() { p.level-- }()
	if p.level > maxNesting {
		p.nestsTooDeep()
		return operand{path: -1}
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
		p.unexpected("S0204", "JSONata 2.0.6 has no such operator, write a condition with ? and :")
	case p.token.is("!") || p.token.is("~"):
		p.unexpected("S0204", "no such operator")
	}
	return left
}

func (p *parser) nestsTooDeep() {
	p.fail("S0201", p.token.offset, "the expression nests more than %d levels deep", maxNesting)
}

// node is an operand that is evaluated after its parts.
func node(parts ...operand) operand {
	out := join(parts...)
	out.height++
	return out
}

// join is an operand made of parts that are evaluated at its own level.
func join(parts ...operand) operand {
	out := operand{path: -1}
	for _, part := range parts {
		out.height, out.nesting = max(out.height, part.height), max(out.nesting, part.nesting)
	}
	out.nesting++
	return out
}

func (p *parser) prefix() operand {
	t := p.token
	switch t.kind {
	case operator:
		return p.prefixOperator()
	case end:
		p.fail("S0207", t.offset, "the expression ends where an operand is expected")
		return operand{path: -1}
	case name:
		p.advance(false)
		if p.token.is("(") && (t.value == "function" || t.value == "λ") {
			return p.lambda()
		}
		return operand{height: 1, path: -1, member: &t.value}
	case text:
		p.advance(false)
		return operand{height: 1, path: -1, member: &t.value}
	case literal:
		p.advance(false)
		return node()
	case variable:
		p.advance(false)
		return operand{height: 1, path: p.read(t), variable: &t.value}
	case regex:
		p.regexp = append(p.regexp, t)
		p.advance(false)
		return node()
	}
	return operand{path: -1}
}

func (p *parser) prefixOperator() operand {
	t := p.token
	switch t.value {
	case "and", "or", "in": // names where an operand is expected
		p.advance(false)
		return operand{height: 1, path: -1, member: &t.value}
	case "*", "**", "%":
		p.plain = false
		p.advance(false)
		return node()
	case "-":
		p.advance(true)
		return node(p.expression(70))
	case "(":
		return p.block()
	case "[":
		return p.array()
	case "{":
		return p.object()
	case "|":
		return p.transform()
	}
	p.unexpected("S0211", "expected an operand")
	return operand{path: -1}
}

func (p *parser) infix(left operand) operand {
	op := p.token
	switch op.value {
	case ".":
		p.advance(true)
		return p.dot(left, p.expression(75))
	case "[":
		p.plain = false
		p.advance(true)
		if p.token.is("]") {
			p.advance(false)
			return left
		}
		inner := p.expression(0)
		p.skip("]", false)
		result := join(left, node(inner))
		result.member, result.predicate = left.member, true
		return result
	case "(":
		return p.call(left)
	case "{":
		return join(node(left), p.object())
	case "^":
		return p.sort(left)
	case "@", "#":
		return p.bindStep(left)
	case "?":
		p.advance(true)
		branches := []operand{left, p.expression(0)}
		if p.token.is(":") {
			p.advance(true)
			branches = append(branches, p.expression(0))
		}
		return node(branches...)
	case ":=":
		if left.variable == nil {
			p.unexpected("S0212", "only a variable can stand to the left of it")
		}
		p.unread(left)
		p.advance(true)
		right := p.expression(9)
		if left.variable != nil {
			p.bind(*left.variable)
		}
		return node(right)
	}
	if op.value == "&" || op.value == "in" || op.value == "~>" {
		p.plain = false
	}
	p.advance(true)
	return node(left, p.expression(powers[op.value]))
}

// dot makes a path one step longer.
func (p *parser) dot(left, right operand) operand {
	result := join(left, right)
	if left.path >= 0 && right.member != nil {
		p.found[left.path].Path = append(p.found[left.path].Path, *right.member)
		if !right.predicate {
			result.path = left.path
		}
	}
	return result
}

// list parses what stands between an opening bracket and its end.
func (p *parser) list(separator, closing string, item func() operand) operand {
	p.advance(true)
	var items []operand
	for !p.token.is(closing) && p.err == nil {
		items = append(items, item())
		if !p.token.is(separator) {
			break
		}
		p.advance(true)
	}
	p.skip(closing, false)
	return node(items...)
}

func (p *parser) block() operand {
	p.plain = false
	p.push(false)
	defer p.pop()
	return p.list(";", ")", func() operand { return p.expression(0) })
}

func (p *parser) array() operand {
	p.plain = false
	return p.list(",", "]", func() operand {
		item := p.expression(0)
		if p.token.is("..") {
			p.advance(true)
			return node(item, p.expression(0))
		}
		return item
	})
}

func (p *parser) object() operand {
	p.plain = false
	return p.list(",", "}", func() operand {
		key := p.expression(0)
		p.skip(":", true)
		return join(key, p.expression(0))
	})
}

func (p *parser) call(left operand) operand {
	p.plain = false
	args := p.list(",", ")", func() operand {
		if p.token.is("?") {
			p.advance(false)
			return operand{}
		}
		return p.expression(0)
	})
	return join(node(left), args)
}

// lambda parses a function from its parameters on. Its body is evaluated when
// it is called, so it adds nothing to the height.
func (p *parser) lambda() operand {
	p.plain = false
	p.push(true)
	defer p.pop()
	p.list(",", ")", func() operand {
		if p.token.kind != variable {
			p.unexpected("S0208", "expected a parameter, such as $x")
		}
		p.bind(p.token.value)
		p.advance(false)
		return operand{}
	})
	if p.token.is("<") {
		p.signature()
	}
	p.skip("{", true)
	body := p.expression(0)
	p.skip("}", false)
	return operand{height: 1, nesting: body.nesting + 1, path: -1}
}

// signature passes a signature, which is in angle brackets. The engine reads it.
func (p *parser) signature() {
	for p.token.kind != end && !p.token.is("{") {
		p.advance(false)
	}
}

func (p *parser) sort(left operand) operand {
	p.plain = false
	p.advance(true)
	if !p.token.is("(") {
		p.skip("(", true)
		return left
	}
	terms := p.list(",", ")", func() operand {
		if p.token.is("<") || p.token.is(">") {
			p.advance(true)
		}
		return p.expression(0)
	})
	return join(left, terms)
}

// bindStep parses the binding of a variable to the items of a step, or to
// their places.
func (p *parser) bindStep(left operand) operand {
	p.plain = false
	op := p.token.value
	p.advance(true)
	if p.token.kind != variable {
		p.unexpected("S0214", fmt.Sprintf("expected a variable after %q", op))
	}
	p.bind(p.token.value)
	p.advance(false)
	result := join(left)
	result.member, result.predicate = left.member, true
	return result
}

func (p *parser) transform() operand {
	p.plain, p.transforms = false, true
	p.advance(true)
	parts := []operand{p.expression(0)}
	p.skip("|", true)
	parts = append(parts, p.expression(0))
	if p.token.is(",") {
		p.advance(true)
		parts = append(parts, p.expression(0))
	}
	p.skip("|", false)
	return node(parts...)
}

// engineText is the expression as the engine takes it: it counts the brackets
// of a regular expression even where they are escaped.
func (p *parser) engineText() string {
	var b strings.Builder
	last := 0
	for _, r := range p.regexp {
		b.WriteString(p.text[last:r.offset])
		for i := 0; i < len(r.value); i++ {
			c := r.value[i]
			if c != '\\' || i+1 == len(r.value) {
				b.WriteByte(c)
				continue
			}
			i++
			if strings.IndexByte("()[]{}", r.value[i]) >= 0 {
				fmt.Fprintf(&b, `\x%02x`, r.value[i])
			} else {
				b.WriteString(r.value[i-1 : i+1])
			}
		}
		last = r.offset + len(r.value)
	}
	b.WriteString(p.text[last:])
	return b.String()
}
