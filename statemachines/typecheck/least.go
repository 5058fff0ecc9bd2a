package typecheck

import "github.com/jobpoller/jobpoller/statemachines/asl"

// numberFrom is any number that is no less than a count, which says nothing if it is 0.
func numberFrom(count int) Value {
	if count == 0 {
		return anyNumber
	}
	least := float64(count)
	return pack(set{kinds: numbers, truth: eitherTruth, least: &least})
}

// leastNumber is the least number that the set may have; nil if that is not known.
func (s *set) leastNumber() *float64 {
	if len(s.number) > 0 {
		return &s.number[0]
	}
	return s.least
}

// lower is the lesser of two numbers that may not be known.
func lower(a, b *float64) *float64 {
	switch {
	case a == nil || b == nil:
		return nil
	case *a <= *b:
		return a
	default:
		return b
	}
}

// sameNumber tells whether two numbers that may not be known are the same.
func sameNumber(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// compareLeast tells whether a comparison with a limit never holds, or always, for any number that the set may have.
func (s *set) compareLeast(op asl.Operator, limit float64) (never, always bool) {
	if s.least == nil {
		return false, false
	}
	switch least := *s.least; op {
	case asl.NumericLessThan:
		return limit <= least, false
	case asl.NumericLessThanEquals, asl.NumericEquals:
		return limit < least, false
	case asl.NumericGreaterThan:
		return false, limit < least
	case asl.NumericGreaterThanEquals:
		return false, limit <= least
	default:
		return false, false
	}
}
