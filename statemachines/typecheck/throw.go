package typecheck

import (
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// throwsAlways tells whether an operator raises an error whatever its operands are, by their types,
// and reports it.
func (x *scene) throwsAlways(p *jsonata.Part, left, right Value) bool {
	switch p.Text {
	case "<", "<=", ">", ">=":
		return x.throwsCompared(p, left, right)
	case "+", "-", "*", "/", "%":
		for i, v := range []Value{left, right} {
			if v.may(numbers | missing) {
				continue
			}
			x.report(ArgumentType, diag.Danger, x.problemIn(&p.Parts[i],
				"%q takes numbers, found %s: the state fails with States.QueryEvaluationError%s", p.Text, v, adviseNumber(v)))
			return true
		}
	}
	return false
}

// throwsCompared is throwsAlways for comparisons by size: of two numbers, or of two strings.
func (x *scene) throwsCompared(p *jsonata.Part, left, right Value) bool {
	const sorted = numbers | texts
	for i, v := range []Value{left, right} {
		if v.may(sorted | missing) {
			continue
		}
		x.report(NeverHolds, diag.Danger, x.problemIn(&p.Parts[i],
			"%q compares numbers or strings, found %s: the state fails with States.QueryEvaluationError", p.Text, v))
		return true
	}
	if left.kinds()&right.kinds()&sorted != 0 || !left.may(sorted) || !right.may(sorted) {
		return false
	}
	mayLack := left.may(missing) || right.may(missing)
	found := fmt.Sprintf("%q compares two numbers or two strings, found %s and %s: the state fails with States.QueryEvaluationError",
		p.Text, left.without(missing), right.without(missing))
	if mayLack {
		found += " if both are there"
	}
	text := left
	if !left.may(texts) {
		text = right
	}
	x.report(NeverHolds, diag.Danger, x.problemIn(p, "%s%s", found, adviseNumber(text)))
	return !mayLack
}

// adviseNumber says how to make a number of a string that may be a time.
func adviseNumber(v Value) string {
	if v.may(texts) {
		return "; $toMillis makes a number of a time, $number of other strings, and $millis() is now"
	}
	return ""
}
