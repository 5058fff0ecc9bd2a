package typecheck

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// binary is what an operator gives.
func (x *scene) binary(p *jsonata.Part, context Value) Value {
	switch p.Text {
	case "and", "or":
		yes, no, trend := x.truthOf(p, context)
		switch {
		case yes.isDead() && no.isDead():
			return Nothing()
		case yes.isDead():
			return truthOf(false)
		case no.isDead():
			return truthOf(true)
		default:
			return x.noteTrend(anyBoolean, trend)
		}
	}
	left, right := x.eval(&p.Parts[0], context), x.eval(&p.Parts[1], context)
	if left.IsNothing() || right.IsNothing() {
		return Nothing()
	}
	x.demandCompared(p, left, right)
	if x.throwsAlways(p, left, right) {
		return Nothing()
	}
	out := x.operation(p, left, right)
	if known, ok := fold(p, left, right); ok {
		out = known
	}
	trend := x.trendOf(p, left, right)
	switch p.Text {
	case "<", "<=", ">", ">=":
		return x.applyTrend(out, trend)
	default: // operands that the time decides are known
		return x.noteTrend(out, trend)
	}
}

// operation is what an operator gives by the types of its operands.
func (x *scene) operation(p *jsonata.Part, left, right Value) Value {
	isAbsent := x.seeksLack() && (left.kinds() == missing || right.kinds() == missing)
	switch p.Text {
	case "=", "!=":
		return x.equality(p, left, right)
	case "in":
		return x.membership(p, left, right)
	case "&":
		return concatenate(left, right)
	}
	out := anyNumber
	if strings.ContainsAny(p.Text, "<>") {
		out = anyBoolean
	}
	switch {
	case isAbsent:
		return absent
	case left.may(missing) || right.may(missing):
		return join(out, absent)
	default:
		return out
	}
}

// demandCompared notes what an operator takes. A text that must not be empty is any text.
func (x *scene) demandCompared(p *jsonata.Part, left, right Value) {
	if p.Text == "!=" && !x.negated || p.Text == "=" && x.negated {
		for _, side := range [][2]Value{{left, right}, {right, left}} {
			if words, ok := side[1].Literals(); ok && len(words) == 1 && words[0] == "" {
				side[0].demandKinds(texts)
				return
			}
		}
	}
	demandOperands(p, left, right)
}

// demandOperands notes what an operator takes.
func demandOperands(p *jsonata.Part, left, right Value) {
	for _, side := range [][2]Value{{left, right}, {right, left}} {
		value, other := side[0], side[1]
		switch p.Text {
		case "=", "!=":
			if _, ok := other.Literals(); ok || other.kinds() == numbers || other.kinds() == booleans {
				value.demandLiteral(other)
			}
		case "in":
			for _, item := range other.list().known() {
				value.demandLiteral(item)
			}
		case "<", "<=", ">", ">=":
			if k := other.kinds() &^ missing; k&(numbers|texts) != 0 && k&^(numbers|texts) == 0 {
				value.demandLiteral(other.without(missing))
			} else {
				value.demandKinds(numbers)
			}
		case "&":
			value.demandKinds(texts | numbers | booleans)
		default:
			value.demandKinds(numbers)
		}
	}
	if p.Text == "in" && right.kinds() == every {
		right.demandKinds(arrays)
	}
}

// equality is what "=" or "!=" gives.
func (x *scene) equality(p *jsonata.Part, left, right Value) Value {
	for _, side := range []struct {
		value   Value
		literal *jsonata.Part
	}{{left, &p.Parts[1]}, {right, &p.Parts[0]}} {
		if side.literal.Kind == jsonata.PartLiteral && len(side.literal.Filters) == 0 {
			here := *x
			here.negated = x.negated != (p.Text == "!=")
			here.checkLiteral(side.value, side.literal)
		} else if written := x.writtenAs(side.literal.Text); side.literal.Kind == jsonata.PartVariable && written != nil && written.Kind == jsonata.PartLiteral {
			x.checkWritten(side.value, side.literal)
		}
	}
	common := left.kinds() & right.kinds() &^ missing
	switch {
	case common != 0 && same(left, right, maxDepth):
		return truthOf(p.Text == "=")
	case common != 0 && !isDisjoint(left, right, common):
		return anyBoolean
	case p.Text == "=" || left.kinds() == missing || right.kinds() == missing:
		return truthOf(false)
	case left.may(missing) || right.may(missing):
		return anyBoolean
	default:
		return truthOf(true)
	}
}

// isDisjoint tells whether two values of the types are never equal.
func isDisjoint(a, b Value, k kinds) bool {
	switch k {
	case booleans:
		return !a.IsUnknown() && !b.IsUnknown() && a.set.truth&b.set.truth == 0
	case texts:
	case numbers, arrays, objects: // these part by part
		return Apart(a.only(k), b.only(k))
	default:
		return false
	}
	first, second := a.words(), b.words()
	if first.isFinite() && !second.isFinite() {
		first, second = second, first
	}
	if !second.isFinite() {
		return false
	}
	return !slices.ContainsFunc(second.known, first.may)
}

// checkLiteral reports a comparison with a literal that a value is never.
func (x *scene) checkLiteral(v Value, literal *jsonata.Part) {
	known := v.without(missing)
	if !x.reports || known.IsNothing() || v.IsUnknown() {
		return
	}
	word, ok := literal.Value.(string)
	if k := Literal(literal.Value).kinds(); !known.may(k) && k != null {
		x.report(NeverHolds, diag.Danger, x.problemIn(literal, "the value is %s: it never equals %s", known, Literal(literal.Value)))
		return
	}
	if !ok {
		return
	}
	w := known.words()
	switch {
	case w.any || w.isEmpty() || w.lists(word) || w.enum != nil && !w.may(word) || x.isGuard(word):
	case w.enum != nil:
		x.reportWord(x.problemIn(literal, "%s is never %q", w.enum.Name, word), word, w)
	case x.negated:
	default:
		x.reportText(NeverHolds, x.problemIn(literal, "the value is never %q here", word).Suggest(word, w.known...), word)
	}
}

// membership is what "in" gives.
func (x *scene) membership(p *jsonata.Part, left, right Value) Value {
	if list := &p.Parts[1]; list.Kind == jsonata.PartArray {
		for i := range list.Parts {
			if list.Parts[i].Kind == jsonata.PartLiteral {
				x.checkLiteral(left, &list.Parts[i])
			}
		}
	} else {
		x.checkWritten(left, list)
	}
	if right.IsUnknown() || right.demandOf() != nil && p.Parts[0].Kind != jsonata.PartLiteral {
		return anyBoolean
	}
	item := anyItem(right)
	if p.Parts[0].Kind == jsonata.PartLiteral {
		x.checkLiteral(item, &p.Parts[0])
	}
	if same := left.kinds() & item.kinds() &^ missing; right.demandOf() == nil && (same == 0 || isDisjoint(left, item, same)) {
		return truthOf(false)
	}
	is := func(item Value) bool { return left.kinds()&missing == 0 && same(left, item, maxDepth) }
	if right.kinds() == arrays && slices.ContainsFunc(right.list().known(), is) || is(right) {
		return truthOf(true)
	}
	return anyBoolean
}

// truth is what is known where a part of an expression is true, and where it is
// not.
func (x *scene) truth(p *jsonata.Part) (yes, no scope) {
	yes, no, _ = x.truthOf(p, Value{})
	return yes, no
}

// truthOf is the truth of a part on a context, and its trend. Each part is evaluated once, as
// parts may be nested deep.
func (x *scene) truthOf(p *jsonata.Part, context Value) (yes, no scope, trend Trend) {
	if x.isDead() {
		return x.scope, x.scope, NoTrend
	}
	if len(p.Filters) > 0 {
		return x.test1(p, context)
	}
	switch {
	case p.Kind == jsonata.PartBlock && len(p.Parts) == 1:
		return x.truthOf(&p.Parts[0], context)
	case p.Kind == jsonata.PartBinary && p.Text == "and":
		yes, no = x.testAll(len(p.Parts), truthOfParts(p, context, &trend, Trend.and))
		return yes, no, trend
	case p.Kind == jsonata.PartBinary && p.Text == "or":
		yes, no = x.testAny(len(p.Parts), truthOfParts(p, context, &trend, Trend.or))
		return yes, no, trend
	case p.Kind == jsonata.PartCall && p.Text == "not" && len(p.Parts) == 1:
		here := *x
		here.negated = !x.negated
		yes, no, trend = here.truthOf(&p.Parts[0], context)
		return no, yes, trend.not()
	case p.Kind == jsonata.PartCall && p.Text == "exists" && len(p.Parts) == 1:
		yes, no = x.testExists(&p.Parts[0], context)
		return yes, no, NoTrend
	case p.Kind == jsonata.PartBinary && (p.Text == "=" || p.Text == "!=" || p.Text == "in"):
		return x.testEqual(p, context)
	default:
		return x.test1(p, context)
	}
}

// truthOfParts tests one part of "and" or "or", and joins its trend to that of those before.
func truthOfParts(p *jsonata.Part, context Value, trend *Trend, join func(t, o Trend) Trend) func(x *scene, i int) (yes, no scope) {
	return func(x *scene, i int) (scope, scope) {
		yes, no, next := x.truthOf(&p.Parts[i], context)
		if i > 0 {
			next = join(*trend, next)
		}
		*trend = next
		return yes, no
	}
}

// test1 is the test that a value is true in the sense of JSONata.
func (x *scene) test1(p *jsonata.Part, context Value) (yes, no scope, trend Trend) {
	x.excused++
	v := x.eval(p, context)
	x.excused--
	yes, no = x.scope, x.scope
	mayHold, mayFail := truthiness(v)
	if variable, steps, ok := x.target(p); ok && len(p.Filters) == 0 {
		yes = x.refine(variable, steps, func(old Value) Value { return old.without(missing | null) })
	}
	if !mayHold {
		yes = deadScope()
	}
	if !mayFail {
		no = deadScope()
	}
	return yes, no, v.trend()
}

// truthiness tells whether a value may be true and false in the sense of JSONata: neither if there
// never is one.
func truthiness(v Value) (yes, no bool) {
	if v.IsUnknown() {
		return true, true
	}
	s := v.set
	may := func(k kinds, hold, fail bool) {
		if s.kinds&k != 0 {
			yes, no = yes || hold, no || fail
		}
	}
	may(missing|null, false, true)
	may(booleans, s.truth&isTrue != 0, s.truth&isFalse != 0)
	may(numbers, s.number == nil || slices.ContainsFunc(s.number, func(n float64) bool { return n != 0 }), s.number == nil || slices.Contains(s.number, 0))
	w := v.words()
	may(texts, w.any || w.enum != nil || slices.ContainsFunc(w.known, func(word string) bool { return word != "" }), w.any || slices.Contains(w.known, ""))
	holds := slices.ContainsFunc(v.record().fieldsOf(), func(f field) bool { return !f.value.may(missing) })
	may(objects, true, !holds)
	may(arrays, true, true)
	return yes, no
}

// decide drops what cannot be where a boolean is known.
func decide(v Value, yes, no scope) (_, _ scope) {
	if v.kinds() == booleans {
		switch v.set.truth {
		case isTrue:
			no = deadScope()
		case isFalse:
			yes = deadScope()
		case eitherTruth:
		}
	}
	return yes, no
}

// testExists is the test of $exists.
func (x *scene) testExists(p *jsonata.Part, context Value) (yes, no scope) {
	x.excused++
	v := x.eval(p, context)
	x.excused--
	yes, no = x.scope, x.scope
	if v.IsNothing() {
		return deadScope(), deadScope()
	}
	v.demandAsked()
	if !v.may(missing) {
		no = deadScope()
	}
	if v.kinds() == missing {
		return deadScope(), no
	}
	if variable, steps, ok := x.target(p); ok {
		yes = x.refine(variable, steps, func(old Value) Value { return old.without(missing) })
		if !no.isDead() { // an array of which a path selects nothing is there
			no = x.refine(variable, steps, func(old Value) Value { return old.only(missing | arrays) })
		}
	}
	return yes, no
}

// testEqual is the test of a comparison of a plain path with literals.
func (x *scene) testEqual(p *jsonata.Part, context Value) (yes, no scope, trend Trend) {
	result := x.eval(p, context)
	if result.IsNothing() {
		return deadScope(), deadScope(), NoTrend
	}
	path, other := &p.Parts[0], &p.Parts[1]
	if p.Text != "in" && path.Kind == jsonata.PartLiteral {
		path, other = other, path
	}
	variable, steps, ok := x.target(path)
	var literals []Value
	switch {
	case other.Kind == jsonata.PartLiteral:
		literals = []Value{x.c.literalPart(other)}
	case p.Text == "in" && other.Kind == jsonata.PartArray && len(other.Filters) == 0:
		for i := range other.Parts {
			if other.Parts[i].Kind != jsonata.PartLiteral {
				ok = false
				break
			}
			literals = append(literals, x.c.literalPart(&other.Parts[i]))
		}
	default:
		ok = false
	}
	yes, no = x.scope, x.scope
	if ok && len(other.Filters) == 0 {
		yes = x.refine(variable, steps, func(old Value) Value {
			out := Nothing()
			for _, l := range literals {
				out = join(out, meet(old, l))
			}
			return out
		})
		no = x.refine(variable, steps, func(old Value) Value {
			for _, l := range literals {
				old = subtract(old, l)
			}
			return old
		})
	}
	if p.Text == "!=" && ok { // false, too, where there is no value
		missingToo := x.eval(path, context).may(missing)
		yes, no = no, yes
		if missingToo {
			no = x.scope
		}
	}
	yes, no = decide(result, yes, no)
	return yes, no, result.trend()
}

// meet is the part of a value that is a literal.
func meet(v, literal Value) Value {
	switch words, ok := literal.Literals(); {
	case ok && len(words) == 1:
		return pickWord(v, words[0], literal)
	case literal.kinds() == booleans:
		holds, _ := splitTruth(v, literal)
		return holds
	default:
		return v.only(literal.kinds())
	}
}

// subtract is the part of a value that is not a literal.
func subtract(v, literal Value) Value {
	switch words, ok := literal.Literals(); {
	case ok && len(words) == 1:
		return dropWord(v, words[0])
	case literal.kinds() == booleans:
		_, fails := splitTruth(v, literal)
		return fails
	case literal.kinds() == null:
		return v.without(null)
	default:
		return v
	}
}

// target is the variable, "" for the input, and the steps to the part of it that an
// expression reads, if it is a plain path.
func (x *scene) target(p *jsonata.Part) (variable string, steps []jsonpath.Step, ok bool) {
	parts := []jsonata.Part{*p}
	if p.Kind == jsonata.PartPath {
		parts = p.Parts
	}
	if parts[0].Kind != jsonata.PartVariable || parts[0].Text == "" || len(parts[0].Filters) > 0 {
		return "", nil, false
	}
	variable, rest := parts[0].Text, parts[1:]
	if _, bound := x.local(variable); bound {
		return "", nil, false
	}
	if variable == "states" {
		if len(rest) == 0 || rest[0].Kind != jsonata.PartName || rest[0].Text != "input" || len(rest[0].Filters) > 0 {
			return "", nil, false
		}
		variable, rest = "", rest[1:]
	}
	for i := range rest {
		if rest[i].Kind != jsonata.PartName || len(rest[i].Filters) > 0 {
			return "", nil, false
		}
		steps = append(steps, jsonpath.Step{Kind: jsonpath.StepName, Names: []string{rest[i].Text}})
	}
	return variable, steps, true
}

// refine is the scope where a change is known of the part that steps lead to. Arrays
// on the way, through which JSONata goes, stay as they are.
func (x *scene) refine(variable string, steps []jsonpath.Step, change func(Value) Value) scope {
	s := x.scope
	if variable == "" {
		s.doc = refine(s.doc, steps, change)
		return s
	}
	named := append([]jsonpath.Step{{Kind: jsonpath.StepName, Names: []string{variable}}}, steps...)
	s.vars = refine(s.vars, named, change)
	return s
}

func refine(v Value, steps []jsonpath.Step, change func(Value) Value) Value {
	if len(steps) == 0 {
		return change(v)
	}
	out := v.only(arrays)
	if rest := v.without(arrays); !rest.IsNothing() {
		name := steps[0].Names[0]
		out = join(out, updateMember(rest, name, steps[:1], func(old Value) Value { return refine(old, steps[1:], change) }))
	}
	return out
}
