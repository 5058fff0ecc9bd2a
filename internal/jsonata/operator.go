package jsonata

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// binary evaluates an operator of two operands.
func (m *machine) binary(n *node, input any, f *frame) any {
	left := m.eval(n.left, input, f)
	switch n.text {
	case "and":
		return m.truth(left) && m.truth(m.eval(n.right, input, f))
	case "or":
		return m.truth(left) || m.truth(m.eval(n.right, input, f))
	}
	right := m.eval(n.right, input, f)
	switch n.text {
	case "=":
		return left != undefined && right != undefined && m.equal(left, right, 0)
	case "!=":
		return left != undefined && right != undefined && !m.equal(left, right, 0)
	case "<", "<=", ">", ">=":
		return m.compare(n.text, left, right)
	case "&":
		return m.concat(left, right)
	case "in":
		return m.includes(left, right)
	default:
		return m.calculate(n.text, left, right)
	}
}

// calculate does arithmetic on 64-bit floats.
func (m *machine) calculate(op string, left, right any) any {
	x := m.operand(op, "T2001", "left", left)
	y := m.operand(op, "T2002", "right", right)
	if left == undefined || right == undefined {
		return undefined
	}
	switch op {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		x /= y
	default:
		x = math.Mod(x, y)
	}
	return m.box(x)
}

func (m *machine) operand(op, code, side string, v any) float64 {
	f, ok := number(v)
	if !ok && v != undefined {
		m.throw(&Error{Code: code, Message: fmt.Sprintf("The %s side of the %q operator must evaluate to a number", side, op)})
	}
	m.finite(f)
	return f
}

// finite refuses the results of an overflow and of a division by zero.
func (m *machine) finite(f float64) {
	var word string
	switch {
	case math.IsNaN(f):
		word = "NaN"
	case math.IsInf(f, 1):
		word = "Infinity"
	case math.IsInf(f, -1):
		word = "-Infinity"
	default:
		return
	}
	m.throw(&Error{Code: "D1001", Message: fmt.Sprintf("Number out of range: %q", word)})
}

func (m *machine) negate(v any) any {
	if v == undefined {
		return v
	}
	f, ok := number(v)
	if !ok {
		m.throw(&Error{Code: "D1002", Message: "Cannot negate a non-numeric value: " + m.excerpt(v)})
	}
	m.finite(f)
	return m.box(-f)
}

func (m *machine) compare(op string, left, right any) any {
	x, y := kindOf(left), kindOf(right)
	if !hasOrder(x) || !hasOrder(y) {
		m.throw(&Error{Code: "T2010", Message: fmt.Sprintf(
			"The expressions either side of operator %q must evaluate to numeric or string values", op)})
	}
	if x == kindUndefined || y == kindUndefined {
		return undefined
	}
	if x != y {
		m.throw(&Error{Code: "T2009", Message: fmt.Sprintf("The values %s and %s either side of operator %q must be of the same data type",
			m.excerpt(left), m.excerpt(right), op)})
	}
	order, ordered := m.order(left, right)
	switch op {
	case "<":
		return ordered && order < 0
	case "<=":
		return ordered && order <= 0
	case ">":
		return ordered && order > 0
	default:
		return ordered && order >= 0
	}
}

// hasOrder says that values of a kind are before or after others.
func hasOrder(kind valueKind) bool {
	return kind == kindUndefined || kind == kindString || kind == kindNumber
}

// order compares two strings or two numbers. What is not a number has no order.
func (m *machine) order(left, right any) (order int, ordered bool) {
	if s, ok := left.(string); ok {
		t, _ := right.(string)
		m.step(min(len(s), len(t)) / 64)
		return compareText(s, t), true
	}
	m.read(left)
	m.read(right)
	x, _ := number(left)
	y, _ := number(right)
	switch {
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, x == y
}

// compareText orders texts by their UTF-16 code units, as JavaScript and Java
// do: the characters above U+FFFF come before those from U+E000 on.
func compareText(s, t string) int {
	i := 0
	for i < len(s) && i < len(t) && s[i] == t[i] {
		i++
	}
	switch {
	case i == len(s) || i == len(t):
		return len(s) - len(t)
	case s[i] >= 0xEE && t[i] >= 0xEE && (s[i] >= 0xF0) != (t[i] >= 0xF0):
		return int(t[i]) - int(s[i])
	}
	return int(s[i]) - int(t[i])
}

// concat joins the texts of two values.
func (m *machine) concat(left, right any) any {
	var s, t string
	if left != undefined {
		s = m.text(left, false)
	}
	if right != undefined {
		t = m.text(right, false)
	}
	return m.join(s, t)
}

// join is one text of two.
func (m *machine) join(s, t string) string {
	if s == "" {
		return t
	}
	if t == "" {
		return s
	}
	m.hold(len(s) + len(t))
	if s[len(s)-1] < utf8.RuneSelf || t[0] != 0xED {
		return s + t
	}
	// The halves of a surrogate pair may meet.
	out := append([]byte(nil), s...)
	if r, ok := lowSurrogate(t); ok {
		return string(append(appendUnit(out, r), t[3:]...))
	}
	return s + t
}

// lowSurrogate is the second half of a surrogate pair with which a text begins.
func lowSurrogate(t string) (uint16, bool) {
	if len(t) < 3 || t[0] != 0xED || t[1]&0xF0 != 0xB0 {
		return 0, false
	}
	return 0xD000 | uint16(t[1]&0x3F)<<6 | uint16(t[2]&0x3F), true
}

// includes says that a value is among others. It compares arrays and objects
// by what they are, not by what they have.
func (m *machine) includes(v, among any) any {
	if v == undefined || among == undefined {
		return false
	}
	items := itemsOrOne(among)
	m.step(len(items))
	kind := kindOf(v)
	for _, item := range items {
		switch {
		case kindOf(item) != kind:
		case kind == kindArray || kind == kindObject:
			if same(v, item) {
				return true
			}
		case m.equal(v, item, 0):
			return true
		}
	}
	return false
}
