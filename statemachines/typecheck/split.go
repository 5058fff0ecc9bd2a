package typecheck

import (
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// split is the part of a value for which a comparison holds, and the part for which
// it does not.
func split(c *asl.Condition, value, expected Value) (holds, fails Value) {
	both := func(k kinds) (Value, Value) {
		switch c.Value {
		case true:
			return value.only(k), value.without(k)
		case false:
			return value.without(k), value.only(k)
		default: // ${Name} of a template, whose value is not known
			return value, value
		}
	}
	switch c.Operator {
	case asl.IsNull:
		return both(null)
	case asl.IsNumeric:
		return both(numbers)
	case asl.IsString:
		return both(texts)
	case asl.IsBoolean:
		return both(booleans)
	case asl.IsTimestamp:
		if c.Value == false {
			return value, value.only(texts)
		}
		return value.only(texts), value
	case asl.BooleanEquals:
		return splitTruth(value, expected)
	case asl.StringEquals:
		if words, ok := expected.Literals(); ok && len(words) == 1 {
			return pickWord(value, words[0], expected), dropWord(value, words[0])
		}
	case asl.StringMatches:
		if patterns, ok := expected.Literals(); ok && len(patterns) == 1 {
			return splitWords(value, func(word string) bool { return asl.MatchString(word, patterns[0]) })
		}
	case asl.StringLessThan, asl.StringGreaterThan, asl.StringLessThanEquals, asl.StringGreaterThanEquals:
		if words, ok := expected.Literals(); ok && len(words) == 1 {
			return splitWords(value, func(word string) bool { return fits(orders[c.Operator], float64(strings.Compare(word, words[0])), 0) })
		}
	case asl.NumericEquals, asl.NumericLessThan, asl.NumericGreaterThan, asl.NumericLessThanEquals, asl.NumericGreaterThanEquals:
		return splitNumbers(c.Operator, value, expected)
	case asl.TimestampEquals, asl.TimestampLessThan, asl.TimestampGreaterThan, asl.TimestampLessThanEquals, asl.TimestampGreaterThanEquals:
		if after, ok := orderTimes(c, value, expected); ok && after {
			return value, Nothing()
		} else if ok {
			return Nothing(), value
		}
	default:
	}
	if holds = value.only(texts); !expected.may(texts) {
		holds = Nothing()
	}
	return holds, value
}

func splitTruth(value, expected Value) (holds, fails Value) {
	s := expected.open()
	if s.kinds&booleans == 0 {
		return Nothing(), value
	}
	holds = value.only(booleans)
	if s.truth == eitherTruth || expected.IsUnknown() || holds.IsNothing() {
		return holds, value
	}
	part := holds.open()
	wanted := part.truth & s.truth
	other := part.truth &^ s.truth
	rest := value.without(booleans)
	holds, fails = Nothing(), rest
	if wanted != 0 {
		holds = pack(set{kinds: booleans, truth: wanted})
	}
	if other != 0 {
		fails = join(rest, pack(set{kinds: booleans, truth: other}))
	}
	return holds, fails
}

func splitWords(value Value, keep func(string) bool) (holds, fails Value) {
	holds = value.only(texts)
	switch {
	case holds.IsNothing():
		return holds, value
	case !holds.words().isFinite(): // what is not listed may be on either side
		fails = value
		for _, word := range holds.words().list() {
			if keep(word) {
				fails = dropWord(fails, word)
			} else {
				holds = dropWord(holds, word)
			}
		}
		return holds, fails
	}
	with := func(keep func(string) bool) Value {
		w := holds.words().filter(keep)
		if w.isEmpty() {
			return Nothing()
		}
		return pack(set{kinds: texts, text: w.pack()})
	}
	return with(keep), join(value.without(texts), with(func(word string) bool { return !keep(word) }))
}

func splitNumbers(op asl.Operator, value, expected Value) (holds, fails Value) {
	holds = value.only(numbers)
	if !expected.may(numbers) {
		return Nothing(), value
	}
	if holds.IsNothing() || expected.IsUnknown() || len(expected.set.number) != 1 {
		return holds, value
	}
	limit := expected.set.number[0]
	known := holds.set.number
	if known == nil {
		never, always := holds.set.compareLeast(op, limit)
		switch {
		case never:
			return Nothing(), value
		case always:
			return holds, value.without(numbers)
		case op == asl.NumericEquals:
			return numberOf(limit), value
		default:
			return holds, value
		}
	}
	var in, out []float64
	for _, n := range known {
		if fits(op, n, limit) {
			in = append(in, n)
		} else {
			out = append(out, n)
		}
	}
	pick := func(n []float64) Value {
		if len(n) == 0 {
			return Nothing()
		}
		return pack(set{kinds: numbers, number: n})
	}
	return pick(in), join(value.without(numbers), pick(out))
}

// orders are the operators on numbers of those on strings.
var orders = map[asl.Operator]asl.Operator{
	asl.StringLessThan: asl.NumericLessThan, asl.StringLessThanEquals: asl.NumericLessThanEquals,
	asl.StringGreaterThan: asl.NumericGreaterThan, asl.StringGreaterThanEquals: asl.NumericGreaterThanEquals,
}

func fits(op asl.Operator, a, b float64) bool {
	switch op {
	case asl.NumericLessThan:
		return a < b
	case asl.NumericLessThanEquals:
		return a <= b
	case asl.NumericGreaterThan:
		return a > b
	case asl.NumericGreaterThanEquals:
		return a >= b
	default:
		return a == b
	}
}
