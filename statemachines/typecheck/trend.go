package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Trend says how a value changes with the clock, while everything else stays. A boolean that
// Grows turns true and stays true.
type Trend uint8

// The trends.
const (
	NoTrend Trend = iota // it does not follow the clock, as far as is known
	Grows
	Falls
	Moves // it follows the clock in a way that is not known
	Stays // the distance of two times that both follow the clock, or a comparison that never holds
)

// Clock says at which time a state is entered.
type Clock uint8

// The clocks.
const (
	AnyTime  Clock = iota // no trend is noted
	SomeTime              // trends are noted, and decide nothing
	Early                 // before every time that does not follow the clock
	Late                  // after it
)

// At is the environment at a time.
func (e Env) At(clock Clock) Env {
	e.clock = clock
	return e
}

// NextLap is the environment in the next lap of a loop, where a time of two laps ago no
// longer follows the clock.
func (e Env) NextLap() Env {
	if e.clock != AnyTime {
		e.Input, e.vars = ageTrends(e.Input), ageTrends(e.vars)
	}
	return e
}

// ageTrends is the value with its trends a lap older.
func ageTrends(v Value) Value {
	if v.set == nil || v.set.trend == NoTrend && v.record() == nil && v.list() == nil {
		return v
	}
	s, changed := *v.set, v.set.trend != NoTrend
	switch {
	case s.trend != NoTrend && s.aged:
		s.trend, s.aged = NoTrend, false
	case s.trend != NoTrend:
		s.aged = true
	}
	if r := v.record(); r != nil {
		fields := slices.Clone(r.fields)
		for i, f := range fields {
			fields[i].value = ageTrends(f.value)
			if fields[i].value.set != f.value.set {
				other := *r
				other.fields, s.object, changed = fields, &other, true
			}
		}
	}
	if l := v.list(); l != nil {
		items := slices.Clone(l.items)
		for i, item := range items {
			items[i] = ageTrends(item)
			if items[i].set != item.set {
				other := *l
				other.items, s.array, changed = items, &other, true
			}
		}
	}
	if !changed {
		return v
	}
	return pack(s)
}

// trend is what the value does, or a part of it.
func (v Value) trend() Trend {
	if v.set == nil {
		return NoTrend
	}
	if v.set.trend != NoTrend {
		return v.set.trend
	}
	for _, f := range v.record().fieldsOf() {
		if f.value.trend() != NoTrend {
			return Moves
		}
	}
	if l := v.list(); l != nil && slices.ContainsFunc(l.items, func(item Value) bool { return item.trend() != NoTrend }) {
		return Moves
	}
	return NoTrend
}

// applyTrend returns the value with a trend. A boolean becomes what it is at the scene's time.
func (x *scene) applyTrend(v Value, t Trend) Value {
	if s := v.without(missing).open(); v.set != nil && s.kinds == booleans && s.truth == eitherTruth {
		if holds, known := x.decideTrend(t); known {
			v = truthOf(holds)
		}
	}
	return x.noteTrend(v, t)
}

// noteTrend returns the value with a trend, and decides nothing. A value with a trend is not
// missing.
func (x *scene) noteTrend(v Value, t Trend) Value {
	if t == NoTrend || x.clock == AnyTime || v.set == nil || v.kinds()&^missing == 0 {
		return v
	}
	s := v.without(missing).open()
	s.trend, s.aged = t, false
	return pack(s)
}

// decideTrend is whether a condition with a trend holds at this time.
func (x *scene) decideTrend(t Trend) (holds, known bool) {
	if x.clock != Early && x.clock != Late || t != Grows && t != Falls {
		return false, false
	}
	return (t == Grows) == (x.clock == Late), true
}

// not returns the trend of a negated condition.
func (t Trend) not() Trend {
	switch t {
	case Grows:
		return Falls
	case Falls:
		return Grows
	default:
		return t
	}
}

// plus returns the trend of a sum.
func (t Trend) plus(o Trend) Trend {
	switch {
	case t == Moves || o == Moves:
		return Moves
	case t == NoTrend || t == Stays && o != NoTrend:
		return o
	case o == NoTrend || o == Stays:
		return t
	case t == o:
		return t
	default:
		return Stays
	}
}

// and returns the trend of a condition in which two are joined by "and".
func (t Trend) and(o Trend) Trend {
	switch {
	case t == o:
		return t
	case t == Falls || o == Falls:
		return Falls
	case t == Grows || o == Grows:
		return Grows
	case t == Moves || o == Moves:
		return Moves
	default:
		return NoTrend
	}
}

// or returns the trend of a condition in which two are joined by "or".
func (t Trend) or(o Trend) Trend {
	switch {
	case t == o:
		return t
	case t == Grows || o == Grows:
		return Grows
	case t == Falls || o == Falls:
		return Falls
	case t == Moves || o == Moves:
		return Moves
	default:
		return NoTrend
	}
}

// choose returns the trend of `C ? a : b`, where C has the trend.
func (t Trend) choose(yes, no Value) Trend {
	switch {
	case t == NoTrend || t == Stays:
		return t
	case yes.kinds() != booleans || no.kinds() != booleans || yes.set.truth == eitherTruth || no.set.truth == eitherTruth:
		return Moves
	case yes.set.truth == isTrue:
		return t
	default:
		return t.not()
	}
}

// joinTrends is the trend of one of two values. What is missing or null has none.
func joinTrends(x, y *set) (Trend, bool) {
	switch {
	case x.kinds&^(missing|null) == 0:
		return y.trend, y.aged
	case y.kinds&^(missing|null) == 0 || x.trend == y.trend && x.aged == y.aged:
		return x.trend, x.aged
	default:
		return NoTrend, false
	}
}

// trendOf is the trend of what an operator gives.
func (x *scene) trendOf(p *jsonata.Part, left, right Value) Trend {
	if x.clock == AnyTime {
		return NoTrend
	}
	l, r := left.trend(), right.trend()
	switch p.Text {
	case "+", "-", "*", "/", ">", ">=", "<", "<=":
		if !left.may(numbers|texts) || !right.may(numbers|texts) {
			return neverCompares(l, r)
		}
	}
	switch p.Text {
	case "+":
		return l.plus(r)
	case "-":
		return l.plus(r.not())
	case ">", ">=":
		return l.plus(r.not())
	case "<", "<=":
		return l.plus(r.not()).not()
	case "*", "/":
		return scaleTrend(p.Text, l, r, left, right)
	case "=", "!=":
		t := trendOfEquality(left, right)
		if p.Text == "!=" {
			return t.not()
		}
		return t
	}
	if l != NoTrend || r != NoTrend {
		return Moves
	}
	return NoTrend
}

// neverCompares returns the trend where one side is missing or null: the clock of the other
// decides nothing.
func neverCompares(l, r Trend) Trend {
	if l == NoTrend && r == NoTrend {
		return NoTrend
	}
	return Stays
}

// scaleTrend returns the trend of a product or a quotient.
func scaleTrend(operator string, l, r Trend, left, right Value) Trend {
	if operator == "*" && l == NoTrend {
		l, r, right = r, l, left
	}
	switch {
	case l == NoTrend && r == NoTrend:
		return NoTrend
	case r != NoTrend || right.set == nil || len(right.set.number) != 1 || right.set.number[0] == 0:
		return Moves
	case right.set.number[0] < 0:
		return l.not()
	default:
		return l
	}
}

// trendOfEquality is the trend of whether two values are equal.
func trendOfEquality(left, right Value) Trend {
	t, other := left.trend(), right
	if t == NoTrend {
		t, other = right.trend(), left
	}
	if t == NoTrend || other.trend() != NoTrend {
		return t.plus(other.trend()) // of both NoTrend: none
	}
	if left.kinds()&right.kinds()&^missing == 0 {
		return Stays
	}
	if other.kinds() == booleans {
		switch other.set.truth {
		case isTrue:
			return t
		case isFalse:
			return t.not()
		case eitherTruth:
		}
	}
	return Moves
}

// trendOfCall is the trend of what a function gives.
func (x *scene) trendOfCall(name string, values []Value) Trend {
	follows := slices.ContainsFunc(values, func(v Value) bool { return v.trend() != NoTrend })
	switch {
	case x.clock == AnyTime || name == "exists" || name == "type":
		return NoTrend
	case (name == "now" || name == "millis") && len(values) == 0:
		return Grows
	case name == "now":
		return Moves // in a format
	case !follows:
		return NoTrend
	case (name == "max" || name == "min") && len(values) == 1:
		return trendOfExtreme(values[0].list())
	case !keepsTrend(name, values):
		return Moves
	case name == "not":
		return values[0].trend().not()
	default:
		return values[0].trend()
	}
}

// trendOfExtreme is the trend of the largest or smallest item of a list. All items have it, but for those that
// may be missing and do not follow the clock, such as the time of a redrive.
func trendOfExtreme(l *list) Trend {
	if l == nil || l.others().trend() != NoTrend {
		return Moves
	}
	all := NoTrend
	for _, item := range l.items {
		switch t := item.trend(); {
		case t == NoTrend && item.may(missing):
		case all == NoTrend:
			all = t
		case t != all:
			return Moves
		}
		if all == NoTrend && !item.may(missing) {
			return Moves // the item stays the same
		}
	}
	return all
}

// keepsTrend tells whether the result of a function goes as its first argument does, or against
// it: the order of two results is that of the arguments.
func keepsTrend(name string, values []Value) bool {
	if slices.ContainsFunc(values[1:], func(v Value) bool { return v.trend() != NoTrend }) {
		return false
	}
	of := values[0].kinds() &^ missing
	switch name {
	case "toMillis", "fromMillis": // and no format
		return len(values) == 1
	case "number", "floor", "ceil", "round":
		return true
	case "string":
		return of == texts
	case "boolean", "not":
		return of == booleans
	case "substring":
		return len(values) > 1 && values[1].set != nil && values[1].set.kinds == numbers && slices.Equal(values[1].set.number, []float64{0})
	default:
		return false
	}
}

// Trend is what a rule of a Choice does from an environment while time goes on.
func (c *Checker) Trend(s *asl.State, rule int, in Env) Trend {
	if !in.IsReachable() {
		return NoTrend
	}
	x := c.newScene(s, in.At(SomeTime), false)
	x = x.with(x.inputPath())
	r := &s.Choice.Rules[rule]
	switch {
	case r.Expression == nil:
		return x.trendOfCondition(&r.Condition)
	case r.Expression.Expression == nil:
		return NoTrend
	}
	v := x.eval(c.part(r.Expression.Expression), Value{})
	if v.IsNothing() {
		return Stays // it raises an error
	}
	if t := v.trend(); t != NoTrend || v.kinds() != booleans || v.set.truth == eitherTruth {
		return t
	}
	return Stays // whatever the clock says
}

// trendOfCondition is the trend of a condition in JSONPath mode.
func (x *scene) trendOfCondition(c *asl.Condition) Trend {
	switch {
	case c.Not != nil:
		return x.trendOfCondition(c.Not).not()
	case c.And != nil || c.Or != nil:
		parts, join := c.And, Trend.and
		if c.Or != nil {
			parts, join = c.Or, Trend.or
		}
		t := x.trendOfCondition(parts[0])
		for _, part := range parts[1:] {
			t = join(t, x.trendOfCondition(part))
		}
		return t
	case c.Variable == nil || c.Operator == asl.IsPresent:
		return NoTrend
	}
	value, expected := x.quiet().read(c.Variable, ""), Value{}
	if c.ValuePath != nil {
		expected = x.quiet().read(c.ValuePath, "")
	} else if c.Value != nil {
		expected = x.c.operand(c)
	}
	return trendOfComparison(c.Operator, value, expected)
}

// trendOfComparison is the trend of a comparison in JSONPath mode.
func trendOfComparison(op asl.Operator, value, expected Value) Trend {
	apart := value.trend().plus(expected.trend().not())
	if k := operandKinds(op); k != every && (!value.may(k) || !expected.may(k)) {
		return neverCompares(value.trend(), expected.trend())
	}
	switch op {
	case asl.TimestampGreaterThan, asl.TimestampGreaterThanEquals, asl.StringGreaterThan, asl.StringGreaterThanEquals,
		asl.NumericGreaterThan, asl.NumericGreaterThanEquals:
		return apart
	case asl.TimestampLessThan, asl.TimestampLessThanEquals, asl.StringLessThan, asl.StringLessThanEquals, asl.NumericLessThan, asl.NumericLessThanEquals:
		return apart.not()
	case asl.IsNull, asl.IsNumeric, asl.IsString, asl.IsBoolean, asl.IsTimestamp:
		return NoTrend
	default:
		return trendOfEquality(value, expected)
	}
}
