package lint

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// limits are the least and the largest number that a member of an answer has. Whole tells that there are only whole ones.
type limits struct {
	least, most float64
	whole       bool
}

// has tells whether a number is within the limits.
func (l limits) has(n float64) bool { return l.least <= n && n <= l.most }

// The codes of responses that a state machine gets as a result: of any other, Step Functions fails the Task.
const leastCode, mostCode = 200, 399

// limitsOf are the limits of a part of what a poll answers.
func limitsOf(poll *asl.State, steps []string) limits {
	if typecheck.CallsHTTP(poll) && slices.Equal(steps, []string{typecheck.HTTPStatus}) {
		return limits{leastCode, mostCode, true}
	}
	return limits{least: math.Inf(-1), most: math.Inf(1)}
}

// putNumbers makes the status each of some numbers that are compared, and one between and beside them: another number
// goes the way of the one in its range.
func (s *status) putNumbers(compared []float64, within limits) {
	s.complete = true
	numbers := slices.DeleteFunc(slices.Sorted(slices.Values(compared)), func(n float64) bool { return !within.has(n) })
	if len(numbers) == 0 {
		s.addLiteral(sayNumber(within.least)+" to "+sayNumber(within.most), within.least)
		return
	}
	first, last := numbers[0], numbers[len(numbers)-1]
	if within.least < first {
		s.addLiteral("below "+sayNumber(first), first-1)
	}
	for i, n := range numbers {
		if i > 0 && (!within.whole || numbers[i-1]+1 < n) {
			middle := (numbers[i-1] + n) / 2 //nolint:mnd // of two
			if within.whole {
				middle = math.Floor(middle)
			}
			s.addLiteral("between "+sayNumber(numbers[i-1])+" and "+sayNumber(n), middle)
		}
		s.addLiteral(sayNumber(n), n)
	}
	if last < within.most {
		s.addLiteral("above "+sayNumber(last), last+1)
	}
}

// putKnown makes the status each of the numbers that it may be.
func (s *status) putKnown(numbers []float64) {
	s.complete = true
	for _, n := range numbers {
		s.addLiteral(sayNumber(n), n)
	}
}

// joinRanges names the numbers of a row, which are sorted: neighbours as one range.
func (l *Loop) joinRanges(values []string) []string {
	all := slices.SortedFunc(maps.Keys(l.Literals), func(a, b string) int {
		first, _ := l.Literals[a].(float64)
		second, _ := l.Literals[b].(float64)
		return cmp.Compare(first, second)
	})
	if slices.ContainsFunc(values, func(value string) bool { _, isNumber := l.Literals[value].(float64); return !isNumber }) {
		return values
	}
	var joined []string
	for from := 0; from < len(values); {
		to := from
		for to+1 < len(values) && slices.Index(all, values[to+1]) == slices.Index(all, values[to])+1 {
			to++
		}
		if from == to {
			joined = append(joined, values[from])
		} else {
			joined = append(joined, l.sayRange(all, slices.Index(all, values[from]), slices.Index(all, values[to])))
		}
		from = to + 1
	}
	return joined
}

// sayRange names the numbers from one range or number of a list to another.
func (l *Loop) sayRange(all []string, from, to int) string {
	number := func(i int) string {
		n, _ := l.Literals[all[i]].(float64)
		return sayNumber(n)
	}
	isNumber := func(i int) bool { return all[i] == number(i) }
	switch last := len(all) - 1; {
	case from == 0 && to == last:
		return "any number"
	case from == 0 && isNumber(to):
		return "up to " + number(to)
	case from == 0:
		return "below " + number(to+1)
	case to == last && isNumber(from):
		return number(from) + " or more"
	case to == last:
		return "above " + number(from-1)
	case isNumber(from) && isNumber(to):
		return number(from) + " to " + number(to)
	case isNumber(from):
		return number(from) + " to below " + number(to+1)
	case isNumber(to):
		return "above " + number(from-1) + " up to " + number(to)
	default:
		return "between " + number(from-1) + " and " + number(to+1)
	}
}
