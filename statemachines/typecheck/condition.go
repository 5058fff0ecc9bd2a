package typecheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// test is what is known where a condition of a rule holds, and where it does not:
// dead where that cannot be.
func (x *scene) test(c *asl.Condition, at string) (yes, no scope) {
	switch {
	case x.isDead():
		return x.scope, x.scope
	case c.Not != nil:
		here := *x
		here.negated = !x.negated
		yes, no = here.test(c.Not, at+"/Not")
		return no, yes
	case c.And != nil:
		return x.testAll(len(c.And), func(x *scene, i int) (scope, scope) { return x.test(c.And[i], x.below(at, "And", strconv.Itoa(i))) })
	case c.Or != nil:
		return x.testAny(len(c.Or), func(x *scene, i int) (scope, scope) { return x.test(c.Or[i], x.below(at, "Or", strconv.Itoa(i))) })
	case c.Variable == nil:
		return x.scope, x.scope
	}
	return x.compare(c, at)
}

// testAll is the test that all of several conditions hold, of which each is only
// looked at where those before it hold.
func (x *scene) testAll(count int, test func(x *scene, i int) (yes, no scope)) (yes, no scope) {
	yes, no = x.scope, deadScope()
	for i := range count {
		here := *x
		here.scope = yes
		var fails scope
		yes, fails = test(&here, i)
		no = joinScopes(no, fails)
	}
	return yes, no
}

// testAny is the test that one of several conditions holds. Findings are those of
// each condition for itself: what an alternative rules out is no mistake of the
// next.
func (x *scene) testAny(count int, test func(x *scene, i int) (yes, no scope)) (yes, no scope) {
	yes, no = deadScope(), x.scope
	for i := range count {
		if x.reports && !x.c.absent {
			test(x, i)
		}
		here := x.quiet()
		here.scope, here.reports = no, x.reports && x.c.absent
		var holds scope
		holds, no = test(here, i)
		yes = joinScopes(yes, holds)
	}
	return yes, no
}

// compare is the test of one comparison.
func (x *scene) compare(c *asl.Condition, at string) (yes, no scope) {
	if c.Operator == asl.IsPresent {
		return x.testPresence(c, at)
	}
	value := x.read(c.Variable, at+"/Variable")
	if value.IsNothing() {
		return deadScope(), deadScope()
	}
	expected := Value{}
	switch {
	case c.ValuePath != nil:
		expected = x.read(c.ValuePath, x.below(at, string(c.Operator)+"Path"))
	case c.Value != nil:
		expected = x.c.operand(c)
	}
	if c.Value != nil {
		x.checkComparison(c, value, at)
	} else {
		x.checkPaths(c, value, expected, at)
	}
	demandComparison(c, value, expected)
	if holds, known := x.decideTrend(trendOfComparison(c.Operator, value, expected)); known && c.Operator != asl.BooleanEquals {
		if holds {
			return x.scope, deadScope()
		}
		return deadScope(), x.scope
	}
	holds, fails := split(c, value, expected)
	if value.demandOf() != nil { // what is wanted of the value by other comparisons is noted, too
		holds, fails = value.without(missing), value
	}
	return x.narrow(c.Variable, holds), x.narrow(c.Variable, fails)
}

// demandComparison notes what a comparison takes.
func demandComparison(c *asl.Condition, value, expected Value) {
	switch word, isText := c.Value.(string); {
	case c.Operator == asl.StringMatches && isText:
		value.demandPattern(word)
	case operandKinds(c.Operator) == every:
		if k := testedKinds(c.Operator); c.Value == true {
			value.demandKinds(k)
		}
	case c.Value != nil && operandKinds(c.Operator) == texts && !isText: // a time
		value.demandTime()
	case c.Value != nil:
		value.demandLiteral(expected)
	default:
		for _, v := range []Value{value, expected} {
			if v.demandKinds(operandKinds(c.Operator)); strings.HasPrefix(string(c.Operator), "Timestamp") {
				v.demandTime()
			}
		}
	}
}

// testedKinds are the types that an operator asks for.
func testedKinds(op asl.Operator) kinds {
	switch op {
	case asl.IsNull:
		return null
	case asl.IsNumeric:
		return numbers
	case asl.IsBoolean:
		return booleans
	case asl.IsString, asl.IsTimestamp:
		return texts
	default:
		return every
	}
}

// operand is the value that a condition compares with, a time as any text.
func (c *Checker) operand(condition *asl.Condition) Value {
	return c.once(condition, func() Value {
		switch condition.Value.(type) {
		case string, bool, json.Number:
			return c.constant(condition.Value)
		default:
			return anyText
		}
	})
}

// narrow is the scope where a path has the value.
func (x *scene) narrow(path *jsonpath.Path, value Value) scope {
	if value.IsNothing() {
		return deadScope()
	}
	if path.Context() || asl.IsPlaceholder(path) {
		return x.scope
	}
	return x.assume(path.Variable(), x.c.stepsOf(path), value)
}

// assume is the scope where the part of a variable, or of the document, that steps
// lead to is the value.
func (s scope) assume(variable string, steps []jsonpath.Step, value Value) scope {
	set := func(Value) Value { return value }
	if variable == "" {
		s.doc = update(s.doc, steps, set)
		return s
	}
	named := append([]jsonpath.Step{{Kind: jsonpath.StepName, Names: []string{variable}}}, steps...)
	s.vars = update(s.vars, named, set)
	return s
}

// testPresence is the test of IsPresent.
func (x *scene) testPresence(c *asl.Condition, at string) (yes, no scope) {
	quiet := x.quiet()
	value := Value{}
	if !asl.IsPlaceholder(c.Variable) && c.Variable.Definite() {
		root := x.doc
		switch name := c.Variable.Variable(); {
		case c.Variable.Context():
			root = x.context()
		case name != "":
			root = quiet.vars.record().get(name)
		}
		var stopped *stop
		if value, stopped = presence(root, x.c.stepsOf(c.Variable)); stopped != nil && stopped.at.record().lacks(nameOf(x.c.stepsOf(c.Variable)[stopped.step])) {
			x.reportStop(c.Variable, stopped, at+"/Variable")
			value = Value{}
		}
	}
	value.demandAsked()
	yes, no = x.narrow(c.Variable, value.without(missing)), x.narrow(c.Variable, value.only(missing))
	switch c.Value {
	case true:
		return yes, no
	case false:
		return no, yes
	default: // a placeholder
		return x.scope, x.scope
	}
}

// nameOf is the member that a step names; empty if it names none.
func nameOf(step jsonpath.Step) string {
	if step.Kind != jsonpath.StepName {
		return ""
	}
	return step.Names[0]
}

// presence is what the steps of a path select, and missing where it may select nothing.
func presence(v Value, steps []jsonpath.Step) (Value, *stop) {
	var stopped *stop
	for i, step := range steps {
		next := follow1(v, step)
		if found := v.without(missing); next.without(missing).IsNothing() && !found.IsNothing() && stopped == nil {
			stopped = &stop{step: i, at: found}
		}
		v = next
	}
	return v, stopped
}

// operandKinds are the types that an operator compares.
func operandKinds(op asl.Operator) kinds {
	switch op {
	case asl.BooleanEquals:
		return booleans
	case asl.NumericEquals, asl.NumericLessThan, asl.NumericGreaterThan, asl.NumericLessThanEquals, asl.NumericGreaterThanEquals:
		return numbers
	case asl.IsNull, asl.IsNumeric, asl.IsString, asl.IsBoolean, asl.IsTimestamp, asl.IsPresent:
		return every
	default:
		return texts
	}
}

// checkComparison reports a comparison with a literal that never holds.
func (x *scene) checkComparison(c *asl.Condition, value Value, at string) {
	if !x.reports || value.IsUnknown() {
		return
	}
	at += pointer(string(c.Operator))
	what := c.Variable.String()
	if k := operandKinds(c.Operator); !value.may(k) && !x.negated {
		x.report(NeverHolds, diag.Danger, x.problem(at, "%s is %s: %s never holds", what, value, c.Operator))
		return
	}
	switch word, ok := c.Value.(string); {
	case !ok || x.c.machine.HasPlaceholder(word):
	case c.Operator == asl.StringEquals:
		x.checkWord(what, value, word, at)
	case c.Operator == asl.StringMatches && !value.words().any:
		for _, known := range value.words().list() {
			if asl.MatchString(known, word) {
				return
			}
		}
		if !slices.ContainsFunc(value.words().except, func(ruled string) bool { return asl.MatchString(ruled, word) }) { // else an earlier rule takes them
			x.reportWord(x.problem(at, "no value of %s matches %q", what, word), word, value.words())
		}
	}
}

// checkPaths reports a comparison of two paths that never holds by their types.
func (x *scene) checkPaths(c *asl.Condition, value, expected Value, at string) {
	k := operandKinds(c.Operator)
	if !x.reports || x.negated || c.ValuePath == nil {
		return
	}
	at += pointer(string(c.Operator) + "Path")
	for _, side := range []struct {
		path  *jsonpath.Path
		value Value
	}{{c.Variable, value}, {c.ValuePath, expected}} {
		if !side.value.IsNothing() && !side.value.may(k) {
			x.report(NeverHolds, diag.Danger, x.problem(at, "%s is %s: %sPath never holds", side.path, side.value, c.Operator))
			return
		}
	}
}

// mostValues are how many values a message lists, if there are more than maxValues.
const mostValues, maxValues = 8, 12

// suggestValue adds the value that is meant by a word, as it is near or means the same, or else those that
// there are.
func suggestValue(p diag.Problem, word string, values []string) diag.Problem {
	p = p.Suggest(word, values...)
	if p.Suggestion == "" && p.Message != "" {
		p.Suggestion = nearest.Synonym(word, values)
	}
	if p.Suggestion != "" || p.Message == "" || len(values) == 0 {
		return p
	}
	if len(values) <= maxValues {
		p.Message += ": its values are " + strings.Join(values, ", ")
	} else {
		p.Message += fmt.Sprintf(": its values are %s and %d others", strings.Join(values[:mostValues], ", "), len(values)-mostValues)
	}
	return p
}

// isGuard tells whether a comparison with a text asks only that there is one: that a status is not empty holds always, and
// is no mistaken word.
func (x *scene) isGuard(word string) bool { return word == "" && x.negated }

// checkWord reports a comparison with a string that a value is never.
func (x *scene) checkWord(what string, value Value, word, at string) {
	w := value.words()
	if !x.reports || value.IsUnknown() || w.any || w.isEmpty() || w.lists(word) || x.isGuard(word) {
		return
	}
	if w.enum != nil {
		if slices.Contains(w.except, word) {
			return
		}
		x.reportWord(x.problem(at, "%s is never %q", what, word), word, w)
		return
	}
	if x.negated {
		return // that something is not what it never is holds, and harms nobody
	}
	x.reportText(NeverHolds, x.problem(at, "%s is never %q here", what, word).Suggest(word, w.known...), word)
}
