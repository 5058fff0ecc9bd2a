package lint

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// findSlip finds a number of seconds that the time of a bound takes for milliseconds, in the rules that look at
// the bound, and in what gives the values that they look at; 0 for none.
func (c *checker) findSlip(r *reading) int64 {
	for _, name := range r.Bound.At {
		for i := range r.Flow.State(name).Choice.Rules {
			if e := r.Flow.State(name).Choice.Rules[i].Expression; e != nil && e.Expression != nil {
				whole := e.Expression.Part()
				if n := slipIn(&whole); n > 0 {
					return n
				}
			}
		}
	}
	for _, operand := range r.Bound.By {
		for s := range c.machine.All {
			for _, t := range templatesOf(s) {
				if m := memberOf(t, lastName(operand)); m != nil && m.Expression != nil {
					whole := m.Expression.Part()
					if n := slipIn(&whole); n > 0 {
						return n
					}
				}
			}
		}
	}
	return 0
}

// slipIn finds such a number in a part of an expression: it is added to milliseconds, or compared with how many
// have passed.
func slipIn(p *jsonata.Part) int64 {
	if p.Kind == jsonata.PartBinary && len(p.Parts) == 2 { //nolint:mnd // two operands
		left, right := &p.Parts[0], &p.Parts[1]
		var n float64
		switch {
		case p.Text == "+" && isMillis(left):
			n = numberIn(right)
		case p.Text == "+" && isMillis(right):
			n = numberIn(left)
		case slices.Contains([]string{"<", "<=", ">", ">="}, p.Text) && isElapsed(left):
			n = numberIn(right)
		case slices.Contains([]string{"<", "<=", ">", ">="}, p.Text) && isElapsed(right):
			n = numberIn(left)
		}
		if isSlip(time.Duration(n) * time.Millisecond) {
			return int64(n)
		}
	}
	for _, part := range slices.Concat(p.Parts, p.Filters) {
		if n := slipIn(&part); n > 0 {
			return n
		}
	}
	return 0
}

// isMillis tells whether a part of an expression is a time in milliseconds.
func isMillis(p *jsonata.Part) bool {
	return p.Kind == jsonata.PartCall && (p.Text == "millis" || p.Text == "toMillis") && len(p.Filters) == 0
}

// isElapsed tells whether a part of an expression is how many milliseconds have passed since some time.
func isElapsed(p *jsonata.Part) bool {
	if p.Kind == jsonata.PartBlock && len(p.Parts) == 1 {
		return isElapsed(&p.Parts[0])
	}
	return p.Kind == jsonata.PartBinary && p.Text == "-" && isMillis(&p.Parts[0]) && (isMillis(&p.Parts[1]) || p.Parts[1].Kind == jsonata.PartVariable)
}

// numberIn is the number that a part of an expression of literals is; 0 for anything else.
func numberIn(p *jsonata.Part) float64 {
	n, isNumber := p.Value.(float64)
	switch {
	case len(p.Filters) > 0:
		return 0
	case p.Kind == jsonata.PartLiteral && isNumber:
		return n
	case p.Kind == jsonata.PartBlock && len(p.Parts) == 1:
		return numberIn(&p.Parts[0])
	case p.Kind == jsonata.PartBinary && p.Text == "*":
		return numberIn(&p.Parts[0]) * numberIn(&p.Parts[1])
	default:
		return 0
	}
}

// ofJSONata tells whether a state of a loop is of JSONata.
func ofJSONata(states []*asl.State) bool {
	return slices.ContainsFunc(states, func(s *asl.State) bool { return s.QueryLanguage == asl.JSONata })
}

// shortTime is longer than a time of a day in seconds that is read as milliseconds.
const shortTime = 2 * time.Minute

// isSlip tells whether a time is written in milliseconds and meant in seconds: it is short and no whole
// second, and whole minutes if it were seconds.
func isSlip(length time.Duration) bool {
	n := length.Milliseconds()
	return n > 0 && length < shortTime && n%1000 > 0 && n%60 == 0 //nolint:mnd // milliseconds of a second, seconds of a minute
}
